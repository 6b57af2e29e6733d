//! Escape sequences: their lengths, and making command output readable by removing or marking them.

use super::hidden_chars::{find_hidden, mark_hidden};
use std::borrow::Cow;

/// Maximum length of a sequence's parameters in bytes.
const MAX_PARAMETER_BYTES: usize = 256;
/// Maximum length of a string sequence (such as an image) in bytes. A longer one counts as unterminated.
const MAX_STRING_BYTES: usize = 1 << 20;

/// Returns the length in bytes of the escape sequence at the start of a text; 0 if there is none. An unfinished
/// sequence ends at the end of the text or line or at its length limit. A space always ends a
/// sequence: few sequences contain one, so it more likely belongs to ordinary text after a lone escape character.
pub fn sequence_length(text: &str) -> usize {
    // CSI is `ESC [` or U+009B, OSC is `ESC ]` or U+009D. Of the string sequences, only OSC ends at a line feed.
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{1B}') => match chars.next() {
            Some('[') => 2 + control_length(&text[2..]),
            Some(']') => 2 + string_length(&text[2..], true),
            Some('P' | 'X' | '^' | '_') => 2 + string_length(&text[2..], false),
            Some('!'..='/') => {
                let intermediates =
                    text[1..].bytes().take(MAX_PARAMETER_BYTES).take_while(|b| matches!(b, b'!'..=b'/')).count();
                1 + intermediates + usize::from(matches!(text.as_bytes().get(1 + intermediates), Some(b'0'..=b'~')))
            }
            Some('0'..='~') => 2,
            _ => 1,
        },
        Some('\u{9B}') => 2 + control_length(&text[2..]),
        Some('\u{9D}') => 2 + string_length(&text[2..], true),
        Some('\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}') => 2 + string_length(&text[2..], false),
        _ => 0,
    }
}

/// Removes escape sequences and control characters from typed or pasted text; the rest is sent.
pub fn strip_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some(c) = remaining.chars().next() {
        let sequence = sequence_length(remaining);
        if sequence == 0 && (matches!(c, '\n' | '\t') || !c.is_control()) {
            out.push(c);
        }
        remaining = &remaining[sequence.max(c.len_utf8())..];
    }
    out
}

/// Returns the length in bytes of the colour sequence (`ESC [ … m`) at the start of a text; 0 if there is none.
pub fn color_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1B}[") else { return 0 };
    let length = parameters.bytes().take(MAX_PARAMETER_BYTES).take_while(|byte| matches!(byte, b'0'..=b';')).count();
    if parameters.as_bytes().get(length) == Some(&b'm') { 2 + length + 1 } else { 0 }
}

/// Removes colour sequences.
pub fn strip_colors(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1B}[") {
        return Cow::Borrowed(text);
    }
    let mut stripped = String::with_capacity(text.len());
    for part in split_colors(text) {
        if let OutputPart::Text(text) = part {
            stripped.push_str(text);
        }
    }
    Cow::Owned(stripped)
}

/// Returns command output as the user and the model read it: a line overwritten after carriage returns is
/// reduced to its last state, and everything else that a terminal would execute or not show is replaced by a mark.
///
/// Colour sequences are kept for the screen; elsewhere [`strip_colors`] removes them. Sequences that erase the rest of
/// a line are removed, because after this nothing is left to erase.
pub fn readable_output(text: &str) -> Cow<'_, str> {
    if find_hidden(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        add_line(line, &mut out);
    }
    Cow::Owned(out)
}

/// Appends the last state of a line: the text after its last carriage return, ignoring returns without text after them.
fn add_line(line: &str, out: &mut String) {
    let mut parts = line.split('\r');
    let first = parts.next().unwrap_or_default();
    let states: Vec<&str> = std::iter::once(first).chain(parts.map(skip_line_erasures)).collect();
    let has_text = |state: &&str| split_colors(state).any(|part| matches!(part, OutputPart::Text(_)));
    let last_shown = states.iter().rposition(has_text);
    for (index, state) in states.iter().enumerate() {
        for part in split_colors(state) {
            match part {
                OutputPart::Text(text) if Some(index) == last_shown => out.push_str(&mark_hidden(text)),
                OutputPart::Text(_) => {}
                // A colour set or reset in an overwritten state still applies.
                OutputPart::Color(color) => out.push_str(color),
            }
        }
    }
}

