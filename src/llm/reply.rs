//! A reply that is being received: what both ways of talking to a service have in common.

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

/// How long after the end of a reply its count of tokens may still come.
const GRACE: Duration = Duration::from_secs(3);

/// How the stream of events ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The service said that it was over.
    Said,
    /// It just ended.
    Silent,
    /// Something broke it.
    Broken(Error),
}

/// Where chunks are put, oldest first.
pub type Out = VecDeque<Result<Chunk, Error>>;

/// Whether a person sees something of it: after that, a request is not sent again.
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

/// Whose events they are that are gathered into chunks.
#[derive(Debug)]
pub enum Gathering {
    /// Those of chat completions.
    Chat(Box<gather::Gather>),
    /// Those of responses.
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

    /// Nothing but the count of tokens can still come.
    fn rests(&self) -> bool {
        match self {
            Self::Chat(gather) => gather.rests(),
            Self::Responses(_) => false,
        }
    }

    /// Nothing can still come.
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

/// The events of one answer, as async-openai gives them.
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
    /// The reply that these events make; `line` is the one that the service they come from has.
    pub fn new(events: Events, line: Line, gathering: Gathering) -> Self {
        Self { events, line, gathering, ready: Out::new(), open: true }
    }

    /// The next chunk, and what is left; nothing once all was said.
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
                            // These end the stream, and are not handed on.
                            Event::Done | Event::Broken(_) => {}
                        }
                        if self.gathering.is_over() {
                            self.open = false;
                            self.gathering.end(End::Said, &mut self.ready);
                            break;
                        }
                    }
                }
                // Our service never hands on what cannot be read, and knows better than the decoder why it ended.
                Some(Err(_)) | None => {
                    self.open = false;
                    self.gathering.end(self.line.end(), &mut self.ready);
                }
            }
        }
    }
}
