//! Requests a session title from the model, in the background. Errors are ignored.

use super::Means;
use crate::agent::Event;
use crate::chat::{Chunk, Request, Usage};
use crate::tools::crash::contain_async;
use futures::StreamExt;
use std::time::Duration;

/// Characters read of a title; some providers have no limit.
const LETTERS: usize = 200;
/// Time limit of the request.
const LIMIT: Duration = Duration::from_secs(120);

/// Requests a title and sends it to the agent, if there is one. The connection is closed once the title is long enough.
pub(super) async fn name(means: Means, request: Request) {
    let asked = tokio::time::timeout(LIMIT, contain_async(said(&means, request))).await;
    if let Ok(Some(Some((said, usage)))) = asked {
        means.tell(Event::Named { said, usage }).await;
    }
}

async fn said(means: &Means, request: Request) -> Option<(String, Option<Usage>)> {
    let (mut said, mut usage) = (String::new(), None);
    let mut chunks = means.llm.stream(request);
    while let Some(chunk) = chunks.next().await {
        match chunk.ok()? {
            Chunk::Text(text) => said.extend(text.chars().take(LETTERS)),
            Chunk::WasReasoning => said.clear(),
            Chunk::Usage(counted) => usage = Some(counted),
            Chunk::Done(_) => break,
            // A title is not worth a second request.
            Chunk::Retrying { .. } => return None,
            Chunk::Reasoning(_)
            | Chunk::Writing { .. }
            | Chunk::Call(_)
            | Chunk::Answering { .. }
            | Chunk::Quiet { .. }
            | Chunk::Echo(_) => {}
        }
        if said.chars().count() >= LETTERS {
            break;
        }
    }
    Some((said, usage))
}
