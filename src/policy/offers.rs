//! How wide a yes for a call may be kept: what the card offers, the narrowest first.

use super::cover::{self, may_be_kept};
use super::shell::{base, is_interpreter, is_launcher};
use super::subject::Subject;
use crate::chat::{Access, Grant, Plan, Scope};
use std::path::Path;

/// Programs that run what they are given: their name alone says nothing of what happens. So do shells and interpreters.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "env", "time", "nohup", "setsid", "timeout", "nice", "ionice", "stdbuf", "command", "builtin", "exec", "busybox",
    "toybox", "xargs", "find", "fd", "sudo", "doas", "su", "pkexec", "runuser", "ssh", "mosh", "awk", "gawk", "mawk",
    "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "npx", "bunx", "pnpx", "uvx", "pipx", "at", "batch", "trap",
    "alias", "eval", "source", ".", "coproc", "crontab",
    // They take code among their words
    "csh", "tcsh", "nu", "elvish", "xonsh", "R", "julia", "elixir", "iex", "erl", "guile", "racket", "sbcl", "ocaml",
    "ghci", "runghc", "runhaskell", "jshell", "groovy", "scala", "gnuplot", "octave", "m4", "dc", "ipython", "tsx",
    "ts-node", "nix-shell",
];

/// Programs whose first word says what they do; alone they can do anything.
#[rustfmt::skip]
const WORDY: &[&str] = &[
    "git", "hg", "svn", "jj", "cargo", "rustup", "npm", "pnpm", "yarn", "bun", "deno", "docker", "podman", "kubectl",
    "helm", "go", "gh", "glab", "pip", "pip3", "uv", "poetry", "conda", "mamba", "nix", "brew", "apt", "apt-get", "dnf",
    "yum", "pacman", "zypper", "snap", "systemctl", "service", "terraform", "tofu", "aws", "gcloud", "az", "make",
    "gmake", "ninja", "just", "task", "rake", "bundle", "gem", "mvn", "gradle", "gradlew", "dotnet", "composer", "mix",
    "cmake", "bazel", "swift", "zig", "flutter", "dart", "vagrant", "ansible", "heroku", "fly", "vercel", "openssl",
    "tar", "rsync", "ip", "nmcli",
];

/// Programs that change, delete or send what they are given, or run what some option says: these are kept as exactly one
/// command alone.
#[rustfmt::skip]
const BLUNT: &[&str] = &[
    "rm", "rmdir", "mv", "cp", "dd", "ln", "install", "chmod", "chown", "chgrp", "kill", "pkill", "killall", "tee",
    "truncate", "shred", "mkfs", "mount", "umount", "curl", "wget", "nc", "ncat", "socat", "scp", "sftp", "ftp", "telnet",
    "mail", "reboot", "shutdown", "poweroff", "halt", "patch", "export", "unset", "sqlite3", "psql", "mysql", "mariadb",
    "mongosh", "rustc", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "split", "zip", "fzf", "man",
];

/// First words of programs that set what other programs obey, or run what follows.
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

/// Why these words are too wide to be allowed, behind “because”; `None` where they are not.
pub fn too_wide(words: &[String]) -> Option<String> {
    let program = words.first().map(|word| base(word)).filter(|program| !program.is_empty());
    let Some(program) = program else { return Some("it names no program".to_owned()) };
    let sub = words.get(1).map(String::as_str);
    if runs_what_it_is_given(program) {
        return Some(format!("{program} runs whatever it is given"));
    }
    if words.iter().any(|word| word.starts_with('-')) {
        return Some("the words before an option are what a rule can go by".to_owned());
    }
    if words[0].contains('/') {
        return Some("a program named by its path may be another one tomorrow".to_owned());
    }
    if words.len() == 1 && WORDY.contains(&program) {
        return Some(format!("{program} alone can do anything; its next word says what"));
    }
    if BLUNT.contains(&program) {
        return Some(format!("what {program} does depends on every word behind it"));
    }
    let wraps = SUB_WRAPPERS.iter().find(|(name, _)| *name == program);
    match (wraps, sub) {
        (Some((_, subs)), Some(sub)) if subs.contains(&sub) => {
            Some(format!("{program} {sub} can make other programs run"))
        }
        (Some(_) | None, _) => None,
    }
}

/// Whether a program runs what stands in its words.
pub fn runs_what_it_is_given(program: &str) -> bool {
    is_interpreter(program) || is_launcher(program) || WRAPPERS.contains(&program)
}

/// Every width in which a yes for this call may be kept, the narrowest first. Empty where nothing lasting may be.
pub fn offers(tool: &str, plan: &Plan) -> Vec<Grant> {
    let of = Subject::of(tool, plan);
    let Some(narrowest) = plan.always.clone().filter(|_| may_be_kept(&of)) else { return Vec::new() };
    let mut offers = vec![narrowest];
    match &plan.access {
        Access::Run(line) => {
            let words = of.reading().and_then(cover::plain).map(|simple| &simple.words);
            let words: Vec<String> =
                words.into_iter().flatten().filter_map(|word| word.known().map(str::to_owned)).collect();
            let named = words.iter().take_while(|word| !word.starts_with('-')).count();
            // Beyond three words it is hardly wider than the command itself.
            for count in (1..=named.min(3)).rev() {
                let scope = Scope::Words { words: words[..count].to_vec(), folder: line.folder.clone() };
                let grant = Grant::new(tool, scope);
                if too_wide(&words[..count]).is_none() && cover::covers(&grant, &of) {
                    offers.push(grant);
                }
            }
        }
        Access::Write(path) => {
            let mut folder = path.parent();
            while let Some(above) = folder {
                offers.push(Grant::new(tool, Scope::Under(above.to_owned())));
                folder = above.parent();
            }
        }
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::WriteOutside(_)
        | Access::Own(_) => {}
    }
    offers.retain(|grant| cover::covers(grant, &of));
    // A file at the top of the project lies in no folder but the project's own.
    offers.dedup_by(|a, b| a.scope == b.scope);
    offers
}

/// Why nothing lasting is offered for a call, in words that follow “because”; `None` where something is, or where its tool
/// is asked about each time.
pub fn why_none(tool: &str, plan: &Plan) -> Option<String> {
    let of = Subject::of(tool, plan);
    if let Some(beyond) = of.basis.beyond.as_ref().filter(|beyond| beyond.sensitive) {
        let path = beyond.path.display();
        return Some(format!("it names {path}, which holds secrets or is obeyed by other programs"));
    }
    if let Some(destroys) = &plan.destroys {
        return Some(format!("it {destroys}"));
    }
    if let Some(links) = &plan.basis.hard_links {
        return Some(cover::several_names(links));
    }
    of.line.and_then(|_| of.basis.bound().err())
}

/// Whether a grant can be written as a rule that means the same: a name that is no text, or would be a pattern, cannot.
pub fn may_be_rule(grant: &Grant) -> bool {
    let named = grant.scripts.iter().all(|script| script.path.to_str().is_some());
    let plain = |path: &Path| path.to_str().is_some_and(|path| !path.contains(['*', '?']));
    match &grant.scope {
        Scope::Command { network, .. } => !network && named,
        Scope::Words { .. } => true,
        Scope::File(path) | Scope::Under(path) => plain(path),
    }
}
