//! The cost of a frame, counted rather than timed.

use super::*;

/// Erasing uses the current background colour, as in nearly all terminals.
const ERASE_FILLS: bool = true;

/// A session of `count` questions, each with a reply.
fn long_session(count: usize) -> Screen {
    let entries =
        (0..count).flat_map(|n| [user_message(&format!("question {n}")), reply_entry(&format!("answer {n}\n\nmore"))]);
    Screen::with_entries(entries.chain([turn_end()]))
}

#[test]
fn a_long_session_lays_out_only_visible_entries_for_its_first_frame() {
    let screen = long_session(5_000);
    assert!(screen.cache.entries_laid_out < 40, "{} entries laid out", screen.cache.entries_laid_out);
}

#[test]
fn a_frame_does_not_lay_out_entries_again() {
    let mut screen = long_session(100);
    let laid_out_before = screen.cache.entries_laid_out;
    screen.type_text("hello");
    assert_eq!(screen.cache.entries_laid_out, laid_out_before);
}

#[test]
fn a_frame_allocates_as_much_in_a_long_session_as_in_a_short_one() {
    let measure_frame = |count: usize| {
        let mut screen = long_session(count);
        screen.resize_screen(120, 36);
        let mut canvas = crate::tui::canvas::Canvas::new(ERASE_FILLS);
        frame_bytes(&mut screen, &mut canvas);
        screen.type_text("a");
        frame_bytes(&mut screen, &mut canvas);
        screen.type_text("b");
        allocation_counter::measure(|| {
            frame_bytes(&mut screen, &mut canvas);
        })
    };
    let (short, long) = (measure_frame(50), measure_frame(5_000));
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
    let mut screen = long_session(5_000);
    let laid_out_before = screen.cache.entries_laid_out;
    for _ in 0..10 {
        screen.press_key("page-up");
    }
    assert!(
        screen.cache.entries_laid_out - laid_out_before < 200,
        "{}",
        screen.cache.entries_laid_out - laid_out_before
    );
    screen.press_key("ctrl-home");
    assert!(screen.screen_text().contains("question 0"));
    assert!(
        screen.cache.entries_laid_out - laid_out_before < 260,
        "{}",
        screen.cache.entries_laid_out - laid_out_before
    );
}

#[test]
fn no_frame_is_requested_while_nothing_moves() {
    let mut screen = long_session(10);
    screen.advance_ms(60_000);
    assert_eq!(screen.state.next_change(), None);
    screen.send_text("go");
    let next = screen.state.next_change().expect("the spinner turns");
    assert!(next > screen.state.timing.now && next <= screen.state.timing.now + Duration::from_millis(250));
}

