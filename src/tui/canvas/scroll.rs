//! Finds rows that only moved, so that the terminal can scroll them.

use ratatui::buffer::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Approximate cost of a scroll in bytes. Rows are scrolled only if that saves more bytes.
const SCROLL_COST: usize = 24;

/// Hash of a row. Rows with equal hashes are most likely equal; a collision only costs bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowHash {
    hash: u64,
    /// Number of cells that are not blank: approximately the bytes for drawing the row.
    drawn_cells: usize,
}

impl RowHash {
    pub(super) fn from_cells((cells, links): (&[Cell], &[u32])) -> Self {
        let (mut hasher, mut drawn_cells) = (FastHasher(0), 0);
        for (x, cell) in cells.iter().enumerate() {
            let symbol = cell.symbol();
            drawn_cells += usize::from(symbol != " ");
            hasher.write(symbol.as_bytes());
            (cell.fg, cell.bg, cell.modifier.bits(), links.get(x)).hash(&mut hasher);
        }
        Self { hash: hasher.finish(), drawn_cells }
    }
}

/// A scroll of neighbouring rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shift {
    /// First row that scrolls, from 0.
    top: usize,
    /// One past the last row that scrolls.
    bottom: usize,
    /// Number of rows by which they move.
    distance: usize,
    is_up: bool,
}

impl Shift {
    /// Returns the rows that scroll, including those whose contents are scrolled away.
    pub(super) fn scrolled_rows(&self) -> Range<usize> {
        self.top..self.bottom
    }

    /// Returns the rows that are empty afterwards.
    pub(super) fn emptied_rows(&self) -> Range<usize> {
        match self.is_up {
            true => self.bottom - self.distance..self.bottom,
            false => self.top..self.top + self.distance,
        }
    }

    /// Moves the elements of the rows that scroll, `row_width` per row. What leaves at one end enters at the other.
    pub(super) fn rotate_rows<T>(&self, cells: &mut [T], row_width: usize) {
        match self.is_up {
            true => cells.rotate_left(self.distance * row_width),
            false => cells.rotate_right(self.distance * row_width),
        }
    }

    /// Appends the escape sequences; the cursor may be anywhere afterwards. The sequences delete and insert lines,
    /// which every terminal supports, including the Linux console.
    pub(super) fn write_sequences(&self, bytes: &mut Vec<u8>) {
        use std::io::Write;
        let _ = write!(bytes, "\x1b[{};{}r", self.top + 1, self.bottom);
        let _ = match self.top {
            0 => write!(bytes, "\x1b[H"),
            top => write!(bytes, "\x1b[{}H", top + 1),
        };
        let command = if self.is_up { 'M' } else { 'L' };
        let _ = match self.distance {
            1 => write!(bytes, "\x1b[{command}"),
            distance => write!(bytes, "\x1b[{distance}{command}"),
        };
        bytes.extend_from_slice(b"\x1b[r");
    }
}

/// Returns the shift that saves most bytes, if any saves enough. `changed` holds for each row whether its old and new
/// cells differ.
pub(super) fn find_shift(old_rows: &[RowHash], new_rows: &[RowHash], changed: &[bool]) -> Option<Shift> {
    let height = new_rows.len();
    let mut best: Option<(usize, Shift)> = None;
    for distance in 1..height {
        for is_up in [true, false] {
            let (moving_rows, new_offset) =
                if is_up { (&old_rows[distance..], 0) } else { (&old_rows[..height - distance], distance) };
            let mut row = 0;
            while row < height - distance {
                if moving_rows[row].hash != new_rows[new_offset + row].hash {
                    row += 1;
                    continue;
                }
                let first_row = row;
                while row < height - distance && moving_rows[row].hash == new_rows[new_offset + row].hash {
                    row += 1;
                }
                let shift = Shift { top: first_row, bottom: row + distance, distance, is_up };
                let target_rows = new_offset + first_row..new_offset + row;
                let saved_bytes: usize = target_rows.filter(|y| changed[*y]).map(|y| new_rows[y].drawn_cells).sum();
                // A row that would have stayed unchanged has to be drawn again.
                let redrawn_bytes: usize =
                    shift.emptied_rows().filter(|y| !changed[*y]).map(|y| new_rows[y].drawn_cells).sum();
                let gain = saved_bytes.saturating_sub(redrawn_bytes);
                if gain > SCROLL_COST && best.as_ref().is_none_or(|(best_gain, _)| gain > *best_gain) {
                    best = Some((gain, shift));
                }
            }
        }
    }
    best.map(|(_, shift)| shift)
}

/// A fast hash, sufficient for rows of text.
struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.write_u64(rest.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        }
    }

    // The numbers of a cell are hashed without making bytes of them.
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
