//! Prefixes of commands that are too wide for a rule.

use super::command_line::{is_interpreter, is_launcher, program_base_name};

/// Programs that run their arguments, so their name does not limit the effect. Launchers, shells and other interpreters
/// are listed elsewhere.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "env", "time", "nohup", "setsid", "timeout", "nice", "ionice", "stdbuf", "command", "builtin", "exec", "busybox",
    "toybox", "xargs", "find", "fd", "sudo", "doas", "su", "pkexec", "runuser", "ssh", "mosh", "awk", "gawk", "mawk",
    "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "npx", "bunx", "pnpx", "uvx", "pipx", "at", "batch", "trap",
    "alias", "eval", "source", ".", "coproc", "crontab",
    // These take code as arguments.
    "csh", "tcsh", "nu", "elvish", "xonsh", "R", "julia", "elixir", "iex", "erl", "guile", "racket", "sbcl", "ocaml",
    "ghci", "runghc", "runhaskell", "jshell", "groovy", "scala", "gnuplot", "octave", "m4", "dc", "ipython", "tsx",
    "ts-node", "nix-shell",
];

/// Programs whose first argument decides what they do, and that change more than files of the project: history, the
/// system, other machines.
#[rustfmt::skip]
const SUBCOMMAND_PROGRAMS: &[&str] = &[
    "git", "hg", "svn", "jj", "rustup", "docker", "podman", "kubectl", "helm", "gh", "glab", "conda", "mamba", "nix",
    "brew", "apt", "apt-get", "dnf", "yum", "pacman", "zypper", "snap", "systemctl", "service", "terraform", "tofu",
    "aws", "gcloud", "az", "gem", "vagrant", "ansible", "heroku", "fly", "vercel", "openssl", "tar", "rsync", "ip",
    "nmcli",
];

/// Build tools: programs whose first argument decides what they do, and that change files of the project as long as
/// their sandbox keeps them there.
#[rustfmt::skip]
const BUILD_TOOLS: &[&str] = &[
    "cargo", "npm", "pnpm", "yarn", "bun", "deno", "go", "pip", "pip3", "uv", "poetry", "make", "gmake", "ninja", "just",
    "task", "rake", "bundle", "mvn", "gradle", "gradlew", "dotnet", "composer", "mix", "cmake", "bazel", "swift", "zig",
    "flutter", "dart",
];

/// Programs that change, delete or send their arguments, or run what an option names. Only exact commands can be
/// granted for them.
#[rustfmt::skip]
const EXACT_ONLY_PROGRAMS: &[&str] = &[
    "rm", "rmdir", "mv", "cp", "dd", "ln", "install", "chmod", "chown", "chgrp", "kill", "pkill", "killall", "tee",
    "truncate", "shred", "mkfs", "mount", "umount", "curl", "wget", "nc", "ncat", "socat", "scp", "sftp", "ftp", "telnet",
    "mail", "reboot", "shutdown", "poweroff", "halt", "patch", "export", "unset", "sqlite3", "psql", "mysql", "mariadb",
    "mongosh", "rustc", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "split", "zip", "fzf", "man",
];

/// Subcommands that change settings of other programs or run their arguments.
#[rustfmt::skip]
const WRAPPER_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("git", &["config", "submodule", "bisect", "filter-branch", "difftool", "mergetool", "rebase", "clone", "remote",
    "send-email", "for-each-repo"]),
    ("docker", &["run", "exec", "compose"]), ("podman", &["run", "exec", "compose"]), ("kubectl", &["exec", "run"]),
    ("npm", &["exec", "x", "config"]), ("pnpm", &["exec", "dlx", "config"]), ("yarn", &["exec", "dlx", "config"]),
    ("bun", &["x", "exec"]), ("uv", &["run", "tool"]), ("poetry", &["run"]), ("bundle", &["exec"]), ("nix", &["run",
    "shell", "develop"]), ("go", &["run", "generate"]), ("gh", &["alias", "extension", "api"]), ("conda", &["run"]),
    ("deno", &["run", "eval"]), ("cargo", &["install", "publish", "login"]), ("aws", &["configure"]),
    ("rustup", &["run"]), ("ip", &["netns", "vrf"]),
];

/// Returns why these words are too wide for a rule; `None` if they are not.
pub fn explain_too_wide(words: &[String]) -> Option<String> {
    let program = words.first().map(|word| program_base_name(word)).filter(|program| !program.is_empty());
    let Some(program) = program else { return Some("no program named".to_owned()) };
    let subcommand = words.get(1).map(String::as_str);
    if runs_its_arguments(program) {
        return Some(format!("{program} runs its arguments"));
    }
    if words.iter().any(|word| word.starts_with('-')) {
        return Some("option in the prefix; a prefix ends before the first option".to_owned());
    }
    if words[0].contains('/') {
        return Some("program named by its path; the file can be replaced".to_owned());
    }
    if words.len() == 1 && SUBCOMMAND_PROGRAMS.contains(&program) {
        return Some(format!("{program} without a subcommand can do anything"));
    }
    if EXACT_ONLY_PROGRAMS.contains(&program) {
        return Some(format!("effect of {program} depends on every argument"));
    }
    let (_, subcommands) = WRAPPER_SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    let wrapper = subcommand.filter(|subcommand| subcommands.contains(subcommand))?;
    Some(format!("{program} {wrapper} can run other programs"))
}

/// Returns whether these words are a build tool alone. Such a prefix covers what the prefixes with its subcommands cover,
/// and only in a sandbox.
pub(super) fn is_build_tool(words: &[String]) -> bool {
    matches!(words, [program] if BUILD_TOOLS.contains(&program.as_str()))
}

/// Returns why a prefix for a build tool alone does not cover this subcommand of it: the first two words of a command, or
/// only the tool. `None` if it does.
pub(super) fn explain_other_subcommand(words: &[String]) -> Option<String> {
    let subcommand = words.get(1)?;
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let is_name = subcommand.starts_with(|c: char| c.is_ascii_alphanumeric()) && subcommand.chars().all(is_name_char);
    explain_too_wide(words).or_else(|| (!is_name).then(|| format!("{subcommand:?} is not a plain subcommand")))
}

/// Returns whether a program runs its arguments.
pub fn runs_its_arguments(program: &str) -> bool {
    is_interpreter(program) || is_launcher(program) || WRAPPERS.contains(&program)
}
