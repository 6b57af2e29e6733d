//! Escape sequences: where one ends, and output of a command without those that a terminal would obey.

use super::hidden::{find_hidden, mark_hidden};
use std::borrow::Cow;

/// Parameters of a sequence longer than this are not one.
const PARAMETERS: usize = 256;
/// A string (an image, say) longer than this is taken as never ended, in bytes.
const STRING: usize = 1 << 20;

/// The bytes of the escape sequence a text begins with, 0 where it begins with none. A sequence that is not
/// finished ends where the text, the line or its bound does: it never waits for more. A blank is never part of one: few
/// sequences have one, and text that follows an escape character often does.
pub fn length(text: &str) -> usize {
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{1B}') => match chars.next() {
            Some('[') => 2 + control(&text[2..]),
            Some(']') => 2 + string(&text[2..], true),
            Some('P' | 'X' | '^' | '_') => 2 + string(&text[2..], false),
            Some('!'..='/') => {
                let middle =
                    text[1..].bytes().take(PARAMETERS).take_while(|b| matches!(b, b'!'..=b'/')).count();
                1 + middle + usize::from(matches!(text.as_bytes().get(1 + middle), Some(b'0'..=b'~')))
            }
            Some('0'..='~') => 2,
            _ => 1,
        },
        Some('\u{9B}') => 2 + control(&text[2..]),
        Some('\u{9D}') => 2 + string(&text[2..], true),
        Some('\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}') => 2 + string(&text[2..], false),
        _ => 0,
    }
}

/// Text that the user typed or pasted, without escape sequences and control characters: what is left is what is sent.
pub fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let sequence = length(rest);
        if sequence == 0 && (matches!(c, '\n' | '\t') || !c.is_control()) {
            out.push(c);
        }
        rest = &rest[sequence.max(c.len_utf8())..];
    }
    out
}

/// The bytes of the colour sequence (`ESC [ … m`) that a text begins with; 0 if it begins with none.
pub fn color_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1B}[") else { return 0 };
    let numbers = rest.bytes().take(PARAMETERS).take_while(|byte| matches!(byte, b'0'..=b';')).count();
    if rest.as_bytes().get(numbers) == Some(&b'm') { 2 + numbers + 1 } else { 0 }
}

/// A text without its colour sequences.
pub fn strip_colors(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1B}[") {
        return Cow::Borrowed(text);
    }
    let mut bare = String::with_capacity(text.len());
    for piece in pieces(text) {
        if let Piece::Text(text) = piece {
            bare.push_str(text);
        }
    }
    Cow::Owned(bare)
}

/// Output of a command as the user and the model both receive it, colours apart: of a line that was started over after a
/// carriage return only its last state, and a mark for everything else that a terminal would obey or not show.
///
/// Colour sequences stay: the screen shows them as colours, and [`strip_colors`] removes them for everything else. Erasing
/// the rest of a line is dropped: here nothing is left of it to erase.
pub fn readable_output(text: &str) -> Cow<'_, str> {
    if find_hidden(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        add_line(line, &mut out);
    }
    Cow::Owned(out)
}

/// Adds a line as it is after its last carriage return that text follows.
fn add_line(line: &str, out: &mut String) {
    let mut parts = line.split('\r');
    let first = parts.next().unwrap_or_default();
    let states: Vec<&str> = std::iter::once(first).chain(parts.map(after_erasing)).collect();
    let shows = |state: &&str| pieces(state).any(|piece| matches!(piece, Piece::Text(_)));
    let last = states.iter().rposition(shows);
    for (at, state) in states.iter().enumerate() {
        for piece in pieces(state) {
            match piece {
                Piece::Text(text) if Some(at) == last => out.push_str(&mark_hidden(text)),
                Piece::Text(_) => {}
                // A colour that an overwritten state began or ended still holds.
                Piece::Color(color) => out.push_str(color),
            }
        }
    }
}

/// The text after the sequences that erase a line which is empty.
fn after_erasing(text: &str) -> &str {
    let erases = ["\u{1B}[K", "\u{1B}[0K", "\u{1B}[1K", "\u{1B}[2K"];
    let mut rest = text;
    while let Some(after) = erases.iter().find_map(|erases| rest.strip_prefix(erases)) {
        rest = after;
    }
    rest
}

/// A stretch of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Everything that is no colour sequence.
    Text(&'a str),
    /// A colour sequence.
    Color(&'a str),
}

/// The stretches of a text, none of them empty. What erases the rest of a line is left out.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(after) = erasing(rest) {
            rest = after;
        }
        if rest.is_empty() {
            return None;
        }
        let color = color_length(rest);
        if color > 0 {
            let (color, after) = rest.split_at(color);
            rest = after;
            return Some(Piece::Color(color));
        }
        let ends = |at: &usize| color_length(&rest[*at..]) > 0 || erasing(&rest[*at..]).is_some();
        let end = rest.match_indices('\u{1B}').map(|(at, _)| at).find(ends).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// A text that is still being written, without the colour sequence at its end that is not finished.
pub fn trim_unfinished(text: &str) -> &str {
    let begin = text.rfind('\u{1B}').filter(|at| {
        let rest = &text[at + 1..];
        let numbers = rest.strip_prefix('[').unwrap_or(rest);
        numbers.bytes().all(|byte| matches!(byte, b'0'..=b';')) && (rest.is_empty() || rest.starts_with('['))
    });
    begin.map_or(text, |begin| &text[..begin])
}

/// The text after a sequence that erases from the cursor to the end of the line, if it begins with one.
fn erasing(text: &str) -> Option<&str> {
    text.strip_prefix("\u{1B}[K").or_else(|| text.strip_prefix("\u{1B}[0K"))
}

