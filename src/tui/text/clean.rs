//! The one cleaner: nothing from outside reaches a cell of the screen without it.

use crate::chat::hidden;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// A tab goes to the next multiple of so many cells.
pub(super) const TAB: usize = 4;

/// Text as it can be drawn, and nothing of it lost: every control character but `\n`, and every character that does not
/// show or turns the reading direction, becomes a mark such as `<U+001B>`. Tabs become blanks.
///
/// Apply it to the whole text of a block, never to a delta: whether a joiner shows depends on what it joins.
pub fn clean(text: &str) -> Cow<'_, str> {
    match hidden::mark_hidden(text) {
        text if text.contains('\t') => {
            let mut out = String::with_capacity(text.len() + 16);
            expand_tabs(&text, &mut 0, &mut out);
            Cow::Owned(out)
        }
        text => text,
    }
}

/// Adds text with blanks in place of its tabs. `column` is the cell of its line at which it begins, and then ends.
pub(super) fn expand_tabs(text: &str, column: &mut usize, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = TAB - *column % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
                *column += blanks;
            }
            _ => {
                *column = if c == '\n' { 0 } else { *column + c.width().unwrap_or(0) };
                out.push(c);
            }
        }
    }
}

/// Text for a place that has one line: a title, a name, a row of a list. Line ends become blanks.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match clean(text) {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', " ")),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::hidden::MARKS;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text), expected, "{text:?}");
    }

    #[test]
    fn r32_escape_sequences_are_marked_and_swallow_nothing() {
        check("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m");
        check("\x1b]0;title\x07text", "<U+001B>]0;title<U+0007>text");
        check("a\x1b Xb\x1b[3 Xc\x1b(Bd\x1bce", "a<U+001B> Xb<U+001B>[3 Xc<U+001B>(Bd<U+001B>ce");
        check("\u{9b}31mred", "<U+009B>31mred");
        check("a\x1b", "a<U+001B>");
        check("a\x1bPnever ended\nb", "a<U+001B>Pnever ended\nb");
    }

    #[test]
    fn lines_end_where_a_line_feed_is() {
        check("a\r\nb\r\n", "a\nb\n");
        check("a\r\r\nb", "a\nb");
        check("10%\r20%", "10%<U+000D>20%");
        check("x\u{2028}y\u{85}z\u{c}w", "x<U+2028>y<U+0085>z<U+000C>w");
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        check("\ta\tb", "    a   b");
        check("漢\tb", "漢  b");
        check("abc\n\td", "abc\n    d");
    }

    #[test]
    fn what_does_not_show_is_marked() {
        check("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c");
        check("a\u{200b}b\u{feff}c\u{ad}d", "a<U+200B>b<U+FEFF>c<U+00AD>d");
        check("a\u{e0041}\u{e0042}b", "a<U+E0041><U+E0042>b");
        check("a\u{3164}b\u{115f}c\u{ffa0}d", "a<U+3164>b<U+115F>c<U+FFA0>d");
        check("a\u{fe0f}b\u{200d}c", "a<U+FE0F>b<U+200D>c");
        check("\u{7f}a\u{8}b", "<U+007F>a<U+0008>b");
    }

    #[test]
    fn emoji_keep_what_joins_them() {
        check(
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
        );
        check("👩\u{200d}x", "👩<U+200D>x");
    }

    #[test]
    fn combining_characters_are_bounded_and_need_something_to_stand_on() {
        check(&format!("a{}", "\u{301}".repeat(50)), &format!("a{}<U+0301 x46>", "\u{301}".repeat(MARKS)));
        check("\n\u{301}a", "\n<U+0301>a");
        check("e\u{301}", "e\u{301}");
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        for text in ["plain\ntext", "größer 漢字 café", "┌─┐", ""] {
            assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_name_has_one_line() {
        assert_eq!(one_line("a\r\nb\x1b[1m\nc"), "a b<U+001B>[1m c");
    }

    proptest! {
        #[test]
        fn nothing_that_controls_comes_through(text in "(\\PC|[\0-\u{ff}]|\x1b[\\[\\]P_]|\u{202e}|\u{200d}|👩){0,60}") {
            let once = clean(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(clean(&once), once.as_ref());
            prop_assert_eq!(hidden::find_hidden(&once), None);
        }
    }
}
