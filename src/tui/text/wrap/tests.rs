//! Wrapping: every line fits, whatever the text.

use super::*;
use proptest::prelude::*;

fn line_texts(page: &Page) -> Vec<String> {
    page.lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
}

fn plain_piece(text: &str) -> Piece {
    Piece::new(text, Style::new())
}

#[track_caller]
fn check_wrap(prose: &str, width: usize, expected: &[&str]) {
    assert_eq!(line_texts(&wrap_pieces(&[plain_piece(prose)], &Shape::with_width(width))), expected);
}

#[test]
fn moves_whole_words_to_the_next_line() {
    check_wrap("one two three", 7, &["one two", "three"]);
    check_wrap("one two three", 8, &["one two", "three"]);
    check_wrap("one  two", 4, &["one", "two"]);
    check_wrap("", 5, &[""]);
    check_wrap("a\n\nb", 5, &["a", "", "b"]);
    check_wrap("   lead", 20, &["   lead"]);
    check_wrap("well-known --flag -x", 8, &["well-", "known", "--flag", "-x"]);
}

#[test]
fn rows_of_a_list_go_on_below_its_second_column() {
    let wrap = |text: &str, width| line_texts(&wrap_pieces(&[plain_piece(text)], &Shape::hanging(width)));
    let text = "name  one two\n      three four\nfive six seven";
    assert_eq!(wrap(text, 12), ["name  one", "      two", "      three", "      four", "five six", "seven"]);
    assert_eq!(wrap("name    漢 字字", 14), ["name    漢 字", "字"], "the column is not in the left half");
}

