//! Scopes in which an approval can be kept as a grant or a rule, narrowest first.

use super::command_line::{is_interpreter, is_launcher, program_base_name};
use super::coverage::{self, can_be_granted};
use super::subject::Subject;
use crate::chat::{Access, Grant, GrantScope, Plan};
use std::path::Path;

/// Programs that run their arguments, so that their name says nothing about the effect. Shells and interpreters do too.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "env", "time", "nohup", "setsid", "timeout", "nice", "ionice", "stdbuf", "command", "builtin", "exec", "busybox",
    "toybox", "xargs", "find", "fd", "sudo", "doas", "su", "pkexec", "runuser", "ssh", "mosh", "awk", "gawk", "mawk",
    "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "npx", "bunx", "pnpx", "uvx", "pipx", "at", "batch", "trap",
    "alias", "eval", "source", ".", "coproc", "crontab",
    // These take code as arguments
    "csh", "tcsh", "nu", "elvish", "xonsh", "R", "julia", "elixir", "iex", "erl", "guile", "racket", "sbcl", "ocaml",
    "ghci", "runghc", "runhaskell", "jshell", "groovy", "scala", "gnuplot", "octave", "m4", "dc", "ipython", "tsx",
    "ts-node", "nix-shell",
];

/// Programs whose first argument decides what they do.
#[rustfmt::skip]
const SUBCOMMAND_PROGRAMS: &[&str] = &[
    "git", "hg", "svn", "jj", "cargo", "rustup", "npm", "pnpm", "yarn", "bun", "deno", "docker", "podman", "kubectl",
    "helm", "go", "gh", "glab", "pip", "pip3", "uv", "poetry", "conda", "mamba", "nix", "brew", "apt", "apt-get", "dnf",
    "yum", "pacman", "zypper", "snap", "systemctl", "service", "terraform", "tofu", "aws", "gcloud", "az", "make",
    "gmake", "ninja", "just", "task", "rake", "bundle", "gem", "mvn", "gradle", "gradlew", "dotnet", "composer", "mix",
    "cmake", "bazel", "swift", "zig", "flutter", "dart", "vagrant", "ansible", "heroku", "fly", "vercel", "openssl",
    "tar", "rsync", "ip", "nmcli",
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
const SUB_WRAPPERS: &[(&str, &[&str])] = &[
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
    let sub = words.get(1).map(String::as_str);
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
    let wraps = SUB_WRAPPERS.iter().find(|(name, _)| *name == program);
    match (wraps, sub) {
        (Some((_, subs)), Some(sub)) if subs.contains(&sub) => Some(format!("{program} {sub} can run other programs")),
        (Some(_) | None, _) => None,
    }
}

/// Returns whether a program runs its arguments.
pub fn runs_its_arguments(program: &str) -> bool {
    is_interpreter(program) || is_launcher(program) || WRAPPERS.contains(&program)
}

/// Returns the scopes in which an approval of this call can be kept, narrowest first; empty if it cannot.
pub fn grant_scopes(tool: &str, plan: &Plan) -> Vec<Grant> {
    let of = Subject::from_plan(tool, plan);
    let Some(narrowest) = plan.grant.clone().filter(|_| can_be_granted(&of)) else { return Vec::new() };
    let mut offers = vec![narrowest];
    match &plan.access {
        Access::Run(line) => {
            let words = of.parsed_line().and_then(coverage::single_plain_command).map(|simple| &simple.words);
            let words: Vec<String> =
                words.into_iter().flatten().filter_map(|word| word.known_text().map(str::to_owned)).collect();
            let named = words.iter().take_while(|word| !word.starts_with('-')).count();
            // More than three words are hardly wider than the command itself.
            for count in (1..=named.min(3)).rev() {
                let scope = GrantScope::Prefix { words: words[..count].to_vec(), folder: line.folder.clone() };
                let grant = Grant::new(tool, scope);
                if explain_too_wide(&words[..count]).is_none() && coverage::grant_covers(&grant, &of) {
                    offers.push(grant);
                }
            }
        }
        Access::Write(path) => {
            let mut folder = path.parent();
            while let Some(above) = folder {
                offers.push(Grant::new(tool, GrantScope::Folder(above.to_owned())));
                folder = above.parent();
            }
        }
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_) => {}
    }
    offers.retain(|grant| coverage::grant_covers(grant, &of));
    // For a file at the top of the project both folder scopes are the project.
    offers.dedup_by(|a, b| a.scope == b.scope);
    offers
}

/// Returns why no grant is offered for a call; `None` if one is, or if its tool always asks.
pub fn explain_no_scopes(tool: &str, plan: &Plan) -> Option<String> {
    let of = Subject::from_plan(tool, plan);
    if let Some(beyond) = of.preconditions.restricted_path.as_ref().filter(|beyond| beyond.is_sensitive) {
        let path = beyond.path.display();
        return Some(format!("secrets or configuration of other programs: {path}"));
    }
    if let Some(destroys) = &plan.destroys {
        return Some(format!("destructive call: {destroys}"));
    }
    if let Some(links) = &plan.preconditions.hard_links {
        return Some(coverage::describe_hard_links(links));
    }
    of.command_line.and_then(|_| of.preconditions.scripts_to_bind().err())
}

/// Returns whether a grant can be written as an equivalent rule. A path that is not UTF-8 or contains wildcards cannot.
pub fn can_be_rule(grant: &Grant) -> bool {
    let named = grant.scripts.iter().all(|script| script.path.to_str().is_some());
    let plain = |path: &Path| path.to_str().is_some_and(|path| !path.contains(['*', '?']));
    match &grant.scope {
        GrantScope::Command { network, .. } => !network && named,
        GrantScope::Prefix { .. } => true,
        GrantScope::File(path) | GrantScope::Folder(path) => plain(path),
    }
}
