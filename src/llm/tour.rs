//! The tour: a scripted model for the first run, without a key or a network. It runs the real tools in a directory
//! created for it, and tells the user that it is a script.

mod call_result;
mod files;
mod scene;
mod texts;

pub use files::write_files;

use super::{Error, Llm, ReplyStream};
use crate::chat::{Chunk, FinishReason, Request};
use futures::stream::{self, StreamExt};
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Speed of the replies in graphemes per second.
const SPEED: u32 = 150;
/// Number of graphemes in a piece of a paced reply.
const PIECE_GRAPHEMES: usize = 6;

/// The scripted model. It has no state: the next reply depends only on the conversation, so a stopped or resumed
/// session continues at the same point.
#[derive(Debug, Clone)]
pub struct Tour {
    speed: Option<u32>,
}

impl Tour {
    /// Creates a tour that streams at reading speed.
    pub fn new() -> Self {
        Self { speed: Some(SPEED) }
    }

    /// Creates a tour that replies at once, for headless runs.
    pub fn without_pacing() -> Self {
        Self { speed: None }
    }
}

impl Default for Tour {
    fn default() -> Self {
        Self::new()
    }
}

impl Llm for Tour {
    fn stream(&self, request: Request) -> ReplyStream {
        let chunks = scene::next_reply(&request.messages).into_iter().chain([Chunk::Done(FinishReason::Stop)]);
        play_items(chunks.map(Ok).collect(), self.speed)
    }
}

/// Streams a reply at once, or its text in small pieces at this speed in graphemes per second.
pub fn play_items(items: Vec<Result<Chunk, Error>>, speed: Option<u32>) -> ReplyStream {
    let Some(speed) = speed else { return stream::iter(items).boxed() };
    let wait = Duration::from_secs(PIECE_GRAPHEMES as u64) / speed.max(1);
    let pace = move |item| async move {
        if matches!(item, Ok(Chunk::Text(_) | Chunk::Reasoning(_))) {
            tokio::time::sleep(wait).await;
        }
        item
    };
    stream::iter(items.into_iter().flat_map(split_pieces)).then(pace).boxed()
}

fn split_pieces(item: Result<Chunk, Error>) -> Vec<Result<Chunk, Error>> {
    let (text, to_chunk): (_, fn(String) -> Chunk) = match item {
        Ok(Chunk::Text(text)) => (text, Chunk::Text),
        Ok(Chunk::Reasoning(text)) => (text, Chunk::Reasoning),
        other => return vec![other],
    };
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    graphemes.chunks(PIECE_GRAPHEMES).map(|piece| Ok(to_chunk(piece.concat()))).collect()
}

#[cfg(test)]
mod tests;
