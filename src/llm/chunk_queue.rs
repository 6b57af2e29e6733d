//! Chunks of a reply that wait for their consumer, and the end of a reply.

use super::Error;
use crate::chat::Chunk;
use std::collections::VecDeque;

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

/// Returns whether the user sees the chunk. After a visible chunk a request is not retried.
pub fn is_visible(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Text(_)
        | Chunk::Reasoning(_)
        | Chunk::WasReasoning
        | Chunk::CallProgress { .. }
        | Chunk::Call(_)
        | Chunk::Done(_) => true,
        Chunk::Usage(_)
        | Chunk::Retrying { .. }
        | Chunk::Silent { .. }
        | Chunk::ModelChosen { .. }
        | Chunk::Echo(_) => false,
    }
}
