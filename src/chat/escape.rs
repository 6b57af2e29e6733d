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

/// Where the first string of several lines begins that the text does not end, though what comes behind it may: then all of
/// it is dropped, and until then its later lines are read as text. Nothing where there is none.
pub fn open(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = care(&text[at..]) {
        at += next;
        let rest = &text[at..];
        let begins = ["\u{1B}P", "\u{1B}X", "\u{1B}^", "\u{1B}_", "\u{90}", "\u{98}", "\u{9E}", "\u{9F}"];
        if begins.iter().any(|begin| rest.starts_with(begin))
            && rest.len() <= STRING
            && end(&rest[2..], false).is_none()
        {
            return Some(at);
        }
        at += length(rest).max(rest.chars().next().map_or(1, char::len_utf8));
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

    #[test]
    fn r33_a_string_that_more_text_may_end_is_open() {
        for (text, at) in [
            ("plain\n\n", None),
            ("a\x1b^b\n\nc\n", Some(1)),
            ("a\x1b^b\n\nc\x07\n", None),
            ("\x1b[31mred\u{90}1\n2", Some(8)),
            ("\x1b_one\x1b\\two\n\x1bPthree", Some(11)),
            // A title ends with its line, and another sequence ends any.
            ("\x1b]0;title\n\n", None),
            ("\x1b^a\n\x1b[31mb\n", None),
        ] {
            assert_eq!(open(text), at, "{text:?}");
        }
        assert_eq!(open(&format!("\x1bP{}", "x".repeat(STRING + 9))), None, "too long to be one");
    }
}
