//! What a command wrote for a terminal, as one would show it in the end: colours kept, every other order obeyed or left
//! out, none passed on.

use super::wrap::{Shape, wrap};
use super::{Piece, clean};
use crate::chat::escape;
use crate::chat::link::{self, Target};
use crate::tui::theme::Theme;
use crate::tui::theme::ink::{Ink, Tint};
use ratatui::style::Style;
use ratatui::text::Line;
use std::num::NonZeroU16;
use std::sync::Arc;
use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents};
use vt100::{Callbacks, Parser};

/// The terminal that is thought for it: as high as any screen whose cursor goes back up, and so wide that no line of a
/// progress wraps. What leaves it at the top stands.
const ROWS: NonZeroU16 = NonZeroU16::new(60).expect("it is not 0");
const COLUMNS: NonZeroU16 = NonZeroU16::new(500).expect("it is not 0");
/// What is kept of what it shows, in bytes: orders of a few bytes may fill whole lines.
const MOST: usize = 512 * 1024;
/// What changes letters, and the place of the next ones. Nothing else reaches the terminal.
const OBEYED: &[u8] = b"@ABCDEFGHJKLMPXdfm";

/// Output and its looks: each up to its byte, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// Clean text.
    pub text: String,
    /// Where each look ends, and the look.
    pub looks: Vec<(usize, Style)>,
}

impl Shown {
    /// Leaves out what stands behind a byte.
    pub fn cut(&mut self, end: usize) {
        self.text.truncate(end);
        let whole = self.looks.partition_point(|(to, _)| *to < end);
        self.looks.truncate(whole + 1);
        if let Some((to, _)) = self.looks.last_mut() {
            *to = end.min(*to);
        }
    }

    /// The last lines, so many at most, each in its looks.
    pub fn last(&self, count: usize) -> Vec<Vec<(&str, Style)>> {
        let mut lines = vec![Vec::new()];
        let mut at = 0;
        for (end, look) in &self.looks {
            for (nth, part) in self.text[at..*end].split('\n').enumerate() {
                if nth > 0 {
                    lines.push(Vec::new());
                }
                if let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) {
                    line.push((part, *look));
                }
            }
            at = *end;
        }
        if lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        lines.split_off(lines.len().saturating_sub(count))
    }
}

/// Output as a terminal shows it. `base` is the look of letters that the command gave none.
pub fn shown(text: &str, base: Style, theme: &Theme) -> Shown {
    if !orders(text) {
        return unchanged(text, base);
    }
    let mut terminal = Parser::new_with_callbacks(ROWS, COLUMNS, 0, Kept::default());
    terminal.process(obeyed(text).as_bytes());
    let mut kept = std::mem::take(terminal.callbacks_mut());
    let rows = BasicFormattedCaptureRange::Full(&mut kept.state);
    // Infallible: it writes into a string.
    let _ = terminal.screen().write_contents_formatted_basic(&mut kept.rows, rows);
    read(kept.rows.trim_end_matches('\n'), base, theme)
}

/// A text that was not written for a terminal, cleaned.
pub fn unchanged(text: &str, look: Style) -> Shown {
    let text = clean::clean(text).into_owned();
    Shown { looks: vec![(text.len(), look)], text }
}

/// Output as a terminal shows it, in lines of this width.
pub fn lines(text: &str, base: Style, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let pieces = pieces(&shown(text, base, theme), base, &|_| false);
    wrap(&pieces, &Shape { verbatim: true, ..Shape::of_width(width) }).lines
}

/// Output as pieces, its links among them.
pub fn pieces(shown: &Shown, link: Style, exists: &dyn Fn(&Target) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut links = link::find(&shown.text, exists).into_iter().peekable();
    let mut target = None;
    let mut at = 0;
    for (end, look) in &shown.looks {
        while at < *end {
            if links.peek().is_some_and(|link| link.range.end <= at) {
                links.next();
                target = None;
            }
            let (to, inside) = match links.peek() {
                Some(link) if link.range.start > at => ((*end).min(link.range.start), false),
                Some(link) => ((*end).min(link.range.end), true),
                None => (*end, false),
            };
            let mut piece = Piece::new(&shown.text[at..to], *look);
            if inside && let Some(found) = links.peek() {
                let target = target.get_or_insert_with(|| Arc::new(found.target.clone()));
                piece = Piece { style: look.patch(link), link: Some(target.clone()), ..piece };
            }
            pieces.push(piece);
            at = to;
        }
    }
    pieces
}

