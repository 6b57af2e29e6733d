//! Which strips are written, and the bytes of frames with them.

use crate::chat::image::ImageSize;
use crate::text::link::LinkTarget;
use crate::tui::canvas::Canvas;
use crate::tui::parts::pictures::{PictureData, Pictures, Protocol};
use crate::tui::text::{PictureKey, PictureRow, PlacedLink};
use crate::tui::theme::Theme;
use crate::tui::theme::catalog::Themes;
use crate::tui::view::pictures::draw_pictures;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use std::sync::Arc;

const WIDTH: u16 = 30;
const HEIGHT: u16 = 9;

/// A terminal of 30 columns and 9 rows that shows a picture of 3 columns and 4 rows in column 2.
struct Stage {
    canvas: Canvas,
    pictures: Pictures,
    key: Arc<PictureKey>,
    theme: Theme,
}

impl Stage {
    fn new() -> Self {
        let mut pictures = Pictures::default();
        pictures.set_cell_pixels((10, 20));
        pictures.protocol = Some(Protocol::Sixel);
        let key = find_picture(&pictures);
        let mut stage =
            Self { canvas: Canvas::new(true), pictures, key, theme: Themes::bundled().choose_theme("dark", None) };
        stage.read_picture();
        stage
    }

    /// Reads the picture again; its strips are `{0}` to `{3}`.
    fn read_picture(&mut self) {
        assert!(self.pictures.take_request().is_some());
        let strips = (0..4).map(|row| format!("{{{row}}}").into_bytes()).collect();
        self.pictures.store(Ok(PictureData::Strips(strips)));
    }

