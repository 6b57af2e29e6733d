//! Where an escape sequence ends, so that it can be dropped whole.

/// Parameters of a sequence longer than this are not one.
const PARAMETERS: usize = 256;
/// A string (an image, say) longer than this is taken as never ended, in bytes.
const STRING: usize = 1 << 20;

/// The bytes of the escape sequence a text begins with, 0 where it begins with none. A sequence that is not
/// finished ends where the text, the line or its bound does: it never waits for more.
pub(super) fn length(text: &str) -> usize {
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
