//! Revealed text, styled: every character of a text to approve is visible.

use super::wrap::Piece;
use crate::text::reveal::{RevealedPart, reveal_on_one_line, reveal_text};
use ratatui::style::Style;

/// Returns the revealed text as pieces to wrap, with marks in the style `mark`.
pub fn revealed_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_text(text), style, mark)
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn revealed_line_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_on_one_line(text), style, mark)
}

fn style_parts(parts: Vec<RevealedPart>, style: Style, mark: Style) -> Vec<Piece> {
    let to_piece = |part| match part {
        RevealedPart::Text(text) => Piece::new(text, style),
        RevealedPart::Mark(text) => Piece::new(text, style.patch(mark)),
    };
    parts.into_iter().map(to_piece).collect()
}
