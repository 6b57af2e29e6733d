//! The review of a batch of changes in an approval prompt: all diffs, with each file and hunk ticked or rejected.

mod review_rows;

use crate::chat::{Batch, Rejected};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{Hint, key_hint};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::theme::Theme;
use ratatui::text::Line;
pub use review_rows::Row;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Ticks and the cursor of a review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    /// Index of the item or hunk under the cursor, among all that can be ticked.
    cursor: usize,
    /// Items and hunks that are not ticked.
    rejected: BTreeSet<TickTarget>,
    row_cache: LineCache<(), Row>,
}

/// An item or hunk that can be ticked: the index of the item in the batch, and of a hunk its first line after the
/// change.
type TickTarget = (usize, Option<usize>);

/// Iterates over everything that can be ticked, from top to bottom.
fn tick_targets(batch: &Batch) -> impl Iterator<Item = TickTarget> {
    batch.selected_items(&[]).flat_map(|(index, item)| {
        let hunks = item.diff.iter().filter(|_| item.has_hunks()).flat_map(|diff| &diff.hunks);
        std::iter::once((index, None)).chain(hunks.map(move |hunk| (index, Some(hunk.after))))
    })
}

/// Ticked part of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticked {
    All,
    /// Some of its hunks.
    Part,
    None,
}

/// Counts of items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TickCount {
    /// Items that are ticked completely.
    pub full: usize,
    /// Items with some hunks ticked.
    pub partial: usize,
    /// Items that can be ticked.
    pub total: usize,
}

