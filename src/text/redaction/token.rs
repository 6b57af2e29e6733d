//! Tokens with a known prefix, JSON web tokens, and values after `Bearer`.

use super::names::{has_digit, is_mixed_case};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Characters after the prefix of a token.
#[derive(Clone, Copy, PartialEq)]
enum TokenChars {
    /// Letters and digits.
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dots,
    /// Capitals and digits, exactly the minimum number of them.
    Capitals,
    /// As `Word`, but with a digit or, from 16 characters, mixed case: ordinary words have the same prefix.
    StrictWord,
}

/// Prefix of a token, minimum number of characters after it, and their kind. The prefix itself is not redacted.
#[rustfmt::skip]
const TOKENS: &[(&str, usize, TokenChars)] = &[
    // Models
    ("sk-", 4, TokenChars::StrictWord), ("sk-ant-", 8, TokenChars::StrictWord), ("sk-proj-", 8, TokenChars::StrictWord), ("gsk_", 20, TokenChars::Alphanumeric),
    ("xai-", 20, TokenChars::Word), ("hf_", 20, TokenChars::Alphanumeric), ("r8_", 20, TokenChars::Alphanumeric), ("pplx-", 20, TokenChars::Word),
    ("tvly-", 16, TokenChars::Word), ("csk-", 20, TokenChars::Word), ("AIza", 30, TokenChars::Word), ("ya29.", 20, TokenChars::Word),
    ("nvapi-", 20, TokenChars::Word),
    // Code hosting and packages
    ("ghp_", 20, TokenChars::Alphanumeric), ("gho_", 20, TokenChars::Alphanumeric), ("ghu_", 20, TokenChars::Alphanumeric), ("ghs_", 20, TokenChars::Alphanumeric),
    ("ghr_", 20, TokenChars::Alphanumeric), ("github_pat_", 20, TokenChars::Word), ("glpat-", 16, TokenChars::Dots), ("glrt-", 16, TokenChars::Dots),
    ("gldt-", 16, TokenChars::Word), ("npm_", 20, TokenChars::Alphanumeric), ("pypi-", 40, TokenChars::StrictWord), ("dckr_pat_", 16, TokenChars::Word),
    ("rubygems_", 20, TokenChars::Alphanumeric), ("cio", 40, TokenChars::StrictWord), ("ATATT3", 20, TokenChars::Word),
    // Clouds and services
    ("AKIA", 16, TokenChars::Capitals), ("ASIA", 16, TokenChars::Capitals), ("dop_v1_", 20, TokenChars::Alphanumeric), ("doo_v1_", 20, TokenChars::Alphanumeric),
    ("hvs.", 16, TokenChars::Word), ("hvb.", 16, TokenChars::Word), ("SG.", 30, TokenChars::Dots), ("sq0atp-", 16, TokenChars::Word),
    ("sq0csp-", 16, TokenChars::Word), ("sk_live_", 10, TokenChars::Word), ("sk_test_", 10, TokenChars::Word), ("rk_live_", 10, TokenChars::Word),
    ("rk_test_", 10, TokenChars::Word), ("whsec_", 16, TokenChars::Word), ("shpat_", 16, TokenChars::Alphanumeric), ("shpss_", 16, TokenChars::Alphanumeric),
    ("shpca_", 16, TokenChars::Alphanumeric), ("xoxb-", 10, TokenChars::Word), ("xoxp-", 10, TokenChars::Word), ("xoxa-", 10, TokenChars::Word),
    ("xoxr-", 10, TokenChars::Word), ("xoxs-", 10, TokenChars::Word), ("xoxe.", 10, TokenChars::Dots), ("xapp-", 10, TokenChars::Word),
    ("lin_api_", 16, TokenChars::Alphanumeric), ("figd_", 16, TokenChars::Word), ("ntn_", 30, TokenChars::Alphanumeric), ("pscale_", 30, TokenChars::Word),
    ("AGE-SECRET-KEY-1", 20, TokenChars::Word), ("EAACEdEose0cBA", 10, TokenChars::Word), ("key-", 32, TokenChars::StrictWord),
];

/// Maximum bytes that are examined to distinguish a token from a word.
const MAX_TOKEN_BYTES: usize = 96;

