//! Writes escape sequences with few cursor moves, few style changes, and erasing instead of spaces.

use super::pen::Look;
use super::row::{Row, Slot};
use super::scroll::Shift;
use ratatui::buffer::Cell;
use ratatui::layout::Position;
use std::io::Write;

/// Minimum number of spaces within a row that are erased: below it, erasing and skipping them is longer.
const BLANKS: usize = 12;
/// Minimum number of spaces at the end of a row that are erased.
const TAIL: usize = 4;
/// Maximum number of unchanged cells that are written again instead of skipped.
const GAP: usize = 3;
/// Start of a synchronized update.
const BEFORE: &[u8] = b"\x1b[?2026h\x1b[?25l";

/// Bytes of one frame.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    width: u16,
    pen: Look,
    link: u32,
    /// Position of the cursor, if known. After the last cell of a row it stays there and wraps with the next character.
    at: Option<(u16, u16)>,
}

impl Writer {
    /// Starts a frame. The position of the cursor is unknown, as another program may have written.
    pub(super) fn begin(&mut self, width: u16) {
        self.bytes.clear();
        self.bytes.extend_from_slice(BEFORE);
        *self = Self { bytes: std::mem::take(&mut self.bytes), width, ..Self::default() };
    }

    /// Clears the terminal, whatever its state.
    pub(super) fn clear(&mut self, ground: Look) {
        self.bytes.extend_from_slice(b"\x1b[r\x1b[m");
        self.turn(ground);
        self.bytes.extend_from_slice(b"\x1b[2J");
    }

    /// Scrolls rows. New rows get the default background, as not all terminals fill them with the current one.
    pub(super) fn scroll(&mut self, shift: &Shift, height: u16) {
        self.turn(Look::default());
        shift.write(height, &mut self.bytes);
        self.at = None;
    }

