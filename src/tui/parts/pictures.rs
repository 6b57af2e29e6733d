//! Pictures drawn on the screen: layouts request them, the host reads them scaled to cells, and the view draws their rows.

use crate::chat::image::{ImageSize, StripFormat, StripLayout, fit_within};
use crate::text::link::LinkTarget;
use crate::tui::graphics::kitty;
use crate::tui::text::PictureKey;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Largest picture in the transcript, in columns and rows.
pub const TRANSCRIPT_CELLS: (u16, u16) = (80, 18);
/// Minimum of the rows of a picture in the transcript of a small screen.
const MIN_TRANSCRIPT_ROWS: u16 = 4;
/// Rows around a picture: its caption, and what surrounds the transcript.
const ROWS_AROUND: u16 = 7;
/// Largest picture on a page, in columns and rows.
pub const PAGE_CELLS: (u16, u16) = (160, 50);
/// Width and height of a cell in pixels, if the terminal does not tell: twice as high as wide.
const CELL_PIXELS: (u32, u32) = (8, 16);
/// Maximum width and height of a cell in the pixels of a picture: more bytes would be sent than a terminal shows quickly.
const MAX_CELL_PIXELS: (u32, u32) = (12, 24);
/// Maximum width and height of a picture in sixel graphics, which have all pixels of their cells: a cell with many pixels
/// makes the picture smaller.
const MAX_SIXEL_PIXELS: (u32, u32) = (PAGE_CELLS.0 as u32 * MAX_CELL_PIXELS.0, PAGE_CELLS.1 as u32 * MAX_CELL_PIXELS.1);
/// Count of the numbers for pictures in strips, and of the numbers for the strips of each.
const PICTURE_NUMBERS: u32 = 1 << 17;
const NUMBERS_PER_PICTURE: u32 = 64;
/// Count of the numbers under which pictures are stored in the terminal.
const STORED_NUMBERS: u32 = 1 << 10;
/// Maximum number of pictures that are known at a time. The others are requested again when they are laid out again.
const MAX_KNOWN: usize = 1000;
/// Maximum number of pictures that wait to be read, the last requested ones.
const MAX_PENDING: usize = 32;
/// Maximum number of pictures that are kept, here or in the terminal. No more are drawn in a frame: they would replace each
/// other.
pub const MAX_KEPT: usize = 64;
/// Maximum pixels of the kept pictures: as many as a terminal decodes to 160 MB. The largest [`MAX_KEPT`] pictures of a
/// transcript have fewer. A picture in strips counts as many as it has bytes, if these are more.
const MAX_KEPT_PIXELS: u64 = 40_000_000;

/// How pictures are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// As half blocks.
    Blocks,
    /// Stored in the terminal under numbers from this one on.
    Kitty { first_id: u32 },
    /// As sixel graphics, a strip for each row of cells. The size of a cell in pixels is known.
    Sixel,
    /// In iTerm2's protocol, a strip for each row of cells.
    Iterm,
}

/// Form in which the host reads a picture, with its width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureForm {
    Pixels(u32, u32),
    Png(u32, u32),
    /// Strips of the pixels of cells. Their width and height is that of the strips.
    Strips(StripLayout),
}

/// A picture as the host has read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureData {
    Pixels(Pixels),
    Png(Vec<u8>),
    /// Bytes that draw each strip at the cursor.
    Strips(Vec<Vec<u8>>),
}

/// What cells of a picture show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellContent {
    Pixels(Arc<Pixels>),
    /// The picture that the terminal stores under this number.
    Stored(u32),
    /// Strips that are written over the cells.
    Strips(Arc<PictureStrips>),
}

/// Returns the maximum rows of a picture in the transcript of a screen of this height, on which it is visible as a whole.
pub fn max_transcript_rows(screen_rows: u16) -> u16 {
    screen_rows.saturating_sub(ROWS_AROUND).clamp(MIN_TRANSCRIPT_ROWS, TRANSCRIPT_CELLS.1)
}

/// The strips of a picture, one for each of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureStrips {
    /// Number of the picture, which no other has at this time.
    number: u32,
    strips: Vec<Vec<u8>>,
}

impl PictureStrips {
    pub fn count(&self) -> u16 {
        u16::try_from(self.strips.len()).unwrap_or(u16::MAX)
    }

