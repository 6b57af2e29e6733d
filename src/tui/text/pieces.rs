//! Text as pieces to wrap: with its links, or revealed, so that every character of a text to approve is visible.

use super::wrap::{Piece, Shape, wrap_pieces};
use crate::text::link::{self, LinkTarget};
use crate::text::reveal::{RevealedPart, reveal_as_string, reveal_text};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// Splits clean text into pieces: links in `link_style`, the rest in `style`.
pub fn split_links(text: &str, style: Style, link_style: Style, exists: &dyn Fn(&LinkTarget) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for detected in link::find_links(text, exists) {
        if start < detected.range.start {
            pieces.push(Piece::new(&text[start..detected.range.start], style));
        }
        let link_text = &text[detected.range.clone()];
        let target = Some(Arc::new(detected.target));
        pieces.push(Piece { text: link_text.to_owned(), style: style.patch(link_style), link: target });
        start = detected.range.end;
    }
    if start < text.len() {
        pieces.push(Piece::new(&text[start..], style));
    }
    pieces
}

/// Returns the revealed text as lines of this width.
pub fn wrap_revealed(text: &str, style: Style, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap_pieces(&revealed_pieces(text, style, theme.mark), &Shape::with_width(width)).lines
}

/// Returns the revealed text as pieces to wrap, with marks in the style `mark`.
pub fn revealed_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_text(text), style, mark)
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn revealed_line_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_as_string(text), style, mark)
}

fn style_parts(parts: Vec<RevealedPart>, style: Style, mark: Style) -> Vec<Piece> {
    let to_piece = |part| match part {
        RevealedPart::Text(text) => Piece::new(text, style),
        RevealedPart::Mark(text) => Piece::new(text, style.patch(mark)),
    };
    parts.into_iter().map(to_piece).collect()
}
