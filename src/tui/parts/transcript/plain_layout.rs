//! Layout of unformatted text, and the part of a long text that is shown in place.

use crate::text::{clean, width};
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use ratatui::style::Style;

/// Returns the start of a text, at most `most` bytes, ending at a line end if there is one.
pub fn truncate_at_line(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    &text[..end]
}

/// Lays out text in one style. `first` is the indent of the first line; the other lines have blanks of the same width.
pub fn lay_out_plain(text: &str, style: Style, cells: usize, first: &str) -> Page {
    let text = clean::clean_text(text).into_owned();
    let rest = " ".repeat(width::text_width(first));
    let indent = |text: &str| match text {
        "" => Vec::new(),
        text => vec![Piece::new(text, style)],
    };
    let shape = Shape { width: cells, first: indent(first), rest: indent(&rest), verbatim: false };
    wrap_pieces(&[Piece::new(text, style)], &shape)
}
