//! Tests of animations.

use super::*;

const OPTIONS: RasterOptions = RasterOptions { has_window: false, scale: 1, padding: 14 };
const HEADER: &str = r##"{"version":2,"width":10,"height":3,"theme":{"fg":"#ffffff","bg":"#102030","palette":""}}"##;

fn record(lines: &str) -> Recording {
    Recording::parse(&format!("{HEADER}\n{lines}\n")).unwrap()
}

/// Delay, left, top, width and height of each frame, and the picture after it.
fn decode(bytes: &[u8]) -> Vec<(u16, [u16; 4], Vec<[u8; 3]>)> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).unwrap();
    let width = usize::from(decoder.width());
    let mut screen = vec![[0; 3]; width * usize::from(decoder.height())];
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (index, pixel) in frame.buffer.as_chunks::<4>().0.iter().enumerate() {
            let (x, y) = (index % usize::from(frame.width), index / usize::from(frame.width));
            let at = (usize::from(frame.top) + y) * width + usize::from(frame.left) + x;
            screen[at] = [pixel[0], pixel[1], pixel[2]];
        }
        frames.push((frame.delay, [frame.left, frame.top, frame.width, frame.height], screen.clone()));
    }
    frames
}

/// The pictures of all frames, each drawn alone.
fn draw_each(recording: &Recording) -> Vec<Vec<[u8; 3]>> {
    let played = Frames::play(recording).unwrap();
    let draw = |frame| {
        let mut painter = FramePainter::new(recording, &played, OPTIONS).unwrap();
        painter.draw(frame);
        painter.canvas().pixels().to_vec()
    };
    played.frames.iter().map(draw).collect()
}

#[test]
fn frames_hold_what_changed_for_their_time() {
    let recording = record(
        "[0, \"o\", \"\\u001b[?25labc\"]\n[1, \"o\", \"\\u001b[2;3H\\u001b[41m \"]\n[1.5, \"o\", \"\\u001b[0m\"]\n\
         [2.25, \"o\", \"\\u001b[3;1H█\"]",
    );
    let frames = decode(&draw_gif(&recording, OPTIONS).unwrap());
    let places: Vec<(u16, [u16; 4])> = frames.iter().map(|(delay, area, _)| (*delay, *area)).collect();
    assert_eq!(places, [(100, [0, 0, 118, 82]), (125, [14 + 2 * 9, 14 + 18, 9, 18]), (300, [14, 14 + 2 * 18, 9, 18])]);
    let shown: Vec<_> = frames.into_iter().map(|(.., pixels)| pixels).collect();
    assert_eq!(shown, draw_each(&recording), "256 colours are enough for an exact copy");
}

#[test]
fn many_colours_use_palettes_of_frames_and_keep_those_of_the_theme() {
    let gradient = |base: usize| -> String {
        (0..10)
            .map(|index| {
                format!("\\u001b[48;2;{0};{1};9m\\u001b[38;2;{1};{0};255mW", base + index * 20, 255 - index * 9)
            })
            .collect()
    };
    let lines: Vec<String> = (0..6_usize)
        .map(|index| format!("[{index}, \"o\", \"\\u001b[{};1H{}\"]", index % 3 + 1, gradient(index * 7)))
        .collect();
    let recording = record(&lines.join("\n"));
    let frames = decode(&draw_gif(&recording, OPTIONS).unwrap());
    let expected = draw_each(&recording);
    assert_eq!(frames.len(), expected.len());
    let played = Frames::play(&recording).unwrap();
    let exact = theme_colours(&recording, &played);
    let mut differing = 0;
    for ((.., shown), expected) in frames.iter().zip(&expected) {
        for (shown, expected) in shown.iter().zip(expected) {
            assert!(shown == expected || !exact.contains(expected), "{shown:?} instead of {expected:?}");
            differing += usize::from(shown != expected);
        }
    }
    assert!(differing * 20 < expected.len() * expected[0].len(), "{differing} pixels");
}

#[test]
fn changes_are_found_to_the_pixel() {
    let before = vec![[0; 3]; 20];
    let mut after = before.clone();
    assert_eq!(find_change(&before, &after, 5, [0, 0, 5, 4]), None);
    after[7] = [1; 3];
    after[13] = [1; 3];
    assert_eq!(find_change(&before, &after, 5, [0, 0, 5, 4]), Some([2, 1, 2, 2]));
    assert_eq!(find_change(&before, &after, 5, [3, 2, 2, 2]), Some([3, 2, 1, 1]));
}
