//! Writes escape sequences with few cursor moves, few style changes, and erasing instead of spaces.

use super::cell_row::{CellRow, RowCell};
use super::cell_style::CellStyle;
use super::scroll::Shift;
use ratatui::buffer::Cell;
use ratatui::layout::Position;
use std::io::Write;

/// Minimum number of spaces within a row that are erased. For fewer, the sequences that erase and skip them are longer
/// than the spaces.
const MIN_ERASED: usize = 12;
/// Minimum number of spaces at the end of a row that are erased.
const MIN_ERASED_AT_END: usize = 4;
/// Maximum number of unchanged cells that are written again instead of skipped.
const MAX_REWRITTEN: usize = 3;
/// Frames with more bytes are sent as one synchronized update with the cursor hidden. Terminals process smaller
/// frames at once anyway, and the markers would double their size.
const MAX_UNSYNCHRONIZED_BYTES: usize = 120;
/// Start of a synchronized update, and the sequence that hides the cursor.
const SYNC_START: &[u8] = b"\x1b[?2026h\x1b[?25l";

/// Bytes of one frame.
#[derive(Default)]
pub(super) struct FrameWriter {
    bytes: Vec<u8>,
    width: u16,
    /// Style in which the terminal draws the next character.
    pen: CellStyle,
    /// Number of the open link; 0 if none is open.
    link: u32,
    /// Column and row of the cursor, if known. After the last cell of a row was written, the column is `width`: the
    /// terminal wraps only before the next character.
    cursor: Option<(u16, u16)>,
}

impl FrameWriter {
    /// Starts a frame. The position of the cursor is unknown, because another program may have moved it.
    pub(super) fn start_frame(&mut self, width: u16) {
        self.bytes.clear();
        self.bytes.extend_from_slice(SYNC_START);
        *self = Self { bytes: std::mem::take(&mut self.bytes), width, ..Self::default() };
    }

    /// Clears the terminal, whatever its state.
    pub(super) fn clear_screen(&mut self, background: CellStyle) {
        self.bytes.extend_from_slice(b"\x1b[r\x1b[m");
        self.set_style(background);
        self.bytes.extend_from_slice(b"\x1b[2J");
    }

    /// Scrolls rows. New rows get the default background, as not all terminals fill them with the current one.
    pub(super) fn scroll_rows(&mut self, shift: &Shift) {
        self.set_style(CellStyle::default());
        shift.write_sequences(&mut self.bytes);
        self.cursor = None;
    }

    /// Writes the changes from one row to another. `erase_uses_background` means that erased cells get the current
    /// background colour.
    pub(super) fn write_row(
        &mut self,
        y: u16,
        (old_row, old_cells): (&CellRow, &[Cell]),
        (new_row, new_cells): (&CellRow, &[Cell]),
        addresses: &[String],
        erase_uses_background: bool,
    ) {
        let slots = &new_row.slots;
        let is_changed = |x: &usize| !new_row.is_same_cell(new_cells, old_row, old_cells, *x);
        let Some(last_changed) = (0..slots.len()).rev().find(is_changed) else { return };
        let is_erasable = |slot: &RowCell| {
            slot.is_blank
                && slot.link == 0
                && slot.style.is_background_only()
                && (erase_uses_background || slot.style.bg == CellStyle::default().bg)
        };
        // Up to `rewrite_until`, unchanged cells are written too: a glyph of uncertain width may have covered them.
        let (mut x, mut rewrite_until) = (0, 0);
        while x <= last_changed || x < rewrite_until.min(slots.len()) {
            let slot = &slots[x];
            if slot.width == 0 || (x >= rewrite_until && !is_changed(&x)) {
                x += 1;
                continue;
            }
            if is_erasable(slot) {
                let run_length = slots[x..].iter().take_while(|next_slot| *next_slot == slot).count();
                let end = x + run_length;
                // Cells up to the last changed one; 1 if the last changed one is before `x`.
                let length_to_write = last_changed + 1 - x.min(last_changed);
                if end == slots.len() && length_to_write >= MIN_ERASED_AT_END {
                    self.reach_cell(x, y, slots, new_cells);
                    self.set_erase_style(slot);
                    self.bytes.extend_from_slice(b"\x1b[K");
                    return;
                }
                let erase_end = (x..end).rev().find(is_changed).map_or(x + 1, |index| index + 1);
                if erase_end - x >= MIN_ERASED {
                    self.reach_cell(x, y, slots, new_cells);
                    self.set_erase_style(slot);
                    let _ = write!(self.bytes, "\x1b[{}X", erase_end - x);
                    x = erase_end;
                    continue;
                }
            }
            self.reach_cell(x, y, slots, new_cells);
            self.write_cell(slot, new_cells[x].symbol(), addresses);
            if slot.max_width > 0 {
                rewrite_until = x + usize::from(slot.max_width);
            }
            x += usize::from(slot.width);
        }
    }

    /// Writes a strip of a picture from this cell on. The cursor may be anywhere afterwards.
    pub(super) fn write_strip(&mut self, x: u16, y: u16, strip: &[u8]) {
        self.move_cursor(x, y);
        self.bytes.extend_from_slice(strip);
        self.cursor = None;
    }

    /// Sets the style for erasing and closes the open link.
    fn set_erase_style(&mut self, slot: &RowCell) {
        self.set_link(0, &[]);
        if !self.pen.fits_space(&slot.style) {
            self.set_style(self.pen.adapted_to_space(&slot.style));
        }
    }