/// Removes leading sequences that erase the line: the text after a carriage return replaces it anyway.
fn skip_line_erasures(text: &str) -> &str {
    let erasures = ["\u{1B}[K", "\u{1B}[0K", "\u{1B}[1K", "\u{1B}[2K"];
    let mut remaining = text;
    while let Some(following) = erasures.iter().find_map(|erasure| remaining.strip_prefix(erasure)) {
        remaining = following;
    }
    remaining
}

/// A range of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputPart<'a> {
    /// Text without colour sequences.
    Text(&'a str),
    /// A colour sequence.
    Color(&'a str),
}

/// Splits a text into non-empty ranges. Sequences that erase the rest of a line are skipped.
pub fn split_colors(text: &str) -> impl Iterator<Item = OutputPart<'_>> {
    let mut remaining = text;
    std::iter::from_fn(move || {
        while let Some(following) = strip_erase_to_end(remaining) {
            remaining = following;
        }
        if remaining.is_empty() {
            return None;
        }
        let color_bytes = color_length(remaining);
        if color_bytes > 0 {
            let (color, following) = remaining.split_at(color_bytes);
            remaining = following;
            return Some(OutputPart::Color(color));
        }
        let ends_text = |position: &usize| {
            color_length(&remaining[*position..]) > 0 || strip_erase_to_end(&remaining[*position..]).is_some()
        };
        let end =
            remaining.match_indices('\u{1B}').map(|(position, _)| position).find(ends_text).unwrap_or(remaining.len());
        let (text, following) = remaining.split_at(end);
        remaining = following;
        Some(OutputPart::Text(text))
    })
}

/// Removes an unfinished colour sequence at the end of a text that is still being received.
pub fn trim_unfinished(text: &str) -> &str {
    let start = text.rfind('\u{1B}').filter(|at| {
        let sequence = &text[at + 1..];
        let parameters = sequence.strip_prefix('[').unwrap_or(sequence);
        parameters.bytes().all(|byte| matches!(byte, b'0'..=b';')) && (sequence.is_empty() || sequence.starts_with('['))
    });
    start.map_or(text, |start| &text[..start])
}

/// Returns the text after a leading sequence that erases to the end of the line.
fn strip_erase_to_end(text: &str) -> Option<&str> {
    text.strip_prefix("\u{1B}[K").or_else(|| text.strip_prefix("\u{1B}[0K"))
}

/// Returns the length in bytes of the parameters, intermediates and final byte of a control sequence.
fn control_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let parameter_bytes = bytes.iter().take(MAX_PARAMETER_BYTES).take_while(|b| matches!(b, b'!'..=b'?')).count();
    parameter_bytes + usize::from(matches!(bytes.get(parameter_bytes), Some(b'@'..=b'~')))
}

/// Returns the length of a string sequence, or the assumed length if it is unterminated. With `ends_at_line`, a line
/// feed terminates it.
fn string_length(text: &str, ends_at_line: bool) -> usize {
    // An unterminated string ends with its line: what follows is more likely text.
    let line_end = || text.find('\n').filter(|at| *at <= MAX_STRING_BYTES);
    find_string_end(text, ends_at_line).or_else(line_end).unwrap_or(text.floor_char_boundary(MAX_STRING_BYTES))
}

