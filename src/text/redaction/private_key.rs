//! PEM private keys: complete, without an end or without a beginning, in a diff or in a nested string.

use super::word_bytes::prefix_length;
use std::ops::Range;

pub(super) const BEGIN: &str = "-----BEGIN ";
pub(super) const END: &str = "-----END ";
/// Minimum bytes of a base64 line to count as part of a key without a beginning. Its last line may be shorter.
const MIN_LINE_BYTES: usize = 24;

/// Maximum bytes that are searched backwards for the start of a line.
const MAX_LINE_SEARCH: usize = 1024;

/// Returns the length of the label in a PEM line if it is that of a private key.
fn private_label_length(label: &str) -> Option<usize> {
    let length = prefix_length(label, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let kind = &label[..length];
    (kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK")).then_some(length)
}

/// Finds the body of the key that begins at this offset, and whether its end is missing.
pub(super) fn find_key_body(text: &str, begin_line: usize) -> Option<(Range<usize>, bool)> {
    let label = &text[begin_line + BEGIN.len()..];
    let length = private_label_length(label)?;
    let body_start = begin_line + BEGIN.len() + length + prefix_length(&label[length..], |byte| byte == b'-');
    let (body, is_open) = find_key_rest(text, body_start);
    // Prose may mention a begin line without a key after it.
    (!body.is_empty() || is_open).then_some((body, is_open))
}

/// Finds the rest of a key from this offset, and whether its end is missing. Without an end, the body ends with the
/// last line that may belong to a key.
pub(super) fn find_key_rest(text: &str, body_start: usize) -> (Range<usize>, bool) {
    if let Some(dashes_start) = text[body_start..].find("-----") {
        let dashes = prefix_length(&text[body_start + dashes_start..], |byte| byte == b'-');
        // `END` begins with the last 5 of these dashes.
        let end = body_start + dashes_start + dashes - 5;
        if text[end..].starts_with(END) {
            return (body_start..end, false);
        }
    }
    let mut position = body_start;
    while let Some(end) = body_line_end(text, position) {
        position = end;
        match skip_line_break(text, position) {
            Some(next_line) => position = next_line,
            None if position == text.len() => return (body_start..trim_line_breaks(text, body_start, position), true),
            // The string that contains the key ends here.
            None => return (body_start..position, false),
        }
        if position == text.len() {
            break;
        }
    }
    (body_start..trim_line_breaks(text, body_start, position), position == text.len())
}

/// Finds the body before a PEM end line whose beginning is missing.
pub(super) fn find_body_before(text: &str, search_start: usize, end_line: usize) -> Option<Range<usize>> {
    private_label_length(&text[end_line + END.len()..])?;
    let mut start = end_line;
    // On the end line itself only a diff marker or other text of less than 8 bytes may precede the end.
    let (mut line_end, _) =
        find_previous_break(text, search_start, end_line).filter(|(_, line_start)| end_line - line_start < 8)?;
    let mut is_last = true;
    loop {
        let (previous_end, line_start) =
            find_previous_break(text, search_start, line_end).unwrap_or((search_start, search_start));
        // A nested string may begin with the key.
        let quote_index = text[line_start..line_end].trim_end_matches(['"', '\'', ',']).rfind(['"', '\'']);
        let line_start = line_start + quote_index.map_or(0, |index| index + 1);
        let line = strip_to_base64(&text[line_start..line_end]);
        if line.is_none_or(|line| line.is_empty() || line.len() < MIN_LINE_BYTES && !is_last) {
            break;
        }
        (start, is_last) = (line_start, false);
        if previous_end == search_start || quote_index.is_some() {
            break;
        }
        line_end = previous_end;
    }
    (start < end_line).then_some(start..end_line)
}

/// Returns the end of the previous line, and the start of the line that contains this offset. `None` if no line break
/// is found before it.
fn find_previous_break(text: &str, search_start: usize, position: usize) -> Option<(usize, usize)> {
    let start = search_start.max(text.floor_char_boundary(position.saturating_sub(MAX_LINE_SEARCH)));
    let line_feed = text[start..position].rfind('\n').map(|end| (start + end, start + end + 1));
    let escaped = text[start..position].rfind("\\n").map(|end| {
        let slashes = text[start..start + end].bytes().rev().take_while(|byte| *byte == b'\\').count();
        let line = &text[start..start + end - slashes];
        // The break may be two escapes: `\r\n`.
        let without_return = line.strip_suffix('r').filter(|line| line.ends_with('\\'));
        let line = without_return.map_or(line, |line| line.trim_end_matches('\\'));
        (start + line.len(), start + end + 2)
    });
    line_feed.max(escaped)
}

/// Returns the end of the line break at this offset, which may be an escape.
fn skip_line_break(text: &str, position: usize) -> Option<usize> {
    let slashes = prefix_length(&text[position..], |byte| byte == b'\\');
    let is_break = |byte: &u8| *byte == b'\n' || slashes > 0 && matches!(byte, b'n' | b'r');
    text.as_bytes().get(position + slashes).is_some_and(is_break).then_some(position + slashes + 1)
}

/// Returns the end of the line at this offset if it may belong to the body of a key: base64, a PEM header, or empty.
fn body_line_end(text: &str, line_start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_line_end = |position: usize| matches!(bytes.get(position), None | Some(b'\n' | b'\\'));
    let mut end = line_start + prefix_length(&text[line_start..], |byte| b" \t\r+->|\"'".contains(&byte));
    let headers = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"];
    if headers.iter().any(|header| text[end..].starts_with(header)) {
        return Some(end + prefix_length(&text[end..], |byte| !matches!(byte, b'\n' | b'\\')));
    }
    end += match text[end..].starts_with(super::REDACTED) {
        true => super::REDACTED.len(),
        false => prefix_length(&text[end..], |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)),
    };
    let body_end = end;
    end += prefix_length(&text[end..], |byte| b" \t\r\"',".contains(&byte));
    // A key in a string ends at the closing quote of the string.
    (is_line_end(end) || body_end > line_start && matches!(bytes.get(body_end), Some(b'"' | b'\'')))
        .then(|| if is_line_end(end) { end } else { body_end })
}

/// Returns the line without diff or list markers, if it is base64.
fn strip_to_base64(line: &str) -> Option<&str> {
    let line = line.trim_end_matches(['"', '\'', ',', '\r', ' ']);
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "+->|\"'".contains(c));
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    line.bytes().all(is_base64).then_some(line)
}

/// Returns the end of the body without trailing line breaks.
fn trim_line_breaks(text: &str, start: usize, end: usize) -> usize {
    start + text[start..end].trim_end_matches(['\n', '\r']).len()
}
