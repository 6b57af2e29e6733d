//! The scrollbar: its thumb, and dragging it.

use super::layout_cache::LayoutCache;
use super::layout_context::LayoutContext;
use super::{LinePosition, Transcript, live_item_index};

/// Scrollbar, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scrollbar {
    /// First row of the thumb.
    pub top: u16,
    /// Length of the thumb in rows.
    pub length: u16,
    /// Height of the scrollbar in rows.
    pub rows: u16,
}

impl Transcript {
    /// Returns the scrollbar at this height; `None` if everything is visible.
    pub fn scrollbar(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize) -> Option<Scrollbar> {
        let rows = u16::try_from(height).ok().filter(|rows| *rows >= 3)?;
        let end = self.end_position(ground, cache, height);
        if end == LinePosition::default() {
            return None;
        }
        let all = self.estimate_offset(ground, cache, end).max(1.0);
        let height = f64::from(rows);
        let length = ((height * height / (all + height)).round() as u16).clamp(if rows < 8 { 1 } else { 2 }, rows - 1);
        let room = rows - length;
        let top = self.top_line(ground, cache, usize::from(rows));
        let share = self.estimate_offset(ground, cache, top) / all;
        let inner = || ((share * f64::from(room)).round() as u16).clamp(1, room.max(2) - 1);
        // The thumb touches an end only at the actual end of the transcript.
        let top = match () {
            () if top == end => room,
            () if top == LinePosition::default() => 0,
            () => inner().min(room),
        };
        Some(Scrollbar { top, length, rows })
    }

    /// Scrolls so that the thumb starts at this row of the scrollbar.
    pub fn drag_scrollbar(&mut self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, bar: Scrollbar, to: u16) {
        let (height, room) = (usize::from(bar.rows), bar.rows - bar.length);
        if to >= room {
            return self.follow_end();
        }
        let end = self.end_position(ground, cache, height);
        let wanted = self.estimate_offset(ground, cache, end) * f64::from(to) / f64::from(room);
        let place = self.position_at_offset(ground, cache, wanted);
        self.scroll_to(ground, cache, height, place);
    }

    /// Estimates the rows before a line.
    fn estimate_offset(
        &self,
        ground: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        LinePosition { item, line }: LinePosition,
    ) -> f64 {
        let (before, rows) = self.estimate_item_rows(ground, cache, item);
        let lines = cache.item_height(ground, &self.toggled, item).max(1);
        before + rows * line.min(lines) as f64 / lines as f64
    }

    /// Returns the line with about this many rows before it.
    fn position_at_offset(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, wanted: f64) -> LinePosition {
        self.estimate_item_rows(ground, cache, 0);
        let last = live_item_index(ground);
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high).div_ceil(2);
            match cache.extent.rows_before(middle, ground.width) <= wanted {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let (before, rows) = self.estimate_item_rows(ground, cache, low);
        let lines = cache.item_height(ground, &self.toggled, low);
        let line = if rows > 0.0 { (wanted - before) / rows * lines as f64 } else { 0.0 };
        LinePosition { item: low, line: (line.round() as usize).min(lines.saturating_sub(1)) }
    }

    /// Estimates the rows before an item and of the item. The height of the live item is exact.
    fn estimate_item_rows(&self, ground: &LayoutContext<'_>, cache: &mut LayoutCache, item: usize) -> (f64, f64) {
        cache.extent.measure_new_entries(ground.agent.session.entries());
        let before = cache.extent.rows_before(item, ground.width);
        let rows = match item < live_item_index(ground) {
            true => cache.extent.rows_before(item + 1, ground.width) - before,
            false => cache.item_height(ground, &self.toggled, item) as f64,
        };
        (before, rows)
    }
}
