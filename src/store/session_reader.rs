//! Reads a session's file. Damaged parts are skipped and reported; everything else is kept.

use super::incomplete_replies::{self, IncompleteReplies, Piece};
use super::line_parts::{self, Line, PartJoiner, PartResult};
use super::{Error, Header, private_files};
use crate::chat::{CallId, Entry};
use memchr::memmem;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Longest line read, in bytes. The program writes lines of at most 6 MiB.
pub const MAX_LINE_BYTES: u64 = 64 << 20;
/// Start of every entry's line. Inside text the quotes would be escaped, so a line starts here even if the previous
/// line feed is missing.
const ENTRY_START: &[u8] = b"{\"seq\":";
/// Start of the header line.
const HEADER_START: &[u8] = b"{\"aye\":";

/// Content of a session's file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredSession {
    /// The header; `None` if damaged.
    pub header: Option<Header>,
    /// All readable entries, in the order of their sequence numbers.
    pub entries: Vec<Entry>,
    /// Time of each entry in milliseconds since 1970, by the clock of that moment; not suitable for sorting.
    pub times: Vec<u64>,
    /// Number of the line of each entry, counted from 1, without the incomplete ones at the end.
    pub lines: Vec<usize>,
    /// Skipped parts, in file order.
    pub notices: Vec<Notice>,
    /// Number of entries at the end that have no line of their own: they are restored from pieces of incomplete
    /// replies.
    pub incomplete_count: usize,
    /// Output of calls that were not settled when the program ended.
    pub unfinished_outputs: HashMap<CallId, String>,
    /// Highest number of any entry, of a known kind or not; 0 if none.
    pub last_seq: u64,
}

impl StoredSession {
    /// Returns the folder of the session, and whether it is a dry run. Without its header that is unknown: it is
    /// treated as a dry run in the current folder.
    pub fn folder_and_kind(&self, current_folder: &Path) -> (PathBuf, bool) {
        match &self.header {
            // A header cannot hold every folder name, so this folder's own name is used.
            Some(header) if header.is_in_project(current_folder) => (current_folder.to_owned(), header.dry_run),
            Some(header) => (header.folder.clone(), header.dry_run),
            None => (current_folder.to_owned(), true),
        }
    }
}

/// A skipped part of the file, for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// First affected line, counted from 1.
    pub first: usize,
    /// Last affected line.
    pub last: usize,
    pub problem: Problem,
}

/// Kind of problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Not an entry, in whole or in part.
    Damaged,
    /// An entry of an unknown kind.
    Unknown(String),
    /// Longer than `MAX_LINE_BYTES`.
    Long,
    /// The last line, incomplete because the program ended.
    Incomplete,
    /// Number of entries that occur more than once.
    Repeated(usize),
    /// The header is damaged.
    NoHeader,
    /// The file has a newer format.
    Newer(u32),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, problem } = self;
        let (lines, is, was) = if first == last {
            (format!("line {first}"), "is", "was")
        } else {
            (format!("lines {first} to {last}"), "are", "were")
        };
        match problem {
            Problem::Damaged => write!(f, "{lines} {is} damaged; unreadable data was skipped"),
            Problem::Unknown(kind) => {
                write!(f, "{lines} {was} skipped: a newer aye wrote “{kind}” entries there")
            }
            Problem::Long => write!(f, "{lines} {is} too long to be an entry and {was} skipped"),
            Problem::Incomplete => write!(f, "{lines} {was} being written when aye ended, and {was} skipped"),
            Problem::Repeated(1) => {
                write!(f, "an entry occurs twice in {lines}; it is shown once")
            }
            Problem::Repeated(entries) => {
                write!(f, "{entries} entries occur twice in {lines}; each is shown once")
            }
            Problem::NoHeader => write!(f, "the first line of the session is damaged"),
            Problem::Newer(version) => {
                write!(f, "a newer aye wrote this session (format {version}); unknown entries are skipped")
            }
        }
    }
}

/// Reads a session without locking or changing its file.
pub fn read(path: &Path) -> Result<StoredSession, Error> {
    let mut file = private_files::open_read(path).map_err(Error::with_path(path))?;
    read_from(&mut file).map_err(Error::with_path(path))
}

/// The fields of a line that all versions write in this form.
#[derive(Deserialize)]
struct Outline<'a> {
    seq: u64,
    #[serde(borrow)]
    entry: Kind<'a>,
}

