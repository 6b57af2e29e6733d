//! Errors of a provider: reads its error bodies and classifies connection errors.

use super::proxy::ProxyRoute;
use super::response_body::Body;
use super::{Error, address, address_advice, retry_after, tls};
use crate::text::redaction::redact;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value};
use std::error::Error as _;
use std::time::Duration;

/// Maximum bytes of an error body that are read.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Maximum length of the provider's error text, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

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
        Self::parse_to_depth(value, 8)
    }

    /// Reads at most `depth` levels, because the input may be nested maliciously.
    fn parse_to_depth(value: &Value, depth: u8) -> Self {
        let Some(depth) = depth.checked_sub(1) else { return Self::default() };
        match value {
            Value::Array(list) => list.first().map(|first| Self::parse_to_depth(first, depth)).unwrap_or_default(),
            Value::Object(map) => {
                let inner = ["error", "errors", "detail", "base_resp", "x_groq"]
                    .iter()
                    .find_map(|key| map.get(*key).filter(|inner| !inner.is_null() && *inner != &Value::Bool(true)));
                let inner = inner.or_else(|| map.get("message").filter(|words| is_nested(words)));
                let below = inner.map(|inner| Self::parse_to_depth(inner, depth)).unwrap_or_default();
                let own = MESSAGE_KEYS.iter().find_map(|key| map.get(*key)?.as_str());
                let code = CODE_KEYS.iter().find_map(|key| parse_code(map.get(*key)?));
                let number = ["code", "status", "status_code"].iter().find_map(|key| parse_status(map.get(*key)?));
                // A router puts the provider's text below its own.
                let raw = map.get("metadata").and_then(|data| data.get("raw")).and_then(Value::as_str);
                let own = [own, raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
                let words =
                    if below.message.is_empty() { add_field_name(&redact_message(&own), map) } else { below.message };
                Self { status: below.status.or(number), code: below.code.or(code), message: words }
            }
            // Some providers pack JSON of another provider into a string.
            Value::String(words) => match serde_json::from_str(words) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => Self::parse_to_depth(&inner, depth),
                _ => Self { message: redact_message(words), ..Self::default() },
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::default(),
        }
    }

    fn parse_body(body: &str) -> Self {
        match super::tolerant_json::parse_json(body) {
            Ok(value) => Self::parse(&value),
            Err(_) if looks_like_html(body) => Self { message: describe_page(body), ..Self::default() },
            Err(_) => Self { message: redact_message(body), ..Self::default() },
        }
    }

    /// Returns code and text in one sentence, for errors without a separate code.
    pub fn sentence(&self) -> String {
        match (&self.code, self.message.as_str()) {
            (None, "") => "no reason given".to_owned(),
            (Some(code), "") => code.clone(),
            (None, words) => words.to_owned(),
            (Some(code), words) => format!("{words} ({code})"),
        }
    }

    /// Converts the fault into the error of a response with this status.
    pub fn into_error(self, status: u16, retry_after: Option<Duration>) -> Error {
        Error::Provider { status, code: self.code, message: self.message, retry_after }
    }
}

/// Redacts and truncates the provider's text: some providers repeat the key or parts of the request. Redaction comes
/// first so that no part of a key remains.
fn redact_message(words: &str) -> String {
    clip(&redact(words).0, MAX_MESSAGE_CHARS)
}

