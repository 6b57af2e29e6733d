//! Values that follow the name of a secret: in settings, variables, JSON, code and markup.

use super::names::{
    self, NameClass, REDACTED, classify_name, is_capital, is_name, is_placeholder, is_reference, is_word_of_sentence,
    looks_random,
};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Bytes of a value that are examined to decide whether it is a secret.
const MAX_VALUE_BYTES: usize = 256;
/// Bytes before a name that are examined.
const MAX_BYTES_BEFORE: usize = 64;

/// Start of a value, and its quote with the number of backslashes before it.
#[derive(Clone, Copy)]
pub(super) struct ValuePosition {
    pub(super) begin: usize,
    quote: Option<(u8, usize)>,
}

impl ValuePosition {
    /// Locates the value at this offset.
    pub(super) fn locate(text: &str, at: usize) -> Self {
        let slashes = prefix_length(&text[at..], |byte| byte == b'\\');
        match text.as_bytes().get(at + slashes) {
            Some(&quote @ (b'"' | b'\'' | b'`')) => Self { begin: at + slashes + 1, quote: Some((quote, slashes)) },
            Some(_) | None => Self { begin: at, quote: None },
        }
    }

    pub(super) fn is_quoted(self) -> bool {
        self.quote.is_some()
    }

    /// Returns the beginning of the value, which is examined.
    pub(super) fn preview(self, text: &str) -> &str {
        &text[self.limited_range(text, MAX_VALUE_BYTES)]
    }

    /// Returns the range of the whole value.
    pub(super) fn full_range(self, text: &str) -> Range<usize> {
        self.limited_range(text, usize::MAX)
    }

    fn limited_range(self, text: &str, most: usize) -> Range<usize> {
        let end = text.floor_char_boundary(self.begin.saturating_add(most));
        let within = &text[self.begin..end];
        match self.quote {
            Some((quote, slashes)) => self.begin..self.begin + quoted_length(within, quote, slashes),
            None => {
                let bare = &within[..unquoted_length(within)];
                let ends = [',', ';', ')', ']', '}', '.', ':', '|'];
                let kept = bare.trim_end_matches(ends).len();
                // A value that is already redacted ends with such a character.
                let mark = bare.rfind(REDACTED).map(|at| at + REDACTED.len()).filter(|end| *end > kept);
                self.begin..self.begin + mark.unwrap_or(kept)
            }
        }
    }
}

/// Returns the bytes before the closing quote, or before the end of the line. Quotes inside have more backslashes.
fn quoted_length(text: &str, quote: u8, slashes: usize) -> usize {
    let mut before = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => before += 1,
            b'\n' => return at,
            byte if byte == quote && before <= slashes => return at - before,
            _ => before = 0,
        }
    }
    text.len()
}

/// Returns the bytes of an unquoted value: up to a space, a quote, an escape, or the separator before the next name.
fn unquoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => return at,
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'u' | b'"' | b'\'' | b'\\' | b'\n')) => {
                return at;
            }
            b',' | b';' | b'&' => {
                let name = bytes[at + 1..].iter().take(MAX_BYTES_BEFORE);
                let name = name.take_while(|byte| is_word_byte(**byte) || matches!(byte, b'.' | b' ')).count();
                if name > 0 && bytes.get(at + 1 + name) == Some(&b'=') {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

/// Operator between a name and its value.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    /// `=`, optionally with spaces around it.
    Equals {
        spaced: bool,
    },
    /// `=>`, `:=`, `==`: the value is a secret only in quotes.
    Code,
    Colon,
    /// `(`: the value is a secret only in quotes.
    Call,
}

/// Finds the secret that follows the name at this offset.
pub(super) fn find_named_secret(text: &str, at: usize, length: usize) -> Option<Range<usize>> {
    let (name, after) = (&text[at..at + length], at + length);
    let class = classify_name(name);
    if name.eq_ignore_ascii_case("identified") || class == Some(NameClass::Password) {
        let found = find_spaced_secret(text, at, name, after);
        if found.is_some() {
            return found;
        }
    }
    let class = class?;
    let bytes = text.as_bytes();
    let mut at_sign = after;
    // Skip the closing quote of the name and the end of a subscript.
    let slashes = prefix_length(&text[at_sign..], |byte| byte == b'\\');
    if matches!(bytes.get(at_sign + slashes), Some(b'"' | b'\'' | b'`')) {
        at_sign += slashes + 1;
    }
    let in_quotes = at_sign > after;
    at_sign += usize::from(bytes.get(at_sign) == Some(&b']'));
    let blanks = prefix_length(&text[at_sign..], |byte| matches!(byte, b' ' | b'\t'));
    at_sign += blanks;
    let rest = &text[at_sign..];
    let (sign, width) = match rest.as_bytes() {
        [b'=', b'>', ..] | [b':', b'=', ..] => (Operator::Code, 2),
        [b'=', b'=', ..] => (Operator::Code, 2 + usize::from(rest.starts_with("==="))),
        [b'=', next, ..] => (Operator::Equals { spaced: blanks > 0 || *next == b' ' }, 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Operator::Colon, 1),
        [b'(', ..] => (Operator::Call, 1),
        _ => return None,
    };
    let from = at_sign + width;
    let blanks = |from: usize| from + prefix_length(&text[from..], |byte| matches!(byte, b' ' | b'\t'));
    let mut from = blanks(from);
    if bytes.get(from) == Some(&b'[') && ValuePosition::locate(text, blanks(from + 1)).is_quoted() {
        from = blanks(from + 1);
    }
    let value = ValuePosition::locate(text, from);
    let seen = value.preview(text);
    if seen.is_empty() || is_placeholder(seen) {
        return None;
    }
    let about = NamedValue { text, at, name, class, in_quotes };
    let is_secret =
        if value.is_quoted() { about.is_quoted_secret(sign, seen) } else { about.is_bare_secret(sign, seen, value) };
    is_secret.then(|| value.full_range(text))
}

/// A name and its classification.
struct NamedValue<'a> {
    text: &'a str,
    at: usize,
    name: &'a str,
    class: NameClass,
    in_quotes: bool,
}

