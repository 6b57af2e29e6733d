//! Asks the model. A reply cut short is a failure, said once.

use super::Means;
use crate::agent::Event;
use crate::chat::{Chunk, Request, TurnId};
use crate::tools::crash::contain_async;
use futures::StreamExt;
use std::time::Instant;

/// Asks for one reply and tells of every piece; ends with `Chunk::Done` or `Event::Failed`, whatever happens.
pub(super) async fn stream(means: Means, turn: TurnId, request: Request) {
    let why = match contain_async(pieces(&means, turn, request)).await {
        Some(None) => return,
        Some(Some(why)) => why,
        None => "the connection to the model broke down inside this program; this is a bug".to_owned(),
    };
    means.tell(Event::Failed { turn, why }).await;
}

/// `None` once the reply is whole, else why it is not.
async fn pieces(means: &Means, turn: TurnId, request: Request) -> Option<String> {
    let sent = Instant::now();
    let mut chunks = means.llm.stream(request);
    while let Some(piece) = chunks.next().await {
        let chunk = match piece {
            Ok(chunk) => chunk,
            Err(error) => return Some(error.to_string()),
        };
        let done = matches!(chunk, Chunk::Done(_));
        means.tell(Event::Chunk { turn, chunk, after: sent.elapsed() }).await;
        if done {
            return None;
        }
    }
    Some("the reply ended before it was whole".to_owned())
}
