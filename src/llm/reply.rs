//! A reply being received, common to both APIs.

use super::Error;
use super::chunk_queue::{ChunkQueue, Collector, End};
use super::events::Event;
use super::service::SharedReply;
use crate::chat::Chunk;
use async_openai::error::OpenAIError;
use futures::stream::{Stream, StreamExt};
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;

/// Time to wait for the token usage after the end of a reply.
const USAGE_TIMEOUT: Duration = Duration::from_secs(3);

/// Announcements of the events of one response, as async-openai yields them: each item is the number of events that
/// were put into the shared queue.
pub type Events = Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>;

/// A reply so far.
pub struct Reply {
    events: Events,
    shared: SharedReply,
    collector: Box<dyn Collector>,
    ready: ChunkQueue,
    is_open: bool,
}

impl Reply {
    /// Creates a reply from these announcements; `shared` is also held by the service that produces them.
    pub fn new(events: Events, shared: SharedReply, collector: Box<dyn Collector>) -> Self {
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
                // The service has decoded the events itself and knows better than async-openai why the stream ended.
                Some(Err(_)) | None => {
                    self.is_open = false;
                    self.collector.finish(self.shared.end_state(), &mut self.ready);
                }
            }
        }
    }
}
