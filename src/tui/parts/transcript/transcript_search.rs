//! Search of the transcript. Searches the text of the entries, not their layouts.

use super::layout_cache::LayoutCache;
use super::layout_context::LayoutContext;
use super::{LinePosition, Transcript};
use crate::chat::Entry;
use crate::text::{clean, escape_sequences};
use std::borrow::Cow;

impl Transcript {
    /// Finds the nearest match above or below and scrolls to it. `fresh` includes the current match, so that it stays
    /// while the query is being typed.
    pub fn find_match(
        &mut self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        height: usize,
        up: bool,
        fresh: bool,
    ) {
        let Some(search) = &self.search else { return };
        let words = search.query.to_lowercase();
        if words.is_empty() {
            return;
        }
        let entries = ground.agent.session.entries();
        let holds = |index: &usize| {
            entries
                .get(*index)
                .is_some_and(|entry| displayed_texts(entry).any(|text| text.to_lowercase().contains(&words)))
        };
        let count = entries.len();
        let found = match (search.match_entry, up) {
            (Some(at), true) if fresh => (0..count.min(at + 1)).rev().chain(at + 1..count).find(holds),
            (Some(at), true) => (0..at.min(count)).rev().chain((at.min(count)..count).rev()).find(holds),
            (Some(at), false) => (at + 1..count).chain(0..count.min(at + 1)).find(holds),
            (None, _) => (0..count).rev().find(holds),
        };
        if let Some(search) = &mut self.search {
            search.has_no_match = found.is_none();
            search.match_entry = found.or(search.match_entry);
        }
        let Some(item) = found else { return };
        let opens =
            |transcript: &Self, cache: &mut LayoutCache| transcript.find_matching_line(ground, cache, item, &words);
        let mut line = opens(self, cache);
        if line.is_none() {
            // The match may be in a folded part.
            self.toggle_entry(ground, item);
            line = opens(self, cache);
            if line.is_none() {
                self.toggle_entry(ground, item);
            }
        }
        let place = LinePosition { item, line: line.unwrap_or(0) };
        let seen = self.visible_lines(ground, cache, height);
        if !seen.iter().any(|seen| seen.position == place) {
            self.scroll_to(ground, cache, height, place);
            if !self.is_following() {
                self.scroll_by(ground, cache, height, -((height / 3) as isize));
            }
        }
    }

    fn find_matching_line(
        &self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        item: usize,
        words: &str,
    ) -> Option<usize> {
        let laid = cache.item_layout(ground, &self.toggled, item);
        (0..laid.height).find(|line| {
            laid.find_line(*line).is_some_and(|(page, line)| {
                let text: String = page.lines[line].spans.iter().map(|span| span.content.as_ref()).collect();
                text.to_lowercase().contains(words)
            })
        })
    }
}

/// Returns the displayed texts of an entry.
fn displayed_texts(entry: &Entry) -> impl Iterator<Item = Cow<'_, str>> {
    let (first, second) = match entry {
        Entry::UserMessage { text } => (text.as_str(), ""),
        Entry::Replied { text, reasoning, .. } => (text.as_str(), reasoning.as_str()),
        Entry::Settled { outcome, .. } => (outcome.text(), ""),
        Entry::Compacted { summary, pinned, .. } => (summary.as_str(), pinned.as_str()),
        Entry::Planned { summary, .. } => (summary.as_str(), ""),
        Entry::FellBack { model, reason: why } => (why.as_str(), model.as_str()),
        Entry::Asked { .. }
        | Entry::Reviewed { .. }
        | Entry::Decided { .. }
        | Entry::Answered { .. }
        | Entry::Ended { .. }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::SubAgent { .. }
        | Entry::Switched { .. }
        | Entry::DryRunChanged { .. } => ("", ""),
    };
    // Colour escape sequences may split a word.
    [first, second].into_iter().filter(|text| !text.is_empty()).map(|text| match escape_sequences::strip_colors(text) {
        Cow::Borrowed(text) => clean::clean_text(text),
        Cow::Owned(text) => Cow::Owned(clean::clean_text(&text).into_owned()),
    })
}
