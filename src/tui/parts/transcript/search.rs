//! Search of the transcript. Searches the text of the entries, not their layouts.

use super::cache::Cache;
use super::{Ground, Place, Transcript};
use crate::chat::{Entry, escape};
use crate::tui::text::clean;
use std::borrow::Cow;

/// Query and last match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// Query, case-insensitive.
    pub words: String,
    /// Entry of the last match.
    pub at: Option<usize>,
    /// True if no entry matches.
    pub nothing: bool,
}

impl Transcript {
    /// Finds the nearest match above or below and scrolls to it. `fresh` includes the current match, so that it stays
    /// while the query is being typed.
    pub fn find(&mut self, ground: &Ground<'_>, cache: &mut Cache, height: usize, up: bool, fresh: bool) {
        let Some(search) = &self.search else { return };
        let words = search.words.to_lowercase();
        if words.is_empty() {
            return;
        }
        let entries = ground.agent.session.entries();
        let holds = |index: &usize| {
            entries
                .get(*index)
                .is_some_and(|entry| text(entry).any(|text| text.to_lowercase().contains(&words)))
        };
        let count = entries.len();
        let found = match (search.at, up) {
            (Some(at), true) if fresh => (0..count.min(at + 1)).rev().chain(at + 1..count).find(holds),
            (Some(at), true) => (0..at.min(count)).rev().chain((at.min(count)..count).rev()).find(holds),
            (Some(at), false) => (at + 1..count).chain(0..count.min(at + 1)).find(holds),
            (None, _) => (0..count).rev().find(holds),
        };
        if let Some(search) = &mut self.search {
            search.nothing = found.is_none();
            search.at = found.or(search.at);
        }
        let Some(item) = found else { return };
        let opens = |transcript: &Self, cache: &mut Cache| transcript.line_with(ground, cache, item, &words);
        let mut line = opens(self, cache);
        if line.is_none() {
            // The match may be in a folded part.
            self.toggle(ground, item);
            line = opens(self, cache);
            if line.is_none() {
                self.toggle(ground, item);
            }
        }
        let place = Place { item, line: line.unwrap_or(0) };
        let seen = self.seen(ground, cache, height);
        if !seen.iter().any(|seen| seen.place == place) {
            self.go(ground, cache, height, place);
            if !self.follows() {
                self.scroll(ground, cache, height, -((height / 3) as isize));
            }
        }
    }

    fn line_with(&self, ground: &Ground<'_>, cache: &mut Cache, item: usize, words: &str) -> Option<usize> {
        let laid = cache.item(ground, &self.toggled, item);
        (0..laid.height).find(|line| {
            laid.line(*line).is_some_and(|(page, line)| {
                let text: String = page.lines[line].spans.iter().map(|span| span.content.as_ref()).collect();
                text.to_lowercase().contains(words)
            })
        })
    }
}

/// Returns the displayed texts of an entry.
fn text(entry: &Entry) -> impl Iterator<Item = Cow<'_, str>> {
    let (first, second) = match entry {
        Entry::Said { text } => (text.as_str(), ""),
        Entry::Replied { text, reasoning, .. } => (text.as_str(), reasoning.as_str()),
        Entry::Settled { outcome, .. } => (outcome.text(), ""),
        Entry::Compacted { summary, pinned, .. } => (summary.as_str(), pinned.as_str()),
        Entry::Planned { summary, .. } => (summary.as_str(), ""),
        Entry::FellBack { model, why } => (why.as_str(), model.as_str()),
        Entry::Asked { .. }
        | Entry::Consulted { .. }
        | Entry::Decided { .. }
        | Entry::Answered { .. }
        | Entry::Ended { .. }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Beneath { .. }
        | Entry::Switched { .. }
        | Entry::Became { .. } => ("", ""),
    };
    // Colour escape sequences may split a word.
    [first, second].into_iter().filter(|text| !text.is_empty()).map(|text| match escape::strip_colors(text) {
        Cow::Borrowed(text) => clean::clean(text),
        Cow::Owned(text) => Cow::Owned(clean::clean(&text).into_owned()),
    })
}
