//! Reads a session's file. Damaged parts are skipped and reported; everything else is kept.

use super::half::{self, Halves};
use super::parts::{self, Parts, Taken};
use super::{Error, Header, private};
use crate::chat::{CallId, Entry};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

/// Longest line read, in bytes. The program writes lines of at most 6 MiB.
pub const LONGEST: u64 = 64 << 20;
/// Start of every entry's line. Inside text the quotes would be escaped, so a line starts here even if the previous
/// line feed is missing.
const START: &[u8] = b"{\"seq\":";
/// Start of the header line.
const HEADER: &[u8] = b"{\"aye\":";

/// Content of a session's file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// The header; `None` if damaged.
    pub header: Option<Header>,
    /// All readable entries, by number.
    pub entries: Vec<Entry>,
    /// Time of each entry in milliseconds since 1970, by the clock of that moment; not suitable for sorting.
    pub times: Vec<u64>,
    /// Skipped parts, in file order.
    pub notices: Vec<Notice>,
    /// Number of entries at the end that have no line of their own: they are restored from pieces of incomplete
    /// replies.
    pub halves: usize,
    /// Output of calls that were not settled when the program ended.
    pub printed: HashMap<CallId, String>,
    /// Highest number of any entry, of a known kind or not; 0 if none.
    pub last_seq: u64,
}

/// A skipped part of the file, for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// First affected line, counted from 1.
    pub first: usize,
    /// Last affected line.
    pub last: usize,
    pub matter: Matter,
}

/// Kind of problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matter {
    /// Not an entry, in whole or in part.
    Damaged,
    /// An entry of an unknown kind.
    Unknown(String),
    /// Longer than `MAX_LINE_BYTES`.
    Long,
    /// The last line, incomplete because the program ended.
    Torn,
    /// Number of entries that occur more than once.
    Repeated(usize),
    /// The header is damaged.
    Headless,
    /// The file has a newer format.
    Newer(u32),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, matter } = self;
        let (lines, is, was) = if first == last {
            (format!("line {first}"), "is", "was")
        } else {
            (format!("lines {first} to {last}"), "are", "were")
        };
        match matter {
            Matter::Damaged => write!(f, "{lines} {is} damaged; unreadable data was skipped"),
            Matter::Unknown(kind) => {
                write!(f, "{lines} {was} skipped: a newer aye wrote “{kind}” entries there")
            }
            Matter::Long => write!(f, "{lines} {is} too long to be an entry and {was} skipped"),
            Matter::Torn => write!(f, "{lines} {was} being written when aye ended, and {was} skipped"),
            Matter::Repeated(1) => {
                write!(f, "an entry occurs twice in {lines}; it is shown once")
            }
            Matter::Repeated(entries) => {
                write!(f, "{entries} entries occur twice in {lines}; each is shown once")
            }
            Matter::Headless => write!(f, "the first line of the session is damaged"),
            Matter::Newer(version) => {
                write!(f, "a newer aye wrote this session (format {version}); unknown entries are skipped")
            }
        }
    }
}

/// Reads a session without locking or changing its file.
pub fn read(path: &Path) -> Result<Read, Error> {
    let mut file = private::open_read(path).map_err(Error::at(path))?;
    from(&mut file).map_err(Error::at(path))
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    #[serde(default)]
    at: u64,
    entry: Entry,
    /// Line number in the file.
    #[serde(skip)]
    number: usize,
}

/// The fields that all versions write.
#[derive(Deserialize)]
struct Outline<'a> {
    seq: u64,
    #[serde(borrow)]
    entry: Kind<'a>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// Reads from the current position, which is the start of the file.
pub(super) fn from(file: impl io::Read) -> io::Result<Read> {
    Reading::default().of(file)
}

/// Reads from the start of a line in the middle of the file.
pub(super) fn without_header(file: impl io::Read) -> io::Result<Read> {
    Reading { headed: true, ..Reading::default() }.of(file)
}

/// Splits the first line into its header, if any, and the entries after it.
pub(super) fn first(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(start) = find(line, HEADER) else {
        // An entry on the first line counts too.
        return (None, find(line, START).map_or(&[], |at| &line[at..]));
    };
    let end = find(line, START).unwrap_or(line.len()).max(start);
    (Some(&line[start..end]), &line[end..])
}

/// State while a file is read.
#[derive(Default)]
struct Reading {
    read: Read,
    lines: Vec<Line>,
    grown: Vec<half::Line<'static>>,
    parts: Parts,
    /// Lines that repeat earlier ones.
    repeated: Vec<usize>,
    headed: bool,
}