    /// Writes the changes from one row to another.
    pub(super) fn row(
        &mut self,
        y: u16,
        (was, old): (&Row, &[Cell]),
        (is, new): (&Row, &[Cell]),
        addresses: &[String],
        fills: bool,
    ) {
        let slots = &is.slots;
        let differs = |x: &usize| !is.same(new, was, old, *x);
        let Some(last) = (0..slots.len()).rev().find(differs) else { return };
        let erases = |slot: &Slot| {
            slot.blank
                && slot.link == 0
                && slot.look.is_ground()
                && (fills || slot.look.bg == Look::default().bg)
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
                if end == slots.len() && last + 1 - x.min(last) >= TAIL {
                    self.reach(x, y, slots, new);
                    self.erasing(slot);
                    self.bytes.extend_from_slice(b"\x1b[K");
                    return;
                }
                let until = (x..end).rev().find(differs).map_or(x + 1, |last| last + 1);
                if until - x >= BLANKS {
                    self.reach(x, y, slots, new);
                    self.erasing(slot);
                    let _ = write!(self.bytes, "\x1b[{}X", until - x);
                    x = until;
                    continue;
                }
            }
            self.reach(x, y, slots, new);
            self.put(slot, new[x].symbol(), addresses);
            if slot.spread > 0 {
                anyway = x + usize::from(slot.spread);
            }
            x += usize::from(slot.width);
        }
    }

    /// Sets the style for erasing and closes the open link.
    fn erasing(&mut self, slot: &Slot) {
        self.open(0, &[]);
        if !self.pen.blanks(&slot.look) {
            self.turn(self.pen.for_blank(&slot.look));
        }
    }

    fn put(&mut self, slot: &Slot, symbol: &str, addresses: &[String]) {
        self.open(slot.link, addresses);
        match slot.blank {
            true if self.pen.blanks(&slot.look) => {}
            true => self.turn(self.pen.for_blank(&slot.look)),
            false => self.turn(slot.look),
        }
        let symbol = if slot.blank { " " } else { symbol };
        if slot.spread > 0 && !slot.blank {
            // Terminals disagree about its width: clear all its cells first; the position of the cursor is unknown
            // after it.
            let begin = self.at;
            self.bytes.extend((0..slot.width).map(|_| b' '));
            self.at = None;
            if let Some((x, y)) = begin {
                self.go(x, y);
            }
            self.bytes.extend_from_slice(symbol.as_bytes());
            self.at = None;
            return;
        }
        self.bytes.extend_from_slice(symbol.as_bytes());
        self.at = self.at.map(|(x, y)| (x + slot.width, y));
    }

    fn turn(&mut self, to: Look) {
        self.pen.turn(&to, &mut self.bytes);
        self.pen = to;
    }

    /// Opens this link, or closes the open one.
    fn open(&mut self, link: u32, addresses: &[String]) {
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
    fn reach(&mut self, x: usize, y: u16, slots: &[Slot], cells: &[Cell]) {
        let to = x as u16;
        if let Some((from, at)) = self.at
            && at == y
            && from < to
            && usize::from(to - from) <= GAP
        {
            let from = usize::from(from);
            let plain = |x: usize| {
                let slot = &slots[x];
                let fits = if slot.blank { self.pen.blanks(&slot.look) } else { self.pen == slot.look };
                fits && slot.width == 1 && slot.link == self.link && cells[x].symbol().len() == 1
            };
            if (from..x).all(plain) {
                for slot in &cells[from..x] {
                    self.bytes.extend_from_slice(slot.symbol().as_bytes());
                }
                self.at = Some((to, y));
                return;
            }
        }
        self.go(to, y);
    }

    /// Moves the cursor with the shortest sequence.
    fn go(&mut self, x: u16, y: u16) {
        let _ = match self.at {
            Some(at) if at == (x, y) => Ok(()),
            Some((from, at)) if at == y && from < x && from < self.width => self.right(x - from),
            Some((_, at)) if at == y && x == 0 => self.bytes.write_all(b"\r"),
            Some((_, at)) if at == y => write!(self.bytes, "\x1b[{}G", x + 1),
            Some((_, at)) if at + 1 == y => {
                self.bytes.extend_from_slice(b"\r\n");
                if x == 0 { Ok(()) } else { self.right(x) }
            }
            _ => match (x, y) {
                (0, 0) => write!(self.bytes, "\x1b[H"),
                (0, y) => write!(self.bytes, "\x1b[{}H", y + 1),
                (x, y) => write!(self.bytes, "\x1b[{};{}H", y + 1, x + 1),
            },
        };
        self.at = Some((x, y));
    }

    fn right(&mut self, by: u16) -> std::io::Result<()> {
        match by {
            1 => self.bytes.write_all(b"\x1b[C"),
            by => write!(self.bytes, "\x1b[{by}C"),
        }
    }

    /// Closes the link and resets the style.
    pub(super) fn rest(&mut self) {
        self.open(0, &[]);
        self.turn(Look::default());
    }

    /// Ends the frame with the cursor at its position. `was` is its previous position, `whole` means that nothing is
    /// known.
    pub(super) fn end(
        &mut self,
        (was, is, whole): (Option<Position>, Option<Position>, bool),
        few: usize,
    ) -> &[u8] {
        let drawn = self.bytes.len() > BEFORE.len();
        if !drawn && was == is && !whole {
            return &[];
        }
        let at_once = self.bytes.len() - BEFORE.len() > few;
        // If it is already hidden, the sequence is omitted.
        let hides = at_once && (was.is_some() || whole);
        if let Some(at) = is {
            self.go(at.x, at.y);
        }
        match (is.is_some(), was.is_some() && !hides) {
            (true, false) => self.bytes.extend_from_slice(b"\x1b[?25h"),
            (true, true) if whole => self.bytes.extend_from_slice(b"\x1b[?25h"),
            (false, true) => self.bytes.extend_from_slice(b"\x1b[?25l"),
            (false, false) if whole && !hides => self.bytes.extend_from_slice(b"\x1b[?25l"),
            (true, true) | (false, false) => {}
        }
        if !at_once {
            return &self.bytes[BEFORE.len()..];
        }
        self.bytes.extend_from_slice(b"\x1b[?2026l");
        if !hides {
            // The sequence to hide the cursor is the second one; the first one moves next to what follows.
            let cut = b"\x1b[?25l".len();
            self.bytes.drain(BEFORE.len() - cut..BEFORE.len());
        }
        &self.bytes
    }
}
