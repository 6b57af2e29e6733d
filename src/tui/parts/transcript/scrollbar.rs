//! The scrollbar: its thumb, and dragging it.

use super::{Layouts, LinePosition, Transcript};

/// A scrollbar and its thumb, in rows.
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
    /// Returns the scrollbar; `None` if everything is visible.
    pub fn scrollbar(&self, layouts: &mut Layouts<'_>) -> Option<Scrollbar> {
        let rows = u16::try_from(layouts.height).ok().filter(|rows| *rows >= 3)?;
        // First visible line of a view that shows the end.
        let end = self.end_position(layouts);
        if end == LinePosition::default() {
            return None;
        }
        let max_offset = self.estimate_offset(layouts, end).max(1.0);
        let height = f64::from(rows);
        let length =
            ((height * height / (max_offset + height)).round() as u16).clamp(if rows < 8 { 1 } else { 2 }, rows - 1);
        let max_top = rows - length;
        let top = self.top_line(layouts);
        let scrolled_fraction = self.estimate_offset(layouts, top) / max_offset;
        // The thumb touches an end of the scrollbar only at that end of the transcript.
        let top = if top == end {
            max_top
        } else if top == LinePosition::default() {
            0
        } else {
            ((scrolled_fraction * f64::from(max_top)).round() as u16).clamp(1, max_top.max(2) - 1).min(max_top)
        };
        Some(Scrollbar { top, length, rows })
    }

    /// Scrolls so that the thumb starts at this row of the scrollbar.
    pub fn drag_scrollbar(&mut self, layouts: &mut Layouts<'_>, bar: Scrollbar, row: u16) {
        let max_top = bar.rows - bar.length;
        if row >= max_top {
            return self.follow_end();
        }
        let end = self.end_position(layouts);
        let offset = self.estimate_offset(layouts, end) * f64::from(row) / f64::from(max_top);
        let position = self.position_at_offset(layouts, offset);
        self.scroll_to(layouts, position);
    }

    /// Estimates the rows before a line. The estimated rows of an item are spread evenly over its actual lines.
    fn estimate_offset(&self, layouts: &mut Layouts<'_>, LinePosition { item, line }: LinePosition) -> f64 {
        let (rows_before, rows) = self.estimate_item_rows(layouts, item);
        let lines = self.item_height(layouts, item).max(1);
        rows_before + rows * line.min(lines) as f64 / lines as f64
    }

    /// Returns the line with about this many estimated rows before it.
    fn position_at_offset(&self, layouts: &mut Layouts<'_>, offset: f64) -> LinePosition {
        // Measures new entries, which `rows_before` needs.
        self.estimate_item_rows(layouts, 0);
        let live_item = layouts.live_item();
        let (mut low, mut high) = (0, live_item);
        while low < high {
            let middle = (low + high).div_ceil(2);
            match layouts.cache.extent.rows_before(middle, layouts.context.width) <= offset {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let (rows_before, rows) = self.estimate_item_rows(layouts, low);
        let lines = self.item_height(layouts, low);
        let line = if rows > 0.0 { (offset - rows_before) / rows * lines as f64 } else { 0.0 };
        LinePosition { item: low, line: (line.round() as usize).min(lines.saturating_sub(1)) }
    }

    /// Estimates the rows before an item, and its own rows. Those of the live item are exact.
    fn estimate_item_rows(&self, layouts: &mut Layouts<'_>, item: usize) -> (f64, f64) {
        layouts.cache.extent.measure_new_entries(layouts.context.agent.session.entries());
        let rows_before = layouts.cache.extent.rows_before(item, layouts.context.width);
        let rows = match item < layouts.live_item() {
            true => layouts.cache.extent.rows_before(item + 1, layouts.context.width) - rows_before,
            false => self.item_height(layouts, item) as f64,
        };
        (rows_before, rows)
    }
}
