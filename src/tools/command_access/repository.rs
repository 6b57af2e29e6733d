//! Checks that a repository's settings are plain, because git obeys them and some of them start programs.

use crate::chat::sensitive_paths::is_sensitive;
use crate::project::Reader;
use crate::text::truncation::escape_beginning;
use std::path::Path;

pub(super) mod git_index;

/// Settings of a repository that was created or cloned and not configured since. Any other setting may start a program:
/// `core.fsmonitor`, `diff.external`, `filter.x.clean`, `gpg.program`, `include.path`, …
const PLAIN_SETTINGS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
        ],
    ),
    ("remote", &["url", "fetch", "pushurl", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "description", "autosetuprebase"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote"]),
    ("color", &["ui"]),
    ("advice", &["detachedhead"]),
];

/// Checks that git only prints. The error is a reason for the approval prompt.
pub(super) fn is_plain(files: &dyn Reader) -> Result<(), String> {
    let root = files.root().to_owned();
    let at = |name: &str| files.locate(name).ok().filter(|at| at.real == root.join(name));
    let read = |name: &str| at(name).and_then(|at| files.read(&at).ok());
    let Some(held) = at(".git").and_then(|at| files.list_names(&at).ok()) else {
        return Err("git would look for its settings outside the project folder".to_owned());
    };
    let has = |name: &str| held.iter().any(|held| held == name);
    if !["HEAD", "objects", "refs", "config"].iter().all(|name| has(name)) || has("commondir") {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    // git skips a `.git` that it does not recognize as a repository, and looks in the folder itself and then in its
    // parents.
    let head = read(".git/HEAD").and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let opens = |name: &str| at(name).is_some_and(|at| files.list_names(&at).is_ok());
    if !is_head(head.trim_end()) || ![".git/objects", ".git/refs", ".git/refs/heads"].into_iter().all(opens) {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    let is_there = |name: &str| files.locate(name).is_ok_and(|at| files.exists(&at));
    if ["HEAD", "objects", "refs"].into_iter().all(is_there) {
        return Err("the folder itself may be a repository, whose settings git obeys".to_owned());
    }
    if held.iter().any(|name| name.starts_with("sharedindex"))
        || files.locate(".gitmodules").is_ok_and(|at| files.exists(&at))
    {
        return Err("the repository contains others, whose settings git obeys".to_owned());
    }
    let hooks = at(".git/hooks").and_then(|at| files.list_names(&at).ok()).unwrap_or_default();
    if (has("hooks") && at(".git/hooks").is_none()) || hooks.iter().any(|name| name == "post-index-change") {
        return Err("git would run a hook of the repository".to_owned());
    }
    // The index has a commit as the entry of a nested repository.
    const COMMIT: [u8; 4] = [0, 0, 0xe0, 0];
    if has("index") {
        let index = read(".git/index").ok_or("git's index cannot be read")?;
        if index.windows(COMMIT.len()).any(|bytes| bytes == COMMIT) {
            return Err("the repository may contain others, whose settings git obeys".to_owned());
        }
    }
    let config = read(".git/config").and_then(|bytes| String::from_utf8(bytes).ok());
    check_settings(&config.ok_or("the repository's settings cannot be read")?)
}

/// Fails if git may print the content of a file that may hold secrets and is tracked or about to be. `below` are the
/// paths that the output is limited to, if any. Files that are no longer tracked are not checked.
pub(super) fn check_tracked_files(files: &dyn Reader, below: &[String], stashed: bool) -> Result<(), String> {
    let root = files.root();
    let at = |name: &str| files.locate(name).ok().filter(|at| at.real == root.join(name));
    if let Some(at) = at(".git/index").filter(|at| files.exists(at)) {
        let bytes = files.read(&at).map_err(|_| "git's index cannot be read")?;
        for path in git_index::read_paths(&bytes).ok_or("the files that git tracks cannot be read from its index")? {
            let is_shown = below.is_empty() || below.iter().any(|below| Path::new(&path).starts_with(below));
            if is_shown && is_sensitive(&root.join(&path)) {
                return Err(format!("git may print {}, which may hold secrets", escape_beginning(&path, 120)));
            }
        }
    }
    let is_there = |name: &str| files.locate(name).is_ok_and(|at| files.exists(&at));
    let is_packed = || {
        let packed = at(".git/packed-refs").filter(|at| files.exists(at)).map(|at| files.read(&at));
        packed.is_some_and(|read| read.map_or(true, |text| text.windows(10).any(|name| name == b"refs/stash")))
    };
    let kept = [".git/refs/stash", ".git/MERGE_AUTOSTASH"];
    if stashed && (kept.into_iter().any(is_there) || is_packed()) {
        return Err("git may print stashed changes, which are not checked".to_owned());
    }
    Ok(())
}

/// Returns whether git recognizes a folder with this `HEAD` as a repository.
fn is_head(text: &str) -> bool {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit || text.strip_prefix("ref: ").is_some_and(|to| to.starts_with("refs/"))
}

/// Returns the section that a line begins, if the line has nothing else: a setting may follow the first `]`, and the
/// last one may be in a comment.
fn parse_section(line: &str) -> Option<String> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, below) = inside.split_once([' ', '\t']).unwrap_or((inside, "\"\""));
    let below = below.trim().strip_prefix('"')?.strip_suffix('"')?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && !below.contains(['"', '\\', ']'])).then(|| name.to_lowercase())
}

/// Checks every line of the settings.
fn check_settings(config: &str) -> Result<(), String> {
    let mut section = String::new();
    for line in config.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let odd = || {
            let shown = escape_beginning(line, 60);
            Err(format!("the repository's settings contain “{shown}”, which may make git run programs"))
        };
        if line.ends_with('\\') {
            return odd();
        }
        if line.starts_with('[') {
            let Some(name) = parse_section(line) else { return odd() };
            section = name;
            if !PLAIN_SETTINGS.iter().any(|(name, _)| *name == section) {
                return odd();
            }
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_lowercase();
        let plain = PLAIN_SETTINGS.iter().any(|(name, keys)| *name == section && keys.contains(&key.as_str()));
        // A remote that is a program: `ext::sh -c …`. No command that counts as reading uses it, but a plain repository
        // has none.
        if !plain || line.contains("ext::") {
            return odd();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r12_only_plain_repository_settings_need_no_approval() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n# x\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(check_settings(plain), Ok(()));
        for odd in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core]\n\tFSMonitor = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[core]\n\thooksPath = x\n",
            "[core]\n\tpager = x\n",
            "[core]\n\tbare = false \\\nfsmonitor = x\n",
            "[diff]\n\texternal = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[gpg]\n\tprogram = x\n",
            "[log]\n\tshowSignature = true\n",
            "[include]\n\tpath = ../x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../x\n",
            "[alias]\n\tstatus = !x\n",
            "[pretty]\n\tx = %GG\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[remote \"x\"]\n\turl = ext::sh -c x\n",
            "[remote \"x\"]\n\tpromisor = true\n",
            "[core.x]\n",
            "[remote \"x\"] promisor = true #]\n",
            "[remote \"x\"]uploadpack = ./x;]\n",
            "[remote \"x\"] vcs = x # \"]\n",
            "[core \"]\"]\n",
            "[core \"\\\"]\n",
            "fsmonitor = x\n",
        ] {
            assert!(check_settings(odd).is_err(), "{odd}");
        }
    }
}
