//! The one cleaner: nothing from outside reaches a cell of the screen without it.

use crate::chat::escape;
use crate::chat::hidden::{self, Kind, MARKS};
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// A tab goes to the next multiple of so many cells.
pub(super) const TAB: usize = 4;

/// Text as it can be drawn: no character of it is a control character but `\n`, none is invisible or turns the
/// reading direction. A lone `\r` starts its line over, as in a terminal; tabs become blanks.
///
/// Escape sequences go whole, also unfinished ones. Apply it to the whole text of a block, never to a delta:
/// so a sequence that was cut over two deltas is seen as one and dropped, not completed by the second.
pub fn clean(text: &str) -> Cow<'_, str> {
    match text.char_indices().find(|(_, c)| *c != '\n' && needs_care(*c)) {
        None => Cow::Borrowed(text),
        Some((at, _)) => {
            // What a lone `\r` or a tab does depends on its line, and a joiner on what it joins.
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let mut cleaner = Cleaner { out: String::with_capacity(text.len()), ..Cleaner::default() };
            cleaner.out.push_str(&text[..line]);
            cleaner.line = line;
            cleaner.take(&text[line..]);
            Cow::Owned(cleaner.out)
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

fn needs_care(c: char) -> bool {
    match hidden::kind(c) {
        Kind::Plain | Kind::Hidden(true) => false,
        Kind::Control | Kind::Separator | Kind::Hidden(false) | Kind::Joiner | Kind::Combining => true,
    }
}

/// The text so far, and where in its last line it stands.
#[derive(Default)]
struct Cleaner {
    out: String,
    /// The byte of `out` where the last line begins.
    line: usize,
    /// Cells taken on that line.
    column: usize,
    /// Marks on the last character.
    marks: usize,
    /// A lone `\r` was seen: the next character that shows starts the line over.
    returned: bool,
}

impl Cleaner {
    fn take(&mut self, text: &str) {
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let sequence = escape::length(&text[at..]);
            if sequence > 0 {
                at += sequence;
                continue;
            }
            at += c.len_utf8();
            match (hidden::kind(c), c) {
                (Kind::Control, '\n') | (Kind::Separator, _) => self.end_line(),
                (Kind::Control, '\r') => self.returned = true,
                (Kind::Control, '\t') => {
                    self.start_over();
                    for _ in 0..TAB - self.column % TAB {
                        self.show(' ');
                    }
                }
                (Kind::Plain | Kind::Hidden(true), _) => self.show(c),
                (Kind::Joiner, _) => {
                    if hidden::joins(self.last(), c, text[at..].chars().next()) {
                        self.out.push(c);
                    }
                }
                (Kind::Combining, _) => {
                    if self.last().is_some() && !self.returned && self.marks < MARKS {
                        self.marks += 1;
                        self.out.push(c);
                    }
                }
                (Kind::Control | Kind::Hidden(false), _) => {}
            }
        }
    }

    fn last(&self) -> Option<char> {
        self.out[self.line..].chars().next_back()
    }

    fn start_over(&mut self) {
        if self.returned {
            self.out.truncate(self.line);
            (self.column, self.returned) = (0, false);
        }
    }

    fn show(&mut self, c: char) {
        self.start_over();
        self.marks = 0;
        self.column += c.width().unwrap_or(0);
        self.out.push(c);
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.line = self.out.len();
        (self.column, self.marks, self.returned) = (0, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text), expected, "{text:?}");
    }

    #[test]
    fn r32_escape_sequences_go_whole() {
        check("\x1b[31mred\x1b[0m", "red");
        check("a\x1b]8;;http://x\x1b\\b\x1b]8;;\x07c", "abc");
        check("\x1b]0;title\x07text", "text");
        check("\x1bP1;2|image\x1b\\x", "x");
        check("\x1b_app\u{9c}x", "x");
        check("a\x1b(Bb\x1b#8c\x1bcd", "abcd");
        check("\u{9b}31mred", "red");
        check("\u{9d}0;title\u{9c}x", "x");
        check("\x1b[?25l\x1b[2J\x1b[1;1Hx", "x");
    }

    #[test]
    fn r33_an_unfinished_sequence_takes_at_most_its_line() {
        check("a\x1b[31", "a");
        check("a\x1b", "a");
        check("a\x1b]0;title\nb", "a\nb");
        check("a\x1bPnever ended\nb", "a\nb");
        check("a\x1b]52;c;\x1b[31mb", "ab");
        check(&format!("a\x1b[{}m", "1".repeat(300)), &format!("a{}m", "1".repeat(44)));
    }

    #[test]
    fn lines_end_as_a_terminal_would_show_them() {
        check("a\r\nb\r\n", "a\nb\n");
        check("10%\r20%\r100%", "100%");
        check("10%\rdone\r\n", "done\n");
        check("kept\r", "kept");
        check("a\r\r\nb", "a\nb");
        check("x\u{2028}y\u{85}z\u{c}w", "x\ny\nz\nw");
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        check("\ta\tb", "    a   b");
        check("漢\tb", "漢  b");
        check("abc\n\td", "abc\n    d");
    }

    #[test]
    fn what_does_not_show_is_dropped() {
        check("a\u{202e}b\u{2066}c", "abc");
        check("a\u{200b}b\u{feff}c\u{ad}d", "abcd");
        check("a\u{e0041}\u{e0042}b", "ab");
        check("a\u{3164}b\u{115f}c\u{ffa0}d", "abcd");
        check("a\u{fe0f}b\u{200d}c", "abc");
        check("\u{7f}a\u{8}b", "ab");
    }

    #[test]
    fn emoji_keep_what_joins_them() {
        check(
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪",
        );
        check("👩\u{200d}x", "👩x");
    }

    #[test]
    fn marks_are_bounded_and_need_something_to_stand_on() {
        check(&format!("a{}", "\u{301}".repeat(50)), &format!("a{}", "\u{301}".repeat(MARKS)));
        check("\n\u{301}a", "\na");
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
        assert_eq!(one_line("a\r\nb\x1b[1m\nc"), "a b c");
    }

    proptest! {
        #[test]
        fn nothing_that_controls_comes_through(text in "(\\PC|[\0-\u{ff}]|\x1b[\\[\\]P_]|\u{202e}|\u{200d}|👩){0,60}") {
            let once = clean(&text);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(clean(&once), once.as_ref());
        }
    }
}