/// The field of an entry that all versions write.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// Reads from the current position, which is the start of the file.
pub(super) fn read_from(file: impl io::Read) -> io::Result<StoredSession> {
    Reading::default().read_all(file)
}

/// Reads from the start of a line in the middle of the file.
pub(super) fn read_without_header(file: impl io::Read) -> io::Result<StoredSession> {
    Reading { is_past_header: true, ..Reading::default() }.read_all(file)
}

/// Splits the first line into its header, if any, and the entries after it.
pub(super) fn split_header(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(start) = memmem::find(line, HEADER_START) else {
        // An entry on the first line counts too.
        return (None, memmem::find(line, ENTRY_START).map_or(&[], |at| &line[at..]));
    };
    let end = memmem::find(line, ENTRY_START).unwrap_or(line.len()).max(start);
    (Some(&line[start..end]), &line[end..])
}

/// State while a file is read.
#[derive(Default)]
struct Reading {
    session: StoredSession,
    lines: Vec<Line<Entry>>,
    pieces: Vec<Line<Piece<'static>>>,
    parts: PartJoiner,
    /// Numbers of the lines that repeat earlier ones.
    repeated_lines: Vec<usize>,
    /// True once the header line was handled, readable or not, or if the text has none.
    is_past_header: bool,
}

