//! Finds what was said, across sessions: by the person and the model, in questions and answers, in commands and titles.
//!
//! What commands and other tools returned is not searched. A line of a file is looked into only where the longest of the
//! words stands in it, so that a search costs little more than reading the files.

use super::list::{Listed, Sessions, look};
use super::{Error, parts, private, read};
use crate::chat::{Decision, Entry, Preview, SessionId, Source};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

/// Characters of a line that is told, at most.
const SHOWN: usize = 160;
/// Characters before the word in a line that is longer.
const BEFORE: usize = 40;
/// Characters before the word where there is little room.
const NEAR: usize = 16;
/// Characters of the longest word by which lines are chosen.
const BEGINNING: usize = 200;
/// A reply that came to no end is within so many bytes of the end of its file.
const LATE: u64 = 4 << 20;

/// What is looked for: every one of these words in the same thing said, in either case of letters.
#[derive(Debug, Clone)]
pub struct Words {
    words: Vec<String>,
    longest: RegexMatcher,
}

/// Who said it, or what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The person's words: said, answered, or behind a no.
    Person,
    /// The model's.
    Model,
    /// A question of the model's.
    Question,
    /// A call, as it was shown.
    Call,
    /// The session's name.
    Title,
}

impl Whose {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Person => "you",
            Self::Model => "model",
            Self::Question => "question",
            Self::Call => "call",
            Self::Title => "title",
        }
    }
}

/// One place where all the words are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Who said it.
    pub whose: Whose,
    /// The line of it that has the longest of the words, as it was said: not harmless to a terminal.
    pub line: String,
    /// When it was written, in milliseconds since 1970; 0 where that is not known.
    pub at: u64,
}

/// A session in which something was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The session.
    pub listed: Listed,
    /// Where, oldest first.
    pub hits: Vec<Hit>,
    /// Whether there is more than was wanted.
    pub more: bool,
}

/// How far a search goes.
pub struct Scope<'a> {
    /// The sessions of this project alone.
    pub project: Option<&'a Path>,
    /// So many places in one session.
    pub most: usize,
    /// Whether anybody still waits for it; asked again and again.
    pub wanted: &'a dyn Fn() -> bool,
}

impl Words {
    /// These, which may hold blanks; `None` where there is nothing in them.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words = words.into_iter().map(|word| word.trim().to_lowercase());
        let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        let longest = words.first()?;
        // As it stands in a file, where some signs are written as escapes. What is very long is told from others by its
        // beginning, and compared whole where that stands.
        let beginning: String = longest.chars().take(BEGINNING).collect();
        let written = serde_json::to_string(&beginning).ok()?;
        let written = written.strip_prefix('"')?.strip_suffix('"')?;
        let longest = RegexMatcherBuilder::new()
            .fixed_strings(true)
            .case_insensitive(true)
            .line_terminator(Some(b'\n'))
            // What is in parts has its words escaped once more.
            .build_literals(&[written, parts::KIND])
            .ok()?;
        Some(Self { words, longest })
    }

    /// The line of a text in which the longest word is, where all of them are in the text.
    fn line<'a>(&self, text: &'a str) -> Option<&'a str> {
        let low = text.to_lowercase();
        if !self.words.iter().all(|word| low.contains(word.as_str())) {
            return None;
        }
        let longest = self.words.first()?;
        let has = |line: &&str| line.to_lowercase().contains(longest.as_str());
        Some(text.lines().find(has).unwrap_or(text))
    }

    /// A line from a little before the first of the words in it, for where there is no room for all of it.
    pub fn from_word<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let low = line.to_lowercase();
        let first = self.words.iter().filter_map(|word| low.find(word.as_str())).min().unwrap_or(0);
        let before = low[..first].chars().count();
        if before <= NEAR {
            return Cow::Borrowed(line);
        }
        let rest: String = line.chars().skip(before - NEAR / 2).collect();
        // Not in the middle of a word.
        let start = rest.find(' ').filter(|at| *at <= NEAR / 2).map_or(0, |at| at + 1);
        Cow::Owned(format!("…{}", &rest[start..]))
    }

    /// A line cut to what is worth showing of it.
    fn excerpt(&self, line: &str) -> String {
        let line = line.trim();
        if line.chars().count() <= SHOWN {
            return line.to_owned();
        }
        let low = line.to_lowercase();
        let at = self.words.first().and_then(|word| low.find(word.as_str())).unwrap_or(0);
        let before = low[..at].chars().count().saturating_sub(BEFORE);
        let shown: String = line.chars().skip(before).take(SHOWN).collect();
        let (start, end) = (before > 0, line.chars().count() > before + SHOWN);
        format!("{}{shown}{}", if start { "…" } else { "" }, if end { "…" } else { "" })
    }
}