    /// Returns the bytes that draw a strip; none if there is no such strip.
    pub fn strip_bytes(&self, row: u16) -> &[u8] {
        self.strips.get(usize::from(row)).map_or(&[], Vec::as_slice)
    }

    /// Returns a number of 24 bits that no strip of another picture has.
    pub fn strip_number(&self, row: u16) -> u32 {
        (self.number + 1) * NUMBERS_PER_PICTURE + u32::from(row) % NUMBERS_PER_PICTURE
    }
}

/// Pixels of a picture: two for each cell, one above the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub width: usize,
    /// Red, green, blue and opacity of each pixel, row by row.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// Returns red, green, blue and opacity of a pixel, if it exists.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        let start = y.checked_mul(self.width)?.checked_add(x)?.checked_mul(4)?;
        (x < self.width).then(|| self.rgba.get(start..)?.first_chunk().copied())?
    }
}

/// What is known about a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureStatus {
    /// It was not read yet.
    Pending,
    /// It can be drawn.
    Ready,
    /// It cannot be read.
    Failed,
}

/// The pictures of the screen.
#[derive(Debug, Default)]
pub struct Pictures {
    /// How pictures are drawn; `None` if they are not.
    pub protocol: Option<Protocol>,
    /// Width and height of a cell in pixels; 0 if unknown.
    cell_pixels: (u32, u32),
    known: RefCell<HashMap<Arc<PictureKey>, PictureStatus>>,
    /// Pictures to be read, the last requested one at the end.
    pending: RefCell<Vec<Arc<PictureKey>>>,
    /// The picture that the host reads.
    reading: Option<Reading>,
    /// Pictures that were read, the last drawn one at the end.
    kept: RefCell<Vec<KeptPicture>>,
    /// Number of pictures that were stored in the terminal or kept in strips.
    stored_count: u32,
    /// Bytes for the terminal that store and remove pictures.
    unsent: Vec<u8>,
}

/// A picture that the host reads.
#[derive(Debug)]
struct Reading {
    key: Arc<PictureKey>,
    /// False if another session is shown meanwhile, which may have another picture of this name.
    is_wanted: bool,
    pixels: u64,
}

/// A picture that was read.
#[derive(Debug)]
struct KeptPicture {
    key: Arc<PictureKey>,
    content: CellContent,
    pixels: u64,
}

impl Pictures {
    /// Returns the picture at the size at which it fits in these cells, and what is known about it. It is requested if
    /// nothing is. `None` if it is not drawn.
    pub fn find(
        &self,
        target: &LinkTarget,
        size: ImageSize,
        (columns, rows): (u16, u16),
    ) -> Option<(Arc<PictureKey>, PictureStatus)> {
        if self.protocol.is_none() || columns == 0 || rows == 0 {
            return None;
        }
        let cell = self.cell_size();
        let (columns, rows) = match self.protocol {
            Some(Protocol::Sixel) => {
                let limit = |cells: u16, max: u32, by: u32| cells.min(u16::try_from(max / by).unwrap_or(cells)).max(1);
                (limit(columns, MAX_SIXEL_PIXELS.0, cell.0), limit(rows, MAX_SIXEL_PIXELS.1, cell.1))
            }
            _ => (columns, rows),
        };
        let limits = (u32::from(columns) * cell.0, u32::from(rows) * cell.1);
        let (width, height) = fit_within(size.pixels, limits);
        let cells = |pixels: u32, by: u32, max: u16| u16::try_from(pixels.div_ceil(by)).unwrap_or(max).clamp(1, max);
        let (columns, rows) = (cells(width, cell.0, columns), cells(height, cell.1, rows));
        let key = PictureKey { target: target.clone(), size, columns, rows };
        let mut known = self.known.borrow_mut();
        if let Some((key, status)) = known.get_key_value(&key) {
            return Some((key.clone(), *status));
        }
        if known.len() >= MAX_KNOWN {
            known.retain(|_, status| *status == PictureStatus::Pending);
        }
        let key = Arc::new(key);
        known.insert(key.clone(), PictureStatus::Pending);
        self.request(key.clone());
        Some((key, PictureStatus::Pending))
    }

