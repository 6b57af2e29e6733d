//! Layout of a streaming reply in pieces. Completed Markdown blocks are laid out once and kept when the reply ends.

use super::item_layout::ItemLayout;
use super::layout_context::LayoutContext;
use crate::text::byte_size::format_bytes;
use crate::text::truncation::truncate_at_line;
use crate::tui::parts::link_lookups::UsedLookups;
use crate::tui::text::{Page, markdown, wrap};
use ratatui::text::Line;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Pieces are merged up to about this many lines, so that appending copies a bounded amount.
const MAX_PIECE_LINES: usize = 400;
/// Maximum bytes of an open block that is laid out completely. Of a longer one only the end is shown while it streams.
const MAX_OPEN_BLOCK_BYTES: usize = 32 * 1024;
/// Window sizes in bytes for finding closed blocks, tried in order until one contains the end of a block. Small pieces
/// are cheap to lay out again; a block longer than the last size is treated as open.
const SEARCH_WINDOWS: [usize; 3] = [4 * 1024, 32 * 1024, 256 * 1024];

/// Layout of the start of a reply.
#[derive(Default)]
pub struct ReplyPieces {
    /// Bytes of the reply with a final layout.
    final_bytes: usize,
    /// Hash of these bytes.
    hash: DefaultHasher,
    list: Vec<ReplyPiece>,
    /// Length of the reply when closed blocks were last searched.
    searched_len: usize,
    open_block: Option<ReplyPiece>,
    /// True once the text defines a link reference, which can change earlier blocks. The reply is then laid out as one
    /// piece when it is complete.
    is_single_piece: bool,
}

struct ReplyPiece {
    range: Range<usize>,
    page: Arc<Page>,
    used_lookups: UsedLookups,
}

impl ReplyPieces {
    /// Returns the number of bytes with a final layout.
    pub fn final_bytes(&self) -> usize {
        self.final_bytes
    }

    /// Returns whether a reply starts with the bytes laid out here.
    pub fn is_start_of(&self, text: &str) -> bool {
        text.get(..self.final_bytes).is_some_and(|text| {
            let mut hasher = DefaultHasher::new();
            hasher.write(text.as_bytes());
            hasher.finish() == self.hash.finish()
        })
    }

    /// Lays out newly closed blocks, and updates pieces whose lookups have finished.
    pub fn lay_out_closed_blocks(&mut self, context: &LayoutContext<'_>, text: &str) {
        self.refresh_stale_pieces(context, text);
        if self.searched_len == text.len() {
            return;
        }
        while !self.is_single_piece
            && let Some(closed_bytes) = closed_blocks_len(&text[self.final_bytes..])
        {
            self.add_final_bytes(context, text, closed_bytes);
        }
        self.searched_len = text.len();
        if !self.is_single_piece && markdown::defines_reference(&text[self.final_bytes..]) {
            *self = Self { is_single_piece: true, searched_len: self.searched_len, ..Self::default() };
        }
    }

    /// Lays out the rest of a complete reply.
    pub fn finish_reply(&mut self, context: &LayoutContext<'_>, text: &str) {
        self.open_block = None;
        if self.final_bytes < text.len() {
            self.add_final_bytes(context, text, text.len() - self.final_bytes);
        }
        self.searched_len = text.len();
    }

    /// Lays out the open block, which may still change. Returns `None` if it is empty.
    pub fn lay_out_open_block(&mut self, context: &LayoutContext<'_>, text: &str) -> Option<Arc<Page>> {
        let open_text = &text[self.final_bytes..];
        let open_text = &open_text[..markdown::complete_rows_length(open_text)];
        if open_text.trim().is_empty() {
            return None;
        }
        let range = self.final_bytes..self.final_bytes + open_text.len();
        let is_current = |block: &&ReplyPiece| block.range == range && !block.is_stale(context);
        if let Some(block) = self.open_block.as_ref().filter(is_current) {
            return Some(block.page.clone());
        }
        let mut page = Page::default();
        if self.final_height() > 0 {
            page.lines.push(Line::default());
        }
        let mut used_lookups = UsedLookups::None;
        if open_text.len() <= MAX_OPEN_BLOCK_BYTES {
            let (part, used) = context.lay_out_growing_part(open_text);
            page.append_page(part);
            used_lookups = used;
        } else {
            let start = open_text.ceil_char_boundary(open_text.len() - MAX_OPEN_BLOCK_BYTES / 2);
            let note = format!("… {} above, shown when the block is complete", format_bytes(start as u64));
            page.append_page(context.lay_out_note(&note, ""));
            page.lines.extend(wrap::wrap_plain(&open_text[start..], context.theme.text, context.width));
        }
        let block = ReplyPiece { range, page: Arc::new(page), used_lookups };
        Some(self.open_block.insert(block).page.clone())
    }

