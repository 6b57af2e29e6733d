//! Writes escape sequences with few cursor moves, few style changes, and erasing instead of spaces.

use super::cell_row::{CellRow, RowCell};
use super::cell_style::CellStyle;
use super::scroll::Shift;
use ratatui::buffer::Cell;
use ratatui::layout::Position;
use std::io::Write;

/// Minimum number of spaces within a row that are erased: below it, erasing and skipping them is longer.
const MIN_ERASED: usize = 12;
/// Minimum number of spaces at the end of a row that are erased.
const MIN_ERASED_AT_END: usize = 4;
/// Maximum number of unchanged cells that are written again instead of skipped.
const MAX_REWRITTEN: usize = 3;
/// Start of a synchronized update.
const SYNC_START: &[u8] = b"\x1b[?2026h\x1b[?25l";

/// Bytes of one frame.
#[derive(Default)]
pub(super) struct FrameWriter {
    bytes: Vec<u8>,
    width: u16,
    pen: CellStyle,
    link: u32,
    /// Position of the cursor, if known. After the last cell of a row it stays there and wraps with the next character.
    cursor: Option<(u16, u16)>,
}

impl FrameWriter {
    /// Starts a frame. The position of the cursor is unknown, as another program may have written.
    pub(super) fn start_frame(&mut self, width: u16) {
        self.bytes.clear();
        self.bytes.extend_from_slice(SYNC_START);
        *self = Self { bytes: std::mem::take(&mut self.bytes), width, ..Self::default() };
    }

    /// Clears the terminal, whatever its state.
    pub(super) fn clear_screen(&mut self, ground: CellStyle) {
        self.bytes.extend_from_slice(b"\x1b[r\x1b[m");
        self.set_style(ground);
        self.bytes.extend_from_slice(b"\x1b[2J");
    }

    /// Scrolls rows. New rows get the default background, as not all terminals fill them with the current one.
    pub(super) fn scroll_rows(&mut self, shift: &Shift, height: u16) {
        self.set_style(CellStyle::default());
        shift.write_sequences(height, &mut self.bytes);
        self.cursor = None;
    }

