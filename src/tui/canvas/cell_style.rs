//! Text style of the terminal, and the shortest escape sequence that changes it.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use std::io::Write;

/// Modifiers that are visible on a space.
const VISIBLE_ON_SPACE: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);
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
pub(super) struct CellStyle {
    pub(super) fg: Color,
    pub(super) bg: Color,
    pub(super) modifier: Modifier,
}

impl CellStyle {
    /// Returns the style of a cell. For a space without a modifier that is visible on it, only the background is kept.
    pub(super) fn from_cell(cell: &Cell, is_blank: bool) -> Self {
        let Cell { fg, bg, modifier, .. } = *cell;
        if is_blank && !modifier.intersects(VISIBLE_ON_SPACE) {
            return Self { bg, ..Self::default() };
        }
        Self { fg, bg, modifier }
    }

    /// Returns whether the style sets only a background, so that erasing can produce it.
    pub(super) fn is_background_only(&self) -> bool {
        *self == Self { bg: self.bg, ..Self::default() }
    }

    /// Returns whether a space looks the same in this style as in `space_style`.
    pub(super) fn fits_space(&self, space_style: &CellStyle) -> bool {
        *self == *space_style
            || (space_style.is_background_only()
                && self.bg == space_style.bg
                && !self.modifier.intersects(VISIBLE_ON_SPACE))
    }

    /// Returns this style with the fewest changes that make a space look the same as in `space_style`.
    pub(super) fn adapted_to_space(&self, space_style: &CellStyle) -> CellStyle {
        match space_style.is_background_only() {
            true => CellStyle { bg: space_style.bg, modifier: self.modifier.difference(VISIBLE_ON_SPACE), ..*self },
            false => *space_style,
        }
    }

    /// Appends the shortest sequence that changes this style into `target`.
    pub(super) fn write_change(&self, target: &CellStyle, bytes: &mut Vec<u8>) {
        if self == target {
            return;
        }
        let start = bytes.len();
        let mut sequence = SgrSequence::start_sequence(bytes);
        self.write_parts(target, &mut sequence);
        sequence.end_sequence();
        let parts_length = bytes.len() - start;
        let mut reset_sequence = SgrSequence::start_sequence(bytes);
        reset_sequence.push_parameter(None);
        CellStyle::default().write_parts(target, &mut reset_sequence);
        reset_sequence.end_sequence();
        // Keep the shorter of the two sequences.
        let reset_length = bytes.len() - start - parts_length;
        if reset_length < parts_length {
            bytes.drain(start..start + parts_length);
        } else {
            bytes.truncate(start + parts_length);
        }
    }

    /// Appends the parameters for each part of the style that differs from `target`.
    fn write_parts(&self, target: &CellStyle, sequence: &mut SgrSequence<'_>) {
        let removed = self.modifier.difference(target.modifier);
        let mut added = target.modifier.difference(self.modifier);
        let mut last_code = 0;
        for (modifier, _, off_code) in MODIFIERS {
            if removed.contains(modifier) && off_code != last_code {
                sequence.push_parameter(Some(off_code));
                last_code = off_code;
            }
        }
        // These modifiers share a code to unset them, so unsetting one requires setting the other again.
        for (first, second) in [(Modifier::BOLD, Modifier::DIM), (Modifier::SLOW_BLINK, Modifier::RAPID_BLINK)] {
            if removed.intersects(first | second) {
                added |= target.modifier.intersection(first | second);
            }
        }
        for (modifier, on_code, _) in MODIFIERS {
            if added.contains(modifier) {
                sequence.push_parameter(Some(on_code));
            }
        }
        for (old, new, base) in [(self.fg, target.fg, 38), (self.bg, target.bg, 48)] {
            if old != new {
                sequence.push_colour(new, base);
            }
        }
    }
}

/// An SGR sequence being written.
struct SgrSequence<'a> {
    bytes: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> SgrSequence<'a> {
    fn start_sequence(bytes: &'a mut Vec<u8>) -> Self {
        bytes.extend_from_slice(b"\x1b[");
        Self { bytes, is_first: true }
    }

    /// Appends one parameter; the empty parameter is 0, which resets the style.
    fn push_parameter(&mut self, number: Option<u8>) {
        if !self.is_first {
            self.bytes.push(b';');
        }
        self.is_first = false;
        if let Some(number) = number {
            let _ = write!(self.bytes, "{number}");
        }
    }

    /// Appends a colour. `base` is 38 for the text and 48 for the background; `base + 1` resets it.
    fn push_colour(&mut self, colour: Color, base: u8) {
        let index = match colour {
            Color::Reset => return self.push_parameter(Some(base + 1)),
            Color::Rgb(red, green, blue) => {
                for number in [base, 2, red, green, blue] {
                    self.push_parameter(Some(number));
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
            self.push_parameter(Some(number));
        }
    }

    fn end_sequence(self) {
        self.bytes.push(b'm');
    }
}
