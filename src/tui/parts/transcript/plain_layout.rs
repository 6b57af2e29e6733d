//! Layout of unformatted text, and the part of a long text that is shown in place.

use crate::text::{clean, width};
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use ratatui::style::Style;

/// Returns the start of a text, at most `max_bytes` long, ending at a line end if there is one.
pub fn truncate_at_line(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    &text[..end]
}

/// Lays out text in one style. `first_prefix` precedes the first line; the other lines have blanks of the same
/// width.
pub fn lay_out_plain(text: &str, style: Style, cells: usize, first_prefix: &str) -> Page {
    let text = clean::clean_text(text).into_owned();
    let next_prefix = " ".repeat(width::text_width(first_prefix));
    let prefix_pieces = |text: &str| match text {
        "" => Vec::new(),
        text => vec![Piece::new(text, style)],
    };
    let shape = Shape {
        width: cells,
        first_prefix: prefix_pieces(first_prefix),
        next_prefix: prefix_pieces(&next_prefix),
        verbatim: false,
    };
    wrap_pieces(&[Piece::new(text, style)], &shape)
}
