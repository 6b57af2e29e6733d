//! The two files of the index. Both have the same lines, so that the loss of one, or of the end of one, loses nothing.
//!
//! A writer holds the lock and appends to the first file, then to the copy. If both have the same length, the first
//! counts; otherwise the lines of both count, and the next writer makes them equal again.

use super::contents::sync_folder;
use super::index_line::IndexLine;
use crate::store::private_files;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files of an index.
pub(super) struct IndexFiles {
    folder: PathBuf,
    first: PathBuf,
    copy: PathBuf,
}

/// How far both files were read. While it is valid, only what follows has to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Device and number of each file.
    files: [(u64, u64); 2],
    offset: u64,
}

/// Lines that were read.
pub(super) struct ReadLines {
    pub lines: Vec<IndexLine>,
    /// True if these are all lines, not only those after the cursor.
    pub is_whole: bool,
    /// The end of both files; `None` if they differ.
    pub cursor: Option<Cursor>,
    /// True if there are lines of a later version, which may name contents.
    pub has_unknown: bool,
}

/// The rest of one file.
struct Rest {
    file: (u64, u64),
    length: u64,
    bytes: Vec<u8>,
}

impl IndexFiles {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), first: folder.join("index.jsonl"), copy: folder.join("index.copy.jsonl") }
    }

    /// Reads the lines after the cursor; all lines if there is none or a file was replaced. A line may be one that was
    /// returned before. Without files there are no lines.
    pub fn read(&self, cursor: Option<&Cursor>) -> io::Result<ReadLines> {
        let read_from = |start: u64| -> io::Result<[Option<Rest>; 2]> {
            Ok([read_rest(&self.first, start)?, read_rest(&self.copy, start)?])
        };
        if let Some(cursor) = cursor {
            let rests = read_from(cursor.offset)?;
            let is_valid = |rest: &Option<Rest>, file: (u64, u64)| {
                rest.as_ref().is_some_and(|rest| rest.file == file && rest.length >= cursor.offset)
            };
            if is_valid(&rests[0], cursor.files[0]) && is_valid(&rests[1], cursor.files[1]) {
                return Ok(parse_rests(&rests, Some(cursor.offset)));
            }
        }
        Ok(parse_rests(&read_from(0)?, None))
    }

    /// Returns the bytes of both files together, which change with every line; 0 without files.
    pub fn length(&self) -> u64 {
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        length(&self.first) + length(&self.copy)
    }

    /// Appends lines: to the first file, and waits for the disk; then to the copy. The lock must be held, and both files
    /// must be equal. Once the lines are in the first file, an error of the copy is none: the next writer repairs it.
    pub fn append(&self, lines: &[IndexLine]) -> io::Result<()> {
        let bytes = format_lines(lines)?;
        append_whole(&self.first, &bytes)?;
        let _ = append_whole(&self.copy, &bytes);
        sync_folder(&self.folder)
    }

    /// Makes both files equal: each gets all whole lines. The lock must be held. Returns whether lines may be lost, because
    /// both files were damaged.
    pub fn repair(&self) -> io::Result<bool> {
        let rests = [read_rest(&self.first, 0)?, read_rest(&self.copy, 0)?];
        let [first, copy] = rests.map(|rest| rest.map(|rest| rest.bytes));
        let lines = merge_lines(
            &whole_lines(first.as_deref().unwrap_or_default()),
            &whole_lines(copy.as_deref().unwrap_or_default()),
        )
        .concat();
        for (path, bytes) in [(&self.first, &first), (&self.copy, &copy)] {
            match bytes {
                Some(bytes) if *bytes == lines => {}
                Some(bytes) if lines.starts_with(complete_part(bytes)) => {
                    // Appending is enough, so a program that reads meanwhile never misses a line.
                    let mut file = private_files::open_append(path)?;
                    file.set_len(complete_part(bytes).len() as u64)?;
                    file.write_all(&lines[complete_part(bytes).len()..])?;
                    file.sync_all()?;
                }
                _ => private_files::replace(path, &lines)?,
            }
        }
        sync_folder(&self.folder)?;
        Ok(has_damage(first.as_deref()) && has_damage(copy.as_deref()))
    }
}

/// Formats lines as the files contain them.
fn format_lines(lines: &[IndexLine]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Appends bytes to a file, which may not exist, and waits for the disk. If not all of them fit, none remains.
fn append_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match private_files::open_append(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => private_files::create_append(path)?,
        opened => opened?,
    };
    let length = file.metadata()?.len();
    if let Err(error) = file.write_all(bytes) {
        // An incomplete line is ignored, and removed by the next writer.
        let _ = file.set_len(length);
        return Err(error);
    }
    file.sync_all()
}