impl Reading {
    fn read_all(mut self, file: impl io::Read) -> io::Result<StoredSession> {
        let mut source = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                source.skip_until(b'\n')?;
                self.add_notice(number, Problem::Long);
                continue;
            }
            self.read_line(number, &line);
        }
        Ok(self.finish_reading())
    }

    fn read_line(&mut self, number: usize, line: &[u8]) {
        let (is_terminated, line) = match line.strip_suffix(b"\n") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.is_past_header && self.repeats_header(line) {
            return;
        }
        let line = if self.is_past_header { line } else { self.take_header(number, line) };
        // An empty line terminates an incomplete one; nothing is lost.
        if line.is_empty() {
            return;
        }
        // Checking the whole line at once is faster than checking each text in it.
        if std::str::from_utf8(line).is_ok_and(|text| self.read_entry(number, text)) {
            return;
        }
        let mut remaining = line;
        if memmem::find(remaining, ENTRY_START) != Some(0) {
            let start = memmem::find(remaining, ENTRY_START).unwrap_or(remaining.len());
            self.add_notice(
                number,
                if is_terminated || start < remaining.len() { Problem::Damaged } else { Problem::Incomplete },
            );
            remaining = &remaining[start..];
        }
        while !remaining.is_empty() {
            let end = memmem::find(&remaining[1..], ENTRY_START).map_or(remaining.len(), |at| at + 1);
            let (fragment, tail) = remaining.split_at(end);
            self.read_fragment(number, fragment, is_terminated || !tail.is_empty());
            remaining = tail;
        }
    }

    /// Reads the header from the first line, and returns the rest of that line.
    fn take_header<'a>(&mut self, number: usize, line: &'a [u8]) -> &'a [u8] {
        self.is_past_header = true;
        let (header, after_header) = split_header(line);
        let Some(header) = header else {
            self.add_notice(number, Problem::NoHeader);
            return after_header;
        };
        if header.len() + after_header.len() < line.len() {
            self.add_notice(number, Problem::Damaged);
        }
        match serde_json::from_slice::<Header>(header) {
            Ok(header) => {
                if header.aye > super::session_header::VERSION {
                    self.add_notice(number, Problem::Newer(header.aye));
                }
                self.session.header = Some(header);
            }
            Err(_) => self.add_notice(number, Problem::NoHeader),
        }
        after_header
    }

    /// Returns whether a line repeats the header, as in a file with every line twice.
    fn repeats_header(&self, line: &[u8]) -> bool {
        line.starts_with(HEADER_START)
            && self.session.header.is_some()
            && serde_json::from_slice(line).ok() == self.session.header
    }

    /// Reads the part of a line from one start of an entry to the next. `is_terminated` is false for a last line
    /// without line feed.
    fn read_fragment(&mut self, number: usize, fragment: &[u8], is_terminated: bool) {
        if std::str::from_utf8(fragment).is_ok_and(|text| self.read_entry(number, text)) {
            return;
        }
        match serde_json::from_slice::<Outline<'_>>(fragment) {
            Ok(outline) => {
                self.session.last_seq = self.session.last_seq.max(outline.seq);
                self.add_notice(number, Problem::Unknown(outline.entry.kind.chars().take(40).collect()));
            }
            Err(_) => self.add_notice(number, if is_terminated { Problem::Damaged } else { Problem::Incomplete }),
        }
    }

    /// Reads a line that is exactly an entry, a part, or a piece of a reply. Returns false otherwise.
    fn read_entry(&mut self, number: usize, line: &str) -> bool {
        if line_parts::is_part(line.as_bytes()) {
            match self.parts.read_line(number, line) {
                PartResult::Part => {}
                PartResult::Joined(line) => self.read_fragment(number, line.as_bytes(), true),
                PartResult::Repeated => self.repeated_lines.push(number),
                PartResult::Other => return false,
            }
            return true;
        }
        if incomplete_replies::is_piece(line.as_bytes()) {
            let piece = serde_json::from_str(line);
            return piece.map(|piece| self.pieces.push(piece)).is_ok();
        }
        serde_json::from_str(line).map(|line| self.lines.push(Line { number, ..line })).is_ok()
    }

    /// Removes duplicate entries. An entry is compared with at most `COMPARED` others of the same sequence number; a
    /// file with every line twice has two of each.
    fn drop_repeated(&mut self) {
        const COMPARED: usize = 16;
        let mut group_start = 0;
        let mut unique: Vec<Line<Entry>> = Vec::with_capacity(self.lines.len());
        for line in std::mem::take(&mut self.lines) {
            if unique.get(group_start).is_some_and(|first| first.seq != line.seq) {
                group_start = unique.len();
            }
            if unique[group_start..]
                .iter()
                .take(COMPARED)
                .any(|earlier| (earlier.at, &earlier.entry) == (line.at, &line.entry))
            {
                self.repeated_lines.push(line.number);
            } else {
                unique.push(line);
            }
        }
        self.lines = unique;
        if let (Some(&first), Some(&last)) = (self.repeated_lines.iter().min(), self.repeated_lines.iter().max()) {
            let problem = Problem::Repeated(self.repeated_lines.len());
            self.session.notices.push(Notice { first, last, problem });
        }
    }

    fn add_notice(&mut self, number: usize, problem: Problem) {
        if let Some(notice) = self.session.notices.last_mut()
            && notice.problem == problem
            && notice.last + 1 >= number
        {
            notice.last = number;
            return;
        }
        self.session.notices.push(Notice { first: number, last: number, problem });
    }

    fn finish_reading(mut self) -> StoredSession {
        // The clock may have been set back; the numbers give the order.
        if !self.lines.is_sorted_by_key(|line| line.seq) {
            self.lines.sort_by_key(|line| line.seq);
        }
        self.drop_repeated();
        let unfinished: Vec<_> = self.parts.incomplete_lines().collect();
        for (seq, (first, last)) in unfinished {
            self.session.last_seq = self.session.last_seq.max(seq);
            self.session.notices.push(Notice { first, last, problem: Problem::Damaged });
        }
        let last_seq = self.lines.last().map_or(0, |line| line.seq);
        let last_piece_seq = self.pieces.iter().map(|line| line.seq).max().unwrap_or(0);
        self.session.last_seq = self.session.last_seq.max(last_seq).max(last_piece_seq);
        let mut replies = collect_incomplete(&self.lines, self.pieces);
        self.session.unfinished_outputs = std::mem::take(&mut replies.outputs);
        self.session.times = self.lines.iter().map(|line| line.at).collect();
        self.session.lines = self.lines.iter().map(|line| line.number).collect();
        self.session.entries = self.lines.into_iter().map(|line| line.entry).collect();
        for (time, entry) in replies.into_entries() {
            self.session.incomplete_count += 1;
            self.session.times.push(time);
            self.session.entries.push(entry);
        }
        self.session
    }
}

/// Collects the incomplete replies from lines in order.
fn collect_incomplete(lines: &[Line<Entry>], mut pieces: Vec<Line<Piece<'static>>>) -> IncompleteReplies {
    let mut replies = IncompleteReplies::default();
    pieces.sort_by_key(|line| line.seq);
    // In a file with every line twice, output would otherwise be shown twice.
    pieces.dedup_by(|one, other| (one.seq, one.at, &one.entry) == (other.seq, other.at, &other.entry));
    let mut pieces = pieces.into_iter().peekable();
    for line in lines {
        while let Some(piece) = pieces.next_if(|piece| piece.seq < line.seq) {
            replies.add_piece(&piece);
        }
        replies.process_entry(&line.entry);
    }
    for piece in pieces {
        replies.add_piece(&piece);
    }
    replies
}

#[cfg(test)]
mod tests;
