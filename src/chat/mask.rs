//! Secrets of known shapes, taken out of a text that is handed on.
//!
//! It finds what looks like a secret by its form or by what it is called. It cannot find one that looks like any word.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in a secret's place.
pub const MASK: &str = "[masked]";

/// How tokens begin, what is kept of that to be recognised, and how many letters follow at least.
#[rustfmt::skip]
const TOKENS: &[(&str, usize)] = &[
    // Models
    ("sk-", 16), ("gsk_", 20), ("xai-", 20), ("hf_", 20), ("r8_", 20), ("pplx-", 20), ("tvly-", 16), ("csk-", 20),
    ("AIza", 30), ("ya29.", 20), ("nvapi-", 20),
    // Code and packages
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("glrt-", 16), ("npm_", 20), ("pypi-", 40), ("dckr_pat_", 16), ("rubygems_", 20), ("cio", 40),
    // Clouds and services
    ("AKIA", 16), ("ASIA", 16), ("dop_v1_", 20), ("hvs.", 16), ("hvb.", 16), ("SG.", 30), ("sq0atp-", 16),
    ("sk_live_", 10), ("sk_test_", 10), ("rk_live_", 10), ("rk_test_", 10), ("whsec_", 16), ("shpat_", 16),
    ("xoxb-", 10), ("xoxp-", 10), ("xoxa-", 10), ("xoxr-", 10), ("xoxs-", 10), ("xapp-", 10), ("lin_api_", 16),
    ("figd_", 16), ("AGE-SECRET-KEY-1", 20), ("EAACEdEose0cBA", 10), ("key-", 32),
];

/// Names behind which a secret stands, in quotes or behind an `=`: small letters, as they end.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secret_key",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "refresh_token",
    "auth_token",
    "auth-token",
    "private-token",
    "secret_access_key",
    "private_key",
    "credentials",
];
/// The same where the whole name is in capitals, as variables are.
const CAPITALS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"];
/// Letters of a secret behind a name, at least.
const SHORTEST: usize = 8;
/// Bytes of one by which it is told from what only stands for one.
const LONGEST: usize = 256;

