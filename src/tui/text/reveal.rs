//! Makes every character of a text visible: the text in an approval prompt is exactly what runs.

use super::Piece;
use super::clean::TAB;
use crate::chat::hidden::{self, Kind, MARKS};
use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

/// Longer runs of spaces are shown as a count, because they could push text out of sight.
const BLANKS: usize = 20;
/// Longer runs of empty lines are shown as a count, for the same reason.
const EMPTY: usize = 3;

/// A part of revealed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// Ordinary characters; `\n` is the only control character.
    Text(String),
    /// Mark for something invisible: `<U+202E>` for a character, `<40 blanks>` for many spaces, or an arrow and
    /// spaces up to the stop for a tab.
    Mark(String),
}

/// Returns the whole text with marks for invisible, bidirectional and control characters.
pub fn reveal(text: &str) -> Vec<Shown> {
    let mut revealed = Revealed::default();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == ' ' {
            let blanks = 1 + text[at + 1..].bytes().take_while(|byte| *byte == b' ').count();
            for _ in 1..blanks {
                chars.next();
            }
            match blanks {
                ..=BLANKS => revealed.text(&text[at..at + blanks], blanks),
                _ => revealed.mark(format!("<{blanks} blanks>")),
            }
            continue;
        }
        let after = chars.peek().map(|(_, c)| *c);
        let shows = match hidden::kind(c) {
            Kind::Plain => true,
            Kind::Control => c == '\n',
            Kind::Separator | Kind::Hidden(_) => false,
            // Text to approve only contains characters that can be told apart.
            Kind::Joiner => {
                hidden::joins(revealed.last, c, after) && !hidden::shapes_letters(revealed.last, after)
            }
            Kind::Combining => {
                revealed.marks += 1;
                revealed.last.is_some() && revealed.marks <= MARKS
            }
        };
        match c {
            '\t' => revealed.mark(format!("→{}", " ".repeat(TAB - 1 - revealed.column % TAB))),
            '\n' => {
                revealed.end_line();
                let (lines, bytes) = empty_lines(&text[at + 1..]);
                if lines > EMPTY {
                    revealed.mark(format!("<{lines} empty lines>"));
                    revealed.end_line();
                    while chars.next_if(|(next, _)| *next <= at + bytes).is_some() {}
                }
            }
            _ if shows => revealed.text(&text[at..at + c.len_utf8()], c.width().unwrap_or(0)),
            _ => revealed.mark(hidden::mark(c)),
        }
    }
    revealed.shown
}

/// Returns the revealed text as pieces to wrap, with marks in the style `mark`.
pub fn pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    let piece = |shown| match shown {
        Shown::Text(text) => Piece::new(text, style),
        Shown::Mark(text) => Piece::new(text, style.patch(mark)),
    };
    reveal(text).into_iter().map(piece).collect()
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn line_pieces(text: &str, style: Style, mark: Style) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for shown in on_one_line(text) {
        pieces.push(match shown {
            Shown::Text(text) => Piece::new(text, style),
            Shown::Mark(text) => Piece::new(text, style.patch(mark)),
        });
    }
    pieces
}

/// Returns the revealed text for one line as a string, for a name on a border.
pub fn one_line(text: &str) -> String {
    let words = |shown| match shown {
        Shown::Text(text) | Shown::Mark(text) => text,
    };
    on_one_line(text).into_iter().map(words).collect()
}

fn on_one_line(text: &str) -> Vec<Shown> {
    let mut all = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            all.push(Shown::Mark("<U+000A>".to_owned()));
        }
        all.extend(reveal(line));
    }
    all
}

/// Returns the text with marks for invisible characters, but with its spaces, tabs and line breaks, for text whose
/// layout depends on them.
pub fn unhidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive([' ', '\t', '\n']) {
        let blank = part.ends_with([' ', '\t', '\n']);
        let (word, end) = part.split_at(part.len() - usize::from(blank));
        out.push_str(&words(word));
        out.push_str(end);
    }
    out
}

/// Returns the revealed text as a string, for `--plain` and logs.
pub fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for shown in reveal(text) {
        match shown {
            Shown::Text(text) | Shown::Mark(text) => words.push_str(&text),
        }
    }
    words
}

/// Returns the number of blank lines at the start of a text, and their length in bytes.
fn empty_lines(text: &str) -> (usize, usize) {
    let empty = |line: &&str| line.ends_with('\n') && line.bytes().all(|byte| b" \t\n".contains(&byte));
    let lines = text.split_inclusive('\n').take_while(empty);
    lines.fold((0, 0), |(lines, bytes), line| (lines + 1, bytes + line.len()))
}

