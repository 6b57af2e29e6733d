//! Reasons for asking about a program, and how far its effects may reach.

use super::folder_options::{self, FILE_CHANGERS};
use super::path_access::{PathAccess, TouchedPath, current_folder, display_word, word_from_path};
use crate::chat::Reach;
use crate::policy::command_line::{SimpleCommand, Word, is_launcher, is_shell};
use crate::policy::grammar::{ParsedOption, Role, SHELL, ValueKind, parse_arguments, program_named};
use crate::text::truncation::{escape_beginning, join_items};

/// Programs that reach other machines.
#[rustfmt::skip]
const NETWORK_PROGRAMS: &[&str] = &[
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "http", "https",
    "xh", "aria2c", "mail", "sendmail", "mutt", "rclone", "s3cmd", "mc", "lftp", "smbclient", "croc",
    // Remote accounts
    "gh", "glab", "hub", "aws", "gcloud", "az", "kubectl", "helm", "oc", "terraform", "tofu", "pulumi", "ansible",
    "ansible-playbook", "heroku", "vercel", "netlify", "flyctl", "fly", "doctl", "firebase", "wrangler", "twine",
];
/// Programs that affect state that other programs and users depend on.
#[rustfmt::skip]
const SYSTEM_PROGRAMS: &[&str] = &[
    // Databases
    "psql", "mysql", "mariadb", "sqlite3", "redis-cli", "mongosh", "mongo", "dropdb", "createdb",
    // System
    "systemctl", "service", "launchctl", "kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "mount",
    "umount", "crontab", "at", "batch", "chown", "chgrp", "useradd", "userdel", "usermod", "passwd", "iptables", "nft",
    "ip", "ifconfig", "sysctl", "modprobe", "insmod", "dd", "shred", "fdisk", "parted", "wipefs", "mkswap", "apt",
    "apt-get", "dpkg", "dnf", "yum", "rpm", "pacman", "apk", "brew", "snap", "flatpak", "docker", "podman", "nerdctl",
    "chroot", "unshare", "nsenter", "loginctl", "hostnamectl", "timedatectl", "defaults", "osascript", "busctl",
    "dbus-send", "gdbus", "qdbus", "xdg-open", "gio",
    // Users, kernel and devices
    "groupadd", "groupdel", "groupmod", "gpasswd", "adduser", "deluser", "addgroup", "delgroup", "chpasswd", "chsh", "chfn",
    "visudo", "vipw", "vigr", "newgrp", "sg", "pw", "dscl", "swapon", "swapoff", "losetup", "cryptsetup", "lvm", "pvcreate",
    "vgcreate", "lvcreate", "lvremove", "dmsetup", "mdadm", "zfs", "zpool", "btrfs", "setcap", "chattr", "hwclock", "localectl",
    "locale-gen", "rmmod", "depmod", "kexec", "dmesg", "init", "telinit", "ldconfig", "udevadm", "setenforce", "setsebool",
    "semanage", "restorecon", "sgdisk", "blkdiscard", "hdparm", "efibootmgr", "bootctl", "grub-install", "grub-mkconfig",
    "update-grub", "update-initramfs", "mkinitcpio", "dracut", "diskutil", "hdiutil", "tmutil", "nvram", "csrutil", "spctl",
    "pmset", "scutil", "systemsetup", "softwareupdate", "xcode-select", "gsettings", "dconf", "ipcrm", "wall",
    // Network configuration
    "ufw", "firewall-cmd", "ip6tables", "iptables-restore", "ebtables", "tc", "route", "arp", "ethtool", "rfkill", "iw",
    "iwconfig", "nmcli", "nmtui", "networkctl", "resolvectl", "networksetup", "wg", "wg-quick", "openvpn", "tailscale",
    // System services
    "rc-service", "rc-update", "sv", "initctl", "chkconfig", "update-rc.d", "invoke-rc.d", "supervisorctl", "s6-rc", "pm2",
    "machinectl", "systemd-run", "systemd-nspawn", "atd", "anacron", "fcrontab", "homectl", "portablectl",
    // Packages of the system
    "zypper", "aptitude", "apt-key", "apt-mark", "dpkg-reconfigure", "dpkg-divert", "add-apt-repository", "debconf",
    "update-alternatives", "alternatives", "emerge", "eselect", "nix-env", "nixos-rebuild", "home-manager", "guix", "port",
    "pkg", "pkg_add", "pkg_delete", "opkg", "xbps-install", "xbps-remove", "eopkg", "swupd", "yay", "paru", "pamac",
    "rpm-ostree", "transactional-update", "fwupdmgr", "snapctl", "winget", "choco", "scoop", "mas", "rustup", "nvm", "fnm",
    "volta", "pyenv", "rbenv", "asdf", "mise", "ghcup", "sdk", "corepack", "cpan", "cpanm",
];

