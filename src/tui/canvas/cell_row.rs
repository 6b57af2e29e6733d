//! A row of cells as the terminal shows it: which cells start a glyph, which are covered by one, and their visible
//! style.

use super::cell_style::CellStyle;
use ratatui::buffer::{Cell, CellWidth};
use unicode_width::UnicodeWidthChar;

/// Cells of one row. Reused, so that reading a row needs no allocation.
#[derive(Default)]
pub(super) struct CellRow {
    pub(super) slots: Vec<RowCell>,
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowCell {
    /// Number of cells of its glyph; 0 if the glyph before covers it.
    pub(super) width: u16,
    /// True if it is empty or its contents cannot be shown.
    pub(super) is_blank: bool,
    /// Maximum width of a glyph of more than one character, because terminals disagree about it; 0 for other glyphs.
    pub(super) max_width: u16,
    pub(super) style: CellStyle,
    pub(super) link: u32,
}

impl CellRow {
    /// Reads a row. A wide glyph that is half covered by another cell or the edge becomes a space.
    pub(super) fn read_cells(&mut self, (cells, links): (&[Cell], &[u32])) {
        self.slots.clear();
        let mut under = 0;
        for (x, cell) in cells.iter().enumerate() {
            let link = links.get(x).copied().unwrap_or_default();
            if under > 0 {
                under -= 1;
                let look = CellStyle::default();
                self.slots.push(RowCell { width: 0, is_blank: false, max_width: 0, style: look, link });
                continue;
            }
            let symbol = cell.symbol();
            let width = if symbol.len() == 1 { 1 } else { symbol.cell_width() };
            let room = cells.get(x + 1..x + usize::from(width.max(1)));
            let whole = width > 0 && room.is_some_and(|room| room.iter().all(|cell| cell.symbol() == " "));
            let blank = !whole || symbol == " ";
            let width = if blank { 1 } else { width };
            under = width - 1;
            let look = CellStyle::from_cell(cell, blank);
            self.slots.push(RowCell { width, is_blank: blank, max_width: max_glyph_width(symbol), style: look, link });
        }
    }

    /// Returns whether a cell looks the same in another row.
    pub(super) fn is_same_cell(&self, cells: &[Cell], other: &CellRow, others: &[Cell], x: usize) -> bool {
        let (one, two) = (&self.slots[x], &other.slots[x]);
        one == two && (one.is_blank || one.width == 0 || cells[x].symbol() == others[x].symbol())
    }
}

/// Returns the maximum width of a glyph of more than one character; 0 if all terminals agree.
fn max_glyph_width(symbol: &str) -> u16 {
    if symbol.chars().nth(1).is_none() {
        return 0;
    }
    let whole = symbol.cell_width();
    let apart: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
    let apart = u16::try_from(apart).unwrap_or(u16::MAX);
    if whole == apart { 0 } else { whole.max(apart) }
}
