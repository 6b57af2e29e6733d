//! Client for one model of an OpenAI-compatible provider.

use super::ask::{self, Ask};
use super::client::Link;
use super::models::{self, Model};
use super::patience::{ALONE, Patience, Pulse};
use super::reply::{Gathering, Reply};
use super::service::{Line, Service};
use super::spared::Spared;
use super::written::Written;
use super::{Error, Llm, Secret, address, client, gather, request, responses, retry, window};
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
    pub idle: Duration,
    /// Longest wait before a retry that a provider may request: `HEADLESS_MAX_WAIT` if running headless,
    /// `INTERACTIVE_MAX_WAIT` with an interactive user.
    pub longest_wait: Duration,
    /// Parameters added to every request, such as `temperature`. `null` removes a default parameter.
    pub extra: Map<String, Value>,
    /// Connection options.
    pub way: client::Way,
    /// API that the provider supports.
    pub api: Api,
    /// Header that carries the key in place of `Authorization: Bearer …`, such as `api-key`.
    pub key_header: Option<String>,
    /// Query parameters added to every request, as some gateways require.
    pub query: Vec<(String, String)>,
    /// Maximum tokens of a reply, reasoning included. `None`: decided by the provider.
    pub most: Option<u32>,
    /// Name of the parameter for `max_tokens`. `None`: the usual one of the API.
    pub most_name: Option<String>,
    /// Offer tools to the model.
    pub tools: bool,
    /// Send images to the model.
    pub images: bool,
    /// Request several calls in one reply. `None`: the parameter is not sent.
    pub parallel_calls: Option<bool>,
    /// Reasoning effort in the provider's own terms. `None`: the parameter is not sent.
    pub effort: Option<String>,
    /// Send the readable reasoning of earlier replies back, which some providers require and others reject. Encrypted
    /// or signed reasoning is always sent back.
    pub reasoning_back: bool,
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
            idle: Duration::from_secs(90),
            longest_wait: ALONE,
            extra: Map::new(),
            way: client::Way::default(),
            api: Api::Chat,
            key_header: None,
            query: Vec::new(),
            most: None,
            most_name: None,
            tools: true,
            images: false,
            parallel_calls: None,
            effort: None,
            reasoning_back: false,
        }
    }

    /// Masks secrets that a provider may have repeated in the error.
    fn mask(&self, error: Error) -> Error {
        let mask = |text: String| {
            let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
            secrets.fold(text, |text, secret| secret.mask(&text))
        };
        match error {
            Error::Service { status, code, words, retry_after } => {
                Error::Service { status, code: code.map(mask), words: mask(words), retry_after }
            }
            Error::Unreachable { origin, cause } => Error::Unreachable { origin, cause: mask(cause) },
            Error::Unanswered { origin, cause } => Error::Unanswered { origin, cause: mask(cause) },
            Error::Untrusted { origin, cause } => Error::Untrusted { origin, cause: mask(cause) },
            Error::Proxy { origin, cause } => Error::Proxy { origin, cause: mask(cause) },
            Error::Misaddressed(words) => Error::Misaddressed(mask(words)),
            Error::Repeated { attempts, last } => {
                Error::Repeated { attempts, last: Box::new(self.mask(*last)) }
            }
            Error::Cut(words) => Error::Cut(mask(words)),
            Error::Idle(idle) => Error::Idle(idle),
            Error::NotAModel(words) => Error::NotAModel(mask(words)),
            Error::InStream(words) => Error::InStream(mask(words)),
        }
    }

    /// Returns the base address without its query, and all query parameters: its own and the configured ones.
    fn place(&self) -> Result<(reqwest::Url, Vec<(String, String)>), Error> {
        let mut base = address::parse(&self.base_url)?;
        let own = base.query_pairs().into_owned().collect::<Vec<_>>();
        base.set_query(None);
        base.set_fragment(None);
        Ok((base, own.into_iter().chain(self.query.iter().cloned()).collect()))
    }

    fn all_headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let key = self.key.iter().filter(|key| !key.reveal().is_empty()).map(|key| match &self.key_header {
            Some(name) => (name.clone(), key.reveal().to_owned()),
            None => (AUTHORIZATION.to_string(), format!("Bearer {}", key.reveal())),
        });
        let more = self.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        for (name, value) in key.chain(more) {
            let wrong = || {
                Error::NotAModel(format!(
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
    patience: Patience,
    link: OnceCell<Link>,
    spared: Spared,
}

impl OpenAi {
    /// Creates a client. An invalid address is reported with the first request.
    pub fn new(settings: Settings) -> Self {
        let patience = Patience::new(settings.idle, settings.longest_wait);
        Self(Arc::new(Inner { settings, patience, link: OnceCell::new(), spared: Spared::default() }))
    }

    /// Returns the key that is sent, if any.
    pub(super) fn key(&self) -> Option<Secret> {
        self.0.settings.key.clone()
    }

    /// Prepares the first request by reading the system's certificates. Makes no connection, so the provider learns
    /// nothing before the user sends a message.
    pub async fn prepare(&self) {
        // An error is reported with the first request.
        if let Ok(base) = address::parse(&self.0.settings.base_url) {
            let _ = self.0.link(&base).await;
        }
    }

    /// Requests the provider's models, in its own order.
    ///
    /// # Errors
    /// As for a reply. Never retried.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let settings = &self.0.settings;
        let listed = async {
            let (base, query) = settings.place()?;
            let link = self.0.link(&base).await?;
            models::list(&link, &base, &query, settings.all_headers()?, settings.idle).await
        };
        listed.await.map_err(|error| settings.mask(error))
    }
}

impl OpenAi {
    /// Requests the context window in tokens of this model, or of the first one if `model` is empty. Returns `None` on
    /// any error.
    pub async fn window(&self, model: &str) -> Option<u64> {
        let settings = &self.0.settings;
        let (base, query) = settings.place().ok()?;
        let http = self.0.link(&base).await.ok()?.http;
        window::find(&http, &base, &query, &settings.all_headers().ok()?, model).await
    }
}

impl Llm for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        let inner = self.0.clone();
        let ask = Ask::new(request, &inner.settings);
        let body = match inner.settings.api {
            Api::Chat => request::body(&ask),
            Api::Responses => responses::body(&ask),
        };
        let sent = Arc::new(Sent { from: ask::origin(&inner.settings, &ask.model), body });
        retry::stream(inner.patience.clone(), move |pulse| inner.clone().attempt(sent.clone(), pulse.clone()))
    }

    fn sees(&self) -> bool {
        self.0.settings.images
    }

    fn hurry(&self) {
        self.0.patience.hurry();
    }
}

