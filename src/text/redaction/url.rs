//! Secrets in URLs: a password before the host, and parameters.

use super::names::{NameClass, classify_name, is_placeholder};
use super::word_bytes::{is_word_byte, prefix_length};
use crate::text::workspace_address::is_id;
use std::ops::Range;

/// Parameters that sign a URL.
const SIGNATURES: &[&str] =
    &["sig", "signature", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature"];
/// Minimum length of a value whose name is ambiguous.
const MIN_VALUE_BYTES: usize = 8;
/// Minimum length of a user name that counts as a token.
const MIN_TOKEN_BYTES: usize = 20;
/// Maximum bytes after the placeholder in a value that is already redacted, such as a bracket and a full stop.
const MAX_BYTES_AFTER_REDACTED: usize = 2;

/// Finds the password before the host of a URL; or, if the user name is long enough for a token, both.
/// `position` is the colon of `://`.
pub(super) fn find_user_secret(text: &str, position: usize) -> Option<Range<usize>> {
    let authority = find_authority(text, position)?;
    let (user, host) = text[authority.clone()].rsplit_once('@')?;
    if text[..position].ends_with("workspace") && is_id(user) && host.starts_with(|c: char| c.is_ascii_digit()) {
        // The version of a file in a workspace.
        return None;
    }
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let start = authority.start;
    let end = start + user.len();
    if name.len() >= MIN_TOKEN_BYTES && !is_placeholder(name) {
        return Some(start..end);
    }
    (!password.is_empty() && !is_placeholder(password)).then(|| end - password.len()..end)
}

/// Finds the beginning of a password before the host of a URL that is still being typed: the text ends before its `@`. Digits, and
/// what follows a bracket, are taken for an address and a port. `position` is the colon of `://`.
pub(super) fn find_password_beginning(text: &str, position: usize) -> Option<Range<usize>> {
    let authority = find_authority(text, position)?;
    let (user, password) = text[authority.clone()].split_once(':')?;
    let goes_on = text[authority.end..].bytes().next().is_some_and(|byte| !byte.is_ascii_whitespace());
    let may_be_port = user.starts_with('[') || password.bytes().all(|byte| byte.is_ascii_digit());
    (!goes_on && !may_be_port && !password.contains('@')).then(|| authority.start + user.len() + 1..authority.end)
}

/// Finds the part of a URL before its path: user, password, host and port. `position` is the colon of `://`.
fn find_authority(text: &str, position: usize) -> Option<Range<usize>> {
    let mut start = position + 1;
    for _ in 0..2 {
        // In a nested string a slash may be escaped.
        start += prefix_length(&text[start..], |byte| byte == b'\\');
        text[start..].starts_with('/').then_some(())?;
        start += 1;
    }
    let is_part = |byte: u8| !byte.is_ascii_whitespace() && !b"/\"'`<>\\?#".contains(&byte);
    Some(start..start + prefix_length(&text[start..], is_part))
}

/// Finds the secret value of the parameter that begins with the separator at this offset.
pub(super) fn find_parameter(text: &str, at: usize) -> Option<Range<usize>> {
    let mut position = at + 1;
    if text[position..].starts_with("amp;") {
        position += "amp;".len();
    }
    let length = prefix_length(&text[position..], |byte| is_word_byte(byte) || byte == b'.');
    let name = &text[position..position + length];
    position += length;
    text[position..].starts_with('=').then_some(())?;
    position += 1;
    let is_signature = SIGNATURES.iter().any(|other| name.eq_ignore_ascii_case(other));
    let last_part = name.rsplit('.').next().unwrap_or(name);
    let min_length = match classify_name(last_part) {
        _ if is_signature => MIN_VALUE_BYTES,
        Some(NameClass::Password | NameClass::Token) => 1,
        // `key` and `auth` alone are ambiguous; longer names of this class, such as `api_key`, are not.
        Some(NameClass::Key) if last_part.len() > "auth".len() => 1,
        Some(NameClass::Key) => MIN_VALUE_BYTES,
        None => return None,
    };
    let ends_value = |byte: u8| byte.is_ascii_whitespace() || b"&#\"'`<>\\|".contains(&byte);
    let value = &text[position..position + prefix_length(&text[position..], |byte| !ends_value(byte))];
    let is_after_value = [')', ']', '}', ',', '.', ';'];
    if let Some(rest) = value.strip_prefix(super::REDACTED)
        && (rest.len() <= MAX_BYTES_AFTER_REDACTED || rest.trim_end_matches(is_after_value).is_empty())
    {
        return None;
    }
    let value = value.trim_end_matches(is_after_value);
    (value.len() >= min_length && !is_placeholder(value)).then(|| position..position + value.len())
}

/// Finds the secret value of a parameter whose separator is escaped: `\u0026`, possibly with several backslashes.
pub(super) fn find_escaped_parameter(text: &str, at: usize) -> Option<Range<usize>> {
    let escape = at + prefix_length(&text[at..], |byte| byte == b'\\');
    // The last digit of `u0026` counts as the separator.
    text[escape..].starts_with("u0026").then(|| find_parameter(text, escape + 4)).flatten()
}
