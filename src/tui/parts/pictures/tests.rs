//! Requests, limits and removal of pictures.

use super::*;

fn pictures() -> Pictures {
    Pictures { protocol: Some(Protocol::Blocks), ..Pictures::default() }
}

fn find(pictures: &Pictures, path: &str, pixels: (u32, u32), cells: (u16, u16)) -> Arc<PictureKey> {
    let target = LinkTarget::File { path: path.into(), line: None, end: None, column: None };
    pictures.find(&target, ImageSize { pixels, bytes: 1 }, cells).unwrap().0
}

fn pixels(key: &PictureKey) -> PictureData {
    let (width, height) = (usize::from(key.columns), 2 * usize::from(key.rows));
    PictureData::Pixels(Pixels { width, rgba: vec![7; width * height * 4] })
}

fn take_key(pictures: &mut Pictures) -> Option<Arc<PictureKey>> {
    pictures.take_request().map(|(key, _)| key)
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
    let large_cells = Pictures { cell_pixels: (16, 34), ..pictures() };
    let key = find(&large_cells, "a.png", (300, 300), (80, 18));
    assert_eq!((key.columns, key.rows), (38, 18), "half blocks do not get smaller with the pixels of a cell");
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
    assert_eq!(take_key(&mut pictures), Some(keys[1].clone()));
    assert_eq!(take_key(&mut pictures), None, "the host still reads");
    pictures.store(Ok(pixels(&keys[1])));
    assert_eq!(take_key(&mut pictures), Some(keys[0].clone()));
    pictures.store(Err("damaged".into()));
    assert_eq!(take_key(&mut pictures), None);
    assert!(pictures.content(&keys[1]).is_some() && pictures.content(&keys[0]).is_none());
    assert_eq!(take_key(&mut pictures), None, "a picture that cannot be read is not read again");
}

#[test]
fn pixels_that_were_dropped_are_requested_again_when_they_are_drawn() {
    let mut pictures = pictures();
    let read_next = |pictures: &mut Pictures, number: usize| {
        let key = find(pictures, &format!("{number}.png"), (9, 9), (80, 18));
        assert_eq!(take_key(pictures), Some(key.clone()));
        pictures.store(Ok(pixels(&key)));
        key
    };
    let keys: Vec<_> = (0..=MAX_KEPT).map(|number| read_next(&mut pictures, number)).collect();
    assert!(pictures.content(&keys[1]).is_some());
    assert_eq!(take_key(&mut pictures), None);
    assert!(pictures.content(&keys[0]).is_none() && pictures.content(&keys[0]).is_none());
    assert_eq!(take_key(&mut pictures), Some(keys[0].clone()));
    assert!(pictures.content(&keys[0]).is_none(), "it is being read");
    pictures.store(Ok(pixels(&keys[0])));
    assert_eq!(take_key(&mut pictures), None, "it was requested once");
    assert!(pictures.content(&keys[2]).is_none(), "the one that was not drawn for longest was dropped");
}

#[test]
fn a_picture_of_another_session_is_dropped_when_it_arrives() {
    let mut pictures = pictures();
    let key = find(&pictures, "a.png", (9, 9), (80, 18));
    assert_eq!(take_key(&mut pictures), Some(key.clone()));
    pictures.clear();
    pictures.store(Ok(pixels(&key)));
    assert_eq!(pictures.content(&key), None);
    let again = find(&pictures, "a.png", (9, 9), (80, 18));
    assert_eq!(take_key(&mut pictures), Some(again), "the next one is read");
}

#[test]
fn a_picture_of_the_same_name_in_another_session_is_not_the_one_that_arrives() {
    let mut pictures = pictures();
    let key = find(&pictures, "a.png", (9, 9), (80, 18));
    assert_eq!(take_key(&mut pictures), Some(key.clone()));
    pictures.clear();
    let same_name = find(&pictures, "a.png", (9, 9), (80, 18));
    pictures.store(Ok(pixels(&key)));
    assert_eq!(pictures.content(&same_name), None);
    assert_eq!(take_key(&mut pictures), Some(same_name));
}

#[test]
fn further_pictures_than_are_known_at_a_time_are_read_too() {
    let mut pictures = pictures();
    let keys: Vec<_> = (0..=MAX_KNOWN)
        .map(|number| {
            let key = find(&pictures, &format!("{number}.png"), (9, 9), (80, 18));
            assert_eq!(take_key(&mut pictures), Some(key.clone()));
            pictures.store(Ok(pixels(&key)));
            key
        })
        .collect();
    assert!(pictures.content(&keys[MAX_KNOWN]).is_some());
    assert!(pictures.content(&keys[0]).is_none());
    assert_eq!(take_key(&mut pictures), Some(keys[0].clone()), "a picture that was forgotten is read again");
}

