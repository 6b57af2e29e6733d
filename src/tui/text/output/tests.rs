//! Output as a terminal shows it, and what hostile output may not do.

use super::*;
use crate::tui::theme::Themes;
use proptest::prelude::*;

fn dark() -> Theme {
    Themes::bundled().choose("dark", None)
}

fn text(output: &str) -> String {
    shown(output, Style::new(), &dark()).text
}

#[track_caller]
fn check(output: &str, expected: &str) {
    assert_eq!(text(output), expected, "{output:?}");
}

#[test]
fn colours_are_looks_and_stand_where_they_stood() {
    let theme = dark();
    let found = shown("a \x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[0m z", theme.text, &theme);
    assert_eq!(found.text, "a red bold z");
    let look = |word: &str| {
        let at = found.text.find(word).unwrap();
        found.looks.iter().find(|(end, _)| at < *end).unwrap().1
    };
    assert_eq!((look("red").fg, look("z")), (theme.danger.fg, theme.text));
    let modifier = look("bold").add_modifier;
    assert!(modifier.contains(ratatui::style::Modifier::BOLD | ratatui::style::Modifier::UNDERLINED));
    assert_eq!(found.looks.last().unwrap().0, found.text.len());
}

#[test]
fn a_progress_shows_its_last_state() {
    check("10%\r50%\r100%\ndone\n", "100%\ndone");
    check("long words\rab\n", "abng words");
    check("long words\r\x1b[Kab\n", "ab");
    check("abc\x08\x08X\n", "aXc");
    check("one 1%\ntwo 1%\n\x1b[2Aone 100%\ntwo 100%\n", "one 100%\ntwo 100%");
    check("spin |\x1b[1D/\x1b[1D-\n", "spin -");
    check("x\x1b[10Gy\n", "x        y");
}

#[test]
fn more_rows_than_the_terminal_has_are_all_there() {
    let lines: String = (0..500).map(|n| format!("\x1b[32mrow {n}\x1b[0m\n")).collect();
    let expected: Vec<String> = (0..500).map(|n| format!("row {n}")).collect();
    check(&lines, &expected.join("\n"));
}

#[test]
fn a_line_longer_than_the_terminal_is_one_line() {
    let long = "abcdefghij".repeat(1_000);
    check(&format!("\x1b[31m{long}\x1b[0m\nnext\n"), &format!("{long}\nnext"));
}

#[test]
fn r32_nothing_but_letters_comes_through() {
    check("\x1b]0;title\x07a\x1b]52;c;AAAA\x07b\x1b[?1049hc\x1b[6nd\x1bPq#0\x1b\\e\x1bcf\n", "abcdef");
    check("\x1b[31ma\u{202e}b\u{200b}c\x07\n", "abc");
    check("\x1b[5;1;1;1;300;1;1mx\x1b[999999999999999mx\x1b[;;;38;5mx\n", "xxx");
}

#[test]
fn r33_what_is_cut_in_the_middle_hides_nothing_behind_it() {
    check("a\x1b]0;never ended\nb\n", "a\nb");
    check("a\x1b[3\n[9 bytes omitted]\n1mb\n", "a\n[9 bytes omitted]\n1mb");
    check("a\x1bPnever ended\nb\n", "a\nb");
}

#[test]
fn a_few_bytes_cannot_become_many_lines_or_long_ones() {
    let flood: String = (0..7_000).map(|_| "\x1b[500Gx\n").collect();
    assert!(text(&flood).len() < 2 * MOST);
    let flood: String = (0..7_000).map(|_| "\x1b[65535;65535Hx\x1b[9999L\x1b[65535@").collect();
    assert!(text(&flood).len() < 2 * MOST);
}

#[test]
fn a_link_is_found_across_its_colours() {
    let theme = dark();
    let found = shown("\x1b[35msrc/main.rs\x1b[0m:\x1b[32m3\x1b[0m: x", theme.text, &theme);
    let pieces = pieces(&found, theme.link, &|_| true);
    let linked: Vec<&Piece> = pieces.iter().filter(|piece| piece.link.is_some()).collect();
    let words: String = linked.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(words, "src/main.rs:3");
    assert!(
        linked
            .windows(2)
            .all(|two| Arc::ptr_eq(two[0].link.as_ref().unwrap(), two[1].link.as_ref().unwrap()))
    );
    let all: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(all, found.text);
}

#[test]
fn output_without_orders_is_only_cleaned() {
    check("a\tb\r\nc\n", "a   b\nc\n");
}

proptest! {
    #[test]
    fn r32_whatever_comes_is_clean_and_its_looks_cover_it(
        output in "(\\PC|[\0-\u{ff}]|\x1b\\[[0-9;]{0,6}[A-Za-z@]|\r|\n|漢|\u{301}){0,80}"
    ) {
        let found = shown(&output, Style::new(), &dark());
        prop_assert!(found.text.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert_eq!(found.looks.last().map_or(0, |(end, _)| *end), found.text.len());
        let all: String = pieces(&found, Style::new(), &|_| true).into_iter().map(|piece| piece.text).collect();
        prop_assert_eq!(all, found.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn r64_no_orders_break_the_terminal_that_is_thought(
        parts in prop::collection::vec(prop_oneof![
            "\u{1b}\\[[0-9]{0,5}(;[0-9]{0,5}){0,3}[@A-HJKLMPXdfmrhlsu]",
            "\u{1b}\\[999999999[@A-HJKLMPXdf]",
            "\u{1b}\\[4294967296;18446744073709551616[Hf]",
            "[\u{6f22}\u{5d0}e\u{301}\u{1f468}\u{200d}\u{202e}\t\r\n\u{8} x]{1,6}",
            "x{490,505}\u{6f22}",
            "\u{1b}[\\]PX^_78cDEHM][^\u{7}]{0,4}\u{7}?",
        ], 0..60)
    ) {
        let text = parts.concat();
        let shown = shown(&text, Style::new(), &dark());
        assert!(!shown.text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert_eq!(shown.looks.last().map_or(0, |(end, _)| *end), shown.text.len());
        for width in [1, 2, 80] {
            lines(&text, Style::new(), &dark(), width);
        }
    }
}
