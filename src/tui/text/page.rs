//! Laid-out text with its links.

use crate::text::link::LinkTarget;
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Cells of one line that are a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Line of the page, from 0.
    pub line: usize,
    /// First cell, from 0.
    pub start: u16,
    /// One past the last cell.
    pub end: u16,
    /// Target of the link.
    pub target: Arc<LinkTarget>,
}

/// Text laid out for a width, with its links.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Lines, none wider than requested.
    pub lines: Vec<Line<'static>>,
    /// Links in the order of the lines. A link that wraps has one entry per line, with the same target (the same `Arc`).
    pub links: Vec<Link>,
}

impl Page {
    /// Appends another page below this one.
    pub fn append_page(&mut self, other: Page) {
        let line_offset = self.lines.len();
        self.links.extend(other.links.into_iter().map(|link| Link { line: link.line + line_offset, ..link }));
        self.lines.extend(other.lines);
    }

    /// Adds a blank line above the first one.
    pub fn below_blank_line(self) -> Page {
        let mut spaced = Page { lines: vec![Line::default()], ..Page::default() };
        spaced.append_page(self);
        spaced
    }

    /// Returns the link at a cell, if any.
    pub fn link_at(&self, line: usize, column: u16) -> Option<&Link> {
        self.links.iter().find(|link| link.line == line && (link.start..link.end).contains(&column))
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