    /// Returns the width and height of a cell in pixels of a picture that is not scaled. Half blocks use only the proportion of
    /// a cell: the more pixels a terminal has, the smaller a picture would be.
    fn cell_size(&self) -> (u32, u32) {
        match (self.cell_pixels, self.protocol) {
            ((0, _) | (_, 0), _) => CELL_PIXELS,
            (size, Some(Protocol::Kitty { .. } | Protocol::Sixel | Protocol::Iterm)) => size,
            ((width, height), Some(Protocol::Blocks) | None) => {
                (CELL_PIXELS.0, (CELL_PIXELS.0 * height / width).max(1))
            }
        }
    }

    /// Returns what the cells of a picture show. The picture is requested again if it is not kept any more.
    pub fn content(&self, key: &Arc<PictureKey>) -> Option<CellContent> {
        let mut kept = self.kept.borrow_mut();
        let Some(index) = kept.iter().position(|picture| picture.key == *key) else {
            let can_be_read = matches!(self.known.borrow().get(key), Some(PictureStatus::Ready) | None);
            let is_read = self.reading.as_ref().is_some_and(|reading| reading.key == *key);
            if can_be_read && !is_read && !self.pending.borrow().contains(key) {
                self.request(key.clone());
            }
            return None;
        };
        let picture = kept.remove(index);
        let content = picture.content.clone();
        kept.push(picture);
        Some(content)
    }

    fn request(&self, key: Arc<PictureKey>) {
        let mut pending = self.pending.borrow_mut();
        pending.push(key);
        if pending.len() > MAX_PENDING {
            let dropped = pending.remove(0);
            // It is requested again when it is laid out again.
            self.known.borrow_mut().remove(&dropped);
        }
    }

    /// Returns the next picture for the host to read: the last requested one, unless it reads one already.
    pub fn take_request(&mut self) -> Option<(Arc<PictureKey>, PictureForm)> {
        if self.reading.is_some() {
            return None;
        }
        let protocol = self.protocol?;
        let key = self.pending.get_mut().pop()?;
        let form = match protocol {
            Protocol::Blocks => PictureForm::Pixels(u32::from(key.columns), 2 * u32::from(key.rows)),
            Protocol::Kitty { .. } => {
                let cell = self.cell_size();
                let cell = (cell.0.min(MAX_CELL_PIXELS.0), cell.1.min(MAX_CELL_PIXELS.1));
                let limits = (u32::from(key.columns) * cell.0, u32::from(key.rows) * cell.1);
                let (width, height) = fit_within(key.size.pixels, limits);
                PictureForm::Png(width, height)
            }
            Protocol::Sixel => PictureForm::Strips(self.lay_out_strips(&key, StripFormat::Sixel, self.cell_size())),
            // The terminal scales strips, but not the picture as a whole, so the proportion of a cell is kept.
            Protocol::Iterm => {
                let cell = fit_within(self.cell_size(), MAX_CELL_PIXELS);
                PictureForm::Strips(self.lay_out_strips(&key, StripFormat::Png, cell))
            }
        };
        let (width, height) = match form {
            PictureForm::Pixels(width, height) | PictureForm::Png(width, height) => (width, height),
            PictureForm::Strips(strips) => (strips.strip.0, strips.strip.1 * strips.count),
        };
        let pixels = u64::from(width) * u64::from(height);
        self.reading = Some(Reading { key: key.clone(), is_wanted: true, pixels });
        Some((key, form))
    }

    /// Returns the strips of a picture, for each cell of which they have this width and height in pixels.
    fn lay_out_strips(&self, key: &PictureKey, format: StripFormat, by: (u32, u32)) -> StripLayout {
        let cell = self.cell_size();
        let (columns, rows) = (u32::from(key.columns), u32::from(key.rows));
        let (width, height) = fit_within(key.size.pixels, (columns * cell.0, rows * cell.1));
        let scale = |side: u32, from: u32, to: u32| ((side * to + from / 2) / from).max(1);
        let picture = (scale(width, cell.0, by.0), scale(height, cell.1, by.1));
        StripLayout { format, picture, strip: (columns * by.0, by.1), count: rows }
    }

    /// Sets the width and height of a cell in pixels; 0 if unknown. Strips of another size are read again.
    pub fn set_cell_pixels(&mut self, cell_pixels: (u32, u32)) {
        let is_unknown = cell_pixels.0 == 0 || cell_pixels.1 == 0;
        match self.protocol {
            // The last known size is still about right.
            Some(Protocol::Sixel) if is_unknown => {}
            Some(Protocol::Sixel | Protocol::Iterm) if self.cell_pixels != cell_pixels => {
                self.cell_pixels = cell_pixels;
                self.clear();
            }
            _ => self.cell_pixels = cell_pixels,
        }
    }