impl NamedValue<'_> {
    fn is_quoted_secret(&self, sign: Operator, value: &str) -> bool {
        match (self.class, sign) {
            (_, Operator::Call) => looks_random(value) && !value.contains(' '),
            (NameClass::Password, _) => true,
            (NameClass::Token, _) => value.len() >= 4 && !value.contains(' '),
            (NameClass::Key, _) if matches!(self.name, "key" | "KEY" | "auth" | "Key") => {
                value.len() >= 12 && looks_random(value) && !value.contains([' ', '/'])
            }
            (NameClass::Key, _) => value.len() >= 6 && !value.contains(' '),
        }
    }

    fn is_bare_secret(&self, sign: Operator, value: &str, place: ValuePosition) -> bool {
        let after = &self.text[(place.begin + value.len()).min(self.text.len())..];
        let (spaced, colon) = match sign {
            Operator::Equals { spaced } => (spaced, false),
            Operator::Colon => (true, true),
            Operator::Code | Operator::Call => return false,
        };
        // An expression in code rather than a value in settings.
        let is_call = value.contains(['(', '[']) && !value.starts_with(['(', '[']);
        if is_call || is_reference(value) || value.contains("::") {
            return false;
        }
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        let capital = is_capital(self.name);
        match self.class {
            NameClass::Password if digits => value.len() >= 4,
            _ if digits => false,
            NameClass::Password if looks_random(value) => true,
            NameClass::Password if !spaced && capital => true,
            NameClass::Password => {
                let ends = after.starts_with([',', ';', ')', ']', '}', '.']);
                let more = spaced && has_more_words(after);
                !ends && !more && (!colon || self.begins_line() || self.in_quotes)
            }
            NameClass::Token if capital && !spaced => true,
            NameClass::Key if capital && !spaced => value.len() >= 8 || looks_random(value),
            // A header.
            NameClass::Token | NameClass::Key if colon && self.name.contains('-') => {
                looks_random(value) || !has_more_words(after) && !is_word_of_sentence(value)
            }
            NameClass::Key if matches!(self.name, "key" | "auth" | "Key" | "pass") => false,
            NameClass::Token | NameClass::Key => {
                let shown = value.len() >= 8 && (names::has_digit(value) || names::is_mixed_case(value));
                shown && !(is_name(value) && (value.contains(['.', ':']) || after.starts_with([';', ',', ')'])))
            }
        }
    }

    /// Returns whether only list, quotation or diff markers precede the name on its line.
    fn begins_line(&self) -> bool {
        let from = self.text.floor_char_boundary(self.at.saturating_sub(MAX_BYTES_BEFORE));
        let before = self.text[from..self.at].trim_end_matches([' ', '\t', '+', '-', '>', '#', '*', '|', '"', '\'']);
        from + before.len() == 0 || before.ends_with('\n') || before.ends_with("\\n")
    }
}

/// Returns whether more words follow on the line.
fn has_more_words(after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\t']);
    !(next.is_empty() || next.starts_with(['\n', '\r', '#', '\\', '"', '\'', '`']) || next.starts_with("//"))
}

/// Finds a secret separated from its name by a space: in a netrc file, or in SQL.
fn find_spaced_secret(text: &str, at: usize, name: &str, after: usize) -> Option<Range<usize>> {
    let mut from = after + prefix_length(&text[after..], |byte| matches!(byte, b' ' | b'\t'));
    if from == after {
        return None;
    }
    let before = &text[text.floor_char_boundary(at.saturating_sub(MAX_BYTES_BEFORE))..at];
    if name.eq_ignore_ascii_case("identified") {
        let by = text.get(from..from + 3).filter(|by| by.eq_ignore_ascii_case("by "))?;
        from += by.len();
    }
    let value = ValuePosition::locate(text, from);
    let seen = value.preview(text);
    let is_sql = name != "password" || before.to_ascii_lowercase().ends_with("with ");
    let is_netrc = name == "password" && before.contains("login ") && !value.is_quoted();
    let is_secret = !seen.is_empty() && !is_placeholder(seen);
    let is_sql =
        is_sql && value.is_quoted() && (name == "PASSWORD" || name != name.to_ascii_uppercase() || seen.len() > 3);
    (is_secret && (is_netrc && !is_word_of_sentence(seen) || is_sql)).then(|| value.full_range(text))
}

/// Finds the content of a markup element with the name of a secret.
pub(super) fn find_element_secret(text: &str, at: usize) -> Option<Range<usize>> {
    let length = prefix_length(&text[at + 1..], |byte| is_word_byte(byte) || byte == b'.');
    let name = &text[at + 1..at + 1 + length];
    let class = classify_name(name).filter(|_| text.as_bytes().get(at + 1 + length) == Some(&b'>'))?;
    let from = at + 2 + length;
    let end = prefix_length(&text[from..], |byte| !matches!(byte, b'<' | b'\n'));
    let value = &text[from..from + end.min(text.floor_char_boundary(from + MAX_VALUE_BYTES) - from)];
    let closed = text[from + end..].starts_with("</");
    (closed && !value.is_empty() && !is_placeholder(value) && (class == NameClass::Password || value.len() >= 6))
        .then_some(from..from + end)
}