    /// Writes the changes from one row to another.
    pub(super) fn write_row(
        &mut self,
        y: u16,
        (was, old): (&CellRow, &[Cell]),
        (is, new): (&CellRow, &[Cell]),
        addresses: &[String],
        fills: bool,
    ) {
        let slots = &is.slots;
        let differs = |x: &usize| !is.is_same_cell(new, was, old, *x);
        let Some(last) = (0..slots.len()).rev().find(differs) else { return };
        let erases = |slot: &RowCell| {
            slot.is_blank
                && slot.link == 0
                && slot.style.is_background_only()
                && (fills || slot.style.bg == CellStyle::default().bg)
        };
        let (mut x, mut anyway) = (0, 0);
        while x <= last || x < anyway.min(slots.len()) {
            let slot = &slots[x];
            if slot.width == 0 || (x >= anyway && !differs(&x)) {
                x += 1;
                continue;
            }
            if erases(slot) {
                let alike = slots[x..].iter().take_while(|other| *other == slot).count();
                let end = x + alike;
                if end == slots.len() && last + 1 - x.min(last) >= MIN_ERASED_AT_END {
                    self.reach_cell(x, y, slots, new);
                    self.set_erase_style(slot);
                    self.bytes.extend_from_slice(b"\x1b[K");
                    return;
                }
                let until = (x..end).rev().find(differs).map_or(x + 1, |last| last + 1);
                if until - x >= MIN_ERASED {
                    self.reach_cell(x, y, slots, new);
                    self.set_erase_style(slot);
                    let _ = write!(self.bytes, "\x1b[{}X", until - x);
                    x = until;
                    continue;
                }
            }
            self.reach_cell(x, y, slots, new);
            self.write_cell(slot, new[x].symbol(), addresses);
            if slot.max_width > 0 {
                anyway = x + usize::from(slot.max_width);
            }
            x += usize::from(slot.width);
        }
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
            // Terminals disagree about its width: clear all its cells first; the position of the cursor is unknown
            // after it.
            let begin = self.cursor;
            self.bytes.extend((0..slot.width).map(|_| b' '));
            self.cursor = None;
            if let Some((x, y)) = begin {
                self.move_cursor(x, y);
            }
            self.bytes.extend_from_slice(symbol.as_bytes());
            self.cursor = None;
            return;
        }
        self.bytes.extend_from_slice(symbol.as_bytes());
        self.cursor = self.cursor.map(|(x, y)| (x + slot.width, y));
    }

    fn set_style(&mut self, to: CellStyle) {
        self.pen.write_change(&to, &mut self.bytes);
        self.pen = to;
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
        let to = x as u16;
        if let Some((from, at)) = self.cursor
            && at == y
            && from < to
            && usize::from(to - from) <= MAX_REWRITTEN
        {
            let from = usize::from(from);
            let plain = |x: usize| {
                let slot = &slots[x];
                let fits = if slot.is_blank { self.pen.fits_space(&slot.style) } else { self.pen == slot.style };
                fits && slot.width == 1 && slot.link == self.link && cells[x].symbol().len() == 1
            };
            if (from..x).all(plain) {
                for slot in &cells[from..x] {
                    self.bytes.extend_from_slice(slot.symbol().as_bytes());
                }
                self.cursor = Some((to, y));
                return;
            }
        }
        self.move_cursor(to, y);
    }

    /// Moves the cursor with the shortest sequence.
    fn move_cursor(&mut self, x: u16, y: u16) {
        let _ = match self.cursor {
            Some(at) if at == (x, y) => Ok(()),
            Some((from, at)) if at == y && from < x && from < self.width => self.move_right(x - from),
            Some((_, at)) if at == y && x == 0 => self.bytes.write_all(b"\r"),
            Some((_, at)) if at == y => write!(self.bytes, "\x1b[{}G", x + 1),
            Some((_, at)) if at + 1 == y => {
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

    fn move_right(&mut self, by: u16) -> std::io::Result<()> {
        match by {
            1 => self.bytes.write_all(b"\x1b[C"),
            by => write!(self.bytes, "\x1b[{by}C"),
        }
    }

    /// Closes the link and resets the style.
    pub(super) fn reset_style(&mut self) {
        self.set_link(0, &[]);
        self.set_style(CellStyle::default());
    }

    /// Ends the frame with the cursor at its position. `was` is its previous position, `whole` means that nothing is
    /// known.
    pub(super) fn end_frame(
        &mut self,
        (was, is, whole): (Option<Position>, Option<Position>, bool),
        few: usize,
    ) -> &[u8] {
        let drawn = self.bytes.len() > SYNC_START.len();
        if !drawn && was == is && !whole {
            return &[];
        }
        let at_once = self.bytes.len() - SYNC_START.len() > few;
        // If it is already hidden, the sequence is omitted.
        let hides = at_once && (was.is_some() || whole);
        if let Some(at) = is {
            self.move_cursor(at.x, at.y);
        }
        match (is.is_some(), was.is_some() && !hides) {
            (true, false) => self.bytes.extend_from_slice(b"\x1b[?25h"),
            (true, true) if whole => self.bytes.extend_from_slice(b"\x1b[?25h"),
            (false, true) => self.bytes.extend_from_slice(b"\x1b[?25l"),
            (false, false) if whole && !hides => self.bytes.extend_from_slice(b"\x1b[?25l"),
            (true, true) | (false, false) => {}
        }
        if !at_once {
            return &self.bytes[SYNC_START.len()..];
        }
        self.bytes.extend_from_slice(b"\x1b[?2026l");
        if !hides {
            // The sequence to hide the cursor is the second one; the first one moves next to what follows.
            let cut = b"\x1b[?25l".len();
            self.bytes.drain(SYNC_START.len() - cut..SYNC_START.len());
        }
        &self.bytes
    }
}
