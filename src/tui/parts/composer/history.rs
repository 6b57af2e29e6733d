//! History of sent messages: browsed with the arrow keys, searched as in a shell.

use super::draft::Draft;
use crate::tui::text::clean;
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// Sent messages and the position of the composer in them. Position 0 is the user's draft. Edits of an entry are kept
/// until a message is sent, so browsing loses nothing.
#[derive(Default)]
pub(super) struct History {
    /// Oldest first.
    said: Vec<String>,
    /// Steps back from the draft; 0 is the draft.
    back: usize,
    /// Edited entries by steps back from the draft.
    left: BTreeMap<usize, Draft>,
}

impl History {
    /// Returns whether the composer shows an entry of the history.
    pub fn is_back(&self) -> bool {
        self.back > 0
    }

    /// Moves to the previous entry. Returns false if there is none.
    pub fn back(&mut self, draft: &mut Draft) -> bool {
        let there = self.back < self.said.len();
        if there {
            self.go(self.back + 1, draft);
        }
        there
    }

    /// Moves one entry towards the draft.
    pub fn forward(&mut self, draft: &mut Draft) {
        self.go(self.back.saturating_sub(1), draft);
    }

    /// Moves to the entry that is `back` steps from the draft.
    pub fn go(&mut self, back: usize, draft: &mut Draft) {
        let back = back.min(self.said.len());
        if back == self.back {
            return;
        }
        let kept = self.left.remove(&back);
        let there = kept.unwrap_or_else(|| match back {
            0 => Draft::default(),
            back => Draft::of(&self.said[self.said.len() - back]),
        });
        self.left.insert(self.back, std::mem::replace(draft, there));
        draft.go_to_end();
        self.back = back;
    }

    /// Makes the text in the composer the draft and forgets edits of entries.
    pub fn rest(&mut self) {
        self.back = 0;
        self.left.clear();
    }

    /// Adds a sent message. Returns false for blank text and for a repetition of the last message.
    pub fn remember(&mut self, said: &str) -> bool {
        if said.trim().is_empty() || self.said.last().is_some_and(|last| last == said) {
            return false;
        }
        self.said.push(said.to_owned());
        if self.back > 0 {
            self.back += 1;
        }
        let left = std::mem::take(&mut self.left);
        self.left =
            left.into_iter().map(|(back, draft)| (if back > 0 { back + 1 } else { 0 }, draft)).collect();
        true
    }

    /// Replaces the history and returns to the draft.
    pub fn replace(&mut self, said: Vec<String>, draft: &mut Draft) {
        self.go(0, draft);
        self.left.clear();
        self.said = said;
        self.said.dedup();
    }

    /// Returns the entry that is `back` steps from the draft.
    pub fn entry(&self, back: usize) -> Option<&str> {
        let at = self.said.len().checked_sub(back)?;
        self.said.get(at).map(String::as_str)
    }
}

/// Search of the history, newest entry first.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    typed: String,
    /// Steps back of the match.
    found: Option<usize>,
    /// True if no older entry matches.
    exhausted: bool,
}

impl Search {
    /// Returns the query. It ignores case unless it has an uppercase character.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// Returns the steps back of the match.
    pub fn found(&self) -> Option<usize> {
        self.found
    }

    /// Returns whether the last step found no further match.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Adjusts the match after a message was added to the history.
    pub fn shift(&mut self) {
        self.found = self.found.map(|back| back + 1);
    }

    /// Extends the query.
    pub fn write(&mut self, text: &str, history: &History) {
        self.typed.push_str(&clean::one_line(text));
        self.look(self.found.unwrap_or(1), history);
    }

    /// Removes the last character of the query and searches from the newest entry.
    pub fn delete(&mut self, history: &History) {
        if let Some((at, _)) = self.typed.grapheme_indices(true).next_back() {
            self.typed.truncate(at);
        }
        self.look(1, history);
    }

    /// Moves to the next older match.
    pub fn older(&mut self, history: &History) {
        let before = self.found;
        self.look(before.unwrap_or(0) + 1, history);
        if self.found.is_none() {
            self.found = before;
        }
    }

    /// Moves to the next newer match.
    pub fn newer(&mut self, history: &History) {
        let Some(found) = self.found else { return };
        if let Some(newer) = (1..found).rev().find(|back| self.fits(*back, history)) {
            (self.found, self.exhausted) = (Some(newer), false);
        }
    }

    /// Returns the byte range of the first match in a line.
    pub fn place(&self, line: &str) -> Option<std::ops::Range<usize>> {
        if self.typed.is_empty() {
            return None;
        }
        let strict = self.typed.chars().any(char::is_uppercase);
        line.char_indices().find_map(|(at, _)| {
            let mut wanted = self.typed.chars();
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

    fn look(&mut self, from: usize, history: &History) {
        self.found = if self.typed.is_empty() {
            None
        } else {
            (from..=history.said.len()).find(|back| self.fits(*back, history))
        };
        self.exhausted = self.found.is_none() && !self.typed.is_empty();
    }

    fn fits(&self, back: usize, history: &History) -> bool {
        let entry = history.entry(back);
        entry.is_some_and(|entry| entry.lines().any(|line| self.place(&clean::clean(line)).is_some()))
    }
}
