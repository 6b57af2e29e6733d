//! History of sent messages: browsed with the arrow keys, searched as in a shell.

use super::text_buffer::TextBuffer;
use crate::text::clean;
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// Sent messages and the position of the composer in them. Position 0 is the user's draft. Edits of an entry are kept
/// until a message is sent, so browsing loses nothing.
#[derive(Default)]
pub(super) struct History {
    /// Oldest first.
    messages: Vec<String>,
    /// Steps back from the draft; 0 is the draft.
    steps_back: usize,
    /// Edited entries by steps back from the draft.
    edited: BTreeMap<usize, TextBuffer>,
}

impl History {
    /// Returns whether the composer shows an entry of the history.
    pub fn is_browsing(&self) -> bool {
        self.steps_back > 0
    }

    /// Moves to the previous entry. Returns false if there is none.
    pub fn show_older(&mut self, draft: &mut TextBuffer) -> bool {
        let there = self.steps_back < self.messages.len();
        if there {
            self.show_entry(self.steps_back + 1, draft);
        }
        there
    }

    /// Moves one entry towards the draft.
    pub fn show_newer(&mut self, draft: &mut TextBuffer) {
        self.show_entry(self.steps_back.saturating_sub(1), draft);
    }

    /// Moves to the entry that is `back` steps from the draft.
    pub fn show_entry(&mut self, back: usize, draft: &mut TextBuffer) {
        let back = back.min(self.messages.len());
        if back == self.steps_back {
            return;
        }
        let kept = self.edited.remove(&back);
        let there = kept.unwrap_or_else(|| match back {
            0 => TextBuffer::default(),
            back => TextBuffer::from_text(&self.messages[self.messages.len() - back]),
        });
        self.edited.insert(self.steps_back, std::mem::replace(draft, there));
        draft.move_to_end();
        self.steps_back = back;
    }

    /// Makes the text in the composer the draft and forgets edits of entries.
    pub fn reset_position(&mut self) {
        self.steps_back = 0;
        self.edited.clear();
    }

    /// Adds a sent message. Returns false for blank text and for a repetition of the last message.
    pub fn push_message(&mut self, said: &str) -> bool {
        if said.trim().is_empty() || self.messages.last().is_some_and(|last| last == said) {
            return false;
        }
        self.messages.push(said.to_owned());
        if self.steps_back > 0 {
            self.steps_back += 1;
        }
        let left = std::mem::take(&mut self.edited);
        self.edited = left.into_iter().map(|(back, draft)| (if back > 0 { back + 1 } else { 0 }, draft)).collect();
        true
    }

    /// Replaces the history and returns to the draft.
    pub fn replace_messages(&mut self, said: Vec<String>, draft: &mut TextBuffer) {
        self.show_entry(0, draft);
        self.edited.clear();
        self.messages = said;
        self.messages.dedup();
    }

    /// Returns the entry that is `back` steps from the draft.
    pub fn entry(&self, back: usize) -> Option<&str> {
        let at = self.messages.len().checked_sub(back)?;
        self.messages.get(at).map(String::as_str)
    }
}

/// Search of the history, newest entry first.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    query: String,
    /// Steps back of the match.
    found: Option<usize>,
    /// True if no older entry matches.
    is_exhausted: bool,
}

impl Search {
    /// Returns the query. It ignores case unless it has an uppercase character.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns the steps back of the match.
    pub fn found(&self) -> Option<usize> {
        self.found
    }

    /// Returns whether the last step found no further match.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Adjusts the match after a message was added to the history.
    pub fn shift_match(&mut self) {
        self.found = self.found.map(|back| back + 1);
    }

    /// Extends the query.
    pub fn extend_query(&mut self, text: &str, history: &History) {
        self.query.push_str(&clean::clean_line(text));
        self.find_from(self.found.unwrap_or(1), history);
    }

    /// Removes the last character of the query and searches from the newest entry.
    pub fn shorten_query(&mut self, history: &History) {
        if let Some((at, _)) = self.query.grapheme_indices(true).next_back() {
            self.query.truncate(at);
        }
        self.find_from(1, history);
    }

    /// Moves to the next older match.
    pub fn find_older(&mut self, history: &History) {
        let before = self.found;
        self.find_from(before.unwrap_or(0) + 1, history);
        if self.found.is_none() {
            self.found = before;
        }
    }

    /// Moves to the next newer match.
    pub fn find_newer(&mut self, history: &History) {
        let Some(found) = self.found else { return };
        if let Some(newer) = (1..found).rev().find(|back| self.matches_entry(*back, history)) {
            (self.found, self.is_exhausted) = (Some(newer), false);
        }
    }

    /// Returns the byte range of the first match in a line.
    pub fn match_range(&self, line: &str) -> Option<std::ops::Range<usize>> {
        if self.query.is_empty() {
            return None;
        }
        let strict = self.query.chars().any(char::is_uppercase);
        line.char_indices().find_map(|(at, _)| {
            let mut wanted = self.query.chars();
            let mut end = at;
            for c in line[at..].chars() {
                let Some(want) = wanted.next() else { break };
                if c != want && (strict || !c.to_lowercase().eq(std::iter::once(want))) {
                    return None;
                }
                end += c.len_utf8();
            }
            wanted.next().is_none().then_some(at..end)
        })
    }

    fn find_from(&mut self, from: usize, history: &History) {
        self.found = if self.query.is_empty() {
            None
        } else {
            (from..=history.messages.len()).find(|back| self.matches_entry(*back, history))
        };
        self.is_exhausted = self.found.is_none() && !self.query.is_empty();
    }

    fn matches_entry(&self, back: usize, history: &History) -> bool {
        let entry = history.entry(back);
        entry.is_some_and(|entry| entry.lines().any(|line| self.match_range(&clean::clean_text(line)).is_some()))
    }
}
