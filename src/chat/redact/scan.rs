//! Scan of a text for secrets, in one pass and linear time.

use super::command::Line;
use super::{REDACTED, State, assignment, command, header, private_key, token, url};
use std::ops::Range;

/// Finds the secrets of the text in order, and the state at its end.
pub(super) fn scan(text: &str, state: State) -> (Vec<Range<usize>>, State) {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut line = Line::new(state.program);
    let (mut at, mut in_private_key) = (0, false);
    if state.in_private_key {
        let (body, is_open) = private_key::rest(text, 0);
        (at, in_private_key) = (body.end, is_open);
        if !body.is_empty() {
            found.push(body);
        }
    }
    while at < text.len() {
        let end = match bytes[at] {
            b'-' if text[at..].starts_with(private_key::BEGIN) => {
                private_key::whole(text, at).map(|(body, is_open)| {
                    in_private_key = is_open;
                    body
                })
            }
            b'-' if text[at..].starts_with(private_key::END) => {
                let from = found.last().map_or(0, |last| last.end);
                private_key::before(text, from, at)
            }
            b'-' => command::option(text, at, &line),
            b':' => url::user(text, at),
            b'?' | b'&' => url::parameter(text, at),
            b'\\' => url::written_parameter(text, at),
            b'[' if text[at..].starts_with(REDACTED) => {
                at += REDACTED.len();
                continue;
            }
            b'<' => assignment::element(text, at),
            byte if is_word(byte) => word(text, at, &mut line),
            _ => None,
        };
        match end {
            Some(range) => {
                at = range.end.max(at + 1);
                found.push(range);
            }
            None => at = next(text, at, &mut line),
        }
    }
    (found, State { in_private_key, program: line.open_at_end() })
}

/// Finds a secret that begins in the word at this offset, or is named by it.
fn word(text: &str, at: usize, line: &mut Line) -> Option<Range<usize>> {
    let rest = &text[at..];
    let length = run(rest, is_word);
    line.word(text, at, &rest[..length]);
    let shift = |found: Range<usize>| at + found.start..at + found.end;
    let found = token::token(rest, false).or_else(|| token::web_token(rest)).map(shift);
    let found = found
        .or_else(|| header::header(text, at, length))
        .or_else(|| token::bearer(rest).map(shift))
        .or_else(|| assignment::named(text, at, length));
    let within = || {
        let joints = rest[..length].match_indices(['_', '-']).map(|(joint, _)| joint + 1);
        joints.take(MOST_JOINTS).find_map(|begin| {
            let found = token::token(&rest[begin..], true)?;
            Some(at + begin + found.start..at + begin + found.end)
        })
    };
    found.or_else(within)
}

/// Parts of one word that are examined.
const MOST_JOINTS: usize = 64;

/// Returns the next offset where a secret may begin.
fn next(text: &str, at: usize, line: &mut Line) -> usize {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    match bytes[at] {
        b'\\' => {
            end = at + run(&text[at..], |byte| byte == b'\\');
            let slashes = end - at;
            match bytes.get(end) {
                Some(b'n') => {
                    // A line feed in a nested string.
                    line.feed(slashes >= 3);
                    end += 1;
                }
                Some(b'r' | b't') => end += 1,
                Some(b'u')
                    if bytes.iter().skip(end + 1).take(4).filter(|byte| byte.is_ascii_hexdigit()).count()
                        == 4 =>
                {
                    end += 5;
                }
                Some(b'\n') => {
                    line.feed(true);
                    end += 1;
                }
                Some(b'"' | b'\'' | b'`') => end += 1,
                None => line.feed(true),
                Some(_) => {}
            }
        }
        b'%' if bytes.iter().skip(end).take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2 => {
            end += 2
        }
        b'\n' => line.feed(false),
        byte @ (b'"' | b'\'') => line.quote(byte),
        b';' | b'|' | b'&' if matches!(bytes.get(end), Some(b' ' | b'&' | b'|')) => line.separate(),
        byte if is_word(byte) && byte != b'-' => {
            end = at + run(&text[at..], is_word);
            // In a diff, or at the end of a word, other dashes may precede a PEM line.
            if let Some(dashes) = text[at..end].find("----") {
                end = at + dashes;
            }
        }
        _ => {}
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// Returns the number of leading bytes that match.
pub(super) fn run(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is(*byte)).count()
}

/// Returns whether a byte belongs to a word: a name or a token.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
