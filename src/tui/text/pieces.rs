//! Text as pieces to wrap: with its links, or revealed, so that every character of a text to approve is visible.

use super::page::Page;
use super::wrap::{Piece, Shape, wrap_pieces};
use crate::text::clean;
use crate::text::link::{self, CheckTarget};
use crate::text::reveal::{RevealedPart, reveal_line_parts, reveal_text};
use crate::tui::theme::Theme;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use std::sync::Arc;

/// Prefix of every line that comes from a file, a server or a model, so that none can pass for one of the program.
pub const OUTSIDE_BAR: &str = "│ ";

/// Style of a link to a file that does not exist any more, on top of that of the text around it.
pub const MISSING_LINK: Style = Style::new().add_modifier(Modifier::CROSSED_OUT);

/// Splits clean text into pieces: links in `link_style`, the rest in `style`.
pub fn split_links(text: &str, style: Style, link_style: Style, check: CheckTarget<'_>) -> Vec<Piece> {
    styled_pieces(text, &[(text.len(), style)], link_style, check)
}

/// Splits clean text into pieces at the ends of its styled ranges and at its links. A missing link has no target.
pub fn styled_pieces(
    text: &str,
    style_ends: &[(usize, Style)],
    link_style: Style,
    check: CheckTarget<'_>,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut links = link::find_links(text, check).into_iter().peekable();
    let mut target = None;
    let mut start = 0;
    for (end, style) in style_ends {
        while start < *end {
            if links.peek().is_some_and(|link| link.range.end <= start) {
                links.next();
                target = None;
            }
            let (piece_end, current_link) = match links.peek() {
                Some(link) if link.range.start > start => ((*end).min(link.range.start), None),
                Some(link) => ((*end).min(link.range.end), Some(link)),
                None => (*end, None),
            };
            let mut piece = Piece::new(&text[start..piece_end], *style);
            match current_link {
                Some(link) if link.is_missing => piece.style = style.patch(MISSING_LINK),
                Some(link) => {
                    let target = target.get_or_insert_with(|| Arc::new(link.target.clone()));
                    piece = Piece { style: style.patch(link_style), link: Some(target.clone()), ..piece };
                }
                None => {}
            }
            pieces.push(piece);
            start = piece_end;
        }
    }
    pieces
}

/// Returns the revealed text as lines of this width.
pub fn wrap_revealed(text: &str, style: Style, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap_pieces(&revealed_pieces(text, style, theme.mark), &Shape::with_width(width)).lines
}

/// Wraps a text to this width after an indentation. A line that begins with [`OUTSIDE_BAR`] has the bar in each of its rows.
pub fn wrap_barred(text: &str, style: Style, bar_style: Style, indentation: &str, width: usize) -> Page {
    let mut page = Page::default();
    for line in clean::clean_text(text).split('\n') {
        let (bar, line) = line.strip_prefix(OUTSIDE_BAR).map_or(("", line), |line| (OUTSIDE_BAR, line));
        let shape = Shape::with_prefix(width, Piece::new(format!("{indentation}{bar}"), bar_style));
        page.append_page(wrap_pieces(&[Piece::new(line, style)], &shape));
    }
    page
}

/// Returns the revealed text as pieces to wrap, with marks in the style `mark`.
pub fn revealed_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_text(text), style, mark)
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn revealed_line_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    style_parts(reveal_line_parts(text), style, mark)
}

fn style_parts(parts: Vec<RevealedPart>, style: Style, mark: Style) -> Vec<Piece> {
    let to_piece = |part| match part {
        RevealedPart::Text(text) => Piece::new(text, style),
        RevealedPart::Mark(text) => Piece::new(text, style.patch(mark)),
    };
    parts.into_iter().map(to_piece).collect()
}
