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
    /// Largest width that a terminal may give the glyph, if terminals disagree about it; otherwise 0.
    pub(super) max_width: u16,
    pub(super) style: CellStyle,
    pub(super) link: u32,
}

impl CellRow {
    /// Reads a row. A wide glyph that is half covered by another cell or the edge becomes a space.
    pub(super) fn read_cells(&mut self, (cells, links): (&[Cell], &[u32])) {
        self.slots.clear();
        let mut covered_cells = 0;
        // Symbols are often repeated, and measuring one takes longer than comparing two.
        let mut measured = ("", GlyphWidth::default());
        for (x, cell) in cells.iter().enumerate() {
            let link = links.get(x).copied().unwrap_or_default();
            if covered_cells > 0 {
                covered_cells -= 1;
                let style = CellStyle::default();
                self.slots.push(RowCell { width: 0, is_blank: false, max_width: 0, style, link });
                continue;
            }
            let symbol = cell.symbol();
            if symbol != measured.0 {
                measured = (symbol, GlyphWidth::of(symbol));
            }
            let GlyphWidth { width, max_width } = measured.1;
            let next_cells = cells.get(x + 1..x + usize::from(width.max(1)));
            let is_complete =
                width > 0 && next_cells.is_some_and(|next_cells| next_cells.iter().all(|cell| cell.symbol() == " "));
            let is_blank = !is_complete || symbol == " ";
            let width = if is_blank { 1 } else { width };
            covered_cells = width - 1;
            let style = CellStyle::from_cell(cell, is_blank);
            self.slots.push(RowCell { width, is_blank, max_width, style, link });
        }
    }

    /// Returns whether a cell looks the same in another row.
    pub(super) fn is_same_cell(&self, cells: &[Cell], other: &CellRow, other_cells: &[Cell], x: usize) -> bool {
        let (slot, other_slot) = (&self.slots[x], &other.slots[x]);
        slot == other_slot && (slot.is_blank || slot.width == 0 || cells[x].symbol() == other_cells[x].symbol())
    }
}

/// Number of cells of a glyph.
#[derive(Clone, Copy, Default)]
struct GlyphWidth {
    width: u16,
    /// The largest width that a terminal may give it; 0 if all terminals agree about its width.
    max_width: u16,
}

impl GlyphWidth {
    fn of(symbol: &str) -> Self {
        if symbol.len() == 1 {
            return Self { width: 1, max_width: 0 };
        }
        let width = symbol.cell_width();
        if symbol.chars().nth(1).is_none() {
            return Self { width, max_width: 0 };
        }
        let separate_width: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
        let separate_width = u16::try_from(separate_width).unwrap_or(u16::MAX);
        Self { width, max_width: if width == separate_width { 0 } else { width.max(separate_width) } }
    }
}
