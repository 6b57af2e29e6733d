//! The transcript: all entries of the session. Lays out only the visible part.

pub mod call_layout;
mod call_row;
pub mod entry_layout;
pub mod item_layout;
pub mod layout_cache;
pub mod layout_context;
pub mod link_lookups;
pub mod live_item;
mod outcome_label;
pub mod picture_caption;
mod plain_layout;
pub mod reply_pieces;
mod result_size;
pub mod scrollbar;
mod sub_agent_figures;
pub mod sub_agent_layout;
pub mod text_extent;
pub mod transcript_search;

use crate::chat::Entry;
use item_layout::ItemLayout;
use layout_cache::LayoutCache;
use layout_context::LayoutContext;
use std::collections::HashSet;
use std::sync::Arc;

/// Position of a line: an item (the index of an entry, or one past the last for the live item) and a line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LinePosition {
    pub item: usize,
    /// Line of the item, 0-based.
    pub line: usize,
}

/// View state of the transcript.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// First visible line; `None` while the view follows the end.
    top: Option<LinePosition>,
    /// End of the transcript when the user scrolled back.
    end_before_scroll: LinePosition,
    /// Entries whose open state differs from their default.
    toggled: HashSet<usize>,
    /// Selected entry while the transcript has the keyboard focus.
    selected: Option<usize>,
    /// Open search, if any.
    pub search: Option<Search>,
    /// Row of the scrollbar thumb that the mouse drags.
    pub dragged_row: Option<u16>,
}

/// Query of the transcript search and last match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    /// Query, case-insensitive.
    pub query: String,
    /// Entry of the last match.
    pub match_entry: Option<usize>,
    /// True if no entry matches.
    pub has_no_match: bool,
}

/// One visible line.
#[derive(Debug, Clone)]
pub struct VisibleLine {
    pub position: LinePosition,
    /// Layout of its item.
    pub layout: Arc<ItemLayout>,
}

impl Transcript {
    /// Returns the visible lines at this height, top first.
    pub fn visible_lines(
        &self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        height: usize,
    ) -> Vec<VisibleLine> {
        cache.start_frame();
        let mut place = self.top_line(ground, cache, height);
        let last = live_item_index(ground);
        let mut seen = Vec::with_capacity(height);
        while place.item <= last && seen.len() < height {
            let laid = cache.item_layout(ground, &self.toggled, place.item);
            while place.line < laid.height && seen.len() < height {
                seen.push(VisibleLine { position: place, layout: laid.clone() });
                place.line += 1;
            }
            place = LinePosition { item: place.item + 1, line: 0 };
        }
        seen
    }

    /// Returns the first visible line.
    fn top_line(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize) -> LinePosition {
        let end = self.end_position(ground, cache, height);
        match self.top {
            // The live item may have become an entry of a different height, so the position is adjusted.
            Some(top) => self.normalize_position(ground, cache, top).min(end),
            None => end,
        }
    }

    /// Returns the first visible line when the end is at the bottom. Lays out backwards from the end, only as needed.
    fn end_position(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize) -> LinePosition {
        let mut left = height;
        for item in (0..=live_item_index(ground)).rev() {
            let lines = cache.item_height(ground, &self.toggled, item);
            if lines >= left {
                return LinePosition { item, line: lines - left };
            }
            left -= lines;
        }
        LinePosition::default()
    }

    fn normalize_position(
        &self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        mut place: LinePosition,
    ) -> LinePosition {
        let last = live_item_index(ground);
        while place.item < last {
            let lines = cache.item_height(ground, &self.toggled, place.item);
            if place.line < lines {
                break;
            }
            place = LinePosition { item: place.item + 1, line: place.line - lines };
        }
        place
    }

    /// Scrolls by a number of lines, up if negative. Follows again at the end.
    pub fn scroll_by(&mut self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize, by: isize) {
        if height == 0 {
            return;
        }
        let mut place = self.top_line(ground, cache, height);
        let mut left = by.unsigned_abs();
        while left > 0 {
            if by < 0 {
                let step = left.min(place.line);
                place.line -= step;
                left -= step;
                if left == 0 || place.item == 0 {
                    break;
                }
                place.item -= 1;
                place.line = cache.item_height(ground, &self.toggled, place.item);
            } else {
                let lines = cache.item_height(ground, &self.toggled, place.item);
                let step = left.min(lines.saturating_sub(place.line));
                place.line += step;
                left -= step;
                if left == 0 || place.item >= live_item_index(ground) {
                    break;
                }
                place = LinePosition { item: place.item + 1, line: 0 };
            }
        }
        self.scroll_to(ground, cache, height, place);
    }

