//! Reads the names of tracked files from git's index, including staged files and those of `git add -N`.

/// Bytes of an entry before its flags: times, device, mode, owner, size and hash.
const BEFORE_FLAGS: usize = 60;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 20;

/// Returns every path in the index; `None` if its format is not supported: split, sparse or of another version.
pub(super) fn read_paths(bytes: &[u8]) -> Option<Vec<String>> {
    let read_u32 = |offset: usize| {
        let word: [u8; 4] = bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(word)).ok()
    };
    let version = read_u32(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let count = read_u32(8)?;
    let (mut offset, mut name, mut paths) = (12, Vec::new(), Vec::new());
    for _ in 0..count {
        let start = offset;
        let flags = bytes.get(offset + BEFORE_FLAGS..offset + BEFORE_FLAGS + 2)?;
        offset += BEFORE_FLAGS + 2;
        if flags[0] & 0x40 != 0 {
            offset += 2;
        }
        if version == 4 {
            let (dropped, length) = read_prefix_length(bytes.get(offset..)?)?;
            name.truncate(name.len().checked_sub(dropped)?);
            offset += length;
        } else {
            name.clear();
        }
        let remaining = bytes.get(offset..)?;
        let name_length = remaining.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&remaining[..name_length]);
        paths.push(String::from_utf8_lossy(&name).into_owned());
        offset += name_length + 1;
        if version < 4 {
            offset = start + (offset - start).next_multiple_of(8);
        }
    }
    let extensions_end = bytes.len().checked_sub(CHECKSUM)?;
    while offset < extensions_end {
        // An extension whose name begins with a lowercase letter changes the meaning of the entries.
        if !bytes.get(offset)?.is_ascii_uppercase() {
            return None;
        }
        offset = offset.checked_add(8)?.checked_add(read_u32(offset + 4)?)?;
    }
    (offset == extensions_end).then_some(paths)
}

/// Decodes how many bytes of the previous name are dropped, and the length of that number.
fn read_prefix_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value = if index == 0 { 0 } else { value.checked_add(1)? };
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
pub(in crate::tools) mod tests {
    use super::*;

    /// Creates an index of version 2 with these names.
    pub fn index_of(names: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        for name in names {
            let start = bytes.len();
            bytes.extend([1; BEFORE_FLAGS]);
            bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            bytes.extend(name.bytes());
            let length = (bytes.len() - start + 1).next_multiple_of(8);
            bytes.resize(start + length, 0);
        }
        bytes.extend([7; CHECKSUM]);
        bytes
    }

    #[test]
    fn r13_reads_names_of_index_and_rejects_unsupported_format() {
        let names = ["README.md", "src/a", "src/abcdefg", "src/main.rs"];
        let bytes = index_of(&names);
        assert_eq!(read_paths(&bytes).unwrap(), names);
        assert_eq!(read_paths(&index_of(&[])).unwrap(), Vec::<String>::new());
        for length in 0..bytes.len() {
            assert_eq!(read_paths(&bytes[..length]), None, "cut after {length}");
        }
        let mut split = bytes[..bytes.len() - CHECKSUM].to_vec();
        split.extend(b"link\0\0\0\x04abcd");
        split.extend([7; CHECKSUM]);
        assert_eq!(read_paths(&split), None);
    }

    #[test]
    fn r13_reads_indexes_of_every_version() {
        let run_git = |folder: &std::path::Path, arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
            command.output().is_ok_and(|output| output.status.success())
        };
        let folder = tempfile::tempdir().unwrap();
        if !run_git(folder.path(), &["init", "-q"]) {
            eprintln!("skipped: git is not installed");
            return;
        }
        let long = "n".repeat(200);
        let mut names =
            vec![".env".to_owned(), "a".to_owned(), format!("{long}/x"), format!("{long}/y"), "later".to_owned()];
        std::fs::create_dir(folder.path().join(&long)).unwrap();
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "x").unwrap());
        assert!(run_git(folder.path(), &["add", ".env", "a", &long]));
        assert!(run_git(folder.path(), &["add", "-N", "later"]));
        names.sort();
        for version in ["2", "3", "4"] {
            assert!(run_git(folder.path(), &["update-index", "--index-version", version]));
            let bytes = std::fs::read(folder.path().join(".git/index")).unwrap();
            assert_eq!(read_paths(&bytes).unwrap(), names, "version {version}");
        }
    }
}
