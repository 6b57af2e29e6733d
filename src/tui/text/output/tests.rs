//! Command output with colours, and hostile output.

use super::*;
use crate::tui::text::Piece;
use crate::tui::theme::Themes;
use proptest::prelude::*;
use std::sync::Arc;

fn dark_theme() -> Theme {
    Themes::bundled().choose_theme("dark", None)
}

fn output_text(output: &str) -> String {
    parse_output(output, Style::new(), &dark_theme()).text
}

#[track_caller]
fn check_output(output: &str, expected: &str) {
    assert_eq!(output_text(output), expected, "{output:?}");
}

#[test]
fn colours_become_styles_at_the_same_place() {
    let theme = dark_theme();
    let parsed = parse_output("a \x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[0m z", theme.text, &theme);
    assert_eq!(parsed.text, "a red bold z");
    let word_style = |word: &str| {
        let offset = parsed.text.find(word).unwrap();
        parsed.style_ends.iter().find(|(end, _)| offset < *end).unwrap().1
    };
    assert_eq!((word_style("red").fg, word_style("z")), (theme.danger.fg, theme.text));
    let modifier = word_style("bold").add_modifier;
    assert!(modifier.contains(ratatui::style::Modifier::BOLD | ratatui::style::Modifier::UNDERLINED));
    assert_eq!(parsed.style_ends.last().unwrap().0, parsed.text.len());
}

#[test]
fn progress_shows_its_last_state_and_cursor_moves_are_marked() {
    check_output("10%\r50%\r100%\ndone\n", "100%\ndone\n");
    check_output("long words\rab\n", "ab\n");
    check_output("abc\x08\x08X\n", "abc<U+0008><U+0008>X\n");
    check_output("one\n\x1b[1Atwo\n\x1b[2J\x1b[H", "one\n<U+001B>[1Atwo\n<U+001B>[2J<U+001B>[H");
    check_output("x\x1b[10Gy\n", "x<U+001B>[10Gy\n");
}

#[test]
fn long_line_stays_one_line() {
    let long = "abcdefghij".repeat(1_000);
    check_output(&format!("\x1b[31m{long}\x1b[0m\nnext\n"), &format!("{long}\nnext\n"));
}

#[test]
fn r32_executes_no_sequence_and_loses_no_text() {
    check_output(
        "\x1b]0;title\x07a\x1b[?1049hb\x1b[6nc\x1b[>4;2md\n",
        "<U+001B>]0;title<U+0007>a<U+001B>[?1049hb<U+001B>[6nc<U+001B>[>4;2md\n",
    );
    check_output("\x1b[31ma\u{202e}b\u{200b}c\x07\n", "a<U+202E>b<U+200B>c<U+0007>\n");
    check_output("\x1b[5;1;1;1;300;1;1mx\x1b[999999999999999mx\x1b[;;;38;5mx\n", "xxx\n");
}

#[test]
fn expands_tabs_across_colours() {
    check_output("ab\x1b[31m\tc\x1b[0m\td\n\te", "ab  c   d\n    e");
}

#[test]
fn parses_colours_with_colons() {
    let theme = dark_theme();
    let parsed = parse_output("\x1b[38:2::250:250:250;1mx", theme.text, &theme);
    assert_eq!(parsed.style_ends, parse_output("\x1b[38;2;250;250;250m\x1b[1mx", theme.text, &theme).style_ends);
    // With and without the id of a colour space, and with a tolerance after the colour.
    let expected = parse_output("\x1b[38;2;251;252;253mx", theme.text, &theme).style_ends;
    for parameter in ["38:2:251:252:253", "38:2:0:251:252:253", "38:2::251:252:253::1", "38:2:1:251:252:253:0:1:2"] {
        let parsed = parse_output(&format!("\x1b[{parameter}mx"), theme.text, &theme);
        assert_eq!(parsed.style_ends, expected, "{parameter}");
    }
}

#[test]
fn unknown_and_unused_parameters_change_no_style() {
    let theme = dark_theme();
    let styles = |output: &str| parse_output(output, theme.text, &theme).style_ends;
    for (output, same) in [
        ("\x1b[1m\x1b[256mx", "\x1b[1mx"),
        ("\x1b[3;58;5;1mx", "\x1b[3mx"),
        ("\x1b[3;58;2;1;2;4mx", "\x1b[3mx"),
        ("\x1b[4m\x1b[4:0mx", "x"),
        ("\x1b[1m\x1b[;3mx", "\x1b[3mx"),
    ] {
        assert_eq!(styles(output), styles(same), "{output:?}");
    }
}

#[test]
fn finds_a_link_across_colours() {
    let theme = dark_theme();
    let parsed = parse_output("\x1b[35msrc/main.rs\x1b[0m:\x1b[32m3\x1b[0m: x", theme.text, &theme);
    let pieces = styled_pieces(&parsed.text, &parsed.style_ends, theme.link, &|_| Existence::Exists);
    let linked: Vec<&Piece> = pieces.iter().filter(|piece| piece.link.is_some()).collect();
    let linked_text: String = linked.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(linked_text, "src/main.rs:3");
    assert!(linked.windows(2).all(|pair| Arc::ptr_eq(pair[0].link.as_ref().unwrap(), pair[1].link.as_ref().unwrap())));
    let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(joined, parsed.text);
}

#[test]
fn output_without_sequences_is_only_cleaned() {
    check_output("a\tb\r\nc\n", "a   b\nc\n");
}

proptest! {
    #[test]
    fn r32_output_is_clean_and_its_styles_cover_it(
        output in "(\\PC|[\0-\u{ff}]|\x1b\\[[0-9;]{0,6}[A-Za-z@]|\r|\n|漢|\u{301}){0,80}"
    ) {
        let found = parse_output(&output, Style::new(), &dark_theme());
        prop_assert!(found.text.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert_eq!(found.style_ends.last().map_or(0, |(end, _)| *end), found.text.len());
        let all: String = styled_pieces(&found.text, &found.style_ends, Style::new(), &|_| Existence::Exists).into_iter().map(|piece| piece.text).collect();
        prop_assert_eq!(all, found.text);
    }
}

#[test]
fn laid_out_output_breaks_between_words_and_keeps_columns() {
    let theme = dark_theme();
    let rows = |text: &str| {
        let lines = lay_out_output(text, Style::new(), &theme, 12);
        lines.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(rows("some words in a line"), ["some words ", "in a line"]);
    assert_eq!(rows("abc  defg  hijk"), ["abc  defg  h", "ijk"]);
}
