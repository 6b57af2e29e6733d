//! The cost of a frame, counted rather than timed.

use super::*;

fn long(count: usize) -> Screen {
    let entries =
        (0..count).flat_map(|n| [said(&format!("question {n}")), replied(&format!("answer {n}\n\nmore"))]);
    Screen::with(entries.chain([ended()]))
}

#[test]
fn a_long_session_lays_out_only_visible_entries_for_its_first_frame() {
    let screen = long(5_000);
    assert!(screen.cache.laid_out < 40, "{} entries laid out", screen.cache.laid_out);
}

#[test]
fn a_frame_does_not_lay_out_entries_again() {
    let mut screen = long(100);
    let before = screen.cache.laid_out;
    screen.types("hello");
    assert_eq!(screen.cache.laid_out, before);
}

#[test]
fn a_frame_allocates_as_much_in_a_long_session_as_in_a_short_one() {
    let counts = |entries: usize| {
        let mut screen = long(entries);
        screen.resized(120, 36);
        let mut canvas = crate::tui::canvas::Canvas::new(true);
        bytes(&mut screen, &mut canvas);
        screen.types("a");
        bytes(&mut screen, &mut canvas);
        screen.types("b");
        allocation_counter::measure(|| {
            bytes(&mut screen, &mut canvas);
        })
    };
    let (short, long) = (counts(50), counts(5_000));
    assert!(short.count_total < 120, "{} allocations of {} bytes", short.count_total, short.bytes_total);
    assert!(
        long.count_total < short.count_total + 10 && long.bytes_total < short.bytes_total + 4096,
        "{} of {} bytes, not {} of {}",
        long.count_total,
        long.bytes_total,
        short.count_total,
        short.bytes_total
    );
}

#[test]
fn scrolling_lays_out_entries_that_become_visible() {
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
fn no_frame_is_requested_while_nothing_moves() {
    let mut screen = long(10);
    screen.waits(60_000);
    assert_eq!(screen.state.wakes_at(), None);
    screen.says("go");
    let next = screen.state.wakes_at().expect("the spinner turns");
    assert!(next > screen.state.now && next <= screen.state.now + Duration::from_millis(250));
}

/// Streams a reply in chunks and draws a frame after each.
fn streams(screen: &mut Screen, piece: &str, count: usize) {
    screen.says("go");
    for _ in 0..count {
        screen.chunk(Chunk::Text(piece.into()));
        screen.frame();
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.frame();
}

/// Draws the next frame and returns its size in bytes.
fn bytes(screen: &mut Screen, canvas: &mut crate::tui::canvas::Canvas) -> usize {
    let (width, height) = screen.state.size;
    let mut buffer = canvas.blank(width, height);
    let shown = view::view(&screen.state, &mut screen.cache, &mut buffer);
    canvas.frame(buffer, &shown.links, shown.cursor).len()
}

#[test]
fn streamed_replies_and_spinners_send_few_bytes() {
    let mut screen = Screen::new();
    screen.state.theme = crate::tui::theme::Themes::bundled().choose("dark", None);
    screen.resized(120, 40);
    let mut canvas = crate::tui::canvas::Canvas::new(true);
    screen.says("go");
    bytes(&mut screen, &mut canvas);
    let mut spinner = 0;
    for _ in 0..4 {
        let wakes = screen.state.wakes_at().expect("the spinner turns");
        screen.happens(Event::Tick(wakes));
        spinner += bytes(&mut screen, &mut canvas);
    }
    assert!(spinner > 0 && spinner <= 440, "{spinner} bytes for a second of waiting");
    // Thirty frames a second for a thousand chunks of 3.5 bytes each.
    let letters: Vec<char> = reply().chars().collect();
    let (mut sent, mut frames) = (0, 0);
    for piece in letters.chunks(115) {
        screen.chunk(Chunk::Text(piece.iter().collect()));
        sent += bytes(&mut screen, &mut canvas);
        frames += 1;
    }
    assert!(sent / frames <= 33 * 30, "{} bytes for a frame of 33 pieces", sent / frames);
    assert!(sent < letters.len() * 4, "{sent} bytes for {} characters", letters.len());
}

/// About 40 kB of typical model output.
fn reply() -> String {
    let part = "## A heading\n\nSome **prose** with `code` and 漢字 in it, long enough to be wrapped at the usual widths of \
        a terminal, and then some.\n\n- one\n- two\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
        ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n";
    part.repeat(40_000 / part.len())
}

#[test]
fn streaming_lays_out_only_the_open_block() {
    let mut screen = Screen::new();
    screen.says("go");
    let text = reply();
    let letters: Vec<char> = text.chars().collect();
    let frames = letters.chunks(120).count();
    let mut most = 0;
    for piece in letters.chunks(120) {
        let before = screen.cache.lines_laid_out();
        screen.chunk(Chunk::Text(piece.iter().collect()));
        screen.frame();
        most = most.max(screen.cache.lines_laid_out() - before);
    }
    assert!(most <= 24, "{most} lines in one frame");
    let streamed = screen.cache.lines_laid_out();
    assert!(streamed <= frames * 14, "{streamed} lines in {frames} frames");
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.frame();
    let end = screen.cache.lines_laid_out() - streamed;
    assert!(end <= 24, "{end} lines at the end of the reply");
    // The finished entry looks exactly as it did while streaming.
    let before = screen.shows();
    screen.cache = Cache::default();
    assert_eq!(screen.shows(), before);
}

#[test]
fn brackets_do_not_keep_blocks_open_and_references_resolve_later() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("see [the page] and a[0]\n\n".into()));
    for _ in 0..50 {
        screen.chunk(Chunk::Text("a paragraph\n\n".into()));
        screen.frame();
    }
    let lines = screen.cache.lines_laid_out();
    assert!(lines < 200, "{lines} lines for 51 paragraphs");
    assert!(!screen.shows().contains("https://a.example"));
    screen.chunk(Chunk::Text("[the page]: https://a.example\n\nthe end\n".into()));
    screen.presses("ctrl-home");
    let shows = screen.shows();
    assert!(shows.contains("see the page (https://a.example)"), "{shows}");
    screen.chunk(Chunk::Done(Finish::Stop));
    assert_eq!(screen.shows().lines().nth(4), shows.lines().nth(4));
}

