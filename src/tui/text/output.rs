//! Lays out command output with its colours. All other escape sequences are shown as marks.

mod sgr;

use super::page::Page;
use super::pieces::styled_pieces;
use super::wrap::{Shape, wrap_pieces};
use crate::text::clean::{self, expand_tabs};
use crate::text::escape_sequences;
use crate::text::link::{CheckTarget, Existence};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;
use sgr::apply_sgr;

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
    let (mut requested, mut column) = (Style::new(), 0);
    for piece in escape_sequences::split_colors(&escape_sequences::readable_output(text)) {
        match piece {
            escape_sequences::OutputPart::Color(color) => apply_sgr(&mut requested, color),
            escape_sequences::OutputPart::Text(text) => {
                expand_tabs(text, &mut column, &mut output.text);
                let (end, style) = (output.text.len(), theme.readable_style(base, requested));
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

/// Returns output with colours as lines of this width, broken between words except in lines with columns.
pub fn lay_out_output(text: &str, base: Style, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    lay_out_linked_output(text, base, theme, width, &|_| Existence::Unknown).lines
}

/// Lays out output as [`lay_out_output`] does, with its links.
pub fn lay_out_linked_output(text: &str, base: Style, theme: &Theme, width: usize, check: CheckTarget<'_>) -> Page {
    let output = parse_output(text, base, theme);
    let pieces = styled_pieces(&output.text, &output.style_ends, theme.link, check);
    wrap_pieces(&pieces, &Shape { verbatim: true, keeps_words: true, ..Shape::with_width(width) })
}

#[cfg(test)]
mod tests;
