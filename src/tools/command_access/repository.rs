//! Checks that a repository's settings are plain, because git obeys them and some of them start programs.

use crate::chat::sensitive_paths::is_sensitive;
use crate::project::{Location, Reader, git_index};
use crate::text::truncation::escape_beginning;
use std::path::Path;

/// Settings of a repository that was created or cloned and not configured since. Any other setting may start a program:
/// `core.fsmonitor`, `diff.external`, `filter.x.clean`, `gpg.program`, `include.path`, …
#[rustfmt::skip]
const PLAIN_SETTINGS: &[(&str, &[&str])] = &[
    ("core", &[
        "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
        "autocrlf", "eol", "safecrlf", "quotepath", "abbrev",
    ]),
    ("remote", &["url", "fetch", "pushurl", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "description", "autosetuprebase"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote"]),
    ("color", &["ui"]),
    ("advice", &["detachedhead"]),
];

/// Checks that nothing in the repository can make git run programs. The error is a reason for the approval prompt.
pub(super) fn check_plain_repository(files: &dyn Reader) -> Result<(), String> {
    let location = |name: &str| locate_without_links(files, name);
    let read_without_links = |name: &str| location(name).and_then(|location| files.read(&location).ok());
    let Some(entries) = location(".git").and_then(|location| files.list_names(&location).ok()) else {
        return Err("git would look for its settings outside the project folder".to_owned());
    };
    let has_entry = |name: &str| entries.iter().any(|entry| entry == name);
    if !["HEAD", "objects", "refs", "config"].iter().all(|name| has_entry(name)) || has_entry("commondir") {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    // git skips a `.git` that it does not recognize as a repository, and looks in the folder itself and then in its
    // parents.
    let head = read_without_links(".git/HEAD").and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let is_folder = |name: &str| location(name).is_some_and(|location| files.list_names(&location).is_ok());
    if !is_valid_head(head.trim_end()) || ![".git/objects", ".git/refs", ".git/refs/heads"].into_iter().all(is_folder) {
        return Err("git would look for its settings elsewhere".to_owned());
    }
    if ["HEAD", "objects", "refs"].into_iter().all(|name| exists(files, name)) {
        return Err("the folder itself may be a repository, whose settings git obeys".to_owned());
    }
    if entries.iter().any(|name| name.starts_with("sharedindex")) || exists(files, ".gitmodules") {
        return Err("the repository contains others, whose settings git obeys".to_owned());
    }
    let hooks = location(".git/hooks").and_then(|location| files.list_names(&location).ok()).unwrap_or_default();
    if (has_entry("hooks") && location(".git/hooks").is_none()) || hooks.iter().any(|name| name == "post-index-change")
    {
        return Err("git would run a hook of the repository".to_owned());
    }
    // Mode of a nested repository's entry in the index: a commit, `0o160000` in big-endian bytes.
    const GITLINK_MODE: [u8; 4] = [0, 0, 0xe0, 0];
    if has_entry("index") {
        let index = read_without_links(".git/index").ok_or("git's index cannot be read")?;
        if index.windows(GITLINK_MODE.len()).any(|bytes| bytes == GITLINK_MODE) {
            return Err("the repository may contain others, whose settings git obeys".to_owned());
        }
    }
    let config = read_without_links(".git/config").and_then(|bytes| String::from_utf8(bytes).ok());
    check_settings(&config.ok_or("the repository's settings cannot be read")?)
}

/// Fails if git may print the content of a tracked or staged file that may hold secrets. `limited_to` are the paths to
/// which the output is limited, if any. `with_stash` is true if git may print stashed changes, which are not checked.
/// Files that are no longer tracked are not checked either.
pub(super) fn check_tracked_files(files: &dyn Reader, limited_to: &[String], with_stash: bool) -> Result<(), String> {
    let root = files.root();
    // Only an existing file is read.
    let read = |name: &str| {
        let location = locate_without_links(files, name).filter(|location| files.exists(location));
        location.map(|location| files.read(&location))
    };
    if let Some(content) = read(".git/index") {
        let bytes = content.map_err(|_| "git's index cannot be read")?;
        for path in git_index::tracked_paths(&bytes).ok_or("the files that git tracks cannot be read from its index")? {
            let is_shown =
                limited_to.is_empty() || limited_to.iter().any(|prefix| Path::new(&path).starts_with(prefix));
            if is_shown && is_sensitive(&root.join(&path)) {
                return Err(format!("git may print {}, which may hold secrets", escape_beginning(&path, 120)));
            }
        }
    }
    let names_stash = |text: Vec<u8>| text.windows(10).any(|name| name == b"refs/stash");
    // A file that cannot be read, or is a link, may name one.
    let has_packed_stash = || match read(".git/packed-refs") {
        Some(content) => content.map_or(true, names_stash),
        None => exists(files, ".git/packed-refs"),
    };
    let mut stash_files = [".git/refs/stash", ".git/MERGE_AUTOSTASH"].into_iter();
    if with_stash && (stash_files.any(|name| exists(files, name)) || has_packed_stash()) {
        return Err("git may print stashed changes, which are not checked".to_owned());
    }
    Ok(())
}

/// Locates a path of the project if it leads through no link.
fn locate_without_links(files: &dyn Reader, name: &str) -> Option<Location> {
    files.locate(name).ok().filter(|location| location.real == files.root().join(name))
}

fn exists(files: &dyn Reader, name: &str) -> bool {
    files.locate(name).is_ok_and(|location| files.exists(&location))
}

/// Returns whether git recognizes a folder with this `HEAD` as a repository.
fn is_valid_head(text: &str) -> bool {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit || text.strip_prefix("ref: ").is_some_and(|target| target.starts_with("refs/"))
}

/// Returns the name of the section that a line begins; `None` unless the line is only a section header. Text after the
/// header may contain a setting, and a `]` at the end of the line may belong to a comment.
fn parse_section(line: &str) -> Option<String> {
    let header = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, subsection) = header.split_once([' ', '\t']).unwrap_or((header, "\"\""));
    let subsection = subsection.trim().strip_prefix('"')?.strip_suffix('"')?;
    let is_plain_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_plain_name && !subsection.contains(['"', '\\', ']'])).then(|| name.to_lowercase())
}

/// Checks every line of the settings.
fn check_settings(config: &str) -> Result<(), String> {
    let mut section = String::new();
    for line in config.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let unsupported_setting = || {
            let displayed = escape_beginning(line, 60);
            Err(format!("the repository's settings contain “{displayed}”, which may make git run programs"))
        };
        if line.ends_with('\\') {
            return unsupported_setting();
        }
        if line.starts_with('[') {
            let Some(name) = parse_section(line) else { return unsupported_setting() };
            section = name;
            if !PLAIN_SETTINGS.iter().any(|(name, _)| *name == section) {
                return unsupported_setting();
            }
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_lowercase();
        let is_plain_setting =
            PLAIN_SETTINGS.iter().any(|(name, keys)| *name == section && keys.contains(&key.as_str()));
        // A remote that runs a program: `ext::sh -c …`. Read-only commands contact no remote, but a repository with
        // such a setting is not plain.
        if !is_plain_setting || line.contains("ext::") {
            return unsupported_setting();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r12_only_plain_repository_settings_need_no_approval() {
        let plain_settings = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n# x\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(check_settings(plain_settings), Ok(()));
        for settings in [
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
            assert!(check_settings(settings).is_err(), "{settings}");
        }
    }
}