    /// Draws a frame with lines of text and the first row of the picture at `top`. Returns its bytes.
    fn draw(&mut self, top: i32, change: impl Fn(&mut Buffer)) -> String {
        let mut buffer = self.canvas.empty_buffer(WIDTH, HEIGHT);
        let rows = (0..4).filter_map(|row: u16| Some((row, u16::try_from(top + i32::from(row)).ok()?)));
        let rows: Vec<(u16, u16)> = rows.filter(|(_, y)| *y < HEIGHT).collect();
        for y in (0..HEIGHT).filter(|y| rows.iter().all(|(_, row_y)| row_y != y)) {
            buffer.set_string(0, y, format!("some text of line {}", i32::from(y) - top), Style::new());
        }
        let link = |(row, y): &(u16, u16)| PlacedLink {
            area: Rect::new(2, *y, 3, 1),
            target: Arc::new(self.key.target.clone()),
            picture: Some(PictureRow { key: self.key.clone(), row: *row }),
        };
        let links: Vec<PlacedLink> = rows.iter().map(link).collect();
        let strips = draw_pictures(&self.pictures, &links, &self.theme, &mut buffer);
        change(&mut buffer);
        let bytes = self.canvas.encode_frame_with_strips(buffer, &[], &strips, None);
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn draw_plain(&mut self, top: i32) -> String {
        self.draw(top, |_| {})
    }
}

fn find_picture(pictures: &Pictures) -> Arc<PictureKey> {
    let target = LinkTarget::File { path: "a.png".into(), line: None, end: None, column: None };
    let (key, _) = pictures.find(&target, ImageSize { pixels: (30, 80), bytes: 1 }, (80, 18)).unwrap();
    assert_eq!((key.columns, key.rows), (3, 4));
    key
}

/// Returns the strips of a frame, each after the position of the cursor.
fn written_strips(bytes: &str) -> Vec<&str> {
    let start = |at: usize| bytes[..at].rfind('\x1b').unwrap();
    bytes.match_indices('{').map(|(at, _)| &bytes[start(at)..at + 3]).collect()
}

const ALL_FROM_ROW_3: [&str; 4] = ["\x1b[3;3H{0}", "\x1b[4;3H{1}", "\x1b[5;3H{2}", "\x1b[6;3H{3}"];

#[test]
fn strips_are_written_after_the_cells_and_only_once() {
    let mut stage = Stage::new();
    let bytes = stage.draw_plain(2);
    assert_eq!(written_strips(&bytes), ALL_FROM_ROW_3);
    let end = "line 6\x1b[3;3H{0}\x1b[4;3H{1}\x1b[5;3H{2}\x1b[6;3H{3}\x1b[?2026l";
    assert!(bytes.starts_with("\x1b[?2026h\x1b[?25l") && bytes.ends_with(end), "{bytes:?}");
    // The number of the picture and of the row is the colour of the cells.
    assert!(bytes.contains("\x1b[38;2;0;0;65m\u{a0}\u{a0}\u{a0}"), "{bytes:?}");
    assert_eq!(stage.draw_plain(2), "");
    // The rest of the row may change.
    let bytes = stage.draw(2, |buffer| {
        buffer.set_string(0, 3, "x", Style::new());
    });
    assert_eq!(bytes, "\x1b[4Hx");
}

#[test]
fn a_picture_that_moves_is_written_again_without_scrolling_the_terminal() {
    let mut stage = Stage::new();
    stage.draw_plain(2);
    for (top, expected) in [
        (1, &["\x1b[2;3H{0}", "\x1b[3;3H{1}", "\x1b[4;3H{2}", "\x1b[5;3H{3}"][..]),
        (-1, &["\x1b[1;3H{1}", "\x1b[2;3H{2}", "\x1b[3;3H{3}"]),
        (-3, &["\x1b[1;3H{3}"]),
        (-5, &[]),
    ] {
        let bytes = stage.draw_plain(top);
        assert_eq!(written_strips(&bytes), expected, "{bytes:?}");
        assert!(!bytes.contains('r') && !bytes.contains('M') && !bytes.contains('L'), "{bytes:?}");
    }
    assert!(stage.draw_plain(-6).contains("\x1b[1;9r"), "nothing of the picture is on the screen");
}

#[test]
fn a_strip_is_not_written_on_the_last_line() {
    let mut stage = Stage::new();
    assert_eq!(written_strips(&stage.draw_plain(7)), ["\x1b[8;3H{0}"]);
    assert_eq!(written_strips(&stage.draw_plain(6)), ["\x1b[7;3H{0}", "\x1b[8;3H{1}"]);
}

#[test]
fn a_covered_strip_is_written_when_it_is_uncovered() {
    let mut stage = Stage::new();
    stage.draw_plain(2);
    let cover = |buffer: &mut Buffer| {
        buffer.set_string(4, 3, "│ popup", Style::reset());
    };
    let bytes = stage.draw(2, cover);
    assert_eq!(bytes, "\x1b[4;5H│ popup", "the other strips stay");
    assert_eq!(stage.draw(2, cover), "");
    let bytes = stage.draw_plain(2);
    assert_eq!(bytes, "\x1b[4;5H\x1b[38;2;0;0;65m\u{a0} \x1b[K\x1b[m\x1b[3G{1}");
    // Nothing is scrolled while a covered strip is on the screen.
    let cover_all = |buffer: &mut Buffer| {
        for y in 2..6 {
            buffer.set_string(4, y, "│", Style::new());
        }
    };
    assert_eq!(written_strips(&stage.draw(2, cover_all)), [""; 0]);
    let bytes = stage.draw(-5, |_| {});
    assert!(!bytes.contains("\x1b[1;9r"), "{bytes:?}");
}

#[test]
fn a_frame_on_an_unknown_screen_has_all_strips() {
    let mut stage = Stage::new();
    stage.draw_plain(2);
    stage.canvas.invalidate();
    assert_eq!(written_strips(&stage.draw_plain(2)), ALL_FROM_ROW_3);
}

#[test]
fn strips_follow_their_cells_if_these_change() {
    let mut stage = Stage::new();
    stage.draw_plain(2);
    let background = |buffer: &mut Buffer| buffer.set_style(buffer.area, Style::new().bg(Color::Rgb(9, 9, 9)));
    assert_eq!(written_strips(&stage.draw(2, background)), ALL_FROM_ROW_3);
    assert_eq!(stage.draw(2, background), "");
    // The terminal may draw this glyph over the cells of the picture.
    let family = |buffer: &mut Buffer| {
        background(buffer);
        buffer.set_string(0, 4, "👩\u{200d}👩\u{200d}👧", Style::new().bg(Color::Rgb(9, 9, 9)));
    };
    assert_eq!(written_strips(&stage.draw(2, family)), ["\x1b[3G{2}"]);
}

#[test]
fn a_picture_that_is_dropped_is_erased_and_another_one_is_written_over_it() {
    let mut stage = Stage::new();
    stage.draw_plain(2);
    stage.pictures.clear();
    let bytes = stage.draw_plain(2);
    assert!(written_strips(&bytes).is_empty() && bytes.contains("\x1b[3;3H   "), "{bytes:?}");
    stage.read_picture();
    assert_eq!(written_strips(&stage.draw_plain(2)), ALL_FROM_ROW_3);
    // Without a frame between, as if the file had changed.
    stage.pictures.clear();
    assert!(stage.pictures.content(&stage.key).is_none());
    stage.read_picture();
    assert_eq!(written_strips(&stage.draw_plain(2)), ALL_FROM_ROW_3);
}