    /// Returns the number of lines with a final layout.
    pub fn final_height(&self) -> usize {
        self.list.iter().map(|piece| piece.page.lines.len()).sum()
    }

    /// Returns the lookups that the final pieces used.
    pub fn used_lookups(&self) -> UsedLookups {
        self.list.iter().fold(UsedLookups::None, |used, piece| used.merge(piece.used_lookups))
    }

    /// Appends the final pieces to a layout.
    pub fn append_to(&self, layout: &mut ItemLayout) {
        for piece in &self.list {
            layout.push_page(piece.page.clone());
        }
    }

    /// Makes the layout of the next bytes final.
    fn add_final_bytes(&mut self, context: &LayoutContext<'_>, text: &str, bytes: usize) {
        let range = self.final_bytes..self.final_bytes + bytes;
        self.hash.write(&text.as_bytes()[range.clone()]);
        self.final_bytes = range.end;
        let is_first = self.list.is_empty();
        if let Some(piece) = ReplyPiece::lay_out(context, text, range, is_first) {
            self.push_piece(piece);
        }
    }

    /// Appends a piece, or merges it into the last one.
    fn push_piece(&mut self, piece: ReplyPiece) {
        match self.list.last_mut() {
            Some(last) if last.can_merge(&piece) => last.merge(piece),
            _ => self.list.push(piece),
        }
    }

    /// Lays out pieces again whose lookups may have finished.
    fn refresh_stale_pieces(&mut self, context: &LayoutContext<'_>, text: &str) {
        if !self.list.iter().any(|piece| piece.is_stale(context)) {
            return;
        }
        for (index, mut piece) in std::mem::take(&mut self.list).into_iter().enumerate() {
            if piece.is_stale(context)
                && let Some(updated) = ReplyPiece::lay_out(context, text, piece.range.clone(), index == 0)
            {
                piece = updated;
            }
            self.push_piece(piece);
        }
    }
}

/// Returns the length in bytes of the closed blocks at the start of a text; `None` if no block is closed.
fn closed_blocks_len(text: &str) -> Option<usize> {
    for window in SEARCH_WINDOWS {
        let window_text = truncate_at_line(text, window);
        match markdown::stable_prefix(window_text) {
            0 if window_text.len() < text.len() => {}
            0 => return None,
            stable => return Some(stable),
        }
    }
    None
}

impl ReplyPiece {
    /// Lays out a range of a reply, below a blank line unless it is the first piece. Returns `None` if it has no lines.
    fn lay_out(context: &LayoutContext<'_>, text: &str, range: Range<usize>, is_first: bool) -> Option<Self> {
        let (mut page, used_lookups) = context.lay_out_part(&text[range.clone()]);
        if page.lines.is_empty() {
            return None;
        }
        if !is_first {
            page = page.below_blank_line();
        }
        Some(Self { range, page: Arc::new(page), used_lookups })
    }

    fn is_stale(&self, context: &LayoutContext<'_>) -> bool {
        context.lookups.is_outdated(self.used_lookups)
    }

    /// Returns whether the next piece can be merged into this one: neither waits for a lookup, and this one has room.
    fn can_merge(&self, next_piece: &ReplyPiece) -> bool {
        let is_waiting = self.used_lookups.is_pending() || next_piece.used_lookups.is_pending();
        !is_waiting && self.page.lines.len() < MAX_PIECE_LINES
    }

    fn merge(&mut self, next_piece: ReplyPiece) {
        self.range.end = next_piece.range.end;
        self.used_lookups = self.used_lookups.merge(next_piece.used_lookups);
        let page = Arc::try_unwrap(next_piece.page).unwrap_or_else(|page| (*page).clone());
        Arc::make_mut(&mut self.page).append_page(page);
    }
}
