//! What stands between async-openai and the network: it sends, keeps what an error says, and looks at every byte that
//! comes, so that an end, a break and a silence are told apart.
//!
//! async-openai's own decoder drops half an event at the end, stops without a cause at bytes that are not UTF-8, takes
//! any end for a good one, and reads ahead without bound. So the events are made whole here, and not faster than they
//! are taken. They are handed on beside its stream, in which stands only how many there are: to be written and parsed
//! a second time would cost as much again as all the rest of a reply, and to be woken for each one by one more than that.

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

/// How many events may wait between here and whoever takes them.
const AHEAD: usize = 64;

/// What failed if a server sent something else than a reply.
const ODD: &str = "Cannot read the reply";

/// What both ends of one reply know: how it ended, and how much room there is.
#[derive(Debug, Clone)]
pub struct Line(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    end: Mutex<Option<End>>,
    /// Events that are handed on and not taken, oldest first.
    handed: Mutex<VecDeque<Event>>,
    room: Semaphore,
    pulse: Pulse,
}

impl Line {
    /// A line for one request.
    pub fn new(pulse: Pulse) -> Self {
        let (end, handed, room) = (Mutex::default(), Mutex::default(), Semaphore::new(AHEAD));
        Self(Arc::new(Shared { end, handed, room, pulse }))
    }

    /// Takes the events that this word of the stream speaks of, which makes room for as many.
    pub fn take(&self, word: &Value) -> Vec<Event> {
        let count = word.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let mut handed = self.0.handed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = count.min(handed.len());
        self.0.room.add_permits(count);
        handed.drain(..count).collect()
    }

    /// Hands on events, and says in the stream how many.
    fn hand(&self, events: Vec<Event>) -> Bytes {
        let word = format!("data: {}\n\n", events.len());
        self.0.handed.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        word.into()
    }

    /// How it ended; silently, where nothing is known.
    pub fn end(&self) -> End {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(End::Silent)
    }

    fn ends(&self, end: End) {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
    }

    /// Waits until there is room for one more.
    async fn room(&self) {
        if let Ok(permit) = self.0.room.acquire().await {
            permit.forget();
        }
    }

    /// Whether there is room for one more at once.
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
    /// The connection.
    pub link: Link,
    /// The address that the endpoint is below.
    pub base: Url,
    /// Every header that is ours, the key among them.
    pub headers: HeaderMap,
    /// The longest silence.
    pub idle: Duration,
    /// Where it is told how the reply ended.
    pub line: Line,
    /// Whose replies are to be known.
    pub api: Api,
    /// Put behind the address.
    pub query: Vec<(String, String)>,
    /// What is sent, in place of the body that async-openai made.
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
            // async-openai always writes one, be there a key or none.
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
        // Labels are often wrong; the first letter says what it is.
        match body.peek().await? {
            None if !is_stream => Err(self.not_a_reply("the answer is empty").await),
            Some(b'{' | b'[') => self.bare(body).await,
            Some(b'<') => Err(self.not_a_reply(&fault::page(&body.glance().await)).await),
            Some(_) if !is_stream && !body.begins_as_events().await? => {
                let start = fault::clip(&body.glance().await, 120);
                Err(self.not_a_reply(&format!("the server sent “{start}”")).await)
            }
            None | Some(_) => Ok(self.tap(body)),
        }
    }

    /// The error of an answer that is none of a model, with what to do about it.
    async fn not_a_reply(&self, what: &str) -> Error {
        let advice = misaddress::advice(&self.link, &self.base, &self.query, &self.headers).await;
        Error::NotAModel(format!("{ODD}: {what}. {advice}"))
    }

    async fn with_advice(&self, error: Error) -> Error {
        misaddress::with_advice(error, &self.link, &self.base, &self.query, &self.headers).await
    }

    /// JSON without the frame of events: a service that does not stream sends one body; some send their chunks as
    /// lines.
    async fn bare(self, mut body: Body) -> Result<Response, Error> {
        let line = json::parse(body.first_line().await?.trim());
        if line.is_ok_and(|line| wire::is_chunk(&line)) {
            return Ok(self.tap(body));
        }
        let came = body.all().await;
        let text = body.seen();
        match (json::parse(&text), came) {
            // A reply that is whole is one, whatever became of the connection behind it.
            (Ok(value), _) => self.whole(value).await,
            (Err(_), Err(lost)) => Err(lost),
            (Err(error), Ok(())) if error.is_eof() => {
                Err(Error::Cut(format!("the answer is not whole JSON: {error}")))
            }
            (Err(_), Ok(())) if is_lines(&text) => Err(self
                .not_a_reply("the server sent lines of JSON that are not those of chat completions")
                .await),
            (Err(_), Ok(())) => {
                Err(self.not_a_reply(&format!("the server sent “{}”", fault::clip(&text, 120))).await)
            }
        }
    }

    /// A whole reply becomes one event.
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
            return Err(self.not_a_reply("the server sent JSON that is not a reply of a model").await);
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

/// Puts this behind an address, and nothing where there is nothing.
pub fn extend(url: &mut Url, query: &[(String, String)]) {
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
}

/// Whether it is JSON, one value in each line.
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
                        // What came before it counts first; a word that all was said makes it not matter.
                        self.broken = Some(error);
                    }
                },
            }
        }
    }
}
