//! Division of a row of a list into columns.

use super::Row;
use crate::text::width;
use crate::tui::text::wrap;
use ratatui::style::Style;
use ratatui::text::Line;

/// Maximum cells of a text in the second column that is never cut to make room for a long main text, such as
/// `copy, waiting for you`.
pub(super) const SHORT_SECONDARY_CELLS: usize = 32;
/// A second column narrower than this is cut, not wrapped.
const MIN_WRAP_CELLS: usize = 16;

/// In a list that shows the whole text of the selected row, a second column that is cut to fewer cells is left out.
const MIN_CUT_CELLS: usize = 12;

/// Cells of the columns of a row. The main text has priority, then the detail; the second column gets the rest.
pub(super) struct RowColumns {
    /// Maximum cells of the main text.
    pub(super) main: usize,
    /// First cell of the second column.
    pub(super) secondary_start: usize,
    /// Cells of the second column; 0 if there is no room.
    pub(super) secondary: usize,
    /// Cells of the detail; 0 if there is no room.
    pub(super) detail: usize,
}

impl RowColumns {
    /// Divides `row_width` cells, of which rows reserve `main_cells` for their main texts.
    pub(super) fn new(row: &Row, row_width: usize, main_cells: usize) -> Self {
        let [text_cells, secondary_cells, detail_cells] =
            [&row.text, &row.secondary, &row.detail].map(|text| width::text_width(text));
        // Two blanks separate the columns. The detail is left out if it does not fit next to the main text, of which
        // `main_cells`, but at least 12 cells, are enough.
        let has_detail = detail_cells > 0 && text_cells.min(main_cells.max(12)) + detail_cells + 2 <= row_width;
        let (detail, free_cells) =
            if has_detail { (detail_cells, row_width - detail_cells - 2) } else { (0, row_width) };
        let main = if row.is_pinned || row.is_halved {
            main_cells
        } else if (1..=SHORT_SECONDARY_CELLS).contains(&secondary_cells) {
            main_cells.max(free_cells.saturating_sub(secondary_cells + 2)).min(free_cells)
        } else {
            free_cells
        };
        let secondary_start = main_cells.max(text_cells.min(main)) + 2;
        // A second column of fewer than 4 cells would be unreadable.
        let secondary = if secondary_start + 4 <= free_cells { free_cells - secondary_start } else { 0 };
        Self { main, secondary_start, secondary, detail }
    }

    /// Leaves out a second column of which too little would be shown.
    pub(super) fn without_short_cut(self, row: &Row) -> Self {
        let is_cut = width::text_width(&row.secondary) > self.secondary;
        if is_cut && self.secondary < MIN_CUT_CELLS { Self { secondary: 0, ..self } } else { self }
    }

    /// Returns whether a text of the row does not fit or has several lines.
    pub(super) fn is_cut(&self, row: &Row) -> bool {
        let is_secondary_cut = width::text_width(&row.secondary) > self.secondary;
        row.lines.is_some() || width::text_width(&row.text) > self.main || is_secondary_cut
    }

    /// Returns the lines of the second column: several if its text does not fit into one and the column is wide enough to
    /// wrap.
    pub(super) fn secondary_lines(&self, row: &Row) -> Vec<String> {
        if self.secondary < MIN_WRAP_CELLS || width::text_width(&row.secondary) <= self.secondary {
            return vec![row.secondary.clone()];
        }
        let lines = wrap::wrap_plain(&row.secondary, Style::new(), self.secondary);
        lines.iter().map(Line::to_string).collect()
    }
}
