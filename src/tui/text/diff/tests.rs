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
        wrap_pieces(&header_pieces(&long, &dark_theme()), &Shape::with_width(14)),
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