/// Programs, and the arguments with which they change what is installed for the user or the system.
const INSTALLING_ARGUMENTS: &[(&[&str], &[&str])] = &[
    (
        &["pip", "pip2", "pip3", "pipx", "easy_install"],
        &["install", "uninstall", "upgrade", "inject", "ensurepath", "config"],
    ),
    (&["python", "python2", "python3"], &["pip", "ensurepip", "easy_install"]),
    (&["npm", "pnpm", "yarn", "bun"], &["-g", "--global", "--location=global", "global", "link", "config"]),
    (&["gem"], &["install", "uninstall", "update", "cleanup"]),
    (&["go"], &["install", "env", "telemetry"]),
    (&["uv"], &["tool", "pip", "python", "self"]),
    (&["poetry", "hatch", "pdm"], &["self", "config"]),
    (
        &["conda", "mamba", "micromamba"],
        &["install", "remove", "uninstall", "update", "upgrade", "create", "config", "env"],
    ),
    (
        &["luarocks", "opam", "stack", "cabal", "dotnet", "composer", "nimble", "code"],
        &["install", "uninstall", "upgrade", "update", "switch", "tool", "global", "--install-extension"],
    ),
    (&["nix"], &["profile", "registry", "upgrade-nix", "store"]),
];

/// Returns whether a command changes the system or settings of other programs, or installs something outside the
/// project.
fn changes_system(program: &str, arguments: &[Word]) -> bool {
    let words: Vec<&str> = arguments.iter().map(Word::display_text).collect();
    match program {
        // Except for the known reading forms, these set the clock or the host name.
        "date" | "hostname" | "domainname" => true,
        "git" => changes_git_settings(arguments),
        _ => INSTALLING_ARGUMENTS.iter().any(|(programs, installing)| {
            programs.contains(&program) && words.iter().any(|word| installing.contains(word))
        }),
    }
}

/// Returns whether git is asked to change its settings, which decide what it runs.
fn changes_git_settings(arguments: &[Word]) -> bool {
    let Some(git) = program_named("git") else { return false };
    let given = parse_arguments(git, arguments);
    let Some((command, words)) = given.operands.split_first() else { return false };
    match (command.display_text(), git.subcommand("config")) {
        ("config", Some(grammar)) => {
            let config = parse_arguments(grammar, words);
            let has_reading_action = matches!(config.operands.first().map(Word::display_text), Some("get" | "list"));
            let only_reads = config.has_role(Role::Lists) || has_reading_action || config.operands.len() <= 1;
            !only_reads || !config.problems.is_empty() || config.has_role(Role::Changes)
        }
        (command, _) => matches!(command, "credential" | "maintenance"),
    }
}

/// Programs, and the arguments with which they publish something, use an account or install something.
const PUBLISHING_ARGUMENTS: &[(&str, &[&str])] = &[
    ("git", &["push", "send-email", "svn", "p4"]),
    ("cargo", &["publish", "yank", "owner", "login", "install", "uninstall"]),
    ("npm", &["publish", "unpublish", "deprecate", "login", "adduser", "owner", "token", "dist-tag"]),
    ("yarn", &["publish", "npm"]),
    ("pnpm", &["publish"]),
    ("gem", &["push", "yank"]),
    ("poetry", &["publish"]),
    ("uv", &["publish"]),
    ("mvn", &["deploy", "release:perform"]),
    ("make", &["deploy", "publish", "release", "install"]),
    ("just", &["deploy", "publish", "release"]),
];

/// Programs that run project code.
#[rustfmt::skip]
const BUILD_PROGRAMS: &[&str] = &[
    "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "make", "gmake", "cmake", "ninja", "meson", "go", "pytest",
    "tox", "nox", "poetry", "uv", "pip", "pip3", "gradle", "gradlew", "mvn", "sbt", "bazel", "just", "rake", "bundle",
    "rails", "mix", "dotnet", "swift", "zig", "stack", "cabal", "composer", "phpunit", "jest", "vitest", "tsc", "eslint",
    "prettier", "ruff", "mypy", "black", "pre-commit", "ctest", "rustc", "gcc", "cc", "clang", "g++",
];

