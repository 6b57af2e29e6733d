//! Lets the model name the session, aside: nothing waits for it, and nothing that goes wrong with it is told.

use super::Means;
use crate::agent::Event;
use crate::chat::{Chunk, Request, Usage};
use crate::tools::crash::contain_async;
use futures::StreamExt;
use std::time::Duration;

/// More letters than these are no name; some services know no limit.
const LETTERS: usize = 200;
/// So long a name is waited for.
const LIMIT: Duration = Duration::from_secs(120);

/// Asks, and tells what was said where anything was. The connection is closed as soon as that is enough.
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
            // It is not worth a second request.
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