    /// Stores what the host has read. A picture of another session is dropped.
    pub fn store(&mut self, data: Result<PictureData, String>) {
        let Some(Reading { key, mut pixels, .. }) = self.reading.take().filter(|reading| reading.is_wanted) else {
            return;
        };
        let status = if data.is_ok() { PictureStatus::Ready } else { PictureStatus::Failed };
        self.known.get_mut().insert(key.clone(), status);
        let content = match (data, self.protocol) {
            (Ok(PictureData::Pixels(pixels)), _) => CellContent::Pixels(Arc::new(pixels)),
            (Ok(PictureData::Png(png)), Some(Protocol::Kitty { first_id })) => {
                let is_used = |content: &CellContent, number| *content == CellContent::Stored(first_id + number);
                let id = first_id + self.unused_number(STORED_NUMBERS, is_used);
                self.unsent.extend(kitty::store(id, &png, (key.columns, key.rows)));
                CellContent::Stored(id)
            }
            (Ok(PictureData::Strips(strips)), _) => {
                pixels = pixels.max(strips.iter().map(|strip| strip.len() as u64).sum());
                let is_used = |content: &CellContent, number| match content {
                    CellContent::Strips(kept) => kept.number == number,
                    CellContent::Pixels(_) | CellContent::Stored(_) => false,
                };
                let number = self.unused_number(PICTURE_NUMBERS, is_used);
                CellContent::Strips(Arc::new(PictureStrips { number, strips }))
            }
            (Ok(PictureData::Png(_)) | Err(_), _) => return,
        };
        let kept = self.kept.get_mut();
        let (same, mut others): (Vec<_>, Vec<_>) = kept.drain(..).partition(|picture| picture.key == key);
        same.iter().for_each(|picture| self.unsent.extend(removal_bytes(&picture.content)));
        others.push(KeptPicture { key, content, pixels });
        *kept = others;
        let count_pixels = |kept: &[KeptPicture]| kept.iter().map(|picture| picture.pixels).sum::<u64>();
        while kept.len() > MAX_KEPT || kept.len() > 1 && count_pixels(kept) > MAX_KEPT_PIXELS {
            self.unsent.extend(removal_bytes(&kept.remove(0).content));
        }
    }

    /// Returns a number below `count` for which no kept picture is in use. Fewer pictures are kept than there are numbers.
    fn unused_number(&mut self, count: u32, is_used: impl Fn(&CellContent, u32) -> bool) -> u32 {
        loop {
            let number = self.stored_count % count;
            self.stored_count = self.stored_count.wrapping_add(1);
            if !self.kept.get_mut().iter().any(|picture| is_used(&picture.content, number)) {
                return number;
            }
        }
    }

    /// Returns and removes the bytes for the terminal that store and remove pictures. They precede the next frame.
    pub fn take_unsent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unsent)
    }

    /// Drops the pictures that the terminal stores, because another program may have removed them. What is drawn is read again.
    pub fn drop_stored(&mut self) {
        let is_stored = |picture: &KeptPicture| matches!(picture.content, CellContent::Stored(_));
        let (stored, others): (Vec<_>, Vec<_>) = self.kept.get_mut().drain(..).partition(is_stored);
        *self.kept.get_mut() = others;
        self.remove_stored(&stored);
    }

    fn remove_stored(&mut self, dropped: &[KeptPicture]) {
        dropped.iter().for_each(|picture| self.unsent.extend(removal_bytes(&picture.content)));
    }

    /// Forgets all pictures, because another session is shown.
    pub fn clear(&mut self) {
        self.known.get_mut().clear();
        self.pending.get_mut().clear();
        if let Some(reading) = &mut self.reading {
            reading.is_wanted = false;
        }
        let dropped = std::mem::take(self.kept.get_mut());
        self.remove_stored(&dropped);
    }
}

fn removal_bytes(content: &CellContent) -> Vec<u8> {
    match content {
        CellContent::Pixels(_) | CellContent::Strips(_) => Vec::new(),
        CellContent::Stored(id) => kitty::remove(*id),
    }
}

#[cfg(test)]
mod tests;
