//! Tolerant JSON parsing for common deviations of providers.

use serde_json::{Map, Value};

/// Offset that moves unpaired surrogates, which JSON can escape and text cannot contain, into the last private use
/// plane. `SurrogateJoiner` joins or replaces them.
const SURROGATE_OFFSET: u32 = 0x10_0000;

/// Parses JSON and, if that fails, repairs it first: NaN, infinities and out-of-range numbers become null, raw control
/// characters and invalid escapes become text, and unpaired surrogates become characters for `SurrogateJoiner`.
///
/// # Errors
/// Returns the error of the original text if it cannot be repaired, mainly if it is incomplete.
pub fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| serde_json::from_str(&repair_json(text)).map_err(|_| error))
}

/// Returns whether a text is a JSON object, without any repair.
pub fn is_json_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Repairs common errors in JSON text. An incomplete text stays incomplete.
pub fn repair_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut remaining = text;
    let mut is_in_string = false;
    while let Some(c) = remaining.chars().next() {
        let length = match c {
            '"' => {
                is_in_string = !is_in_string;
                out.push(c);
                1
            }
            '\\' if is_in_string => repair_escape(remaining, &mut out),
            c if is_in_string && u32::from(c) < 0x20 => {
                match c {
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                }
                1
            }
            'N' | 'I' | '-' | '0'..='9' if !is_in_string => repair_number(remaining, &mut out),
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        remaining = &remaining[length..];
    }
    out
}

/// Writes the escape at the start of `text` and returns its length in bytes.
fn repair_escape(text: &str, out: &mut String) -> usize {
    match text.as_bytes().get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            out.push_str(&text[..2]);
            2
        }
        Some(b'u') => match parse_unicode_escape(text) {
            Some(0xd800..=0xdbff)
                if text.get(6..).and_then(parse_unicode_escape).is_some_and(|low| (0xdc00..=0xdfff).contains(&low)) =>
            {
                out.push_str(&text[..12]);
                12
            }
            Some(half @ 0xd800..=0xdfff) => {
                out.extend(char::from_u32(SURROGATE_OFFSET + half));
                6
            }
            Some(_) => {
                out.push_str(&text[..6]);
                6
            }
            None => escape_backslash(out),
        },
        Some(_) => escape_backslash(out),
        None => {
            out.push('\\');
            1
        }
    }
}

/// Writes an escaped backslash for the backslash of an invalid escape, and returns the latter's length in bytes.
fn escape_backslash(out: &mut String) -> usize {
    out.push_str("\\\\");
    1
}

/// Parses the `\u` escape with four digits at the start of the text.
fn parse_unicode_escape(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Writes the number or word at the start of `text`, or null if it is not a valid number, and returns its length in
/// bytes.
fn repair_number(text: &str, out: &mut String) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).unwrap_or(text.len());
    let token = &text[..end];
    let is_valid = token.parse::<f64>().is_ok_and(f64::is_finite);
    out.push_str(if is_valid { token } else { "null" });
    end
}

/// Joins surrogate halves that arrive in separate pieces of text. An unpaired half becomes U+FFFD.
#[derive(Debug, Default)]
pub struct SurrogateJoiner {
    high: Option<u32>,
}

impl SurrogateJoiner {
    /// Converts more text. A trailing high surrogate is held back.
    pub fn convert(&mut self, text: &str) -> String {
        if self.high.is_none() && !text.contains(is_surrogate_half) {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            let half = is_surrogate_half(c).then(|| u32::from(c) - SURROGATE_OFFSET);
            match (self.high.take(), half) {
                (Some(high), Some(low @ 0xdc00..)) => {
                    out.extend(char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
                    continue;
                }
                (Some(_), _) => out.push(char::REPLACEMENT_CHARACTER),
                (None, _) => {}
            }
            match half {
                Some(high @ ..0xdc00) => self.high = Some(high),
                Some(_) => out.push(char::REPLACEMENT_CHARACTER),
                None => out.push(c),
            }
        }
        out
    }

    /// Converts a complete text.
    pub fn convert_all(text: &str) -> String {
        let mut joiner = Self::default();
        let mut joined = joiner.convert(text);
        joined.extend(joiner.finish());
        joined
    }

    /// Returns the replacement of a held-back half at the end of the text.
    pub fn finish(&mut self) -> Option<&'static str> {
        self.high.take().map(|_| "\u{fffd}")
    }
}

fn is_surrogate_half(c: char) -> bool {
    matches!(c, '\u{10d800}'..='\u{10dfff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn join_pieces(pieces: &[&str]) -> String {
        let mut joiner = SurrogateJoiner::default();
        let mut out: String = pieces
            .iter()
            .map(|piece| joiner.convert(parse_json(&format!("\"{piece}\"")).unwrap().as_str().unwrap()))
            .collect();
        out.extend(joiner.finish());
        out
    }

    #[test]
    fn r48_common_json_errors_are_repaired() {
        for (text, value) in [
            (
                r#"{"a": NaN, "b": [-Infinity, Infinity, 1e999, 1.5e3]}"#,
                json!({"a": null, "b": [null, null, null, 1500.0]}),
            ),
            ("{\"a\": \"NaN \u{1}\n \\d \\u12\"}", json!({"a": "NaN \u{1}\n \\d \\u12"})),
            (r#"{"\n\"NaN": -1, "x": NaN}"#, json!({"\n\"NaN": -1, "x": null})),
            ("NaN", json!(null)),
        ] {
            assert_eq!(parse_json(text).unwrap(), value, "{text}");
        }
        for unrepairable in ["{\"a\": \"NaN", "{\"a\": NaN", "", "{\"a\": \"\\", "{\"a\": \"\\u12", "words", "[1,]"] {
            assert!(parse_json(unrepairable).is_err(), "{unrepairable}");
        }
    }

    #[test]
    fn r48_surrogate_halves_are_joined() {
        for (pieces, text) in [
            (&["a\\ud83d", "\\ude00b"][..], "a😀b"),
            (&["\\ud83d\\ude00"], "😀"),
            (&["\\ud83d", "", "\\ude00"], "😀"),
            (&["\\ud83d", "a", "\\ude00"], "\u{fffd}a\u{fffd}"),
            (&["\\ud83d\\ud83d\\ude00"], "\u{fffd}😀"),
            (&["\\ude00\\ud83d"], "\u{fffd}\u{fffd}"),
            (&["\\\\ud83d"], "\\ud83d"),
        ] {
            assert_eq!(join_pieces(pieces), text, "{pieces:?}");
        }
    }

    proptest! {
        #[test]
        fn r64_repairing_never_panics_or_changes_valid_json(text in r#"[\[\]{}":,\\u0-9a-fD\-NI 中\n]{0,24}"#) {
            let strict = serde_json::from_str::<Value>(&text);
            let lenient = parse_json(&text);
            if let Ok(value) = strict {
                prop_assert_eq!(lenient.unwrap(), value);
            }
        }
    }
}