    fn write_cell(&mut self, slot: &RowCell, symbol: &str, addresses: &[String]) {
        self.set_link(slot.link, addresses);
        match slot.is_blank {
            true if self.pen.fits_space(&slot.style) => {}
            true => self.set_style(self.pen.adapted_to_space(&slot.style)),
            false => self.set_style(slot.style),
        }
        let symbol = if slot.is_blank { " " } else { symbol };
        if slot.max_width > 0 && !slot.is_blank {
            // Terminals disagree about the width of this glyph: clear all its cells first. After the glyph the position
            // of the cursor is unknown.
            let start_position = self.cursor;
            self.bytes.extend((0..slot.width).map(|_| b' '));
            self.cursor = None;
            if let Some((x, y)) = start_position {
                self.move_cursor(x, y);
            }
            self.bytes.extend_from_slice(symbol.as_bytes());
            self.cursor = None;
            return;
        }
        self.bytes.extend_from_slice(symbol.as_bytes());
        self.cursor = self.cursor.map(|(x, y)| (x + slot.width, y));
    }

    fn set_style(&mut self, style: CellStyle) {
        self.pen.write_change(&style, &mut self.bytes);
        self.pen = style;
    }

    /// Opens this link, or closes the open one.
    fn set_link(&mut self, link: u32, addresses: &[String]) {
        if link == self.link {
            return;
        }
        self.link = link;
        let address = usize::try_from(link).ok().and_then(|link| addresses.get(link.checked_sub(1)?));
        let _ = match address {
            Some(address) => write!(self.bytes, "\x1b]8;id={link:x};{address}\x1b\\"),
            None => write!(self.bytes, "\x1b]8;;\x1b\\"),
        };
    }

    /// Moves the cursor to a cell; a few unchanged cells are written again instead.
    fn reach_cell(&mut self, x: usize, y: u16, slots: &[RowCell], cells: &[Cell]) {
        let target_x = x as u16;
        if let Some((start, row)) = self.cursor
            && row == y
            && start < target_x
            && usize::from(target_x - start) <= MAX_REWRITTEN
        {
            let start = usize::from(start);
            let can_rewrite = |x: usize| {
                let slot = &slots[x];
                let has_current_style =
                    if slot.is_blank { self.pen.fits_space(&slot.style) } else { self.pen == slot.style };
                has_current_style && slot.width == 1 && slot.link == self.link && cells[x].symbol().len() == 1
            };
            if (start..x).all(can_rewrite) {
                for cell in &cells[start..x] {
                    self.bytes.extend_from_slice(cell.symbol().as_bytes());
                }
                self.cursor = Some((target_x, y));
                return;
            }
        }
        self.move_cursor(target_x, y);
    }

    /// Moves the cursor with the shortest sequence.
    fn move_cursor(&mut self, x: u16, y: u16) {
        let _ = match self.cursor {
            Some(position) if position == (x, y) => Ok(()),
            Some((column, row)) if row == y && column < x && column < self.width => self.move_right(x - column),
            Some((_, row)) if row == y && x == 0 => self.bytes.write_all(b"\r"),
            Some((_, row)) if row == y => write!(self.bytes, "\x1b[{}G", x + 1),
            Some((_, row)) if row + 1 == y => {
                self.bytes.extend_from_slice(b"\r\n");
                if x == 0 { Ok(()) } else { self.move_right(x) }
            }
            _ => match (x, y) {
                (0, 0) => write!(self.bytes, "\x1b[H"),
                (0, y) => write!(self.bytes, "\x1b[{}H", y + 1),
                (x, y) => write!(self.bytes, "\x1b[{};{}H", y + 1, x + 1),
            },
        };
        self.cursor = Some((x, y));
    }

    fn move_right(&mut self, columns: u16) -> std::io::Result<()> {
        match columns {
            1 => self.bytes.write_all(b"\x1b[C"),
            columns => write!(self.bytes, "\x1b[{columns}C"),
        }
    }

    /// Closes the link and resets the style.
    pub(super) fn reset_style(&mut self) {
        self.set_link(0, &[]);
        self.set_style(CellStyle::default());
    }

    /// Ends the frame and returns its bytes. A cursor of `None` is hidden. `is_full` means that the whole frame was sent:
    /// then it is unknown whether the terminal shows the cursor.
    pub(super) fn end_frame(
        &mut self,
        old_cursor: Option<Position>,
        new_cursor: Option<Position>,
        is_full: bool,
    ) -> &[u8] {
        let output_length = self.bytes.len() - SYNC_START.len();
        if output_length == 0 && old_cursor == new_cursor && !is_full {
            return &[];
        }
        let is_synchronized = output_length > MAX_UNSYNCHRONIZED_BYTES;
        // If the cursor is already hidden, the sequence that hides it is omitted.
        let hides_cursor = is_synchronized && (old_cursor.is_some() || is_full);
        if let Some(position) = new_cursor {
            self.move_cursor(position.x, position.y);
        }
        let may_be_visible = !hides_cursor && (old_cursor.is_some() || is_full);
        let may_be_hidden = hides_cursor || old_cursor.is_none() || is_full;
        match new_cursor {
            Some(_) if may_be_hidden => self.bytes.extend_from_slice(b"\x1b[?25h"),
            None if may_be_visible => self.bytes.extend_from_slice(b"\x1b[?25l"),
            Some(_) | None => {}
        }
        if !is_synchronized {
            return &self.bytes[SYNC_START.len()..];
        }
        self.bytes.extend_from_slice(b"\x1b[?2026l");
        if !hides_cursor {
            // `SYNC_START` ends with the sequence that hides the cursor: remove that sequence.
            let hide_length = b"\x1b[?25l".len();
            self.bytes.drain(SYNC_START.len() - hide_length..SYNC_START.len());
        }
        &self.bytes
    }
}
