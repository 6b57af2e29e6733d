//! Searches the text of sessions: messages, replies, questions, answers, commands and titles.
//!
//! Outputs of tools are not searched. A line is only parsed if it contains the longest search word, so a search is
//! little slower than reading the files.

mod matching_sessions;

use super::session_list::{Listed, Sessions, read_listing};
use super::{Error, incomplete_replies, line_parts, private_files, session_reader};
use crate::chat::{AnswerValue, Decision, Entry, Preview, SessionId};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

/// Maximum characters of a shown line.
const MAX_LINE_CHARS: usize = 160;
/// Characters kept before the longest word when a hit is truncated.
const CHARS_BEFORE: usize = 40;
/// [`SearchWords::trim_before_match`] leaves a line unchanged if at most this many characters precede the first search
/// word in it. In any other line it keeps at most half as many before that word.
const CHARS_BEFORE_SHORT: usize = 16;
/// Characters of the longest word that are used to select lines.
const MAX_PREFIX_CHARS: usize = 200;
/// The last piece of an incomplete reply begins within this many bytes from the end of a file.
const MAX_TAIL_BYTES: u64 = 4 << 20;

/// Search words. All of them must occur in the same message, ignoring case.
#[derive(Debug, Clone)]
pub struct SearchWords {
    /// The words in lower case, longest first.
    words: Vec<String>,
    /// Matches the lines of a file that contain the longest word, every line that is one part of a long line (see
    /// [`line_parts`]), and every piece of a reply, because a word may be split between two.
    longest: RegexMatcher,
}

/// Source of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitSource {
    /// The user: a message, a command, an answer, or the reason of a denial.
    User,
    /// The model's reply.
    Model,
    /// A question of the model.
    Question,
    /// A tool call, as previewed.
    Call,
    /// The session's title.
    Title,
}

impl HitSource {
    /// Returns a one-word label.
    pub fn label(self) -> &'static str {
        match self {
            Self::User => "you",
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
    pub source: HitSource,
    /// The line with the longest word, unmodified: it may contain terminal control characters.
    pub line: String,
    /// Time in milliseconds since 1970; 0 if unknown.
    pub time_ms: u64,
}

/// A session with hits.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionHits {
    pub listed: Listed,
    /// The hits, oldest first.
    pub hits: Vec<Hit>,
    /// True if there are more hits than requested.
    pub has_more: bool,
}

/// Limits of a search.
pub struct Scope<'a> {
    /// Only sessions of this project.
    pub project: Option<&'a Path>,
    /// Maximum hits per session.
    pub max_hits: usize,
    /// Returns false once the result is no longer needed; called repeatedly.
    pub is_wanted: &'a dyn Fn() -> bool,
}

impl SearchWords {
    /// Creates search words, which may contain spaces; `None` if all are empty.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let words = words.into_iter().map(|word| word.trim().to_lowercase());
        let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        let longest = words.first()?;
        // In the file some characters are escaped. A very long word is matched by its beginning first, then compared
        // completely.
        let beginning: String = longest.chars().take(MAX_PREFIX_CHARS).collect();
        let escaped = serde_json::to_string(&beginning).ok()?;
        let escaped = escaped.strip_prefix('"')?.strip_suffix('"')?;
        let longest = RegexMatcherBuilder::new()
            .fixed_strings(true)
            .case_insensitive(true)
            .line_terminator(Some(b'\n'))
            // The words in a split line are escaped twice, so every part of such a line matches too.
            .build_literals(&[escaped, line_parts::PART_START, incomplete_replies::REPLY_KIND])
            .ok()?;
        Some(Self { words, longest })
    }

    /// Returns the line with the longest word if the text contains all words.
    fn matching_line<'a>(&self, text: &'a str) -> Option<&'a str> {
        let lowercase = text.to_lowercase();
        if !self.words.iter().all(|word| lowercase.contains(word.as_str())) {
            return None;
        }
        let longest = self.words.first()?;
        let contains_longest = |line: &&str| line.to_lowercase().contains(longest.as_str());
        Some(text.lines().find(contains_longest).unwrap_or(text))
    }

    /// Shortens a line so that it starts shortly before the first word in it.
    pub fn trim_before_match<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let lowercase = line.to_lowercase();
        let first = self.words.iter().filter_map(|word| lowercase.find(word.as_str())).min().unwrap_or(0);
        let chars_before = lowercase[..first].chars().count();
        if chars_before <= CHARS_BEFORE_SHORT {
            return Cow::Borrowed(line);
        }
        let tail: String = line.chars().skip(chars_before - CHARS_BEFORE_SHORT / 2).collect();
        // Do not start within a word.
        let start = tail.find(' ').filter(|index| *index <= CHARS_BEFORE_SHORT / 2).map_or(0, |index| index + 1);
        Cow::Owned(format!("…{}", &tail[start..]))
    }

    /// Shortens a line around the longest word.
    fn shorten_line(&self, line: &str) -> String {
        let line = line.trim();
        if line.chars().count() <= MAX_LINE_CHARS {
            return line.to_owned();
        }
        let lowercase = line.to_lowercase();
        let index = self.words.first().and_then(|word| lowercase.find(word.as_str())).unwrap_or(0);
        let skipped = lowercase[..index].chars().count().saturating_sub(CHARS_BEFORE);
        let excerpt: String = line.chars().skip(skipped).take(MAX_LINE_CHARS).collect();
        let before = if skipped > 0 { "…" } else { "" };
        let after = if line.chars().count() > skipped + MAX_LINE_CHARS { "…" } else { "" };
        format!("{before}{excerpt}{after}")
    }
}