/// Streams a reply in chunks and draws a frame after each.
fn stream_reply(screen: &mut Screen, piece: &str, count: usize) {
    screen.send_text("go");
    for _ in 0..count {
        screen.receive_chunk(Chunk::Text(piece.into()));
        screen.draw_frame();
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.draw_frame();
}

/// Draws the next frame and returns its size in bytes.
fn frame_bytes(screen: &mut Screen, canvas: &mut crate::tui::canvas::Canvas) -> usize {
    let (width, height) = screen.state.viewport.size;
    let mut buffer = canvas.empty_buffer(width, height);
    let drawn = view::draw_screen(&screen.state, &mut screen.cache, &mut buffer);
    canvas.encode_frame(buffer, &drawn.links, drawn.cursor).len()
}

#[test]
fn streamed_replies_and_spinners_send_few_bytes() {
    let mut screen = Screen::new();
    screen.state.theme = crate::tui::theme::Themes::bundled().choose_theme("dark", None);
    screen.resize_screen(120, 40);
    let mut canvas = crate::tui::canvas::Canvas::new(ERASE_FILLS);
    screen.send_text("go");
    frame_bytes(&mut screen, &mut canvas);
    let mut spinner_bytes = 0;
    for _ in 0..4 {
        let next_change = screen.state.next_change().expect("the spinner turns");
        screen.handle_event(Event::Tick(next_change));
        spinner_bytes += frame_bytes(&mut screen, &mut canvas);
    }
    assert!(spinner_bytes > 0 && spinner_bytes <= 440, "{spinner_bytes} bytes for a second of waiting");
    // A provider that sends a thousand chunks a second, each of 3.5 characters, sends 33 chunks or 115 characters for
    // each of thirty frames a second. Each chunk may cost 30 bytes of output.
    let chars: Vec<char> = sample_reply().chars().collect();
    let (mut sent_bytes, mut frames) = (0, 0);
    for piece in chars.chunks(115) {
        screen.receive_chunk(Chunk::Text(piece.iter().collect()));
        sent_bytes += frame_bytes(&mut screen, &mut canvas);
        frames += 1;
    }
    assert!(sent_bytes / frames <= 33 * 30, "{} bytes for a frame of 33 chunks", sent_bytes / frames);
    assert!(sent_bytes < chars.len() * 4, "{sent_bytes} bytes for {} characters", chars.len());
}

/// About 40 kB of typical model output.
fn sample_reply() -> String {
    let part = "## A heading\n\nSome **prose** with `code` and 漢字 in it, long enough to be wrapped at the usual widths of \
        a terminal, and then some.\n\n- one\n- two\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
        ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n";
    part.repeat(40_000 / part.len())
}

#[test]
fn streaming_lays_out_only_the_open_block() {
    let mut screen = Screen::with_turn();
    let text = sample_reply();
    let chars: Vec<char> = text.chars().collect();
    let frames = chars.chunks(120).count();
    let mut max_lines = 0;
    for piece in chars.chunks(120) {
        let lines_before = screen.state.lookups.reply_lines_laid_out();
        screen.receive_chunk(Chunk::Text(piece.iter().collect()));
        screen.draw_frame();
        max_lines = max_lines.max(screen.state.lookups.reply_lines_laid_out() - lines_before);
    }
    assert!(max_lines <= 24, "{max_lines} lines in one frame");
    let streamed = screen.state.lookups.reply_lines_laid_out();
    assert!(streamed <= frames * 14, "{streamed} lines in {frames} frames");
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.draw_frame();
    let end_lines = screen.state.lookups.reply_lines_laid_out() - streamed;
    assert!(end_lines <= 24, "{end_lines} lines at the end of the reply");
    // The finished entry looks exactly as it did while streaming.
    let text_before = screen.screen_text();
    screen.cache = LayoutCache::default();
    assert_eq!(screen.screen_text(), text_before);
}

#[test]
fn brackets_do_not_keep_blocks_open_and_references_resolve_later() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("see [the page] and a[0]\n\n".into()));
    for _ in 0..50 {
        screen.receive_chunk(Chunk::Text("a paragraph\n\n".into()));
        screen.draw_frame();
    }
    let lines = screen.state.lookups.reply_lines_laid_out();
    assert!(lines < 200, "{lines} lines for 51 paragraphs");
    assert!(!screen.screen_text().contains("https://a.example"));
    screen.receive_chunk(Chunk::Text("[the page]: https://a.example\n\nthe end\n".into()));
    screen.press_key("ctrl-home");
    let text = screen.screen_text();
    assert!(text.contains("see the page (https://a.example)"), "{text}");
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    // The end of the reply does not change its first line, which has the link.
    assert_eq!(screen.screen_text().lines().nth(4), text.lines().nth(4));
}

#[test]
fn a_found_file_lays_out_only_the_block_that_names_it() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("a paragraph\n\n".repeat(1_000)));
    screen.receive_chunk(Chunk::Text("see src/main.rs:3\n\n".into()));
    screen.receive_chunk(Chunk::Text("a paragraph\n\n".repeat(1_000)));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.draw_frame();
    let lines_before = screen.state.lookups.reply_lines_laid_out();
    let statuses = screen
        .state
        .lookups
        .take_pending()
        .into_iter()
        .map(|target| (target, crate::tui::LinkStatus::Exists))
        .collect();
    screen.handle_event(Event::Host(crate::tui::host::HostReply::LinkStatuses(statuses)));
    screen.draw_frame();
    let lines = screen.state.lookups.reply_lines_laid_out() - lines_before;
    assert!(lines > 0 && lines < 700, "{lines} lines for one link");
}