/// The text without them, and how many there were.
pub fn mask(text: &str) -> (Cow<'_, str>, usize) {
    let (mut out, mut from, mut count) = (String::new(), 0, 0);
    let mut at = 0;
    while at < text.len() {
        match secret(text, at) {
            Some(secret) => {
                out.push_str(&text[from..secret.start]);
                out.push_str(MASK);
                (from, at) = (secret.end, secret.end.max(at + 1));
                count += 1;
            }
            None => at = next(text, at),
        }
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(&text[from..]);
    (Cow::Owned(out), count)
}

/// The next place where a secret may begin: behind the word or the sign that stands here. The dashes of a flag are signs,
/// and so is a line's end that is written as an escape.
fn next(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    match bytes[at] {
        b'-' => {
            // A diff has a dash of its own before the armour.
            while bytes.get(end) == Some(&b'-') && !text[end..].starts_with(BEGIN) {
                end += 1;
            }
        }
        b'\\' => end += usize::from(bytes.get(end).is_some_and(|byte| b"nrt".contains(byte))),
        first if of_token(first) => {
            while bytes.get(end).copied().is_some_and(of_token) && !text[end..].starts_with(BEGIN) {
                end += 1;
            }
        }
        _ => {}
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// A secret that begins with the word or sign at this place: what of it is to go.
fn secret(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'-' => private_key(rest),
        b':' => in_address(rest),
        first if first.is_ascii_alphanumeric() || first == b'_' => {
            token(rest).or_else(|| web_token(rest)).or_else(|| bearer(rest)).or_else(|| named(rest))
        }
        _ => None,
    }
    .map(|found| at + found.start..at + found.end)
}

/// How many bytes of the text are of this kind.
fn run(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is(*byte)).count()
}

fn of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn token(rest: &str) -> Option<Range<usize>> {
    let (start, least) =
        TOKENS.iter().filter(|(start, _)| rest.starts_with(start)).max_by_key(|(start, _)| start.len())?;
    let behind = &rest[start.len()..];
    let dots = start.ends_with('.');
    let length = run(behind, |byte| of_token(byte) || dots && byte == b'.');
    let is_key = match *start {
        // Long words in small letters begin so too.
        "sk-" | "key-" | "cio" | "pypi-" => behind[..length].bytes().any(|byte| byte.is_ascii_digit()),
        "AKIA" | "ASIA" => {
            length == 16
                && behind[..length].bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
        _ => true,
    };
    (length >= *least && is_key).then(|| start.len()..start.len() + length)
}

/// Three parts in base64, of which the first two are objects.
fn web_token(rest: &str) -> Option<Range<usize>> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let first = run(rest, of_token);
    let second = rest[first..].strip_prefix('.').filter(|second| second.starts_with("eyJ"))?;
    let end = first + 1 + run(second, of_token);
    let third = rest[end..].strip_prefix('.').map_or(0, |third| 1 + run(third, of_token));
    (end > 20).then_some(0..end + third)
}

/// What stands behind `Bearer` and, in a header, behind `Basic`.
fn bearer(rest: &str) -> Option<Range<usize>> {
    let is = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let from = ["bearer ", "basic "].into_iter().find(|word| is(word))?.len();
    let value = &rest[from..];
    let length = run(value, |byte| of_token(byte) || b".~+/=".contains(&byte));
    let value = &value[..length];
    let mixed = value.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
        || value.bytes().any(|byte| byte.is_ascii_uppercase())
            && value.bytes().any(|byte| byte.is_ascii_lowercase());
    (length >= 12 && mixed).then_some(from..from + length)
}

/// What stands behind a name that says what it is.
fn named(rest: &str) -> Option<Range<usize>> {
    let length = run(rest, of_token);
    let name = &rest[..length];
    let capital =
        !name.bytes().any(|byte| byte.is_ascii_lowercase()) && CAPITALS.iter().any(|end| name.ends_with(end));
    let lower = || name.to_ascii_lowercase();
    let known = || name.len() < 64 && NAMES.iter().any(|end| lower().ends_with(end));
    if !(capital || known()) {
        return None;
    }
    let quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'\\' | b'`');
    let mut at = length + run(&rest[length..], quote);
    at += run(&rest[at..], |byte| byte == b' ');
    let sign = *rest.as_bytes().get(at).filter(|sign| matches!(sign, b'=' | b':'))?;
    at += 1 + run(&rest[at + 1..], |byte| byte == b' ');
    let quotes = run(&rest[at..], quote);
    at += quotes;
    if quotes == 0 && !(capital || sign == b'=') && !name.contains('-') {
        return None;
    }
    let value = &rest[at..];
    let of_value = |byte: u8| !byte.is_ascii_whitespace() && !quote(byte) && !b",;)]}<>".contains(&byte);
    // Whether it is one is seen at its beginning: what is none is looked at again from the next name in it.
    let length = value.bytes().take(LONGEST).take_while(|byte| of_value(*byte)).count();
    let value = &value.as_bytes()[..length];
    let stands_for = value.first().is_some_and(|byte| b"${(<[%&*".contains(byte))
        || value.iter().all(|byte| *byte == b'x' || *byte == b'.')
        || (quotes == 0 && value.iter().any(|byte| matches!(byte, b'(' | b'[')));
    (length >= SHORTEST && !stands_for).then(|| at..at + run(&rest[at..], of_value))
}

/// How armour begins.
const BEGIN: &str = "-----BEGIN ";

/// A private key in its armour; one of which the end is missing goes to the end of the text.
fn private_key(rest: &str) -> Option<Range<usize>> {
    let head = rest.strip_prefix(BEGIN)?;
    let length = run(head, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let kind = &head[..length];
    if !kind.ends_with("PRIVATE KEY") && !kind.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let from = BEGIN.len() + length + run(&head[length..], |byte| byte == b'-');
    let end = rest[from..].find("-----END ").map_or(rest.len(), |end| from + end);
    (from < end).then_some(from..end)
}

/// A password in an address, or what stands in its place alone.
fn in_address(rest: &str) -> Option<Range<usize>> {
    let behind = rest.strip_prefix("://")?;
    let length = run(behind, |byte| !byte.is_ascii_whitespace() && !b"/\"'`<>\\?#".contains(&byte));
    let (who, _) = behind[..length].rsplit_once('@')?;
    let (from, secret) = match who.split_once(':') {
        Some((name, password)) => (3 + name.len() + 1, password),
        None => (3, who),
    };
    let enough = if from > 3 { 1 } else { 20 };
    let stands_for = secret.starts_with(['$', '{', '<', '[', '*']);
    (secret.len() >= enough && !stands_for).then_some(from..from + secret.len())
}

#[cfg(test)]
mod tests;
