//! Command output as the user and the model see it: with its colours; all other escape sequences are shown as marks.

use super::clean::expand_tabs;
use super::wrap::{Shape, wrap};
use super::{Piece, clean};
use crate::chat::escape;
use crate::chat::link::{self, Target};
use crate::tui::theme::Theme;
use crate::tui::theme::ink::{Ink, Tint};
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// Output text with styled ranges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// Cleaned text.
    pub text: String,
    /// End of each styled range in bytes, with its style.
    pub looks: Vec<(usize, Style)>,
}

impl Shown {
    /// Truncates the text at a byte.
    pub fn cut(&mut self, end: usize) {
        self.text.truncate(end);
        let whole = self.looks.partition_point(|(to, _)| *to < end);
        self.looks.truncate(whole + 1);
        if let Some((to, _)) = self.looks.last_mut() {
            *to = end.min(*to);
        }
    }

    /// Returns the last lines, at most `count`, with their styles.
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

/// Parses output with colours. `base` is the style of text without a colour.
pub fn shown(text: &str, base: Style, theme: &Theme) -> Shown {
    let mut shown = Shown::default();
    let (mut ink, mut column) = (Ink::default(), 0);
    for piece in escape::pieces(&escape::readable_output(text)) {
        match piece {
            escape::Piece::Color(color) => change_ink(&mut ink, color),
            escape::Piece::Text(text) => {
                expand_tabs(text, &mut column, &mut shown.text);
                let (end, look) = (shown.text.len(), theme.ink(base, &ink));
                match shown.looks.last_mut() {
                    Some((last, same)) if *same == look => *last = end,
                    _ => shown.looks.push((end, look)),
                }
            }
        }
    }
    shown
}

/// Cleans text that was not written for a terminal.
pub fn unchanged(text: &str, look: Style) -> Shown {
    let text = clean::clean(text).into_owned();
    Shown { looks: vec![(text.len(), look)], text }
}

/// Returns output with colours as lines of this width.
pub fn lines(text: &str, base: Style, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let pieces = pieces(&shown(text, base, theme), base, &|_| false);
    wrap(&pieces, &Shape { verbatim: true, ..Shape::of_width(width) }).lines
}

/// Returns output as pieces, with its links.
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

/// Applies an SGR sequence.
fn change_ink(ink: &mut Ink, sequence: &str) {
    let numbers = sequence.trim_start_matches("\x1b[").trim_end_matches('m');
    let mut numbers = numbers.split(';');
    while let Some(number) = numbers.next() {
        // `38:2::1:2:3`: the parts of one parameter; some may be empty.
        let (number, mut parts) = match number.split_once(':') {
            Some((number, parts)) => (number, Some(parts.split(':').filter(|part| !part.is_empty()))),
            None => (number, None),
        };
        let mut tint = || match &mut parts {
            Some(parts) => colour(&mut parts.by_ref().map(value)),
            None => colour(&mut numbers.by_ref().map(value)),
        };
        match value(number) {
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
            number @ 30..=37 => ink.letters = Tint::Numbered(number - 30),
            38 => ink.letters = tint(),
            39 => ink.letters = Tint::Own,
            number @ 40..=47 => ink.ground = Tint::Numbered(number - 40),
            48 => ink.ground = tint(),
            49 => ink.ground = Tint::Own,
            number @ 90..=97 => ink.letters = Tint::Numbered(number - 90 + 8),
            number @ 100..=107 => ink.ground = Tint::Numbered(number - 100 + 8),
            _ => {}
        }
    }
}

fn value(number: &str) -> u8 {
    number.parse().unwrap_or(0)
}

fn colour(numbers: &mut dyn Iterator<Item = u8>) -> Tint {
    let mut next = || numbers.next().unwrap_or(0);
    match next() {
        5 => Tint::Numbered(next()),
        2 => Tint::Exact([next(), next(), next()]),
        _ => Tint::Own,
    }
}

#[cfg(test)]
mod tests;