#[test]
fn a_number_in_the_terminal_is_not_given_twice() {
    let mut pictures = kitty_pictures();
    let store = |pictures: &mut Pictures, number: u32| {
        let key = find(pictures, &format!("{number}.png"), (9, 9), (80, 18));
        take_key(pictures);
        pictures.store(Ok(PictureData::Png(Vec::new())));
        key
    };
    let visible = store(&mut pictures, 0);
    for number in 1..=STORED_NUMBERS {
        assert_eq!(pictures.content(&visible), Some(CellContent::Stored(5000)));
        let key = store(&mut pictures, number);
        assert_ne!(pictures.content(&key), Some(CellContent::Stored(5000)));
    }
}

#[test]
fn large_pictures_in_the_terminal_are_removed_before_it_drops_them() {
    let mut pictures = kitty_pictures();
    pictures.cell_pixels = MAX_CELL_PIXELS;
    let page_pixels = u64::from(160 * MAX_CELL_PIXELS.0) * u64::from(50 * MAX_CELL_PIXELS.1);
    let fitting = MAX_KEPT_PIXELS / page_pixels;
    for number in 0..=fitting {
        let key = find(&pictures, &format!("{number}.png"), (9600, 6000), PAGE_CELLS);
        assert_eq!((key.columns, key.rows), PAGE_CELLS);
        take_key(&mut pictures);
        pictures.store(Ok(PictureData::Png(Vec::new())));
    }
    assert!(pictures.take_unsent().ends_with(&kitty::remove(5000)));
    let transcript = u64::from(80 * MAX_CELL_PIXELS.0) * u64::from(18 * MAX_CELL_PIXELS.1);
    assert!(MAX_KEPT as u64 * transcript < MAX_KEPT_PIXELS, "those of a transcript do not replace each other");
}

#[test]
fn a_pixel_outside_the_picture_is_none() {
    let pixels = Pixels { width: 2, rgba: (0..16).collect() };
    assert_eq!(pixels.pixel(1, 1), Some([12, 13, 14, 15]));
    assert_eq!((pixels.pixel(2, 0), pixels.pixel(0, 2), pixels.pixel(usize::MAX, usize::MAX)), (None, None, None));
}

fn kitty_pictures() -> Pictures {
    let protocol = Some(Protocol::Kitty { first_id: 5000 });
    Pictures { protocol, cell_pixels: (10, 20), ..Pictures::default() }
}

#[test]
fn a_terminal_that_stores_pictures_gets_each_once_and_before_the_frame() {
    let mut pictures = kitty_pictures();
    let key = find(&pictures, "a.png", (1280, 720), (80, 18));
    assert_eq!((key.columns, key.rows), (64, 18));
    assert_eq!(pictures.take_request(), Some((key.clone(), PictureForm::Png(640, 360))));
    assert_eq!(pictures.take_unsent(), b"");
    pictures.store(Ok(PictureData::Png(b"PNG".to_vec())));
    assert_eq!(pictures.take_unsent(), kitty::store(5000, b"PNG", (64, 18)));
    assert_eq!(pictures.content(&key), Some(CellContent::Stored(5000)));
    assert_eq!((pictures.take_unsent(), take_key(&mut pictures)), (Vec::new(), None));
    pictures.drop_stored();
    assert_eq!(pictures.take_unsent(), kitty::remove(5000));
    assert_eq!((pictures.content(&key), take_key(&mut pictures)), (None, Some(key.clone())), "it is read again");
    pictures.store(Ok(PictureData::Png(b"PNG".to_vec())));
    assert_eq!(pictures.content(&key), Some(CellContent::Stored(5001)));
    pictures.take_unsent();
    pictures.clear();
    assert_eq!(pictures.take_unsent(), kitty::remove(5001));
}

#[test]
fn pictures_that_were_not_drawn_for_longest_are_removed_from_the_terminal() {
    let mut pictures = kitty_pictures();
    for number in 0..=MAX_KEPT {
        find(&pictures, &format!("{number}.png"), (9, 9), (80, 18));
        take_key(&mut pictures);
        pictures.take_unsent();
        pictures.store(Ok(PictureData::Png(Vec::new())));
    }
    assert!(pictures.take_unsent().ends_with(&kitty::remove(5000)));
}

#[test]
fn a_large_cell_gets_fewer_pixels_than_it_has() {
    let mut pictures = Pictures { cell_pixels: (30, 60), ..kitty_pictures() };
    let key = find(&pictures, "a.png", (3000, 1500), (80, 18));
    assert_eq!((key.columns, key.rows), (72, 18));
    assert_eq!(pictures.take_request().unwrap().1, PictureForm::Png(864, 432));
}