/// Whether anything in it is for a terminal; line ends are not.
fn orders(text: &str) -> bool {
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            0x08 | 0x1b => return true,
            b'\r' if bytes.peek() != Some(&b'\n') => return true,
            // Of the control characters of two bytes, the one that begins a sequence.
            0xc2 if bytes.peek() == Some(&0x9b) => return true,
            _ => {}
        }
    }
    false
}

/// What is obeyed of it. A sequence that is not finished takes at most its line with it, as everywhere.
fn obeyed(text: &str) -> String {
    let mut obeyed = String::with_capacity(text.len() + text.len() / 8);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let sequence = escape::length(&text[at..]);
        if sequence > 0 {
            let order = text[at..at + sequence].strip_prefix("\x1b[").map(str::as_bytes);
            if let Some([numbers @ .., last]) = order
                && OBEYED.contains(last)
                && numbers.iter().all(|byte| matches!(byte, b'0'..=b';'))
            {
                obeyed.push_str(&text[at..at + sequence]);
            }
            at += sequence;
            continue;
        }
        at += c.len_utf8();
        match c {
            '\n' | '\x0b' | '\x0c' | '\u{85}' => obeyed.push_str("\r\n"),
            '\r' | '\t' | '\x08' => obeyed.push(c),
            c if c.is_control() => {}
            c => obeyed.push(c),
        }
    }
    obeyed
}

/// The rows that left the terminal at the top.
#[derive(Default)]
struct Kept {
    rows: String,
    state: BasicFormattedCaptureState,
}

impl Callbacks for Kept {
    fn on_scroll(&mut self, row: RowContents<'_>, _: bool) {
        if self.rows.len() < MOST {
            let _ = row.write_formatted_basic(&mut self.rows, &mut self.state);
        } else if !self.rows.ends_with('…') {
            self.rows.push_str("\n…");
        }
    }
}

/// Reads rows in which nothing but colours is left.
fn read(rows: &str, base: Style, theme: &Theme) -> Shown {
    let mut shown = Shown::default();
    let mut ink = Ink::default();
    let mut rest = rows;
    loop {
        let (letters, after) = rest.split_once('\x1b').unwrap_or((rest, ""));
        if !letters.is_empty() {
            shown.text.push_str(&clean::clean(letters));
            let look = theme.ink(base, &ink);
            let end = shown.text.len();
            match shown.looks.last_mut() {
                Some((last, same)) if *same == look => *last = end,
                _ => shown.looks.push((end, look)),
            }
        }
        let Some((numbers, after)) = after.split_once('m') else { return shown };
        turn(&mut ink, numbers.trim_start_matches('['));
        rest = after;
    }
}

/// What an order for colours changes.
fn turn(ink: &mut Ink, numbers: &str) {
    let mut numbers = numbers.split(';').map(|number| number.parse::<u8>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        match number {
            0 => *ink = Ink::default(),
            1 => (ink.bold, ink.dim) = (true, false),
            2 => (ink.bold, ink.dim) = (false, true),
            3 => ink.italic = true,
            4 => ink.underlined = true,
            7 => ink.reversed = true,
            22 => (ink.bold, ink.dim) = (false, false),
            23 => ink.italic = false,
            24 => ink.underlined = false,
            27 => ink.reversed = false,
            30..=37 => ink.letters = Tint::Numbered(number - 30),
            38 => ink.letters = colour(&mut numbers),
            39 => ink.letters = Tint::Own,
            40..=47 => ink.ground = Tint::Numbered(number - 40),
            48 => ink.ground = colour(&mut numbers),
            49 => ink.ground = Tint::Own,
            90..=97 => ink.letters = Tint::Numbered(number - 90 + 8),
            100..=107 => ink.ground = Tint::Numbered(number - 100 + 8),
            _ => {}
        }
    }
}

fn colour(numbers: &mut impl Iterator<Item = u8>) -> Tint {
    let mut next = || numbers.next().unwrap_or(0);
    match next() {
        5 => Tint::Numbered(next()),
        2 => Tint::Exact([next(), next(), next()]),
        _ => Tint::Own,
    }
}

#[cfg(test)]
mod tests;
