//! Makes every character of a text visible: the text in an approval prompt is exactly what runs.

use super::clean::TAB_WIDTH;
use crate::text::hidden_chars::{self, CharClass, MAX_COMBINING_MARKS};
use unicode_width::UnicodeWidthChar;

/// Maximum number of consecutive spaces that are shown. A longer run, which could push text out of sight, is shown as a
/// count.
const MAX_SPACES: usize = 20;
/// Maximum number of consecutive empty lines that are shown. A longer run is shown as a count, for the same reason.
const MAX_EMPTY_LINES: usize = 3;

/// A part of revealed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevealedPart {
    /// Ordinary characters; `\n` is the only control character.
    Text(String),
    /// Mark for something invisible: `<U+202E>` for a character, `<40 blanks>` for many spaces, and for a tab an arrow
    /// and the spaces up to the tab stop.
    Mark(String),
}

impl RevealedPart {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Mark(text) => text,
        }
    }
}

/// Returns the whole text with marks for invisible, bidirectional and control characters.
pub fn reveal_text(text: &str) -> Vec<RevealedPart> {
    let mut revealed = Revealer::default();
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        if c == ' ' {
            let spaces = 1 + text[index + 1..].bytes().take_while(|byte| *byte == b' ').count();
            for _ in 1..spaces {
                chars.next();
            }
            match spaces {
                ..=MAX_SPACES => revealed.push_text(&text[index..index + spaces], spaces),
                _ => revealed.push_mark(format!("<{spaces} blanks>")),
            }
            continue;
        }
        let next = chars.peek().map(|(_, c)| *c);
        let is_visible = match hidden_chars::classify_char(c) {
            CharClass::Plain => true,
            CharClass::Control => c == '\n',
            CharClass::Separator | CharClass::Hidden | CharClass::HiddenInPrompts => false,
            // A joiner between letters is marked: two texts to approve must not look alike.
            CharClass::Joiner => {
                hidden_chars::is_joiner_valid(revealed.last_char, c, next)
                    && !hidden_chars::shapes_letters(revealed.last_char, next)
            }
            CharClass::Combining => {
                revealed.combining_marks += 1;
                revealed.last_char.is_some() && revealed.combining_marks <= MAX_COMBINING_MARKS
            }
        };
        match c {
            '\t' => revealed.push_mark(format!("→{}", " ".repeat(TAB_WIDTH - 1 - revealed.column % TAB_WIDTH))),
            '\n' => {
                revealed.end_line();
                let (lines, bytes) = count_empty_lines(&text[index + 1..]);
                if lines > MAX_EMPTY_LINES {
                    revealed.push_mark(format!("<{lines} empty lines>"));
                    revealed.end_line();
                    while chars.next_if(|(next_index, _)| *next_index <= index + bytes).is_some() {}
                }
            }
            _ if is_visible => revealed.push_text(&text[index..index + c.len_utf8()], c.width().unwrap_or(0)),
            _ => revealed.push_mark(hidden_chars::mark_char(c)),
        }
    }
    revealed.parts
}

/// Returns the revealed text for one line as a string.
pub fn reveal_line(text: &str) -> String {
    reveal_line_parts(text).into_iter().map(RevealedPart::into_text).collect()
}

/// Returns the revealed text for one line: line breaks become marks too.
pub fn reveal_line_parts(text: &str) -> Vec<RevealedPart> {
    let mut parts = Vec::new();
    for (line_index, line) in text.split('\n').enumerate() {
        if line_index > 0 {
            parts.push(RevealedPart::Mark("<U+000A>".to_owned()));
        }
        parts.extend(reveal_text(line));
    }
    parts
}

/// Returns the text with marks for invisible characters. Spaces, tabs and line breaks are kept, for text whose layout
/// depends on them.
pub fn mark_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive([' ', '\t', '\n']) {
        let has_separator = part.ends_with([' ', '\t', '\n']);
        let (word, separator) = part.split_at(part.len() - usize::from(has_separator));
        out.push_str(&reveal_to_string(word));
        out.push_str(separator);
    }
    out
}

/// Returns the revealed text as a string, for `--plain` and logs.
pub fn reveal_to_string(text: &str) -> String {
    reveal_text(text).into_iter().map(RevealedPart::into_text).collect()
}

/// Returns the number of empty or blank lines at the start of a text, and their length in bytes.
fn count_empty_lines(text: &str) -> (usize, usize) {
    let is_empty_line = |line: &&str| line.ends_with('\n') && line.bytes().all(|byte| b" \t\n".contains(&byte));
    let lines = text.split_inclusive('\n').take_while(is_empty_line);
    lines.fold((0, 0), |(lines, bytes), line| (lines + 1, bytes + line.len()))
}

/// Revealed text so far, and the current column.
#[derive(Default)]
struct Revealer {
    parts: Vec<RevealedPart>,
    column: usize,
    /// Character that a joiner or combining mark would attach to; `None` after a [`RevealedPart::Mark`] and at the
    /// start of a line.
    last_char: Option<char>,
    combining_marks: usize,
}

