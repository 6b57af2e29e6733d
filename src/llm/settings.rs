//! Settings for one provider.

use super::timeouts::HEADLESS_MAX_WAIT;
use super::{Error, Secret, address, client};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// Settings for one provider.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Base address of `chat/completions` or `responses`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Key sent as `Authorization: Bearer …`. Most local servers need none.
    pub key: Option<Secret>,
    /// Additional headers. Their values are treated as secrets. They override the default headers.
    pub headers: Vec<(String, Secret)>,
    /// Maximum time without data before and during a reply. The duration of a reply is not limited.
    pub idle_limit: Duration,
    /// Longest wait before a retry that a provider may request: `HEADLESS_MAX_WAIT` if running headless,
    /// `INTERACTIVE_MAX_WAIT` with an interactive user.
    pub longest_wait: Duration,
    /// Parameters added to every request, such as `temperature`. `null` removes a default parameter.
    pub parameters: Map<String, Value>,
    /// Connection options.
    pub connection: client::ConnectionOptions,
    /// API that the provider supports.
    pub api: Api,
    /// Header that carries the key in place of `Authorization: Bearer …`, such as `api-key`.
    pub key_header: Option<String>,
    /// Query parameters added to every request, as some gateways require.
    pub query: Vec<(String, String)>,
    /// Peculiarities of the provider that change the requests.
    pub quirks: Quirks,
    /// Why no key is sent and how to provide one, in sentences added to a rejection; `None` if a key may be sent.
    pub missing_key_hint: Option<String>,
}

/// Peculiarities of a provider that change its requests. The fields have the names of the settings of a profile, from
/// which they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// Maximum tokens of a reply, reasoning included. `None`: decided by the provider.
    pub max_tokens: Option<u32>,
    /// Name of the parameter for `max_tokens`. `None`: the usual one of the API.
    pub max_tokens_parameter: Option<String>,
    /// Offer tools to the model.
    pub tools: bool,
    /// Send images to the model.
    pub images: bool,
    /// Simplify the schemas of tools of files and MCP servers. `None`: only for providers known to reject parts of them.
    pub simple_schemas: Option<bool>,
    /// Request several calls in one reply. `None`: the parameter is not sent.
    pub parallel_calls: Option<bool>,
    /// Reasoning effort in the provider's own terms. `None`: the parameter is not sent.
    pub reasoning_effort: Option<String>,
    /// Send the readable reasoning of earlier replies back, which some providers require and others reject. Encrypted
    /// or signed reasoning is always sent back.
    pub send_reasoning: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens: None,
            max_tokens_parameter: None,
            tools: true,
            images: false,
            simple_schemas: None,
            parallel_calls: None,
            reasoning_effort: None,
            send_reasoning: false,
        }
    }
}

/// API of a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Api {
    /// `chat/completions`, which every provider supports.
    #[default]
    Chat,
    /// OpenAI's `responses`.
    Responses,
}

impl Settings {
    /// Creates settings for this address without a key and with an idle limit of 90 seconds.
    pub fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            key: None,
            headers: Vec::new(),
            idle_limit: Duration::from_secs(90),
            longest_wait: HEADLESS_MAX_WAIT,
            parameters: Map::new(),
            connection: client::ConnectionOptions::default(),
            api: Api::Chat,
            key_header: None,
            query: Vec::new(),
            quirks: Quirks::default(),
            missing_key_hint: None,
        }
    }

    /// Completes an error for the user: masks secrets, and adds the hint about a missing key to a rejection.
    pub(super) fn complete_error(&self, error: Error) -> Error {
        match (self.mask_secrets(error), &self.missing_key_hint) {
            (error @ Error::Provider { status: 401 | 403, .. }, Some(hint)) => {
                Error::MissingKey { rejection: Box::new(error), hint: hint.clone() }
            }
            (error, _) => error,
        }
    }

    /// Masks secrets that a provider may have repeated in the error.
    pub(super) fn mask_secrets(&self, mut error: Error) -> Error {
        let mask = |text: &mut String| {
            let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
            *text = secrets.fold(std::mem::take(text), |text, secret| secret.mask(&text));
        };
        match &mut error {
            Error::Provider { code, message, .. } => code.iter_mut().chain([message]).for_each(mask),
            Error::Unreachable { cause: text, .. }
            | Error::NoResponse { cause: text, .. }
            | Error::Untrusted { cause: text, .. }
            | Error::Proxy { cause: text, .. }
            | Error::InvalidAddress(text)
            | Error::ConnectionLost(text)
            | Error::InvalidReply(text)
            | Error::InStream(text) => mask(text),
            Error::MissingKey { rejection: inner, .. } | Error::RetriesExhausted { last: inner, .. } => {
                **inner = self.mask_secrets((**inner).clone());
            }
            Error::Idle(_) => {}
        }
        error
    }

    /// Returns the base address without its query, and all query parameters: its own and the configured ones.
    ///
    /// # Errors
    /// Fails if the address is invalid.
    pub(super) fn split_address(&self) -> Result<(reqwest::Url, Vec<(String, String)>), Error> {
        let mut base = address::parse_base_address(&self.base_url)?;
        let query = base.query_pairs().into_owned().collect::<Vec<_>>();
        base.set_query(None);
        base.set_fragment(None);
        Ok((base, query.into_iter().chain(self.query.iter().cloned()).collect()))
    }

    /// Builds the headers set by aye, including the key.
    ///
    /// # Errors
    /// Fails if the key or a header cannot be sent.
    pub(super) fn build_headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let key = self.key.iter().filter(|key| !key.reveal().is_empty()).map(|key| match &self.key_header {
            Some(name) => (name.clone(), key.reveal().to_owned()),
            None => (AUTHORIZATION.to_string(), format!("Bearer {}", key.reveal())),
        });
        let configured_headers = self.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        for (name, value) in key.chain(configured_headers) {
            let invalid_value = || {
                Error::InvalidReply(format!(
                    "Cannot send the key or the header “{name}”: it contains characters that cannot be sent"
                ))
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| invalid_value())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(name.as_str()).map_err(|_| invalid_value())?, value);
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_errors_contain_no_secret() {
        let settings = Settings {
            key: Some(Secret::new("sk-secret")),
            headers: vec![("x-api-key".into(), Secret::new("other-secret"))],
            ..Settings::new("http://127.0.0.1:1/v1")
        };
        let text_with_secrets = || "you sent sk-secret and other-secret".to_owned();
        for error in [
            Error::Provider {
                status: 401,
                code: Some(text_with_secrets()),
                message: text_with_secrets(),
                retry_after: None,
            },
            Error::Unreachable { origin: "o".into(), cause: text_with_secrets() },
            Error::Untrusted { origin: "o".into(), cause: text_with_secrets() },
            Error::ConnectionLost(text_with_secrets()),
            Error::InvalidReply(text_with_secrets()),
            Error::InStream(text_with_secrets()),
        ] {
            let error_text = format!("{0} {0:?}", settings.mask_secrets(error));
            assert!(!error_text.contains("secret") && error_text.contains("[key]"), "{error_text}");
        }
        assert!(!format!("{:?} {:?}", settings, settings.build_headers()).contains("secret"));
        let invalid = Settings { key: Some(Secret::new("a\nsecret")), ..settings };
        assert!(!invalid.build_headers().unwrap_err().to_string().contains("secret"));
    }
}
