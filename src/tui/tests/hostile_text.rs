//! Texts built to break the layout: shown within limits, with the cost counted rather than timed.

use super::*;
use crate::text::link::{Existence, LinkTarget};
use crate::text::width::text_width;
use crate::tui::text::markdown::{NoPictures, lay_out_markdown};

const SIZES: [(u16, u16); 5] = [(80, 24), (500, 200), (20, 6), (2, 2), (1, 1)];

/// Returns named texts, each with the maximum number of lines at 78 cells, which hold 78 narrow or 39 wide characters.
/// The first four are longer than an open block that is laid out completely.
fn hostile_texts() -> Vec<(&'static str, String, usize)> {
    let n = case_count(20_000, 4_000);
    let columns = |row: &str| format!("{}|\n", format!("|{row}").repeat(500));
    let table = [columns("head"), columns("---"), columns("cell").repeat(20)].concat();
    vec![
        ("a very long word", "x".repeat(n * 10), n * 10 / 78 + 2),
        ("a very long wide word", "漢".repeat(n * 7 / 2), n * 7 / 2 / 39 + 2),
        ("characters with combining marks", "e\u{301}".repeat(n * 7 / 2), n * 7 / 2 / 78 + 2),
        ("emoji families", "👩\u{200d}👩\u{200d}👧".repeat(n / 2), n / 2 / 39 + 2),
        ("empty lines", format!("a{}b", "\n".repeat(n)), 3),
        ("a table of 500 columns", table, 21 * 502),
        ("lists in lists", (0..n).map(|depth| format!("{}- a\n", " ".repeat(depth % 200 * 2))).collect(), n * 4),
        ("lists in lists on one line", "- ".repeat(n), 2 * n / 50),
        ("quotes in quotes", ">".repeat(n) + " a", n / 30 + 60),
        ("brackets", "[".repeat(n), n / 78 + 2),
        ("stars", "*a ".repeat(n), 3 * n / 60),
        ("links in links", "[a](".repeat(n), 4 * n / 78 + 60),
        ("pictures in pictures", "![a\n".repeat(n) + &"](x)\n".repeat(n), 6 * n / 70),
        ("open html", "<a ".repeat(n), 3 * n / 60),
        ("a very long link", format!("[a](https://a.example/{})", "x".repeat(n * 10)), n * 10 / 70),
        ("a fence that never ends", format!("```\n{}", "a\n".repeat(n)), n + 2),
    ]
}

#[test]
fn r35_hostile_replies_take_few_lines_at_every_size() {
    for (name, text, max_lines) in hostile_texts() {
        let mut screen = Screen::with_entries([user_message("go"), reply_entry(&text), turn_end()]);
        let lines = screen.state.lookups.reply_lines_laid_out();
        assert!(lines <= max_lines, "{name}: {lines} lines, {max_lines} at most");
        for (width, height) in SIZES.into_iter().take(case_count(SIZES.len(), 2)) {
            screen.resize_screen(width, height);
            screen.press_key("page-up");
            let lines_before = screen.state.lookups.reply_lines_laid_out();
            screen.press_key("page-down");
            assert_eq!(
                screen.state.lookups.reply_lines_laid_out(),
                lines_before,
                "{name} is laid out once at {width}x{height}"
            );
        }
    }
}

#[test]
fn r64_only_the_outermost_of_nested_pictures_is_a_link() {
    let lookups = std::cell::Cell::new(0);
    let exists = |_: &LinkTarget| {
        lookups.set(lookups.get() + 1);
        Existence::Exists
    };
    let text = "![a\n".repeat(500) + &"](b.png)\n".repeat(500);
    lay_out_markdown(&text, 40, &Theme::without_colours(), &exists, &NoPictures);
    assert_eq!(lookups.get(), 1);
}

#[test]
fn r35_a_frame_of_a_streamed_hostile_reply_lays_out_its_open_block() {
    for (name, text, _) in hostile_texts() {
        let mut screen = Screen::with_turn();
        let chars: Vec<char> = text.chars().collect();
        let (mut max_lines, mut frames) = (0, 0);
        for piece in chars.chunks(chars.len().div_ceil(case_count(40, 6))) {
            screen.receive_chunk(Chunk::Text(piece.iter().collect()));
            let lines_before = screen.state.lookups.reply_lines_laid_out();
            screen.draw_frame();
            max_lines = max_lines.max(screen.state.lookups.reply_lines_laid_out() - lines_before);
            frames += 1;
        }
        // The open block has at most 32 kB, and each of its lines at least 2 bytes: a character and a newline.
        assert!(frames > 1 && max_lines <= 17_000, "{name}: {max_lines} lines in one frame");
    }
}

#[test]
fn r35_hostile_user_messages_are_shown_too() {
    for (name, text, _) in hostile_texts() {
        let mut screen = Screen::with_entries([user_message(&text), turn_end()]);
        let (laid_out_before, bytes) = (screen.cache.entries_laid_out, screen.cache.estimated_bytes());
        assert!(bytes < 24 * 1024 * 1024, "{name}: {bytes} bytes are kept");
        screen.press_key("ctrl-home");
        screen.press_key("ctrl-end");
        assert_eq!(screen.cache.entries_laid_out, laid_out_before, "{name}");
        screen.resize_screen(1, 1);
        screen.draw_frame();
    }
}

#[test]
fn r34_wide_characters_are_not_cut_at_an_edge() {
    let text = "漢字かな交じり文 👩\u{200d}👩\u{200d}👧 🇩🇪 e\u{301}e\u{301} שלום नमस्ते ก็ ".repeat(20);
    for cells in (1..40u16).step_by(case_count(1, 3)) {
        let mut screen = Screen::with_entries([
            user_message(&text),
            reply_entry(&format!("{text}\n\n| {text} | b |\n|--|--|\n| a | {text} |\n")),
            turn_end(),
        ]);
        screen.resize_screen(cells, 30);
        let buffer = screen.draw_frame();
        for row in buffer.content.chunks(usize::from(cells)) {
            let mut x = 0;
            while x < row.len() {
                let glyph_width = text_width(row[x].symbol()).max(1);
                assert!(x + glyph_width <= row.len(), "{:?} is cut at the edge of {cells}", row[x].symbol());
                for covered in &row[x + 1..x + glyph_width] {
                    assert_eq!(covered.symbol(), " ", "the second cell of a wide character is not blank");
                }
                x += glyph_width;
            }
        }
    }
}
