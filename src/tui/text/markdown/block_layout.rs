//! Lays out parsed blocks as lines of a width.

use super::block::{Block, Container};
use super::picture_lookup::FindPicture;
use super::table;
use super::unrendered_text::unrendered_info;
use crate::text::link::LinkTarget;
use crate::text::width::text_width as width_of;
use crate::tui::text::code;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, blank_rows};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Minimum text columns; with fewer, the indentation is dropped.
const MIN_TEXT_COLUMNS: usize = 4;

/// Lays out blocks with one theme.
pub(super) struct BlockLayout<'a> {
    pub(super) theme: &'a Theme,
    /// Targets of the images.
    pub(super) images: &'a [Arc<LinkTarget>],
    pub(super) pictures: &'a dyn FindPicture,
}

impl BlockLayout<'_> {
    /// Lays out blocks one below the other, separated by blank lines if `is_loose`.
    pub(super) fn lay_out_blocks(&self, blocks: &[Block], is_loose: bool, width: usize) -> Page {
        let mut page = Page::default();
        for block in blocks {
            append_below(&mut page, self.lay_out_block(block, width), is_loose);
        }
        page
    }

    fn lay_out_block(&self, block: &Block, width: usize) -> Page {
        // Only the items of a list, which `lay_out_list` lays out, may have no blank lines between their blocks.
        let is_loose = true;
        match block {
            Block::Text(pieces) => {
                let mut page = wrap_pieces(pieces, &Shape::with_width(width));
                page.append_page(self.lay_out_pictures(pieces, width));
                page
            }
            Block::Code { language, code } => {
                let mut page = unrendered_info(language).map_or_else(Page::default, |info| {
                    let shape = Shape::with_prefix(width, Piece::new(" ", self.theme.dim));
                    wrap_pieces(&[Piece::new(info, self.theme.dim)], &shape)
                });
                page.append_page(code::lay_out_highlighted(language, code, width, self.theme));
                page
            }
            Block::Container(Container::Root | Container::Item(_), blocks) => {
                self.lay_out_blocks(blocks, is_loose, width)
            }
            Block::Container(Container::Quote, blocks) => {
                let bar = Span::styled("│ ", self.theme.quote);
                add_prefix(bar.clone(), bar, width, |width| self.lay_out_blocks(blocks, is_loose, width))
            }
            Block::Container(Container::Note(name), blocks) => {
                self.add_mark(format!("[^{name}] "), width, |width| self.lay_out_blocks(blocks, is_loose, width))
            }
            Block::Container(Container::List(start), items) => self.lay_out_list(*start, items, width),
            Block::Table { alignments, rows } => table::lay_out_table(rows, alignments, width, self.theme),
            Block::Rule => {
                let rule = Line::styled("─".repeat(width), self.theme.border_dim);
                Page { lines: vec![rule], ..Page::default() }
            }
        }
    }

    /// Lays out the pictures of the images in a paragraph, each once.
    fn lay_out_pictures(&self, pieces: &[Piece], width: usize) -> Page {
        let mut page = Page::default();
        let mut previous: Option<&Arc<LinkTarget>> = None;
        for target in pieces.iter().filter_map(|piece| piece.link.as_ref()) {
            let is_image = self.images.iter().any(|image| Arc::ptr_eq(image, target));
            if !is_image || previous.is_some_and(|previous| Arc::ptr_eq(previous, target)) {
                continue;
            }
            previous = Some(target);
            if let Some(key) = self.pictures.find_drawn(target, width) {
                page.append_page(blank_rows(&key));
            }
        }
        page
    }

    fn lay_out_list(&self, start: Option<u64>, items: &[Block], width: usize) -> Page {
        let is_loose = items.iter().any(needs_blank_lines);
        let mut page = Page::default();
        let last = start.map_or(0, |start| start.saturating_add(items.len() as u64 - u64::from(!items.is_empty())));
        let digits = last.to_string().len();
        for (index, item) in (0u64..).zip(items) {
            let Block::Container(Container::Item(task), blocks) = item else { continue };
            let mut mark = match start {
                Some(start) => format!("{:>digits$}. ", start.saturating_add(index)),
                None => "• ".to_owned(),
            };
            match task {
                Some(true) => mark.push_str("[x] "),
                Some(false) => mark.push_str("[ ] "),
                None => {}
            }
            let item = self.add_mark(mark, width, |width| self.lay_out_blocks(blocks, is_loose, width));
            append_below(&mut page, item, is_loose);
        }
        page
    }

    /// Lays out content after a mark, such as a bullet, and indents its other lines by the width of the mark.
    fn add_mark(&self, mark: String, width: usize, lay_out_content: impl FnOnce(usize) -> Page) -> Page {
        let blanks = Span::styled(" ".repeat(width_of(&mark)), self.theme.text);
        add_prefix(Span::styled(mark, self.theme.dim), blanks, width, lay_out_content)
    }
}

/// Lays out content for the columns next to a prefix and puts the prefix before its lines. If too few columns are left,
/// the prefix is omitted.
fn add_prefix(
    first_prefix: Span<'static>,
    next_prefix: Span<'static>,
    width: usize,
    lay_out_content: impl FnOnce(usize) -> Page,
) -> Page {
    let indent = width_of(&first_prefix.content);
    if width < indent + MIN_TEXT_COLUMNS {
        return lay_out_content(width);
    }
    let mut page = lay_out_content(width - indent);
    if page.lines.is_empty() {
        page.lines.push(Line::default());
    }
    page.with_prefix(first_prefix, next_prefix)
}

/// Appends a page below another, after a blank line if `is_loose` and neither is empty.
fn append_below(page: &mut Page, appended: Page, is_loose: bool) {
    if is_loose && !page.lines.is_empty() && !appended.lines.is_empty() {
        page.lines.push(Line::default());
    }
    page.append_page(appended);
}

/// Returns whether an item contains more than a paragraph with nested lists, so that its list is loose.
fn needs_blank_lines(item: &Block) -> bool {
    let Block::Container(_, blocks) = item else { return false };
    let is_list = |block: &Block| matches!(block, Block::Container(Container::List(_), _));
    match blocks.split_first() {
        Some((first, rest)) if matches!(first, Block::Text(_)) || is_list(first) => !rest.iter().all(is_list),
        Some((_, rest)) => !rest.is_empty(),
        None => false,
    }
}
