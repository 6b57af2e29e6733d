//! Parser of git's index: the tracked files of a repository and their staged content.

use crate::chat::Digest;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Bytes of an entry before its object id: times, device, inode, mode, owner and size.
const STAT: usize = 40;
/// Offset of the mode in these bytes.
const MODE: usize = 24;
/// Flag of an entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;

/// An entry of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Path relative to the work tree.
    pub path: PathBuf,
    /// Mode, flags and object id: everything except git's cache of file metadata.
    staged: Vec<u8>,
}

/// Parses an index of version 2 to 4. Returns `None` if it is invalid or truncated.
pub fn parse_index(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    // The index does not name the hash algorithm of its repository. Git sorts the entries, so a wrong hash length is
    // detected.
    [20, 32].into_iter().find_map(|length| parse_index_with(bytes, length))
}

/// Returns the hash of the staged content, without the times and sizes that git refreshes when it only reads.
pub fn staged_digest(bytes: &[u8]) -> Digest {
    let Some(entries) = parse_index(bytes) else { return Digest::of_bytes(bytes) };
    let mut content = Vec::new();
    for IndexEntry { path, staged } in entries {
        let path = path.into_os_string().into_vec();
        content.extend((path.len() as u64).to_le_bytes());
        content.extend(path);
        content.extend(staged);
    }
    Digest::of_bytes(&content)
}

fn parse_index_with(bytes: &[u8], hash_length: usize) -> Option<Vec<IndexEntry>> {
    let version = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
    let count = u32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut remaining = bytes.get(12..)?;
    let (mut entries, mut previous) = (Vec::new(), (Vec::new(), 0));
    for _ in 0..count {
        let flags = u16::from_be_bytes(remaining.get(STAT + hash_length..STAT + hash_length + 2)?.try_into().ok()?);
        let is_extended = version > 2 && flags & EXTENDED != 0;
        let fixed_length = STAT + hash_length + if is_extended { 4 } else { 2 };
        let mut staged = remaining.get(MODE..MODE + 4)?.to_vec();
        staged.extend(remaining.get(STAT..fixed_length)?);
        let mut name_bytes = remaining.get(fixed_length..)?;
        let mut path = Vec::new();
        if version == 4 {
            let (strip, suffix) = read_varint(name_bytes)?;
            let shared_length: usize = Vec::len(&previous.0);
            path.extend(previous.0.get(..shared_length.checked_sub(strip)?)?);
            name_bytes = suffix;
        }
        let end = name_bytes.iter().position(|byte| *byte == 0)?;
        path.extend(name_bytes.get(..end)?);
        let entry_length = match version {
            4 => remaining.len() - name_bytes.len() + end + 1,
            // Padded with at least one NUL to a multiple of eight.
            _ => (fixed_length + end + 8) & !7,
        };
        let stage = flags >> 12 & 3;
        if path.is_empty() || !entries.is_empty() && (&path, stage) <= (&previous.0, previous.1) {
            return None;
        }
        remaining = remaining.get(entry_length..)?;
        entries.push(IndexEntry { path: OsString::from_vec(path.clone()).into(), staged });
        previous = (path, stage);
    }
    // Extensions and the checksum follow.
    (remaining.len() >= hash_length).then_some(entries)
}

/// Decodes a number of version 4, and returns it with the remaining bytes.
fn read_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (mut byte, mut remaining) = bytes.split_first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        (byte, remaining) = remaining.split_first()?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, remaining))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn run_git(folder: &Path, arguments: &[&str]) -> Option<String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().ok()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    }

    #[test]
    fn every_version_and_hash_is_parsed_like_git() {
        for (version, hash) in [("2", "sha1"), ("3", "sha1"), ("4", "sha1"), ("2", "sha256")] {
            let temporary = tempfile::tempdir().unwrap();
            let root = temporary.path();
            if run_git(root, &["init", "-q", "--object-format", hash]).is_none() {
                eprintln!("left out: git is not installed");
                return;
            }
            for path in ["a", "src/b.rs", "src/b/deep/er", "src/c with blanks", "zz", "ünï"] {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), path).unwrap();
            }
            run_git(root, &["add", "a", "src", "zz"]).unwrap();
            // This flag requires version 3.
            run_git(root, &["add", "--intent-to-add", "ünï"]).unwrap();
            run_git(root, &["update-index", "--index-version", version]).unwrap();
            let listed = run_git(root, &["ls-files", "-z"]).unwrap();
            let entries = parse_index(&fs::read(root.join(".git/index")).unwrap()).unwrap();
            let paths: Vec<_> = entries.iter().map(|entry| entry.path.to_str().unwrap()).collect();
            assert_eq!(paths, listed.split_terminator('\0').collect::<Vec<_>>(), "{version} {hash}");
        }
    }

    #[test]
    fn only_staging_changes_the_digest() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        if run_git(root, &["init", "-q"]).is_none() {
            eprintln!("left out: git is not installed");
            return;
        }
        fs::write(root.join("a"), "one\n").unwrap();
        run_git(root, &["add", "a"]).unwrap();
        let read_index = || fs::read(root.join(".git/index")).unwrap();
        let index_before = read_index();
        let old_time = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
        fs::File::options().write(true).open(root.join("a")).unwrap().set_times(old_time).unwrap();
        run_git(root, &["status"]).unwrap();
        assert_ne!(read_index(), index_before, "git refreshed its cached metadata");
        assert_eq!(staged_digest(&read_index()), staged_digest(&index_before));
        fs::write(root.join("a"), "two\n").unwrap();
        run_git(root, &["add", "a"]).unwrap();
        assert_ne!(staged_digest(&read_index()), staged_digest(&index_before));
    }

    #[test]
    fn truncated_or_invalid_index_is_none() {
        let mut bytes = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        bytes.extend([0; STAT + 20]);
        bytes.extend([0, 1, b'a', 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0; 20]);
        assert_eq!(parse_index(&bytes).map(|entries| entries.len()), Some(1));
        for end in 0..bytes.len() - 32 {
            assert_eq!(parse_index(&bytes[..end]), None, "{end}");
        }
        assert_eq!(parse_index(b"DIRC\0\0\0\x09\0\0\0\0"), None);
        assert_eq!(staged_digest(b"x"), Digest::of_bytes(b"x"));
    }
}
