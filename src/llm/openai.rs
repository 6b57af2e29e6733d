//! Client for one model of an OpenAI-compatible provider.

use super::client::HttpClient;
use super::models::{self, Model};
use super::prepared_request::{self, PreparedRequest};
use super::reply::{Collector, Reply};
use super::request_body::RequestBody;
use super::service::{Service, SharedReply};
use super::timeouts::{HEADLESS_MAX_WAIT, Pulse, Timeouts};
use super::unsupported_params::UnsupportedParams;
use super::{Error, Llm, Secret, address, chat_collector, chat_request, client, context_window, responses, retry};
use crate::chat::{Chunk, Request};
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

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
    /// Maximum tokens of a reply, reasoning included. `None`: decided by the provider.
    pub max_tokens: Option<u32>,
    /// Name of the parameter for `max_tokens`. `None`: the usual one of the API.
    pub max_tokens_name: Option<String>,
    /// Offer tools to the model.
    pub tools: bool,
    /// Send images to the model.
    pub images: bool,
    /// Request several calls in one reply. `None`: the parameter is not sent.
    pub parallel_calls: Option<bool>,
    /// Reasoning effort in the provider's own terms. `None`: the parameter is not sent.
    pub reasoning_effort: Option<String>,
    /// Send the readable reasoning of earlier replies back, which some providers require and others reject. Encrypted
    /// or signed reasoning is always sent back.
    pub send_reasoning_back: bool,
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
            max_tokens: None,
            max_tokens_name: None,
            tools: true,
            images: false,
            parallel_calls: None,
            reasoning_effort: None,
            send_reasoning_back: false,
        }
    }

    /// Masks secrets that a provider may have repeated in the error.
    fn mask_secrets(&self, error: Error) -> Error {
        let mask = |text: String| {
            let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
            secrets.fold(text, |text, secret| secret.mask(&text))
        };
        match error {
            Error::Provider { status, code, message: words, retry_after } => {
                Error::Provider { status, code: code.map(mask), message: mask(words), retry_after }
            }
            Error::Unreachable { origin, cause } => Error::Unreachable { origin, cause: mask(cause) },
            Error::NoResponse { origin, cause } => Error::NoResponse { origin, cause: mask(cause) },
            Error::Untrusted { origin, cause } => Error::Untrusted { origin, cause: mask(cause) },
            Error::Proxy { origin, cause } => Error::Proxy { origin, cause: mask(cause) },
            Error::InvalidAddress(words) => Error::InvalidAddress(mask(words)),
            Error::RetriesExhausted { attempts, last } => {
                Error::RetriesExhausted { attempts, last: Box::new(self.mask_secrets(*last)) }
            }
            Error::ConnectionLost(words) => Error::ConnectionLost(mask(words)),
            Error::Idle(idle) => Error::Idle(idle),
            Error::InvalidReply(words) => Error::InvalidReply(mask(words)),
            Error::InStream(words) => Error::InStream(mask(words)),
        }
    }

    /// Returns the base address without its query, and all query parameters: its own and the configured ones.
    fn split_address(&self) -> Result<(reqwest::Url, Vec<(String, String)>), Error> {
        let mut base = address::parse_base_address(&self.base_url)?;
        let own = base.query_pairs().into_owned().collect::<Vec<_>>();
        base.set_query(None);
        base.set_fragment(None);
        Ok((base, own.into_iter().chain(self.query.iter().cloned()).collect()))
    }

    fn build_headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let key = self.key.iter().filter(|key| !key.reveal().is_empty()).map(|key| match &self.key_header {
            Some(name) => (name.clone(), key.reveal().to_owned()),
            None => (AUTHORIZATION.to_string(), format!("Bearer {}", key.reveal())),
        });
        let more = self.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        for (name, value) in key.chain(more) {
            let wrong = || {
                Error::InvalidReply(format!(
                    "Cannot send the key or the header “{name}”: it contains characters that cannot be sent"
                ))
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(name.as_str()).map_err(|_| wrong())?, value);
        }
        Ok(headers)
    }
}

/// A model behind an address. Cheap to create and to clone: nothing is read or connected before the first request.
#[derive(Debug, Clone)]
pub struct OpenAi(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    timeouts: Timeouts,
    client: OnceCell<HttpClient>,
    unsupported_params: UnsupportedParams,
}

impl OpenAi {
    /// Creates a client. An invalid address is reported with the first request.
    pub fn new(settings: Settings) -> Self {
        let patience = Timeouts::new(settings.idle_limit, settings.longest_wait);
        Self(Arc::new(Inner {
            settings,
            timeouts: patience,
            client: OnceCell::new(),
            unsupported_params: UnsupportedParams::default(),
        }))
    }

    /// Returns the key that is sent, if any.
    pub(super) fn key(&self) -> Option<Secret> {
        self.0.settings.key.clone()
    }

    /// Prepares the first request by reading the system's certificates. Makes no connection, so the provider learns
    /// nothing before the user sends a message.
    pub async fn prepare(&self) {
        // An error is reported with the first request.
        if let Ok(base) = address::parse_base_address(&self.0.settings.base_url) {
            let _ = self.0.http_client(&base).await;
        }
    }

    /// Requests the provider's models, in its own order.
    ///
    /// # Errors
    /// As for a reply. Never retried.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let settings = &self.0.settings;
        let listed = async {
            let (base, query) = settings.split_address()?;
            let link = self.0.http_client(&base).await?;
            models::request_models(&link, &base, &query, settings.build_headers()?, settings.idle_limit).await
        };
        listed.await.map_err(|error| settings.mask_secrets(error))
    }
}

