//! A session's file read back: what is damaged is left out and said, everything else is kept.

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

/// The longest line that is read, in bytes. What the program writes is in lines of at most 6 MiB.
pub const LONGEST: u64 = 64 << 20;
/// How every entry's line begins. Inside of text the quotes would be escaped, so where it stands a line began, even
/// if the end of the one before is missing.
const START: &[u8] = b"{\"seq\":";
/// How the first line begins.
const HEADER: &[u8] = b"{\"aye\":";

/// What a session's file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// The first line; `None` where it is damaged.
    pub header: Option<Header>,
    /// Every entry that could be read, by its number.
    pub entries: Vec<Entry>,
    /// When each of them was written, in milliseconds since 1970, as the clock said then; never to be sorted by.
    pub times: Vec<u64>,
    /// What was left out, in the order of the file.
    pub notices: Vec<Notice>,
    /// How many of the entries stand in no line of their own: the last ones, made of the pieces of replies that came to no
    /// end.
    pub halves: usize,
    /// What calls had printed that were not settled when the program ended.
    pub printed: HashMap<CallId, String>,
    /// The highest number of an entry, known kind or not; 0 where there is none.
    pub last_seq: u64,
}

/// One place of the file that was left out. The person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The first line it speaks of; 1 is the first of the file.
    pub first: usize,
    /// The last line it speaks of.
    pub last: usize,
    /// What is the matter.
    pub matter: Matter,
}

/// What is the matter with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matter {
    /// It is not an entry, or a part of it is not.
    Damaged,
    /// It is an entry of a kind this version does not know.
    Unknown(String),
    /// It is longer than [`LONGEST`].
    Long,
    /// The last line, which was being written when the program ended.
    Torn,
    /// They hold entries, so many, that other lines hold too.
    Repeated(usize),
    /// The header is damaged.
    Headless,
    /// The file has a newer form.
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
            Matter::Damaged => write!(f, "{lines} {is} damaged; what could not be read was left out"),
            Matter::Unknown(kind) => {
                write!(f, "{lines} {was} left out: a newer aye wrote “{kind}” entries there")
            }
            Matter::Long => write!(f, "{lines} {is} too long to be an entry and {was} left out"),
            Matter::Torn => write!(f, "{lines} {was} being written when aye ended, and {was} left out"),
            Matter::Repeated(1) => {
                write!(f, "an entry occurs twice in {lines}; it is shown once")
            }
            Matter::Repeated(entries) => {
                write!(f, "{entries} entries occur twice in {lines}; each is shown once")
            }
            Matter::Headless => write!(f, "the first line of the session is damaged"),
            Matter::Newer(version) => write!(
                f,
                "a newer aye wrote this session (form {version}); what this one does not know is left out"
            ),
        }
    }
}

/// Reads a session without opening it for writing: nothing is locked, and nothing in the file changes.
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
    /// Which line of the file it is.
    #[serde(skip)]
    number: usize,
}

/// As much of a line as any version writes.
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

/// Reads from where the file stands, which is its beginning.
pub(super) fn from(file: impl io::Read) -> io::Result<Read> {
    Reading::default().of(file)
}

/// Reads from the beginning of a line in the middle.
pub(super) fn without_header(file: impl io::Read) -> io::Result<Read> {
    Reading { headed: true, ..Reading::default() }.of(file)
}

/// What the first line holds: where a header begins in it, all of that, and the entries behind.
pub(super) fn first(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(start) = find(line, HEADER) else {
        // An entry on the first line is one all the same.
        return (None, find(line, START).map_or(&[], |at| &line[at..]));
    };
    let end = find(line, START).unwrap_or(line.len()).max(start);
    (Some(&line[start..end]), &line[end..])
}

/// A reading under way.
#[derive(Default)]
struct Reading {
    read: Read,
    lines: Vec<Line>,
    grown: Vec<half::Line<'static>>,
    parts: Parts,
    /// The lines with what was read before.
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
        // An empty line is what closes off a torn one; nothing was lost there.
        if line.is_empty() {
            return;
        }
        // Looking at the whole line once is quicker than at each text in it.
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

    /// Takes the header from the first line; what follows it on that line is given back.
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

    /// Whether a line is the header once more, as in a file of which every line occurs twice.
    fn is_header_again(&self, line: &[u8]) -> bool {
        line.starts_with(HEADER)
            && self.read.header.is_some()
            && serde_json::from_slice(line).ok() == self.read.header
    }

    /// One entry, or what is left of one. `whole` is false for the last of a file that does not end its last line.
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

    /// Takes a line that is an entry, a part of one, or a piece of a reply, and nothing else.
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

    /// Keeps one of entries that are the same in everything, of lines in their order. Of one number so many are compared; a file of
    /// which every line occurs twice has two.
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
        // The clock may have been set back in between; the numbers say what came first.
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

/// The replies that came to no end, of lines in their order.
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
