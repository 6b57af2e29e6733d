//! What stands between async-openai and the network: it sends, keeps what an error says, and looks at every byte that
//! comes, so that an end, a break and a silence are told apart.
//!
//! async-openai's own decoder drops half an event at the end, stops without a cause at bytes that are not UTF-8, takes
//! any end for a good one, and reads ahead without bound. So the events are made whole here, handed on one by one in
//! the plainest form there is, and not faster than they are taken.

use super::Error;
use super::events::{Decoder, Event, LARGEST};
use super::fault;
use super::gather::End;
use super::wire;
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::BoxError;

/// How many events may wait between here and whoever takes them.
const AHEAD: usize = 64;

/// What both ends of one reply know: how it ended, and how much room there is.
#[derive(Debug, Clone)]
pub struct Line(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    end: Mutex<Option<End>>,
    room: Semaphore,
}

impl Line {
    /// A line for one request.
    pub fn new() -> Self {
        Self(Arc::new(Shared { end: Mutex::new(None), room: Semaphore::new(AHEAD) }))
    }

    /// One event was taken.
    pub fn taken(&self) {
        self.0.room.add_permits(1);
    }

    /// How it ended; silently, where nothing is known.
    pub fn end(&self) -> End {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(End::Silent)
    }

    fn ends(&self, end: End) {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
    }

    async fn room(&self) {
        if let Ok(permit) = self.0.room.acquire().await {
            permit.forget();
        }
    }
}

/// Sends one request.
#[derive(Debug, Clone)]
pub struct Service {
    /// The connection.
    pub http: Client,
    /// Every header that is ours, the key among them.
    pub headers: HeaderMap,
    /// The longest silence.
    pub idle: Duration,
    /// Where it is told how the reply ended.
    pub line: Line,
}

impl tower::Service<HttpRequestFactory> for Service {
    type Response = Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            let mut request = factory.build().await?;
            let headers = request.headers_mut();
            // async-openai always writes one, be there a key or none.
            headers.remove(AUTHORIZATION);
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            for (name, value) in &service.headers {
                headers.insert(name, value.clone());
            }
            service.send(request).await.map_err(Into::into)
        })
    }
}

