//! Why a program is asked about, and whether what it does may be beyond taking back.

use super::refused::CHANGERS;
use super::{Folders, How, Touch, part, place};
use crate::chat::Reach;
use crate::policy::shell::{Reading, Simple, Word, is_launcher, is_shell};

/// They reach others, or what other programs and people rely on.
#[rustfmt::skip]
const OUTSIDE: &[&str] = &[
    // The network
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "http", "https",
    "xh", "aria2c", "mail", "sendmail", "mutt", "rclone", "s3cmd", "mc", "lftp", "smbclient", "croc",
    // Accounts elsewhere
    "gh", "glab", "hub", "aws", "gcloud", "az", "kubectl", "helm", "oc", "terraform", "tofu", "pulumi", "ansible",
    "ansible-playbook", "heroku", "vercel", "netlify", "flyctl", "fly", "doctl", "firebase", "wrangler", "twine",
    // Databases
    "psql", "mysql", "mariadb", "sqlite3", "redis-cli", "mongosh", "mongo", "dropdb", "createdb",
    // The machine
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
    // Its network
    "ufw", "firewall-cmd", "ip6tables", "iptables-restore", "ebtables", "tc", "route", "arp", "ethtool", "rfkill", "iw",
    "iwconfig", "nmcli", "nmtui", "networkctl", "resolvectl", "networksetup", "wg", "wg-quick", "openvpn", "tailscale",
    // Its services
    "rc-service", "rc-update", "sv", "initctl", "chkconfig", "update-rc.d", "invoke-rc.d", "supervisorctl", "s6-rc", "pm2",
    "machinectl", "systemd-run", "systemd-nspawn", "atd", "anacron", "fcrontab", "homectl", "portablectl",
    // Its packages
    "zypper", "aptitude", "apt-key", "apt-mark", "dpkg-reconfigure", "dpkg-divert", "add-apt-repository", "debconf",
    "update-alternatives", "alternatives", "emerge", "eselect", "nix-env", "nixos-rebuild", "home-manager", "guix", "port",
    "pkg", "pkg_add", "pkg_delete", "opkg", "xbps-install", "xbps-remove", "eopkg", "swupd", "yay", "paru", "pamac",
    "rpm-ostree", "transactional-update", "fwupdmgr", "snapctl", "winget", "choco", "scoop", "mas", "rustup", "nvm", "fnm",
    "volta", "pyenv", "rbenv", "asdf", "mise", "ghcup", "sdk", "corepack", "cpan", "cpanm",
];