impl Sessions {
    /// Looks through the sessions, the one last added to first, and tells of each in which something was found as soon as
    /// that is known. A file that cannot be read to its end hides no other: which they are, and why, comes back.
    pub fn search(
        &self,
        words: &Words,
        scope: &Scope<'_>,
        found: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<Vec<(SessionId, String)>, Error> {
        let mut searcher =
            SearcherBuilder::new().bom_sniffing(false).heap_limit(Some(2 * read::LONGEST as usize)).build();
        let mut unread = Vec::new();
        for file in self.files()? {
            if !(scope.wanted)() {
                break;
            }
            if scope.project.is_some_and(|project| !super::list::is_of(&file, project)) {
                continue;
            }
            let mut hits = Hits::new(words, scope);
            match search(&mut searcher, &file.path, &mut hits) {
                Ok(()) => {}
                Err(error) => unread.push((file.id.clone(), error.to_string())),
            }
            if hits.hits.is_empty() {
                continue;
            }
            let (listed, hits, more) = (look(&file), hits.hits, hits.more);
            if found(Found { listed, hits, more }).is_break() {
                break;
            }
        }
        Ok(unread)
    }
}

fn search(searcher: &mut Searcher, path: &Path, hits: &mut Hits<'_>) -> io::Result<()> {
    let mut file = private::open_read(path)?;
    searcher.search_file(&hits.words.longest, &file, &mut *hits)?;
    if hits.has_parts {
        // Words may stand in two of them, so the file is read whole.
        *hits = Hits::new(hits.words, hits.scope);
        let read = read::read(path).map_err(io::Error::other)?;
        for (entry, at) in read.entries.iter().zip(&read.times) {
            if !hits.take(entry, *at) {
                break;
            }
        }
        return Ok(());
    }
    let Some((offset, _)) = hits.halves.last() else { return Ok(()) };
    if hits.hits.len() < hits.scope.most && is_half(&mut file, *offset)? {
        hits.hits.extend(hits.halves.pop().map(|(_, hit)| hit));
    }
    Ok(())
}

/// Whether the reply that a piece at this place belongs to never came to its end.
fn is_half(file: &mut File, offset: u64) -> io::Result<bool> {
    let bytes = file.metadata()?.len();
    if bytes.saturating_sub(offset) > LATE {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(read::without_header(file.take(LATE))?.halves > 0)
}

/// What was found in one file so far.
struct Hits<'a> {
    words: &'a Words,
    scope: &'a Scope<'a>,
    hits: Vec<Hit>,
    /// In pieces of replies, each with where its line begins: they count only where the reply came to no end.
    halves: Vec<(u64, Hit)>,
    more: bool,
    /// Whether entries were met that are longer than a line.
    has_parts: bool,
}

impl<'a> Hits<'a> {
    fn new(words: &'a Words, scope: &'a Scope<'a>) -> Self {
        Self { words, scope, hits: Vec::new(), halves: Vec::new(), more: false, has_parts: false }
    }

    /// Adds an entry if all the words are in it; whether to go on.
    fn take(&mut self, entry: &Entry, at: u64) -> bool {
        let Some((whose, text)) = said(entry, self.words) else { return true };
        let hit = Hit { whose, line: self.words.excerpt(&text), at };
        // A file may have every line twice.
        if at != 0 && self.hits.contains(&hit) {
            return true;
        }
        if self.hits.len() == self.scope.most {
            self.more = true;
            return false;
        }
        self.hits.push(hit);
        true
    }
}

impl Sink for &mut Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        let mut offset = matched.absolute_byte_offset();
        for line in matched.lines() {
            let here = offset;
            offset += line.len() as u64;
            if !(self.scope.wanted)() {
                return Ok(false);
            }
            if parts::is_part(line) {
                self.has_parts = true;
                return Ok(false);
            }
            let Ok(read) = read::without_header(line) else { continue };
            for (entry, at) in read.entries.iter().zip(&read.times) {
                if read.halves == 0 {
                    if !self.take(entry, *at) {
                        return Ok(false);
                    }
                } else if let Some((whose, text)) = said(entry, self.words) {
                    let hit = Hit { whose, line: self.words.excerpt(&text), at: *at };
                    self.halves.clear();
                    self.halves.push((here, hit));
                }
            }
        }
        Ok(true)
    }
}

/// Who said what in this entry, where it has all the words: the line of it.
fn said(entry: &Entry, words: &Words) -> Option<(Whose, String)> {
    let one = |whose: Whose, text: &str| words.line(text).map(|line| (whose, line.to_owned()));
    match entry.bare() {
        Entry::Said { text } => one(Whose::Person, text),
        Entry::Replied { text, .. } => one(Whose::Model, text),
        Entry::Titled { title, .. } => one(Whose::Title, title),
        Entry::Planned { summary, preview, .. } => match &**preview {
            Preview::Command(line) => one(Whose::Call, &line.command),
            Preview::Text(_) | Preview::Edit(_) | Preview::Batch(_) => one(Whose::Call, summary),
        },
        Entry::Asked { questions, .. } => {
            let mut text = String::new();
            for question in &questions.list {
                text.push_str(&question.text);
                for option in &question.options {
                    text.push_str(&format!("\n{} {}", option.label, option.description));
                }
                text.push('\n');
            }
            one(Whose::Question, &text)
        }
        Entry::Answered { answer, .. } => {
            let mut text = String::new();
            for given in &answer.given {
                if let Source::Written(words) = &given.source {
                    text.push_str(words);
                }
                for note in std::iter::once(&given.note).chain(given.notes.iter().map(|note| &note.text)) {
                    text.push('\n');
                    text.push_str(note);
                }
                text.push('\n');
            }
            one(Whose::Person, &text)
        }
        Entry::Decided { decision: Decision::Deny(text), .. } => one(Whose::Person, text),
        Entry::Decided { .. }
        | Entry::Settled { .. }
        | Entry::Consulted { .. }
        | Entry::Ended { .. }
        | Entry::Compacted { .. }
        | Entry::FellBack { .. }
        | Entry::TakenBack { .. }
        | Entry::Beneath { .. }
        | Entry::Switched { .. }
        | Entry::Became { .. } => None,
    }
}

#[cfg(test)]
mod tests;
