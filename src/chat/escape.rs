//! Where an escape sequence ends, so that it can be dropped whole; and output as one reads it who has no terminal.

use std::borrow::Cow;

/// Parameters of a sequence longer than this are not one.
const PARAMETERS: usize = 256;
/// A string (an image, say) longer than this is taken as never ended, in bytes.
const STRING: usize = 1 << 20;

/// The bytes of the escape sequence a text begins with, 0 where it begins with none. A sequence that is not
/// finished ends where the text, the line or its bound does: it never waits for more.
pub fn length(text: &str) -> usize {
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{1B}') => match chars.next() {
            Some('[') => 2 + control(&text[2..]),
            Some(']') => 2 + string(&text[2..], true),
            Some('P' | 'X' | '^' | '_') => 2 + string(&text[2..], false),
            Some(' '..='/') => {
                let middle =
                    text[1..].bytes().take(PARAMETERS).take_while(|b| matches!(b, b' '..=b'/')).count();
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

/// Output as the model is told it: no escape sequence and no control character but line ends and tabs, and of a line
/// that was begun again and again only its last state.
pub fn plain(text: &str) -> Cow<'_, str> {
    let Some(first) = care(text) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    let (mut line, mut returned, mut at, mut next) = (0, false, 0, Some(first));
    loop {
        let stretch = &text[at..next.map_or(text.len(), |next| at + next)];
        if !stretch.is_empty() {
            if std::mem::take(&mut returned) && !stretch.starts_with('\n') {
                plain.truncate(line);
            }
            line = stretch.rfind('\n').map_or(line, |end| plain.len() + end + 1);
            plain.push_str(stretch);
        }
        at += stretch.len();
        let Some(c) = text[at..].chars().next() else { return Cow::Owned(plain) };
        returned |= c == '\r';
        at += length(&text[at..]).max(c.len_utf8());
        next = care(&text[at..]);
    }
}

/// The next byte that is not told: a control character, which may begin a sequence.
fn care(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let after = |at: usize| bytes.get(at + 1).is_some_and(|byte| (0x80..0xa0).contains(byte));
    bytes.iter().enumerate().position(|(at, byte)| match byte {
        b'\n' | b'\t' => false,
        0..=0x1f | 0x7f => true,
        // Those of two bytes.
        0xc2 => after(at),
        _ => false,
    })
}

/// Parameters, intermediates and the final byte.
fn control(text: &str) -> usize {
    let bytes = text.as_bytes();
    let inner = bytes.iter().take(PARAMETERS).take_while(|b| matches!(b, b' '..=b'?')).count();
    inner + usize::from(matches!(bytes.get(inner), Some(b'@'..=b'~')))
}

/// A string up to its end. Any other control sequence ends it too, as in a terminal, so the scan stays linear.
fn string(text: &str, one_line: bool) -> usize {
    let mut line_end = None;
    for (at, c) in text.char_indices() {
        match c {
            '\u{7}' => return at + 1,
            '\u{9C}' => return at + 2,
            '\u{1B}' if text[at + 1..].starts_with('\\') => return at + 2,
            '\u{1B}' | '\u{18}' | '\u{1A}' | '\u{80}'..='\u{9F}' => return at,
            '\n' if one_line => return at,
            '\n' if line_end.is_none() => line_end = Some(at),
            _ if at > STRING => break,
            _ => {}
        }
    }
    // Never ended: what follows its line is more likely text than part of it.
    line_end.unwrap_or(text.len().min(floor(text, STRING)))
}

/// The last border between characters at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_told_without_colours_and_a_progress_by_its_end() {
        for (text, told) in [
            ("\x1b[31mred\x1b[0m\tand\n", "red\tand\n"),
            ("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n"),
            ("a\x1b]0;title\x07b\x1b]52;c;", "ab"),
            ("a\u{9b}31mb\u{85}c\x08\x00d\u{7f}", "abcd"),
            ("kept\r", "kept"),
            ("one\ntwo\rTWO\nthree\r\nfour", "one\nTWO\nthree\nfour"),
            ("a\r\x1b[Kb\n", "b\n"),
            ("gr\u{fc}\u{df}e \u{a0}\n", "gr\u{fc}\u{df}e \u{a0}\n"),
        ] {
            assert_eq!(plain(text), told, "{text:?}");
        }
        assert!(matches!(plain("plain\n\twords"), Cow::Borrowed(_)));
    }
}
