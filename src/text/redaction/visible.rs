//! A text without escape sequences, invisible characters and the marks for them, with a mapping to the original.

use crate::text::{escape_sequences, hidden_chars};
use std::ops::Range;

/// Escape sequences whose escape character is itself written as an escape, as in JSON.
const WRITTEN_ESCAPES: [&str; 6] = ["u001b[", "u001B[", "u{1b}[", "x1b[", "033[", "e["];
/// Maximum bytes of parameters in a written escape sequence.
const MAX_PARAMETER_BYTES: usize = 32;

/// The visible part of a text.
pub(super) struct Visible {
    pub(super) text: String,
    /// Start offsets of each range: in the text above, and in the original.
    stretches: Vec<(usize, usize)>,
}

impl Visible {
    /// Returns `None` if nothing in the text is hidden.
    pub(super) fn new(original: &str) -> Option<Self> {
        let mut visible = Self { text: String::new(), stretches: Vec::new() };
        let (mut from, mut at) = (0, 0);
        while let Some(length) = find_next_hidden(original, &mut at) {
            visible.append_range(original, from..at);
            at += length;
            from = at;
        }
        if from == 0 {
            return None;
        }
        visible.append_range(original, from..original.len());
        Some(visible)
    }

    fn append_range(&mut self, original: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.stretches.push((self.text.len(), range.start));
            self.text.push_str(&original[range]);
        }
    }

    /// Maps a range of this text to the original.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let of = |at: usize| {
            let before = self.stretches.partition_point(|(begin, _)| *begin <= at).saturating_sub(1);
            self.stretches.get(before).map_or(at, |(begin, origin)| origin + (at - begin))
        };
        // The last byte belongs to the range; hidden text may follow it.
        of(range.start)..of(range.end.saturating_sub(1)) + 1
    }
}

/// Advances to the next hidden part and returns its length in bytes.
fn find_next_hidden(text: &str, at: &mut usize) -> Option<usize> {
    let bytes = text.as_bytes();
    while *at < bytes.len() {
        match bytes[*at] {
            b'\n' | b'\t' | b'\r' => {}
            0..=0x1f | 0x7f => return Some(escape_sequences::sequence_length(&text[*at..]).max(1)),
            b'\\' => {
                if let Some(length) = written_sequence_length(&bytes[*at..]) {
                    return Some(length);
                }
            }
            b'<' => {
                if let Some(length) = mark_length(&bytes[*at..]) {
                    return Some(length);
                }
            }
            0x80.. if text.is_char_boundary(*at) => {
                let c = text[*at..].chars().next()?;
                if hidden_chars::is_hidden(c) {
                    return Some(escape_sequences::sequence_length(&text[*at..]).max(c.len_utf8()));
                }
            }
            _ => {}
        }
        *at += 1;
    }
    None
}

/// Returns the length of a written escape sequence.
fn written_sequence_length(bytes: &[u8]) -> Option<usize> {
    let begin = WRITTEN_ESCAPES.iter().find(|begin| bytes[1..].starts_with(begin.as_bytes()))?;
    let from = 1 + begin.len();
    let inner = bytes[from..].iter().take(MAX_PARAMETER_BYTES).take_while(|byte| matches!(byte, b' '..=b'?')).count();
    bytes.get(from + inner).filter(|byte| matches!(byte, b'@'..=b'~')).map(|_| from + inner + 1)
}

/// Returns the length of a mark that replaces hidden characters, as [`hidden_chars::mark_hidden`] writes it, and of
/// the escape sequence that it begins.
fn mark_length(bytes: &[u8]) -> Option<usize> {
    let inner = bytes.strip_prefix(b"<U+")?;
    let end = inner.iter().take(MAX_PARAMETER_BYTES).position(|byte| *byte == b'>')?;
    let (code, run) = match inner[..end].iter().position(|byte| *byte == b' ') {
        Some(blank) => (&inner[..blank], inner[blank..end].strip_prefix(b" x")?),
        None => (&inner[..end], &b"0"[..]),
    };
    let is_code = (4..=6).contains(&code.len()) && code.iter().all(u8::is_ascii_hexdigit);
    if !is_code || run.is_empty() || !run.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = 3 + end + 1;
    let begins = code == b"001B" && bytes.get(length) == Some(&b'[') || code == b"009B";
    let from = length + usize::from(code == b"001B");
    let parameters = || bytes.get(from..).unwrap_or_default().iter().take(MAX_PARAMETER_BYTES);
    let inner = parameters().take_while(|byte| matches!(byte, b' '..=b'?')).count();
    let is_sequence = begins && matches!(bytes.get(from + inner), Some(b'@'..=b'~'));
    Some(if is_sequence { from + inner + 1 } else { length })
}
