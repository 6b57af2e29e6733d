//! Laid-out text with its links.

use super::PictureRow;
use crate::text::link::LinkTarget;
use crate::text::width::text_width;
use ratatui::layout::Rect;
use ratatui::style::Style;
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
    /// The row of a picture that is drawn on these cells, if any. A click opens the picture; no hint is shown for it.
    pub picture: Option<PictureRow>,
}

/// A link on the screen. Rows of one link share the target (the same `Arc`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLink {
    /// Its cells in one row.
    pub area: Rect,
    pub target: Arc<LinkTarget>,
    /// The row of a picture that is drawn there, if any.
    pub picture: Option<PictureRow>,
}

impl Link {
    /// Moves the link to the right.
    pub fn shift_right(&mut self, columns: usize) {
        let columns = u16::try_from(columns).unwrap_or(u16::MAX);
        (self.start, self.end) = (self.start.saturating_add(columns), self.end.saturating_add(columns));
    }
}

/// Returns the links of one line, which is drawn from the first cell of a row.
pub fn place_links<'a>(links: impl IntoIterator<Item = &'a Link>, row: Rect) -> impl Iterator<Item = PlacedLink> {
    links.into_iter().filter_map(move |link| {
        let (start, end) = (link.start.min(row.width), link.end.min(row.width));
        let area = Rect { x: row.x + start, width: end - start, ..row };
        (!area.is_empty()).then(|| PlacedLink { area, target: link.target.clone(), picture: link.picture.clone() })
    })
}

/// Returns the line with this text before it.
pub fn prefix_line(mut line: Line<'static>, prefix: impl Into<Span<'static>>) -> Line<'static> {
    line.spans.insert(0, prefix.into());
    line
}

/// Fills the line up to `width` columns with blanks of this style.
pub fn pad_line(line: &mut Line<'_>, width: usize, style: Style) {
    let used_columns: usize = line.spans.iter().map(|span| text_width(&span.content)).sum();
    line.spans.push(Span::styled(" ".repeat(width.saturating_sub(used_columns)), style));
}

/// Text laid out for a width, with its links.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Lines, none wider than requested.
    pub lines: Vec<Line<'static>>,
    /// Links in the order of the lines. A link that wraps has one entry per line, with the same target (the same `Arc`).
    pub links: Vec<Link>,
}

impl From<Vec<Line<'static>>> for Page {
    /// Makes a page without links.
    fn from(lines: Vec<Line<'static>>) -> Self {
        Self { lines, links: Vec::new() }
    }
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

    /// Returns the links of a line.
    pub fn links_of_line(&self, line: usize) -> impl Iterator<Item = &Link> {
        // Links are sorted by line.
        let first_link = self.links.partition_point(|link| link.line < line);
        self.links[first_link..].iter().take_while(move |link| link.line == line)
    }

    /// Returns the links of a line that is drawn from the first cell of a row.
    pub fn place_links(&self, line: usize, row: Rect) -> impl Iterator<Item = PlacedLink> {
        place_links(self.links_of_line(line), row)
    }

    /// Removes the lines from an index on and returns them as a page.
    #[must_use]
    pub fn split_off_lines(&mut self, index: usize) -> Page {
        let first_link = self.links.partition_point(|link| link.line < index);
        let links = self.links.split_off(first_link).into_iter();
        let links = links.map(|link| Link { line: link.line - index, ..link }).collect();
        Page { lines: self.lines.split_off(index), links }
    }

    /// Indents every line by this many columns.
    pub fn indent_lines(self, columns: usize) -> Page {
        let blanks = Span::raw(" ".repeat(columns));
        self.with_prefix(blanks.clone(), blanks)
    }

    /// Puts a prefix before the first line, and another one of the same width before the other lines.
    pub fn with_prefix(mut self, first: Span<'static>, next: Span<'static>) -> Page {
        let columns = text_width(&first.content);
        for (index, line) in self.lines.iter_mut().enumerate() {
            line.spans.insert(0, if index == 0 { first.clone() } else { next.clone() });
        }
        self.links.iter_mut().for_each(|link| link.shift_right(columns));
        self
    }

    /// Keeps only this many lines.
    pub fn truncate_lines(&mut self, lines: usize) {
        self.lines.truncate(lines);
        self.links.retain(|link| link.line < lines);
    }
}
