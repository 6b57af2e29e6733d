//! Pictures drawn on the screen: layouts request them, the host reads them scaled to cells, and the view draws their rows.

use crate::chat::image::{ImageSize, fit_within};
use crate::text::link::LinkTarget;
use crate::tui::text::PictureKey;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Largest picture in the transcript, in columns and rows.
pub const TRANSCRIPT_CELLS: (u16, u16) = (80, 18);
/// Largest picture on a page, in columns and rows.
pub const PAGE_CELLS: (u16, u16) = (160, 50);
/// Width and height of a cell in pixels, if the terminal does not tell: twice as high as wide.
const CELL_PIXELS: (u32, u32) = (8, 16);
/// Maximum number of pictures that are known at a time. No others are drawn.
const MAX_KNOWN: usize = 1000;
/// Maximum number of pictures that wait to be read, the last requested ones.
const MAX_PENDING: usize = 32;
/// Maximum number of pictures whose pixels are kept, and of those pixels.
const MAX_KEPT: usize = 64;
const MAX_KEPT_PIXELS: usize = 1 << 20;

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
    /// True if pictures are drawn.
    pub is_on: bool,
    known: RefCell<HashMap<Arc<PictureKey>, PictureStatus>>,
    /// Pictures to be read, the last requested one at the end.
    pending: RefCell<Vec<Arc<PictureKey>>>,
    /// True while the host reads one.
    is_reading: bool,
    /// Pixels of the pictures that were read, the last drawn one at the end.
    kept: RefCell<Vec<(Arc<PictureKey>, Arc<Pixels>)>>,
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
        if !self.is_on || columns == 0 || rows == 0 {
            return None;
        }
        let limits = (u32::from(columns) * CELL_PIXELS.0, u32::from(rows) * CELL_PIXELS.1);
        let (width, height) = fit_within(size.pixels, limits);
        let cells = |pixels: u32, by: u32, max: u16| u16::try_from(pixels.div_ceil(by)).unwrap_or(max).clamp(1, max);
        let (columns, rows) = (cells(width, CELL_PIXELS.0, columns), cells(height, CELL_PIXELS.1, rows));
        let key = PictureKey { target: target.clone(), size, columns, rows };
        let mut known = self.known.borrow_mut();
        if let Some((key, status)) = known.get_key_value(&key) {
            return Some((key.clone(), *status));
        }
        if known.len() >= MAX_KNOWN {
            return None;
        }
        let key = Arc::new(key);
        known.insert(key.clone(), PictureStatus::Pending);
        self.request(key.clone());
        Some((key, PictureStatus::Pending))
    }

    /// Returns the pixels of a picture, which are requested again if they are not kept any more.
    pub fn pixels(&self, key: &Arc<PictureKey>) -> Option<Arc<Pixels>> {
        let mut kept = self.kept.borrow_mut();
        let Some(index) = kept.iter().position(|(known, _)| known == key) else {
            let is_ready = self.known.borrow().get(key) == Some(&PictureStatus::Ready);
            if is_ready && !self.pending.borrow().contains(key) {
                self.request(key.clone());
            }
            return None;
        };
        let picture = kept.remove(index);
        let pixels = picture.1.clone();
        kept.push(picture);
        Some(pixels)
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
    pub fn take_request(&mut self) -> Option<Arc<PictureKey>> {
        if self.is_reading {
            return None;
        }
        let key = self.pending.get_mut().pop()?;
        self.is_reading = true;
        Some(key)
    }

    /// Stores what the host has read. A picture that is not known any more is dropped.
    pub fn store(&mut self, key: &PictureKey, pixels: Result<Pixels, String>) {
        self.is_reading = false;
        let known = self.known.get_mut();
        let Some((key, _)) = known.get_key_value(key) else { return };
        let key = key.clone();
        let status = if pixels.is_ok() { PictureStatus::Ready } else { PictureStatus::Failed };
        known.insert(key.clone(), status);
        let Ok(pixels) = pixels else { return };
        let kept = self.kept.get_mut();
        kept.retain(|(known, _)| *known != key);
        kept.push((key, Arc::new(pixels)));
        let count = |kept: &[(_, Arc<Pixels>)]| kept.iter().map(|(_, pixels)| pixels.rgba.len() / 4).sum::<usize>();
        while kept.len() > MAX_KEPT || kept.len() > 1 && count(kept) > MAX_KEPT_PIXELS {
            kept.remove(0);
        }
    }

    /// Forgets all pictures, because another session is shown.
    pub fn clear(&mut self) {
        self.known.get_mut().clear();
        self.pending.get_mut().clear();
        self.kept.get_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures() -> Pictures {
        Pictures { is_on: true, ..Pictures::default() }
    }

    fn find(pictures: &Pictures, path: &str, pixels: (u32, u32), cells: (u16, u16)) -> Arc<PictureKey> {
        let target = LinkTarget::File { path: path.into(), line: None, end: None, column: None };
        pictures.find(&target, ImageSize { pixels, bytes: 1 }, cells).unwrap().0
    }

    fn pixels(key: &PictureKey) -> Pixels {
        let (width, height) = key.pixels();
        Pixels { width: width as usize, rgba: vec![7; (width * height * 4) as usize] }
    }

    #[test]
    fn a_picture_fits_in_its_cells_and_is_not_enlarged() {
        for (size, cells, expected) in [
            ((1280, 720), (80, 18), (64, 18)),
            ((1280, 720), (40, 18), (40, 12)),
            ((16, 16), (80, 18), (2, 1)),
            ((1, 1), (80, 18), (1, 1)),
            ((65_535, 1), (80, 18), (80, 1)),
            ((1, 65_535), (80, 18), (1, 18)),
        ] {
            let key = find(&pictures(), "a.png", size, cells);
            assert_eq!((key.columns, key.rows), expected, "{size:?}");
        }
        let off = Pictures::default();
        let target = LinkTarget::Web("https://a.example/x.png".into());
        assert_eq!(off.find(&target, ImageSize { pixels: (9, 9), bytes: 1 }, (80, 18)), None);
    }

    #[test]
    fn pictures_are_read_one_at_a_time_and_the_last_requested_first() {
        let mut pictures = pictures();
        let keys = ["a.png", "b.png"].map(|path| find(&pictures, path, (9, 9), (80, 18)));
        let same = find(&pictures, "b.png", (9, 9), (80, 18));
        assert!(Arc::ptr_eq(&same, &keys[1]), "it is requested once");
        assert_eq!(pictures.take_request(), Some(keys[1].clone()));
        assert_eq!(pictures.take_request(), None, "the host still reads");
        pictures.store(&keys[1], Ok(pixels(&keys[1])));
        assert_eq!(pictures.take_request(), Some(keys[0].clone()));
        pictures.store(&keys[0], Err("damaged".into()));
        assert_eq!(pictures.take_request(), None);
        assert!(pictures.pixels(&keys[1]).is_some() && pictures.pixels(&keys[0]).is_none());
        assert_eq!(pictures.take_request(), None, "a picture that cannot be read is not read again");
    }

    #[test]
    fn pixels_that_were_dropped_are_requested_again_when_they_are_drawn() {
        let mut pictures = pictures();
        let read_next = |pictures: &mut Pictures, number: usize| {
            let key = find(pictures, &format!("{number}.png"), (9, 9), (80, 18));
            assert_eq!(pictures.take_request(), Some(key.clone()));
            pictures.store(&key, Ok(pixels(&key)));
            key
        };
        let keys: Vec<_> = (0..=MAX_KEPT).map(|number| read_next(&mut pictures, number)).collect();
        assert!(pictures.pixels(&keys[1]).is_some());
        assert_eq!(pictures.take_request(), None);
        assert!(pictures.pixels(&keys[0]).is_none() && pictures.pixels(&keys[0]).is_none());
        assert_eq!(pictures.take_request(), Some(keys[0].clone()));
        pictures.store(&keys[0], Ok(pixels(&keys[0])));
        assert_eq!(pictures.take_request(), None, "it was requested once");
        assert!(pictures.pixels(&keys[2]).is_none(), "the one that was not drawn for longest was dropped");
    }

    #[test]
    fn a_picture_of_another_session_is_dropped_when_it_arrives() {
        let mut pictures = pictures();
        let key = find(&pictures, "a.png", (9, 9), (80, 18));
        assert_eq!(pictures.take_request(), Some(key.clone()));
        pictures.clear();
        pictures.store(&key, Ok(pixels(&key)));
        assert_eq!(pictures.pixels(&key), None);
        let again = find(&pictures, "a.png", (9, 9), (80, 18));
        assert_eq!(pictures.take_request(), Some(again), "the next one is read");
    }

    #[test]
    fn a_pixel_outside_the_picture_is_none() {
        let pixels = Pixels { width: 2, rgba: (0..16).collect() };
        assert_eq!(pixels.pixel(1, 1), Some([12, 13, 14, 15]));
        assert_eq!((pixels.pixel(2, 0), pixels.pixel(0, 2), pixels.pixel(usize::MAX, usize::MAX)), (None, None, None));
    }
}
