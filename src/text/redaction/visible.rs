//! A text without escape sequences, invisible characters and the marks for them, with a mapping to the original.

use crate::text::{escape_sequences, hidden_chars};
use std::ops::Range;

/// Beginnings of escape sequences whose escape character is written in ASCII, as in JSON (`\u001b[`), without their
/// backslash.
const WRITTEN_ESCAPES: [&str; 6] = ["u001b[", "u001B[", "u{1b}[", "x1b[", "033[", "e["];
/// Maximum bytes of parameters in a written escape sequence.
const MAX_PARAMETER_BYTES: usize = 32;

/// The visible part of a text.
pub(super) struct Visible {
    pub(super) text: String,
    /// Start offsets of each range: in `text`, and in the original.
    ranges: Vec<(usize, usize)>,
}

impl Visible {
    /// Returns `None` if nothing in the text is hidden.
    pub(super) fn new(original: &str) -> Option<Self> {
        let mut visible = Self { text: String::new(), ranges: Vec::new() };
        let (mut start, mut position) = (0, 0);
        while let Some(length) = find_next_hidden(original, &mut position) {
            visible.append_range(original, start..position);
            position += length;
            start = position;
        }
        if start == 0 {
            return None;
        }
        visible.append_range(original, start..original.len());
        Some(visible)
    }

    fn append_range(&mut self, original: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.ranges.push((self.text.len(), range.start));
            self.text.push_str(&original[range]);
        }
    }

    /// Maps a range of this text to the original.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let original_offset = |offset: usize| {
            let index = self.ranges.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
            self.ranges.get(index).map_or(offset, |(start, origin)| origin + (offset - start))
        };
        // The last byte is mapped, not the end: hidden text after the range does not belong to it.
        original_offset(range.start)..original_offset(range.end.saturating_sub(1)) + 1
    }
}

/// Advances to the next hidden part and returns its length in bytes.
fn find_next_hidden(text: &str, position: &mut usize) -> Option<usize> {
    let bytes = text.as_bytes();
    while *position < bytes.len() {
        match bytes[*position] {
            b'\n' | b'\t' | b'\r' => {}
            0..=0x1f | 0x7f => return Some(escape_sequences::sequence_length(&text[*position..]).max(1)),
            b'\\' => {
                if let Some(length) = written_sequence_length(&bytes[*position..]) {
                    return Some(length);
                }
            }
            b'<' => {
                if let Some(length) = mark_length(&bytes[*position..]) {
                    return Some(length);
                }
            }
            0x80.. if text.is_char_boundary(*position) => {
                let c = text[*position..].chars().next()?;
                if hidden_chars::is_hidden(c) {
                    return Some(escape_sequences::sequence_length(&text[*position..]).max(c.len_utf8()));
                }
            }
            _ => {}
        }
        *position += 1;
    }
    None
}

/// Returns the length of a written escape sequence.
fn written_sequence_length(bytes: &[u8]) -> Option<usize> {
    let escape = WRITTEN_ESCAPES.iter().find(|escape| bytes[1..].starts_with(escape.as_bytes()))?;
    let parameters_start = 1 + escape.len();
    let parameter_bytes = bytes[parameters_start..]
        .iter()
        .take(MAX_PARAMETER_BYTES)
        .take_while(|byte| matches!(byte, b' '..=b'?'))
        .count();
    bytes
        .get(parameters_start + parameter_bytes)
        .filter(|byte| matches!(byte, b'@'..=b'~'))
        .map(|_| parameters_start + parameter_bytes + 1)
}

/// Returns the length of a mark for hidden characters as [`hidden_chars::mark_hidden`] writes it, including the rest of
/// the escape sequence if the mark begins one. `None` if there is no mark.
fn mark_length(bytes: &[u8]) -> Option<usize> {
    let content = bytes.strip_prefix(b"<U+")?;
    let end = content.iter().take(MAX_PARAMETER_BYTES).position(|byte| *byte == b'>')?;
    let (code, count) = match content[..end].iter().position(|byte| *byte == b' ') {
        Some(space) => (&content[..space], content[space..end].strip_prefix(b" x")?),
        // A mark without a count is for one character.
        None => (&content[..end], &b"1"[..]),
    };
    let is_code = (4..=6).contains(&code.len()) && code.iter().all(u8::is_ascii_hexdigit);
    if !is_code || count.is_empty() || !count.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = "<U+".len() + end + ">".len();
    let begins_sequence = code == b"001B" && bytes.get(length) == Some(&b'[') || code == b"009B";
    let parameters_start = length + usize::from(code == b"001B");
    let parameters = || bytes.get(parameters_start..).unwrap_or_default().iter().take(MAX_PARAMETER_BYTES);
    let parameter_bytes = parameters().take_while(|byte| matches!(byte, b' '..=b'?')).count();
    let is_sequence = begins_sequence && matches!(bytes.get(parameters_start + parameter_bytes), Some(b'@'..=b'~'));
    Some(if is_sequence { parameters_start + parameter_bytes + 1 } else { length })
}