#[test]
fn a_found_file_lays_out_only_the_block_that_names_it() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("a paragraph\n\n".repeat(1_000)));
    screen.chunk(Chunk::Text("see src/main.rs:3\n\n".into()));
    screen.chunk(Chunk::Text("a paragraph\n\n".repeat(1_000)));
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.frame();
    let before = screen.cache.lines_laid_out();
    let found =
        screen.cache.take_wanted().into_iter().map(|target| (target, crate::tui::There::Yes)).collect();
    screen.happens(Event::Host(crate::tui::host::Reply::Exist(found)));
    screen.frame();
    let lines = screen.cache.lines_laid_out() - before;
    assert!(lines > 0 && lines < 700, "{lines} lines for one link");
}

#[test]
fn r65_layouts_far_from_the_view_are_dropped() {
    let text = "some words of a reply that is long\n\n".repeat(800);
    let entries = (0..60).flat_map(|n| [said(&format!("question {n}")), replied(&text)]);
    let mut screen = Screen::with(entries.chain([ended()]));
    for _ in 0..60 {
        screen.presses("ctrl-up");
    }
    assert!(screen.cache.laid_out > 100, "every entry was seen: {}", screen.cache.laid_out);
    let kept = screen.cache.weight();
    assert!(kept < 13 * 1024 * 1024, "{kept} bytes are kept");
    let before = screen.cache.laid_out;
    screen.presses("page-down");
    screen.presses("page-up");
    assert_eq!(screen.cache.laid_out, before, "nearby layouts are kept");
}

#[test]
fn r65_layouts_of_very_long_replies_are_dropped_even_nearby() {
    let replies = often(8, 3);
    let text = "- a line of a reply that is long\n".repeat(9000);
    let entries = (0..replies).flat_map(|n| [said(&format!("question {n}")), replied(&text)]);
    let mut screen = Screen::with(entries.chain([ended()]));
    screen.presses("ctrl-up");
    screen.shows();
    let one = screen.cache.weight();
    for _ in 1..replies {
        screen.presses("ctrl-up");
        screen.shows();
    }
    assert!(
        screen.cache.lines_laid_out() > replies * 7500,
        "every reply was seen: {}",
        screen.cache.lines_laid_out()
    );
    let kept = screen.cache.weight();
    assert!(kept < 12 * 1024 * 1024 + 2 * one, "{kept} bytes are kept, and one takes {one}");
    let before = screen.cache.laid_out;
    screen.presses("down");
    screen.shows();
    assert_eq!(screen.cache.laid_out, before, "visible layouts are kept, however large");
}

#[test]
fn r35_a_very_long_reply_is_cut_and_can_be_opened_in_full() {
    let mut screen = Screen::new();
    streams(&mut screen, &"some words ".repeat(20_000), 8);
    screen.presses("ctrl-end");
    let shows = screen.shows();
    assert!(shows.contains("1.2 MB more: select this entry and press o"), "{shows}");
    screen.presses("alt-up");
    screen.presses("o");
    screen.presses("end");
    assert!(screen.shows().trim_end().contains("some words"), "{}", screen.shows());
}

#[test]
fn r35_blocks_that_arrive_between_frames_are_all_shown() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("a paragraph\n\n".repeat(25_000)));
    screen.chunk(Chunk::Text("the last".into()));
    let shows = screen.shows();
    assert!(shows.contains("the last") && !shows.contains("shown when the block is complete"), "{shows}");
}

#[test]
fn a_table_streamed_by_character_is_never_shown_as_text() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("words\n\n".into()));
    for letter in "| head | other |\n|------|-------|\n| one | two |\n| three | four |\n".chars() {
        screen.chunk(Chunk::Text(letter.into()));
        let shows = screen.shows();
        assert!(!shows.contains('|') && !shows.contains("---"), "{shows}");
    }
    assert!(screen.shows().contains("three │ four"), "{}", screen.shows());
    screen.chunk(Chunk::Text("\n| the last".into()));
    screen.chunk(Chunk::Done(Finish::Stop));
    assert!(screen.shows().contains("| the last"), "nothing is held back at the end: {}", screen.shows());
}