#[test]
fn breaks_long_words_between_graphemes() {
    check_wrap("abcdefgh", 3, &["abc", "def", "gh"]);
    check_wrap("ab cdefgh", 4, &["ab", "cdef", "gh"]);
    check_wrap("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]);
}

#[test]
fn wide_scripts_break_anywhere_except_before_their_stops() {
    check_wrap("漢字漢字", 5, &["漢字", "漢字"]);
    check_wrap("漢字漢。字", 6, &["漢字", "漢。字"]);
    check_wrap("漢「字」", 4, &["漢", "「字", "」"]);
}

#[test]
fn glyph_wider_than_the_line_becomes_an_ellipsis() {
    check_wrap("漢a", 1, &["…", "a"]);
    check_wrap("a", 0, &["a"]);
}

#[test]
fn code_keeps_all_spaces_and_breaks_at_the_last_column() {
    let shape = Shape { verbatim: true, ..Shape::with_width(4) };
    assert_eq!(line_texts(&wrap_pieces(&[plain_piece("  ab cd  \n ")], &shape)), ["  ab", " cd ", " ", " "]);
}

#[track_caller]
fn check_output(text: &str, width: usize, expected: &[&str]) {
    let shape = Shape { verbatim: true, keeps_words: true, ..Shape::with_width(width) };
    assert_eq!(line_texts(&wrap_pieces(&[plain_piece(text)], &shape)), expected);
}

#[test]
fn output_breaks_after_spaces_and_keeps_its_indentation() {
    check_output("one two three", 9, &["one two ", "three"]);
    check_output("one two three", 7, &["one two", "three"]);
    check_output("    let x = value;", 11, &["    let x =", "value;"]);
    check_output("abcdefgh ij", 4, &["abcd", "efgh", "ij"]);
    check_output("    abcdefgh", 6, &["    ab", "cdefgh"]);
    check_output("a\n\nb ", 5, &["a", "", "b "]);
}

#[test]
fn output_with_columns_breaks_at_the_last_column() {
    check_output("a.rs   12 kB   today now", 20, &["a.rs   12 kB   today", " now"]);
    check_output("-rw-r--r-- 1 root   186 Nov 28", 22, &["-rw-r--r-- 1 root   ", "186 Nov 28"]);
}

proptest! {
    #[test]
    fn lists_lose_nothing_but_spaces(text in "[a-c\n ]{0,40}", width in 0_usize..12) {
        let lines = line_texts(&wrap_pieces(&[plain_piece(&text)], &Shape::hanging(width)));
        prop_assert!(lines.iter().all(|line| line.len() <= width.max(1)), "{lines:?}");
        let without_blanks = |text: &str| text.replace([' ', '\n'], "");
        prop_assert_eq!(without_blanks(&lines.concat()), without_blanks(&text));
    }

    #[test]
    fn output_loses_nothing_but_spaces(text in "[a-c 漢]{0,40}", width in 2_usize..12) {
        let shape = Shape { verbatim: true, keeps_words: true, ..Shape::with_width(width) };
        let lines = line_texts(&wrap_pieces(&[plain_piece(&text)], &shape));
        prop_assert!(lines.iter().all(|line| crate::text::width::text_width(line) <= width), "{lines:?}");
        let without_spaces = |text: &str| text.replace(' ', "");
        prop_assert_eq!(without_spaces(&lines.concat()), without_spaces(&text));
    }
}

#[test]
fn space_with_a_combining_mark_is_a_glyph() {
    check_wrap("abcd \u{1cd0}ef", 4, &["abcd", " \u{1cd0}ef"]);
    check_wrap("abcd \u{1cd0}", 4, &["abcd", " \u{1cd0}"]);
}

#[test]
fn indentation_is_dropped_if_the_width_is_too_small() {
    let shape = |width| Shape {
        first_prefix: vec![plain_piece("• ")],
        next_prefix: vec![plain_piece("  ")],
        ..Shape::with_width(width)
    };
    assert_eq!(line_texts(&wrap_pieces(&[plain_piece("one two")], &shape(6))), ["• one", "  two"]);
    assert_eq!(line_texts(&wrap_pieces(&[plain_piece("ab")], &shape(2))), ["ab"]);
}

#[test]
fn link_that_wraps_is_one_link_on_two_lines() {
    let target = Arc::new(LinkTarget::Web("https://a.example".into()));
    let link = Piece { link: Some(target.clone()), ..plain_piece("see this") };
    let page = wrap_pieces(&[plain_piece("go "), link.clone(), plain_piece("x")], &Shape::with_width(7));
    assert_eq!(line_texts(&page), ["go see", "thisx"]);
    let cells: Vec<_> = page.links.iter().map(|link| (link.line, link.start, link.end)).collect();
    assert_eq!(cells, [(0, 3, 6), (1, 0, 4)]);
    assert!(page.links.iter().all(|link| Arc::ptr_eq(&link.target, &target)));
    let other_link = Piece { link: Some(Arc::new(LinkTarget::Web("https://b.example".into()))), ..plain_piece("b") };
    let page = wrap_pieces(&[link, other_link], &Shape::with_width(20));
    assert_eq!(page.links.iter().map(|link| (link.start, link.end)).collect::<Vec<_>>(), [(0, 8), (8, 9)]);
}

proptest! {
    #[test]
    fn r34_no_line_is_wider_than_requested_and_no_glyph_is_lost(
        parts in prop::collection::vec("[ a-z-]{0,9}|\\PC{0,5}|漢。（字|👩\u{200d}👧|e\u{301}", 0..8),
        width in 0usize..12,
        verbatim: bool,
    ) {
        let pieces: Vec<_> = parts.iter().map(|part| plain_piece(&crate::text::clean::clean_text(part))).collect();
        let shape = Shape { verbatim, first_prefix: vec![plain_piece("> ")], next_prefix: vec![plain_piece("  ")], ..Shape::with_width(width) };
        let page = wrap_pieces(&pieces, &shape);
        for line in line_texts(&page) {
            prop_assert!(width::text_width(&line) <= width.max(1), "{line:?}");
        }
        if width > 3 {
            let glyphs = |text: &str| text.chars().filter(|c| !matches!(c, ' ' | '\n')).collect::<String>();
            let shown: String = line_texts(&page).iter().map(|line| glyphs(&line[2.min(line.len())..])).collect();
            // The prefix takes two columns. A grapheme wider than the rest of the line is shown as `…`.
            let fits = |grapheme: &str| if width::grapheme_width(grapheme) > width - 2 { "…".into() } else { glyphs(grapheme) };
            let whole = |piece: &Piece| piece.text.graphemes(true).map(fits).collect::<String>();
            prop_assert_eq!(shown, pieces.iter().map(whole).collect::<String>());
        }
    }
}

/// Returns the lines of a wrapped command as drawn.
fn wrap_command(command: &str, width: usize) -> Vec<String> {
    let first_prefix = vec![Piece::new("$ ", Style::new())];
    let next_prefix = vec![Piece::new("  ", Style::new())];
    let shape = Shape { width, first_prefix, next_prefix, verbatim: true, ..Shape::default() };
    let page = wrap_code(&[Piece::new(command, Style::new())], &shape, &Piece::new(CONTINUATION_MARK, Style::new()));
    let line_text = |line: &Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect();
    page.lines.iter().map(line_text).collect()
}

#[test]
fn command_breaks_after_spaces_and_before_operators_with_a_continuation_mark() {
    assert_eq!(wrap_command("echo one && echo two", 14), ["$ echo one && ", "↪ echo two"]);
    assert_eq!(wrap_command("echo one && echo two", 13), ["$ echo one ", "↪ && echo two"]);
    assert_eq!(wrap_command("make;rm old.txt", 9), ["$ make", "↪ ;rm ", "↪ old.txt"]);
    assert_eq!(wrap_command("make 2>&1|tee log", 10), ["$ make ", "↪ 2>&1", "↪ |tee log"]);
    assert_eq!(wrap_command("a\nbb cc\n  dd", 6), ["$ a", "  bb ", "↪ cc", "    dd"]);
}

#[test]
fn long_word_breaks_anywhere_and_nothing_is_lost() {
    assert_eq!(wrap_command("curl abcdefghij", 8), ["$ curl ", "↪ abcdef", "↪ ghij"]);
    for command in ["a && b || c; d | e & f", "漢字漢字 &&& 漢字", "    x  y  ", "", "&&&&&&&&", "a b  c   d    e"]
    {
        for width in 1..30 {
            let lines = wrap_command(command, width);
            assert!(lines.iter().all(|line| width::text_width(line) <= width), "{width}: {lines:?}");
            // On narrower lines the prefix is omitted, or a wide character is shown as `…`.
            if width > 3 {
                let joined: String = lines.iter().map(|line| line.chars().skip(2).collect::<String>()).collect();
                assert_eq!(joined, command, "{width}: {lines:?}");
            }
        }
    }
}