/// Finds a token at the start of the text. Inside a word, only prefixes that no ordinary word has are considered.
pub(super) fn find_token(rest: &str, is_inside_word: bool) -> Option<Range<usize>> {
    let candidates = TOKENS.iter().filter(|(prefix, ..)| rest.starts_with(prefix));
    // Prefer the longest prefix that matches. A token that is too short for it may match a shorter one.
    candidates.filter_map(|known| match_token(rest, known, is_inside_word)).max_by_key(|range| (range.end, range.start))
}

/// Finds the beginning of a token at the start of a word: one that is still being typed, or that is cut. It has at least 4 characters
/// after its prefix, and no word goes on after them.
pub(super) fn find_token_beginning(rest: &str) -> Option<Range<usize>> {
    const MIN_CHARS: usize = 4;
    let (prefix, _, kind) =
        TOKENS.iter().filter(|(prefix, ..)| rest.starts_with(prefix)).max_by_key(|(prefix, ..)| prefix.len())?;
    let suffix = &rest[prefix.len()..];
    let length = prefix_length(suffix, |byte| is_token_byte(*kind, byte));
    let goes_on = suffix.as_bytes().get(length).is_some_and(|byte| is_word_byte(*byte));
    // Words that go on like this one have the same prefix.
    let may_be_word =
        *kind == TokenChars::StrictWord && !(has_digit(&suffix[..length]) && is_mixed_case(&suffix[..length]));
    (length >= MIN_CHARS && !goes_on && !may_be_word).then(|| prefix.len()..prefix.len() + length)
}

fn is_token_byte(kind: TokenChars, byte: u8) -> bool {
    match kind {
        TokenChars::Alphanumeric | TokenChars::Capitals => byte.is_ascii_alphanumeric(),
        TokenChars::Word | TokenChars::StrictWord => is_word_byte(byte),
        TokenChars::Dots => is_word_byte(byte) || byte == b'.',
    }
}

fn match_token(
    rest: &str,
    &(prefix, min_length, kind): &(&str, usize, TokenChars),
    is_inside_word: bool,
) -> Option<Range<usize>> {
    if is_inside_word && kind == TokenChars::StrictWord {
        return None;
    }
    let suffix = &rest[prefix.len()..];
    let is_token_byte = |byte: u8| is_token_byte(kind, byte);
    // Decide by a limited number of bytes, so that a long word that is no token is not read to its end.
    let length = prefix_length(&suffix[..suffix.floor_char_boundary(MAX_TOKEN_BYTES)], is_token_byte);
    let value = &suffix[..length];
    let is_plausible = match kind {
        TokenChars::Alphanumeric | TokenChars::Word | TokenChars::Dots => has_digit(value) || is_mixed_case(value),
        TokenChars::StrictWord => has_digit(value) || length >= 16 && is_mixed_case(value),
        TokenChars::Capitals => {
            length == min_length && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
    };
    (length >= min_length && is_plausible).then(|| prefix.len()..prefix.len() + prefix_length(suffix, is_token_byte))
}

/// Finds a JSON web token: three base64 parts, of which the first two are objects. The last may be missing.
pub(super) fn find_web_token(rest: &str) -> Option<Range<usize>> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let header_length = prefix_length(rest, is_word_byte);
    let payload = rest[header_length..].strip_prefix('.').filter(|text| text.starts_with("eyJ"))?;
    let end = header_length + 1 + prefix_length(payload, is_word_byte);
    let signature_length =
        rest[end..].strip_prefix('.').map_or(0, |signature| 1 + prefix_length(signature, is_word_byte));
    // A header and a payload have more than 20 characters.
    (end > 20).then_some(0..end + signature_length)
}

/// Finds the value after `Bearer` or `Basic` outside a header.
pub(super) fn find_bearer(rest: &str) -> Option<Range<usize>> {
    let starts_with = |scheme: &str| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let value_start = ["bearer ", "basic "].into_iter().find(|scheme| starts_with(scheme))?.len();
    let value = &rest[value_start..];
    let length = prefix_length(value, |byte| is_word_byte(byte) || b".~+/=".contains(&byte));
    let value = &value[..length];
    (length >= 12 && (has_digit(value) || value.ends_with('=') || is_mixed_case(value)))
        .then_some(value_start..value_start + length)
}
