//! Search of the transcript. Searches the text of the entries, not their layouts.

use super::{Layouts, LinePosition, Transcript};
use crate::chat::Entry;
use crate::text::{clean, escape_sequences};
use std::borrow::Cow;

impl Transcript {
    /// Finds the nearest match above or below the current one, wrapping around, and scrolls to it. Without a current
    /// match the search starts at the end. `includes_current` lets a search upwards find the current match again, which
    /// therefore stays selected while the query is being typed.
    pub fn find_match(&mut self, layouts: &mut Layouts<'_>, is_up: bool, includes_current: bool) {
        let Some(search) = &self.search else { return };
        let query = search.query.to_lowercase();
        if query.is_empty() {
            return;
        }
        let entries = layouts.context.agent.session.entries();
        let is_match = |index: &usize| {
            entries
                .get(*index)
                .is_some_and(|entry| searched_texts(entry).any(|text| text.to_lowercase().contains(&query)))
        };
        let count = entries.len();
        let match_entry = match (search.match_entry, is_up) {
            (Some(index), true) if includes_current => {
                (0..count.min(index + 1)).rev().chain(index + 1..count).find(is_match)
            }
            (Some(index), true) => (0..index.min(count)).rev().chain((index.min(count)..count).rev()).find(is_match),
            (Some(index), false) => (index + 1..count).chain(0..count.min(index + 1)).find(is_match),
            (None, _) => (0..count).rev().find(is_match),
        };
        if let Some(search) = &mut self.search {
            search.has_no_match = match_entry.is_none();
            search.match_entry = match_entry.or(search.match_entry);
        }
        let Some(item) = match_entry else { return };
        let mut line = self.find_matching_line(layouts, item, &query);
        if line.is_none() {
            // The match may be in a folded part.
            self.toggle_entry(&layouts.context, item);
            line = self.find_matching_line(layouts, item, &query);
            if line.is_none() {
                self.toggle_entry(&layouts.context, item);
            }
        }
        let position = LinePosition { item, line: line.unwrap_or(0) };
        let visible = self.visible_lines(layouts);
        if !visible.iter().any(|visible_line| visible_line.position == position) {
            self.scroll_to(layouts, position);
            if !self.is_following() {
                self.scroll_by(layouts, -((layouts.height / 3) as isize));
            }
        }
    }

    fn find_matching_line(&self, layouts: &mut Layouts<'_>, item: usize, query: &str) -> Option<usize> {
        let layout = layouts.cache.item_layout(&layouts.context, &self.toggled, item);
        (0..layout.height).find(|line| {
            layout.find_line(*line).is_some_and(|(page, line)| {
                let text: String = page.lines[line].spans.iter().map(|span| span.content.as_ref()).collect();
                text.to_lowercase().contains(query)
            })
        })
    }
}

/// Returns the texts of an entry that are searched. Some are displayed only when the entry is open.
fn searched_texts(entry: &Entry) -> impl Iterator<Item = Cow<'_, str>> {
    let (first, second) = match entry {
        Entry::UserMessage { text } => (text.as_str(), ""),
        Entry::Replied { text, reasoning, .. } => (text.as_str(), reasoning.as_str()),
        Entry::Settled { outcome, .. } => (outcome.text(), ""),
        Entry::Compacted { summary, pinned, .. } => (summary.as_str(), pinned.as_str()),
        Entry::Planned { summary, .. } => (summary.as_str(), ""),
        Entry::FellBack { model, reason } => (reason.as_str(), model.as_str()),
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
