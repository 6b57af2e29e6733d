//! A reply laid out in pieces: what nothing to come can change is laid out once, while it grows and ever after.

use super::Ground;
use super::cache::{Laid, Outsides};
use super::entry;
use crate::tui::text::{Page, markdown, wrap};
use ratatui::text::Line;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Pieces are put together up to about so many lines, so that adding one never copies all.
const PIECE: usize = 400;
/// A block that is not closed is laid out as a whole up to so many bytes; of a longer one only the end is shown
/// while it comes.
const OPEN_BLOCK: usize = 32 * 1024;
/// Blocks are looked for in so many bytes, and in more only where that holds no end of one: small pieces are cheap
/// to lay out again, and of a block longer than the last the end is not waited for.
const LOOKS: [usize; 3] = [4 * 1024, 32 * 1024, 256 * 1024];

/// The beginning of a reply, laid out.
#[derive(Default)]
pub struct Pieces {
    /// Bytes of the reply that are laid out for good.
    done: usize,
    /// What they were.
    mark: DefaultHasher,
    list: Vec<Piece>,
    /// So long was the reply when closed blocks were looked for last.
    looked: usize,
    open: Option<Piece>,
    /// Something in it changes what is far above: it is laid out as a whole, and only when it is.
    whole: bool,
}

struct Piece {
    text: Range<usize>,
    page: Arc<Page>,
    /// Where something outside was not known yet: what was known then.
    known: Option<u64>,
}

impl Pieces {
    /// Bytes that are laid out for good.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Whether a reply begins with what is laid out here.
    pub fn begin(&self, text: &str) -> bool {
        text.get(..self.done).is_some_and(|text| {
            let mut mark = DefaultHasher::new();
            mark.write(text.as_bytes());
            mark.finish() == self.mark.finish()
        })
    }

    /// Lays out the blocks that were closed since the last time, and again what was laid out before the outside knew.
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

    /// The reply is whole: its rest is laid out too.
    pub fn end(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) {
        self.open = None;
        if self.done < text.len() {
            self.add(ground, text, text.len() - self.done, outside);
        }
        self.looked = text.len();
    }

    /// What may still change, laid out; nothing where there is no more.
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
            let words = format!("… {} before this, shown when it is whole", super::live::bytes(from));
            page.append(entry::plain(&words, ground.theme.dim, ground.width, ""));
            page.lines.extend(wrap::plain(&rest[from..], ground.theme.text, ground.width));
        }
        let open = Piece { text: range, page: Arc::new(page), known };
        Some(self.open.insert(open).page.clone())
    }

    /// Lines that are laid out for good.
    pub fn height(&self) -> usize {
        self.list.iter().map(|piece| piece.page.lines.len()).sum()
    }

    /// Where something outside is not known yet: what is known now.
    pub fn lacks(&self) -> Option<u64> {
        self.list.iter().filter_map(|piece| piece.known).min()
    }

    /// Puts what is laid out for good below what is there.
    pub fn add_to(&self, laid: &mut Laid) {
        for piece in &self.list {
            laid.add(piece.page.clone());
        }
    }

    /// Lays out so many more bytes for good.
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

    /// Lays out again what lacked something that may be known by now.
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

/// The bytes of the blocks that come next and are closed.
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

    /// Whether another piece may become part of this one: neither is laid out again.
    fn takes(&self, other: &Piece) -> bool {
        self.known.is_none() && other.known.is_none() && self.page.lines.len() < PIECE
    }

    fn take(&mut self, other: Piece) {
        self.text.end = other.text.end;
        let page = Arc::try_unwrap(other.page).unwrap_or_else(|page| (*page).clone());
        Arc::make_mut(&mut self.page).append(page);
    }
}
