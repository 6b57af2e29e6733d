//! Lays out parsed blocks as lines of a width.

use super::block::{Block, Item};
use super::table;
use super::unrendered_text::unrendered_info;
use crate::text::width::text_width as width_of;
use crate::tui::text::code;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// Minimum text columns; with fewer, the indentation is dropped.
const MIN_TEXT_COLUMNS: usize = 4;

/// Lays out blocks with one theme.
pub(super) struct BlockLayout<'a> {
    pub(super) theme: &'a Theme,
}

impl BlockLayout<'_> {
    /// Lays out blocks one below the other, separated by blank lines.
    pub(super) fn lay_out_blocks(&self, blocks: &[Block], width: usize) -> Page {
        let mut page = Page::default();
        for block in blocks {
            append_below(&mut page, self.lay_out_block(block, width), true);
        }
        page
    }

    fn lay_out_block(&self, block: &Block, width: usize) -> Page {
        match block {
            Block::Text(pieces) => wrap_pieces(pieces, &Shape::with_width(width)),
            Block::Code { language, code } => {
                let mut page = unrendered_info(language).map_or_else(Page::default, |info| {
                    let shape = Shape::with_prefix(width, Piece::new(" ", self.theme.dim));
                    wrap_pieces(&[Piece::new(info, self.theme.dim)], &shape)
                });
                page.append_page(code::lay_out_highlighted(language, code, width, self.theme));
                page
            }
            Block::Quote(blocks) => {
                let bar = Piece::new("│ ", self.theme.quote);
                add_prefix(&bar, &bar, width, |width| self.lay_out_blocks(blocks, width))
            }
            Block::Note(name, blocks) => {
                self.add_mark(format!("[^{name}] "), width, |width| self.lay_out_blocks(blocks, width))
            }
            Block::List { start, items } => self.lay_out_list(*start, items, width),
            Block::Table { alignments, rows } => table::lay_out_table(rows, alignments, width, self.theme),
            Block::Rule => {
                let rule = Line::styled("─".repeat(width), self.theme.border_dim);
                Page { lines: vec![rule], ..Page::default() }
            }
        }
    }

    fn lay_out_list(&self, start: Option<u64>, items: &[Item], width: usize) -> Page {
        let is_loose = items.iter().any(needs_blank_lines);
        let mut page = Page::default();
        let last = start.map_or(0, |start| start.saturating_add(items.len() as u64 - u64::from(!items.is_empty())));
        let digits = last.to_string().len();
        for (index, item) in (0u64..).zip(items) {
            let mut mark = match start {
                Some(start) => format!("{:>digits$}. ", start.saturating_add(index)),
                None => "• ".to_owned(),
            };
            match item.task {
                Some(true) => mark.push_str("[x] "),
                Some(false) => mark.push_str("[ ] "),
                None => {}
            }
            let item = self.add_mark(mark, width, |width| self.lay_out_item(item, is_loose, width));
            append_below(&mut page, item, is_loose);
        }
        page
    }

    /// Lays out the contents of an item, without blank lines unless an item of its list needs them.
    fn lay_out_item(&self, item: &Item, is_loose: bool, width: usize) -> Page {
        let mut page = Page::default();
        for block in &item.blocks {
            append_below(&mut page, self.lay_out_block(block, width), is_loose);
        }
        page
    }

    /// Lays out content after a mark, such as a bullet, and indents its other lines by the width of the mark.
    fn add_mark(&self, mark: String, width: usize, lay_out_content: impl FnOnce(usize) -> Page) -> Page {
        let blanks = Piece::new(" ".repeat(width_of(&mark)), self.theme.text);
        add_prefix(&Piece::new(mark, self.theme.dim), &blanks, width, lay_out_content)
    }
}

/// Lays out content for the columns next to a prefix and puts the prefix before its lines. If too few columns are left,
/// the prefix is omitted.
fn add_prefix(
    first_prefix: &Piece,
    next_prefix: &Piece,
    width: usize,
    lay_out_content: impl FnOnce(usize) -> Page,
) -> Page {
    let indent = width_of(&first_prefix.text);
    if width < indent + MIN_TEXT_COLUMNS {
        return lay_out_content(width);
    }
    let mut page = lay_out_content(width - indent);
    if page.lines.is_empty() {
        page.lines.push(Line::default());
    }
    for (index, line) in page.lines.iter_mut().enumerate() {
        let piece = if index == 0 { first_prefix } else { next_prefix };
        line.spans.insert(0, Span::styled(piece.text.clone(), piece.style));
    }
    let shift = u16::try_from(indent).unwrap_or(u16::MAX);
    for link in &mut page.links {
        (link.start, link.end) = (link.start.saturating_add(shift), link.end.saturating_add(shift));
    }
    page
}

/// Appends a page below another, after a blank line if `is_loose` and neither is empty.
fn append_below(page: &mut Page, appended: Page, is_loose: bool) {
    if is_loose && !page.lines.is_empty() && !appended.lines.is_empty() {
        page.lines.push(Line::default());
    }
    page.append_page(appended);
}

/// Returns whether an item contains more than a paragraph with nested lists, so that its list is loose.
fn needs_blank_lines(item: &Item) -> bool {
    let are_only_lists = |blocks: &[Block]| blocks.iter().all(|block| matches!(block, Block::List { .. }));
    match item.blocks.split_first() {
        Some((Block::Text(_) | Block::List { .. }, rest)) => !are_only_lists(rest),
        Some((_, rest)) => !rest.is_empty(),
        None => false,
    }
}
