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
    pub fn scrollbar(&self, context: &LayoutContext<'_>, cache: &mut LayoutCache, height: usize) -> Option<Scrollbar> {
        let rows = u16::try_from(height).ok().filter(|rows| *rows >= 3)?;
        let end = self.end_position(context, cache, height);
        if end == LinePosition::default() {
            return None;
        }
        let total_rows = self.estimate_offset(context, cache, end).max(1.0);
        let height = f64::from(rows);
        let length =
            ((height * height / (total_rows + height)).round() as u16).clamp(if rows < 8 { 1 } else { 2 }, rows - 1);
        let max_top = rows - length;
        let top = self.top_line(context, cache, usize::from(rows));
        let scrolled_fraction = self.estimate_offset(context, cache, top) / total_rows;
        let inner_top = || ((scrolled_fraction * f64::from(max_top)).round() as u16).clamp(1, max_top.max(2) - 1);
        // The thumb touches an end only at the actual end of the transcript.
        let top = match () {
            () if top == end => max_top,
            () if top == LinePosition::default() => 0,
            () => inner_top().min(max_top),
        };
        Some(Scrollbar { top, length, rows })
    }

    /// Scrolls so that the thumb starts at this row of the scrollbar.
    pub fn drag_scrollbar(&mut self, context: &LayoutContext<'_>, cache: &mut LayoutCache, bar: Scrollbar, row: u16) {
        let (height, max_top) = (usize::from(bar.rows), bar.rows - bar.length);
        if row >= max_top {
            return self.follow_end();
        }
        let end = self.end_position(context, cache, height);
        let offset = self.estimate_offset(context, cache, end) * f64::from(row) / f64::from(max_top);
        let position = self.position_at_offset(context, cache, offset);
        self.scroll_to(context, cache, height, position);
    }

    /// Estimates the rows before a line. The estimated rows of an item are spread evenly over its actual lines.
    fn estimate_offset(
        &self,
        context: &LayoutContext<'_>,
        cache: &mut LayoutCache,
        LinePosition { item, line }: LinePosition,
    ) -> f64 {
        let (rows_before, rows) = self.estimate_item_rows(context, cache, item);
        let lines = cache.item_height(context, &self.toggled, item).max(1);
        rows_before + rows * line.min(lines) as f64 / lines as f64
    }

    /// Returns the line with about this many rows before it.
    fn position_at_offset(&self, context: &LayoutContext<'_>, cache: &mut LayoutCache, offset: f64) -> LinePosition {
        cache.extent.measure_new_entries(context.agent.session.entries());
        let live_item = live_item_index(context);
        let (mut low, mut high) = (0, live_item);
        while low < high {
            let middle = (low + high).div_ceil(2);
            match cache.extent.rows_before(middle, context.width) <= offset {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let (rows_before, rows) = self.estimate_item_rows(context, cache, low);
        let lines = cache.item_height(context, &self.toggled, low);
        let line = if rows > 0.0 { (offset - rows_before) / rows * lines as f64 } else { 0.0 };
        LinePosition { item: low, line: (line.round() as usize).min(lines.saturating_sub(1)) }
    }

    /// Estimates the rows before an item and of the item. The height of the live item is exact.
    fn estimate_item_rows(&self, context: &LayoutContext<'_>, cache: &mut LayoutCache, item: usize) -> (f64, f64) {
        cache.extent.measure_new_entries(context.agent.session.entries());
        let rows_before = cache.extent.rows_before(item, context.width);
        let rows = match item < live_item_index(context) {
            true => cache.extent.rows_before(item + 1, context.width) - rows_before,
            false => cache.item_height(context, &self.toggled, item) as f64,
        };
        (rows_before, rows)
    }
}