fn strip_pictures(protocol: Protocol, cell_pixels: (u32, u32)) -> Pictures {
    let mut pictures = Pictures { protocol: Some(protocol), ..Pictures::default() };
    pictures.set_cell_pixels(cell_pixels);
    pictures
}

#[test]
fn strips_have_the_pixels_of_their_cells() {
    use StripFormat::{Png, Sixel};
    for (protocol, cell, size, cells, expected) in [
        (Protocol::Sixel, (10, 20), (1280, 720), (64, 18), (Sixel, (640, 360), (640, 20), 18)),
        (Protocol::Sixel, (10, 20), (25, 21), (3, 2), (Sixel, (25, 21), (30, 20), 2)),
        // Cells with many pixels get all of them as sixels, of which the whole picture has no more than of small cells.
        (Protocol::Sixel, (40, 80), (3000, 1500), (48, 12), (Sixel, (1920, 960), (1920, 80), 12)),
        (Protocol::Iterm, (10, 20), (1280, 720), (64, 18), (Png, (640, 360), (640, 20), 18)),
        // The terminal scales PNGs.
        (Protocol::Iterm, (30, 60), (3000, 1500), (72, 18), (Png, (864, 432), (864, 24), 18)),
        (Protocol::Iterm, (13, 30), (13, 45), (1, 2), (Png, (10, 36), (10, 24), 2)),
    ] {
        let mut pictures = strip_pictures(protocol, cell);
        let key = find(&pictures, "a.png", size, (80, 18));
        assert_eq!((key.columns, key.rows), cells, "{size:?}");
        let (format, picture, strip, count) = expected;
        let form = PictureForm::Strips(StripLayout { format, picture, strip, count });
        assert_eq!(pictures.take_request(), Some((key, form)), "{protocol:?} {cell:?}");
    }
}

#[test]
fn each_strip_of_each_picture_has_a_number_of_its_own() {
    let mut pictures = strip_pictures(Protocol::Sixel, (10, 20));
    let keys: Vec<_> = (0..3)
        .map(|number| {
            let key = find(&pictures, &format!("{number}.png"), (1600, 1000), PAGE_CELLS);
            take_key(&mut pictures);
            pictures.store(Ok(PictureData::Strips(vec![b"strip".to_vec(); usize::from(PAGE_CELLS.1)])));
            key
        })
        .collect();
    let mut numbers = std::collections::HashSet::new();
    for key in &keys {
        let Some(CellContent::Strips(strips)) = pictures.content(key) else { panic!("{key:?}") };
        assert_eq!((strips.count(), strips.strip_bytes(49), strips.strip_bytes(50)), (50, &b"strip"[..], &b""[..]));
        numbers.extend((0..strips.count()).map(|row| strips.strip_number(row)));
    }
    assert_eq!(numbers.len(), 150);
    assert!(numbers.iter().all(|number| (1..1 << 24).contains(number)));
    assert_eq!(pictures.take_unsent(), b"", "the terminal stores nothing");
}

#[test]
fn strips_of_many_bytes_are_dropped_earlier() {
    let mut pictures = strip_pictures(Protocol::Sixel, (10, 20));
    let keys: Vec<_> = (0..3)
        .map(|number| {
            let key = find(&pictures, &format!("{number}.png"), (9, 9), (80, 18));
            take_key(&mut pictures);
            pictures.store(Ok(PictureData::Strips(vec![vec![0; MAX_KEPT_PIXELS as usize / 2]])));
            key
        })
        .collect();
    assert!(pictures.content(&keys[0]).is_none());
    assert!(pictures.content(&keys[1]).is_some() && pictures.content(&keys[2]).is_some());
}

#[test]
fn strips_are_read_again_if_the_size_of_a_cell_changes() {
    let mut pictures = strip_pictures(Protocol::Sixel, (10, 20));
    let key = find(&pictures, "a.png", (100, 100), (80, 18));
    take_key(&mut pictures);
    pictures.store(Ok(PictureData::Strips(vec![Vec::new(); 5])));
    for same in [(10, 20), (0, 0)] {
        pictures.set_cell_pixels(same);
        pictures.drop_stored();
        assert!(pictures.content(&key).is_some(), "{same:?}");
    }
    pictures.set_cell_pixels((5, 10));
    assert!(pictures.content(&key).is_none());
    let (same, form) = pictures.take_request().unwrap();
    let strips = StripLayout { format: StripFormat::Sixel, picture: (50, 50), strip: (50, 10), count: 5 };
    assert_eq!((same, form), (key.clone(), PictureForm::Strips(strips)));
    // The size changes again while it is read.
    pictures.set_cell_pixels((10, 20));
    pictures.store(Ok(PictureData::Strips(vec![Vec::new(); 5])));
    assert!(pictures.content(&key).is_none());
    assert_eq!(take_key(&mut pictures), Some(key));
}
