//! Computes the bytes that turn the frame on the terminal into the next one.

mod cell_row;
mod cell_style;
mod frame_writer;
mod scroll;
mod strips;
#[cfg(test)]
mod tests;

use crate::text::width::text_width;
use crate::tui::view::LinkedCells;
use crate::tui::view::pictures::PlacedStrip;
use cell_row::CellRow;
use cell_style::CellStyle;
use frame_writer::FrameWriter;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;
use std::ops::Range;
use strips::StripWriter;

/// Number of link addresses remembered before numbering starts again.
const MAX_ADDRESSES: usize = 4096;
/// Minimum number of changed rows for which moved rows are searched.
const MIN_MOVED_ROWS: usize = 3;

/// Contents of the terminal.
#[derive(Default)]
pub struct Canvas {
    shown: Buffer,
    /// Link number of each cell; 0 without a link.
    links: Vec<u32>,
    /// Hash of each row, to find rows that moved. Empty if no rows could move in the last frame.
    row_hashes: Vec<scroll::RowHash>,
    strips: StripWriter,
    cursor: Option<Position>,
    /// True if the contents of the terminal are unknown.
    is_unknown: bool,
    /// True if erasing uses the current background colour instead of the default one.
    erase_uses_background: bool,
    /// Number of each link address.
    addresses: HashMap<String, u32>,
    /// Link addresses in the order of their numbers, which start at 1.
    addresses_by_number: Vec<String>,
    /// Reused buffers, so that a frame needs no allocation.
    spare: FrameBuffers,
}

/// Working buffers of a frame.
#[derive(Default)]
struct FrameBuffers {
    buffer: Buffer,
    links: Vec<u32>,
    row_hashes: Vec<scroll::RowHash>,
    changed: Vec<bool>,
    old_row: CellRow,
    new_row: CellRow,
    writer: FrameWriter,
}

impl Canvas {
    /// Creates a canvas with unknown contents. `erase_uses_background` means that erasing uses the current background
    /// colour, as in nearly all terminals.
    pub fn new(erase_uses_background: bool) -> Self {
        Self { erase_uses_background, is_unknown: true, ..Self::default() }
    }

    /// Returns an empty buffer of this size to draw into.
    pub fn empty_buffer(&mut self, width: u16, height: u16) -> Buffer {
        let mut buffer = std::mem::take(&mut self.spare.buffer);
        buffer.resize(Rect::new(0, 0, width, height));
        buffer.reset();
        buffer
    }

    /// Marks the contents of the terminal as unknown, so that the next frame is sent whole.
    pub fn invalidate(&mut self) {
        self.is_unknown = true;
    }

    /// Returns the bytes that make the terminal show this buffer: only changes, and none if nothing changed. Rows that
    /// only moved are moved by the terminal. After each frame the style is reset and no link is open, so that other
    /// programs find the terminal in its normal state.
    pub fn encode_frame(&mut self, next: Buffer, linked: &[LinkedCells], cursor: Option<Position>) -> &[u8] {
        self.encode_frame_with_strips(next, linked, &[], cursor)
    }

    /// As `encode_frame`, of a frame with strips of pictures. They follow the cells: those that are not covered, and that the
    /// terminal does not show yet. Rows are not moved by the terminal while it shows strips.
    pub fn encode_frame_with_strips(
        &mut self,
        next: Buffer,
        linked: &[LinkedCells],
        strips: &[PlacedStrip],
        cursor: Option<Position>,
    ) -> &[u8] {
        let area = next.area;
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let is_full = self.is_unknown || self.shown.area != area;
        let mut spare = std::mem::take(&mut self.spare);
        spare.writer.start_frame(area.width);
        if is_full {
            self.start_full_frame(&next, &mut spare.writer);
        }
        let can_scroll = self.strips.start_frame(strips, &next, is_full) && !is_full;
        self.number_links(linked, area, &mut spare.links);
        spare.changed.clear();
        let is_changed = |y| row_cells(&self.shown, &self.links, y) != row_cells(&next, &spare.links, y);
        spare.changed.extend((0..height).map(is_changed));
        let may_have_moved = spare.changed.iter().filter(|changed| **changed).count() >= MIN_MOVED_ROWS;
        spare.row_hashes.clear();
        if can_scroll {
            self.hash_shown_rows(height);
            spare.row_hashes.extend_from_slice(&self.row_hashes);
            for y in (0..height).filter(|y| spare.changed[*y]) {
                spare.row_hashes[y] = scroll::RowHash::from_cells(row_cells(&next, &spare.links, y));
            }
        }
        if may_have_moved
            && can_scroll
            && let Some(shift) = scroll::find_shift(&self.row_hashes, &spare.row_hashes, &spare.changed)
        {
            spare.writer.scroll_rows(&shift);
            self.apply_shift(&shift, width);
            for y in shift.scrolled_rows() {
                spare.changed[y] = row_cells(&self.shown, &self.links, y) != row_cells(&next, &spare.links, y);
            }
        }
        for y in (0..height).filter(|y| spare.changed[*y]) {
            let (old_cells, old_links) = row_cells(&self.shown, &self.links, y);
            let (new_cells, new_links) = row_cells(&next, &spare.links, y);
            spare.old_row.read_cells((old_cells, old_links));
            spare.new_row.read_cells((new_cells, new_links));
            let (old_row, new_row) = ((&spare.old_row, old_cells), (&spare.new_row, new_cells));
            spare.writer.write_row(y as u16, old_row, new_row, &self.addresses_by_number, self.erase_uses_background);
            self.strips.note_written_row(y as u16, old_row, new_row);
        }
        spare.writer.reset_style();
        self.strips.write_needed(&mut spare.writer);
        let old_cursor = self.cursor;
        (self.is_unknown, self.cursor) = (false, cursor);
        spare.buffer = std::mem::replace(&mut self.shown, next);
        std::mem::swap(&mut self.links, &mut spare.links);
        std::mem::swap(&mut self.row_hashes, &mut spare.row_hashes);
        self.spare = spare;
        self.spare.writer.end_frame(old_cursor, cursor, is_full)
    }