impl std::fmt::Display for TickCount {
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
        let rejected_part = |(item_index, _): (usize, _)| match self.ticked(batch, (item_index, None)) {
            Ticked::All => None,
            Ticked::None => Some(Rejected { item: item_index, hunks: Vec::new() }),
            Ticked::Part => {
                let hunks = self.rejected_hunks(item_index);
                Some(Rejected { item: item_index, hunks: hunks.collect() })
            }
        };
        batch.selected_items(&[]).filter_map(rejected_part).collect()
    }

    /// Describes the data that the ticked part destroys.
    pub fn describe_destruction(&self, batch: &Batch) -> Option<String> {
        batch.destroys(&self.rejected(batch))
    }

    /// Counts the ticked items.
    pub fn count_ticked(&self, batch: &Batch) -> TickCount {
        batch.selected_items(&[]).fold(TickCount::default(), |count, (index, _)| {
            let ticked = self.ticked(batch, (index, None));
            TickCount {
                full: count.full + usize::from(ticked == Ticked::All),
                partial: count.partial + usize::from(ticked == Ticked::Part),
                total: count.total + 1,
            }
        })
    }

    /// Returns the first lines of the hunks of an item that are not ticked.
    fn rejected_hunks(&self, item_index: usize) -> impl Iterator<Item = usize> {
        self.rejected.range((item_index, None)..(item_index + 1, None)).filter_map(|(_, hunk)| *hunk)
    }

    /// Returns how much of an item or hunk is ticked.
    pub fn ticked(&self, batch: &Batch, (item_index, hunk): TickTarget) -> Ticked {
        if self.rejected.contains(&(item_index, None)) || hunk.is_some() && self.rejected.contains(&(item_index, hunk))
        {
            return Ticked::None;
        }
        let rejected_count = self.rejected_hunks(item_index).count();
        let hunk_count =
            batch.items.get(item_index).and_then(|item| item.diff.as_ref()).map_or(0, |diff| diff.hunks.len());
        match (hunk, rejected_count) {
            (Some(_), _) | (None, 0) => Ticked::All,
            (None, count) if count >= hunk_count => Ticked::None,
            (None, _) => Ticked::Part,
        }
    }

    /// Toggles the tick of the item or hunk under the cursor.
    fn toggle(&mut self, batch: &Batch) {
        let Some(target @ (item_index, hunk)) = tick_targets(batch).nth(self.cursor) else { return };
        let ticked_before = self.ticked(batch, target);
        if let (Some(_), true) = (hunk, self.rejected.remove(&(item_index, None))) {
            // The whole item was rejected, so its other hunks stay rejected.
            let hunks = batch.items[item_index].diff.iter().flat_map(|diff| &diff.hunks);
            self.rejected.extend(hunks.map(|hunk| (item_index, Some(hunk.after))));
        }
        match (hunk, ticked_before) {
            (Some(_), Ticked::All | Ticked::Part) => drop(self.rejected.insert(target)),
            (Some(_), Ticked::None) => drop(self.rejected.remove(&target)),
            (None, ticked_before) => {
                self.rejected.retain(|(item, _)| *item != item_index);
                if ticked_before == Ticked::All {
                    self.rejected.insert(target);
                }
            }
        }
    }

    /// Ticks everything, or nothing if everything is ticked.
    fn toggle_all(&mut self, batch: &Batch) {
        if self.rejected.is_empty() {
            self.rejected = batch.selected_items(&[]).map(|(index, _)| (index, None)).collect();
        } else {
            self.rejected.clear();
        }
    }

    /// Handles a key that moves or ticks. Returns the row to scroll to (`usize::MAX` is the end), or `None` if the key
    /// means something else.
    /// `top` is the first visible row and `page` the number of visible rows.
    pub fn handle_action(&mut self, action: Action, batch: &Batch, (top, page): (usize, usize)) -> Option<usize> {
        let headings = self.heading_rows();
        let last_heading = headings.len().saturating_sub(1);
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
                    Some(row) if *row >= top && current < top + page => self.cursor -= 1,
                    Some(row) if *row + 1 == top || current == top => {
                        self.cursor -= 1;
                        return Some(*row);
                    }
                    Some(_) | None => return Some(top.saturating_sub(1)),
                }
            }
            Action::PageUp | Action::PageDown | Action::Top | Action::Bottom => {
                let rows = self.row_cache.last_lines().map_or(0, |rows| rows.len());
                let end = rows.saturating_sub(page);
                let top = match action {
                    Action::PageUp => top.saturating_sub(page),
                    Action::PageDown => (top + page).min(end),
                    Action::Top => 0,
                    _ => end,
                };
                // The cursor moves with the visible rows.
                let first_visible = headings.iter().position(|row| *row >= top);
                self.cursor = match first_visible {
                    Some(index) if headings[index] < top + page => index,
                    Some(index) => index.saturating_sub(1),
                    None => last_heading,
                };
                return Some(if action == Action::Bottom { usize::MAX } else { top });
            }
            _ => return None,
        }
        Some(top)
    }

    /// Returns the rows at which items and hunks begin, in the last layout.
    fn heading_rows(&self) -> Vec<usize> {
        let rows = self.row_cache.last_lines().unwrap_or_default();
        (0..rows.len()).filter(|index| rows[*index].tick_target().is_some()).collect()
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

    /// Returns a row with its tick and cursor, dimmed if it is rejected.
    pub fn draw_row(&self, row: &Row, batch: &Batch, theme: &Theme) -> Line<'static> {
        let is_at_cursor = row.tick_target().is_some() && row.tick_target() == tick_targets(batch).nth(self.cursor);
        row.styled_line(|target| self.ticked(batch, target), is_at_cursor, theme)
    }

    /// Returns the key hints of the review.
    pub fn hints(&self, batch: &Batch, keys: &Keymap) -> [Option<Hint>; 2] {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let has_several = tick_targets(batch).nth(1).is_some();
        let select_key = if has_several { key(Action::Select) } else { String::new() };
        let select_all_key = if has_several { key(Action::SelectAll) } else { String::new() };
        [key_hint(2, &select_key, &["select"]), key_hint(7, &select_all_key, &["all or none", "all"])]
    }
}

#[cfg(test)]
mod tests;
