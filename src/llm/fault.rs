//! What went wrong with a service, in its own words and a line or two.

use super::{Error, address};
use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use serde_json::Value;
use std::error::Error as _;
use std::time::Duration;

/// How much of an error's body is read at all.
const BODY: usize = 64 << 10;
/// How long its words may be, in letters.
const WORDS: usize = 300;

/// What a service said of an error, whatever shape it has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fault {
    /// The status it names itself, where it is one.
    pub status: Option<u16>,
    /// Its own code or type.
    pub code: Option<String>,
    /// Its words.
    pub words: String,
}

impl Fault {
    /// Reads an error body, or what stands under `error` in a stream.
    pub fn read(value: &Value) -> Self {
        match value {
            Value::Array(list) => list.first().map(Self::read).unwrap_or_default(),
            Value::Object(map) => {
                let inner = ["error", "errors", "detail"].iter().find_map(|key| map.get(*key));
                let below = inner.filter(|inner| !inner.is_null()).map(Self::read).unwrap_or_default();
                let own = ["message", "msg", "title"].iter().find_map(|key| map.get(*key)?.as_str());
                let code = ["code", "type", "status"].iter().find_map(|key| name(map.get(*key)?));
                let number = ["code", "status", "status_code"].iter().find_map(|key| number(map.get(*key)?));
                // A router hides the provider's words below its own.
                let raw = map.get("metadata").and_then(|data| data.get("raw")).and_then(Value::as_str);
                let own = [own, raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
                let words = if below.words.is_empty() { clip(&own, WORDS) } else { below.words };
                Self { status: below.status.or(number), code: below.code.or(code), words }
            }
            Value::String(words) => Self { words: clip(words, WORDS), ..Self::default() },
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::default(),
        }
    }

    fn read_text(body: &str) -> Self {
        match serde_json::from_str(body) {
            Ok(value) => Self::read(&value),
            Err(_) if looks_like_html(body) => Self { words: page(body), ..Self::default() },
            Err(_) => Self { words: clip(body, WORDS), ..Self::default() },
        }
    }

    /// Code and words, for a message that has no place for a code of its own.
    pub fn sentence(&self) -> String {
        match (&self.code, self.words.as_str()) {
            (None, "") => "no reason given".to_owned(),
            (Some(code), "") => code.clone(),
            (None, words) => words.to_owned(),
            (Some(code), words) => format!("{words} ({code})"),
        }
    }

    /// As an answer with this status.
    pub fn into_error(self, status: u16, retry_after: Option<Duration>) -> Error {
        Error::Service { status, code: self.code, words: self.words, retry_after }
    }
}

fn name(value: &Value) -> Option<String> {
    value.as_str().map(|text| clip(text, 60)).filter(|text| !text.is_empty())
}

fn number(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// Reads an answer that is no success. It is read for ten seconds at most: its status alone says enough.
pub async fn refused(mut response: Response) -> Error {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers(), jiff::Timestamp::now());
    if (300..400).contains(&status) {
        let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or_default();
        let to = response.url().join(to).map(|to| address::origin(&to)).unwrap_or_default();
        let words = format!(
            "it points to {to}, which was not followed so that the key goes nowhere else; set that address"
        );
        return Error::Service { status, code: None, words, retry_after: None };
    }
    let mut body = Vec::new();
    let read = async {
        while body.len() < BODY {
            match response.chunk().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) | Err(_) => break,
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await;
    Fault::read_text(&String::from_utf8_lossy(&body)).into_error(status, retry_after)
}

/// A request that got no answer at all.
pub fn unreached(error: &reqwest::Error, url: &Url) -> Error {
    let origin = address::origin(url);
    if let Some(cause) = untrusted(error) {
        return Error::Untrusted { origin, cause };
    }
    let cause = if error.is_timeout() { "it does not answer".to_owned() } else { innermost(error) };
    // Only the connection itself is told apart: behind it a reset, a close and a foreign protocol are all no answer.
    if error.is_connect() {
        Error::Unreachable { origin, cause }
    } else {
        Error::Unanswered { origin, cause }
    }
}

/// The last in a chain of causes, which is the one that says something.
pub fn innermost(error: &reqwest::Error) -> String {
    let last = causes(error).last().map(ToString::to_string);
    clip(without_number(&last.unwrap_or_else(|| error.to_string())), WORDS)
}

/// What the system said, without the number that only programmers read.
fn without_number(words: &str) -> &str {
    words.split_once(" (os error").map_or(words, |(words, _)| words)
}

fn untrusted(error: &reqwest::Error) -> Option<String> {
    causes(error).find_map(|cause| match cause.downcast_ref::<rustls::Error>()? {
        tls @ rustls::Error::InvalidCertificate(_) => Some(clip(&tls.to_string(), WORDS)),
        _ => None,
    })
}

/// Everything below an error, the nearest first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), next_cause)
}

fn next_cause<'a>(
    cause: &&'a (dyn std::error::Error + 'static),
) -> Option<&'a (dyn std::error::Error + 'static)> {
    let cause: &'a (dyn std::error::Error + 'static) = *cause;
    match cause.downcast_ref::<std::io::Error>() {
        // An `io::Error` names what it wraps only here; its own source is one further down.
        Some(io) => io.get_ref().map(|inner| inner as _),
        None => cause.source(),
    }
}

/// How long a service asks to wait: in milliseconds, in seconds, or until a date.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return seconds(ms / 1000.0);
    }
    let after = text("retry-after")?;
    if let Ok(number) = after.parse::<f64>() {
        return seconds(number);
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(after).ok()?;
    seconds(date.duration_since(now).as_secs_f64())
}

/// Text as one line of at most this many letters, without control characters.
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

/// Whether this is a web page, which is what stands before a service answers when the service does not.
pub fn looks_like_html(body: &str) -> bool {
    let start: String = body.trim_start_matches('\u{feff}').trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

/// A page is never shown; its title may say what it is.
pub fn page(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let end = start + lower[start..].find("</title>")?;
        Some(clip(&body[start..end], 80))
    });
    match title {
        Some(title) if !title.is_empty() => format!("a web page came back, “{title}”"),
        _ => "a web page came back".to_owned(),
    }
}

#[cfg(test)]
mod tests;
