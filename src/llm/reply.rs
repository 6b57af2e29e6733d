//! A reply being received, common to both APIs.

use super::events::Event;
use super::service::Line;
use super::{Error, gather, responses};
use crate::chat::Chunk;
use async_openai::error::OpenAIError;
use futures::stream::{Stream, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

/// Time to wait for the token usage after the end of a reply.
const GRACE: Duration = Duration::from_secs(3);

/// End of a stream of events.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With the provider's end marker.
    Said,
    /// Without an end marker.
    Silent,
    /// With an error.
    Broken(Error),
}

/// Queue of chunks, oldest first.
pub type Out = VecDeque<Result<Chunk, Error>>;

/// Returns whether the user sees the chunk. After a visible chunk a request is not retried.
pub fn is_visible(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Text(_)
        | Chunk::Reasoning(_)
        | Chunk::WasReasoning
        | Chunk::Writing { .. }
        | Chunk::Call(_)
        | Chunk::Done(_) => true,
        Chunk::Usage(_)
        | Chunk::Retrying { .. }
        | Chunk::Quiet { .. }
        | Chunk::Answering { .. }
        | Chunk::Echo(_) => false,
    }
}

/// Collector of the events of one API.
#[derive(Debug)]
pub enum Gathering {
    /// Chat completions.
    Chat(Box<gather::Gather>),
    /// Responses.
    Responses(Box<responses::Gather>),
}

impl Gathering {
    fn take(&mut self, event: &Value, out: &mut Out) {
        match self {
            Self::Chat(gather) => gather.take(event, out),
            Self::Responses(gather) => gather.take(event, out),
        }
    }

    fn skip(&mut self, start: String) {
        match self {
            Self::Chat(gather) => gather.skip(start),
            Self::Responses(gather) => gather.skip(start),
        }
    }

    /// Returns whether only the token usage can still follow.
    fn rests(&self) -> bool {
        match self {
            Self::Chat(gather) => gather.rests(),
            Self::Responses(_) => false,
        }
    }

    /// Returns whether nothing can follow.
    fn is_over(&self) -> bool {
        match self {
            Self::Chat(_) => false,
            Self::Responses(gather) => gather.is_over(),
        }
    }

    fn end(&mut self, end: End, out: &mut Out) {
        match self {
            Self::Chat(gather) => gather.end(end, out),
            Self::Responses(gather) => gather.end(end, out),
        }
    }
}

/// Events of one response, as async-openai yields them.
pub type Events = Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>;

/// A reply so far.
pub struct Reply {
    events: Events,
    line: Line,
    gathering: Gathering,
    ready: Out,
    open: bool,
}

impl Reply {
    /// Creates a reply from these events; `line` is shared with the service that produces them.
    pub fn new(events: Events, line: Line, gathering: Gathering) -> Self {
        Self { events, line, gathering, ready: Out::new(), open: true }
    }

    /// Returns the next chunk and the rest of the reply, or `None` at the end.
    pub async fn next(mut self) -> Option<(Result<Chunk, Error>, Self)> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some((item, self));
            }
            if !self.open {
                return None;
            }
            let next = self.events.next();
            let event = if self.gathering.rests() {
                tokio::time::timeout(GRACE, next).await.unwrap_or(None)
            } else {
                next.await
            };
            match event {
                Some(Ok(word)) => {
                    for event in self.line.take(&word) {
                        match event {
                            Event::Value(event) => self.gathering.take(&event, &mut self.ready),
                            Event::Unreadable(start) => self.gathering.skip(start),
                            // These end the stream and are not queued.
                            Event::Done | Event::Broken(_) => {}
                        }
                        if self.gathering.is_over() {
                            self.open = false;
                            self.gathering.end(End::Said, &mut self.ready);
                            break;
                        }
                    }
                }
                // The service queues only readable events, and it knows better than the decoder why the stream ended.
                Some(Err(_)) | None => {
                    self.open = false;
                    self.gathering.end(self.line.end(), &mut self.ready);
                }
            }
        }
    }
}
