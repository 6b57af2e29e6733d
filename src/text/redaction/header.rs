//! Headers whose whole value is a secret: `Authorization` after its scheme, and cookies.

use super::names::{is_capital, is_placeholder, is_word_of_sentence, looks_random};
use super::word_bytes::prefix_length;
use std::ops::Range;

/// Schemes followed by the secret as one word.
const WORD_SCHEMES: &[&str] =
    &["bearer", "basic", "token", "apikey", "api-key", "negotiate", "ntlm", "bot", "jwt", "key", "splunk"];
/// Schemes followed by fields.
const FIELD_SCHEMES: &[&str] = &["digest", "aws4-hmac-sha256", "hawk", "oauth", "signature", "mac"];
/// Maximum bytes of a value that are examined.
const MAX_VALUE_BYTES: usize = 256;

/// Finds the secret of the header whose name is at this offset.
pub(super) fn find_header_secret(text: &str, name_start: usize, length: usize) -> Option<Range<usize>> {
    let name = &text[name_start..name_start + length];
    let has_name = |known: &str| name.eq_ignore_ascii_case(known);
    let is_cookie_header = has_name("cookie") || has_name("set-cookie");
    if !(is_cookie_header || has_name("authorization") || has_name("proxy-authorization")) {
        return None;
    }
    let bytes = text.as_bytes();
    let name_quote = name_start.checked_sub(1).map(|index| bytes[index]).filter(|byte| b"\"'`".contains(byte));
    let mut position = name_start + length;
    let slashes = prefix_length(&text[position..], |byte| byte == b'\\');
    let is_name_quoted = bytes.get(position + slashes).is_some_and(|byte| Some(*byte) == name_quote);
    position += if is_name_quoted { slashes + 1 } else { 0 };
    // Between name and value: `:`, `=` or `=>`, and in JSON the bracket of a list of values.
    position += prefix_length(&text[position..], |byte| byte == b' ');
    bytes.get(position).filter(|sign| matches!(sign, b':' | b'='))?;
    position += 1;
    position += prefix_length(&text[position..], |byte| matches!(byte, b' ' | b'\t' | b'>'));
    if bytes.get(position) == Some(&b'[') && matches!(bytes.get(position + 1), Some(b'"' | b'\'' | b'\\')) {
        position += 1;
    }
    let slashes = prefix_length(&text[position..], |byte| byte == b'\\');
    let opening_quote = bytes.get(position + slashes).copied().filter(|byte| b"\"'`".contains(byte));
    let quote = match opening_quote {
        Some(_) => {
            position += slashes + 1;
            opening_quote
        }
        None if is_name_quoted => None,
        None => name_quote,
    };
    let ends_value = |byte: u8| matches!(byte, b'\n' | b'\r' | b'\\') || Some(byte) == quote;
    // Only the beginning of the value is read to decide whether it is a secret.
    let preview_length =
        prefix_length(&text[position..text.floor_char_boundary(position + MAX_VALUE_BYTES)], |byte| !ends_value(byte));
    let preview = &text[position..position + preview_length];
    let find_value_end = || position + prefix_length(&text[position..], |byte| !ends_value(byte));
    if is_cookie_header {
        let name = preview.split('=').next().filter(|name| name.len() < preview.len())?;
        let is_cookie = !name.is_empty() && !name.contains(char::is_whitespace) && !is_placeholder(preview);
        return is_cookie.then(|| position..find_value_end());
    }
    let (scheme, value) = preview.split_once(' ').unwrap_or(("", preview));
    let scheme_length = scheme.len() + usize::from(!scheme.is_empty());
    let is_scheme_in = |schemes: &[&str]| schemes.iter().any(|other| scheme.eq_ignore_ascii_case(other));
    let blanks = value.len() - value.trim_start().len();
    let (value, start) = (value.trim_start(), position + scheme_length + blanks);
    if is_scheme_in(FIELD_SCHEMES) && value.contains('=') {
        return Some(start..find_fields_end(text, start));
    }
    let word = value.split(' ').next().unwrap_or_default();
    let has_more_words = value.len() > word.len();
    if !(scheme.is_empty() || is_scheme_in(WORD_SCHEMES)) {
        // An unknown scheme, or a sentence.
        return (looks_random(word) && word.len() >= 12).then(|| start..find_value_end());
    }
    let is_prose =
        !looks_random(word) && (has_more_words || scheme.is_empty() && word.len() < 8) || is_word_of_sentence(word);
    let is_secret = !(word.is_empty() || is_placeholder(word) || is_prose || is_capital(word) && word.len() < 6);
    let word_length = || prefix_length(&text[start..], |byte| !ends_value(byte) && byte != b' ');
    is_secret.then(|| start..start + word_length())
}

/// Returns the end of a scheme's fields: the end of the line, or the closing quote of the string that contains them. In
/// a nested string the quotes of the fields have more backslashes than those of the string.
fn find_fields_end(text: &str, start: usize) -> usize {
    let (mut inner_slashes, mut slashes, mut after_equals) = (None, 0, false);
    for (position, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'\\' => {
                slashes += 1;
                continue;
            }
            b'\n' | b'\r' => return position - slashes,
            b'n' | b'r' if slashes > 0 => return position - slashes,
            b'"' | b'\'' | b'`' if after_equals && inner_slashes.is_none() => inner_slashes = Some(slashes),
            b'"' | b'\'' | b'`' if inner_slashes.is_none_or(|inner| slashes < inner) => return position - slashes,
            _ => {}
        }
        (slashes, after_equals) = (0, byte == b'=');
    }
    text.len()
}