/// Data that every attempt sends.
struct Sent {
    /// Origin of the reply, for its echo.
    from: String,
    body: Written,
}

impl Inner {
    /// Returns the HTTP client. The first caller builds it, which may read certificates; others wait for it.
    async fn link(&self, base: &reqwest::Url) -> Result<Link, Error> {
        let way = || self.settings.way.clone();
        self.link.get_or_try_init(|| client::build_aside(base.clone(), way())).await.cloned()
    }

    fn attempt(self: Arc<Self>, sent: Arc<Sent>, pulse: Pulse) -> BoxStream<'static, Result<Chunk, Error>> {
        let opened = {
            let inner = self.clone();
            async move {
                match inner.opened(&sent, pulse).await {
                    Ok(reply) => stream::unfold(reply, Reply::next).boxed(),
                    Err(error) => stream::iter([Err(error)]).boxed(),
                }
            }
        };
        let masked = move |item: Result<Chunk, Error>| item.map_err(|error| self.settings.mask(error));
        stream::once(opened).flatten().map(masked).boxed()
    }

    /// Opens a reply. Repeats the request once if the provider rejects a parameter that can be omitted.
    async fn opened(&self, sent: &Sent, pulse: Pulse) -> Result<Reply, Error> {
        let body = self.spared.without(&sent.body);
        match self.open(&sent.from, &body, pulse.clone()).await {
            Err(error) if self.spared.learns(&body, &error) => {
                self.open(&sent.from, &self.spared.without(&sent.body), pulse).await
            }
            opened => opened,
        }
    }

    async fn open(&self, from: &str, body: &Written, pulse: Pulse) -> Result<Reply, Error> {
        let (base, query) = self.settings.place()?;
        let link = self.link(&base).await?;
        let http = link.http.clone();
        let line = Line::new(pulse);
        let service = Service {
            link,
            base: base.clone(),
            headers: self.settings.all_headers()?,
            idle: self.settings.idle,
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
        let (from, reasoning) = (from.to_owned(), self.settings.reasoning_back);
        let (events, gathering) = match self.settings.api {
            Api::Chat => (
                client.chat().create_stream_byot::<_, Value>(stub).await.map_err(reason)?,
                Gathering::Chat(Box::new(gather::Gather::of(from, reasoning))),
            ),
            Api::Responses => (
                client
                    .responses()
                    .create_stream_byot::<_, Value>(stub)
                    .await
                    .map_err(|error| responses::understand(reason(error)))?,
                Gathering::Responses(Box::new(responses::Gather::of(from, reasoning))),
            ),
        };
        Ok(Reply::new(events, line, gathering))
    }
}

/// Extracts the error of `Service` from async-openai's error.
fn reason(error: OpenAIError) -> Error {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::NotAModel(super::fault::clip(&other.to_string(), 300)),
        },
        other => Error::NotAModel(super::fault::clip(&other.to_string(), 300)),
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
            Error::Service { status: 401, code: Some(echoed()), words: echoed(), retry_after: None },
            Error::Unreachable { origin: "o".into(), cause: echoed() },
            Error::Untrusted { origin: "o".into(), cause: echoed() },
            Error::Cut(echoed()),
            Error::NotAModel(echoed()),
            Error::InStream(echoed()),
        ] {
            let shown = format!("{0} {0:?}", settings.mask(error));
            assert!(!shown.contains("secret") && shown.contains("[key]"), "{shown}");
        }
        assert!(!format!("{:?} {:?}", settings, settings.all_headers()).contains("secret"));
        let unsendable = Settings { key: Some(Secret::new("a\nsecret")), ..settings };
        assert!(!unsendable.all_headers().unwrap_err().to_string().contains("secret"));
    }
}
