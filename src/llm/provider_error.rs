//! Errors that a provider reports, in any known format.

use super::Error;
use crate::text::redaction::redact;
use serde_json::{Map, Value};
use std::time::Duration;

/// Maximum length of an error text from outside, in characters.
pub const MAX_MESSAGE_CHARS: usize = 300;

/// Maximum levels of nested values that are read.
const MAX_DEPTH: u8 = 8;

/// Keys that may hold the error text.
const MESSAGE_KEYS: [&str; 5] = ["message", "msg", "title", "error_message", "status_msg"];
/// Keys that may hold an error code, in order of preference.
const CODE_KEYS: [&str; 6] = ["code", "type", "status", "error_code", "error_type", "status_code"];

/// An error reported by a provider, in any known format.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderError {
    /// HTTP status named in the body, if any.
    pub status: Option<u16>,
    /// Error code or type of the provider.
    pub code: Option<String>,
    /// Error text of the provider.
    pub message: String,
}

impl ProviderError {
    /// Reads an error body, or the value under `error` in a stream.
    pub fn parse(value: &Value) -> Self {
        Self::parse_to_depth(value, MAX_DEPTH)
    }

    /// Reads at most `depth` levels, because the input may be nested maliciously.
    fn parse_to_depth(value: &Value, depth: u8) -> Self {
        let Some(depth) = depth.checked_sub(1) else { return Self::default() };
        match value {
            Value::Array(list) => list.first().map(|first| Self::parse_to_depth(first, depth)).unwrap_or_default(),
            Value::Object(map) => {
                // `null` and `true` contain no inner error.
                let inner = ["error", "errors", "detail", "base_resp", "x_groq"]
                    .iter()
                    .find_map(|key| map.get(*key).filter(|inner| !inner.is_null() && *inner != &Value::Bool(true)));
                let inner = inner.or_else(|| map.get("message").filter(|message| is_nested(message)));
                let inner_error = inner.map(|inner| Self::parse_to_depth(inner, depth)).unwrap_or_default();
                let own_message = MESSAGE_KEYS.iter().find_map(|key| map.get(*key)?.as_str());
                let code = CODE_KEYS.iter().find_map(|key| parse_code(map.get(*key)?));
                let own_status = ["code", "status", "status_code"].iter().find_map(|key| parse_status(map.get(*key)?));
                // A router puts the provider's text into `metadata.raw`, next to its own message.
                let raw = map.get("metadata").and_then(|data| data.get("raw")).and_then(Value::as_str);
                let own_message = [own_message, raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
                let message = match (inner, map.get("message")) {
                    _ if inner_error.message.is_empty() => add_field_name(&redact_message(&own_message), map),
                    // Some providers put a category into `error` and the text next to it.
                    (Some(Value::String(_)), Some(outer @ Value::String(text)))
                        if !is_nested(outer) && *text != inner_error.message =>
                    {
                        redact_message(&format!("{}: {text}", inner_error.message))
                    }
                    _ => inner_error.message,
                };
                Self { status: inner_error.status.or(own_status), code: inner_error.code.or(code), message }
            }
            // Some providers pack JSON of another provider into a string.
            Value::String(text) => match serde_json::from_str(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => Self::parse_to_depth(&inner, depth),
                _ => Self { message: redact_message(text), ..Self::default() },
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::default(),
        }
    }

    /// Reads the text of an error response.
    pub fn parse_body(body: &str) -> Self {
        match super::tolerant_json::parse_json(body) {
            Ok(value) => Self::parse(&value),
            Err(_) if is_html(body) => Self { message: describe_page(body), ..Self::default() },
            Err(_) => Self { message: redact_message(body), ..Self::default() },
        }
    }

    /// Returns code and text in one sentence, for variants of [`Error`] without a field for the code.
    pub fn sentence(&self) -> String {
        match (&self.code, self.message.as_str()) {
            (None, "") => "no reason given".to_owned(),
            (Some(code), "") => code.clone(),
            (None, message) => message.to_owned(),
            (Some(code), message) => format!("{message} ({code})"),
        }
    }

    /// Converts to the error of a reply. Before anything of the reply was shown, an error with a status is treated like
    /// an error response.
    pub fn into_reply_error(self, was_shown: bool) -> Error {
        match self.status {
            Some(status) if !was_shown => self.into_error(status, None),
            _ => Error::InStream(self.sentence()),
        }
    }

    /// Converts to the error of a response with this status.
    pub fn into_error(self, status: u16, retry_after: Option<Duration>) -> Error {
        Error::Provider { status, code: self.code, message: self.message, retry_after }
    }
}

/// Redacts and truncates the provider's text: some providers repeat the key or parts of the request. Redaction comes
/// first so that no part of a key remains.
fn redact_message(text: &str) -> String {
    clip(&redact(text).0, MAX_MESSAGE_CHARS)
}

/// Returns whether a message contains another error body instead of text.
fn is_nested(message: &Value) -> bool {
    match message {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => text.starts_with(['{', '[']),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Appends the request field the error refers to, unless the text already names it.
fn add_field_name(message: &str, map: &Map<String, Value>) -> String {
    let to_text = |part: &Value| part.as_str().map(str::to_owned).or_else(|| Some(part.as_u64()?.to_string()));
    let field = match (map.get("loc"), map.get("param")) {
        (Some(Value::Array(list)), _) => list.iter().filter_map(to_text).collect::<Vec<_>>().join("."),
        (_, Some(param)) => parse_code(param).unwrap_or_default(),
        _ => String::new(),
    };
    let last_part = field.rsplit('.').next().unwrap_or_default();
    let is_named = last_part.is_empty() || message.is_empty() || message.contains(last_part);
    if is_named { message.to_owned() } else { format!("{message} ({})", clip(&field, 100)) }
}

/// Returns the code as text. `None` if it says nothing, or is a number below 1000, such as an HTTP status.
fn parse_code(value: &Value) -> Option<String> {
    let text = match parse_number(value) {
        Some(0..1000) => return None,
        Some(number) => number.to_string(),
        None => clip(value.as_str()?, 60),
    };
    let is_uninformative = ["", "error", "none", "null"].contains(&text.to_ascii_lowercase().as_str());
    (!is_uninformative).then_some(text)
}

fn parse_status(value: &Value) -> Option<u16> {
    u16::try_from(parse_number(value)?).ok().filter(|status| (400..600).contains(status))
}

/// Returns a number, also one in quotes, such as `"429"`.
fn parse_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Formats text on one line without control characters, truncated to `max_chars` characters.
pub fn clip(text: &str, max_chars: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Returns whether the body is a web page, which a reverse proxy may send in place of the provider's response.
pub fn is_html(body: &str) -> bool {
    let prefix: String = body.trim_start_matches('\u{feff}').trim_start().chars().take(15).collect();
    let prefix = prefix.to_ascii_lowercase();
    prefix.starts_with("<!doctype") || prefix.starts_with("<html") || prefix.starts_with("<head")
}

/// Describes a web page by its title. Its content is never shown.
pub fn describe_page(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let end = start + lower[start..].find("</title>")?;
        Some(clip(&redact(&body[start..end]).0, 80))
    });
    match title {
        Some(title) if !title.is_empty() => format!("the server sent a web page titled “{title}”"),
        _ => "the server sent a web page".to_owned(),
    }
}

#[cfg(test)]
mod tests;
