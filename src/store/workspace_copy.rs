//! Copies the workspace of a session. The contents never change, so the copy has links to the same ones.

use super::private_files;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of the files of the index.
const INDEX_FILES: [&str; 2] = ["index.jsonl", "index.copy.jsonl"];

/// Copies a workspace, if there is one. Files that are stored meanwhile may be missing in the copy, and so are, unless
/// `keeps_rehearsed`, the changes that a dry run rehearsed.
///
/// # Errors
/// Returns the path that could not be copied.
pub fn copy_workspace(old: &Path, new: &Path, keeps_rehearsed: bool) -> Result<(), (PathBuf, io::Error)> {
    let (old_contents, new_contents) = (old.join("bytes"), new.join("bytes"));
    if !old_contents.is_dir() {
        return Ok(());
    }
    private_files::create_folder(&new_contents).map_err(|error| (new_contents.clone(), error))?;
    let mut digests = HashSet::new();
    // First, so that every content that the copied lines name is stored.
    for name in INDEX_FILES {
        let path = old.join(name);
        let bytes = match private_files::read_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read.map_err(|error| (path.clone(), error))?,
        };
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let copied = lines.filter(|line| keeps_line(line, keeps_rehearsed, &mut digests)).collect::<Vec<_>>().concat();
        private_files::replace(&new.join(name), &copied).map_err(|error| (path, error))?;
    }
    for path in private_files::list_folder(&old_contents).map_err(|error| (old_contents, error))? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if digests.contains(name) {
            link_content(&path, &new_contents.join(name)).map_err(|error| (path.clone(), error))?;
        }
    }
    Ok(())
}

/// Returns whether a line of the index is copied, and collects the digest of its content. A line that cannot be parsed is
/// copied.
fn keeps_line(line: &[u8], keeps_rehearsed: bool, digests: &mut HashSet<String>) -> bool {
    let Ok(line) = serde_json::from_slice::<Value>(line) else { return true };
    let is_kept = keeps_rehearsed || line["origin"]["rehearsed"] != true;
    digests.extend(line["content"]["sha256"].as_str().filter(|_| is_kept).map(str::to_owned));
    is_kept
}

/// Links a content, or copies it where the file system cannot. One that is removed meanwhile is no longer needed.
fn link_content(old: &Path, new: &Path) -> io::Result<()> {
    match fs::hard_link(old, new) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            let bytes = private_files::read_file(old)?;
            private_files::replace(new, &bytes)
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn line(digest: &str, is_rehearsed: bool) -> String {
        format!("{{\"content\":{{\"sha256\":\"{digest}\"}},\"origin\":{{\"rehearsed\":{is_rehearsed}}}}}\n")
    }

    #[test]
    fn a_copy_has_links_to_the_contents() {
        let home = tempfile::tempdir().unwrap();
        let (old, new) = (home.path().join("old"), home.path().join("new"));
        copy_workspace(&old, &new, true).unwrap();
        assert!(!new.exists());
        fs::create_dir_all(old.join("bytes")).unwrap();
        let index = line("0abc", false) + &line("1def", true) + "{\"half";
        for (name, content) in [
            ("bytes/0abc", "x"),
            ("bytes/1def", "x"),
            ("bytes/2000", "not recorded"),
            ("bytes/.half-abcd1234", "x"),
            ("index.jsonl", &index),
            ("lock", ""),
        ] {
            fs::write(old.join(name), content).unwrap();
        }
        copy_workspace(&old, &new, true).unwrap();
        assert_eq!(fs::metadata(old.join("bytes/0abc")).unwrap().nlink(), 2);
        assert_eq!(fs::read_to_string(new.join("index.jsonl")).unwrap(), index);
        assert_eq!(fs::metadata(new.join("index.jsonl")).unwrap().nlink(), 1, "both grow on their own");
        assert_eq!(fs::read_dir(new.join("bytes")).unwrap().count(), 2);
        assert!(!new.join("lock").exists() && !new.join("index.copy.jsonl").exists());
        let live = home.path().join("live");
        copy_workspace(&old, &live, false).unwrap();
        assert_eq!(fs::read_to_string(live.join("index.jsonl")).unwrap(), line("0abc", false) + "{\"half");
        assert!(live.join("bytes/0abc").exists() && !live.join("bytes/1def").exists());
    }
}