impl Service {
    async fn send(self, request: reqwest::Request) -> Result<Response, Error> {
        let url = request.url().clone();
        let response = match tokio::time::timeout(self.idle, self.http.execute(request)).await {
            Err(_) => return Err(Error::Idle(self.idle)),
            Ok(Err(error)) => return Err(fault::unreached(&error, &url)),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(fault::refused(response).await);
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.to_ascii_lowercase().starts_with("text/event-stream");
        let mut body = Body::new(response, self.idle);
        if is_stream {
            return Ok(self.tap(body));
        }
        // Labels are often wrong; the first letter says what it is.
        match body.peek().await? {
            None => Err(Error::NotAModel("the service sent an empty answer".to_owned())),
            Some(b'{' | b'[') => self.whole(body.all().await?),
            Some(b'<') => {
                let page = fault::page(&String::from_utf8_lossy(&body.some().await));
                Err(Error::NotAModel(format!("this is not a model's address: {page}")))
            }
            Some(_) if body.begins_as_events() => Ok(self.tap(body)),
            Some(_) => {
                let start = fault::clip(&String::from_utf8_lossy(&body.some().await), 120);
                Err(Error::NotAModel(format!(
                    "the service sent something that is no reply of a model: {start}"
                )))
            }
        }
    }

    /// A service that does not stream sends one body of JSON; it becomes one event.
    fn whole(self, body: Vec<u8>) -> Result<Response, Error> {
        let value: serde_json::Value = serde_json::from_slice(&body)
            .map_err(|error| Error::Cut(format!("the answer is not whole JSON: {error}")))?;
        if let Some(fault) = wire::read_fault(&value) {
            let status = fault.status.unwrap_or(200);
            return Err(fault.into_error(status, None));
        }
        if !wire::is_reply(&value) {
            let words = "the service answered, but not as a model does; is the address right?";
            return Err(Error::NotAModel(words.to_owned()));
        }
        self.line.ends(End::Said);
        Ok(http::Response::new(reqwest::Body::from(written(&value))).into())
    }

    fn tap(self, body: Body) -> Response {
        let (decoder, events) = (Decoder::default(), VecDeque::new());
        let tap = Tap { body, line: self.line, decoder, events, open: true, broken: None };
        let events = stream::unfold(tap, |mut tap| async move {
            let bytes = tap.next().await?;
            Some((Ok::<_, std::convert::Infallible>(bytes), tap))
        });
        http::Response::new(reqwest::Body::wrap_stream(events)).into()
    }
}

/// An event as async-openai cannot misread it.
fn written(value: &serde_json::Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

struct Tap {
    body: Body,
    line: Line,
    decoder: Decoder,
    events: VecDeque<Event>,
    open: bool,
    broken: Option<Error>,
}

impl Tap {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.events.pop_front() {
                Some(Event::Value(value)) => {
                    self.line.room().await;
                    return Some(written(&value));
                }
                Some(Event::Done) => {
                    self.line.ends(End::Said);
                    return None;
                }
                Some(Event::Broken(start)) => {
                    let words = format!("the service sent something that is no reply of a model: {start}");
                    self.line.ends(End::Broken(Error::NotAModel(words)));
                    return None;
                }
                None if !self.open => {
                    if let Some(error) = self.broken.take() {
                        self.line.ends(End::Broken(error));
                    }
                    return None;
                }
                None => match self.body.next().await {
                    Ok(Some(bytes)) => self.events.extend(self.decoder.take(&bytes)),
                    Ok(None) => {
                        self.open = false;
                        self.events.extend(self.decoder.end());
                    }
                    Err(error) => {
                        self.open = false;
                        self.events.extend(self.decoder.end());
                        // What came before it counts first; a word that all was said makes it not matter.
                        self.broken = Some(error);
                    }
                },
            }
        }
    }
}

/// The bytes of an answer, none of which may be long in coming.
struct Body {
    response: Response,
    idle: Duration,
    first: Option<Bytes>,
}

impl Body {
    fn new(response: Response, idle: Duration) -> Self {
        Self { response, idle, first: None }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        match tokio::time::timeout(self.idle, self.response.chunk()).await {
            Err(_) => Err(Error::Idle(self.idle)),
            Ok(Err(error)) => Err(Error::Cut(fault::innermost(&error))),
            Ok(Ok(bytes)) => Ok(bytes),
        }
    }

    /// The first byte that is no blank, without taking it.
    async fn peek(&mut self) -> Result<Option<u8>, Error> {
        let mut seen = Vec::new();
        while let Some(bytes) = self.next().await? {
            seen.extend_from_slice(&bytes);
            let bare = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&seen);
            if let Some(byte) = bare.iter().copied().find(|byte| !byte.is_ascii_whitespace()) {
                self.first = Some(Bytes::from(seen));
                return Ok(Some(byte));
            }
            if seen.len() > LARGEST {
                break;
            }
        }
        Ok(None)
    }

    /// Whether what was peeked at can be the beginning of a stream of events.
    fn begins_as_events(&self) -> bool {
        let seen = self.first.as_deref().unwrap_or_default();
        let text = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(seen).trim_ascii_start();
        let fields = [&b":"[..], b"data", b"event", b"id", b"retry"];
        fields.iter().any(|field| text.starts_with(field) || field.starts_with(text))
    }

    async fn all(&mut self) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
            if all.len() > LARGEST {
                return Err(Error::NotAModel(format!("the answer has more than {} MB", LARGEST >> 20)));
            }
        }
        let bare = all.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec);
        Ok(bare.unwrap_or(all))
    }

    /// What came first: enough for the title of a page.
    async fn some(&mut self) -> Bytes {
        self.next().await.ok().flatten().unwrap_or_default()
    }
}
