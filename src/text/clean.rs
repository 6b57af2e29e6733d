//! Cleans text from outside the program before it is drawn.

use crate::text::hidden_chars;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Tab stop width in columns.
pub const TAB_WIDTH: usize = 4;

/// Makes text drawable without losing any of it: control characters except `\n`, invisible characters and characters
/// that change the reading direction become marks such as `<U+001B>`. Tabs become spaces.
///
/// Apply it to a whole text, never to one part of a text that is still being received: whether a joiner is visible
/// depends on its neighbours.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    match hidden_chars::mark_hidden(text) {
        text if text.contains('\t') => {
            let mut out = String::with_capacity(text.len() + 16);
            expand_tabs(&text, &mut 0, &mut out);
            Cow::Owned(out)
        }
        text => text,
    }
}

/// Appends text with tabs expanded to spaces. `column` is the column where the text begins, and is set to the column
/// after it.
pub fn expand_tabs(text: &str, column: &mut usize, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => {
                let spaces = TAB_WIDTH - *column % TAB_WIDTH;
                out.extend(std::iter::repeat_n(' ', spaces));
                *column += spaces;
            }
            _ => {
                *column = if c == '\n' { 0 } else { *column + c.width().unwrap_or(0) };
                out.push(c);
            }
        }
    }
}

/// Cleans text for one line, such as a title or a list row. Line breaks become spaces.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    match clean_text(text) {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', " ")),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hidden_chars::MAX_COMBINING_MARKS;
    use proptest::prelude::*;

    #[track_caller]
    fn assert_cleaned(text: &str, expected: &str) {
        assert_eq!(clean_text(text), expected, "{text:?}");
    }

    #[test]
    fn r32_marks_escape_sequences_and_keeps_the_text_after_them() {
        assert_cleaned("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m");
        assert_cleaned("\x1b]0;title\x07text", "<U+001B>]0;title<U+0007>text");
        assert_cleaned("a\x1b Xb\x1b[3 Xc\x1b(Bd\x1bce", "a<U+001B> Xb<U+001B>[3 Xc<U+001B>(Bd<U+001B>ce");
        assert_cleaned("\u{9b}31mred", "<U+009B>31mred");
        assert_cleaned("a\x1b", "a<U+001B>");
        assert_cleaned("a\x1bPnever ended\nb", "a<U+001B>Pnever ended\nb");
    }

    #[test]
    fn breaks_lines_only_at_line_feeds() {
        assert_cleaned("a\r\nb\r\n", "a\nb\n");
        assert_cleaned("a\r\r\nb", "a\nb");
        assert_cleaned("10%\r20%", "10%<U+000D>20%");
        assert_cleaned("x\u{2028}y\u{85}z\u{c}w", "x<U+2028>y<U+0085>z<U+000C>w");
    }

    #[test]
    fn expands_tabs_to_the_next_stop() {
        assert_cleaned("\ta\tb", "    a   b");
        assert_cleaned("漢\tb", "漢  b");
        assert_cleaned("abc\n\td", "abc\n    d");
    }

    #[test]
    fn marks_invisible_characters() {
        assert_cleaned("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c");
        assert_cleaned("a\u{200b}b\u{feff}c\u{ad}d", "a<U+200B>b<U+FEFF>c<U+00AD>d");
        assert_cleaned("a\u{e0041}\u{e0042}b", "a<U+E0041><U+E0042>b");
        assert_cleaned("a\u{3164}b\u{115f}c\u{ffa0}d", "a<U+3164>b<U+115F>c<U+FFA0>d");
        assert_cleaned("a\u{fe0f}b\u{200d}c", "a<U+FE0F>b<U+200D>c");
        assert_cleaned("\u{7f}a\u{8}b", "<U+007F>a<U+0008>b");
    }

    #[test]
    fn keeps_joiners_in_emoji() {
        assert_cleaned(
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
        );
        assert_cleaned("👩\u{200d}x", "👩<U+200D>x");
    }

    #[test]
    fn limits_combining_characters_and_marks_those_without_a_base() {
        assert_cleaned(
            &format!("a{}", "\u{301}".repeat(50)),
            &format!("a{}<U+0301 x46>", "\u{301}".repeat(MAX_COMBINING_MARKS)),
        );
        assert_cleaned("\n\u{301}a", "\n<U+0301>a");
        assert_cleaned("e\u{301}", "e\u{301}");
    }

    #[test]
    fn borrows_ordinary_text() {
        for text in ["plain\ntext", "größer 漢字 café", "┌─┐", ""] {
            assert!(matches!(clean_text(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn one_line_has_no_line_breaks() {
        assert_eq!(clean_line("a\r\nb\x1b[1m\nc"), "a b<U+001B>[1m c");
    }

    proptest! {
        #[test]
        fn output_has_no_control_characters(text in "(\\PC|[\0-\u{ff}]|\x1b[\\[\\]P_]|\u{202e}|\u{200d}|👩){0,60}") {
            let once = clean_text(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(clean_text(&once), once.as_ref());
            prop_assert_eq!(hidden_chars::find_hidden(&once), None);
        }
    }
}
