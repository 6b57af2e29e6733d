//! Secrets of known forms, redacted from text that leaves the session: exports, bundles, the journal, the simulator.
//!
//! A secret is found by its own form or by the name before it. A secret that looks like an ordinary word is not found.

mod assignment;
mod command;
mod header;
mod names;
mod private_key;
mod scan;
mod token;
mod url;
mod visible;
mod word_bytes;

use scan::ScanState;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

pub use names::{REDACTED, is_secret_name};

/// Maximum number of passes after the first one. A replacement may form a new secret with the text around it, so the
/// text is scanned again.
const MAX_PASSES: usize = 6;

/// Redacts a text; also returns the number of secrets in it.
///
/// Escape sequences and invisible characters within a secret do not hide it. Without a secret the text is unchanged.
pub fn redact(text: &str) -> (Cow<'_, str>, usize) {
    Redactor::default().redact(text)
}

/// Returns the byte ranges of the secrets in a text, in order and without overlaps.
pub fn find_secret_ranges(text: &str) -> Vec<Range<usize>> {
    find_secrets(text, ScanState::default()).0
}

/// Returns the byte ranges of what may become a secret if the text goes on: a token with a known prefix, the password
/// in a URL, or the content of a markup element.
/// Ordinary words may be among them.
pub fn find_secret_beginnings(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut last = ' ';
    let mut found = Vec::new();
    for (start, c) in text.char_indices() {
        if is_word(c)
            && !is_word(last)
            && let Some(range) = token::find_token_beginning(&text[start..])
        {
            found.push(start + range.start..start + range.end);
        }
        match c {
            ':' => found.extend(url::find_password_beginning(text, start)),
            '<' => found.extend(assignment::find_element_beginning(text, start)),
            _ => {}
        }
        last = c;
    }
    found
}

/// Redacts consecutive texts, such as the lines of a file: a secret may begin in one and end in another.
#[derive(Debug, Default)]
pub struct Redactor {
    state: ScanState,
}

impl Redactor {
    /// Redacts the next text; also returns the number of secrets in it.
    pub fn redact<'a>(&mut self, text: &'a str) -> (Cow<'a, str>, usize) {
        let start_state = self.state;
        let (secrets, end_state) = find_secrets(text, start_state);
        self.state = end_state;
        let mut count = secrets.len();
        if secrets.is_empty() {
            return (Cow::Borrowed(text), 0);
        }
        let mut redacted = replace_ranges(text, &secrets);
        for _ in 0..MAX_PASSES {
            let (secrets, _) = find_secrets(&redacted, start_state);
            if secrets.is_empty() {
                break;
            }
            count += secrets.len();
            redacted = replace_ranges(&redacted, &secrets);
        }
        (Cow::Owned(redacted), count)
    }

    /// Redacts secrets in the strings of a JSON value, and every string under the name of a secret, but no numbers. If
    /// `schema`, the JSON schema of the value, is known, fields that it marks as `writeOnly` or `password` are redacted
    /// whatever their type. Returns the number of secrets.
    pub fn redact_json(&mut self, value: &mut Value, schema: Option<&Value>) -> usize {
        match value {
            Value::String(text) => {
                let (redacted, count) = self.redact(text);
                if count > 0 {
                    *text = redacted.into_owned();
                }
                count
            }
            Value::Array(items) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                let mut count = 0;
                for index in 0..items.len() {
                    // Arguments of a program: an option followed by its value.
                    let option = index.checked_sub(1).and_then(|previous| items[previous].as_str());
                    let is_secret = option.is_some_and(command::is_secret_option);
                    count += match is_secret && items[index].as_str().is_some_and(|text| text != REDACTED) {
                        true => redact_value(&mut items[index]),
                        false => self.redact_json(&mut items[index], schema),
                    };
                }
                count
            }
            Value::Object(fields) => {
                let mut count = 0;
                for (name, value) in fields {
                    let schema = schema.and_then(|schema| schema["properties"].get(name));
                    let has_property =
                        |key: &str, expected: &Value| schema.is_some_and(|schema| schema.get(key) == Some(expected));
                    let is_declared_secret =
                        has_property("writeOnly", &Value::Bool(true)) || has_property("format", &"password".into());
                    count += match (is_declared_secret, is_secret_name(name)) {
                        (true, _) if *value != REDACTED => redact_value(value),
                        (_, true) => redact_strings(value),
                        // Declared as a secret, but redacted before.
                        (true, false) => 0,
                        (false, false) => self.redact_json(value, schema),
                    };
                }
                count
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
}

/// Redacts every string in the value of a field with the name of a secret, except empty ones and placeholders. Returns
/// their number.
fn redact_strings(value: &mut Value) -> usize {
    match value {
        Value::String(text) if text.is_empty() || names::is_placeholder(text) => 0,
        Value::String(_) => redact_value(value),
        Value::Array(items) => items.iter_mut().map(redact_strings).sum(),
        Value::Object(fields) => fields.values_mut().map(redact_strings).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Redacts a value. Returns the number of secrets, which is always 1.
fn redact_value(value: &mut Value) -> usize {
    *value = Value::String(REDACTED.to_owned());
    1
}

/// Finds the secrets of a text, including those that are visible only without its escape sequences and invisible
/// characters. The ranges are in order and do not overlap.
fn find_secrets(text: &str, state: ScanState) -> (Vec<Range<usize>>, ScanState) {
    let (mut secrets, mut end_state) = scan::scan_text(text, state);
    if let Some(visible_text) = visible::Visible::new(text) {
        let (visible_secrets, visible_end_state) = scan::scan_text(&visible_text.text, state);
        end_state.in_private_key |= visible_end_state.in_private_key;
        end_state.program = end_state.program.or(visible_end_state.program);
        secrets.extend(visible_secrets.into_iter().map(|range| visible_text.original_range(&range)));
        secrets.sort_by_key(|range| (range.start, range.end));
        secrets = merge_ranges(secrets);
    }
    secrets.retain(|range| !range.is_empty() && &text[range.clone()] != REDACTED);
    (secrets, end_state)
}

/// Merges overlapping ranges of a sorted list.
fn merge_ranges(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn replace_ranges(text: &str, secrets: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut position = 0;
    for range in secrets {
        out.push_str(&text[position..range.start]);
        out.push_str(REDACTED);
        position = range.end;
    }
    out.push_str(&text[position..]);
    out
}

#[cfg(test)]
mod tests;
