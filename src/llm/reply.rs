//! A reply being received, common to both APIs.

use super::chunk_queue::{ChunkQueue, End};
use super::events::Event;
use super::service::SharedReply;
use super::{Error, chat_collector, responses};
use crate::chat::Chunk;
use async_openai::error::OpenAIError;
use futures::stream::{Stream, StreamExt};
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;

/// Time to wait for the token usage after the end of a reply.
const USAGE_TIMEOUT: Duration = Duration::from_secs(3);

/// Collector of the events of one API.
#[derive(Debug)]
pub enum Collector {
    /// Chat completions.
    Chat(Box<chat_collector::ChatCollector>),
    /// Responses.
    Responses(Box<responses::ResponsesCollector>),
}

impl Collector {
    fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue) {
        match self {
            Self::Chat(collector) => collector.collect_event(event, out),
            Self::Responses(collector) => collector.collect_event(event, out),
        }
    }

    fn skip_event(&mut self, start: String) {
        match self {
            Self::Chat(collector) => collector.skip_event(start),
            Self::Responses(collector) => collector.skip_event(start),
        }
    }

    /// Returns whether only the token usage can still follow.
    fn is_ending(&self) -> bool {
        match self {
            Self::Chat(collector) => collector.is_ending(),
            Self::Responses(_) => false,
        }
    }

    /// Returns whether nothing can follow.
    fn has_ended(&self) -> bool {
        match self {
            Self::Chat(_) => false,
            Self::Responses(collector) => collector.has_ended(),
        }
    }

    fn finish(&mut self, end: End, out: &mut ChunkQueue) {
        match self {
            Self::Chat(collector) => collector.finish(end, out),
            Self::Responses(collector) => collector.finish(end, out),
        }
    }
}

/// Events of one response, as async-openai yields them.
pub type Events = Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>;

/// A reply so far.
pub struct Reply {
    events: Events,
    shared: SharedReply,
    collector: Collector,
    ready: ChunkQueue,
    is_open: bool,
}

impl Reply {
    /// Creates a reply from these events; `shared` is also held by the service that produces them.
    pub fn new(events: Events, shared: SharedReply, collector: Collector) -> Self {
        Self { events, shared, collector, ready: ChunkQueue::new(), is_open: true }
    }

    /// Returns the next chunk and the rest of the reply, or `None` at the end.
    pub async fn next_chunk(mut self) -> Option<(Result<Chunk, Error>, Self)> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some((item, self));
            }
            if !self.is_open {
                return None;
            }
            let next_event = self.events.next();
            let event = if self.collector.is_ending() {
                tokio::time::timeout(USAGE_TIMEOUT, next_event).await.unwrap_or(None)
            } else {
                next_event.await
            };
            match event {
                Some(Ok(announcement)) => {
                    for event in self.shared.take_events(&announcement) {
                        match event {
                            Event::Value(event) => self.collector.collect_event(&event, &mut self.ready),
                            Event::Unreadable(start) => self.collector.skip_event(start),
                            // These end the stream and are not queued.
                            Event::Done | Event::Broken(_) => {}
                        }
                        if self.collector.has_ended() {
                            self.is_open = false;
                            self.collector.finish(End::Marked, &mut self.ready);
                            break;
                        }
                    }
                }
                // The service queues only readable events, and it knows better than the decoder why the stream ended.
                Some(Err(_)) | None => {
                    self.is_open = false;
                    self.collector.finish(self.shared.end_state(), &mut self.ready);
                }
            }
        }
    }
}
