//! Search of the transcript: finds an entry by its texts, then scrolls to the line of its layout with the match.

use super::{Direction, Layouts, LinePosition, Transcript};
use crate::chat::apply_message::describe_request;
use crate::chat::attachments::own_text;
use crate::chat::{Conclusion, Entry};
use crate::text::{clean, escape_sequences};
use std::borrow::Cow;

impl Transcript {
    /// Finds a match after the query changed, and scrolls to it: the current match if it still matches, otherwise the
    /// nearest match above, otherwise the nearest below. Without a current match the search starts at the end.
    pub fn update_match(&mut self, layouts: &mut Layouts<'_>) {
        let count = layouts.context.agent.session.entries().len();
        let end =
            self.search.as_ref().and_then(|search| search.match_entry).map_or(count, |index| count.min(index + 1));
        self.find_match(layouts, (0..end).rev().chain(end..count));
    }

    /// Finds the nearest match above or below the current one, wrapping around, and scrolls to it. Without a current match
    /// the search starts at the end.
    pub fn find_next_match(&mut self, layouts: &mut Layouts<'_>, direction: Direction) {
        let count = layouts.context.agent.session.entries().len();
        match (self.search.as_ref().and_then(|search| search.match_entry), direction) {
            (Some(index), Direction::Down) => {
                self.find_match(layouts, (index + 1..count).chain(0..count.min(index + 1)))
            }
            (Some(index), Direction::Up) => {
                let index = index.min(count);
                self.find_match(layouts, (0..index).rev().chain((index..count).rev()));
            }
            (None, _) => self.find_match(layouts, (0..count).rev()),
        }
    }

    /// Finds the first of these entries that matches, and scrolls to it.
    fn find_match(&mut self, layouts: &mut Layouts<'_>, mut candidates: impl Iterator<Item = usize>) {
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
        let match_entry = candidates.find(is_match);
        if let Some(search) = &mut self.search {
            search.has_no_match = match_entry.is_none();
            search.match_entry = match_entry.or(search.match_entry);
        }
        let Some(index) = match_entry else { return };
        // A plan has no lines: its summary is in the row of the call.
        let item = match &entries[index] {
            Entry::Planned { call, .. } => {
                layouts.context.agent.session.find_call(call).and_then(|call| call.settled_at).unwrap_or(index)
            }
            _ => index,
        };
        self.unfold_call(layouts, item);
        let mut line = self.find_matching_line(layouts, item, &query);
        if line.is_none() {
            // The match may be in a folded part.
            self.toggle_entry(layouts, item);
            line = self.find_matching_line(layouts, item, &query);
            if line.is_none() {
                self.toggle_entry(layouts, item);
            }
        }
        let position = LinePosition { item, line: line.unwrap_or(0) };
        let visible = self.visible_lines(layouts);
        if !visible.iter().any(|visible_line| visible_line.position == position) {
            self.scroll_to_upper_third(layouts, position);
        }
    }

    /// Returns the first line of an item's layout that contains the query; `None` if none does.
    fn find_matching_line(&self, layouts: &mut Layouts<'_>, item: usize, query: &str) -> Option<usize> {
        let layout = layouts.cache.item_layout(&layouts.context, &self.toggled, item);
        (0..layout.height).find(|line| {
            let page_line = layout.find_line(*line);
            page_line.is_some_and(|(page, line)| page.lines[line].to_string().to_lowercase().contains(query))
        })
    }
}

/// Returns the texts of an entry that are searched. Some are displayed only when the entry is open.
fn searched_texts(entry: &Entry) -> impl Iterator<Item = Cow<'_, str>> {
    let (first, second) = match entry {
        // Of an attachment only its name is displayed, and it is in the user's own text too.
        Entry::UserMessage { text } => (describe_request(text).unwrap_or_else(|| own_text(text)), ""),
        Entry::Replied { text, reasoning, .. } => (text.as_str(), reasoning.as_str()),
        Entry::Settled { outcome, .. } => (outcome.text(), ""),
        Entry::UserCommand(command) => (command.command.as_str(), command.output.as_str()),
        Entry::Compacted { summary, pinned, .. } => (summary.as_str(), pinned.as_str()),
        Entry::Planned { summary, .. } => (summary.as_str(), ""),
        Entry::FellBack { model, reason } => (reason.as_str(), model.as_str()),
        Entry::Concluded(
            Conclusion::Finished { message, reason: text } | Conclusion::Parked { message, note: text },
        ) => (message.as_str(), text.as_str()),
        _ => ("", ""),
    };
    // Colour escape sequences may split a word.
    [first, second].into_iter().filter(|text| !text.is_empty()).map(|text| match escape_sequences::strip_colors(text) {
        Cow::Borrowed(text) => clean::clean_text(text),
        Cow::Owned(text) => Cow::Owned(clean::clean_text(&text).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::apply_message::UNDO_MESSAGE;
    use crate::chat::attachments::{Attachment, Content, attach};

    #[test]
    fn only_displayed_text_of_a_message_is_searched() {
        let attachment = Attachment { source: "docs:a".into(), content: Content::Resource("hidden".into()) };
        let attached = attach("see @docs:a", &[attachment]);
        for (text, expected) in
            [(attached.as_str(), "see @docs:a"), (UNDO_MESSAGE, "Undo the changes of the last turn")]
        {
            let entry = Entry::UserMessage { text: text.to_owned() };
            assert_eq!(searched_texts(&entry).collect::<Vec<_>>(), [expected]);
        }
    }
}
