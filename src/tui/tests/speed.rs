//! What a frame costs, counted rather than timed.

use super::*;

fn long(count: usize) -> Screen {
    let entries =
        (0..count).flat_map(|n| [said(&format!("question {n}")), replied(&format!("answer {n}\n\nmore"))]);
    Screen::with(entries.chain([ended()]))
}

#[test]
fn a_long_session_lays_out_only_what_can_be_seen_before_its_first_frame() {
    let screen = long(5_000);
    assert!(screen.cache.laid_out < 40, "{} entries laid out", screen.cache.laid_out);
}

#[test]
fn a_frame_lays_out_nothing_that_was_there_before() {
    let mut screen = long(100);
    let before = screen.cache.laid_out;
    screen.types("hello");
    assert_eq!(screen.cache.laid_out, before);
}

#[test]
fn scrolling_lays_out_what_comes_into_sight() {
    let mut screen = long(5_000);
    let before = screen.cache.laid_out;
    for _ in 0..10 {
        screen.presses("page-up");
    }
    assert!(screen.cache.laid_out - before < 200, "{}", screen.cache.laid_out - before);
    screen.presses("ctrl-home");
    assert!(screen.shows().contains("question 0"));
    assert!(screen.cache.laid_out - before < 260, "{}", screen.cache.laid_out - before);
}

#[test]
fn nothing_wants_to_be_drawn_while_nothing_moves() {
    let mut screen = long(10);
    screen.waits(60_000);
    assert_eq!(screen.state.wakes_at(), None);
    screen.says("go");
    let next = screen.state.wakes_at().expect("the spinner turns");
    assert!(next > screen.state.now && next <= screen.state.now + Duration::from_millis(100));
}

/// Sends a reply in pieces and draws after each.
fn streams(screen: &mut Screen, piece: &str, count: usize) {
    screen.says("go");
    for _ in 0..count {
        screen.chunk(Chunk::Text(piece.into()));
        screen.frame();
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.frame();
}

#[test]
fn r35_a_reply_too_long_to_be_laid_out_is_shown_in_part_and_read_in_full() {
    let mut screen = Screen::new();
    streams(&mut screen, &"some words ".repeat(20_000), 8);
    screen.presses("ctrl-end");
    let shows = screen.shows();
    assert!(shows.contains("1.2 MB more; select this and press o"), "{shows}");
    screen.presses("alt-up");
    screen.presses("o");
    screen.presses("end");
    assert!(screen.shows().trim_end().contains("some words"), "{}", screen.shows());
}

#[test]
fn r35_blocks_that_come_faster_than_frames_are_all_there() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("a paragraph\n\n".repeat(25_000)));
    screen.chunk(Chunk::Text("the last".into()));
    let shows = screen.shows();
    assert!(shows.contains("the last") && !shows.contains("before this"), "{shows}");
}
