//! Tests of the screen of a replay.

use super::*;
use crate::recording::cast_reader::Recording;
use crate::recording::frames::Frames;
use crate::tui::theme::{ColourDepth, Themes};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn open(lines: &str) -> (Playback, ReplayView) {
    let header = r##"{"version":2,"width":30,"height":6,"theme":{"fg":"#ffffff","bg":"#102030","palette":""}}"##;
    let recording = Recording::parse(&format!("{header}\n{lines}\n")).unwrap();
    let view = ReplayView::new(&recording.theme, Themes::bundled().choose_theme("dark", None), "demo.cast");
    (Playback::new(Frames::play(&recording).unwrap()), view)
}

fn draw(
    playback: &Playback,
    view: &mut ReplayView,
    (columns, rows): (u16, u16),
) -> (Vec<String>, Option<Position>, Buffer) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    let cursor = view.draw(playback, &mut buffer);
    let row =
        |y: u16| -> String { (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() };
    ((0..rows).map(row).collect(), cursor, buffer)
}

#[test]
fn cells_and_the_bar_are_drawn() {
    let (playback, mut view) =
        open("[0, \"o\", \"ab\\u001b[44mc\\u001b[0m\\r\\n日本x\"]\n[0, \"m\", \"Intro\"]\n[90, \"o\", \"d\"]");
    let (rows, cursor, buffer) = draw(&playback, &mut view, (135, 7));
    assert_eq!(rows[0], "abc");
    assert!(rows[1].starts_with("日") && rows[1].ends_with('x'), "{rows:?}");
    assert_eq!((cursor, buffer[(2, 1)].symbol()), (Some(Position::new(5, 1)), "本"));
    let styles = [0, 2, 9].map(|x| buffer[(x, 0)].style().bg);
    assert!(styles[0] == styles[2] && styles[0] != styles[1], "{styles:?}");
    assert!(rows[6].starts_with(" playing 0:00 / 1:33 · 1× · 1/1 Intro  "), "{rows:?}");
    assert!(
        rows[6].ends_with("  space pause · ←→ 5 s · 0-9 tenths · . frame · +- speed · ][ chapter · / search · q quit"),
        "{rows:?}"
    );
}

#[test]
fn a_small_terminal_shows_the_part_with_the_cursor() {
    let (playback, mut view) = open("[0, \"o\", \"top\\u001b[6;19Hbottom right\"]");
    let (rows, cursor, _) = draw(&playback, &mut view, (52, 4));
    assert_eq!((rows[2].trim(), cursor), ("bottom right", Some(Position::new(29, 2))));
    assert!(rows[3].contains("part of 30x6") && rows[3].ends_with("q quit"), "{rows:?}");
    let (rows, cursor, _) = draw(&playback, &mut view, (12, 1));
    assert_eq!((rows[0].trim(), cursor), ("bottom right", Some(Position::new(11, 0))), "no room for the bar");
    for size in [(1, 1), (1, 2), (2, 3), (5, 2), (30, 7), (200, 60)] {
        draw(&playback, &mut view, size);
    }
    // Characters that reorder or hide text are not drawn.
    let (playback, mut view) = open("[0, \"o\", \"a\\u202eb\\u200bc\\u2066d\"]");
    assert_eq!(draw(&playback, &mut view, (30, 7)).0[0], "abcd");
    // A wide character that is cut is left out.
    let (playback, mut view) = open("[0, \"o\", \"\\u001b[?25l日本\"]");
    assert_eq!(draw(&playback, &mut view, (3, 2)).0[0].replace(' ', ""), "日");
}

#[test]
fn searches_are_typed_in_the_bar_and_matches_are_marked() {
    let (mut playback, mut view) = open("[0, \"o\", \"日 Find me\"]");
    let mut press = |text: &str| {
        for c in text.chars() {
            let code = if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) };
            playback.handle_key(KeyEvent::new(code, KeyModifiers::NONE));
        }
        draw(&playback, &mut view, (90, 7))
    };
    let (rows, ..) = press("/find");
    assert!(rows[6].starts_with(" search: find▏") && rows[6].ends_with("enter find · esc cancel"), "{rows:?}");
    let (rows, _, buffer) = press("\r");
    assert!(rows[6].contains("paused") && rows[6].contains("n N"), "{rows:?}");
    let marked: Vec<u16> = (0..20).filter(|x| buffer[(*x, 0)].style().bg != buffer[(20, 0)].style().bg).collect();
    assert_eq!(marked, [3, 4, 5, 6]);
}

#[test]
fn without_colours_backgrounds_are_reversed() {
    let (playback, mut view) = open("[0, \"o\", \"a\\u001b[44mb\"]");
    view.theme = Theme { depth: ColourDepth::None, ..Theme::without_colours() };
    let (_, _, buffer) = draw(&playback, &mut view, (30, 7));
    let has_reverse = |x: u16| buffer[(x, 0)].style().add_modifier.contains(Modifier::REVERSED);
    assert_eq!((has_reverse(0), has_reverse(1)), (false, true));
}