impl OpenAi {
    /// Requests the context window in tokens of this model, or of the first one if `model` is empty. Returns `None` on
    /// any error.
    pub async fn context_window(&self, model: &str) -> Option<u64> {
        let settings = &self.0.settings;
        let (base, query) = settings.split_address().ok()?;
        let http = self.0.http_client(&base).await.ok()?.http;
        context_window::request_context_window(&http, &base, &query, &settings.build_headers().ok()?, model).await
    }
}

impl Llm for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        let inner = self.0.clone();
        let ask = PreparedRequest::new(request, &inner.settings);
        let body = match inner.settings.api {
            Api::Chat => chat_request::build_chat_body(&ask),
            Api::Responses => responses::build_responses_body(&ask),
        };
        let sent = Arc::new(PreparedBody { from: prepared_request::echo_origin(&inner.settings, &ask.model), body });
        retry::stream_with_retries(inner.timeouts.clone(), move |pulse| {
            inner.clone().stream_attempt(sent.clone(), pulse.clone())
        })
    }

    fn accepts_images(&self) -> bool {
        self.0.settings.images
    }

    fn end_wait(&self) {
        self.0.timeouts.end_waits();
    }
}

/// Data that every attempt sends.
struct PreparedBody {
    /// Origin of the reply, for its echo.
    from: String,
    body: RequestBody,
}

impl Inner {
    /// Returns the HTTP client. The first caller builds it, which may read certificates; others wait for it.
    async fn http_client(&self, base: &reqwest::Url) -> Result<HttpClient, Error> {
        let way = || self.settings.connection.clone();
        self.client.get_or_try_init(|| client::spawn_build_client(base.clone(), way())).await.cloned()
    }

    fn stream_attempt(
        self: Arc<Self>,
        sent: Arc<PreparedBody>,
        pulse: Pulse,
    ) -> BoxStream<'static, Result<Chunk, Error>> {
        let opened = {
            let inner = self.clone();
            async move {
                match inner.open_with_fallback_params(&sent, pulse).await {
                    Ok(reply) => stream::unfold(reply, Reply::next_chunk).boxed(),
                    Err(error) => stream::iter([Err(error)]).boxed(),
                }
            }
        };
        let masked = move |item: Result<Chunk, Error>| item.map_err(|error| self.settings.mask_secrets(error));
        stream::once(opened).flatten().map(masked).boxed()
    }

    /// Opens a reply. Repeats the request once if the provider rejects a parameter that can be omitted.
    async fn open_with_fallback_params(&self, sent: &PreparedBody, pulse: Pulse) -> Result<Reply, Error> {
        let body = self.unsupported_params.remove_from(&sent.body);
        match self.open_reply(&sent.from, &body, pulse.clone()).await {
            Err(error) if self.unsupported_params.record_rejection(&body, &error) => {
                self.open_reply(&sent.from, &self.unsupported_params.remove_from(&sent.body), pulse).await
            }
            opened => opened,
        }
    }

    async fn open_reply(&self, from: &str, body: &RequestBody, pulse: Pulse) -> Result<Reply, Error> {
        let (base, query) = self.settings.split_address()?;
        let link = self.http_client(&base).await?;
        let http = link.http.clone();
        let line = SharedReply::new(pulse);
        let service = Service {
            link,
            base: base.clone(),
            headers: self.settings.build_headers()?,
            idle: self.settings.idle_limit,
            line: line.clone(),
            api: self.settings.api,
            query,
            body: body.clone(),
        };
        // The body is a stub because `Service` writes the real one in pieces.
        let stub = Map::<String, Value>::new();
        // Every field is set because async-openai would otherwise read the environment to choose address and key.
        // `Service` adds the key.
        let config = OpenAIConfig::new()
            .with_api_base(base.as_str().trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        let client = async_openai::Client::build(http, config).with_http_service(service);
        let (from, reasoning) = (from.to_owned(), self.settings.send_reasoning_back);
        let (events, gathering) = match self.settings.api {
            Api::Chat => (
                client.chat().create_stream_byot::<_, Value>(stub).await.map_err(unwrap_error)?,
                Collector::Chat(Box::new(chat_collector::ChatCollector::for_origin(from, reasoning))),
            ),
            Api::Responses => (
                client
                    .responses()
                    .create_stream_byot::<_, Value>(stub)
                    .await
                    .map_err(|error| responses::reclassify_error(unwrap_error(error)))?,
                Collector::Responses(Box::new(responses::ResponsesCollector::for_origin(from, reasoning))),
            ),
        };
        Ok(Reply::new(events, line, gathering))
    }
}

/// Extracts the error of `Service` from async-openai's error.
fn unwrap_error(error: OpenAIError) -> Error {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::InvalidReply(super::provider_error::clip(&other.to_string(), 300)),
        },
        other => Error::InvalidReply(super::provider_error::clip(&other.to_string(), 300)),
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
        let echoed = || "you sent sk-secret and other-secret".to_owned();
        for error in [
            Error::Provider { status: 401, code: Some(echoed()), message: echoed(), retry_after: None },
            Error::Unreachable { origin: "o".into(), cause: echoed() },
            Error::Untrusted { origin: "o".into(), cause: echoed() },
            Error::ConnectionLost(echoed()),
            Error::InvalidReply(echoed()),
            Error::InStream(echoed()),
        ] {
            let shown = format!("{0} {0:?}", settings.mask_secrets(error));
            assert!(!shown.contains("secret") && shown.contains("[key]"), "{shown}");
        }
        assert!(!format!("{:?} {:?}", settings, settings.build_headers()).contains("secret"));
        let unsendable = Settings { key: Some(Secret::new("a\nsecret")), ..settings };
        assert!(!unsendable.build_headers().unwrap_err().to_string().contains("secret"));
    }
}