/// With one of these words they change what is installed for the user or for all.
const INSTALLING: &[(&[&str], &[&str])] = &[
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

/// Programs that only change the files they are given, and reach no network.
const LOCAL: &[&str] = &["mkdir", "touch", "cp", "mv", "ln", "chmod", "tee", "truncate", "mktemp", "sleep"];

/// Whether every program of a line is known to stay off the network: it only reads, deletes or changes files.
pub(in crate::policy) fn stays_local(reading: &Reading) -> bool {
    let mut folders = Folders::default();
    let is_local = |simple: &Simple| {
        let at = folders.at(simple);
        folders.after(simple);
        // A name with a slash may be any program.
        let named = simple.words.first().and_then(Word::known);
        let bare = Simple { words: vec![Word::Known("true".to_owned())], ..simple.clone() };
        part(simple, &at).is_ok()
            || (named.is_some_and(|name| LOCAL.contains(&name)) && part(&bare, &at).is_ok())
    };
    reading.unclear.is_none() && reading.commands.iter().all(is_local)
}

/// Whether a command changes the system or what other programs obey, or installs something for more than the project.
fn changes_system(program: &str, arguments: &[Word]) -> bool {
    let words: Vec<&str> = arguments.iter().map(Word::shown).collect();
    match program {
        // Whatever they do beyond what is known to read sets the clock, or the name of the machine.
        "date" | "hostname" | "domainname" => true,
        "git" => changes_settings(&words),
        _ => INSTALLING.iter().any(|(programs, installing)| {
            programs.contains(&program) && words.iter().any(|word| installing.contains(word))
        }),
    }
}

/// Whether git is asked to change its settings, which say what it runs.
fn changes_settings(words: &[&str]) -> bool {
    let mut rest = words.iter();
    let command = loop {
        match rest.next() {
            Some(&("-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace")) => drop(rest.next()),
            Some(option) if option.starts_with('-') => {}
            other => break other,
        }
    };
    let rest: Vec<&str> = rest.copied().collect();
    match command {
        Some(&("config" | "credential" | "maintenance")) => {
            const READS: [&str; 8] =
                ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list"];
            let is_scope = |word: &&str| matches!(*word, "--global" | "--system" | "--local" | "--worktree");
            let rest: Vec<&str> = rest.into_iter().filter(|word| !is_scope(word)).collect();
            let only_reads = match rest.as_slice() {
                [name] => !name.starts_with('-') || READS.contains(name),
                [how, ..] => READS.contains(how),
                [] => true,
            };
            command != Some(&"config") || !only_reads
        }
        Some(_) | None => false,
    }
}

/// With one of these words they do.
const PUBLISHING: &[(&str, &[&str])] = &[
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

/// They run what the project says.
#[rustfmt::skip]
const BUILDS: &[&str] = &[
    "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "make", "gmake", "cmake", "ninja", "meson", "go", "pytest",
    "tox", "nox", "poetry", "uv", "pip", "pip3", "gradle", "gradlew", "mvn", "sbt", "bazel", "just", "rake", "bundle",
    "rails", "mix", "dotnet", "swift", "zig", "stack", "cabal", "composer", "phpunit", "jest", "vitest", "tsc", "eslint",
    "prettier", "ruff", "mypy", "black", "pre-commit", "ctest", "rustc", "gcc", "cc", "clang", "g++",
];

/// What a program that is asked about touches by its words: whoever knows the folder says whether that is in the project.
pub(super) fn touched(simple: &Simple, folders: &[String]) -> Vec<Touch> {
    let touch = |word: Word, how: How| Touch { word, folders: folders.to_vec(), how };
    let mut touches = Vec::new();
    if folders.iter().any(|folder| !folder.is_empty()) {
        touches.push(touch(Word::Known(".".to_owned()), How::Works));
    }
    let program = simple.program().unwrap_or_default();
    let changes = CHANGERS.contains(&program);
    let (mut is_place, mut behind_places) = (false, false);
    for word in simple.arguments() {
        // What is not known stands with its quotes.
        let shown = match word {
            Word::Unknown(raw) => raw.replace(['"', '\'', '\\'], ""),
            Word::Known(_) | Word::Pattern(_) | Word::Home(_) => word.shown().to_owned(),
        };
        let held = place::of(program, &shown);
        let does = if changes { How::Append } else { How::Works };
        match (held, word) {
            (Some(place), Word::Unknown(_)) if !place.is_empty() => touches.push(touch(word.clone(), does)),
            (Some(place), _) if !place.is_empty() => touches.push(touch(named(place), does)),
            // Here a word of which nothing is known counts too.
            _ if is_place => touches.push(touch(word.clone(), does)),
            (_, Word::Unknown(_)) => {}
            _ if changes && !word.shown().starts_with('-') && !behind_places => {
                touches.push(touch(word.clone(), How::Append));
            }
            _ => {}
        }
        is_place = held == Some("");
        // What it looks through stands before what it looks for, and behind how links are taken.
        behind_places |= program == "find"
            && word.shown().starts_with(['-', '(', '!'])
            && !place::is_before_places(word.shown());
    }
    touches
}

/// What a name stands for that is part of a word: no shell replaces a `~` there, but a program may.
fn named(name: &str) -> Word {
    if name.starts_with('~') { Word::Home(name.to_owned()) } else { Word::Known(name.to_owned()) }
}

/// Whether what it does may be beyond taking back.
pub(super) fn of(simple: &Simple) -> Reach {
    let Some(program) = simple.program() else { return Reach::Runs };
    let publishes = PUBLISHING.iter().any(|(name, words)| {
        *name == program
            && simple.arguments().iter().any(|word| word.known().is_some_and(|text| words.contains(&text)))
    });
    let network = simple.redirects.iter().any(|redirect| format!("{redirect:?}").contains("/dev/tcp/"));
    if OUTSIDE.contains(&program)
        || program.starts_with("mkfs")
        || publishes
        || network
        || changes_system(program, simple.arguments())
    {
        return Reach::Outside;
    }
    if is_launcher(program) || reads_its_lines(simple) {
        return Reach::Unclear;
    }
    // Whoever is handed words that nobody knows may do it to anything.
    let unknown = simple.arguments().iter().any(|word| matches!(word, Word::Unknown(_)));
    let changes =
        matches!(program, "rm" | "rmdir" | "mv" | "cp" | "chmod" | "ln" | "install" | "truncate" | "tee");
    let goes_up = |text: &str| text.split('/').any(|part| part == "..");
    let far = |word: &Word| match word {
        Word::Known(text) => match place::of(program, text) {
            Some(place) => place.starts_with(['/', '~']) || goes_up(place),
            None => text.starts_with('/') || goes_up(text),
        },
        Word::Home(_) => true,
        Word::Pattern(_) | Word::Unknown(_) => false,
    };
    if changes && (unknown || simple.arguments().iter().any(far)) { Reach::Outside } else { Reach::Runs }
}

/// Whether it is a shell that takes what it runs from elsewhere: a here-document, a pipe, a file that is fed to it.
fn reads_its_lines(simple: &Simple) -> bool {
    let told = simple.inline.is_some() || (simple.script.is_some() && !takes_input(simple));
    simple.program().is_some_and(is_shell) && !told && !asks_about_itself(simple)
}

/// Whether a shell takes its lines from what comes in, so that the first word behind its options is no script.
/// Shells read options as a language of their own (`-xs`, `+s`, `-o name`), for which there is no grammar: any letter counts.
pub(super) fn takes_input(shell: &Simple) -> bool {
    let arguments = shell.arguments();
    // The same word may stand before it as what an option takes.
    let options = arguments.iter().rposition(|word| Some(word) == shell.script.as_ref());
    arguments[..options.unwrap_or(arguments.len())]
        .iter()
        .filter_map(Word::known)
        .any(|option| option.starts_with('-') && !option.starts_with("--") && option.contains('s'))
}

/// Whether a program is asked for nothing but what it is. Any other word beside that may be the one it obeys.
pub(super) fn asks_about_itself(simple: &Simple) -> bool {
    matches!(simple.arguments(), [word] if matches!(word.known(), Some("--version" | "--help")))
}

/// Why a program that is on no list is asked about.
pub(super) fn why(simple: &Simple, name: &str) -> String {
    let shown: String = name.chars().take(60).collect();
    let shown = shown.escape_debug();
    if matches!(name, "eval" | "source" | "." | "exec" | "trap") && simple.script.is_none() {
        return format!("{shown} runs what it is given");
    }
    if reads_its_lines(simple) {
        return format!("{shown} runs what comes in, which is not read before");
    }
    if simple.inline.is_some() {
        return format!("{shown} runs code that stands in the line");
    }
    if let Some(script) = &simple.script {
        let script: String = script.shown().chars().take(60).collect();
        return format!("it runs {}, which can do anything", script.escape_debug());
    }
    if OUTSIDE.contains(&name) {
        return format!("{shown} reaches beyond the project");
    }
    if is_launcher(name) {
        return format!("{shown} runs what it is given");
    }
    if changes_system(name, simple.arguments()) {
        return format!("{shown} changes the system or what is installed for you");
    }
    if BUILDS.contains(&name) {
        return format!("{shown} runs the project's own code");
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "vi" | "vim" | "nvim" | "ex" | "ed" | "emacs" | "man" | "less"
        | "more" => {
            format!("{shown} can start other programs")
        }
        "export" | "declare" | "typeset" | "local" | "readonly" | "set" | "shopt" | "unset" | "alias"
        | "enable" | "hash" | "read" | "mapfile" | "let" | "ulimit" | "umask" => {
            format!("{shown} changes how the shell goes on")
        }
        "env" | "printenv" => format!("{shown} tells what every variable holds"),
        "mkdir" | "touch" | "cp" | "mv" | "ln" | "chmod" | "tee" | "truncate" | "install" | "patch" => {
            format!("{shown} changes files")
        }
        _ => format!("{shown} may change things"),
    }
}
