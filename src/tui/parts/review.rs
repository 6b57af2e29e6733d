//! The review of a batch of changes in an approval prompt: all diffs, with each file and hunk selected or rejected.

mod review_rows;

use crate::chat::{Batch, Rejected};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{heading_in_view, scroll_position};
use crate::tui::parts::key_hints::{Hint, key_hint};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::theme::Theme;
use ratatui::text::Line;
pub use review_rows::Row;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Selection and cursor of a review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    /// Index of the item or hunk under the cursor, in [`select_targets`].
    cursor: usize,
    /// Items and hunks that are not selected. The hunks of a rejected item are not listed.
    rejected: BTreeSet<SelectTarget>,
    row_cache: LineCache<(), Vec<Row>>,
}

/// An item or hunk that can be selected: the index of the item in the batch, and for a hunk its first line in the changed
/// file.
type SelectTarget = (usize, Option<usize>);

/// Returns everything that can be selected, from top to bottom: every item that is not blocked, and its hunks, if any.
fn select_targets(batch: &Batch) -> impl Iterator<Item = SelectTarget> {
    // If nothing is rejected, all items that can be selected are selected.
    batch.selected_items(&[]).flat_map(|(index, item)| {
        let hunks = item.diff.iter().filter(|_| item.has_hunks()).flat_map(|diff| &diff.hunks);
        std::iter::once((index, None)).chain(hunks.map(move |hunk| (index, Some(hunk.after))))
    })
}

/// Selected part of an item or hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    All,
    /// Some hunks of an item.
    Part,
    None,
}

/// Number of selected items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SelectedCount {
    /// Items that are selected completely.
    pub full: usize,
    /// Items with some hunks selected.
    pub partial: usize,
    /// Items that can be selected.
    pub total: usize,
}

impl SelectedCount {
    /// Returns whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.full + self.partial == 0
    }
}

impl std::fmt::Display for SelectedCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { full, partial, total } = self;
        match partial {
            0 => write!(f, "{full} of {total} selected"),
            partial => write!(f, "{full} of {total} selected, {partial} in part"),
        }
    }
}

impl Review {
    /// Returns the rejected items and hunks, as a decision contains them.
    pub fn rejected(&self, batch: &Batch) -> Vec<Rejected> {
        let rejected_part = |(item, _): (usize, _)| match self.selection(batch, (item, None)) {
            Selection::All => None,
            Selection::None => Some(Rejected { item, hunks: Vec::new() }),
            Selection::Part => Some(Rejected { item, hunks: self.rejected_hunks(item).collect() }),
        };
        batch.selected_items(&[]).filter_map(rejected_part).collect()
    }

    /// Counts the selected items.
    pub fn count_selected(&self, batch: &Batch) -> SelectedCount {
        batch.selected_items(&[]).fold(SelectedCount::default(), |count, (index, _)| {
            let selection = self.selection(batch, (index, None));
            SelectedCount {
                full: count.full + usize::from(selection == Selection::All),
                partial: count.partial + usize::from(selection == Selection::Part),
                total: count.total + 1,
            }
        })
    }

    /// Returns the first lines of the rejected hunks of an item; none if the whole item is rejected.
    fn rejected_hunks(&self, item_index: usize) -> impl Iterator<Item = usize> {
        self.rejected.range((item_index, None)..(item_index + 1, None)).filter_map(|(_, hunk)| *hunk)
    }

    /// Returns how much of an item or hunk is selected.
    pub fn selection(&self, batch: &Batch, (item_index, hunk): SelectTarget) -> Selection {
        if self.rejected.contains(&(item_index, None)) || hunk.is_some() && self.rejected.contains(&(item_index, hunk))
        {
            return Selection::None;
        }
        let rejected_count = self.rejected_hunks(item_index).count();
        let hunk_count =
            batch.items.get(item_index).and_then(|item| item.diff.as_ref()).map_or(0, |diff| diff.hunks.len());
        match (hunk, rejected_count) {
            (Some(_), _) | (None, 0) => Selection::All,
            (None, count) if count >= hunk_count => Selection::None,
            (None, _) => Selection::Part,
        }
    }