impl Reading {
    fn of(mut self, file: impl io::Read) -> io::Result<Read> {
        let mut source = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            source.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
                source.skip_until(b'\n')?;
                self.say(number, Matter::Long);
                continue;
            }
            self.line(number, &line);
        }
        Ok(self.done())
    }

    fn line(&mut self, number: usize, line: &[u8]) {
        let (whole, line) = match line.strip_suffix(b"\n") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.headed && self.is_header_again(line) {
            return;
        }
        let line = if self.headed { line } else { self.header(number, line) };
        // An empty line terminates an incomplete one; nothing is lost.
        if line.is_empty() {
            return;
        }
        // Checking the whole line at once is faster than checking each text in it.
        if std::str::from_utf8(line).is_ok_and(|text| self.entry(number, text)) {
            return;
        }
        let mut rest = line;
        if find(rest, START) != Some(0) {
            let start = find(rest, START).unwrap_or(rest.len());
            self.say(number, if whole || start < rest.len() { Matter::Damaged } else { Matter::Torn });
            rest = &rest[start..];
        }
        while !rest.is_empty() {
            let end = find(&rest[1..], START).map_or(rest.len(), |at| at + 1);
            let (piece, after) = rest.split_at(end);
            self.piece(number, piece, whole || !after.is_empty());
            rest = after;
        }
    }

    /// Reads the header from the first line, and returns the rest of that line.
    fn header<'a>(&mut self, number: usize, line: &'a [u8]) -> &'a [u8] {
        self.headed = true;
        let (header, rest) = first(line);
        let Some(header) = header else {
            self.say(number, Matter::Headless);
            return rest;
        };
        if header.len() + rest.len() < line.len() {
            self.say(number, Matter::Damaged);
        }
        match serde_json::from_slice::<Header>(header) {
            Ok(header) => {
                if header.aye > super::lines::VERSION {
                    self.say(number, Matter::Newer(header.aye));
                }
                self.read.header = Some(header);
            }
            Err(_) => self.say(number, Matter::Headless),
        }
        rest
    }

    /// Returns whether a line repeats the header, as in a file with every line twice.
    fn is_header_again(&self, line: &[u8]) -> bool {
        line.starts_with(HEADER)
            && self.read.header.is_some()
            && serde_json::from_slice(line).ok() == self.read.header
    }

    /// Reads one entry, or the rest of one. `whole` is false for a last line without line feed.
    fn piece(&mut self, number: usize, piece: &[u8], whole: bool) {
        if std::str::from_utf8(piece).is_ok_and(|text| self.entry(number, text)) {
            return;
        }
        match serde_json::from_slice::<Outline<'_>>(piece) {
            Ok(outline) => {
                self.read.last_seq = self.read.last_seq.max(outline.seq);
                self.say(number, Matter::Unknown(outline.entry.kind.chars().take(40).collect()));
            }
            Err(_) => self.say(number, if whole { Matter::Damaged } else { Matter::Torn }),
        }
    }

    /// Reads a line that is exactly an entry, a part, or a piece of a reply. Returns false otherwise.
    fn entry(&mut self, number: usize, line: &str) -> bool {
        if parts::is_part(line.as_bytes()) {
            match self.parts.take(number, line) {
                Taken::Part => {}
                Taken::Whole(line) => self.piece(number, line.as_bytes(), true),
                Taken::Repeated => self.repeated.push(number),
                Taken::Other => return false,
            }
            return true;
        }
        if half::is_one(line.as_bytes()) {
            let grown = serde_json::from_str(line);
            return grown.map(|grown| self.grown.push(grown)).is_ok();
        }
        serde_json::from_str(line).map(|line| self.lines.push(Line { number, ..line })).is_ok()
    }

    /// Removes duplicate entries. Only a limited number of entries with the same number are compared; a file with every
    /// line twice has two.
    fn drop_repeated(&mut self) {
        const COMPARED: usize = 16;
        let mut from = 0;
        let mut kept: Vec<Line> = Vec::with_capacity(self.lines.len());
        for line in std::mem::take(&mut self.lines) {
            if kept.get(from).is_some_and(|first| first.seq != line.seq) {
                from = kept.len();
            }
            if kept[from..]
                .iter()
                .take(COMPARED)
                .any(|other| (other.at, &other.entry) == (line.at, &line.entry))
            {
                self.repeated.push(line.number);
            } else {
                kept.push(line);
            }
        }
        self.lines = kept;
        if let (Some(&first), Some(&last)) = (self.repeated.iter().min(), self.repeated.iter().max()) {
            let matter = Matter::Repeated(self.repeated.len());
            self.read.notices.push(Notice { first, last, matter });
        }
    }

    fn say(&mut self, number: usize, matter: Matter) {
        if let Some(notice) = self.read.notices.last_mut()
            && notice.matter == matter
            && notice.last + 1 >= number
        {
            notice.last = number;
            return;
        }
        self.read.notices.push(Notice { first: number, last: number, matter });
    }

    fn done(mut self) -> Read {
        // The clock may have been set back; the numbers give the order.
        if !self.lines.is_sorted_by_key(|line| line.seq) {
            self.lines.sort_by_key(|line| line.seq);
        }
        self.drop_repeated();
        let unfinished: Vec<_> = self.parts.unfinished().collect();
        for (seq, (first, last)) in unfinished {
            self.read.last_seq = self.read.last_seq.max(seq);
            self.read.notices.push(Notice { first, last, matter: Matter::Damaged });
        }
        let last = self.lines.last().map_or(0, |line| line.seq);
        let grown = self.grown.iter().map(|line| line.seq).max().unwrap_or(0);
        self.read.last_seq = self.read.last_seq.max(last).max(grown);
        let mut halves = halves(&self.lines, self.grown);
        self.read.printed = halves.take_printed();
        self.read.times = self.lines.iter().map(|line| line.at).collect();
        self.read.entries = self.lines.into_iter().map(|line| line.entry).collect();
        for (at, entry) in halves.rest() {
            self.read.halves += 1;
            self.read.times.push(at);
            self.read.entries.push(entry);
        }
        self.read
    }
}

/// Collects the incomplete replies from lines in order.
fn halves(lines: &[Line], mut grown: Vec<half::Line<'static>>) -> Halves {
    let mut halves = Halves::default();
    grown.sort_by_key(|line| line.seq);
    let mut grown = grown.into_iter().peekable();
    for line in lines {
        while let Some(more) = grown.next_if(|more| more.seq < line.seq) {
            halves.add(&more);
        }
        halves.passed(&line.entry);
    }
    for more in grown {
        halves.add(&more);
    }
    halves
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests;
