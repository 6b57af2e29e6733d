//! Links in laid-out text.

use super::page::{Link, Page};
use super::wrap::Piece;
use crate::text::link::{self, LinkTarget};
use ratatui::style::Style;
use std::sync::Arc;

/// Returns the link at a cell of a page, if any.
pub fn link_at(page: &Page, line: usize, column: u16) -> Option<&Link> {
    page.links.iter().find(|link| link.line == line && (link.start..link.end).contains(&column))
}

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