    /// Selects or rejects the item or hunk under the cursor.
    fn toggle(&mut self, batch: &Batch) {
        let Some(target @ (item_index, hunk)) = select_targets(batch).nth(self.cursor) else { return };
        let previous = self.selection(batch, target);
        if let (Some(_), true) = (hunk, self.rejected.remove(&(item_index, None))) {
            // The whole item was rejected: its other hunks stay rejected, one by one.
            let hunks = batch.items[item_index].diff.iter().flat_map(|diff| &diff.hunks);
            self.rejected.extend(hunks.map(|hunk| (item_index, Some(hunk.after))));
        }
        match hunk {
            Some(_) => _ = self.rejected.remove(&target),
            None => self.rejected.retain(|(item, _)| *item != item_index),
        }
        if previous == Selection::All {
            self.rejected.insert(target);
        }
    }

    /// Selects everything, or nothing if everything is selected.
    fn toggle_all(&mut self, batch: &Batch) {
        if self.rejected.is_empty() {
            self.rejected = batch.selected_items(&[]).map(|(index, _)| (index, None)).collect();
        } else {
            self.rejected.clear();
        }
    }

    /// Handles an action that moves the cursor or selects. Returns the row to scroll to (`usize::MAX` is the end), or `None`
    /// for other actions. `top` is the first row in the prompt and `page` the number of visible rows.
    pub fn handle_action(&mut self, action: Action, batch: &Batch, top: usize, page: usize) -> Option<usize> {
        let headings = self.heading_rows();
        // The number of rows above takes the place of the first row.
        let first_visible = |top: usize| top + usize::from(top > 0);
        match action {
            Action::Select => self.toggle(batch),
            Action::SelectAll => self.toggle_all(batch),
            Action::Down => match headings.get(self.cursor + 1) {
                Some(row) if *row < top + page => self.cursor += 1,
                Some(_) | None => return Some(top + 1),
            },
            Action::Up => {
                let current = headings.get(self.cursor).copied().unwrap_or(0);
                let previous = self.cursor.checked_sub(1).and_then(|index| headings.get(index));
                match previous {
                    Some(row) if *row >= first_visible(top) && current < top + page => self.cursor -= 1,
                    Some(row) if *row + 1 == first_visible(top) => {
                        self.cursor -= 1;
                        return Some(top.saturating_sub(1));
                    }
                    Some(_) | None => return Some(top.saturating_sub(1)),
                }
            }
            Action::PageUp | Action::PageDown | Action::Top | Action::Bottom => {
                let rows = self.row_cache.last_lines().map_or(0, |rows| rows.len());
                let top = scroll_position(action, top, page).unwrap_or(top).min(rows.saturating_sub(page));
                self.cursor = heading_in_view(&headings, top, page);
                return Some(if action == Action::Bottom { usize::MAX } else { top });
            }
            _ => return None,
        }
        Some(top)
    }

    /// Returns the rows at which items and hunks begin, in the last layout.
    fn heading_rows(&self) -> Vec<usize> {
        let rows = self.row_cache.last_lines().unwrap_or_default();
        (0..rows.len()).filter(|index| rows[*index].select_target().is_some()).collect()
    }

    /// Returns all rows, laid out for a width, with `end_lines` after the changes.
    pub fn lay_out_rows(
        &self,
        batch: &Batch,
        width: usize,
        theme: &Theme,
        end_lines: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Arc<Vec<Row>> {
        self.row_cache.lines_for(width, (), theme, || {
            let mut rows = review_rows::lay_out_batch(batch, width, theme);
            rows.extend(end_lines().into_iter().map(Row::plain));
            rows
        })
    }

    /// Returns a row with its selection mark and cursor, dimmed if it is rejected.
    pub fn draw_row(&self, row: &Row, batch: &Batch, theme: &Theme) -> Line<'static> {
        let is_at_cursor =
            row.select_target().is_some() && row.select_target() == select_targets(batch).nth(self.cursor);
        row.styled_line(|target| self.selection(batch, target), is_at_cursor, theme)
    }

    /// Returns the key hints of the review.
    pub fn hints(&self, batch: &Batch, keys: &Keymap) -> [Option<Hint>; 2] {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let has_several = select_targets(batch).nth(1).is_some();
        let select_key = if has_several { key(Action::Select) } else { String::new() };
        let select_all_key = if has_several { key(Action::SelectAll) } else { String::new() };
        // The numbers are the priorities of removal: the highest is removed first.
        [key_hint(2, &select_key, &["select"]), key_hint(7, &select_all_key, &["all or none", "all"])]
    }
}

#[cfg(test)]
mod tests;