    /// Clears the terminal, with the frame's background colour if erasing uses it.
    fn start_full_frame(&mut self, next: &Buffer, writer: &mut FrameWriter) {
        let background =
            next.content.first().map(|cell| cell.bg).filter(|_| self.erase_uses_background).unwrap_or_default();
        writer.clear_screen(CellStyle { bg: background, ..CellStyle::default() });
        let mut blank = Cell::EMPTY;
        blank.bg = background;
        self.shown = Buffer::filled(next.area, blank);
        self.links.clear();
        self.links.resize(next.content.len(), 0);
        self.row_hashes.clear();
    }

    /// Hashes the rows of the terminal, if this was not needed for the last frame.
    fn hash_shown_rows(&mut self, height: usize) {
        if self.row_hashes.is_empty() {
            let hash_row = |y| scroll::RowHash::from_cells(row_cells(&self.shown, &self.links, y));
            self.row_hashes.extend((0..height).map(hash_row));
        }
    }

    /// Numbers the links of the cells. An address keeps its number until numbering starts again.
    fn number_links(&mut self, linked: &[LinkedCells], area: Rect, links: &mut Vec<u32>) {
        links.clear();
        links.resize(usize::from(area.width) * usize::from(area.height), 0);
        if self.addresses_by_number.len() + linked.len() > MAX_ADDRESSES {
            self.addresses.clear();
            self.addresses_by_number.clear();
            // The numbers of the links on the terminal are invalid now: use one that equals no new number.
            self.links.iter_mut().filter(|link| **link > 0).for_each(|link| *link = u32::MAX);
        }
        for LinkedCells { area: link_area, address } in linked {
            let number = match self.addresses.get(address) {
                Some(number) => *number,
                None => {
                    self.addresses_by_number.push(address.clone());
                    let number = self.addresses_by_number.len() as u32;
                    self.addresses.insert(address.clone(), number);
                    number
                }
            };
            let visible_area = link_area.intersection(area);
            for y in visible_area.top()..visible_area.bottom() {
                let row = usize::from(y) * usize::from(area.width);
                links[row + usize::from(visible_area.left())..row + usize::from(visible_area.right())].fill(number);
            }
        }
    }

    /// Applies a scroll of the terminal to the known contents.
    fn apply_shift(&mut self, shift: &scroll::Shift, width: usize) {
        let cell_range = |rows: Range<usize>| rows.start * width..rows.end * width;
        shift.rotate_rows(&mut self.shown.content[cell_range(shift.scrolled_rows())], width);
        shift.rotate_rows(&mut self.links[cell_range(shift.scrolled_rows())], width);
        let emptied_cells = cell_range(shift.emptied_rows());
        self.shown.content[emptied_cells.clone()].fill(Cell::EMPTY);
        self.links[emptied_cells].fill(0);
    }
}

/// Returns the cells of row `y` and their link numbers.
fn row_cells<'a>(buffer: &'a Buffer, links: &'a [u32], y: usize) -> (&'a [Cell], &'a [u32]) {
    let width = usize::from(buffer.area.width);
    let cells = y * width..(y + 1) * width;
    (&buffer.content[cells.clone()], &links[cells])
}

/// Returns a rendered buffer as text; the second cell of a wide character is skipped.
pub fn buffer_text(buffer: &Buffer) -> String {
    let mut lines = Vec::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width.max(1))) {
        let (mut line, mut skip) = (String::new(), 0);
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            skip = text_width(cell.symbol()).saturating_sub(1);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}
