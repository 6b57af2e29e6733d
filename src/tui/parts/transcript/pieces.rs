//! Layout of a streaming reply in pieces. Completed Markdown blocks are laid out once and kept when the reply ends.

use super::Ground;
use super::cache::{Laid, Outsides};
use super::entry;
use crate::tui::text::{Page, markdown, wrap};
use ratatui::text::Line;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Pieces are merged up to about this many lines, so that appending copies a bounded amount.
const PIECE: usize = 400;
/// Maximum bytes of an open block that is laid out completely. Of a longer one only the end is shown while it streams.
const OPEN_BLOCK: usize = 32 * 1024;
/// Window sizes in bytes for finding closed blocks, tried in order until one contains the end of a block. Small pieces
/// are cheap to lay out again; a block longer than the last size is treated as open.
const LOOKS: [usize; 3] = [4 * 1024, 32 * 1024, 256 * 1024];

/// Layout of the start of a reply.
#[derive(Default)]
pub struct Pieces {
    /// Bytes of the reply with a final layout.
    done: usize,
    /// Hash of these bytes.
    mark: DefaultHasher,
    list: Vec<Piece>,
    /// Length of the reply when closed blocks were last searched.
    looked: usize,
    open: Option<Piece>,
    /// True if a definition can change earlier blocks. The reply is then laid out as one piece, when it is complete.
    whole: bool,
}

struct Piece {
    text: Range<usize>,
    page: Arc<Page>,
    /// Lookup counter at layout time if some lookup was pending; otherwise `None`.
    known: Option<u64>,
}

impl Pieces {
    /// Returns the bytes with a final layout.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Returns whether a reply starts with the bytes laid out here.
    pub fn begin(&self, text: &str) -> bool {
        text.get(..self.done).is_some_and(|text| {
            let mut mark = DefaultHasher::new();
            mark.write(text.as_bytes());
            mark.finish() == self.mark.finish()
        })
    }

    /// Lays out newly closed blocks, and updates pieces whose lookups have finished.
    pub fn close(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) {
        self.refresh(ground, text, outside);
        if self.looked == text.len() {
            return;
        }
        while !self.whole
            && let Some(stable) = stable(&text[self.done..])
        {
            self.add(ground, text, stable, outside);
        }
        self.looked = text.len();
        if !self.whole && markdown::defines(&text[self.done..]) {
            *self = Self { whole: true, looked: self.looked, ..Self::default() };
        }
    }

    /// Lays out the rest of a complete reply.
    pub fn end(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) {
        self.open = None;
        if self.done < text.len() {
            self.add(ground, text, text.len() - self.done, outside);
        }
        self.looked = text.len();
    }

    /// Lays out the open block, which may still change. Returns `None` if it is empty.
    pub fn open(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) -> Option<Arc<Page>> {
        let rest = &text[self.done..];
        let rest = &rest[..markdown::whole_rows(rest)];
        if rest.trim().is_empty() {
            return None;
        }
        let range = self.done..self.done + rest.len();
        let fits = |open: &&Piece| open.text == range && !open.is_old(outside);
        if let Some(open) = self.open.as_ref().filter(fits) {
            return Some(open.page.clone());
        }
        let mut page = Page::default();
        if self.height() > 0 {
            page.lines.push(Line::default());
        }
        let mut known = None;
        if rest.len() <= OPEN_BLOCK {
            let (laid, lacks) = outside.lay_out(ground, rest);
            page.append(laid);
            known = lacks;
        } else {
            let mut from = rest.len() - OPEN_BLOCK / 2;
            while !rest.is_char_boundary(from) {
                from += 1;
            }
            let words = format!("… {} above, shown when the block is complete", super::live::bytes(from));
            page.append(entry::plain(&words, ground.theme.dim, ground.width, ""));
            page.lines.extend(wrap::plain(&rest[from..], ground.theme.text, ground.width));
        }
        let open = Piece { text: range, page: Arc::new(page), known };
        Some(self.open.insert(open).page.clone())
    }

    /// Returns the lines with a final layout.
    pub fn height(&self) -> usize {
        self.list.iter().map(|piece| piece.page.lines.len()).sum()
    }

    /// Returns the lowest lookup counter of pieces with pending lookups.
    pub fn lacks(&self) -> Option<u64> {
        self.list.iter().filter_map(|piece| piece.known).min()
    }

    /// Appends the final pieces to a layout.
    pub fn add_to(&self, laid: &mut Laid) {
        for piece in &self.list {
            laid.add(piece.page.clone());
        }
    }

    /// Makes the layout of the next bytes final.
    fn add(&mut self, ground: &Ground<'_>, text: &str, bytes: usize, outside: &Outsides) {
        let range = self.done..self.done + bytes;
        self.mark.write(&text.as_bytes()[range.clone()]);
        self.done = range.end;
        let is_first = self.list.is_empty();
        if let Some(piece) = Piece::lay_out(ground, text, range, is_first, outside) {
            match self.list.last_mut() {
                Some(last) if last.takes(&piece) => last.take(piece),
                _ => self.list.push(piece),
            }
        }
    }

    /// Lays out pieces again whose lookups may have finished.
    fn refresh(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) {
        if !self.list.iter().any(|piece| piece.is_old(outside)) {
            return;
        }
        for (at, mut piece) in std::mem::take(&mut self.list).into_iter().enumerate() {
            if piece.is_old(outside)
                && let Some(anew) = Piece::lay_out(ground, text, piece.text.clone(), at == 0, outside)
            {
                piece = anew;
            }
            match self.list.last_mut() {
                Some(last) if last.takes(&piece) => last.take(piece),
                _ => self.list.push(piece),
            }
        }
    }
}

/// Returns the length in bytes of the closed blocks at the start of a text.
fn stable(text: &str) -> Option<usize> {
    for look in LOOKS {
        let rest = entry::beginning(text, look);
        match markdown::stable_prefix(rest) {
            0 if rest.len() < text.len() => {}
            0 => return None,
            stable => return Some(stable),
        }
    }
    None
}

impl Piece {
    fn lay_out(
        ground: &Ground<'_>,
        text: &str,
        range: Range<usize>,
        is_first: bool,
        outside: &Outsides,
    ) -> Option<Self> {
        let (mut page, known) = outside.lay_out(ground, &text[range.clone()]);
        if page.lines.is_empty() {
            return None;
        }
        if !is_first {
            let mut spaced = Page { lines: vec![Line::default()], ..Page::default() };
            spaced.append(page);
            page = spaced;
        }
        Some(Self { text: range, page: Arc::new(page), known })
    }

    fn is_old(&self, outside: &Outsides) -> bool {
        self.known.is_some_and(|known| known != outside.known())
    }

    /// Returns whether another piece can be merged into this one: both layouts must be final.
    fn takes(&self, other: &Piece) -> bool {
        self.known.is_none() && other.known.is_none() && self.page.lines.len() < PIECE
    }

    fn take(&mut self, other: Piece) {
        self.text.end = other.text.end;
        let page = Arc::try_unwrap(other.page).unwrap_or_else(|page| (*page).clone());
        Arc::make_mut(&mut self.page).append(page);
    }
}