/// Returns the paths in the arguments of a program that needs approval, to be checked against the project folder.
pub(super) fn touched_paths(simple: &SimpleCommand, folders: &[String]) -> Vec<TouchedPath> {
    let touch = |word: Word, access: PathAccess| TouchedPath { word, folders: folders.to_vec(), access };
    let mut touches = Vec::new();
    if folders.iter().any(|folder| !folder.is_empty()) {
        touches.push(touch(current_folder(), PathAccess::WorksIn));
    }
    let program = simple.program().unwrap_or_default();
    if let Some(find) = program_named(program).filter(|program| program.syntax.before_expression.is_some()) {
        let arguments = parse_arguments(find, simple.arguments());
        let is_written = |option: &&ParsedOption| option.option.value.is_kind(&[ValueKind::Write]);
        let written_files = arguments.options.iter().filter(is_written).filter_map(|option| option.value.as_ref());
        let folders_to_search = arguments.operands.iter().filter(|word| !matches!(word, Word::Unknown(_)));
        // `find` may change what it finds, so the folders are checked like files that are written.
        touches.extend(folders_to_search.chain(written_files).map(|word| touch(word.clone(), PathAccess::Append)));
        return touches;
    }
    let changes_files = FILE_CHANGERS.contains(&program);
    let mut expects_folder = false;
    for word in simple.arguments() {
        // Unknown words still have their quotes.
        let unquoted = match word {
            Word::Unknown(raw) => raw.replace(['"', '\'', '\\'], ""),
            Word::Known(_) | Word::Pattern(_) | Word::Home(_) => word.display_text().to_owned(),
        };
        let option_folder = folder_options::folder_in_option(program, &unquoted);
        let access = if changes_files { PathAccess::Append } else { PathAccess::WorksIn };
        match (option_folder, word) {
            (Some(folder), Word::Unknown(_)) if !folder.is_empty() => touches.push(touch(word.clone(), access)),
            (Some(folder), _) if !folder.is_empty() => touches.push(touch(word_from_path(folder), access)),
            // The previous word is an option that takes a folder or a file to write: this word is its value, even if
            // it is unknown.
            _ if expects_folder => touches.push(touch(word.clone(), access)),
            (_, Word::Unknown(_)) => {}
            _ if changes_files && !word.display_text().starts_with('-') => {
                touches.push(touch(word.clone(), PathAccess::Append));
            }
            _ => {}
        }
        expects_folder = option_folder == Some("");
    }
    touches
}

/// Returns how far the effects of a command may reach.
pub(super) fn effect_range(simple: &SimpleCommand) -> Reach {
    let Some(program) = simple.program() else { return Reach::Runs };
    let publishes = PUBLISHING_ARGUMENTS.iter().any(|(name, words)| {
        *name == program
            && simple.arguments().iter().any(|word| word.known_text().is_some_and(|text| words.contains(&text)))
    });
    let uses_network = simple.redirects.iter().any(|redirect| {
        let text = format!("{redirect:?}");
        text.contains("/dev/tcp/") || text.contains("/dev/udp/")
    });
    if NETWORK_PROGRAMS.contains(&program)
        || SYSTEM_PROGRAMS.contains(&program)
        || program.starts_with("mkfs")
        || publishes
        || uses_network
        || changes_system(program, simple.arguments())
    {
        return Reach::Outside;
    }
    if is_launcher(program) || reads_commands_from_input(simple) {
        return Reach::Unclear;
    }
    // A program that changes files may change any file if an argument is unknown.
    let has_unknown = simple.arguments().iter().any(|word| matches!(word, Word::Unknown(_)));
    let changes_files =
        matches!(program, "rm" | "rmdir" | "mv" | "cp" | "chmod" | "ln" | "install" | "truncate" | "tee");
    let has_parent = |text: &str| text.split('/').any(|part| part == "..");
    let is_outside = |word: &Word| match word {
        Word::Known(text) => match folder_options::folder_in_option(program, text) {
            Some(folder) => folder.starts_with(['/', '~']) || has_parent(folder),
            None => text.starts_with('/') || has_parent(text),
        },
        Word::Home(_) => true,
        Word::Pattern(_) | Word::Unknown(_) => false,
    };
    if changes_files && (has_unknown || simple.arguments().iter().any(is_outside)) {
        Reach::Outside
    } else {
        Reach::Runs
    }
}

/// Returns whether a shell reads its commands from its input: a here-document, a pipe or a redirected file.
fn reads_commands_from_input(simple: &SimpleCommand) -> bool {
    let has_script = simple.inline_code.is_some() || (simple.script.is_some() && !has_stdin_option(simple));
    simple.program().is_some_and(is_shell) && !has_script && !asks_version_or_help(simple)
}

/// Returns whether a shell is given `-s`: it reads its commands from its input, and its first operand is no script.
pub(super) fn has_stdin_option(simple: &SimpleCommand) -> bool {
    parse_arguments(&SHELL, simple.arguments()).has_option(&["-s"])
}