/// Revealed text so far, and the current column.
#[derive(Default)]
struct Revealed {
    shown: Vec<Shown>,
    column: usize,
    /// Character that a joiner or combining mark would attach to; `None` after a mark of ours or at the start of a
    /// line.
    last: Option<char>,
    marks: usize,
}

impl Revealed {
    fn text(&mut self, text: &str, cells: usize) {
        self.column += cells;
        self.last = text.chars().next_back();
        if cells > 0 {
            self.marks = 0;
        }
        match self.shown.last_mut() {
            Some(Shown::Text(before)) => before.push_str(text),
            _ => self.shown.push(Shown::Text(text.to_owned())),
        }
    }

    fn end_line(&mut self) {
        self.text("\n", 0);
        (self.column, self.last) = (0, None);
    }

    fn mark(&mut self, mark: String) {
        self.column += super::width::width(&mark);
        (self.last, self.marks) = (None, 0);
        self.shown.push(Shown::Mark(mark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(words(text), expected, "{text:?}");
    }

    #[test]
    fn r10_marks_invisible_characters() {
        check("rm \u{202e}fdp.exe", "rm <U+202E>fdp.exe");
        check("a\x1b[31mb", "a<U+001B>[31mb");
        check("a\u{200b}b\u{feff}c", "a<U+200B>b<U+FEFF>c");
        check("a\u{e0041}b", "a<U+E0041>b");
        check("a\u{a0}b\u{3000}c\u{2800}d\u{3164}e", "a<U+00A0>b<U+3000>c<U+2800>d<U+3164>e");
        check("a\r\nb\u{2028}c\0", "a<U+000D>\nb<U+2028>c<U+0000>");
        check("a\u{9b}31m", "a<U+009B>31m");
        check("\u{e000}", "<U+E000>");
        check("می\u{200c}خ", "می<U+200C>خ");
    }

    #[test]
    fn counts_many_spaces_and_shows_tabs() {
        check(&format!("ls{}; rm", " ".repeat(40)), "ls<40 blanks>; rm");
        check(&format!("a{}b", " ".repeat(20)), &format!("a{}b", " ".repeat(20)));
        check("\tx\ty", "→   x→  y");
    }

    #[test]
    fn r07_counts_many_empty_lines() {
        check("a\n\n\n\nb", "a\n\n\n\nb");
        check(&format!("ls{}rm", "\n".repeat(40)), "ls\n<39 empty lines>\nrm");
        check(&format!("ls\n{}rm", " \t\n".repeat(9)), "ls\n<9 empty lines>\nrm");
        check("a\n\n\n\n\n", "a\n<4 empty lines>\n");
        check("a\n\n\n\n\n  b", "a\n<4 empty lines>\n  b");
    }

    #[test]
    fn one_line_marks_line_breaks_and_unhidden_keeps_them() {
        assert_eq!(one_line("a\r\nb\u{202e}"), "a<U+000D><U+000A>b<U+202E>");
        let shape = format!("|{}|\n\t\u{200b}x\n\n\n\n\n\n|", " ".repeat(40));
        assert_eq!(unhidden(&shape), shape.replace('\u{200b}', "<U+200B>"));
        assert_eq!(unhidden("é 👩\u{200d}👧 \x1b[2J"), "é 👩\u{200d}👧 <U+001B>[2J");
    }

    #[test]
    fn keeps_ordinary_text_and_emoji() {
        check(
            "größer 漢字 e\u{301} 👩\u{200d}👧 ❤\u{fe0f}\nb",
            "größer 漢字 e\u{301} 👩\u{200d}👧 ❤\u{fe0f}\nb",
        );
        check("a\u{200d}b", "a<U+200D>b");
        check("\u{301}", "<U+0301>");
        check(&format!("a{}", "\u{301}".repeat(6)), &format!("a{}<U+0301><U+0301>", "\u{301}".repeat(4)));
    }

    #[test]
    fn distinguishes_marks_from_equal_text() {
        assert_eq!(reveal("<U+202E>"), [Shown::Text("<U+202E>".into())]);
        assert_eq!(reveal("\u{202e}"), [Shown::Mark("<U+202E>".into())]);
    }

    proptest! {
        #[test]
        fn output_has_no_control_characters_and_loses_nothing(text in "(\\PC|[\0-\u{ff}]|\u{202e}|\u{200d}){0,60}") {
            let words = words(&text);
            prop_assert!(words.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert!(words.chars().count() >= text.chars().filter(|c| !" \t\n".contains(*c)).count());
        }
    }
}