    /// Scrolls a line to the top, or as near as the end allows.
    pub fn scroll_to(
        &mut self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        height: usize,
        place: LinePosition,
    ) {
        let end = self.end_position(ground, cache, height);
        if self.top.is_none() {
            self.end_before_scroll = LinePosition {
                item: live_item_index(ground),
                line: cache.item_height(ground, &self.toggled, live_item_index(ground)),
            };
        }
        self.top = (place < end).then_some(place);
    }

    /// Makes the view follow the end.
    pub fn follow_end(&mut self) {
        self.top = None;
    }

    /// Returns whether the view follows the end.
    pub fn is_following(&self) -> bool {
        self.top.is_none()
    }

    /// Scrolls to the first line.
    pub fn scroll_to_top(&mut self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize) {
        self.scroll_to(ground, cache, height, LinePosition::default());
    }

    /// Returns the number of lines added since the user scrolled back; 0 while the view follows the end.
    pub fn count_new_lines(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache) -> usize {
        if self.is_following() {
            return 0;
        }
        let last = live_item_index(ground);
        let mut lines = 0;
        for item in self.end_before_scroll.item.min(last)..=last {
            lines += cache.item_height(ground, &self.toggled, item);
        }
        lines.saturating_sub(self.end_before_scroll.line)
    }

    /// Scrolls to the previous or next user message, relative to the top of the screen.
    pub fn jump_to_message(&mut self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize, back: bool) {
        let top = self.top_line(ground, cache, height);
        let entries = ground.agent.session.entries();
        let said = |index: &usize| matches!(entries.get(*index), Some(Entry::UserMessage { .. }));
        let to = match back {
            true => (0..top.item.min(entries.len())).rev().find(said),
            false => (top.item + 1..entries.len()).find(said),
        };
        match to {
            Some(item) => self.scroll_to(ground, cache, height, LinePosition { item, line: usize::from(item > 0) }),
            None if back => self.scroll_to_top(ground, cache, height),
            None => self.follow_end(),
        }
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Selects the next entry above or below that can be opened, and scrolls to it. Moving below the last one clears the
    /// selection.
    pub fn select_entry(&mut self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize, up: bool) {
        let opens = |index: &usize| entry_layout::can_open(ground, *index);
        let count = ground.agent.session.entries().len();
        let to = match (self.selected, up) {
            (Some(at), true) => (0..at.min(count)).rev().find(opens).or(Some(at)),
            (Some(at), false) => (at + 1..count).find(opens),
            (None, true) => (0..count).rev().find(opens),
            (None, false) => None,
        };
        self.selected = to;
        if let Some(item) = to {
            self.scroll_into_view(ground, cache, height, item);
        }
    }

    /// Clears the selection.
    pub fn clear_selection(&mut self) {
        self.selected = None;
    }

    /// Opens or closes an entry.
    pub fn toggle_entry(&mut self, ground: &LayoutContext<'_>, item: usize) {
        if entry_layout::can_open(ground, item) && !self.toggled.remove(&item) {
            self.toggled.insert(item);
        }
    }

    /// Scrolls until the start of an item is visible.
    pub fn scroll_into_view(
        &mut self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        height: usize,
        item: usize,
    ) {
        let seen = self.visible_lines(ground, cache, height);
        if seen.iter().any(|seen| seen.position.item == item && seen.position.line <= 1) {
            return;
        }
        // One third from the top, so that earlier lines stay visible.
        self.scroll_to(ground, cache, height, LinePosition { item, line: 0 });
        if !self.is_following() {
            self.scroll_by(ground, cache, height, -((height / 3) as isize));
        }
    }
}

/// Returns the index of the live item, one past the last entry.
fn live_item_index(ground: &LayoutContext<'_>) -> usize {
    ground.agent.session.entries().len()
}
