//! Computes the bytes that turn the frame on the terminal into the next one.

mod pen;
mod row;
mod scroll;
#[cfg(test)]
mod tests;
mod writer;

use crate::tui::view::Linked;
use pen::Look;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use row::Row;
use std::collections::HashMap;
use std::ops::Range;
use writer::Writer;

/// Frames with more bytes are sent as one synchronized update with the cursor hidden. Terminals handle smaller ones in
/// one go anyway, and the markers would double them.
const FEW: usize = 120;
/// Number of link addresses remembered before numbering starts again.
const ADDRESSES: usize = 4096;
/// Minimum number of changed rows for which moved rows are searched.
const MOVED: usize = 3;

/// Contents of the terminal.
#[derive(Default)]
pub struct Canvas {
    shown: Buffer,
    /// Link number of each cell; 0 without a link.
    links: Vec<u32>,
    /// Hash of each row, to find rows that moved.
    marks: Vec<scroll::Mark>,
    cursor: Option<Position>,
    /// True if the contents of the terminal are unknown.
    unknown: bool,
    /// True if erasing uses the current background colour instead of the default one.
    fills: bool,
    addresses: HashMap<String, u32>,
    /// Addresses of the links by number, starting at 1.
    numbered: Vec<String>,
    /// Reused buffers, so that a frame needs no allocation.
    spare: Spare,
}

/// Working buffers of a frame.
#[derive(Default)]
struct Spare {
    buffer: Buffer,
    links: Vec<u32>,
    marks: Vec<scroll::Mark>,
    changed: Vec<bool>,
    was: Row,
    is: Row,
    writer: Writer,
}

impl Canvas {
    /// Creates a canvas with unknown contents. `fills` means that erasing uses the current background colour, as in
    /// nearly all terminals.
    pub fn new(fills: bool) -> Self {
        Self { fills, unknown: true, ..Self::default() }
    }

    /// Returns an empty buffer of this size to draw into.
    pub fn blank(&mut self, width: u16, height: u16) -> Buffer {
        let mut buffer = std::mem::take(&mut self.spare.buffer);
        buffer.resize(Rect::new(0, 0, width, height));
        buffer.reset();
        buffer
    }

    /// Marks the contents of the terminal as unknown: the next frame is sent whole.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// Returns the bytes that make the terminal show this buffer: only changes, and none if nothing changed. Rows that
    /// only moved are moved by the terminal. After each frame the style is reset and no link is open, so that other
    /// programs find the terminal in its normal state.
    pub fn frame(&mut self, next: Buffer, linked: &[Linked], cursor: Option<Position>) -> &[u8] {
        let area = next.area;
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let whole = self.unknown || self.shown.area != area;
        let mut spare = std::mem::take(&mut self.spare);
        spare.writer.begin(area.width);
        if whole {
            self.begin_whole(&next, &mut spare.writer);
        }
        self.number(linked, area, &mut spare.links);
        let rows = Rows { width, shown: (&self.shown, &self.links), next: (&next, &spare.links) };
        spare.changed.clear();
        spare.changed.extend((0..height).map(|y| !rows.same(y)));
        let moved = spare.changed.iter().filter(|changed| **changed).count() >= MOVED;
        spare.marks.clone_from(&self.marks);
        for y in (0..height).filter(|y| spare.changed[*y]) {
            spare.marks[y] = scroll::Mark::of(rows.row(y, true));
        }
        if moved
            && !whole
            && let Some(shift) = scroll::find(&self.marks, &spare.marks, &spare.changed)
        {
            spare.writer.scroll(&shift, area.height);
            self.scroll(&shift, width);
            let rows = Rows { width, shown: (&self.shown, &self.links), next: (&next, &spare.links) };
            shift.rows().for_each(|y| spare.changed[y] = !rows.same(y));
        }
        let rows = Rows { width, shown: (&self.shown, &self.links), next: (&next, &spare.links) };
        for y in (0..height).filter(|y| spare.changed[*y]) {
            let (was, is) = (rows.row(y, false), rows.row(y, true));
            spare.was.read(was);
            spare.is.read(is);
            let (was, is) = ((&spare.was, was.0), (&spare.is, is.0));
            spare.writer.row(y as u16, was, is, &self.numbered, self.fills);
        }
        spare.writer.rest();
        let point = (self.cursor, cursor, whole);
        (self.unknown, self.cursor) = (false, cursor);
        spare.buffer = std::mem::replace(&mut self.shown, next);
        std::mem::swap(&mut self.links, &mut spare.links);
        std::mem::swap(&mut self.marks, &mut spare.marks);
        self.spare = spare;
        self.spare.writer.end(point, FEW)
    }

    /// Clears the terminal, with the frame's background colour if erasing uses it.
    fn begin_whole(&mut self, next: &Buffer, writer: &mut Writer) {
        let ground = next.content.first().map(|cell| cell.bg).filter(|_| self.fills).unwrap_or_default();
        writer.clear(Look { bg: ground, ..Look::default() });
        let mut blank = Cell::EMPTY;
        blank.bg = ground;
        self.shown = Buffer::filled(next.area, blank);
        self.links.clear();
        self.links.resize(next.content.len(), 0);
        let width = usize::from(next.area.width);
        let mark = scroll::Mark::of((self.shown.content.get(..width).unwrap_or_default(), &[]));
        self.marks.clear();
        self.marks.resize(usize::from(next.area.height), mark);
    }

    /// Numbers the links of the cells. An address keeps its number until numbering starts again.
    fn number(&mut self, linked: &[Linked], area: Rect, links: &mut Vec<u32>) {
        links.clear();
        links.resize(usize::from(area.width) * usize::from(area.height), 0);
        if self.numbered.len() + linked.len() > ADDRESSES {
            self.addresses.clear();
            self.numbered.clear();
            // The numbers of the current contents are invalid now: use one that equals no other.
            self.links.iter_mut().filter(|link| **link > 0).for_each(|link| *link = u32::MAX);
        }
        for Linked { area: place, address } in linked {
            let number = match self.addresses.get(address) {
                Some(number) => *number,
                None => {
                    self.numbered.push(address.clone());
                    let number = self.numbered.len() as u32;
                    self.addresses.insert(address.clone(), number);
                    number
                }
            };
            let place = place.intersection(area);
            for y in place.top()..place.bottom() {
                let row = usize::from(y) * usize::from(area.width);
                links[row + usize::from(place.left())..row + usize::from(place.right())].fill(number);
            }
        }
    }

    /// Applies a scroll of the terminal to the known contents.
    fn scroll(&mut self, shift: &scroll::Shift, width: usize) {
        let cells = |rows: Range<usize>| rows.start * width..rows.end * width;
        shift.rotate(&mut self.shown.content[cells(shift.rows())], width);
        shift.rotate(&mut self.links[cells(shift.rows())], width);
        let bare = cells(shift.bare());
        self.shown.content[bare.clone()].fill(Cell::EMPTY);
        self.links[bare].fill(0);
    }
}

/// Current and next frame, row by row.
struct Rows<'a> {
    width: usize,
    shown: (&'a Buffer, &'a [u32]),
    next: (&'a Buffer, &'a [u32]),
}

impl<'a> Rows<'a> {
    fn row(&self, y: usize, next: bool) -> (&'a [Cell], &'a [u32]) {
        let (buffer, links) = if next { self.next } else { self.shown };
        let cells = y * self.width..(y + 1) * self.width;
        (&buffer.content[cells.clone()], &links[cells])
    }

    fn same(&self, y: usize) -> bool {
        self.row(y, false) == self.row(y, true)
    }
}
