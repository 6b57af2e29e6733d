//! Scan of a text for secrets, in one pass and linear time.

use super::command::{LineState, OpenCommand};
use super::names::REDACTED;
use super::word_bytes::{is_word_byte, prefix_length};
use super::{assignment, command, header, private_key, token, url};
use std::ops::Range;

/// State at the end of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScanState {
    /// Inside a private key whose end is still to come.
    pub(super) in_private_key: bool,
    /// The program whose command line continues on the next line.
    pub(super) program: Option<OpenCommand>,
}

/// Finds the secrets of the text in order, and the state at its end.
pub(super) fn scan_text(text: &str, state: ScanState) -> (Vec<Range<usize>>, ScanState) {
    let bytes = text.as_bytes();
    let mut secrets: Vec<Range<usize>> = Vec::new();
    let mut line = LineState::new(state.program);
    let (mut position, mut in_private_key) = (0, false);
    if state.in_private_key {
        let (body, is_open) = private_key::find_key_rest(text, 0);
        (position, in_private_key) = (body.end, is_open);
        if !body.is_empty() {
            secrets.push(body);
        }
    }
    while position < text.len() {
        let secret = match bytes[position] {
            b'-' if text[position..].starts_with(private_key::BEGIN) => {
                private_key::find_key_body(text, position).map(|(body, is_open)| {
                    in_private_key = is_open;
                    body
                })
            }
            b'-' if text[position..].starts_with(private_key::END) => {
                let search_start = secrets.last().map_or(0, |last| last.end);
                private_key::find_body_before(text, search_start, position)
            }
            b'-' => command::find_option_secret(text, position, &line),
            b':' => url::find_user_secret(text, position),
            b'?' | b'&' => url::find_parameter(text, position),
            b'\\' => url::find_escaped_parameter(text, position),
            b'[' if text[position..].starts_with(REDACTED) => {
                position += REDACTED.len();
                continue;
            }
            b'<' => assignment::find_element_secret(text, position),
            byte if is_word_byte(byte) => scan_word(text, position, &mut line),
            _ => None,
        };
        match secret {
            Some(range) => {
                position = range.end.max(position + 1);
                secrets.push(range);
            }
            None => position = next_position(text, position, &mut line),
        }
    }
    (secrets, ScanState { in_private_key, program: line.open_at_end() })
}

/// Finds a secret that begins in the word at this offset, or is named by it.
fn scan_word(text: &str, at: usize, line: &mut LineState) -> Option<Range<usize>> {
    let rest = &text[at..];
    let length = prefix_length(rest, is_word_byte);
    line.process_word(text, at, &rest[..length]);
    let shift_range = |range: Range<usize>| at + range.start..at + range.end;
    let is_inside_word = false;
    let secret = token::find_token(rest, is_inside_word).or_else(|| token::find_web_token(rest)).map(shift_range);
    let secret = secret
        .or_else(|| header::find_header_secret(text, at, length))
        .or_else(|| token::find_bearer(rest).map(shift_range))
        .or_else(|| assignment::find_named_secret(text, at, length));
    let find_inner_token = || {
        let part_starts = rest[..length].match_indices(['_', '-']).map(|(separator, _)| separator + 1);
        part_starts.take(MAX_WORD_PARTS).find_map(|start| {
            let is_inside_word = true;
            let token = token::find_token(&rest[start..], is_inside_word)?;
            Some(at + start + token.start..at + start + token.end)
        })
    };
    secret.or_else(find_inner_token)
}

/// Maximum number of parts of one word that are examined.
const MAX_WORD_PARTS: usize = 64;

/// Returns the next offset where a secret may begin.
fn next_position(text: &str, position: usize, line: &mut LineState) -> usize {
    let bytes = text.as_bytes();
    let mut end = position + 1;
    match bytes[position] {
        b'\\' => {
            end = position + prefix_length(&text[position..], |byte| byte == b'\\');
            let slashes = end - position;
            match bytes.get(end) {
                Some(b'n') => {
                    // A line feed in a JSON string. With three backslashes or more, an escaped backslash precedes it:
                    // the command continues on the next line.
                    line.end_line(slashes >= 3);
                    end += 1;
                }
                Some(b'r' | b't') => end += 1,
                Some(b'u')
                    if bytes.iter().skip(end + 1).take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 =>
                {
                    end += 5;
                }
                Some(b'\n') => {
                    // A backslash precedes the line feed: the command continues on the next line.
                    line.end_line(true);
                    end += 1;
                }
                Some(b'"' | b'\'' | b'`') => end += 1,
                // The text ends with a backslash: the command may continue in the next text.
                None => line.end_line(true),
                Some(_) => {}
            }
        }
        b'%' if bytes.iter().skip(end).take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2 => end += 2,
        b'\n' => line.end_line(false),
        byte @ (b'"' | b'\'') => line.process_quote(byte),
        b';' | b'|' | b'&' if matches!(bytes.get(end), Some(b' ' | b'&' | b'|')) => line.end_command(),
        byte if is_word_byte(byte) && byte != b'-' => {
            end = position + prefix_length(&text[position..], is_word_byte);
            // Stop before the dashes, so that a PEM line is found even directly after a word or after other dashes.
            if let Some(dashes_start) = text[position..end].find("----") {
                end = position + dashes_start;
            }
        }
        _ => {}
    }
    text.ceil_char_boundary(end)
}