/// Reads a file from an offset on; `None` if it does not exist.
fn read_rest(path: &Path, start: u64) -> io::Result<Option<Rest>> {
    let mut file: File = match private_files::open_read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.read_to_end(&mut bytes)?;
    Ok(Some(Rest { file: (metadata.dev(), metadata.ino()), length: metadata.len(), bytes }))
}

/// Parses what was read of both files from `start` on, or as a whole.
fn parse_rests(rests: &[Option<Rest>; 2], start: Option<u64>) -> ReadLines {
    let is_whole = start.is_none();
    let bytes = |rest: &Option<Rest>| rest.as_ref().map_or(&b""[..], |rest| rest.bytes.as_slice()).to_owned();
    if let [Some(first), Some(copy)] = rests
        && first.bytes == copy.bytes
        && complete_part(&first.bytes).len() == first.bytes.len()
        && let Some((lines, has_unknown)) = parse_lines(&first.bytes)
    {
        let offset = start.unwrap_or(0) + first.bytes.len() as u64;
        let cursor = Some(Cursor { files: [first.file, copy.file], offset });
        return ReadLines { lines, is_whole, cursor, has_unknown };
    }
    let (first, copy) = (bytes(&rests[0]), bytes(&rests[1]));
    let merged = merge_lines(&whole_lines(&first), &whole_lines(&copy));
    let lines: Vec<IndexLine> = merged.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    ReadLines { is_whole, cursor: None, has_unknown: lines.len() < merged.len(), lines }
}

/// Parses whole lines; `None` if a line is damaged. Those that a later version wrote are omitted; also returns whether there
/// are such lines.
fn parse_lines(bytes: &[u8]) -> Option<(Vec<IndexLine>, bool)> {
    let (mut lines, mut has_unknown) = (Vec::new(), false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(line) => lines.push(line),
            Err(_) if is_object(line) => has_unknown = true,
            Err(_) => return None,
        }
    }
    Some((lines, has_unknown))
}

/// Returns the bytes up to the last line feed.
fn complete_part(bytes: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', bytes).map_or(0, |position| position + 1);
    &bytes[..end]
}

/// Returns the undamaged whole lines with their line feeds.
fn whole_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = complete_part(bytes).split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| is_object(line)).collect()
}

/// Returns whether a file is missing or has a damaged line that ends, unlike one that a killed program began.
fn has_damage(bytes: Option<&[u8]>) -> bool {
    bytes.is_none_or(|bytes| !complete_part(bytes).split_inclusive(|byte| *byte == b'\n').all(is_object))
}

fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}

/// Merges the lines of both files, each once, in the order that both have.
fn merge_lines<'a>(first: &[&'a [u8]], copy: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let in_first: HashSet<&[u8]> = first.iter().copied().collect();
    let (mut merged, mut merged_set, mut rest) = (Vec::new(), HashSet::new(), first.iter());
    for line in copy {
        if in_first.contains(line) {
            if merged_set.contains(line) {
                continue;
            }
            for earlier in rest.by_ref() {
                merged_set.insert(*earlier);
                merged.push(*earlier);
                if earlier == line {
                    break;
                }
            }
        } else if merged_set.insert(*line) {
            merged.push(*line);
        }
    }
    merged.extend(rest.copied());
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_lines_keep_the_order_of_both_files() {
        let merge = |first: &[&'static str], copy: &[&'static str]| {
            let bytes = |lines: &[&'static str]| lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>();
            let (first, copy) = (bytes(first), bytes(copy));
            let merged = merge_lines(&first, &copy);
            merged.iter().map(|line| std::str::from_utf8(line).unwrap().to_owned()).collect::<Vec<_>>().join("")
        };
        assert_eq!(merge(&["a", "b", "c"], &["a", "b"]), "abc");
        assert_eq!(merge(&["a"], &["a", "b", "c"]), "abc");
        assert_eq!(merge(&[], &["a", "b"]), "ab");
        assert_eq!(merge(&["a", "b"], &[]), "ab");
        assert_eq!(merge(&["a", "c", "d"], &["a", "b", "d"]), "abcd");
        assert_eq!(merge(&["b", "d"], &["a", "b", "c", "d", "e"]), "abcde");
        assert_eq!(merge(&["a", "b"], &["b", "a"]), "ab");
    }
}
