//! One row as a terminal has it: which cells begin a glyph, which lie under one, and what can be seen of them.

use super::pen::Look;
use ratatui::buffer::{Cell, CellWidth};
use unicode_width::UnicodeWidthChar;

/// The cells of one row. Kept from row to row, so that reading one allocates nothing.
#[derive(Default)]
pub(super) struct Row {
    pub(super) slots: Vec<Slot>,
}

/// A cell as a terminal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// The cells its glyph takes; 0 where it lies under the glyph before it.
    pub(super) width: u16,
    /// Nothing stands in it, or what stands there cannot be shown.
    pub(super) blank: bool,
    /// Of more than one character: terminals do not agree how many cells such a glyph takes, and this is the most.
    /// 0 for all others.
    pub(super) spread: u16,
    pub(super) look: Look,
    pub(super) link: u32,
}

impl Row {
    /// Reads a row. A wide glyph of which another cell or the edge leaves only half is a blank.
    pub(super) fn read(&mut self, (cells, links): (&[Cell], &[u32])) {
        self.slots.clear();
        let mut under = 0;
        for (x, cell) in cells.iter().enumerate() {
            let link = links.get(x).copied().unwrap_or_default();
            if under > 0 {
                under -= 1;
                let look = Look::default();
                self.slots.push(Slot { width: 0, blank: false, spread: 0, look, link });
                continue;
            }
            let symbol = cell.symbol();
            let width = if symbol.len() == 1 { 1 } else { symbol.cell_width() };
            let room = cells.get(x + 1..x + usize::from(width.max(1)));
            let whole = width > 0 && room.is_some_and(|room| room.iter().all(|cell| cell.symbol() == " "));
            let blank = !whole || symbol == " ";
            let width = if blank { 1 } else { width };
            under = width - 1;
            let look = Look::of(cell, blank);
            self.slots.push(Slot { width, blank, spread: spread(symbol), look, link });
        }
    }

    /// Whether a cell of another row looks the same here.
    pub(super) fn same(&self, cells: &[Cell], other: &Row, others: &[Cell], x: usize) -> bool {
        let (one, two) = (&self.slots[x], &other.slots[x]);
        one == two && (one.blank || one.width == 0 || cells[x].symbol() == others[x].symbol())
    }
}

/// The most cells a glyph of more than one character may take; 0 where all agree.
fn spread(symbol: &str) -> u16 {
    if symbol.chars().nth(1).is_none() {
        return 0;
    }
    let whole = symbol.cell_width();
    let apart: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
    let apart = u16::try_from(apart).unwrap_or(u16::MAX);
    if whole == apart { 0 } else { whole.max(apart) }
}
