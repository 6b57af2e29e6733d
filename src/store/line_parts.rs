//! Splits long lines of a session's file into parts, and joins them when reading.

use super::clock;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Longest line written, in bytes. About a tenth of the longest line that is read.
pub const LONGEST_WRITTEN: usize = 6 << 20;
/// Bytes of the original line per part. Quotes and backslashes are escaped again in a part, which at most doubles it.
const PART_BYTES: usize = (LONGEST_WRITTEN - 1024) / 2;
/// Start of the `entry` field of a part.
pub(super) const PART_START: &str = r#""entry":{"kind":"part""#;

/// A line of a session's file.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<E> {
    /// Number of the entry.
    pub(super) seq: u64,
    /// Time of the entry in milliseconds since 1970.
    #[serde(default)]
    pub(super) at: u64,
    /// An entry, or something that looks like one, so that older versions name the kind that they skip.
    pub(super) entry: E,
    /// Number of the line in the file, for an entry that was read from there; otherwise 0.
    #[serde(skip)]
    pub(super) number: usize,
}

impl<E> Line<E> {
    /// Creates a line with the current time.
    pub(super) fn now(seq: u64, entry: E) -> Self {
        Self { seq, at: clock::now_ms(), entry, number: 0 }
    }
}

/// A part of a line.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind<'a> {
    Part {
        /// Index of the part, from 0.
        number: usize,
        /// Number of parts.
        count: usize,
        #[serde(borrow)]
        json: Cow<'a, str>,
    },
}

/// Queues a line with its line feed, in parts if it is longer than [`LONGEST_WRITTEN`]. On error nothing is queued.
pub(super) fn push_line(queue: &mut Vec<u8>, line: &Line<impl Serialize>) -> io::Result<()> {
    push_split(queue, line.seq, line.at, &serde_json::to_string(line)?, LONGEST_WRITTEN, PART_BYTES)
}

/// Queues `json`, the line of an entry: whole if it is shorter than `longest`, otherwise in parts of at most `bytes`
/// bytes.
fn push_split(queue: &mut Vec<u8>, seq: u64, at: u64, json: &str, longest: usize, bytes: usize) -> io::Result<()> {
    if json.len() < longest {
        queue.extend_from_slice(json.as_bytes());
        queue.push(b'\n');
        return Ok(());
    }
    let pieces = split_bytes(json, bytes);
    for (number, piece) in pieces.iter().enumerate() {
        let entry = Kind::Part { number, count: pieces.len(), json: Cow::Borrowed(piece) };
        serde_json::to_writer(&mut *queue, &Line { seq, at, entry, number: 0 })?;
        queue.push(b'\n');
    }
    Ok(())
}

/// Splits text into pieces of at most this many bytes.
fn split_bytes(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut remaining = text;
    while !remaining.is_empty() {
        // A character has at most four bytes.
        let (piece, tail) = remaining.split_at(remaining.floor_char_boundary(bytes.max(4)));
        pieces.push(piece);
        remaining = tail;
    }
    pieces
}

/// Returns whether a line that starts like an entry is a part.
pub(super) fn is_part(line: &[u8]) -> bool {
    has_kind(line, PART_START)
}

/// Returns whether the `entry` field of a line starts with this text, for example [`PART_START`].
pub(super) fn has_kind(line: &[u8], entry_start: &str) -> bool {
    // The fields before `entry` are two numbers, so it starts within the first 100 bytes.
    line[..line.len().min(100)].windows(entry_start.len()).any(|window| window == entry_start.as_bytes())
}

/// Joins the parts of lines while a file is read.
#[derive(Default)]
pub(super) struct PartJoiner {
    incomplete: BTreeMap<u64, IncompleteLine>,
    /// Sequence number and part count of completed lines.
    completed: BTreeSet<(u64, usize)>,
}

/// Result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PartResult {
    /// A part; others are still missing.
    Part,
    /// The last part; the joined line.
    Joined(String),
    /// A part that was read before.
    Repeated,
    /// Not a part.
    Other,
}

struct IncompleteLine {
    count: usize,
    pieces: BTreeMap<usize, String>,
    /// Numbers of the first and last file line with a part.
    lines: (usize, usize),
}

