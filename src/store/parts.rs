//! Lines that are too long for one: the session's file holds them in parts, which are put together again when it is read.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Longest line that is written, in bytes. A tenth of what a reader takes, so that no reader of any version is near its limit.
pub const LONGEST_WRITTEN: usize = 6 << 20;
/// Bytes of the whole line in one part. In a part quotes and backslashes are escaped once more, which at most doubles it.
const BYTES: usize = (LONGEST_WRITTEN - 1024) / 2;
/// How the part of a line begins that says what kind it is.
pub(super) const KIND: &str = r#""entry":{"kind":"part""#;

/// A part of a line. It is written like an entry, so that an older version names the kind that it leaves out.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seq: u64,
    at: u64,
    #[serde(borrow)]
    entry: Kind<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind<'a> {
    Part {
        /// Which of them it is, from 0.
        number: usize,
        /// How many there are.
        count: usize,
        #[serde(borrow)]
        json: Cow<'a, str>,
    },
}

/// Adds a line of JSON to what is to be written, with its line feed: in parts if it is longer than [`LONGEST_WRITTEN`].
pub(super) fn push_line(owed: &mut Vec<u8>, seq: u64, at: u64, json: &str) -> io::Result<()> {
    push_split(owed, seq, at, json, LONGEST_WRITTEN, BYTES)
}

fn push_split(
    owed: &mut Vec<u8>,
    seq: u64,
    at: u64,
    json: &str,
    longest: usize,
    bytes: usize,
) -> io::Result<()> {
    if json.len() < longest {
        owed.extend_from_slice(json.as_bytes());
        owed.push(b'\n');
        return Ok(());
    }
    let pieces = split(json, bytes);
    for (number, piece) in pieces.iter().enumerate() {
        let entry = Kind::Part { number, count: pieces.len(), json: Cow::Borrowed(piece) };
        serde_json::to_writer(&mut *owed, &Line { seq, at, entry })?;
        owed.push(b'\n');
    }
    Ok(())
}

/// Pieces of at most so many bytes.
fn split(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // A character has four bytes at most.
        let (piece, after) = rest.split_at(rest.floor_char_boundary(bytes.max(4)));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Whether a line that begins as an entry's does is a part of one.
pub(super) fn is_part(line: &[u8]) -> bool {
    let head = &line[..line.len().min(100)];
    head.windows(KIND.len()).any(|window| window == KIND.as_bytes())
}

/// Lines of which parts were read.
#[derive(Default)]
pub(super) struct Parts {
    started: BTreeMap<u64, Started>,
    /// Of those that became whole, the number and how many parts they had.
    whole: BTreeSet<(u64, usize)>,
}

/// What a line of the file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A part of a line of which others are missing so far.
    Part,
    /// The last part of a line, which is this.
    Whole(String),
    /// A part that was read before.
    Repeated,
    /// No part of a line.
    Other,
}

struct Started {
    count: usize,
    pieces: BTreeMap<usize, String>,
    /// The lines of the file that the first and the last of them are.
    lines: (usize, usize),
}

impl Parts {
    /// Takes a line of the file. `at` is its number there, from 1.
    pub(super) fn take(&mut self, at: usize, line: &str) -> Taken {
        let Ok(Line { seq, entry: Kind::Part { number, count, json }, .. }) = serde_json::from_str(line)
        else {
            return Taken::Other;
        };
        if self.whole.contains(&(seq, count)) {
            return Taken::Repeated;
        }
        let new = || Started { count, pieces: BTreeMap::new(), lines: (at, at) };
        let started = self.started.entry(seq).or_insert_with(new);
        if started.count != count || number >= count {
            return Taken::Other;
        }
        started.lines.1 = at;
        started.pieces.insert(number, json.into_owned());
        if started.pieces.len() < count {
            return Taken::Part;
        }
        self.whole.insert((seq, count));
        let pieces = self.started.remove(&seq).into_iter().flat_map(|started| started.pieces.into_values());
        Taken::Whole(pieces.collect())
    }

    /// Lists the lines that never became whole: their numbers, and the first and last line of the file that holds a part.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (u64, (usize, usize))> {
        self.started.iter().map(|(seq, started)| (*seq, started.lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(bytes: &[u8]) -> Vec<String> {
        let mut parts = Parts::default();
        let lines = std::str::from_utf8(bytes).unwrap().lines().enumerate();
        let whole = |(number, line)| match parts.take(number, line) {
            Taken::Whole(line) => Some(line),
            Taken::Part | Taken::Repeated => None,
            Taken::Other => panic!("{line} is no part"),
        };
        lines.filter_map(whole).collect()
    }

    proptest! {
        #[test]
        fn parts_make_the_same_line_and_none_is_longer_than_the_longest(
            text in "[a-z\"\\\\\u{1b}\n€😀]{0,300}", bytes in 4..40_usize
        ) {
            let json = serde_json::to_string(&text).unwrap();
            let (mut owed, longest) = (Vec::new(), 2 * bytes + 1024);
            push_split(&mut owed, 7, 1, &json, 0, bytes).unwrap();
            prop_assert!(owed.split(|byte| *byte == b'\n').all(|line| line.len() < longest));
            prop_assert!(owed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).all(is_part));
            // Whatever their order, and if some are there twice.
            let mut lines: Vec<&[u8]> = owed.split_inclusive(|byte| *byte == b'\n').collect();
            lines.reverse();
            let twice: Vec<&[u8]> = lines.iter().flat_map(|line| [*line, *line]).collect();
            for all in [owed.clone(), lines.concat(), twice.concat(), lines.concat().repeat(2)] {
                prop_assert_eq!(joined(&all), std::slice::from_ref(&json));
            }
        }
    }

    #[test]
    fn a_part_that_is_missing_leaves_the_line_unfinished() {
        let mut owed = Vec::new();
        push_split(&mut owed, 7, 1, &"x".repeat(100), 0, 30).unwrap();
        let text = String::from_utf8(owed).unwrap();
        let mut parts = Parts::default();
        for (number, line) in text.lines().enumerate().filter(|(number, _)| *number != 2) {
            assert_eq!(parts.take(number + 1, line), Taken::Part);
        }
        assert_eq!(parts.unfinished().collect::<Vec<_>>(), [(7, (1, 4))]);
        assert_eq!(parts.take(9, r#"{"seq":8,"at":1,"entry":{"kind":"said","text":"x"}}"#), Taken::Other);
    }
}
