//! Values that follow the name of a secret: in settings, variables, JSON, code and markup.

use super::names::{
    self, NameClass, REDACTED, classify_name, is_capital, is_name, is_placeholder, is_reference, is_word_of_sentence,
    looks_random,
};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Maximum bytes of a value that are examined to decide whether it is a secret.
const MAX_VALUE_BYTES: usize = 256;
/// Maximum bytes before a name that are examined.
const MAX_BYTES_BEFORE: usize = 64;
/// Maximum bytes of a name after a separator in an unquoted value.
const MAX_NAME_BYTES: usize = 64;

/// Start of a value, and its quote with the number of backslashes before it.
#[derive(Clone, Copy)]
pub(super) struct ValuePosition {
    pub(super) start: usize,
    quote: Option<(u8, usize)>,
}

impl ValuePosition {
    /// Locates the value at this offset.
    pub(super) fn locate(text: &str, position: usize) -> Self {
        let slashes = prefix_length(&text[position..], |byte| byte == b'\\');
        match text.as_bytes().get(position + slashes) {
            Some(&quote @ (b'"' | b'\'' | b'`')) => {
                Self { start: position + slashes + 1, quote: Some((quote, slashes)) }
            }
            Some(_) | None => Self { start: position, quote: None },
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

    fn limited_range(self, text: &str, max_bytes: usize) -> Range<usize> {
        let end = text.floor_char_boundary(self.start.saturating_add(max_bytes));
        let value = &text[self.start..end];
        match self.quote {
            Some((quote, slashes)) => self.start..self.start + quoted_length(value, quote, slashes),
            None => {
                let unquoted = &value[..unquoted_length(value)];
                let trailing = [',', ';', ')', ']', '}', '.', ':', '|'];
                let trimmed_length = unquoted.trim_end_matches(trailing).len();
                // A value that is already redacted ends with such a character.
                let redacted_end = unquoted
                    .rfind(REDACTED)
                    .map(|position| position + REDACTED.len())
                    .filter(|end| *end > trimmed_length);
                self.start..self.start + redacted_end.unwrap_or(trimmed_length)
            }
        }
    }
}

/// Returns the number of bytes before the closing quote, or before the line end. Inner quotes have more backslashes.
fn quoted_length(text: &str, quote: u8, slashes: usize) -> usize {
    let mut backslashes = 0;
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => return position,
            byte if byte == quote && backslashes <= slashes => return position - backslashes,
            _ => backslashes = 0,
        }
    }
    text.len()
}

/// Returns the length of an unquoted value in bytes: up to a space, quote, escape, or separator before the next name.
fn unquoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        match bytes[position] {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => return position,
            b'\\'
                if matches!(
                    bytes.get(position + 1),
                    Some(b'n' | b'r' | b't' | b'u' | b'"' | b'\'' | b'\\' | b'\n')
                ) =>
            {
                return position;
            }
            b',' | b';' | b'&' => {
                let name_bytes = bytes[position + 1..].iter().take(MAX_NAME_BYTES);
                let name_length =
                    name_bytes.take_while(|byte| is_word_byte(**byte) || matches!(byte, b'.' | b' ')).count();
                if name_length > 0 && bytes.get(position + 1 + name_length) == Some(&b'=') {
                    return position;
                }
            }
            _ => {}
        }
        position += 1;
    }
    position
}

/// Operator between a name and its value.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    /// `=`, optionally with spaces around it.
    Equals {
        is_spaced: bool,
    },
    /// `=>`, `:=`, `==`: the value is a secret only in quotes.
    Code,
    Colon,
    /// `(`: the value is a secret only in quotes.
    Call,
}

