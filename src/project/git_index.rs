//! Parser of git's index: the tracked files of a repository and their staged content.

use crate::chat::Digest;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::SystemTime;

/// Number of bytes of an entry before its object id: times, device, inode, mode, owner and size.
const STAT_BYTES: usize = 40;
/// Offset of the mode in these bytes.
const MODE_OFFSET: usize = 24;
/// Bytes of the mode.
const MODE_BYTES: usize = 4;
/// Bits of the flags that are the length of the name.
const NAME_LENGTH: u16 = 0x0fff;
/// Bits of a mode that are the type, and those of a regular file.
const FILE_TYPE: u32 = 0o170_000;
const REGULAR_FILE: u32 = 0o100_000;
/// Flag of an entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// Bytes of a SHA-1 and of a SHA-256.
const HASH_LENGTHS: [usize; 2] = [20, 32];

/// An entry of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Path relative to the work tree.
    pub path: PathBuf,
    /// Mode, object id and flags: everything except git's cache of file metadata.
    staged: Vec<u8>,
    /// Cached metadata of the file: time of the last write in seconds and nanoseconds, and size.
    cached: (u32, u32, u32),
}

impl IndexEntry {
    /// Returns whether the file with this metadata has the staged content: git's cached metadata is the same, and the file
    /// was written before the index, whose time is `index_time`.
    pub fn is_clean(&self, metadata: &Metadata, index_time: Option<SystemTime>) -> bool {
        let mode = self.staged.first_chunk().copied().map_or(0, u32::from_be_bytes);
        // A conflict, and an entry with a special meaning, have flags.
        let flags = self.staged.last_chunk().copied().map_or(u16::MAX, u16::from_be_bytes);
        let (seconds, nanoseconds, size) = self.cached;
        let has_same_time = (metadata.mtime() as u32, metadata.mtime_nsec() as u32) == (seconds, nanoseconds);
        let is_older = index_time.is_some_and(|time| metadata.modified().is_ok_and(|modified| modified < time));
        let is_executable = mode & 0o111 != 0;
        flags & !NAME_LENGTH == 0
            && mode & FILE_TYPE == REGULAR_FILE
            && metadata.is_file()
            && is_executable == (metadata.mode() & 0o100 != 0)
            && metadata.len() as u32 == size
            && has_same_time
            && is_older
    }

    /// Returns the id of the staged content in hexadecimal digits.
    pub fn object_id(&self) -> String {
        let length = HASH_LENGTHS.into_iter().rev().find(|length| self.staged.len() > MODE_BYTES + length).unwrap_or(0);
        let id = self.staged.iter().skip(MODE_BYTES).take(length);
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
        id.flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
    }
}

/// Parses an index of version 2 to 4. Returns `None` if it is invalid or truncated.
pub fn parse_index(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    parse_any_hash(bytes).map(|(entries, _)| entries)
}

/// Parses an index. Returns its entries with the extensions after them.
fn parse_any_hash(bytes: &[u8]) -> Option<(Vec<IndexEntry>, &[u8])> {
    // The index does not name the hash algorithm of its repository. Git sorts the entries, so a wrong hash length is
    // detected.
    HASH_LENGTHS.into_iter().find_map(|length| {
        let (entries, remaining) = parse_entries(bytes, length)?;
        Some((entries, remaining.get(..remaining.len().checked_sub(length)?)?))
    })
}

/// Returns whether all extensions are optional: no other changes the meaning of the entries.
fn are_optional(mut extensions: &[u8]) -> bool {
    // An extension is a name of 4 bytes, a length of 4 bytes, and its data. The name of an optional one begins with a
    // capital letter.
    while let [first, ..] = extensions {
        let length = extensions.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
        let end = length.and_then(|length| usize::try_from(length).ok()?.checked_add(8));
        match end.and_then(|end| extensions.get(end..)) {
            Some(remaining) if first.is_ascii_uppercase() => extensions = remaining,
            Some(_) | None => return false,
        }
    }
    true
}

/// Returns the paths of all tracked files, including staged ones and those of `git add -N`. Returns `None` if the format
/// is not fully known: a split or sparse index, one with SHA-256, or one of another version.
pub fn tracked_paths(bytes: &[u8]) -> Option<Vec<String>> {
    let checksum_length = HASH_LENGTHS[0];
    let (entries, remaining) = parse_entries(bytes, checksum_length)?;
    let extensions = remaining.get(..remaining.len().checked_sub(checksum_length)?)?;
    let to_text = |entry: IndexEntry| entry.path.to_string_lossy().into_owned();
    are_optional(extensions).then(|| entries.into_iter().map(to_text).collect())
}

/// Returns the hash of the staged content, without the times and sizes that git refreshes when it only reads. A split
/// index is hashed as it is, because it names the file with its other entries.
pub fn staged_digest(bytes: &[u8]) -> Digest {
    let parsed = parse_any_hash(bytes).filter(|(_, extensions)| are_optional(extensions));
    let Some((entries, _)) = parsed else { return Digest::of_bytes(bytes) };
    let mut content = Vec::new();
    for IndexEntry { path, staged, cached: _ } in entries {
        let path = path.into_os_string().into_vec();
        content.extend((path.len() as u64).to_le_bytes());
        content.extend(path);
        content.extend(staged);
    }
    Digest::of_bytes(&content)
}

/// Parses the entries. Returns them with the bytes after them: extensions and the checksum.
fn parse_entries(bytes: &[u8], hash_length: usize) -> Option<(Vec<IndexEntry>, &[u8])> {
    let version = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
    let count = u32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut remaining = bytes.get(12..)?;
    // Path and merge stage of the previous entry.
    let mut previous = (Vec::new(), 0);
    let mut entries = Vec::new();
    for _ in 0..count {
        let flags =
            u16::from_be_bytes(remaining.get(STAT_BYTES + hash_length..STAT_BYTES + hash_length + 2)?.try_into().ok()?);
        let is_extended = flags & EXTENDED != 0;
        let fixed_length = STAT_BYTES + hash_length + if is_extended { 4 } else { 2 };
        let mut staged = remaining.get(MODE_OFFSET..MODE_OFFSET + MODE_BYTES)?.to_vec();
        staged.extend(remaining.get(STAT_BYTES..fixed_length)?);
        let mut name_bytes = remaining.get(fixed_length..)?;
        let mut path = Vec::new();
        if version == 4 {
            // The path begins like the previous one without its last `strip` bytes.
            let (strip, suffix) = read_varint(name_bytes)?;
            let previous_length: usize = Vec::len(&previous.0);
            path.extend(previous.0.get(..previous_length.checked_sub(strip)?)?);
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
        let fixed = remaining;
        remaining = remaining.get(entry_length..)?;
        let number = |at: usize| Some(u32::from_be_bytes(fixed.get(at..at + 4)?.try_into().ok()?));
        let cached = (number(8)?, number(12)?, number(36)?);
        entries.push(IndexEntry { path: OsString::from_vec(path.clone()).into(), staged, cached });
        previous = (path, stage);
    }
    Some((entries, remaining))
}

/// Decodes a number of variable length, as index version 4 uses it. Returns it with the remaining bytes.
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
pub mod tests;
