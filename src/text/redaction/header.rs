//! Headers whose whole value is a secret: `Authorization` after its scheme, and cookies.

use super::names::{is_capital, is_placeholder, is_word_of_sentence, looks_random};
use super::word_bytes::prefix_length;
use std::ops::Range;

/// Schemes followed by the secret as one word.
const WORD_SCHEMES: &[&str] =
    &["bearer", "basic", "token", "apikey", "api-key", "negotiate", "ntlm", "bot", "jwt", "key", "splunk"];
/// Schemes followed by fields.
const FIELD_SCHEMES: &[&str] = &["digest", "aws4-hmac-sha256", "hawk", "oauth", "signature", "mac"];
/// Bytes of a value that are examined.
const MAX_VALUE_BYTES: usize = 256;

/// Finds the secret of the header whose name is at this offset.
pub(super) fn find_header_secret(text: &str, at: usize, length: usize) -> Option<Range<usize>> {
    let name = &text[at..at + length];
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let cookies = is("cookie") || is("set-cookie");
    if !(cookies || is("authorization") || is("proxy-authorization")) {
        return None;
    }
    let bytes = text.as_bytes();
    let around = at.checked_sub(1).map(|before| bytes[before]).filter(|byte| b"\"'`".contains(byte));
    let mut from = at + length;
    let slashes = prefix_length(&text[from..], |byte| byte == b'\\');
    let closed = bytes.get(from + slashes).is_some_and(|byte| Some(*byte) == around);
    from += if closed { slashes + 1 } else { 0 };
    from += prefix_length(&text[from..], |byte| byte == b' ');
    bytes.get(from).filter(|sign| matches!(sign, b':' | b'='))?;
    from += 1;
    from += prefix_length(&text[from..], |byte| matches!(byte, b' ' | b'\t' | b'>'));
    if bytes.get(from) == Some(&b'[') && matches!(bytes.get(from + 1), Some(b'"' | b'\'' | b'\\')) {
        from += 1;
    }
    let slashes = prefix_length(&text[from..], |byte| byte == b'\\');
    let opener = bytes.get(from + slashes).copied().filter(|byte| b"\"'`".contains(byte));
    let quote = match opener {
        Some(_) => {
            from += slashes + 1;
            opener
        }
        None if closed => None,
        None => around,
    };
    let ends = |byte: u8| matches!(byte, b'\n' | b'\r' | b'\\') || Some(byte) == quote;
    // Only the beginning of a value that is no secret is read.
    let short = prefix_length(&text[from..text.floor_char_boundary(from + MAX_VALUE_BYTES)], |byte| !ends(byte));
    let seen = &text[from..from + short];
    let whole = || from + prefix_length(&text[from..], |byte| !ends(byte));
    if cookies {
        let name = seen.split('=').next().filter(|name| name.len() < seen.len())?;
        let is_cookie = !name.is_empty() && !name.contains(char::is_whitespace) && !is_placeholder(seen);
        return is_cookie.then(|| from..whole());
    }
    let (scheme, value) = seen.split_once(' ').unwrap_or(("", seen));
    let skipped = scheme.len() + usize::from(!scheme.is_empty());
    let known = |schemes: &[&str]| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let blanks = value.len() - value.trim_start().len();
    let (value, start) = (value.trim_start(), from + skipped + blanks);
    if known(FIELD_SCHEMES) && value.contains('=') {
        return Some(start..find_fields_end(text, start));
    }
    let word = value.split(' ').next().unwrap_or_default();
    let follows = value.len() > word.len();
    if !(scheme.is_empty() || known(WORD_SCHEMES)) {
        // An unknown scheme, or a sentence.
        return (looks_random(word) && word.len() >= 12).then(|| start..whole());
    }
    let is_prose = !looks_random(word) && (follows || scheme.is_empty() && word.len() < 8) || is_word_of_sentence(word);
    let is_secret = !(word.is_empty() || is_placeholder(word) || is_prose || is_capital(word) && word.len() < 6);
    let length = || prefix_length(&text[start..], |byte| !ends(byte) && byte != b' ');
    is_secret.then(|| start..start + length())
}

/// Returns the end of a scheme's fields: the end of the line, or a quote around them. Inside a nested string their own
/// quotes have more backslashes than the one around them.
fn find_fields_end(text: &str, from: usize) -> usize {
    let (mut own, mut slashes, mut equals) = (None, 0, false);
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'\\' => {
                slashes += 1;
                continue;
            }
            b'\n' | b'\r' => return at - slashes,
            b'n' | b'r' if slashes > 0 => return at - slashes,
            b'"' | b'\'' | b'`' if equals && own.is_none() => own = Some(slashes),
            b'"' | b'\'' | b'`' if own.is_none_or(|own| slashes < own) => return at - slashes,
            _ => {}
        }
        (slashes, equals) = (0, byte == b'=');
    }
    text.len()
}