/// Finds the secret that follows the name at this offset.
pub(super) fn find_named_secret(text: &str, name_start: usize, length: usize) -> Option<Range<usize>> {
    let (name, name_end) = (&text[name_start..name_start + length], name_start + length);
    let class = classify_name(name);
    if name.eq_ignore_ascii_case("identified") || class == Some(NameClass::Password) {
        let spaced_secret = find_spaced_secret(text, name_start, name, name_end);
        if spaced_secret.is_some() {
            return spaced_secret;
        }
    }
    let class = class?;
    let bytes = text.as_bytes();
    let mut position = name_end;
    // Skip the closing quote of the name and the end of a subscript.
    let slashes = prefix_length(&text[position..], |byte| byte == b'\\');
    if matches!(bytes.get(position + slashes), Some(b'"' | b'\'' | b'`')) {
        position += slashes + 1;
    }
    let is_quoted_name = position > name_end;
    position += usize::from(bytes.get(position) == Some(&b']'));
    let blank_count = prefix_length(&text[position..], |byte| matches!(byte, b' ' | b'\t'));
    position += blank_count;
    let remaining = &text[position..];
    let (operator, operator_length) = match remaining.as_bytes() {
        [b'=', b'>', ..] | [b':', b'=', ..] => (Operator::Code, 2),
        [b'=', b'=', ..] => (Operator::Code, 2 + usize::from(remaining.starts_with("==="))),
        [b'=', next, ..] => (Operator::Equals { is_spaced: blank_count > 0 || *next == b' ' }, 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Operator::Colon, 1),
        [b'(', ..] => (Operator::Call, 1),
        _ => return None,
    };
    let after_operator = position + operator_length;
    let skip_blanks = |from: usize| from + prefix_length(&text[from..], |byte| matches!(byte, b' ' | b'\t'));
    let mut value_start = skip_blanks(after_operator);
    if bytes.get(value_start) == Some(&b'[') && ValuePosition::locate(text, skip_blanks(value_start + 1)).is_quoted() {
        value_start = skip_blanks(value_start + 1);
    }
    let value = ValuePosition::locate(text, value_start);
    let preview = value.preview(text);
    if preview.is_empty() || is_placeholder(preview) {
        return None;
    }
    let named_value = NamedValue { text, name_start, name, class, is_quoted_name };
    let is_secret = if value.is_quoted() {
        named_value.is_quoted_secret(operator, preview)
    } else {
        named_value.is_bare_secret(operator, preview, value)
    };
    is_secret.then(|| value.full_range(text))
}

/// A name and its classification.
struct NamedValue<'a> {
    text: &'a str,
    name_start: usize,
    name: &'a str,
    class: NameClass,
    is_quoted_name: bool,
}

impl NamedValue<'_> {
    fn is_quoted_secret(&self, operator: Operator, value: &str) -> bool {
        match (self.class, operator) {
            (_, Operator::Call) => looks_random(value) && !value.contains(' '),
            (NameClass::Password, _) => true,
            (NameClass::Token, _) => value.len() >= 4 && !value.contains(' '),
            (NameClass::Key, _) if matches!(self.name, "key" | "KEY" | "auth" | "Key") => {
                value.len() >= 12 && looks_random(value) && !value.contains([' ', '/'])
            }
            (NameClass::Key, _) => value.len() >= 6 && !value.contains(' '),
        }
    }

    fn is_bare_secret(&self, operator: Operator, value: &str, position: ValuePosition) -> bool {
        let following = &self.text[(position.start + value.len()).min(self.text.len())..];
        let (is_spaced, is_colon) = match operator {
            Operator::Equals { is_spaced: spaced } => (spaced, false),
            Operator::Colon => (true, true),
            Operator::Code | Operator::Call => return false,
        };
        // An expression in code rather than a value in settings.
        let is_call = value.contains(['(', '[']) && !value.starts_with(['(', '[']);
        if is_call || is_reference(value) || value.contains("::") {
            return false;
        }
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let is_capital_name = is_capital(self.name);
        match self.class {
            NameClass::Password if is_number => value.len() >= 4,
            _ if is_number => false,
            NameClass::Password if looks_random(value) => true,
            NameClass::Password if !is_spaced && is_capital_name => true,
            NameClass::Password => {
                let is_followed_by_separator = following.starts_with([',', ';', ')', ']', '}', '.']);
                let is_followed_by_words = is_spaced && has_more_words(following);
                !is_followed_by_separator
                    && !is_followed_by_words
                    && (!is_colon || self.is_at_line_start() || self.is_quoted_name)
            }
            NameClass::Token if is_capital_name && !is_spaced => true,
            NameClass::Key if is_capital_name && !is_spaced => value.len() >= 8 || looks_random(value),
            // The name of an HTTP header.
            NameClass::Token | NameClass::Key if is_colon && self.name.contains('-') => {
                looks_random(value) || !has_more_words(following) && !is_word_of_sentence(value)
            }
            NameClass::Key if matches!(self.name, "key" | "auth" | "Key" | "pass") => false,
            NameClass::Token | NameClass::Key => {
                let is_likely_secret = value.len() >= 8 && (names::has_digit(value) || names::is_mixed_case(value));
                is_likely_secret
                    && !(is_name(value) && (value.contains(['.', ':']) || following.starts_with([';', ',', ')'])))
            }
        }
    }

    /// Returns whether only list, quotation or diff markers precede the name on its line.
    fn is_at_line_start(&self) -> bool {
        let start = self.text.floor_char_boundary(self.name_start.saturating_sub(MAX_BYTES_BEFORE));
        let prefix =
            self.text[start..self.name_start].trim_end_matches([' ', '\t', '+', '-', '>', '#', '*', '|', '"', '\'']);
        start + prefix.len() == 0 || prefix.ends_with('\n') || prefix.ends_with("\\n")
    }
}