#[test]
fn r65_layouts_far_from_the_view_are_dropped() {
    let text = "some words of a reply that is long\n\n".repeat(800);
    let entries = (0..60).flat_map(|n| [user_message(&format!("question {n}")), reply_entry(&text)]);
    let mut screen = Screen::with_entries(entries.chain([turn_end()]));
    for _ in 0..60 {
        screen.press_key("ctrl-up");
    }
    assert!(screen.cache.entries_laid_out > 100, "every entry was seen: {}", screen.cache.entries_laid_out);
    let bytes = screen.cache.estimated_bytes();
    assert!(bytes < 13 * 1024 * 1024, "{bytes} bytes are kept");
    let laid_out_before = screen.cache.entries_laid_out;
    screen.press_key("page-down");
    screen.press_key("page-up");
    assert_eq!(screen.cache.entries_laid_out, laid_out_before, "nearby layouts are kept");
}

#[test]
fn r65_layouts_of_very_long_replies_are_dropped_even_nearby() {
    let replies = case_count(8, 3);
    let text = "- a line of a reply that is long\n".repeat(9000);
    let entries = (0..replies).flat_map(|n| [user_message(&format!("question {n}")), reply_entry(&text)]);
    let mut screen = Screen::with_entries(entries.chain([turn_end()]));
    screen.press_key("ctrl-up");
    screen.screen_text();
    let reply_bytes = screen.cache.estimated_bytes();
    for _ in 1..replies {
        screen.press_key("ctrl-up");
        screen.screen_text();
    }
    assert!(
        screen.state.lookups.reply_lines_laid_out() > replies * 7500,
        "every reply was seen: {}",
        screen.state.lookups.reply_lines_laid_out()
    );
    let bytes = screen.cache.estimated_bytes();
    assert!(bytes < 12 * 1024 * 1024 + 2 * reply_bytes, "{bytes} bytes are kept, and one takes {reply_bytes}");
    let laid_out_before = screen.cache.entries_laid_out;
    screen.press_key("down");
    screen.screen_text();
    assert_eq!(screen.cache.entries_laid_out, laid_out_before, "visible layouts are kept, however large");
}

#[test]
fn r35_a_very_long_reply_is_cut_and_can_be_opened_in_full() {
    let mut screen = Screen::new();
    stream_reply(&mut screen, &"some words ".repeat(20_000), 8);
    screen.press_key("ctrl-end");
    let text = screen.screen_text();
    assert!(text.contains("1.2 MB more: select this entry and press o"), "{text}");
    screen.press_key("alt-up");
    screen.press_key("o");
    screen.press_key("end");
    assert!(screen.screen_text().trim_end().contains("some words"), "{}", screen.screen_text());
}

#[test]
fn r35_blocks_that_arrive_between_frames_are_all_shown() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("a paragraph\n\n".repeat(25_000)));
    screen.receive_chunk(Chunk::Text("the last".into()));
    let text = screen.screen_text();
    assert!(text.contains("the last") && !text.contains("shown when the block is complete"), "{text}");
}

#[test]
fn a_table_streamed_by_character_is_never_shown_as_text() {
    let mut screen = Screen::with_turn();
    screen.receive_chunk(Chunk::Text("words\n\n".into()));
    for c in "| head | other |\n|------|-------|\n| one | two |\n| three | four |\n".chars() {
        screen.receive_chunk(Chunk::Text(c.into()));
        let text = screen.screen_text();
        assert!(!text.contains('|') && !text.contains("---"), "{text}");
    }
    assert!(screen.screen_text().contains("three │ four"), "{}", screen.screen_text());
    screen.receive_chunk(Chunk::Text("\n| the last".into()));
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    assert!(screen.screen_text().contains("| the last"), "nothing is held back at the end: {}", screen.screen_text());
}
