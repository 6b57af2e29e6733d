//! Diffs are shown completely.

use super::*;
use crate::chat::Edit;
use crate::text::width::text_width;
use crate::tui::theme::Themes;

fn make_diff(before: Option<&str>, after: &str) -> Diff {
    Edit { path: "src/a.rs".into(), before: before.map(str::to_owned), after: after.to_owned() }.diff()
}

fn dark_theme() -> Theme {
    Themes::bundled().choose_theme("dark", None)
}

fn line_texts(lines: &[Line<'static>]) -> Vec<String> {
    let line_text = |line: &Line| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    lines.iter().map(|text| line_text(text).trim_end().to_owned()).collect()
}

#[track_caller]
fn check_diff(before: Option<&str>, after: &str, width: usize, expected: &[&str]) {
    assert_eq!(line_texts(&lay_out_diff(&make_diff(before, after), width, &dark_theme())), expected);
}

#[test]
fn lines_have_numbers_and_signs() {
    check_diff(
        Some("a\nb\nc\n"),
        "a\nB\nc\nd\n",
        30,
        &["src/a.rs · +2 −1", "1   a", "2 − b", "2 + B", "3   c", "4 + d"],
    );
    check_diff(None, "x", 30, &["src/a.rs · new file · +1 −0", "1 + x"]);
}

#[test]
fn changes_are_laid_out_without_the_header() {
    let long = Diff { path: "a/very/long/path/to/a/file.rs".into(), ..make_diff(None, "x") };
    let (lines, header) = (
        lay_out_diff(&long, 14, &dark_theme()),
        wrap_pieces(&header_pieces(&long, &dark_theme(), &|_| Existence::Unknown), &Shape::with_width(14)),
    );
    assert_eq!(lines[header.lines.len()..], lay_out_changes(&long, 14, &dark_theme()));
    assert!(header.lines.len() > 1);
}

#[test]
fn distant_changes_are_separated() {
    let before: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let after = before.replace("line 2\n", "line two\n").replace("line 29\n", "line 29b\n");
    let lines = line_texts(&lay_out_diff(&make_diff(Some(&before), &after), 40, &dark_theme()));
    assert_eq!(lines.iter().filter(|line| *line == "⋯").count(), 1);
    assert!(lines.contains(&" 2 + line two".to_owned()) && lines.contains(&"29 − line 29".to_owned()), "{lines:?}");
}

#[test]
fn long_lines_wrap_and_are_never_truncated() {
    check_diff(None, "abcdefghijklmno", 14, &["src/a.rs · new", "file · +1 −0", "1 + abcdefghij", "    klmno"]);
    check_diff(None, "abcdef", 6, &["src/a.", "rs ·", "new", "file ·", "+1 −0", "+ abcd", "  ef"]);
}

#[test]
fn r10_marks_invisible_characters() {
    check_diff(Some("a\n"), "a\u{202e}b\x1b[0m\n", 60, &["src/a.rs · +1 −1", "1 − a", "1 + a<U+202E>b<U+001B>[0m"]);
    check_diff(None, "\tx", 60, &["src/a.rs · new file · +1 −0", "1 + →   x"]);
    check_diff(None, &format!("a{}b", " ".repeat(40)), 60, &["src/a.rs · new file · +1 −0", "1 + a<40 blanks>b"]);
    let hostile = Diff { path: "a\nb\x1b[1m".into(), ..make_diff(None, "x") };
    assert_eq!(line_texts(&lay_out_diff(&hostile, 60, &dark_theme()))[0], "a<U+000A>b<U+001B>[1m · new file · +1 −0");
}

#[test]
fn shows_the_note() {
    check_diff(Some("a\n"), "a", 60, &["src/a.rs · +1 −1", "1 − a", "1 + a", "the final newline is removed"]);
}

#[test]
fn highlights_only_the_changed_word() {
    let theme = dark_theme();
    let lines = lay_out_diff(&make_diff(Some("let x = one(2);\n"), "let x = two(2);\n"), 40, &theme);
    let changed_text = |line: &Line, style: Style| -> String {
        let spans = line.spans.iter().filter(|span| span.style.bg == style.bg);
        spans.map(|span| span.content.as_ref()).collect()
    };
    assert_eq!(changed_text(&lines[1], theme.removed_part), "one");
    assert_eq!(changed_text(&lines[2], theme.added_part), "two");
    let lines = lay_out_diff(&make_diff(Some("abc\n"), "something else\n"), 40, &theme);
    assert_eq!(changed_text(&lines[2], theme.added_part), "");
}

#[test]
fn background_of_a_changed_line_extends_to_the_end() {
    let theme = dark_theme();
    for line in &lay_out_diff(&make_diff(Some("a\n"), "b\n"), 20, &theme)[1..] {
        assert_eq!(line.spans.iter().map(|span| text_width(&span.content)).sum::<usize>(), 20);
    }
}

proptest::proptest! {
    #[test]
    fn r34_no_line_is_wider_than_requested(before in "(\\PC|\n|\t|\u{202e}|word ){0,40}", after in "(\\PC|\n|\t|word ){0,40}", cells in 1usize..40) {
        for line in lay_out_diff(&make_diff(Some(&before), &after), cells, &dark_theme()) {
            let found: usize = line.spans.iter().map(|span| text_width(&span.content)).sum();
            proptest::prop_assert!(found <= cells);
            proptest::prop_assert!(line.spans.iter().all(|span| !span.content.contains(char::is_control)));
        }
    }
}

#[test]
fn sides_are_shown_side_by_side_if_the_width_allows_it() {
    let (before, after) = ("a\nb\nc\n", "a\nB\nc\nd\n");
    let pad_side = |text: &str| format!("{text:<MIN_SIDE_COLUMNS$}");
    let row = |left: &str, right: &str| format!("{} │ {right}", pad_side(left)).trim_end().to_owned();
    // The narrowest width for two sides. ` │ ` between them takes 3 columns.
    check_diff(
        Some(before),
        after,
        2 * MIN_SIDE_COLUMNS + 3,
        &[
            "src/a.rs · +2 −1",
            &row("1   a", "1   a"),
            &row("2 − b", "2 + B"),
            &row("3   c", "3   c"),
            &row("", "4 + d"),
        ],
    );
    // With one column less, or with only additions, the sides are shown one below the other.
    assert_eq!(
        line_texts(&lay_out_diff(&make_diff(Some(before), after), 2 * MIN_SIDE_COLUMNS + 2, &dark_theme()))[2..4],
        ["2 − b", "2 + B"]
    );
    check_diff(Some("a\n"), "a\nb\n", 200, &["src/a.rs · +1 −0", "1   a", "2 + b"]);
}

#[test]
fn r07_hides_nothing_side_by_side() {
    let long = "word ".repeat(40);
    let change = make_diff(Some(&format!("x\u{202e}y\n{long}old\n")), &format!("x\u{200b}y\n{long}new\nmore\n"));
    let rendered = line_texts(&lay_out_diff(&change, 150, &dark_theme())).join("\n");
    for part in ["<U+202E>", "<U+200B>", "old", "new", "more"] {
        assert!(rendered.contains(part), "{part} in {rendered}");
    }
    assert_eq!(rendered.matches('w').count(), 2 * 40 + 1, "`word` 40 times on each side, and `new`");
    assert!(lay_out_diff(&change, 150, &dark_theme()).iter().all(|line| line_width(line) <= 150));
}

fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| text_width(&span.content)).sum()
}

