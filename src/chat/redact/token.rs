//! Tokens with a known prefix, JSON web tokens, and values after `Bearer`.

use super::names::{has_digit, is_mixed};
use super::scan::{is_word, run};
use std::ops::Range;

/// Characters after the prefix of a token.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// Letters and digits.
    Letters,
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
const TOKENS: &[(&str, usize, Of)] = &[
    // Models
    ("sk-", 4, Of::Digit), ("sk-ant-", 8, Of::Digit), ("sk-proj-", 8, Of::Digit), ("gsk_", 20, Of::Letters),
    ("xai-", 20, Of::Word), ("hf_", 20, Of::Letters), ("r8_", 20, Of::Letters), ("pplx-", 20, Of::Word),
    ("tvly-", 16, Of::Word), ("csk-", 20, Of::Word), ("AIza", 30, Of::Word), ("ya29.", 20, Of::Word),
    ("nvapi-", 20, Of::Word),
    // Code hosting and packages
    ("ghp_", 20, Of::Letters), ("gho_", 20, Of::Letters), ("ghu_", 20, Of::Letters), ("ghs_", 20, Of::Letters),
    ("ghr_", 20, Of::Letters), ("github_pat_", 20, Of::Word), ("glpat-", 16, Of::Dots), ("glrt-", 16, Of::Dots),
    ("gldt-", 16, Of::Word), ("npm_", 20, Of::Letters), ("pypi-", 40, Of::Digit), ("dckr_pat_", 16, Of::Word),
    ("rubygems_", 20, Of::Letters), ("cio", 40, Of::Digit), ("ATATT3", 20, Of::Word),
    // Clouds and services
    ("AKIA", 16, Of::Capitals), ("ASIA", 16, Of::Capitals), ("dop_v1_", 20, Of::Letters), ("doo_v1_", 20, Of::Letters),
    ("hvs.", 16, Of::Word), ("hvb.", 16, Of::Word), ("SG.", 30, Of::Dots), ("sq0atp-", 16, Of::Word),
    ("sq0csp-", 16, Of::Word), ("sk_live_", 10, Of::Word), ("sk_test_", 10, Of::Word), ("rk_live_", 10, Of::Word),
    ("rk_test_", 10, Of::Word), ("whsec_", 16, Of::Word), ("shpat_", 16, Of::Letters), ("shpss_", 16, Of::Letters),
    ("shpca_", 16, Of::Letters), ("xoxb-", 10, Of::Word), ("xoxp-", 10, Of::Word), ("xoxa-", 10, Of::Word),
    ("xoxr-", 10, Of::Word), ("xoxs-", 10, Of::Word), ("xoxe.", 10, Of::Dots), ("xapp-", 10, Of::Word),
    ("lin_api_", 16, Of::Letters), ("figd_", 16, Of::Word), ("ntn_", 30, Of::Letters), ("pscale_", 30, Of::Word),
    ("AGE-SECRET-KEY-1", 20, Of::Word), ("EAACEdEose0cBA", 10, Of::Word), ("key-", 32, Of::Digit),
];

/// Bytes that are examined to tell a token from a word.
const LONGEST: usize = 96;

/// Finds a token at the start of the text. Inside a word, only prefixes that no ordinary word has are considered.
pub(super) fn token(rest: &str, within: bool) -> Option<Range<usize>> {
    let known = TOKENS.iter().filter(|(start, ..)| rest.starts_with(start));
    // The longest prefix is kept; a token too short for it may match a shorter one.
    known.filter_map(|known| of(rest, known, within)).max_by_key(|found| (found.end, found.start))
}

fn of(rest: &str, &(start, least, of): &(&str, usize, Of), within: bool) -> Option<Range<usize>> {
    if within && of == Of::Digit {
        return None;
    }
    let after = &rest[start.len()..];
    let is = |byte: u8| match of {
        Of::Letters | Of::Capitals => byte.is_ascii_alphanumeric(),
        Of::Word | Of::Digit => is_word(byte),
        Of::Dots => is_word(byte) || byte == b'.',
    };
    // Only the beginning of a word that is no token is read.
    let length = run(&after[..after.floor_char_boundary(LONGEST)], is);
    let value = &after[..length];
    let fits = match of {
        Of::Letters | Of::Dots => has_digit(value) || is_mixed(value),
        Of::Word => has_digit(value) || is_mixed(value),
        Of::Digit => has_digit(value) || length >= 16 && is_mixed(value),
        Of::Capitals => {
            length == least && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
    };
    (length >= least && fits).then(|| start.len()..start.len() + run(after, is))
}

/// Finds a JSON web token: three base64 parts, of which the first two are objects. The last may be missing.
pub(super) fn web_token(rest: &str) -> Option<Range<usize>> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let first = run(rest, is_word);
    let second = rest[first..].strip_prefix('.').filter(|second| second.starts_with("eyJ"))?;
    let end = first + 1 + run(second, is_word);
    let third = rest[end..].strip_prefix('.').map_or(0, |third| 1 + run(third, is_word));
    (end > 20).then_some(0..end + third)
}

/// Finds the value after `Bearer` or `Basic` outside a header.
pub(super) fn bearer(rest: &str) -> Option<Range<usize>> {
    let is = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let from = ["bearer ", "basic "].into_iter().find(|word| is(word))?.len();
    let value = &rest[from..];
    let length = run(value, |byte| is_word(byte) || b".~+/=".contains(&byte));
    let value = &value[..length];
    (length >= 12 && (has_digit(value) || value.ends_with('=') || is_mixed(value)))
        .then_some(from..from + length)
}
