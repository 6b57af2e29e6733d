//! Lays out command output with its colours. All other escape sequences are shown as marks.

use super::Piece;
use super::wrap::{Shape, wrap_pieces};
use crate::text::clean::{self, expand_tabs};
use crate::text::escape_sequences;
use crate::text::link::{self, LinkTarget};
use crate::tui::theme::Theme;
use crate::tui::theme::output_colours::{RequestedColour, RequestedStyle};
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// Output text with styled ranges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StyledOutput {
    /// Cleaned text.
    pub text: String,
    /// End of each styled range in bytes, with its style.
    pub style_ends: Vec<(usize, Style)>,
}

impl StyledOutput {
    /// Truncates the text at a byte.
    pub fn truncate_at(&mut self, end: usize) {
        self.text.truncate(end);
        let complete_ranges = self.style_ends.partition_point(|(range_end, _)| *range_end < end);
        self.style_ends.truncate(complete_ranges + 1);
        if let Some((range_end, _)) = self.style_ends.last_mut() {
            *range_end = end.min(*range_end);
        }
    }

    /// Returns the last lines, at most `count`, with their styles.
    pub fn last_lines(&self, count: usize) -> Vec<Vec<(&str, Style)>> {
        let mut lines = vec![Vec::new()];
        let mut start = 0;
        for (end, style) in &self.style_ends {
            for (index, part) in self.text[start..*end].split('\n').enumerate() {
                if index > 0 {
                    lines.push(Vec::new());
                }
                if let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) {
                    line.push((part, *style));
                }
            }
            start = *end;
        }
        if lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        lines.split_off(lines.len().saturating_sub(count))
    }
}

/// Parses output with colours. `base` is the style of text without a colour.
pub fn parse_output(text: &str, base: Style, theme: &Theme) -> StyledOutput {
    let mut output = StyledOutput::default();
    let (mut requested, mut column) = (RequestedStyle::default(), 0);
    for piece in escape_sequences::split_colors(&escape_sequences::readable_output(text)) {
        match piece {
            escape_sequences::OutputPart::Color(color) => apply_sgr(&mut requested, color),
            escape_sequences::OutputPart::Text(text) => {
                expand_tabs(text, &mut column, &mut output.text);
                let (end, style) = (output.text.len(), theme.readable_style(base, &requested));
                match output.style_ends.last_mut() {
                    Some((last_end, last_style)) if *last_style == style => *last_end = end,
                    _ => output.style_ends.push((end, style)),
                }
            }
        }
    }
    output
}

/// Cleans text that was not written for a terminal.
pub fn clean_output(text: &str, style: Style) -> StyledOutput {
    let text = clean::clean_text(text).into_owned();
    StyledOutput { style_ends: vec![(text.len(), style)], text }
}

/// Returns output with colours as lines of this width.
pub fn lay_out_output(text: &str, base: Style, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let pieces = output_pieces(&parse_output(text, base, theme), base, &|_| false);
    wrap_pieces(&pieces, &Shape { verbatim: true, ..Shape::with_width(width) }).lines
}

/// Returns output as pieces, with its links.
pub fn output_pieces(output: &StyledOutput, link_style: Style, exists: &dyn Fn(&LinkTarget) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut links = link::find_links(&output.text, exists).into_iter().peekable();
    let mut target = None;
    let mut start = 0;
    for (end, style) in &output.style_ends {
        while start < *end {
            if links.peek().is_some_and(|link| link.range.end <= start) {
                links.next();
                target = None;
            }
            let (piece_end, is_in_link) = match links.peek() {
                Some(link) if link.range.start > start => ((*end).min(link.range.start), false),
                Some(link) => ((*end).min(link.range.end), true),
                None => (*end, false),
            };
            let mut piece = Piece::new(&output.text[start..piece_end], *style);
            if is_in_link && let Some(current_link) = links.peek() {
                let target = target.get_or_insert_with(|| Arc::new(current_link.target.clone()));
                piece = Piece { style: style.patch(link_style), link: Some(target.clone()), ..piece };
            }
            pieces.push(piece);
            start = piece_end;
        }
    }
    pieces
}

/// Applies an SGR sequence.
fn apply_sgr(requested: &mut RequestedStyle, sequence: &str) {
    let numbers = sequence.trim_start_matches("\x1b[").trim_end_matches('m');
    let mut numbers = numbers.split(';');
    while let Some(number) = numbers.next() {
        // `38:2::1:2:3`: the parts of one parameter; some may be empty.
        let (number, mut parts) = match number.split_once(':') {
            Some((number, parts)) => (number, Some(parts.split(':').filter(|part| !part.is_empty()))),
            None => (number, None),
        };
        let mut next_colour = || match &mut parts {
            Some(parts) => parse_colour(&mut parts.by_ref().map(parse_number)),
            None => parse_colour(&mut numbers.by_ref().map(parse_number)),
        };
        // An empty parameter is 0. A parameter that is not a known number changes nothing.
        let Ok(number) = (if number.is_empty() { "0" } else { number }).parse::<u8>() else { continue };
        match number {
            0 => *requested = RequestedStyle::default(),
            1 => (requested.bold, requested.dim) = (true, false),
            2 => (requested.bold, requested.dim) = (false, true),
            3 => requested.italic = true,
            4 => requested.underlined = parts.is_none_or(|mut parts| parts.next() != Some("0")),
            7 => requested.reversed = true,
            22 => (requested.bold, requested.dim) = (false, false),
            23 => requested.italic = false,
            24 => requested.underlined = false,
            27 => requested.reversed = false,
            number @ 30..=37 => requested.foreground = RequestedColour::Indexed(number - 30),
            38 => requested.foreground = next_colour(),
            39 => requested.foreground = RequestedColour::Default,
            number @ 40..=47 => requested.background = RequestedColour::Indexed(number - 40),
            48 => requested.background = next_colour(),
            49 => requested.background = RequestedColour::Default,
            // The colour of the underline is not shown, but its parameters belong to it.
            58 => drop(next_colour()),
            number @ 90..=97 => requested.foreground = RequestedColour::Indexed(number - 90 + 8),
            number @ 100..=107 => requested.background = RequestedColour::Indexed(number - 100 + 8),
            _ => {}
        }
    }
}

fn parse_number(number: &str) -> u8 {
    number.parse().unwrap_or(0)
}

fn parse_colour(numbers: &mut dyn Iterator<Item = u8>) -> RequestedColour {
    let mut next = || numbers.next().unwrap_or(0);
    match next() {
        5 => RequestedColour::Indexed(next()),
        2 => RequestedColour::Rgb([next(), next(), next()]),
        _ => RequestedColour::Default,
    }
}

#[cfg(test)]
mod tests;
