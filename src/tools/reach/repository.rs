//! Whether the repository's own settings are plain: git obeys them, and some of them start programs.

use crate::chat::sensitive::sensitive;
use crate::project::Reader;
use std::path::Path;

pub(super) mod index;

/// What stands in a repository that was made or cloned and not touched since. Whatever else is set may start a program:
/// `core.fsmonitor`, `diff.external`, `filter.x.clean`, `gpg.program`, `include.path`, …
const PLAIN: &[(&str, &[&str])] = &[
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

/// Fails, with words that follow “because”, where git may do more than show.
pub(super) fn is_plain(files: &dyn Reader) -> Result<(), String> {
    let root = files.root().to_owned();
    let at = |name: &str| files.locate(name).ok().filter(|at| at.real == root.join(name));
    let read = |name: &str| at(name).and_then(|at| files.read(&at).ok());
    let Some(held) = at(".git").and_then(|at| files.names(&at).ok()) else {
        return Err("git would look for its settings outside the project's folder".to_owned());
    };
    let has = |name: &str| held.iter().any(|held| held == name);
    if !["HEAD", "objects", "refs", "config"].iter().all(|name| has(name)) || has("commondir") {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    // What git takes for no repository it passes over, and looks at the folder itself and then above it.
    let head = read(".git/HEAD").and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let opens = |name: &str| at(name).is_some_and(|at| files.names(&at).is_ok());
    if !is_head(head.trim_end()) || ![".git/objects", ".git/refs", ".git/refs/heads"].into_iter().all(opens) {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    let is_there = |name: &str| files.locate(name).is_ok_and(|at| files.exists(&at));
    if ["HEAD", "objects", "refs"].into_iter().all(is_there) {
        return Err("the folder itself may be taken for a repository, whose settings git obeys".to_owned());
    }
    if held.iter().any(|name| name.starts_with("sharedindex"))
        || files.locate(".gitmodules").is_ok_and(|at| files.exists(&at))
    {
        return Err("the repository holds others, whose settings git obeys".to_owned());
    }
    let hooks = at(".git/hooks").and_then(|at| files.names(&at).ok()).unwrap_or_default();
    if (has("hooks") && at(".git/hooks").is_none()) || hooks.iter().any(|name| name == "post-index-change") {
        return Err("git would run a hook of the repository".to_owned());
    }
    // A commit stands in the index where another repository is.
    const COMMIT: [u8; 4] = [0, 0, 0xe0, 0];
    if has("index") {
        let index = read(".git/index").ok_or("git's index cannot be read")?;
        if index.windows(COMMIT.len()).any(|bytes| bytes == COMMIT) {
            return Err("the repository may hold others, whose settings git obeys".to_owned());
        }
    }
    let config = read(".git/config").and_then(|bytes| String::from_utf8(bytes).ok());
    settings(&config.ok_or("the repository's settings cannot be read")?)
}

/// Fails if git may print the content of a file that may hold secrets: one that it tracks, or is told to track. `below` are the
/// paths it is limited to, if any. What was committed earlier and is tracked no more is not looked at.
pub(super) fn shows_no_secrets(files: &dyn Reader, below: &[String], stashed: bool) -> Result<(), String> {
    let root = files.root();
    let at = |name: &str| files.locate(name).ok().filter(|at| at.real == root.join(name));
    if let Some(at) = at(".git/index").filter(|at| files.exists(at)) {
        let bytes = files.read(&at).map_err(|_| "git's index cannot be read")?;
        for path in index::paths(&bytes).ok_or("what git tracks cannot be told from its index")? {
            let is_shown = below.is_empty() || below.iter().any(|below| Path::new(&path).starts_with(below));
            if is_shown && sensitive(&root.join(&path)) {
                let shown: String = path.chars().take(120).collect();
                return Err(format!("git may print {}, which may hold secrets", shown.escape_debug()));
            }
        }
    }
    let is_there = |name: &str| files.locate(name).is_ok_and(|at| files.exists(&at));
    let is_packed = || {
        let packed = at(".git/packed-refs").filter(|at| files.exists(at)).map(|at| files.read(&at));
        packed
            .is_some_and(|read| read.map_or(true, |text| text.windows(10).any(|name| name == b"refs/stash")))
    };
    let kept = [".git/refs/stash", ".git/MERGE_AUTOSTASH"];
    if stashed && (kept.into_iter().any(is_there) || is_packed()) {
        return Err("git may print what was put aside with git stash, and that is not looked at".to_owned());
    }
    Ok(())
}

/// Whether git takes a folder with this in its `HEAD` for a repository.
fn is_head(text: &str) -> bool {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit || text.strip_prefix("ref: ").is_some_and(|to| to.starts_with("refs/"))
}

/// The section that a line begins, where it holds nothing else: behind the first `]` a setting may stand, and the last one may
/// be in a comment.
fn section_of(line: &str) -> Option<String> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, below) = inside.split_once([' ', '\t']).unwrap_or((inside, "\"\""));
    let below = below.trim().strip_prefix('"')?.strip_suffix('"')?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && !below.contains(['"', '\\', ']'])).then(|| name.to_lowercase())
}

/// Looks at every line of the settings.
fn settings(config: &str) -> Result<(), String> {
    let mut section = String::new();
    for line in config.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let odd = || {
            let shown: String = line.chars().take(60).collect();
            Err(format!(
                "the repository's settings hold “{}”, which git may obey by running programs",
                shown.escape_debug()
            ))
        };
        if line.ends_with('\\') {
            return odd();
        }
        if line.starts_with('[') {
            let Some(name) = section_of(line) else { return odd() };
            section = name;
            if !PLAIN.iter().any(|(name, _)| *name == section) {
                return odd();
            }
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_lowercase();
        let plain = PLAIN.iter().any(|(name, keys)| *name == section && keys.contains(&key.as_str()));
        // A remote that is a program: `ext::sh -c …`. None of what is read here asks it, and none should be there.
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
    fn r12_only_plain_settings_of_a_repository_are_obeyed_unasked() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n# x\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(settings(plain), Ok(()));
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
            assert!(settings(odd).is_err(), "{odd}");
        }
    }
}