impl Revealer {
    fn push_text(&mut self, text: &str, columns: usize) {
        self.column += columns;
        self.last_char = text.chars().next_back();
        if columns > 0 {
            self.combining_marks = 0;
        }
        match self.parts.last_mut() {
            Some(RevealedPart::Text(previous)) => previous.push_str(text),
            _ => self.parts.push(RevealedPart::Text(text.to_owned())),
        }
    }

    fn end_line(&mut self) {
        self.push_text("\n", 0);
        (self.column, self.last_char) = (0, None);
    }

    fn push_mark(&mut self, mark: String) {
        self.column += super::width::text_width(&mark);
        (self.last_char, self.combining_marks) = (None, 0);
        self.parts.push(RevealedPart::Mark(mark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn assert_revealed(text: &str, expected: &str) {
        assert_eq!(reveal_to_string(text), expected, "{text:?}");
    }

    #[test]
    fn r10_marks_invisible_characters() {
        assert_revealed("rm \u{202e}fdp.exe", "rm <U+202E>fdp.exe");
        assert_revealed("a\x1b[31mb", "a<U+001B>[31mb");
        assert_revealed("a\u{200b}b\u{feff}c", "a<U+200B>b<U+FEFF>c");
        assert_revealed("a\u{e0041}b", "a<U+E0041>b");
        assert_revealed("a\u{a0}b\u{3000}c\u{2800}d\u{3164}e", "a<U+00A0>b<U+3000>c<U+2800>d<U+3164>e");
        assert_revealed("a\r\nb\u{2028}c\0", "a<U+000D>\nb<U+2028>c<U+0000>");
        assert_revealed("a\u{9b}31m", "a<U+009B>31m");
        assert_revealed("\u{e000}", "<U+E000>");
        assert_revealed("می\u{200c}خ", "می<U+200C>خ");
    }

    #[test]
    fn counts_many_spaces_and_shows_tabs() {
        assert_revealed(&format!("ls{}; rm", " ".repeat(40)), "ls<40 blanks>; rm");
        assert_revealed(&format!("a{}b", " ".repeat(20)), &format!("a{}b", " ".repeat(20)));
        assert_revealed("\tx\ty", "→   x→  y");
    }

    #[test]
    fn r07_counts_many_empty_lines() {
        assert_revealed("a\n\n\n\nb", "a\n\n\n\nb");
        assert_revealed(&format!("ls{}rm", "\n".repeat(40)), "ls\n<39 empty lines>\nrm");
        assert_revealed(&format!("ls\n{}rm", " \t\n".repeat(9)), "ls\n<9 empty lines>\nrm");
        assert_revealed("a\n\n\n\n\n", "a\n<4 empty lines>\n");
        assert_revealed("a\n\n\n\n\n  b", "a\n<4 empty lines>\n  b");
    }

    #[test]
    fn reveal_line_marks_line_breaks_and_mark_invisible_keeps_them() {
        assert_eq!(reveal_line("a\r\nb\u{202e}"), "a<U+000D><U+000A>b<U+202E>");
        let layout = format!("|{}|\n\t\u{200b}x\n\n\n\n\n\n|", " ".repeat(40));
        assert_eq!(mark_invisible(&layout), layout.replace('\u{200b}', "<U+200B>"));
        assert_eq!(mark_invisible("é 👩\u{200d}👧 \x1b[2J"), "é 👩\u{200d}👧 <U+001B>[2J");
    }

    #[test]
    fn keeps_ordinary_text_and_emoji() {
        assert_revealed(
            "größer 漢字 e\u{301} 👩\u{200d}👧 ❤\u{fe0f}\nb",
            "größer 漢字 e\u{301} 👩\u{200d}👧 ❤\u{fe0f}\nb",
        );
        assert_revealed("a\u{200d}b", "a<U+200D>b");
        assert_revealed("\u{301}", "<U+0301>");
        assert_revealed(&format!("a{}", "\u{301}".repeat(6)), &format!("a{}<U+0301><U+0301>", "\u{301}".repeat(4)));
    }

    #[test]
    fn distinguishes_marks_from_equal_text() {
        assert_eq!(reveal_text("<U+202E>"), [RevealedPart::Text("<U+202E>".into())]);
        assert_eq!(reveal_text("\u{202e}"), [RevealedPart::Mark("<U+202E>".into())]);
    }

    proptest! {
        #[test]
        fn output_has_no_control_characters_and_loses_nothing(text in "(\\PC|[\0-\u{ff}]|\u{202e}|\u{200d}){0,60}") {
            let revealed = reveal_to_string(&text);
            prop_assert!(revealed.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert!(revealed.chars().count() >= text.chars().filter(|c| !" \t\n".contains(*c)).count());
        }
    }
}