impl PartJoiner {
    /// Reads a line of the file. `line_number` counts from 1.
    pub(super) fn read_line(&mut self, line_number: usize, line: &str) -> PartResult {
        let Ok(Line { seq, entry: Kind::Part { number, count, json }, .. }) = serde_json::from_str(line) else {
            return PartResult::Other;
        };
        if self.completed.contains(&(seq, count)) {
            return PartResult::Repeated;
        }
        if number >= count {
            return PartResult::Other;
        }
        let new_line = || IncompleteLine { count, pieces: BTreeMap::new(), lines: (line_number, line_number) };
        let incomplete = self.incomplete.entry(seq).or_insert_with(new_line);
        if incomplete.count != count {
            return PartResult::Other;
        }
        incomplete.lines.1 = line_number;
        incomplete.pieces.insert(number, json.into_owned());
        if incomplete.pieces.len() < count {
            return PartResult::Part;
        }
        self.completed.insert((seq, count));
        let pieces = self.incomplete.remove(&seq).into_iter().flat_map(|incomplete| incomplete.pieces.into_values());
        PartResult::Joined(pieces.collect())
    }

    /// Returns the incomplete lines: sequence number, and the first and last file line with a part.
    pub(super) fn incomplete_lines(&self) -> impl Iterator<Item = (u64, (usize, usize))> {
        self.incomplete.iter().map(|(seq, incomplete)| (*seq, incomplete.lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn join_lines(bytes: &[u8]) -> Vec<String> {
        let mut parts = PartJoiner::default();
        let lines = std::str::from_utf8(bytes).unwrap().lines().enumerate();
        let joined = |(number, line)| match parts.read_line(number, line) {
            PartResult::Joined(line) => Some(line),
            PartResult::Part | PartResult::Repeated => None,
            PartResult::Other => panic!("{line} is no part"),
        };
        lines.filter_map(joined).collect()
    }

    proptest! {
        #[test]
        fn parts_join_to_the_same_line_within_the_limit(
            text in "[a-z\"\\\\\u{1b}\n€😀]{0,300}", bytes in 4..40_usize
        ) {
            let json = serde_json::to_string(&text).unwrap();
            let (mut output, longest) = (Vec::new(), 2 * bytes + 1024);
            // No line is shorter than 0 bytes, so each is split.
            push_split(&mut output, 7, 1, &json, 0, bytes).unwrap();
            prop_assert!(output.split(|byte| *byte == b'\n').all(|line| line.len() < longest));
            prop_assert!(output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).all(is_part));
            // In any order, and with duplicates.
            let mut lines: Vec<&[u8]> = output.split_inclusive(|byte| *byte == b'\n').collect();
            lines.reverse();
            let twice: Vec<&[u8]> = lines.iter().flat_map(|line| [*line, *line]).collect();
            for all in [output.clone(), lines.concat(), twice.concat(), lines.concat().repeat(2)] {
                prop_assert_eq!(join_lines(&all), std::slice::from_ref(&json));
            }
        }
    }

    #[test]
    fn missing_part_leaves_the_line_incomplete() {
        let mut queue = Vec::new();
        push_split(&mut queue, 7, 1, &"x".repeat(100), 0, 30).unwrap();
        let text = String::from_utf8(queue).unwrap();
        let mut parts = PartJoiner::default();
        for (number, line) in text.lines().enumerate().filter(|(number, _)| *number != 2) {
            assert_eq!(parts.read_line(number + 1, line), PartResult::Part);
        }
        assert_eq!(parts.incomplete_lines().collect::<Vec<_>>(), [(7, (1, 4))]);
        let invalid_part = r#"{"seq":9,"at":1,"entry":{"kind":"part","number":2,"count":2,"json":"x"}}"#;
        assert!(text.lines().next().is_some_and(|line| line.contains(r#""number":0,"count":"#)), "{text}");
        assert_eq!(parts.read_line(8, invalid_part), PartResult::Other);
        assert_eq!(parts.incomplete_lines().count(), 1, "an invalid part begins no line");
        assert_eq!(parts.read_line(9, r#"{"seq":8,"at":1,"entry":{"kind":"said","text":"x"}}"#), PartResult::Other);
    }
}
