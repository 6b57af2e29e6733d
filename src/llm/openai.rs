//! A model behind a chat-completions address, whoever serves it: a request out, a stream in.

use super::gather::{Gather, Out};
use super::models::{self, Model};
use super::service::{Line, Service};
use super::{Error, Llm, Secret, address, client, request, retry};
use crate::chat::{Chunk, Request};
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// How long after the end of a reply its count of tokens may still come.
const GRACE: Duration = Duration::from_secs(3);

/// What is needed to reach a model.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address below which `chat/completions` is, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as `Authorization: Bearer …`; most local servers need none.
    pub key: Option<Secret>,
    /// More headers, sent to this address alone. Their values are treated as secrets. They win over ours.
    pub headers: Vec<(String, Secret)>,
    /// The longest silence before and within a reply. A reply as such may take as long as it takes.
    pub idle: Duration,
    /// Parameters passed on with every request, such as `temperature`; `null` leaves out one of ours.
    pub extra: Map<String, Value>,
}

impl Settings {
    /// A model at this address, without a key, with the usual ninety seconds of silence allowed.
    pub fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            key: None,
            headers: Vec::new(),
            idle: Duration::from_secs(90),
            extra: Map::new(),
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
            Error::Cut(words) => Error::Cut(mask(words)),
            Error::Idle(idle) => Error::Idle(idle),
            Error::NotAModel(words) => Error::NotAModel(mask(words)),
            Error::InStream(words) => Error::InStream(mask(words)),
        }
    }

    fn all_headers(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let bearer = self.key.iter().filter(|key| !key.reveal().is_empty());
        let bearer = bearer.map(|key| (AUTHORIZATION.to_string(), format!("Bearer {}", key.reveal())));
        let more = self.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        for (name, value) in bearer.chain(more) {
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
    http: OnceCell<reqwest::Client>,
}

impl OpenAi {
    /// A model at this address. A wrong address is told with the first request.
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(Inner { settings, http: OnceCell::new() }))
    }

    /// The models that the service offers, in its own order.
    ///
    /// # Errors
    /// As for a reply; never tried again.
    pub async fn models(&self) -> Result<Vec<Model>, Error> {
        let settings = &self.0.settings;
        let listed = async {
            let base = address::parse(&settings.base_url)?;
            let http = self.0.client(&base).await?;
            models::list(http, &base, settings.all_headers()?, settings.idle).await
        };
        listed.await.map_err(|error| settings.mask(error))
    }
}

impl Llm for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Chunk, Error>> {
        let inner = self.0.clone();
        let body = Arc::new(request::body(&request, &inner.settings.extra));
        retry::stream(move || inner.clone().attempt(body.clone()))
    }
}

impl Inner {
    /// The first caller makes it, which takes a moment where certificates are read; all others wait for that.
    async fn client(&self, base: &reqwest::Url) -> Result<reqwest::Client, Error> {
        self.http.get_or_try_init(|| client::build_aside(base.clone())).await.cloned()
    }

    fn attempt(self: Arc<Self>, body: Arc<Value>) -> BoxStream<'static, Result<Chunk, Error>> {
        let opened = {
            let inner = self.clone();
            async move {
                match inner.open(&body).await {
                    Ok(reply) => stream::unfold(reply, Reply::next).boxed(),
                    Err(error) => stream::iter([Err(error)]).boxed(),
                }
            }
        };
        let masked = move |item: Result<Chunk, Error>| item.map_err(|error| self.settings.mask(error));
        stream::once(opened).flatten().map(masked).boxed()
    }

    async fn open(&self, body: &Value) -> Result<Reply, Error> {
        let base = address::parse(&self.settings.base_url)?;
        let http = self.client(&base).await?;
        let line = Line::new();
        let service = Service {
            http: http.clone(),
            headers: self.settings.all_headers()?,
            idle: self.settings.idle,
            line: line.clone(),
        };
        // Every field is set, or the environment would have a say: which service is used, and with whose key, is for
        // the settings alone. The key itself is written by our own service.
        let config = OpenAIConfig::new()
            .with_api_base(base.as_str().trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        let client = async_openai::Client::build(http, config).with_http_service(service);
        let events = client.chat().create_stream_byot::<_, Value>(body).await.map_err(reason)?;
        Ok(Reply { events, line, gather: Gather::default(), ready: Out::new(), open: true })
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

type Events = Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>;

/// A reply that is being received.
struct Reply {
    events: Events,
    line: Line,
    gather: Gather,
    ready: Out,
    open: bool,
}

impl Reply {
    async fn next(mut self) -> Option<(Result<Chunk, Error>, Self)> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some((item, self));
            }
            if !self.open {
                return None;
            }
            let next = self.events.next();
            let event = if self.gather.rests() {
                tokio::time::timeout(GRACE, next).await.unwrap_or(None)
            } else {
                next.await
            };
            match event {
                Some(Ok(event)) => {
                    self.line.taken();
                    self.gather.take(&event, &mut self.ready);
                }
                // Our service never hands on what cannot be read, and knows better than the decoder why it ended.
                Some(Err(_)) | None => {
                    self.open = false;
                    self.gather.end(self.line.end(), &mut self.ready);
                }
            }
        }
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
