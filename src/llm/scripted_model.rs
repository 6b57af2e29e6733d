//! A model that plays the replies of a demo script, without a key or a network.

use super::{Error, Llm, ReplyStream};
use crate::chat::{Chunk, FinishReason, Request};
use crate::demo::Script;
use crate::demo::conversation::next_reply;
use futures::stream::{self, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Number of graphemes in a piece of a paced reply.
const PIECE_GRAPHEMES: usize = 6;

/// The scripted model. It has no state: the next reply depends only on the conversation, so a stopped or resumed
/// session continues at the same point.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    script: Arc<Script>,
    is_paced: bool,
}

impl ScriptedModel {
    /// Creates a model that streams at the speed of the script, or replies at once if it is not paced.
    pub fn new(script: Arc<Script>, is_paced: bool) -> Self {
        Self { script, is_paced }
    }
}

impl Llm for ScriptedModel {
    fn stream(&self, request: Request) -> ReplyStream {
        let Some(reply) = next_reply(&self.script, &request.messages) else {
            let reason = "Cannot answer: the script has no further reply";
            return stream::iter([Err(Error::InvalidAddress(reason.to_owned()))]).boxed();
        };
        let mut items = Vec::new();
        if !reply.reasoning.is_empty() {
            items.push(Ok(Chunk::Reasoning(reply.reasoning)));
        }
        if !reply.text.is_empty() {
            items.push(Ok(Chunk::Text(reply.text)));
        }
        items.extend(reply.calls.into_iter().map(|call| Ok(Chunk::Call(call))));
        items.push(match reply.error {
            Some(error) => Err(Error::InvalidAddress(error)),
            None => Ok(Chunk::Done(FinishReason::Stop)),
        });
        play_items(items, self.is_paced.then_some(reply.speed))
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
