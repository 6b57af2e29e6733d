//! Tests of the pictures of frames.

use super::*;

const BACKGROUND: [u8; 3] = [0x10, 0x20, 0x30];
const HEADER: &str =
    r##"{"version":2,"width":10,"height":3,"title":"demo","theme":{"fg":"#ffffff","bg":"#102030","palette":""}}"##;

fn paint(output: &str, options: RasterOptions) -> FramePainter {
    let event = serde_json::json!([0, "o", output]);
    let recording = Recording::parse(&format!("{HEADER}\n{event}\n")).unwrap();
    let played = Frames::play(&recording).unwrap();
    let mut painter = FramePainter::with_fonts(&recording, &played, options, Vec::new()).unwrap();
    painter.draw(&played.frames[0]);
    painter
}

/// The colours of a cell, each once.
fn colours(painter: &FramePainter, column: usize, row: usize) -> Vec<[u8; 3]> {
    let (width, cell) = (painter.canvas.size().0, painter.cell);
    let (left, top) = (painter.origin.0 + column * cell.width, painter.origin.1 + row * cell.height);
    let pixel = |x: usize, y: usize| painter.canvas.pixels()[(top + y) * width + left + x];
    let mut colours: Vec<_> =
        (0..cell.height).flat_map(|y| (0..cell.width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
    colours.sort_unstable();
    colours.dedup();
    colours
}

#[test]
fn cells_have_the_colours_of_their_styles() {
    for scale in [1, 2] {
        let painter = paint(
            "\u{1b}[?25lx\u{1b}[48;2;1;2;3m \u{1b}[0;7m \u{1b}[0;38;2;200;0;0m█\u{1b}[0;2m█\u{1b}[0m日\u{1b}[4m \u{1b}[0m\r\n─",
            RasterOptions { has_window: false, scale, ..RasterOptions::default() },
        );
        let inked = colours(&painter, 0, 0);
        assert!(inked.contains(&BACKGROUND) && inked.contains(&[255; 3]) && inked.len() <= 16, "{inked:?}");
        assert_eq!(colours(&painter, 1, 0), [[1, 2, 3]]);
        assert_eq!(colours(&painter, 2, 0), [[255; 3]]);
        assert_eq!(colours(&painter, 3, 0), [[200, 0, 0]]);
        assert_eq!(colours(&painter, 4, 0), [mix_colours(BACKGROUND, [255; 3], 153)]);
        // Without a font, a wide character is a box over both of its cells.
        assert_eq!(colours(&painter, 5, 0), [BACKGROUND, [255; 3]]);
        assert_eq!(colours(&painter, 6, 0), [BACKGROUND, [255; 3]]);
        assert_eq!(colours(&painter, 7, 0), [BACKGROUND, [255; 3]], "underlined");
        assert_eq!(colours(&painter, 0, 1), [BACKGROUND, [255; 3]]);
        assert_eq!(colours(&painter, 9, 2), [BACKGROUND]);
    }
}

#[test]
fn the_window_and_the_cursor_are_drawn() {
    let size = |painter: &FramePainter| painter.canvas.size();
    let bare = paint("", RasterOptions { has_window: false, scale: 1, ..RasterOptions::default() });
    let framed = paint("", RasterOptions { has_window: true, scale: 2, ..RasterOptions::default() });
    assert_eq!((size(&bare), size(&framed)), ((118, 82), (236, 164 + 68)));
    assert!(
        BUTTONS.iter().all(|button| framed.canvas.pixels().contains(button) && !bare.canvas.pixels().contains(button))
    );
    assert_eq!(colours(&bare, 0, 0), [mix_colours(BACKGROUND, [255; 3], CURSOR_SHARE)]);
    assert_eq!(colours(&bare, 1, 0), [BACKGROUND]);
}

#[test]
fn a_frame_drawn_over_others_is_that_frame() {
    let lines = [
        "one two",
        "\\u001b[2J\\u001b[H\\u001b[3mitalic",
        "\\u001b[2;2H日本\\u001b[44m  ",
        "\\u001b[?25l\\r\\nx",
        "\\u001b[?25h",
    ];
    let events: String = (0..).zip(lines).map(|(second, text)| format!("[{second}, \"o\", \"{text}\"]\n")).collect();
    let resized = "[9, \"r\", \"20x5\"]\n[10, \"o\", \"\\u001b[5;20Hz\"]\n[11, \"r\", \"5x2\"]\n";
    let recording = Recording::parse(&format!("{HEADER}\n{events}{resized}")).unwrap();
    let played = Frames::play(&recording).unwrap();
    let options = RasterOptions { has_window: true, scale: 1, ..RasterOptions::default() };
    let start = || FramePainter::with_fonts(&recording, &played, options, Vec::new()).unwrap();
    let mut over = start();
    for frame in &played.frames {
        over.draw(frame);
        let mut alone = start();
        alone.draw(frame);
        assert_eq!(over.canvas, alone.canvas);
        assert_eq!(over.draw(frame), None, "nothing changed");
    }
}
