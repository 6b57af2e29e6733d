//! Indexes of every version, unsupported ones, and truncated ones.

use super::*;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

fn run_git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().ok()?;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Creates an index of version 2 with these names.
pub fn index_of(names: &[&str]) -> Vec<u8> {
    let mut names = names.to_vec();
    names.sort_unstable();
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    for name in names {
        let start = bytes.len();
        // The file's metadata and its object id, a SHA-1.
        bytes.extend([1; STAT_BYTES + 20]);
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(name.bytes());
        let length = (bytes.len() - start + 1).next_multiple_of(8);
        bytes.resize(start + length, 0);
    }
    // The checksum at the end, which is not verified.
    bytes.extend([7; 20]);
    bytes
}

#[test]
fn r13_reads_names_of_index_and_rejects_unsupported_format() {
    let names = ["README.md", "src/a", "src/abcdefg", "src/main.rs"];
    let bytes = index_of(&names);
    assert_eq!(tracked_paths(&bytes).unwrap(), names);
    assert_eq!(tracked_paths(&index_of(&[])).unwrap(), Vec::<String>::new());
    for length in 0..bytes.len() {
        assert_eq!(tracked_paths(&bytes[..length]), None, "cut after {length}");
    }
    let with_extension = |extension: &[u8]| [&bytes[..bytes.len() - 20], extension, &[7; 20]].concat();
    assert_eq!(tracked_paths(&with_extension(b"TREE\0\0\0\x04abcd")).unwrap(), names);
    for unsupported in [&b"link\0\0\0\x04abcd"[..], b"TREE\0\0\0\x05abcd", b"TREE\xff\xff\xff\xffabcd", b"TREE"] {
        assert_eq!(tracked_paths(&with_extension(unsupported)), None, "{unsupported:?}");
    }
}

#[test]
fn every_version_and_hash_is_parsed_like_git() {
    for (version, hash) in [("2", "sha1"), ("3", "sha1"), ("4", "sha1"), ("2", "sha256")] {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        if run_git(root, &["init", "-q", "--object-format", hash]).is_none() {
            let _ = writeln!(io::stderr(), "LEFT OUT: the index of git: git is not installed");
            return;
        }
        let long_path = format!("src/{}/x", "n".repeat(200));
        for path in [".env", "a", "src/b.rs", "src/b/deep/er", "src/c with blanks", &long_path, "zz", "ünï"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), path).unwrap();
        }
        run_git(root, &["add", ".env", "a", "src", "zz"]).unwrap();
        // This flag requires version 3.
        run_git(root, &["add", "--intent-to-add", "ünï"]).unwrap();
        run_git(root, &["update-index", "--index-version", version]).unwrap();
        let listed = run_git(root, &["ls-files", "-z"]).unwrap();
        let listed: Vec<&str> = listed.split_terminator('\0').collect();
        let bytes = fs::read(root.join(".git/index")).unwrap();
        let entries = parse_index(&bytes).unwrap();
        let paths: Vec<_> = entries.iter().map(|entry| entry.path.to_str().unwrap()).collect();
        assert_eq!(paths, listed, "{version} {hash}");
        let tracked = tracked_paths(&bytes);
        assert_eq!(tracked, (hash == "sha1").then(|| listed.iter().map(|path| (*path).to_owned()).collect()));
    }
}

#[test]
fn only_staging_changes_the_digest() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path();
    if run_git(root, &["init", "-q"]).is_none() {
        let _ = writeln!(io::stderr(), "LEFT OUT: the index of git: git is not installed");
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
    bytes.extend([0; STAT_BYTES + 20]);
    bytes.extend([0, 1, b'a', 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0; 20]);
    assert_eq!(parse_index(&bytes).map(|entries| entries.len()), Some(1));
    // The index ends before or inside its entry. The last 32 bytes are the entry's name with padding, and the checksum.
    for end in 0..bytes.len() - 32 {
        assert_eq!(parse_index(&bytes[..end]), None, "{end}");
    }
    assert_eq!(parse_index(b"DIRC\0\0\0\x09\0\0\0\0"), None);
    assert_eq!(staged_digest(b"x"), Digest::of_bytes(b"x"));
}

#[test]
fn another_base_of_a_split_index_changes_the_digest() {
    let bytes = index_of(&["a"]);
    let with_extension = |extension: &[u8]| [&bytes[..bytes.len() - 20], extension, &[7; 20]].concat();
    let split_digest = |base: &[u8]| staged_digest(&with_extension(&[b"link\0\0\0\x04", base].concat()));
    assert_ne!(split_digest(b"abcd"), split_digest(b"efgh"));
    // The extension `TREE` is a cache of the entries.
    assert_eq!(staged_digest(&with_extension(b"TREE\0\0\0\x04abcd")), staged_digest(&bytes));
}
