//! Text style of the terminal, and the shortest escape sequence that changes it.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use std::io::Write;

/// Modifiers that are visible on a space.
const ON_BLANKS: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);
/// Modifiers with the SGR codes that set and unset them.
const MODIFIERS: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Visible style of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Look {
    pub(super) fg: Color,
    pub(super) bg: Color,
    pub(super) line: Color,
    pub(super) modifier: Modifier,
}

impl Look {
    /// Returns the style of a cell; for a space only what is visible on one.
    pub(super) fn of(cell: &Cell, blank: bool) -> Self {
        let Cell { fg, bg, underline_color: line, modifier, .. } = *cell;
        if blank && !modifier.intersects(ON_BLANKS) {
            return Self { bg, ..Self::default() };
        }
        let line = if modifier.contains(Modifier::UNDERLINED) { line } else { Color::Reset };
        Self { fg, bg, line, modifier }
    }

    /// Returns whether erasing can produce it: only a background.
    pub(super) fn is_ground(&self) -> bool {
        *self == Self { bg: self.bg, ..Self::default() }
    }

    /// Returns whether a space of the style `blank` looks right with this style.
    pub(super) fn blanks(&self, blank: &Look) -> bool {
        *self == *blank || (blank.is_ground() && self.bg == blank.bg && !self.modifier.intersects(ON_BLANKS))
    }

    /// Returns this style with the fewest changes that make it right for a space of the style `blank`.
    pub(super) fn for_blank(&self, blank: &Look) -> Look {
        match blank.is_ground() {
            true => Look {
                bg: blank.bg,
                line: Color::Reset,
                modifier: self.modifier.difference(ON_BLANKS),
                ..*self
            },
            false => *blank,
        }
    }

    /// Appends the shortest sequence that changes this style into `to`.
    pub(super) fn turn(&self, to: &Look, bytes: &mut Vec<u8>) {
        if self == to {
            return;
        }
        let start = bytes.len();
        self.turn_by_parts(to, bytes);
        let by_parts = bytes.len() - start;
        let mut anew = Order::begin(bytes);
        anew.number(None);
        Look::default().parts(to, &mut anew);
        anew.end();
        // Keep the shorter of the two.
        let from_reset = bytes.len() - start - by_parts;
        if from_reset < by_parts {
            bytes.drain(start..start + by_parts);
        } else {
            bytes.truncate(start + by_parts);
        }
    }

    fn turn_by_parts(&self, to: &Look, bytes: &mut Vec<u8>) {
        let mut order = Order::begin(bytes);
        self.parts(to, &mut order);
        order.end();
    }

    fn parts(&self, to: &Look, order: &mut Order<'_>) {
        let gone = self.modifier.difference(to.modifier);
        let mut come = to.modifier.difference(self.modifier);
        let mut last = 0;
        for (modifier, _, off) in MODIFIERS {
            if gone.contains(modifier) && off != last {
                order.number(Some(off));
                last = off;
            }
        }
        // These modifiers share a code to unset them, so the other one has to be set again.
        for (one, other) in [(Modifier::BOLD, Modifier::DIM), (Modifier::SLOW_BLINK, Modifier::RAPID_BLINK)] {
            if gone.intersects(one | other) {
                come |= to.modifier.intersection(one | other);
            }
        }
        for (modifier, on, _) in MODIFIERS {
            if come.contains(modifier) {
                order.number(Some(on));
            }
        }
        for (was, is, base) in [(self.fg, to.fg, 38), (self.bg, to.bg, 48), (self.line, to.line, 58)] {
            if was != is {
                order.colour(is, base);
            }
        }
    }
}

/// An SGR sequence being written.
struct Order<'a> {
    bytes: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Order<'a> {
    fn begin(bytes: &'a mut Vec<u8>) -> Self {
        bytes.extend_from_slice(b"\x1b[");
        Self { bytes, first: true }
    }

    /// Appends one parameter; the empty parameter is 0, which resets the style.
    fn number(&mut self, number: Option<u8>) {
        if !self.first {
            self.bytes.push(b';');
        }
        self.first = false;
        if let Some(number) = number {
            let _ = write!(self.bytes, "{number}");
        }
    }

    fn colour(&mut self, colour: Color, base: u8) {
        let index = match colour {
            Color::Reset => return self.number(Some(base + 1)),
            Color::Rgb(red, green, blue) => {
                for number in [base, 2, red, green, blue] {
                    self.number(Some(number));
                }
                return;
            }
            Color::Indexed(index) => index,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
        };
        for number in [base, 5, index] {
            self.number(Some(number));
        }
    }

    fn end(self) {
        self.bytes.push(b'm');
    }
}