/// Returns whether a message contains another error body instead of text.
fn is_nested(words: &Value) -> bool {
    match words {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => text.starts_with(['{', '[']),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Appends the request field the error refers to, unless the text already names it.
fn add_field_name(words: &str, map: &Map<String, Value>) -> String {
    let part = |part: &Value| part.as_str().map(str::to_owned).or_else(|| Some(part.as_u64()?.to_string()));
    let place = match (map.get("loc"), map.get("param")) {
        (Some(Value::Array(list)), _) => list.iter().filter_map(part).collect::<Vec<_>>().join("."),
        (_, Some(param)) => parse_code(param).unwrap_or_default(),
        _ => String::new(),
    };
    let last = place.rsplit('.').next().unwrap_or_default();
    let named = last.is_empty() || words.is_empty() || words.contains(last);
    if named { words.to_owned() } else { format!("{words} ({})", clip(&place, 100)) }
}

/// Returns an informative code. A number counts only if it is not an HTTP status.
fn parse_code(value: &Value) -> Option<String> {
    // A status in quotes is not a code either.
    let text = match value {
        Value::Number(number) if number.as_u64().is_some_and(|code| code >= 1000) => number.to_string(),
        value if parse_status(value).is_some() => return None,
        value => clip(value.as_str()?, 60),
    };
    let says_nothing = ["", "error", "none", "null"].contains(&text.to_ascii_lowercase().as_str());
    (!says_nothing).then_some(text)
}

fn parse_status(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// Returns the error of a redirect.
pub fn redirect_error(status: u16, headers: &HeaderMap, url: &Url) -> Error {
    let to = headers.get("location").and_then(|to| to.to_str().ok()).and_then(|to| url.join(to).ok());
    let words = match to {
        Some(to) => format!(
            "its new address is {}. The redirect was not followed, to protect the key. Set `base_url` to that address",
            address::format_origin(&to)
        ),
        None => "it gave no new address".to_owned(),
    };
    Error::Provider { status, code: None, message: words, retry_after: None }
}

/// Reads an error response. The body is read for ten seconds at most because the status alone is enough for an error.
pub async fn read_error_response(
    status: u16,
    headers: &HeaderMap,
    body: Option<Body>,
    url: &Url,
    proxy: Option<&ProxyRoute>,
) -> Error {
    let retry_after = retry_after::parse_requested_wait(status, headers, jiff::Timestamp::now());
    let words = match body {
        Some(mut body) => body.peek_start(MAX_BODY_BYTES, Duration::from_secs(10)).await,
        None => String::new(),
    };
    let fault = ProviderError::parse_body(&words);
    let is_json = super::tolerant_json::parse_json(&words).is_ok();
    let of_proxy = proxy.and_then(|proxy| proxy.explain_response(status, &fault.message, is_json, url));
    let other = of_proxy.or_else(|| address_advice::tls_port_error(status, &words, url));
    other.unwrap_or_else(|| fault.into_error(status, retry_after))
}

/// Cause of a connection error if there was no response in time.
pub const NO_RESPONSE: &str = "it does not answer";
/// Prefix of the cause if the host name cannot be resolved.
pub const UNKNOWN_HOST: &str = "cannot resolve the host ";
/// Prefix of the cause if the server closed the connection before it sent anything.
pub const CONNECTION_CLOSED: &str = "the server closed the connection";

/// Returns the error of a request without a response.
pub async fn connection_error(error: &reqwest::Error, url: &Url, proxy: Option<&ProxyRoute>) -> Error {
    let origin = address::format_origin(url);
    if let Some(tls) = causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        if let rustls::Error::InvalidMessage(_) = tls {
            return address_advice::not_tls_error(url);
        }
        if let Some(cause) = tls::explain_tls_error(tls) {
            return Error::Untrusted { origin, cause: clip(&cause, MAX_MESSAGE_CHARS) };
        }
    }
    // Causes are truncated because they may contain text from a proxy.
    let said: Vec<String> =
        causes(error).map(|cause| clip(strip_error_number(&cause.to_string()), MAX_MESSAGE_CHARS)).collect();
    if let Some(proxy) = proxy.filter(|_| error.is_connect())
        && let Some(error) = proxy.explain_error(error, &said, url).await
    {
        return error;
    }
    let cause = if error.is_timeout() { NO_RESPONSE.to_owned() } else { innermost_cause(error) };
    let cause = match cause.as_str() {
        // hyper reports this for the first bytes of TLS, among others.
        words if url.scheme() == "http" && words.contains("HTTP version") => {
            return address_advice::not_http_error(url);
        }
        "connection closed before message completed" => {
            format!("{CONNECTION_CLOSED} before the response was complete")
        }
        "tls handshake eof" => format!("{CONNECTION_CLOSED} before TLS was set up"),
        words if said.iter().any(|said| said == "dns error") => {
            format!("{UNKNOWN_HOST}{} ({words})", url.host_str().unwrap_or_default())
        }
        _ => cause,
    };
    // Only connection errors are distinguished; a later reset, close or protocol error is a missing response.
    if error.is_connect() { Error::Unreachable { origin, cause } } else { Error::NoResponse { origin, cause } }
}

/// Returns the last cause in the chain, which is the most specific one.
pub fn innermost_cause(error: &reqwest::Error) -> String {
    let last = causes(error).last().map(ToString::to_string);
    clip(strip_error_number(&last.unwrap_or_else(|| error.to_string())), MAX_MESSAGE_CHARS)
}

/// Removes the OS error number from a system error text.
fn strip_error_number(words: &str) -> &str {
    words.split_once(" (os error").map_or(words, |(words, _)| words)
}

/// Iterates over the causes of an error, the nearest first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), next_cause)
}

fn next_cause<'a>(cause: &&'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    let cause: &'a (dyn std::error::Error + 'static) = *cause;
    match cause.downcast_ref::<std::io::Error>() {
        // `io::Error::source` skips the wrapped error, so it is taken from `get_ref`.
        Some(io) => io.get_ref().map(|inner| inner as _),
        None => cause.source(),
    }
}

/// Formats text on one line without control characters, truncated to `most` characters.
pub fn clip(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut words = String::new();
    for word in clean.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", words[..at].trim_end()),
        None => words,
    }
}

/// Returns whether the body is a web page, which a reverse proxy may send in place of the provider's response.
pub fn looks_like_html(body: &str) -> bool {
    let start: String = body.trim_start_matches('\u{feff}').trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

/// Describes a web page by its title. Its content is never shown.
pub fn describe_page(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let end = start + lower[start..].find("</title>")?;
        Some(clip(&body[start..end], 80))
    });
    match title {
        Some(title) if !title.is_empty() => format!("the server sent a web page titled “{title}”"),
        _ => "the server sent a web page".to_owned(),
    }
}

#[cfg(test)]
mod tests;