/// Returns whether a program is only asked for its version or help. Any other argument may decide what it does.
pub(super) fn asks_version_or_help(simple: &SimpleCommand) -> bool {
    matches!(simple.arguments(), [word] if matches!(word.known_text(), Some("--version" | "--help")))
}

/// Returns the reason for asking about a program that is not known to only read.
pub(super) fn ask_reason(simple: &SimpleCommand, name: &str) -> String {
    let displayed = escape_beginning(name, 60);
    if matches!(name, "eval" | "source" | "." | "exec" | "trap") && simple.script.is_none() {
        return format!("{displayed} runs other commands");
    }
    if reads_commands_from_input(simple) {
        return format!("{displayed} runs its input as commands");
    }
    if simple.inline_code.is_some() {
        return format!("{displayed} runs inline code");
    }
    if let Some(script) = &simple.script {
        return format!("runs the script {}", display_word(script));
    }
    if NETWORK_PROGRAMS.contains(&name) {
        return format!("{displayed} may reach the network");
    }
    if SYSTEM_PROGRAMS.contains(&name) {
        return format!("{displayed} may change something outside the project");
    }
    if is_launcher(name) {
        return format!("{displayed} runs other commands");
    }
    if changes_system(name, simple.arguments()) {
        return format!("{displayed} may change the system or install something");
    }
    if BUILD_PROGRAMS.contains(&name) {
        return format!("{displayed} runs project code");
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "vi" | "vim" | "nvim" | "ex" | "ed" | "emacs" | "man" | "less" | "more" => {
            format!("{displayed} may start other programs")
        }
        "export" | "declare" | "typeset" | "local" | "readonly" | "set" | "shopt" | "unset" | "alias" | "enable"
        | "hash" | "read" | "mapfile" | "let" | "ulimit" | "umask" => {
            format!("{displayed} changes the shell for later commands")
        }
        "env" | "printenv" => format!("{displayed} shows all environment variables"),
        "mkdir" | "touch" | "cp" | "mv" | "ln" | "chmod" | "tee" | "truncate" | "install" | "patch" => {
            format!("{displayed} changes files")
        }
        _ => format!("aye does not know what {displayed} does"),
    }
}

/// Ends of reasons that say the same about several programs, for one program and for more.
const SHARED_ENDS: [(&str, &str); 12] = [
    (" may change the repository", " may change the repository"),
    (" may reach the network", " may reach the network"),
    (" may change something outside the project", " may change something outside the project"),
    (" may change the system or install something", " may change the system or install something"),
    (" may start other programs", " may start other programs"),
    (" runs other commands", " run other commands"),
    (" runs its input as commands", " run their input as commands"),
    (" runs inline code", " run inline code"),
    (" runs project code", " run project code"),
    (" changes the shell for later commands", " change the shell for later commands"),
    (" changes files", " change files"),
    (" shows all environment variables", " show all environment variables"),
];

/// Joins reasons into one text, of which at most `max_items` are listed. Programs with the same reason share it: `git add
/// and git commit may change the repository`.
pub(super) fn join_reasons(reasons: &[String], max_items: usize) -> String {
    let mut joined: Vec<String> = Vec::new();
    let mut done = vec![false; reasons.len()];
    for (index, reason) in reasons.iter().enumerate() {
        if std::mem::replace(&mut done[index], true) {
            continue;
        }
        let shared_end = SHARED_ENDS.iter().find(|(end, _)| reason.ends_with(end));
        let Some((end, plural_end)) = shared_end else {
            joined.push(reason.clone());
            continue;
        };
        let mut subjects = Vec::new();
        for (other, is_done) in reasons[index..].iter().zip(&mut done[index..]) {
            if let Some(subject) = other.strip_suffix(end) {
                *is_done = true;
                subjects.push(subject);
            }
        }
        let end = if subjects.len() == 1 { end } else { plural_end };
        joined.push(format!("{}{end}", join_items(&subjects, max_items)));
    }
    join_items(&joined, max_items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_the_same_reason_share_it() {
        let join =
            |reasons: &[&str]| join_reasons(&reasons.iter().map(|reason| (*reason).to_owned()).collect::<Vec<_>>(), 3);
        assert_eq!(join(&[]), "");
        assert_eq!(join(&["touch changes files"]), "touch changes files");
        assert_eq!(
            join(&["git add may change the repository", "deletes a", "git commit may change the repository"]),
            "git add and git commit may change the repository and deletes a"
        );
        assert_eq!(
            join(&["mv changes files", "cp changes files", "ln changes files", "tee changes files"]),
            "mv, cp and 2 more change files"
        );
    }
}
