//! Converts text to styled lines. Pure: external facts, such as which files exist, come in through closures.
//!
//! All text from outside this program passes `clean_text` (prose, output, names) or `reveal_text` (text to approve)
//! before it becomes a [`Page`]; the layout functions of this folder do that themselves.

pub mod bidi;
pub mod code;
pub mod diff;
pub mod links;
pub mod markdown;
pub mod output;
mod revealed_pieces;
pub mod wrap;

pub use links::Link;
pub use revealed_pieces::{revealed_line_pieces, revealed_pieces};
pub use wrap::Piece;

use ratatui::text::{Line, Span};

/// Text laid out for a width, with its links.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Lines, none wider than requested.
    pub lines: Vec<Line<'static>>,
    /// Links in the order of the lines. A link that wraps has one entry per line, with the same `id`.
    pub links: Vec<Link>,
}

impl Page {
    /// Appends another page below this one.
    pub fn append_page(&mut self, other: Page) {
        let (lines, ids) = (self.lines.len(), self.links.iter().map(|link| link.id + 1).max().unwrap_or(0));
        self.links.extend(other.links.into_iter().map(|link| Link {
            id: link.id + ids,
            line: link.line + lines,
            ..link
        }));
        self.lines.extend(other.lines);
    }

    /// Indents every line by this many columns.
    pub fn indent_lines(mut self, by: u16) -> Page {
        for line in &mut self.lines {
            line.spans.insert(0, Span::raw(" ".repeat(usize::from(by))));
        }
        for link in &mut self.links {
            (link.start, link.end) = (link.start + by, link.end + by);
        }
        self
    }

    /// Keeps only this many lines.
    pub fn truncate_lines(&mut self, lines: usize) {
        self.lines.truncate(lines);
        self.links.retain(|link| link.line < lines);
    }
}
