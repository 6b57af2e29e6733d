//! Collection of a reply's events into a queue of chunks, the same for both APIs (chat completions and responses).

use super::Error;
use crate::chat::Chunk;
use serde_json::Value;
use std::collections::VecDeque;

/// Cause of the error if a stream ends without the end of its reply.
pub const CLOSED_EARLY: &str = "the provider closed it before the reply was complete";

/// End of a stream of events.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With the provider's end marker.
    Marked,
    /// Without an end marker.
    Unmarked,
    /// With an error.
    Failed(Error),
}

/// Queue of chunks, oldest first.
pub type ChunkQueue = VecDeque<Result<Chunk, Error>>;

/// Collects the events of one reply into chunks. Pure: the same events give the same chunks.
pub trait Collector: Send {
    /// Processes one event.
    fn collect_event(&mut self, event: &Value, out: &mut ChunkQueue);

    /// Skips an unreadable event that begins with `start`. The rest of the reply is still used.
    fn skip_event(&mut self, start: String);

    /// Returns whether only the token usage can still follow.
    fn is_ending(&self) -> bool {
        false
    }

    /// Returns whether nothing can follow.
    fn has_ended(&self) -> bool {
        false
    }

    /// Ends the reply: emits its calls and [`Chunk::Done`] if it is complete, otherwise an error. Later calls do
    /// nothing.
    fn finish(&mut self, end: End, out: &mut ChunkQueue);
}

/// Returns whether the user sees a chunk that was added after the first `old_length` ones.
pub fn has_new_visible(chunks: &ChunkQueue, old_length: usize) -> bool {
    chunks.iter().skip(old_length).any(|chunk| chunk.as_ref().is_ok_and(is_visible))
}

/// Returns whether the user sees the chunk. After a visible chunk a request is not retried.
pub fn is_visible(chunk: &Chunk) -> bool {
    !matches!(
        chunk,
        Chunk::Usage(_) | Chunk::Retrying { .. } | Chunk::Silent { .. } | Chunk::ModelChosen { .. } | Chunk::Echo(_)
    )
}
