//! PEM private keys: complete, without an end or without a beginning, in a diff or in a nested string.

use super::word_bytes::prefix_length;
use std::ops::Range;

pub(super) const BEGIN: &str = "-----BEGIN ";
pub(super) const END: &str = "-----END ";
/// Bytes of a base64 line that is taken for part of a key without a beginning, except for its last line.
const MIN_LINE_BYTES: usize = 24;

/// Bytes that are searched for the start of a line.
const MAX_LINE_SEARCH: usize = 1024;

/// Returns the length of the label in a PEM line if it is that of a private key.
fn private_label_length(head: &str) -> Option<usize> {
    let length = prefix_length(head, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let kind = &head[..length];
    (kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK")).then_some(length)
}

/// Finds the body of the key that begins at this offset, and whether its end is missing.
pub(super) fn find_key_body(text: &str, at: usize) -> Option<(Range<usize>, bool)> {
    let head = &text[at + BEGIN.len()..];
    let length = private_label_length(head)?;
    let from = at + BEGIN.len() + length + prefix_length(&head[length..], |byte| byte == b'-');
    let (body, is_open) = find_key_rest(text, from);
    // An existing redaction mark is the whole body.
    (!body.is_empty() || is_open).then_some((body, is_open))
}

/// Finds the rest of a key from this offset, and whether its end is missing. Without an end, the body ends with the
/// last line that may belong to a key.
pub(super) fn find_key_rest(text: &str, from: usize) -> (Range<usize>, bool) {
    if let Some(found) = text[from..].find("-----") {
        let dashes = prefix_length(&text[from + found..], |byte| byte == b'-');
        let end = from + found + dashes - 5;
        if text[end..].starts_with(END) {
            return (from..end, false);
        }
    }
    let mut at = from;
    while let Some(end) = body_line_end(text, at) {
        at = end;
        match skip_line_break(text, at) {
            Some(after) => at = after,
            None if at == text.len() => return (from..trim_line_breaks(text, from, at), true),
            // The nested string ends here.
            None => return (from..at, false),
        }
        if at == text.len() {
            break;
        }
    }
    (from..trim_line_breaks(text, from, at), at == text.len())
}

/// Finds the body before a PEM end line whose beginning is missing.
pub(super) fn find_body_before(text: &str, from: usize, at: usize) -> Option<Range<usize>> {
    private_label_length(&text[at + END.len()..])?;
    let mut start = at;
    // On the end line itself only a diff marker may precede the end.
    let mut line_end = match find_previous_break(text, from, at) {
        Some((line_end, line_start)) if text[line_start..at].len() < 8 => line_end,
        Some(_) | None => return None,
    };
    let mut is_last = true;
    loop {
        let (before, line_start) = find_previous_break(text, from, line_end).unwrap_or((from, from));
        // A nested string may begin with the key.
        let quote = text[line_start..line_end].trim_end_matches(['"', '\'', ',']).rfind(['"', '\'']);
        let line_start = line_start + quote.map_or(0, |quote| quote + 1);
        let line = strip_to_base64(&text[line_start..line_end]);
        if line.is_none_or(|line| line.is_empty() || line.len() < MIN_LINE_BYTES && !is_last) {
            break;
        }
        (start, is_last) = (line_start, false);
        if before == from || quote.is_some() {
            break;
        }
        line_end = before;
    }
    (start < at).then_some(start..at)
}

/// Returns the end of the line before this offset and the start of the line that contains it.
fn find_previous_break(text: &str, from: usize, at: usize) -> Option<(usize, usize)> {
    let from = from.max(text.floor_char_boundary(at.saturating_sub(MAX_LINE_SEARCH)));
    let real = text[from..at].rfind('\n').map(|end| (from + end, from + end + 1));
    let written = text[from..at].rfind("\\n").map(|end| {
        let slashes = text[from..from + end].bytes().rev().take_while(|byte| *byte == b'\\').count();
        (from + end - slashes, from + end + 2)
    });
    real.max(written)
}

/// Returns the end of the line break at this offset, which may be an escape.
fn skip_line_break(text: &str, at: usize) -> Option<usize> {
    let slashes = prefix_length(&text[at..], |byte| byte == b'\\');
    match text.as_bytes().get(at + slashes) {
        Some(b'\n') => Some(at + slashes + 1),
        Some(b'n' | b'r') if slashes > 0 => Some(at + slashes + 1),
        Some(_) | None => None,
    }
}

/// Returns the end of the line at this offset if it may belong to the body of a key: base64, a PEM header, or empty.
fn body_line_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |at: usize| matches!(bytes.get(at), None | Some(b'\n' | b'\\'));
    let mut end = at + prefix_length(&text[at..], |byte| b" \t\r+->|\"'".contains(&byte));
    let headers = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"];
    if headers.iter().any(|header| text[end..].starts_with(header)) {
        return Some(end + prefix_length(&text[end..], |byte| !matches!(byte, b'\n' | b'\\')));
    }
    end += match text[end..].starts_with(super::REDACTED) {
        true => super::REDACTED.len(),
        false => prefix_length(&text[end..], |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)),
    };
    let body = end;
    end += prefix_length(&text[end..], |byte| b" \t\r\"',".contains(&byte));
    // In a nested string the key ends with its quote.
    (ends(end) || body > at && matches!(bytes.get(body), Some(b'"' | b'\'')))
        .then(|| if ends(end) { end } else { body })
}

/// Returns the line without diff or list markers, if it is base64.
fn strip_to_base64(line: &str) -> Option<&str> {
    let line = line.trim_end_matches(['"', '\'', ',', '\r', ' ']);
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "+->|\"'".contains(c));
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    line.bytes().all(is_base64).then_some(line)
}

/// Returns the end of the body without trailing line breaks.
fn trim_line_breaks(text: &str, from: usize, at: usize) -> usize {
    from + text[from..at].trim_end_matches(['\n', '\r']).len()
}
