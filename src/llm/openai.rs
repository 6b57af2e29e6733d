//! A model behind an address, whoever serves it: a request out, a stream in.

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

/// What is needed to reach a model.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address below which `chat/completions` or `responses` is, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as `Authorization: Bearer …`; most local servers need none.
    pub key: Option<Secret>,
    /// More headers, sent to this address alone. Their values are treated as secrets. They win over ours.
    pub headers: Vec<(String, Secret)>,
    /// The longest silence before and within a reply. A reply as such may take as long as it takes.
    pub idle: Duration,
    /// The longest wait that a service may ask for before a request is sent again: [`ALONE`] where nobody sees it,
    /// [`super::patience::WATCHED`] where a person does.
    pub longest_wait: Duration,
    /// Parameters passed on with every request, such as `temperature`; `null` leaves out one of ours.
    pub extra: Map<String, Value>,
    /// By which way the service is reached.
    pub way: client::Way,
    /// Which of the two ways of talking the service understands.
    pub api: Api,
    /// The header that carries the key in place of `Authorization: Bearer …`, such as `api-key`.
    pub key_header: Option<String>,
    /// Put behind the address of every request, as some gateways want it.
    pub query: Vec<(String, String)>,
    /// Tokens of a reply at most, reasoning included; `None`: as the service likes.
    pub most: Option<u32>,
    /// The parameter that carries this limit; `None`: the usual one of the API.
    pub most_name: Option<String>,
    /// Whether tools may be offered at all.
    pub tools: bool,
    /// Whether the model can be shown pictures.
    pub images: bool,
    /// Whether several calls in one reply are asked for; `None`: nothing is said about it.
    pub parallel_calls: Option<bool>,
    /// How hard the model is asked to think, in the service's word; `None`: nothing is said about it.
    pub effort: Option<String>,
    /// Whether the reasoning of earlier replies is sent back as it can be read, as some services demand and others
    /// refuse. What is sealed or signed goes back in any case.
    pub reasoning_back: bool,
}

/// A way of talking to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Api {
    /// `chat/completions`, which every service has.
    #[default]
    Chat,
    /// `responses`, as OpenAI wants it.
    Responses,
}

impl Settings {
    /// A model at this address, without a key, with the usual ninety seconds of silence allowed.
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

    /// The error without any secret that a service may have repeated in it.
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

    /// The address, and all that goes behind it: what it ends with itself, and what was set beside it.
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
            let wrong =
                || Error::NotAModel(format!("the key or header “{name}” holds letters that cannot be sent"));
            let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(name.as_str()).map_err(|_| wrong())?, value);
        }
        Ok(headers)
    }
}

/// A model behind an address. Cheap to make and to clone: nothing is read or connected before the first request.
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
    /// A model at this address. A wrong address is told with the first request.
    pub fn new(settings: Settings) -> Self {
        let patience = Patience::new(settings.idle, settings.longest_wait);
        Self(Arc::new(Inner { settings, patience, link: OnceCell::new(), spared: Spared::default() }))
    }

    /// The key that is sent, where there is one.
    pub(super) fn key(&self) -> Option<Secret> {
        self.0.settings.key.clone()
    }

    /// Makes ready what the first request needs: the system's certificates are read, which takes a moment. Nobody is
    /// connected to; a service learns of the person when something is said to it, and not before.
    pub async fn prepare(&self) {
        // What is wrong is told with the first request.
        if let Ok(base) = address::parse(&self.0.settings.base_url) {
            let _ = self.0.link(&base).await;
        }
    }

    /// The models that the service offers, in its own order.
    ///
    /// # Errors
    /// As for a reply; never tried again.
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
    /// Tokens that fit into a request to this model, or to the first where none is named, as the service says.
    /// `None` where it does not; nothing of this is an error.
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

/// What every attempt sends.
struct Sent {
    /// Where the reply comes from, as its echo says it.
    from: String,
    body: Written,
}

impl Inner {
    /// The first caller makes it, which takes a moment where certificates are read; all others wait for that.
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

    /// Opens a reply, once more where the service refuses a parameter that it can be spared.
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
        // It is written by our own service, in pieces.
        let stub = Map::<String, Value>::new();
        // Every field is set, or the environment would have a say: which service is used, and with whose key, is for
        // the settings alone. The key itself is written by our own service.
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

/// What our own service said, out of async-openai's wrapping.
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
    fn r57_no_error_tells_a_secret() {
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
