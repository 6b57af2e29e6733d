//! Tokens with a known prefix, JSON web tokens, and values after `Bearer`.

use super::names::{has_digit, is_mixed_case};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Characters after the prefix of a token.
#[derive(Clone, Copy, PartialEq)]
enum TokenChars {
    /// Letters and digits.
    Alphanumeric,
    /// Those, `_` and `-`.
    Word,
    /// Those, and `.`.
    Dots,
    /// Exactly this many capitals and digits.
    Capitals,
    /// As `Word`, with a digit: long lower-case words have the same prefix.
    Digit,
}

/// Prefix of a token, which is kept, minimum number of characters after it, and their kind.
#[rustfmt::skip]
const TOKENS: &[(&str, usize, TokenChars)] = &[
    // Models
    ("sk-", 4, TokenChars::Digit), ("sk-ant-", 8, TokenChars::Digit), ("sk-proj-", 8, TokenChars::Digit), ("gsk_", 20, TokenChars::Alphanumeric),
    ("xai-", 20, TokenChars::Word), ("hf_", 20, TokenChars::Alphanumeric), ("r8_", 20, TokenChars::Alphanumeric), ("pplx-", 20, TokenChars::Word),
    ("tvly-", 16, TokenChars::Word), ("csk-", 20, TokenChars::Word), ("AIza", 30, TokenChars::Word), ("ya29.", 20, TokenChars::Word),
    ("nvapi-", 20, TokenChars::Word),
    // Code hosting and packages
    ("ghp_", 20, TokenChars::Alphanumeric), ("gho_", 20, TokenChars::Alphanumeric), ("ghu_", 20, TokenChars::Alphanumeric), ("ghs_", 20, TokenChars::Alphanumeric),
    ("ghr_", 20, TokenChars::Alphanumeric), ("github_pat_", 20, TokenChars::Word), ("glpat-", 16, TokenChars::Dots), ("glrt-", 16, TokenChars::Dots),
    ("gldt-", 16, TokenChars::Word), ("npm_", 20, TokenChars::Alphanumeric), ("pypi-", 40, TokenChars::Digit), ("dckr_pat_", 16, TokenChars::Word),
    ("rubygems_", 20, TokenChars::Alphanumeric), ("cio", 40, TokenChars::Digit), ("ATATT3", 20, TokenChars::Word),
    // Clouds and services
    ("AKIA", 16, TokenChars::Capitals), ("ASIA", 16, TokenChars::Capitals), ("dop_v1_", 20, TokenChars::Alphanumeric), ("doo_v1_", 20, TokenChars::Alphanumeric),
    ("hvs.", 16, TokenChars::Word), ("hvb.", 16, TokenChars::Word), ("SG.", 30, TokenChars::Dots), ("sq0atp-", 16, TokenChars::Word),
    ("sq0csp-", 16, TokenChars::Word), ("sk_live_", 10, TokenChars::Word), ("sk_test_", 10, TokenChars::Word), ("rk_live_", 10, TokenChars::Word),
    ("rk_test_", 10, TokenChars::Word), ("whsec_", 16, TokenChars::Word), ("shpat_", 16, TokenChars::Alphanumeric), ("shpss_", 16, TokenChars::Alphanumeric),
    ("shpca_", 16, TokenChars::Alphanumeric), ("xoxb-", 10, TokenChars::Word), ("xoxp-", 10, TokenChars::Word), ("xoxa-", 10, TokenChars::Word),
    ("xoxr-", 10, TokenChars::Word), ("xoxs-", 10, TokenChars::Word), ("xoxe.", 10, TokenChars::Dots), ("xapp-", 10, TokenChars::Word),
    ("lin_api_", 16, TokenChars::Alphanumeric), ("figd_", 16, TokenChars::Word), ("ntn_", 30, TokenChars::Alphanumeric), ("pscale_", 30, TokenChars::Word),
    ("AGE-SECRET-KEY-1", 20, TokenChars::Word), ("EAACEdEose0cBA", 10, TokenChars::Word), ("key-", 32, TokenChars::Digit),
];

/// Bytes that are examined to tell a token from a word.
const MAX_TOKEN_BYTES: usize = 96;

/// Finds a token at the start of the text. Inside a word, only prefixes that no ordinary word has are considered.
pub(super) fn find_token(rest: &str, within: bool) -> Option<Range<usize>> {
    let known = TOKENS.iter().filter(|(start, ..)| rest.starts_with(start));
    // The longest prefix is kept; a token too short for it may match a shorter one.
    known.filter_map(|known| match_token(rest, known, within)).max_by_key(|found| (found.end, found.start))
}

fn match_token(rest: &str, &(start, least, of): &(&str, usize, TokenChars), within: bool) -> Option<Range<usize>> {
    if within && of == TokenChars::Digit {
        return None;
    }
    let after = &rest[start.len()..];
    let is = |byte: u8| match of {
        TokenChars::Alphanumeric | TokenChars::Capitals => byte.is_ascii_alphanumeric(),
        TokenChars::Word | TokenChars::Digit => is_word_byte(byte),
        TokenChars::Dots => is_word_byte(byte) || byte == b'.',
    };
    // Only the beginning of a word that is no token is read.
    let length = prefix_length(&after[..after.floor_char_boundary(MAX_TOKEN_BYTES)], is);
    let value = &after[..length];
    let fits = match of {
        TokenChars::Alphanumeric | TokenChars::Dots => has_digit(value) || is_mixed_case(value),
        TokenChars::Word => has_digit(value) || is_mixed_case(value),
        TokenChars::Digit => has_digit(value) || length >= 16 && is_mixed_case(value),
        TokenChars::Capitals => {
            length == least && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
    };
    (length >= least && fits).then(|| start.len()..start.len() + prefix_length(after, is))
}

/// Finds a JSON web token: three base64 parts, of which the first two are objects. The last may be missing.
pub(super) fn find_web_token(rest: &str) -> Option<Range<usize>> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let first = prefix_length(rest, is_word_byte);
    let second = rest[first..].strip_prefix('.').filter(|second| second.starts_with("eyJ"))?;
    let end = first + 1 + prefix_length(second, is_word_byte);
    let third = rest[end..].strip_prefix('.').map_or(0, |third| 1 + prefix_length(third, is_word_byte));
    (end > 20).then_some(0..end + third)
}

/// Finds the value after `Bearer` or `Basic` outside a header.
pub(super) fn find_bearer(rest: &str) -> Option<Range<usize>> {
    let is = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let from = ["bearer ", "basic "].into_iter().find(|word| is(word))?.len();
    let value = &rest[from..];
    let length = prefix_length(value, |byte| is_word_byte(byte) || b".~+/=".contains(&byte));
    let value = &value[..length];
    (length >= 12 && (has_digit(value) || value.ends_with('=') || is_mixed_case(value))).then_some(from..from + length)
}