/// Parameters, intermediates and the final byte.
fn control(text: &str) -> usize {
    let bytes = text.as_bytes();
    let inner = bytes.iter().take(PARAMETERS).take_while(|b| matches!(b, b'!'..=b'?')).count();
    inner + usize::from(matches!(bytes.get(inner), Some(b'@'..=b'~')))
}

/// A string up to its end, or what is taken for it where it has none.
fn string(text: &str, one_line: bool) -> usize {
    // Never ended: what follows its line is more likely text than part of it.
    let line_end = || text.find('\n').filter(|at| *at <= STRING);
    end(text, one_line).or_else(line_end).unwrap_or(text.len().min(floor(text, STRING)))
}

/// Where a string ends. Any other control sequence ends it too, as in a terminal, so the scan stays linear.
fn end(text: &str, one_line: bool) -> Option<usize> {
    for (at, c) in text.char_indices() {
        match c {
            '\u{7}' => return Some(at + 1),
            '\u{9C}' => return Some(at + 2),
            '\u{1B}' if text[at + 1..].starts_with('\\') => return Some(at + 2),
            '\u{1B}' | '\u{18}' | '\u{1A}' | '\u{80}'..='\u{9F}' => return Some(at),
            '\n' if one_line => return Some(at),
            _ if at > STRING => return None,
            _ => {}
        }
    }
    None
}

/// The last border between characters at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        assert_eq!(strip_colors(&readable_output(output)), expected, "{output:?}");
    }

    #[test]
    fn colors_stay_and_are_removed_apart() {
        let output = "\x1b[31mred\x1b[0m\tand\n";
        assert!(matches!(readable_output("plain\n\twords"), Cow::Borrowed(_)));
        assert_eq!(readable_output(output), output);
        check(output, "red\tand\n");
        check("\x1b[38;2;1;2;3m\x1b[4:3mx\x1b[m", "x");
    }

    #[test]
    fn a_progress_is_told_by_its_last_state() {
        check("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n");
        check("kept\r", "kept");
        check("one\ntwo\rTWO\nthree\r\nfour", "one\nTWO\nthree\nfour");
        check("a\r\x1b[Kb\n", "b\n");
        check("a\r\x1b[2K\x1b[31mb\x1b[0m\x1b[K\r\x1b[K\n", "b\n");
        check("a\x1b[2K\rb\n", "b\n");
        let colored = "\x1b[31m10%\x1b[0m\r20%\n";
        assert_eq!(readable_output(colored), "\x1b[31m\x1b[0m20%\n");
    }

    #[test]
    fn what_moves_erases_or_does_not_show_is_a_mark() {
        check("one\n\x1b[2J\x1b[Htwo", "one\n<U+001B>[2J<U+001B>[Htwo");
        check("a\x1b[2Kb", "a<U+001B>[2Kb");
        check("a\x1b]0;title\x07b\x1b]52;c;", "a<U+001B>]0;title<U+0007>b<U+001B>]52;c;");
        check("ab\x08c\0d\u{7f}\u{9b}31m\u{85}", "ab<U+0008>c<U+0000>d<U+007F><U+009B>31m<U+0085>");
        check("\u{202e}a\u{e0041}\u{200b}b", "<U+202E>a<U+E0041><U+200B>b");
        check("gr\u{fc}\u{df}e \u{a0} 👩\u{200d}👧\n", "gr\u{fc}\u{df}e \u{a0} 👩\u{200d}👧\n");
    }

    #[test]
    fn short_forms_swallow_no_character() {
        check(
            "a\x1b Xb\x1b[3 Xc\x1b#8d\x1b(Be\x1bcf",
            "a<U+001B> Xb<U+001B>[3 Xc<U+001B>#8d<U+001B>(Be<U+001B>cf",
        );
        check("a\x1b[31", "a<U+001B>[31");
        check("a\x1b[>4;2mb", "a<U+001B>[>4;2mb");
    }

    #[test]
    fn a_colour_that_is_half_written_is_not_shown_yet() {
        for (text, shown) in [
            ("a\x1b[3", "a"),
            ("a\x1b[", "a"),
            ("a\x1b", "a"),
            ("a\x1b[31m", "a\x1b[31m"),
            ("a\x1b[2Jb", "a\x1b[2Jb"),
            ("a\x1b 1", "a\x1b 1"),
            ("a", "a"),
        ] {
            assert_eq!(trim_unfinished(text), shown, "{text:?}");
        }
    }

    #[test]
    fn what_is_typed_or_pasted_loses_its_sequences_and_no_word() {
        for (pasted, left) in [
            ("a\u{1b}[31mb\u{1b}]0;title\u{7}c\u{9b}2Jd\0", "abcd"),
            ("a\u{1b} Xb\u{1b}[3 Xc\u{1b}(Bd", "a Xb Xcd"),
            ("\tone\r\ntwo\u{200b}", "\tone\ntwo\u{200b}"),
        ] {
            assert_eq!(strip(pasted), left, "{pasted:?}");
        }
    }

    proptest! {
        #[test]
        fn output_holds_nothing_hidden_and_is_made_readable_once(
            output in "(\\PC|[\0-\u{ff}]|\x1b\\[[0-9;]{0,6}[A-Za-z@]|\r|\n|\x1b\\[K|\u{301}|\u{200d}|👩|\u{202e}){0,80}"
        ) {
            let readable = readable_output(&output);
            prop_assert_eq!(readable_output(&readable), readable.as_ref());
            prop_assert_eq!(find_hidden(&strip_colors(&readable)), None);
        }
    }
}
