//! Middleware between async-openai and the network for replies: adds the conversation to a request, and inspects every
//! byte of the response to distinguish a normal end, an error and a silence.
//!
//! async-openai's decoder drops an incomplete last event, stops without a cause at invalid UTF-8, accepts any end as
//! normal, and reads ahead without limit. So events are decoded here, no faster than they are consumed. They are passed
//! in a shared queue; an item of async-openai's stream says only how many events were queued. If the items contained
//! the events as text, each event would be parsed twice, and the consumer would be woken for each. A usual event takes
//! 27 allocations (3 kB); parsing it twice would add 32 (4 kB).

use super::chunk_queue::End;
use super::events::{Decoder, Event};
use super::request_body::Conversation;
use super::response_body::Body;
use super::transport::Transport;
use super::{Api, Error, chat_events, provider_error, responses, tolerant_json};
use async_openai::middleware::HttpRequestFactory;
use bytes::Bytes;
use futures::stream;
use reqwest::Response;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tower::BoxError;

/// Maximum number of events in the queue.
const MAX_QUEUED_EVENTS: usize = 64;

/// Start of the error text if a server did not send a reply.
const UNREADABLE_REPLY: &str = "Cannot read the reply";

/// State shared by the producer and the consumer of one reply: its end and its event queue.
#[derive(Debug, Clone)]
pub struct SharedReply(Arc<SharedState>);

#[derive(Debug)]
struct SharedState {
    end: Mutex<Option<End>>,
    /// Events in the queue, oldest first.
    queue: Mutex<VecDeque<Event>>,
    free_slots: Semaphore,
}

impl SharedReply {
    /// Creates the state for one request.
    pub fn new() -> Self {
        let (end, queue, free_slots) = (Mutex::default(), Mutex::default(), Semaphore::new(MAX_QUEUED_EVENTS));
        Self(Arc::new(SharedState { end, queue, free_slots }))
    }

    /// Takes as many events from the queue as a stream item announces, which frees their slots.
    pub fn take_events(&self, announcement: &Value) -> Vec<Event> {
        let count = announcement.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let count = count.min(queue.len());
        self.0.free_slots.add_permits(count);
        queue.drain(..count).collect()
    }

    /// Queues events and returns the stream item that announces them.
    fn queue_events(&self, events: Vec<Event>) -> Bytes {
        let announcement = format!("data: {}\n\n", events.len());
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        announcement.into()
    }

    /// Returns how the reply ended; `End::Unmarked` if unknown.
    pub fn end_state(&self) -> End {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(End::Unmarked)
    }

    /// Records how the reply ended, unless an end was recorded before.
    fn set_end(&self, end: End) {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
    }

    /// Waits for a free slot in the queue and takes it.
    async fn take_slot(&self) {
        if let Ok(permit) = self.0.free_slots.acquire().await {
            permit.forget();
        }
    }

    /// Takes a slot in the queue if one is free.
    fn try_take_slot(&self) -> bool {
        self.0.free_slots.try_acquire().is_ok_and(|permit| {
            permit.forget();
            true
        })
    }
}

/// Middleware that sends one request for a reply.
#[derive(Debug, Clone)]
pub struct Service {
    pub transport: Transport,
    /// State shared with the consumer of the reply.
    pub shared: SharedReply,
    /// API whose replies are expected.
    pub api: Api,
    /// Conversation to send next to the parameters.
    pub conversation: Conversation,
}

impl Service {
    /// Sends the request with the conversation, and returns its response with checked events.
    pub async fn send(self, factory: HttpRequestFactory) -> Result<Response, BoxError> {
        let mut request = self.transport.build_request(factory).await?;
        self.conversation.add_to(&mut request);
        self.send_request(request).await.map_err(Into::into)
    }

