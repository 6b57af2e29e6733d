//! What was said before: walked with the arrows, searched as in a shell.

use super::draft::Draft;
use crate::tui::text::clean;
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// What was said, and where among it the composer stands. One step after the newest is the person's own draft; an
/// entry that was changed keeps its changes until something is sent, so walking on loses nothing.
#[derive(Default)]
pub(super) struct History {
    /// Oldest first.
    said: Vec<String>,
    /// Steps back from the draft; 0 is the draft itself.
    back: usize,
    /// What was left behind, by how many steps back it is.
    left: BTreeMap<usize, Draft>,
}

impl History {
    /// Whether the composer holds something that was said before.
    pub fn is_back(&self) -> bool {
        self.back > 0
    }

    /// One step back. Whether there was one.
    pub fn back(&mut self, draft: &mut Draft) -> bool {
        let there = self.back < self.said.len();
        if there {
            self.go(self.back + 1, draft);
        }
        there
    }

    /// One step towards the person's own draft.
    pub fn forward(&mut self, draft: &mut Draft) {
        self.go(self.back.saturating_sub(1), draft);
    }

    /// So many steps back from the draft.
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

    /// What is in the composer is the draft from now on.
    pub fn rest(&mut self) {
        self.back = 0;
        self.left.clear();
    }

    /// Adds the newest; the same twice in a row is once. Whether it was added.
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

    /// Other things that were said. The person's own draft comes back.
    pub fn replace(&mut self, said: Vec<String>, draft: &mut Draft) {
        self.go(0, draft);
        self.left.clear();
        self.said = said;
        self.said.dedup();
    }

    /// What was said so many steps back.
    pub fn entry(&self, back: usize) -> Option<&str> {
        let at = self.said.len().checked_sub(back)?;
        self.said.get(at).map(String::as_str)
    }
}

/// A search through what was said, from the newest to the oldest.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    typed: String,
    /// How many steps back what was found is.
    found: Option<usize>,
    /// Nothing older has it.
    exhausted: bool,
}

impl Search {
    /// What is looked for; small letters find capitals too.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// How many steps back what was found is.
    pub fn found(&self) -> Option<usize> {
        self.found
    }

    /// Whether the last step found nothing more.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Something newer was said: all else is one step further back.
    pub fn shift(&mut self) {
        self.found = self.found.map(|back| back + 1);
    }

    /// Looks for more letters.
    pub fn write(&mut self, text: &str, history: &History) {
        self.typed.push_str(&clean::one_line(text));
        self.look(self.found.unwrap_or(1), history);
    }

    /// Looks for one letter less, from the newest on.
    pub fn delete(&mut self, history: &History) {
        if let Some((at, _)) = self.typed.grapheme_indices(true).next_back() {
            self.typed.truncate(at);
        }
        self.look(1, history);
    }

    /// The next older one.
    pub fn older(&mut self, history: &History) {
        let before = self.found;
        self.look(before.unwrap_or(0) + 1, history);
        if self.found.is_none() {
            self.found = before;
        }
    }

    /// The next newer one.
    pub fn newer(&mut self, history: &History) {
        let Some(found) = self.found else { return };
        if let Some(newer) = (1..found).rev().find(|back| self.fits(*back, history)) {
            (self.found, self.exhausted) = (Some(newer), false);
        }
    }

    /// Where in a line what is looked for stands, in bytes, for the first of them.
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
