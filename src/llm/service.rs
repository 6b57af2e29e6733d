//! HTTP service between async-openai and the network: sends requests, keeps error bodies, and inspects every byte to
//! distinguish a normal end, an error and a silence.
//!
//! async-openai's decoder drops an incomplete last event, stops without a cause at invalid UTF-8, accepts any end as
//! normal, and reads ahead without limit. So events are decoded here, no faster than they are consumed. They are passed
//! in a shared queue; async-openai's stream contains only their number. Serializing and parsing every event again would
//! cost as much as the rest of a reply, and one wake-up per event even more.

use super::body::Body;
use super::client::Link;
use super::events::{Decoder, Event};
use super::patience::Pulse;
use super::reply::End;
use super::written::Written;
use super::{Api, Error, fault, json, misaddress, responses, wire};
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::BoxError;

/// Maximum number of events in the queue.
const AHEAD: usize = 64;

/// Error text if a server did not send a reply.
const ODD: &str = "Cannot read the reply";

/// State shared by the producer and the consumer of one reply: its end and its event queue.
#[derive(Debug, Clone)]
pub struct Line(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    end: Mutex<Option<End>>,
    /// Events in the queue, oldest first.
    handed: Mutex<VecDeque<Event>>,
    room: Semaphore,
    pulse: Pulse,
}

impl Line {
    /// Creates the state for one request.
    pub fn new(pulse: Pulse) -> Self {
        let (end, handed, room) = (Mutex::default(), Mutex::default(), Semaphore::new(AHEAD));
        Self(Arc::new(Shared { end, handed, room, pulse }))
    }

    /// Takes the number of events announced by a stream item, which frees their slots.
    pub fn take(&self, word: &Value) -> Vec<Event> {
        let count = word.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let mut handed = self.0.handed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = count.min(handed.len());
        self.0.room.add_permits(count);
        handed.drain(..count).collect()
    }

    /// Queues events and returns the stream item that announces them.
    fn hand(&self, events: Vec<Event>) -> Bytes {
        let word = format!("data: {}\n\n", events.len());
        self.0.handed.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        word.into()
    }

    /// Returns how the reply ended; `End::Unmarked` if unknown.
    pub fn end(&self) -> End {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(End::Silent)
    }

    fn ends(&self, end: End) {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
    }

    /// Waits for a free slot in the queue and takes it.
    async fn room(&self) {
        if let Ok(permit) = self.0.room.acquire().await {
            permit.forget();
        }
    }

    /// Takes a slot in the queue if one is free.
    fn has_room(&self) -> bool {
        self.0.room.try_acquire().is_ok_and(|permit| {
            permit.forget();
            true
        })
    }
}

/// Sends one request.
#[derive(Debug, Clone)]
pub struct Service {
    pub link: Link,
    /// Base address of the endpoint.
    pub base: Url,
    /// All headers set by aye, including the key.
    pub headers: HeaderMap,
    /// Maximum time without data.
    pub idle: Duration,
    /// State shared with the consumer of the reply.
    pub line: Line,
    /// API whose replies are expected.
    pub api: Api,
    /// Query parameters to add to the address.
    pub query: Vec<(String, String)>,
    /// Body to send in place of async-openai's.
    pub body: Written,
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
            // async-openai always sets this header, with or without a key.
            headers.remove(AUTHORIZATION);
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
            for (name, value) in &service.headers {
                headers.insert(name, value.clone());
            }
            extend(request.url_mut(), &service.query);
            *request.body_mut() = Some(reqwest::Body::wrap(service.body.sending()));
            service.send(request).await.map_err(Into::into)
        })
    }
}

