//! Accepted values of a setting, and error texts for all others.

use crate::config::{base_address, command_words};
use reqwest::header::{HeaderName, HeaderValue};
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// Accepted values of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueKind {
    /// `true` or `false`.
    Switch,
    /// Any text that is not empty.
    Text,
    /// A name: not empty and not a word such as `null` or `none`.
    Name,
    /// A list of names.
    Names,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An integer in this range, with its unit.
    Integer(RangeInclusive<i64>, &'static str),
    /// A number of at least zero.
    Price,
    /// Base address of a provider.
    Address,
    /// Name of an environment variable.
    EnvVariable,
    /// A program with its arguments: a list, or a string that is split like a shell command. Never shown.
    Command,
    /// Name of a header.
    HeaderName,
    /// Headers with string values. They may hold secrets and are never shown.
    Headers,
    /// Query parameters with string values. They may hold secrets and are never shown.
    Query,
    /// Environment variables with string values. They may hold secrets and are never shown.
    Variables,
    /// Address of a server, with `http` or `https`. It may hold a key and is never shown.
    Url,
    /// Parameters with any values that JSON can represent, except the ones aye sets itself.
    Parameters,
    /// Path of a file: absolute or from `~`.
    File,
    /// Paths of files or directories: absolute or from `~`.
    Paths,
    /// Address of a proxy, or `none`. It may hold a password and is never shown.
    Proxy,
    /// One key chord or several.
    Chords,
}

/// Headers that frame the HTTP message. Setting one of them would break the request.
const FRAMING_HEADERS: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "te"];
/// Request parameters that carry the conversation.
const RESERVED_PARAMETERS: [&str; 5] = ["model", "messages", "input", "stream", "tools"];

impl ValueKind {
    /// Returns `None` if the value is accepted, otherwise the specific reason without the value itself. The reason is
    /// empty if there is nothing specific to report.
    pub fn find_error(&self, value: &Value) -> Option<String> {
        let specific = match self {
            Self::Headers => value.as_table().and_then(find_invalid_header),
            Self::Parameters => value.as_table().and_then(find_invalid_parameter),
            Self::Command => {
                value.as_str().and_then(|text| command_words::split_command(text).err()).map(str::to_owned)
            }
            Self::Address => value.as_str().and_then(explain_address),
            Self::HeaderName => {
                value.as_str().filter(|name| is_framing_header(name)).map(|_| "is set by HTTP itself".to_owned())
            }
            Self::Name | Self::EnvVariable if value.as_str().is_some_and(is_null_word) => {
                Some("has no value; remove the line to leave it unset".to_owned())
            }
            _ => None,
        };
        if specific.is_some() {
            return specific;
        }
        (!self.has_valid_form(value)).then(String::new)
    }

    fn has_valid_form(&self, value: &Value) -> bool {
        let is_text = |is_valid: fn(&str) -> bool| value.as_str().is_some_and(is_valid);
        match self {
            Self::Switch => value.is_bool(),
            Self::Text | Self::Name => is_text(|text| !text.trim().is_empty()),
            Self::Names => value
                .as_array()
                .is_some_and(|list| list.iter().all(|name| name.as_str().is_some_and(|name| !is_null_word(name)))),
            Self::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Integer(range, _) => value.as_integer().is_some_and(|number| range.contains(&number)),
            Self::Price => match value {
                Value::Integer(number) => *number >= 0,
                Value::Float(number) => number.is_finite() && *number >= 0.0,
                _ => false,
            },
            Self::Address => is_text(|text| base_address::parse(text).is_ok()),
            Self::EnvVariable => is_text(|text| {
                let is_name_character = |c: char| c.is_ascii_alphanumeric() || c == '_';
                text.chars().all(is_name_character) && text.starts_with(|c: char| !c.is_ascii_digit())
            }),
            Self::Command => match value {
                Value::String(text) => command_words::split_command(text).is_ok(),
                Value::Array(list) => {
                    let program = list.first().and_then(Value::as_str);
                    program.is_some_and(|program| !program.trim().is_empty())
                        && list.iter().all(|word| word.as_str().is_some_and(|word| !word.contains('\0')))
                }
                _ => false,
            },
            Self::HeaderName => is_text(|name| HeaderName::try_from(name).is_ok()),
            Self::Variables => value.as_table().is_some_and(|table| {
                let is_valid = |(name, value): (&String, &Value)| {
                    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
                    is_name && value.as_str().is_some_and(|text| !text.contains('\0'))
                };
                table.iter().all(is_valid)
            }),
            Self::Url => is_text(is_service_address),
            Self::Headers | Self::Query => value.as_table().is_some_and(|table| table.values().all(Value::is_str)),
            Self::Parameters => value.is_table(),
            Self::File => is_text(|path| path.starts_with('/') || path.starts_with("~/")),
            Self::Paths => value.as_array().is_some_and(|list| {
                let is_full_path = |path: &str| path == "~" || path.starts_with("~/") || path.starts_with('/');
                list.iter().all(|path| path.as_str().is_some_and(|path| is_full_path(path) && !path.contains('\0')))
            }),
            Self::Proxy => is_text(|text| text == "none" || is_proxy(text)),
            Self::Chords => match value {
                Value::String(_) => true,
                Value::Array(list) => list.iter().all(Value::is_str),
                _ => false,
            },
        }
    }

