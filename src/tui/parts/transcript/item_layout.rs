//! Layout of one item of the transcript: an entry or the live item.

use crate::tui::text::Page;
use std::sync::Arc;

/// Estimated overhead of an allocation in bytes: allocator metadata and spare capacity.
pub const ALLOCATION_OVERHEAD: usize = 64;

/// Layout of one item: an entry or the live item.
#[derive(Debug, Clone, Default)]
pub struct ItemLayout {
    /// Pages of the layout, top first.
    pub pages: Vec<Arc<Page>>,
    /// Total number of lines.
    pub height: usize,
}

impl ItemLayout {
    /// Appends a page.
    pub fn push_page(&mut self, page: Arc<Page>) {
        self.height += page.lines.len();
        self.pages.push(page);
    }

    /// Estimates the memory in bytes, including allocation overhead, which dominates in sessions of many short entries.
    pub fn estimate_bytes(&self) -> usize {
        let span_bytes = |line: &ratatui::text::Line<'_>| -> usize {
            line.spans.iter().map(|span| size_of_val(span) + span.content.len() + ALLOCATION_OVERHEAD).sum()
        };
        let line_bytes = |page: &Page| -> usize {
            page.lines.iter().map(|line| size_of_val(line) + span_bytes(line) + ALLOCATION_OVERHEAD).sum()
        };
        // The page, its list of lines and its list of links are one allocation each.
        let page_bytes = self.pages.iter().map(|page| size_of::<Page>() + line_bytes(page) + 3 * ALLOCATION_OVERHEAD);
        page_bytes.sum()
    }

    /// Creates a layout of one page.
    pub fn from_page(page: Page) -> Self {
        Self { height: page.lines.len(), pages: vec![Arc::new(page)] }
    }

    /// Returns the line with which the text begins: the second one if the first is blank.
    pub fn first_text_line(&self) -> usize {
        usize::from(self.find_line(0).is_some_and(|(page, line)| page.lines[line].width() == 0))
    }

    /// Returns the page that contains a line, and the index of the line in that page.
    pub fn find_line(&self, mut line: usize) -> Option<(&Page, usize)> {
        // Most requests are for the last page.
        if let Some(last) = self.pages.last() {
            let last_start = self.height - last.lines.len();
            if line >= last_start {
                return (line < self.height).then(|| (last.as_ref(), line - last_start));
            }
        }
        for page in &self.pages {
            if line < page.lines.len() {
                return Some((page, line));
            }
            line -= page.lines.len();
        }
        None
    }
}