/// Returns whether more words follow on the line.
fn has_more_words(following: &str) -> bool {
    let trimmed = following.trim_start_matches([' ', '\t']);
    !(trimmed.is_empty() || trimmed.starts_with(['\n', '\r', '#', '\\', '"', '\'', '`']) || trimmed.starts_with("//"))
}

/// Finds a secret separated from its name by a space: in a netrc file, or in SQL.
fn find_spaced_secret(text: &str, name_start: usize, name: &str, name_end: usize) -> Option<Range<usize>> {
    let mut value_start = name_end + prefix_length(&text[name_end..], |byte| matches!(byte, b' ' | b'\t'));
    if value_start == name_end {
        return None;
    }
    let preceding = &text[text.floor_char_boundary(name_start.saturating_sub(MAX_BYTES_BEFORE))..name_start];
    if name.eq_ignore_ascii_case("identified") {
        let keyword = text.get(value_start..value_start + 3).filter(|by| by.eq_ignore_ascii_case("by "))?;
        value_start += keyword.len();
    }
    let value = ValuePosition::locate(text, value_start);
    let preview = value.preview(text);
    // A lower-case `password` belongs to SQL only after `with`.
    let may_be_sql = name != "password" || preceding.to_ascii_lowercase().ends_with("with ");
    let is_netrc = name == "password" && preceding.contains("login ") && !value.is_quoted();
    let is_secret = !preview.is_empty() && !is_placeholder(preview);
    // After an upper-case name other than `PASSWORD`, as in `IDENTIFIED BY 'or'`, the value must exceed 3 bytes.
    let is_sql = may_be_sql
        && value.is_quoted()
        && (name == "PASSWORD" || name != name.to_ascii_uppercase() || preview.len() > 3);
    (is_secret && (is_netrc && !is_word_of_sentence(preview) || is_sql)).then(|| value.full_range(text))
}

/// Finds the content of a markup element with the name of a secret.
pub(super) fn find_element_secret(text: &str, tag_start: usize) -> Option<Range<usize>> {
    let (class, content) = find_element_content(text, tag_start)?;
    let value = &text[content.start..content.end.min(text.floor_char_boundary(content.start + MAX_VALUE_BYTES))];
    let is_closed = text[content.end..].starts_with("</");
    (is_closed && !value.is_empty() && !is_placeholder(value) && (class == NameClass::Password || value.len() >= 6))
        .then_some(content)
}

/// Finds the content of such an element that is not closed yet. Words after a name in angle brackets are no content.
pub(super) fn find_element_beginning(text: &str, tag_start: usize) -> Option<Range<usize>> {
    let (_, content) = find_element_content(text, tag_start)?;
    let value = &text[content.clone()];
    (!value.is_empty() && !value.contains(char::is_whitespace)).then_some(content)
}

/// Returns the class of the name of a markup element, and its content up to the next tag or line.
fn find_element_content(text: &str, tag_start: usize) -> Option<(NameClass, Range<usize>)> {
    let name_length = prefix_length(&text[tag_start + 1..], |byte| is_word_byte(byte) || byte == b'.');
    let name = &text[tag_start + 1..tag_start + 1 + name_length];
    let class = classify_name(name).filter(|_| text.as_bytes().get(tag_start + 1 + name_length) == Some(&b'>'))?;
    let start = tag_start + 2 + name_length;
    let length = prefix_length(&text[start..], |byte| !matches!(byte, b'<' | b'\n'));
    Some((class, start..start + length))
}