    /// Returns the headers of a request for a reply.
    pub fn request_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
        headers.extend(self.transport.headers.clone());
        headers
    }

    async fn send_request(self, request: reqwest::Request) -> Result<Response, Error> {
        let (headers, mut body) = self.transport.send_request(request).await?;
        let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = content_type.to_ascii_lowercase().starts_with("text/event-stream");
        // The content type is often wrong; the first byte is reliable.
        match body.peek_first_byte().await? {
            None if !is_stream => Err(self.invalid_reply_error("the response is empty").await),
            Some(b'{' | b'[') => self.read_json_body(body).await,
            Some(b'<') => {
                Err(self.invalid_reply_error(&provider_error::describe_page(&body.peek_for_error().await)).await)
            }
            Some(_) if !is_stream && !body.begins_as_events().await? => {
                let start = provider_error::clip(&body.peek_for_error().await, 120);
                Err(self.invalid_reply_error(&format!("the server sent “{start}”")).await)
            }
            None | Some(_) => Ok(self.stream_events(body)),
        }
    }

    /// Returns the error for a response that is not a reply, with advice.
    async fn invalid_reply_error(&self, problem: &str) -> Error {
        let advice = self.transport.advise_address().await;
        Error::InvalidReply(format!("{UNREADABLE_REPLY}: {problem}. {advice}"))
    }

    /// Handles JSON without event framing: a provider that does not stream sends one body; some send their chunks as
    /// lines.
    async fn read_json_body(self, mut body: Body) -> Result<Response, Error> {
        let line = tolerant_json::parse_json(body.peek_first_line().await?.trim());
        if line.is_ok_and(|line| chat_events::is_chunk(&line)) {
            return Ok(self.stream_events(body));
        }
        let read_result = body.peek_all().await;
        let text = body.peeked_text();
        match (tolerant_json::parse_json(&text), read_result) {
            // A complete reply is used even if the connection was lost after it.
            (Ok(value), _) => self.pass_on_reply(value).await,
            (Err(_), Err(error)) => Err(error),
            (Err(error), Ok(())) if error.is_eof() => {
                Err(Error::ConnectionLost(format!("the response is incomplete JSON: {error}")))
            }
            (Err(_), Ok(())) if is_json_lines(&text) => {
                Err(self.invalid_reply_error("the server sent lines of JSON that are not chat completion events").await)
            }
            (Err(_), Ok(())) => {
                Err(self.invalid_reply_error(&format!("the server sent “{}”", provider_error::clip(&text, 120))).await)
            }
        }
    }

    /// Passes a complete reply on as one event.
    async fn pass_on_reply(self, value: Value) -> Result<Response, Error> {
        if let Some(fault) = chat_events::parse_error(&value) {
            let status = fault.status.unwrap_or(200);
            return Err(self.transport.add_advice(fault.into_error(status, None)).await);
        }
        let is_reply = match self.api {
            Api::Chat => chat_events::is_reply(&value),
            Api::Responses => responses::is_reply(&value),
        };
        if !is_reply {
            return Err(self.invalid_reply_error("the server sent JSON that is not a model reply").await);
        }
        self.shared.set_end(End::Marked);
        Ok(http::Response::new(reqwest::Body::from(self.shared.queue_events(vec![Event::Value(value)]))).into())
    }

    fn stream_events(self, body: Body) -> Response {
        let (decoder, events) = (Decoder::default(), VecDeque::new());
        let reader = EventReader { body, shared: self.shared, decoder, events, is_open: true, failure: None };
        let events = stream::unfold(reader, |mut reader| async move {
            let bytes = reader.next_item().await?;
            Some((Ok::<_, std::convert::Infallible>(bytes), reader))
        });
        http::Response::new(reqwest::Body::wrap_stream(events)).into()
    }
}

/// Returns whether the text is JSON with one value per line.
fn is_json_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3);
    lines.all(|line| tolerant_json::parse_json(line).is_ok())
}

/// Decodes a body into events and puts them into the shared queue.
struct EventReader {
    body: Body,
    shared: SharedReply,
    decoder: Decoder,
    /// Decoded events that are not in the shared queue yet.
    events: VecDeque<Event>,
    is_open: bool,
    /// Error that ended the body, until the events before it are handled.
    failure: Option<Error>,
}

impl EventReader {
    /// Queues the next events and returns the stream item that announces them, or `None` at the end.
    async fn next_item(&mut self) -> Option<Bytes> {
        loop {
            match self.events.pop_front() {
                Some(event @ (Event::Value(_) | Event::Unreadable(_))) => {
                    self.shared.take_slot().await;
                    let mut batch = vec![event];
                    let is_queueable = |event: &mut Event| matches!(event, Event::Value(_) | Event::Unreadable(_));
                    while let Some(event) =
                        self.events.pop_front_if(|next| is_queueable(next) && self.shared.try_take_slot())
                    {
                        batch.push(event);
                    }
                    return Some(self.shared.queue_events(batch));
                }
                Some(Event::Done) => {
                    self.shared.set_end(End::Marked);
                    return None;
                }
                Some(Event::Broken(start)) => {
                    self.shared.set_end(End::Failed(Error::InvalidReply(format!("{UNREADABLE_REPLY}: {start}"))));
                    return None;
                }
                None if !self.is_open => {
                    if let Some(error) = self.failure.take() {
                        self.shared.set_end(End::Failed(error));
                    }
                    return None;
                }
                None => match self.body.next_bytes().await {
                    Ok(Some(bytes)) => self.events.extend(self.decoder.decode(&bytes)),
                    Ok(None) => {
                        self.is_open = false;
                        self.events.extend(self.decoder.finish());
                    }
                    Err(error) => {
                        self.is_open = false;
                        self.events.extend(self.decoder.finish());
                        // Earlier events come first; an end marker among them makes the error irrelevant.
                        self.failure = Some(error);
                    }
                },
            }
        }
    }
}
