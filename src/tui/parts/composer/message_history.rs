//! History of sent messages: browsed with the arrow keys, searched as in a shell.

use super::text_buffer::TextBuffer;
use crate::text::clean;
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// Sent messages, and which of them the composer shows. Edits of a message are kept until a message is sent, so that
/// browsing loses nothing.
#[derive(Default)]
pub(super) struct History {
    /// Oldest first.
    messages: Vec<String>,
    /// Steps back from the user's draft to the text in the composer: 0 is the draft, 1 the newest message.
    steps_back: usize,
    /// Texts that were in the composer, by their steps back.
    edited: BTreeMap<usize, TextBuffer>,
}

impl History {
    /// Returns whether the composer shows a message of the history.
    pub fn is_browsing(&self) -> bool {
        self.steps_back > 0
    }

    /// Shows the previous message. Returns false if there is none.
    pub fn show_older(&mut self, shown: &mut TextBuffer) -> bool {
        let has_older = self.steps_back < self.messages.len();
        if has_older {
            self.show_message(self.steps_back + 1, shown);
        }
        has_older
    }

    /// Shows the next message or, after the newest one, the draft.
    pub fn show_newer(&mut self, shown: &mut TextBuffer) {
        self.show_message(self.steps_back.saturating_sub(1), shown);
    }

    /// Shows the message this many steps back, or the draft if 0. `shown` is the text in the composer.
    pub fn show_message(&mut self, steps_back: usize, shown: &mut TextBuffer) {
        let steps_back = steps_back.min(self.messages.len());
        if steps_back == self.steps_back {
            return;
        }
        let edited = self.edited.remove(&steps_back);
        let next = edited.unwrap_or_else(|| self.message(steps_back).map(TextBuffer::from_text).unwrap_or_default());
        self.edited.insert(self.steps_back, std::mem::replace(shown, next));
        shown.move_to_end();
        self.steps_back = steps_back;
    }

    /// Makes the text in the composer the draft, and forgets edits of messages.
    pub fn reset_position(&mut self) {
        self.steps_back = 0;
        self.edited.clear();
    }

    /// Adds a sent message. Returns false for blank text and for a repetition of the last message.
    pub fn push_message(&mut self, message: &str) -> bool {
        if message.trim().is_empty() || self.messages.last().is_some_and(|last| last == message) {
            return false;
        }
        self.messages.push(message.to_owned());
        let old_edits = std::mem::take(&mut self.edited);
        // The draft stays at 0.
        let shift = |steps_back: usize| if steps_back > 0 { steps_back + 1 } else { 0 };
        self.steps_back = shift(self.steps_back);
        self.edited = old_edits.into_iter().map(|(steps_back, text)| (shift(steps_back), text)).collect();
        true
    }

    /// Replaces the history and shows the draft. `shown` is the text in the composer.
    pub fn replace_messages(&mut self, messages: Vec<String>, shown: &mut TextBuffer) {
        self.show_message(0, shown);
        self.edited.clear();
        self.messages = messages;
        self.messages.dedup();
    }

    /// Returns the message this many steps back; `None` for 0, the draft.
    pub fn message(&self, steps_back: usize) -> Option<&str> {
        let index = self.messages.len().checked_sub(steps_back)?;
        self.messages.get(index).map(String::as_str)
    }
}

/// Search of the history, newest message first.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    /// Case is ignored unless the query has an uppercase character.
    pub query: String,
    /// Steps back from the draft to the matching message, if any.
    pub match_steps_back: Option<usize>,
    /// True if the last search found no match.
    pub is_exhausted: bool,
}

impl Search {
    /// Adjusts the match after a message was added to the history.
    pub fn shift_match(&mut self) {
        self.match_steps_back = self.match_steps_back.map(|steps_back| steps_back + 1);
    }

    /// Extends the query, and searches from the current match on.
    pub fn extend_query(&mut self, text: &str, history: &History) {
        self.query.push_str(&clean::clean_line(text));
        self.find_from(self.match_steps_back.unwrap_or(1), history);
    }

    /// Removes the last character of the query and searches from the newest message.
    pub fn shorten_query(&mut self, history: &History) {
        if let Some((offset, _)) = self.query.grapheme_indices(true).next_back() {
            self.query.truncate(offset);
        }
        self.find_from(1, history);
    }

    /// Moves to the next older match.
    pub fn find_older(&mut self, history: &History) {
        let previous = self.match_steps_back;
        self.find_from(previous.unwrap_or(0) + 1, history);
        if self.match_steps_back.is_none() {
            self.match_steps_back = previous;
        }
    }

    /// Moves to the next newer match.
    pub fn find_newer(&mut self, history: &History) {
        let Some(current) = self.match_steps_back else { return };
        if let Some(newer) = (1..current).rev().find(|steps_back| self.matches_message(*steps_back, history)) {
            (self.match_steps_back, self.is_exhausted) = (Some(newer), false);
        }
    }

    /// Returns the byte range of the first match in a line.
    pub fn match_range(&self, line: &str) -> Option<std::ops::Range<usize>> {
        if self.query.is_empty() {
            return None;
        }
        let is_case_sensitive = self.query.chars().any(char::is_uppercase);
        line.char_indices().find_map(|(start, _)| {
            let mut remaining_query = self.query.chars();
            let mut end = start;
            for c in line[start..].chars() {
                let Some(expected) = remaining_query.next() else { break };
                if c != expected && (is_case_sensitive || !c.to_lowercase().eq(std::iter::once(expected))) {
                    return None;
                }
                end += c.len_utf8();
            }
            remaining_query.next().is_none().then_some(start..end)
        })
    }

    fn find_from(&mut self, first_step: usize, history: &History) {
        self.match_steps_back = if self.query.is_empty() {
            None
        } else {
            (first_step..=history.messages.len()).find(|steps_back| self.matches_message(*steps_back, history))
        };
        self.is_exhausted = self.match_steps_back.is_none() && !self.query.is_empty();
    }

    fn matches_message(&self, steps_back: usize, history: &History) -> bool {
        let mut lines = history.message(steps_back).unwrap_or_default().lines();
        lines.any(|line| self.match_range(&clean::clean_text(line)).is_some())
    }
}
