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
    assert!(rows[6].starts_with(" playing 0:00 / 1:30 · 1× · 1/1 Intro  "), "{rows:?}");
    assert!(
        rows[6].ends_with("  space pause · ←→ 5 s · 0-9 tenths · . frame · +- speed · ][ chapter · / search · q quit"),
        "{rows:?}"
    );
}

#[test]
fn a_small_terminal_shows_the_part_with_the_cursor() {
    let (playback, mut view) = open("[0, \"o\", \"top\\u001b[6;19Hbottom right\"]");
    let (rows, cursor, _) = draw(&playback, &mut view, (60, 4));
    assert_eq!((rows[2].trim(), cursor), ("bottom right", Some(Position::new(29, 2))));
    assert!(rows[3].contains("part of 30x6") && rows[3].ends_with("q quit"), "{rows:?}");
    let (rows, cursor, _) = draw(&playback, &mut view, (12, 1));
    assert_eq!((rows[0].trim(), cursor), ("bottom right", Some(Position::new(11, 0))), "no room for the bar");
    let (rows, ..) = draw(&playback, &mut view, (100, 6));
    assert!(rows[5].contains("1 row hidden") && rows[5].contains("/ search"), "the bar hides one: {rows:?}");
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
fn a_narrow_bar_keeps_the_keys_that_pause_and_quit() {
    let (mut playback, mut view) =
        open("[0, \"o\", \"a\"]\n[90, \"m\", \"A long name of a chapter\"]\n[90, \"o\", \"\"]");
    for columns in 46..140 {
        let (rows, ..) = draw(&playback, &mut view, (columns, 4));
        assert!(rows[3].contains("space pause · ") && rows[3].ends_with("q quit"), "{rows:?}");
        assert_eq!(rows[3].contains("part of 30x6"), columns >= 58, "{columns} {rows:?}");
    }
    playback.handle_key(KeyEvent::new(KeyCode::Char('+'), KeyModifiers::NONE));
    let (rows, ..) = draw(&playback, &mut view, (60, 4));
    assert!(rows[3].contains(" · 1.5× ") && !rows[3].contains("part of"), "{rows:?}");
}

#[test]
fn searches_are_typed_in_the_bar_and_matches_are_marked() {
    let (mut playback, mut view) = open("[0, \"o\", \"日 Find me\"]\n[5, \"o\", \"\"]");
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
    assert!(
        rows[6].contains("paused") && rows[6].contains("match 1 of 1") && rows[6].contains("n N match"),
        "{rows:?}"
    );
    let marked: Vec<u16> = (0..20).filter(|x| buffer[(*x, 0)].style().bg != buffer[(20, 0)].style().bg).collect();
    assert_eq!(marked, [3, 4, 5, 6]);
    // In a narrow bar the next match is more important than the key that pauses.
    let (rows, ..) = draw(&playback, &mut view, (60, 7));
    assert!(rows[6].contains("match 1 of 1") && rows[6].ends_with("n N match · q quit"), "{rows:?}");
    let mut press = |text: &str| {
        for c in text.chars() {
            let code = if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) };
            playback.handle_key(KeyEvent::new(code, KeyModifiers::NONE));
        }
        draw(&playback, &mut view, (90, 7)).0[6].clone()
    };
    let row = press("/zzz\r");
    assert!(row.contains("Not found: zzz") && !row.contains("match"), "{row}");
    for columns in [60, 90] {
        let row = draw(&playback, &mut view, (columns, 7)).0[6].clone();
        assert!(row.contains("Not found: zzz") && row.ends_with("q quit"), "{row}");
    }
}

#[test]
fn without_colours_backgrounds_are_reversed() {
    let (playback, mut view) = open("[0, \"o\", \"a\\u001b[44mb\"]");
    view.theme = Theme { depth: ColourDepth::None, ..Theme::without_colours() };
    let (_, _, buffer) = draw(&playback, &mut view, (30, 7));
    let has_reverse = |x: u16| buffer[(x, 0)].style().add_modifier.contains(Modifier::REVERSED);
    assert_eq!((has_reverse(0), has_reverse(1)), (false, true));
}