impl Sessions {
    /// Searches the sessions, last changed first, and reports each as soon as its hits are known. Returns the files
    /// that could not be read completely, with the reasons.
    pub fn search(
        &self,
        words: &SearchWords,
        scope: &Scope<'_>,
        report: &mut dyn FnMut(SessionHits) -> ControlFlow<()>,
    ) -> Result<Vec<(SessionId, String)>, Error> {
        let mut searcher = SearcherBuilder::new()
            .bom_sniffing(false)
            .heap_limit(Some(2 * session_reader::MAX_LINE_BYTES as usize))
            .build();
        let mut unreadable = Vec::new();
        for file in self.session_files()? {
            if !(scope.is_wanted)() {
                break;
            }
            if scope.project.is_some_and(|project| !super::session_list::belongs_to(&file, project)) {
                continue;
            }
            let mut hits = FileHits::new(words, scope);
            if let Err(error) = search_file(&mut searcher, &file.path, &mut hits) {
                unreadable.push((file.id.clone(), error.to_string()));
            }
            if hits.hits.is_empty() {
                continue;
            }
            let (listed, hits, has_more) = (read_listing(&file), hits.hits, hits.has_more);
            if report(SessionHits { listed, hits, has_more }).is_break() {
                break;
            }
        }
        Ok(unreadable)
    }
}

fn search_file(searcher: &mut Searcher, path: &Path, hits: &mut FileHits<'_>) -> io::Result<()> {
    let mut file = private_files::open_read(path)?;
    searcher.search_file(&hits.words.longest, &file, &mut *hits)?;
    let ends_incomplete = match hits.last_piece {
        Some(offset) => is_incomplete_reply(&mut file, offset)?,
        None => false,
    };
    if hits.has_parts || ends_incomplete {
        // Words may be in different parts or pieces, so the whole file is read.
        *hits = FileHits::new(hits.words, hits.scope);
        let session = session_reader::read(path).map_err(io::Error::other)?;
        for (entry, time) in session.entries.iter().zip(&session.times) {
            if !hits.add_entry(entry, *time) {
                break;
            }
        }
    }
    Ok(())
}

/// Returns whether the reply with the piece at this offset is incomplete.
fn is_incomplete_reply(file: &mut File, offset: u64) -> io::Result<bool> {
    let bytes = file.metadata()?.len();
    if bytes.saturating_sub(offset) > MAX_TAIL_BYTES {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok(session_reader::read_without_header(file.take(MAX_TAIL_BYTES))?.incomplete_count > 0)
}

/// Hits in one file so far.
struct FileHits<'a> {
    words: &'a SearchWords,
    scope: &'a Scope<'a>,
    hits: Vec<Hit>,
    /// Offset of the line with the last piece of a reply.
    last_piece: Option<u64>,
    has_more: bool,
    /// True if the file has entries in parts.
    has_parts: bool,
}

impl<'a> FileHits<'a> {
    fn new(words: &'a SearchWords, scope: &'a Scope<'a>) -> Self {
        Self { words, scope, hits: Vec::new(), last_piece: None, has_more: false, has_parts: false }
    }

    /// Adds an entry if it contains all words. Returns whether to continue.
    fn add_entry(&mut self, entry: &Entry, time_ms: u64) -> bool {
        let Some((source, text)) = match_entry(entry, self.words) else { return true };
        let hit = Hit { source, line: self.words.shorten_line(&text), time_ms };
        // A file may have every line twice, for example if a copy of it was appended to it.
        if time_ms != 0 && self.hits.contains(&hit) {
            return true;
        }
        if self.hits.len() == self.scope.max_hits {
            self.has_more = true;
            return false;
        }
        self.hits.push(hit);
        true
    }
}

impl Sink for &mut FileHits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        let mut offset = matched.absolute_byte_offset();
        for line in matched.lines() {
            let line_offset = offset;
            offset += line.len() as u64;
            if !(self.scope.is_wanted)() {
                return Ok(false);
            }
            if line_parts::is_part(line) {
                self.has_parts = true;
                return Ok(false);
            }
            let Ok(session) = session_reader::read_without_header(line) else { continue };
            if session.incomplete_count > 0 {
                self.last_piece = Some(line_offset);
            }
            let complete_count = session.entries.len() - session.incomplete_count;
            for (entry, time) in session.entries.iter().zip(&session.times).take(complete_count) {
                if !self.add_entry(entry, *time) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Returns the source and the matching line of an entry that contains all words.
fn match_entry(entry: &Entry, words: &SearchWords) -> Option<(HitSource, String)> {
    let match_text = |source: HitSource, text: &str| words.matching_line(text).map(|line| (source, line.to_owned()));
    match entry.unwrap_sub_agent() {
        Entry::UserMessage { text } => match_text(HitSource::User, text),
        Entry::UserCommand(command) => match_text(HitSource::User, &command.draft_text()),
        Entry::Replied { text, .. } => match_text(HitSource::Model, text),
        Entry::Titled { title, .. } => match_text(HitSource::Title, title),
        Entry::Concluded(conclusion) => match_text(HitSource::Model, &conclusion.describe()),
        Entry::Planned { summary, preview, .. } => match &**preview {
            Preview::Command(line) => match_text(HitSource::Call, &line.command),
            _ => match_text(HitSource::Call, summary),
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
            match_text(HitSource::Question, &text)
        }
        Entry::Answered { answer, .. } => {
            let mut text = String::new();
            for item in &answer.answers {
                if let AnswerValue::Text(typed) = &item.value {
                    text.push_str(typed);
                }
                for note in std::iter::once(&item.note).chain(item.notes.iter().map(|note| &note.text)) {
                    text.push('\n');
                    text.push_str(note);
                }
                text.push('\n');
            }
            match_text(HitSource::User, &text)
        }
        Entry::Decided { decision: Decision::Deny(text), .. } => match_text(HitSource::User, text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
