//! Searches the text of sessions: messages, replies, questions, answers, commands and titles.
//!
//! Outputs of tools are not searched. A line is only parsed if it contains the longest search word, so a search is
//! little slower than reading the files.

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

/// Maximum characters of a shown line.
const SHOWN: usize = 160;
/// Characters before the word in a truncated line.
const BEFORE: usize = 40;
/// Characters before the word if there is little room.
const NEAR: usize = 16;
/// Characters of the longest word that are used to select lines.
const BEGINNING: usize = 200;
/// Bytes from the end of a file within which an incomplete reply lies.
const LATE: u64 = 4 << 20;

/// Search words. All of them must occur in the same message, ignoring case.
#[derive(Debug, Clone)]
pub struct Words {
    words: Vec<String>,
    longest: RegexMatcher,
}

/// Source of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The user: a message, an answer, or the reason of a denial.
    Person,
    /// The model's reply.
    Model,
    /// A question of the model.
    Question,
    /// A tool call, as previewed.
    Call,
    /// The session's title.
    Title,
}

impl Whose {
    /// Returns a one-word label.
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

/// A place where all words occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub whose: Whose,
    /// The line with the longest word, unmodified: it may contain terminal control characters.
    pub line: String,
    /// Time in milliseconds since 1970; 0 if unknown.
    pub at: u64,
}

/// A session with hits.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub listed: Listed,
    /// The hits, oldest first.
    pub hits: Vec<Hit>,
    /// True if there are more hits than requested.
    pub more: bool,
}

/// Limits of a search.
pub struct Scope<'a> {
    /// Only sessions of this project.
    pub project: Option<&'a Path>,
    /// Maximum hits per session.
    pub most: usize,
    /// Returns false once the result is no longer needed; called repeatedly.
    pub wanted: &'a dyn Fn() -> bool,
}

impl Words {
    /// Creates search words, which may contain spaces; `None` if all are empty.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words = words.into_iter().map(|word| word.trim().to_lowercase());
        let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        let longest = words.first()?;
        // As written in the file, with some characters escaped. A very long word is matched by its beginning first,
        // then compared completely.
        let beginning: String = longest.chars().take(BEGINNING).collect();
        let written = serde_json::to_string(&beginning).ok()?;
        let written = written.strip_prefix('"')?.strip_suffix('"')?;
        let longest = RegexMatcherBuilder::new()
            .fixed_strings(true)
            .case_insensitive(true)
            .line_terminator(Some(b'\n'))
            // The words in a split line are escaped twice.
            .build_literals(&[written, parts::KIND])
            .ok()?;
        Some(Self { words, longest })
    }

    /// Returns the line with the longest word if the text contains all words.
    fn line<'a>(&self, text: &'a str) -> Option<&'a str> {
        let low = text.to_lowercase();
        if !self.words.iter().all(|word| low.contains(word.as_str())) {
            return None;
        }
        let longest = self.words.first()?;
        let has = |line: &&str| line.to_lowercase().contains(longest.as_str());
        Some(text.lines().find(has).unwrap_or(text))
    }

    /// Shortens a line so that it starts shortly before the first word in it.
    pub fn from_word<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let low = line.to_lowercase();
        let first = self.words.iter().filter_map(|word| low.find(word.as_str())).min().unwrap_or(0);
        let before = low[..first].chars().count();
        if before <= NEAR {
            return Cow::Borrowed(line);
        }
        let rest: String = line.chars().skip(before - NEAR / 2).collect();
        // Do not start within a word.
        let start = rest.find(' ').filter(|at| *at <= NEAR / 2).map_or(0, |at| at + 1);
        Cow::Owned(format!("…{}", &rest[start..]))
    }

    /// Shortens a line around the longest word.
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
    /// Searches the sessions, last changed first, and reports each as soon as its hits are known. Returns the files
    /// that could not be read completely, with the reasons.
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
        // Words may be in different parts, so the whole file is read.
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

/// Returns whether the reply with the piece at this offset is incomplete.
fn is_half(file: &mut File, offset: u64) -> io::Result<bool> {
    let bytes = file.metadata()?.len();
    if bytes.saturating_sub(offset) > LATE {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(read::without_header(file.take(LATE))?.halves > 0)
}

/// Hits in one file so far.
struct Hits<'a> {
    words: &'a Words,
    scope: &'a Scope<'a>,
    hits: Vec<Hit>,
    /// Hits in pieces of replies, with the offset of their line. They count only if the reply is incomplete.
    halves: Vec<(u64, Hit)>,
    more: bool,
    /// True if the file has entries in parts.
    has_parts: bool,
}

impl<'a> Hits<'a> {
    fn new(words: &'a Words, scope: &'a Scope<'a>) -> Self {
        Self { words, scope, hits: Vec::new(), halves: Vec::new(), more: false, has_parts: false }
    }

    /// Adds an entry if it contains all words. Returns whether to continue.
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

/// Returns the source and the matching line of an entry that contains all words.
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
