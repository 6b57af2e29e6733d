//! Secrets in URLs: a password before the host, and parameters.

use super::names::{NameClass, classify_name, is_placeholder};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Parameters that sign a URL.
const SIGNATURES: &[&str] =
    &["sig", "signature", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature"];
/// Minimum length of a value whose name is ambiguous.
const MIN_VALUE_BYTES: usize = 8;
/// A user name without a password is a token from this length on.
const MIN_TOKEN_BYTES: usize = 20;

/// Finds the password before the host of a URL, or a user name that is a token.
pub(super) fn find_user_secret(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let mut from = 1;
    for _ in 0..2 {
        // In a nested string a slash may be escaped.
        from += prefix_length(&rest[from..], |byte| byte == b'\\');
        rest[from..].starts_with('/').then_some(())?;
        from += 1;
    }
    let after = &rest[from..];
    let length = prefix_length(after, |byte| !byte.is_ascii_whitespace() && !b"/\"'`<>\\?#".contains(&byte));
    let (who, _) = after[..length].rsplit_once('@')?;
    let (start, secret) = match who.split_once(':') {
        Some((name, password)) => (from + name.len() + 1, password),
        None => (from, who),
    };
    let least = if start > from { 1 } else { MIN_TOKEN_BYTES };
    (secret.len() >= least && !is_placeholder(secret)).then(|| at + start..at + start + secret.len())
}

/// Finds the secret value of the parameter that begins with the separator at this offset.
pub(super) fn find_parameter(text: &str, at: usize) -> Option<Range<usize>> {
    let mut from = at + 1;
    if text[from..].starts_with("amp;") {
        from += "amp;".len();
    }
    let length = prefix_length(&text[from..], |byte| is_word_byte(byte) || byte == b'.');
    let name = &text[from..from + length];
    from += length;
    text[from..].starts_with('=').then_some(())?;
    from += 1;
    let signs = SIGNATURES.iter().any(|known| name.eq_ignore_ascii_case(known));
    let last = name.rsplit('.').next().unwrap_or(name);
    let least = match classify_name(last) {
        _ if signs => MIN_VALUE_BYTES,
        Some(NameClass::Password | NameClass::Token) => 1,
        Some(NameClass::Key) if last.len() > 4 => 1,
        Some(NameClass::Key) => MIN_VALUE_BYTES,
        None => return None,
    };
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"&#\"'`<>\\|".contains(&byte);
    let value = &text[from..from + prefix_length(&text[from..], |byte| !ends(byte))];
    if value.starts_with(super::REDACTED) && value.len() < super::REDACTED.len() + 3 {
        return None;
    }
    let value = value.trim_end_matches([')', ']', '}', ',', '.', ';']);
    (value.len() >= least && !is_placeholder(value)).then(|| from..from + value.len())
}

/// Finds a parameter whose separator is escaped: `\u0026`.
pub(super) fn find_escaped_parameter(text: &str, at: usize) -> Option<Range<usize>> {
    let digits = at + prefix_length(&text[at..], |byte| byte == b'\\');
    text[digits..].starts_with("u0026").then(|| find_parameter(text, digits + 4)).flatten()
}