/// Returns the end of a string sequence. As in a terminal, any other control sequence ends it, which keeps the scan
/// linear.
fn find_string_end(text: &str, ends_at_line: bool) -> Option<usize> {
    for (position, c) in text.char_indices() {
        match c {
            '\u{7}' => return Some(position + 1),
            '\u{9C}' => return Some(position + 2),
            '\u{1B}' if text[position + 1..].starts_with('\\') => return Some(position + 2),
            '\u{1B}' | '\u{18}' | '\u{1A}' | '\u{80}'..='\u{9F}' => return Some(position),
            '\n' if ends_at_line => return Some(position),
            _ if position > MAX_STRING_BYTES => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_readable(output: &str, expected: &str) {
        assert_eq!(strip_colors(&readable_output(output)), expected, "{output:?}");
    }

    #[test]
    fn colors_are_kept_and_can_be_removed() {
        let output = "\x1b[31mred\x1b[0m\tand\n";
        assert!(matches!(readable_output("plain\n\twords"), Cow::Borrowed(_)));
        assert_eq!(readable_output(output), output);
        check_readable(output, "red\tand\n");
        check_readable("\x1b[38;2;1;2;3m\x1b[4:3mx\x1b[m", "x");
    }

    #[test]
    fn of_a_progress_line_only_the_last_state_is_kept() {
        check_readable("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n");
        check_readable("kept\r", "kept");
        check_readable("one\ntwo\rTWO\nthree\r\nfour", "one\nTWO\nthree\nfour");
        check_readable("a\r\x1b[Kb\n", "b\n");
        check_readable("a\r\x1b[2K\x1b[31mb\x1b[0m\x1b[K\r\x1b[K\n", "b\n");
        check_readable("a\x1b[2K\rb\n", "b\n");
        let colored = "\x1b[31m10%\x1b[0m\r20%\n";
        assert_eq!(readable_output(colored), "\x1b[31m\x1b[0m20%\n");
    }

    #[test]
    fn sequences_that_move_or_erase_and_invisible_characters_are_marked() {
        check_readable("one\n\x1b[2J\x1b[Htwo", "one\n<U+001B>[2J<U+001B>[Htwo");
        check_readable("a\x1b[2Kb", "a<U+001B>[2Kb");
        check_readable("a\x1b]0;title\x07b\x1b]52;c;", "a<U+001B>]0;title<U+0007>b<U+001B>]52;c;");
        check_readable("ab\x08c\0d\u{7f}\u{9b}31m\u{85}", "ab<U+0008>c<U+0000>d<U+007F><U+009B>31m<U+0085>");
        check_readable("\u{202e}a\u{e0041}\u{200b}b", "<U+202E>a<U+E0041><U+200B>b");
        check_readable("gr\u{fc}\u{df}e \u{a0} 👩\u{200d}👧\n", "gr\u{fc}\u{df}e \u{a0} 👩\u{200d}👧\n");
    }

    #[test]
    fn a_mark_replaces_only_the_escape_character() {
        check_readable(
            "a\x1b Xb\x1b[3 Xc\x1b#8d\x1b(Be\x1bcf",
            "a<U+001B> Xb<U+001B>[3 Xc<U+001B>#8d<U+001B>(Be<U+001B>cf",
        );
        check_readable("a\x1b[31", "a<U+001B>[31");
        check_readable("a\x1b[>4;2mb", "a<U+001B>[>4;2mb");
    }

    #[test]
    fn an_unfinished_color_sequence_is_removed() {
        for (text, expected) in [
            ("a\x1b[3", "a"),
            ("a\x1b[", "a"),
            ("a\x1b", "a"),
            ("a\x1b[31m", "a\x1b[31m"),
            ("a\x1b[2Jb", "a\x1b[2Jb"),
            ("a\x1b 1", "a\x1b 1"),
            ("a", "a"),
        ] {
            assert_eq!(trim_unfinished(text), expected, "{text:?}");
        }
    }

    #[test]
    fn typed_or_pasted_text_loses_only_its_sequences() {
        for (pasted, expected) in [
            ("a\u{1b}[31mb\u{1b}]0;title\u{7}c\u{9b}2Jd\0", "abcd"),
            ("a\u{1b} Xb\u{1b}[3 Xc\u{1b}(Bd", "a Xb Xcd"),
            ("\tone\r\ntwo\u{200b}", "\tone\ntwo\u{200b}"),
        ] {
            assert_eq!(strip_controls(pasted), expected, "{pasted:?}");
        }
    }

    proptest! {
        #[test]
        fn readable_output_holds_nothing_hidden_and_does_not_change_again(
            output in "(\\PC|[\0-\u{ff}]|\x1b\\[[0-9;]{0,6}[A-Za-z@]|\r|\n|\x1b\\[K|\u{301}|\u{200d}|👩|\u{202e}){0,80}"
        ) {
            let readable = readable_output(&output);
            prop_assert_eq!(readable_output(&readable), readable.as_ref());
            prop_assert_eq!(find_hidden(&strip_colors(&readable)), None);
        }
    }
}