    /// Describes the accepted values, to follow "expected".
    pub fn describe_expected(&self) -> String {
        let text = match self {
            Self::Switch => "true or false",
            Self::Text | Self::Name => "a quoted string",
            Self::Names => "a list of names, such as [\"stream_options\"]",
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                return match words.split_last() {
                    Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                    _ => words.concat(),
                };
            }
            Self::Integer(range, unit) => {
                return format!("an integer from {} to {} {unit}", range.start(), range.end());
            }
            Self::Price => "a price per million tokens, such as 0.25",
            Self::Address => "an address such as \"https://example.com/v1\"",
            Self::EnvVariable => "the name of an environment variable, such as \"OPENAI_API_KEY\", not the key itself",
            Self::Command => "a program with its arguments, such as [\"pass\", \"show\", \"openai\"]",
            Self::HeaderName => "a header name such as \"api-key\"",
            Self::Headers => "names with string values, such as { X-Title = \"aye\" }",
            Self::Query => "names with string values, such as { api-version = \"preview\" }",
            Self::Variables => "names with string values, such as { LOG_LEVEL = \"info\" }",
            Self::Url => "an address such as \"https://example.com/mcp\", without a user name and password",
            Self::Parameters => "names with values, such as { temperature = 0.2 }",
            Self::File => "an absolute file path such as \"~/certificates/company.pem\"",
            Self::Paths => "a list of absolute paths, such as [\"~/.cargo\", \"/var/cache/build\"]",
            Self::Proxy => "an address such as \"http://127.0.0.1:3128\", or \"none\"",
            Self::Chords => "a key chord such as \"ctrl-k\", or a list of them",
        };
        text.to_owned()
    }

    /// Returns whether an invalid value may be shown: not if it may be a secret.
    pub fn is_displayable(&self) -> bool {
        !matches!(
            self,
            Self::Headers
                | Self::Query
                | Self::Variables
                | Self::Url
                | Self::EnvVariable
                | Self::Parameters
                | Self::Address
                | Self::Command
                | Self::HeaderName
                | Self::Proxy
        )
    }
}

/// Explains mistakes that come from copying an address out of an example.
fn explain_address(text: &str) -> Option<String> {
    let without_query = text.split('?').next().unwrap_or_default();
    match base_address::parse(without_query) {
        Err(error) => {
            // The error continues with the address to write instead.
            let (_, correction) = error.split_once(base_address::COMPLETE_ENDPOINT)?;
            Some(format!("is a complete endpoint, not a base address.{correction}"))
        }
        Ok(_) if text.contains('?') => {
            Some("has a query: write the part after the ? as query = { name = \"value\" }".to_owned())
        }
        Ok(_) => None,
    }
}

/// Returns whether the text is what other languages write for a missing value. TOML has no such value.
fn is_null_word(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    ["", "null", "nil", "none", "undefined"].contains(&text.as_str())
}

fn is_framing_header(name: &str) -> bool {
    FRAMING_HEADERS.iter().any(|framing_header| name.eq_ignore_ascii_case(framing_header))
}

/// Explains the first header that cannot be sent, by name and without its value.
fn find_invalid_header(headers: &Table) -> Option<String> {
    headers.iter().find_map(|(name, value)| {
        if HeaderName::try_from(name.as_str()).is_err() {
            return Some(format!("has the header {:?}, which is not a valid header name", truncate_name(name)));
        }
        if is_framing_header(name) {
            return Some(format!("has the header {name}, which HTTP sets itself"));
        }
        let is_unsendable = value.as_str().is_some_and(|text| {
            text.trim().is_empty() || !HeaderValue::from_str(text).is_ok_and(|value| value.to_str().is_ok())
        });
        is_unsendable.then(|| {
            format!("has the header {name} with an empty value, a line break or characters that cannot be sent")
        })
    })
}

/// Explains the first parameter that cannot be passed on.
fn find_invalid_parameter(parameters: &Table) -> Option<String> {
    let reserved = parameters.keys().find(|name| RESERVED_PARAMETERS.contains(&name.as_str()));
    if let Some(name) = reserved {
        return Some(format!("has {name}, which aye sets itself"));
    }
    let invalid = parameters.iter().find(|(_, value)| !is_json(value));
    invalid.map(|(name, _)| format!("has {} with a date, nan or inf, which JSON cannot represent", truncate_name(name)))
}

fn is_json(value: &Value) -> bool {
    match value {
        Value::Datetime(_) => false,
        Value::Float(number) => number.is_finite(),
        Value::Array(list) => list.iter().all(is_json),
        Value::Table(table) => table.values().all(is_json),
        Value::String(_) | Value::Integer(_) | Value::Boolean(_) => true,
    }
}

fn is_proxy(text: &str) -> bool {
    let url = reqwest::Url::parse(text);
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") && url.host_str().is_some())
}

fn is_service_address(text: &str) -> bool {
    let url = reqwest::Url::parse(text);
    url.is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
    })
}

fn truncate_name(text: &str) -> String {
    text.chars().take(40).collect()
}