impl Service {
    async fn send(self, request: reqwest::Request) -> Result<Response, Error> {
        let url = request.url().clone();
        let proxy = self.link.proxy.as_ref();
        let response = match tokio::time::timeout(self.idle, self.link.http.execute(request)).await {
            Err(_) => return Err(Error::Idle(self.idle)),
            Ok(Err(error)) => return Err(fault::unreached(&error, &url, proxy).await),
            Ok(Ok(response)) => response,
        };
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection() {
            return Err(fault::elsewhere(status.as_u16(), &headers, &url));
        }
        let pulse = self.line.0.pulse.clone();
        pulse.beats();
        let body = Body::new(response, self.idle, pulse);
        if !status.is_success() {
            let error = fault::refused(status.as_u16(), &headers, body.ok(), &url, proxy).await;
            return Err(self.with_advice(error).await);
        }
        let mut body = body?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.to_ascii_lowercase().starts_with("text/event-stream");
        // The content type is often wrong; the first byte is reliable.
        match body.peek().await? {
            None if !is_stream => Err(self.not_a_reply("the response is empty").await),
            Some(b'{' | b'[') => self.bare(body).await,
            Some(b'<') => Err(self.not_a_reply(&fault::page(&body.glance().await)).await),
            Some(_) if !is_stream && !body.begins_as_events().await? => {
                let start = fault::clip(&body.glance().await, 120);
                Err(self.not_a_reply(&format!("the server sent “{start}”")).await)
            }
            None | Some(_) => Ok(self.tap(body)),
        }
    }

    /// Returns the error for a response that is not a reply, with advice.
    async fn not_a_reply(&self, what: &str) -> Error {
        let advice = misaddress::advice(&self.link, &self.base, &self.query, &self.headers).await;
        Error::NotAModel(format!("{ODD}: {what}. {advice}"))
    }

    async fn with_advice(&self, error: Error) -> Error {
        misaddress::with_advice(error, &self.link, &self.base, &self.query, &self.headers).await
    }

    /// Handles JSON without event framing: a provider that does not stream sends one body; some send their chunks as
    /// lines.
    async fn bare(self, mut body: Body) -> Result<Response, Error> {
        let line = json::parse(body.first_line().await?.trim());
        if line.is_ok_and(|line| wire::is_chunk(&line)) {
            return Ok(self.tap(body));
        }
        let came = body.all().await;
        let text = body.seen();
        match (json::parse(&text), came) {
            // A complete reply is used even if the connection was lost after it.
            (Ok(value), _) => self.whole(value).await,
            (Err(_), Err(lost)) => Err(lost),
            (Err(error), Ok(())) if error.is_eof() => {
                Err(Error::Cut(format!("the response is incomplete JSON: {error}")))
            }
            (Err(_), Ok(())) if is_lines(&text) => Err(self
                .not_a_reply("the server sent lines of JSON that are not chat completion events")
                .await),
            (Err(_), Ok(())) => {
                Err(self.not_a_reply(&format!("the server sent “{}”", fault::clip(&text, 120))).await)
            }
        }
    }

    /// Passes a complete reply on as one event.
    async fn whole(self, value: Value) -> Result<Response, Error> {
        if let Some(fault) = wire::read_fault(&value) {
            let status = fault.status.unwrap_or(200);
            return Err(self.with_advice(fault.into_error(status, None)).await);
        }
        let is_reply = match self.api {
            Api::Chat => wire::is_reply(&value),
            Api::Responses => responses::is_reply(&value),
        };
        if !is_reply {
            return Err(self.not_a_reply("the server sent JSON that is not a model reply").await);
        }
        self.line.ends(End::Said);
        Ok(http::Response::new(reqwest::Body::from(self.line.hand(vec![Event::Value(value)]))).into())
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

/// Adds query parameters to an address. Leaves the address unchanged if there are none.
pub fn extend(url: &mut Url, query: &[(String, String)]) {
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
}

/// Returns whether the text is JSON with one value per line.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3);
    lines.all(|line| json::parse(line).is_ok())
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
                Some(event @ (Event::Value(_) | Event::Unreadable(_))) => {
                    self.line.room().await;
                    let mut together = vec![event];
                    let is_handed = |next: &mut Event| matches!(next, Event::Value(_) | Event::Unreadable(_));
                    while let Some(next) =
                        self.events.pop_front_if(|next| is_handed(next) && self.line.has_room())
                    {
                        together.push(next);
                    }
                    return Some(self.line.hand(together));
                }
                Some(Event::Done) => {
                    self.line.ends(End::Said);
                    return None;
                }
                Some(Event::Broken(start)) => {
                    self.line.ends(End::Broken(Error::NotAModel(format!("{ODD}: {start}"))));
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
                        // Earlier events come first; an end marker among them makes the error irrelevant.
                        self.broken = Some(error);
                    }
                },
            }
        }
    }
}
