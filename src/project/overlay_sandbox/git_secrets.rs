//! Parts of the project's `.git` that commands of a dry run must not open.

use super::tool_settings;
use crate::chat::sensitive_paths::is_sensitive;
use crate::project::git_index;
use crate::project::sensitive_files::{Reason, WithheldPath};
use memchr::memmem;
use std::fs;
use std::io;
use std::path::Path;

/// Parts in which git keeps the content of files.
const CONTENT_PATHS: [&str; 5] = ["objects", "lfs", "rr-cache", "rebase-apply", "rebase-merge"];
/// Parts that hold other repositories. They are not examined, so they are always withheld.
const OTHER_REPOSITORIES: [&str; 2] = ["modules", "worktrees"];
/// Parts that exist if something was stashed.
const STASH_PATHS: [&str; 2] = ["refs/stash", "MERGE_AUTOSTASH"];
/// Words that occur next to passwords in git settings.
const CREDENTIAL_WORDS: [&str; 5] = ["extraheader", "password", "token", "secret", "cookie"];

/// Lists the withheld parts of `.git`: settings with passwords, entries with sensitive names, and other repositories.
/// Unless `reads_content` is set (for a command that, according to the policy, only reads), also the parts with the
/// content of files, if git may store a file that holds secrets.
pub fn withheld_git_paths(project: &Path, reads_content: bool) -> Vec<WithheldPath> {
    let git = project.join(".git");
    let mut withheld = Vec::new();
    let mut withhold = |name: &str, reason| withheld.push(WithheldPath { path: git.join(name), reason });
    for name in ["config", "config.worktree"] {
        if read_or_empty(&git.join(name)).is_none_or(|text| has_credentials(&text)) {
            withhold(name, Reason::Sensitive);
        }
    }
    OTHER_REPOSITORIES.iter().for_each(|name| withhold(name, Reason::StoredByGit));
    for entry in fs::read_dir(&git).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if is_sensitive(Path::new(&name)) {
            withhold(&name.to_string_lossy(), Reason::Sensitive);
        }
    }
    if !reads_content && has_stored_secrets(project, &git) {
        CONTENT_PATHS.iter().for_each(|name| withhold(name, Reason::StoredByGit));
    }
    withheld
}

/// Reads a file: empty if it does not exist, `None` if it cannot be read.
fn read_or_empty(path: &Path) -> Option<Vec<u8>> {
    match fs::read(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Some(Vec::new())
        }
        result => result.ok(),
    }
}

/// Returns whether git tracks, stages or has stashed a file that may hold secrets, or whether that is unknown.
fn has_stored_secrets(project: &Path, git: &Path) -> bool {
    let Some(index) = read_or_empty(&git.join("index")) else { return true };
    let tracks_secret = || {
        let Some(entries) = git_index::parse_index(&index) else { return true };
        let mut paths = entries.iter().map(|entry| project.join(&entry.path));
        paths.any(|path| is_sensitive(&path) && !tool_settings::is_visible_setting(project, &path))
    };
    let has_packed_stash =
        || read_or_empty(&git.join("packed-refs")).is_none_or(|refs| memmem::find(&refs, b"refs/stash").is_some());
    // A split index keeps a part of its entries in another file.
    let has_split_index = || {
        let names = fs::read_dir(git).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.as_encoded_bytes().starts_with(b"sharedindex"))
    };
    (!index.is_empty() && tracks_secret())
        || has_split_index()
        || STASH_PATHS.iter().any(|name| git.join(name).symlink_metadata().is_ok())
        || has_packed_stash()
}

fn has_credentials(settings: &[u8]) -> bool {
    let text = String::from_utf8_lossy(settings).to_lowercase();
    // `https://user:password@host`
    let has_user = |line: &str| {
        line.split_once("://")
            .is_some_and(|(_, after_scheme)| after_scheme.split('/').next().is_some_and(|host| host.contains('@')))
    };
    text.lines().any(|line| has_user(line) || CREDENTIAL_WORDS.iter().any(|word| line.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_passwords_are_recognised() {
        for plain in [
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a/b@c\n",
            "[remote \"origin\"]\n\turl = git@example.com:a/b\n",
            "",
        ] {
            assert!(!has_credentials(plain.as_bytes()), "{plain}");
        }
        for secret in [
            "\turl = https://user:pass@example.com/a",
            "\turl = HTTPS://token@example.com/a",
            "\textraHeader = AUTHORIZATION: basic x",
            "[credential]\n\tpassword = x",
        ] {
            assert!(has_credentials(secret.as_bytes()), "{secret}");
        }
    }

    #[test]
    fn content_is_withheld_if_it_may_hold_secrets_or_is_unreadable() {
        let temporary = tempfile::tempdir().unwrap();
        let (root, git) = (temporary.path(), temporary.path().join(".git"));
        fs::create_dir_all(git.join("refs")).unwrap();
        let withheld_names = |reads_content: bool| {
            let withheld = withheld_git_paths(root, reads_content);
            withheld
                .iter()
                .filter(|entry| OTHER_REPOSITORIES.iter().all(|name| !entry.path.ends_with(name)))
                .map(|entry| entry.path.strip_prefix(&git).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(withheld_names(false), [""; 0]);
        for (file, text) in
            [("index", "DIRC?"), ("refs/stash", "x"), ("packed-refs", "x refs/stash\n"), ("sharedindex.1", "")]
        {
            fs::write(git.join(file), text).unwrap();
            assert_eq!(withheld_names(false), CONTENT_PATHS, "{file}");
            assert_eq!(withheld_names(true), [""; 0], "{file}");
            fs::remove_file(git.join(file)).unwrap();
        }
        fs::write(git.join("config"), "url = https://a:b@c").unwrap();
        fs::write(git.join("credentials"), "x").unwrap();
        assert_eq!(withheld_names(true), ["config", "credentials"]);
        let paths: Vec<_> = withheld_git_paths(root, true).into_iter().map(|entry| entry.path).collect();
        assert!(paths.contains(&git.join("modules")));
    }
}