/// Returns the spans of a line after its number and sign.
fn code_spans<'l>(line: &'l Line<'_>) -> Vec<(&'l str, Style)> {
    line.spans.iter().skip(2).map(|span| (span.content.as_ref(), span.style)).collect()
}

#[test]
fn code_has_the_colours_of_its_language_on_the_background_of_its_change() {
    let theme = dark_theme();
    let lines = lay_out_diff(&make_diff(Some("let a = 1;\n// x\n"), "let a = 1;\nfn two() {}\n"), 40, &theme);
    let keyword_style = |line: &Line<'_>, word: &str| {
        let spans = code_spans(line);
        spans.iter().find(|(text, _)| text.trim() == word).map(|(_, style)| (style.fg, style.bg))
    };
    assert_eq!(keyword_style(&lines[1], "let"), Some((theme.syntax_keyword.fg, None)));
    assert_eq!(keyword_style(&lines[3], "fn"), Some((theme.syntax_keyword.fg, theme.added.bg)));
    let comment = code_spans(&lines[2]);
    assert!(
        comment.iter().any(|(text, style)| text.contains('x') && style.fg == theme.syntax_comment.fg),
        "{comment:?}"
    );
}

#[test]
fn the_changed_word_keeps_its_emphasis_among_coloured_code() {
    let theme = dark_theme();
    let lines = lay_out_diff(&make_diff(Some("let x = one(2);\n"), "let x = two(2);\n"), 40, &theme);
    let spans = code_spans(&lines[2]);
    let find = |text: &str| spans.iter().find(|(span, _)| span.trim() == text).map(|(_, style)| *style).unwrap();
    assert_eq!((find("two").fg, find("two").bg), (theme.added_part.fg, theme.added_part.bg));
    assert_eq!((find("let").fg, find("let").bg), (theme.syntax_keyword.fg, theme.added.bg));
}

#[test]
fn words_are_emphasized_in_the_most_similar_line_if_more_lines_were_added_than_removed() {
    let theme = dark_theme();
    let after = "// Counts only what is shown.\nlet total = visible(items).len();\n";
    let lines = lay_out_diff(&make_diff(Some("let total = items.len();\n"), after), 60, &theme);
    let emphasized = |line: &Line<'_>| -> String {
        let spans = line.spans.iter().filter(|span| span.style.bg == theme.added_part.bg);
        spans.map(|span| span.content.as_ref()).collect()
    };
    assert_eq!([emphasized(&lines[2]), emphasized(&lines[3])], ["", "visible(items).len"]);
}

#[test]
fn without_a_background_changed_lines_keep_the_colour_of_their_change() {
    let mut theme = dark_theme();
    (theme.added.bg, theme.removed.bg) = (None, None);
    for line in &lay_out_diff(&make_diff(Some("let x = 1;\n"), "fn y() {}\n"), 40, &theme)[1..] {
        let change = if line.to_string().contains('+') { theme.added } else { theme.removed };
        assert!(code_spans(line).iter().all(|(_, style)| style.fg == change.fg), "{line:?}");
    }
}

#[test]
fn r10_a_line_with_marks_is_not_split_by_its_colours() {
    for code in ["let a = \"e\u{301}\";", "let\u{200b} a = 1;", "let a = 1;\tx", &format!("let{}a", " ".repeat(40))] {
        let without_language = Diff { path: "src/a".into(), ..make_diff(None, code) };
        let coloured = line_texts(&lay_out_changes(&make_diff(None, code), 80, &dark_theme()));
        assert_eq!(coloured, line_texts(&lay_out_changes(&without_language, 80, &dark_theme())), "{code:?}");
    }
}

#[test]
fn r10_a_line_with_marks_is_not_split_by_its_changed_words() {
    let (before, after) = ("fn one(\u{202e}a, b, c)", "fn two(\u{202e}a, b, c)");
    let text_after_sign = |line: &String| line[line.find(['+', '−']).unwrap()..].trim_end().chars().skip(1).collect();
    let lines: Vec<String> = line_texts(&lay_out_changes(&make_diff(Some(before), after), 80, &dark_theme()));
    let shown: Vec<String> = lines.iter().map(text_after_sign).collect();
    let alone = |text: &str| line_texts(&lay_out_changes(&make_diff(None, text), 80, &dark_theme()));
    assert_eq!(shown, [before, after].map(|text| text_after_sign(&alone(text)[0])));
}

proptest::proptest! {
    #[test]
    fn colours_change_no_text(before in "(fn |let |\"|'|//|\\PC|\n|\t|\u{202e}|  ){0,40}", after in "(fn |let |\"|/\\*|\\PC|\n|\t|  ){0,40}") {
        let coloured = make_diff(Some(&before), &after);
        let plain = Diff { path: "src/a".into(), ..coloured.clone() };
        let lay_out = |diff: &Diff| line_texts(&lay_out_changes(diff, 60, &dark_theme()));
        proptest::prop_assert_eq!(lay_out(&coloured), lay_out(&plain));
    }

    #[test]
    fn trimmed_context_keeps_every_change_and_its_line_number(
        before in proptest::collection::vec("[ab]", 0..30),
        after in proptest::collection::vec("[abc]", 0..30),
        context in 0usize..3,
    ) {
        let diff = make_diff(Some(&before.join("\n")), &after.join("\n"));
        let trimmed = trim_context(&diff, context);
        let is_change = |line: &String| line.contains(" + ") || line.contains(" − ");
        let lay_out = |diff: &Diff| line_texts(&lay_out_changes(diff, 60, &dark_theme()));
        let (all, kept) = (lay_out(&diff), lay_out(&trimmed));
        let trim = |lines: &[String]| -> Vec<String> {
            lines.iter().filter(|line| is_change(line)).map(|line| line.trim_start().to_owned()).collect()
        };
        proptest::prop_assert_eq!(trim(&all), trim(&kept));
        for hunk in &trimmed.hunks {
            let leading = hunk.lines.iter().take_while(|line| line.is_same()).count();
            let trailing = hunk.lines.iter().rev().take_while(|line| line.is_same()).count();
            proptest::prop_assert!(leading <= context && trailing <= context && leading < hunk.lines.len());
        }
    }
}
