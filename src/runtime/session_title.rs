//! Requests a session title from the model, in the background. Errors are ignored.

use super::EffectContext;
use crate::agent::Event;
use crate::chat::{Chunk, Request, Usage};
use crate::tools::panic_guard::catch_panic_async;
use futures::StreamExt;
use std::time::Duration;

/// Characters read of a title; some providers have no limit.
const MAX_TITLE_CHARS: usize = 200;
/// Time limit of the request.
const TITLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Requests a title and sends it to the agent, if there is one. The connection is closed once the title is long enough.
pub(super) async fn request_title(context: EffectContext, request: Request) {
    let result = tokio::time::timeout(TITLE_TIMEOUT, catch_panic_async(read_title(&context, request))).await;
    if let Ok(Some(Some((title, usage)))) = result {
        context.send_event(Event::TitleSuggested { text: title, usage }).await;
    }
}

async fn read_title(context: &EffectContext, request: Request) -> Option<(String, Option<Usage>)> {
    let (mut title, mut usage) = (String::new(), None);
    let mut chunks = context.llm.stream(request);
    while let Some(chunk) = chunks.next().await {
        match chunk.ok()? {
            Chunk::Text(text) => title.extend(text.chars().take(MAX_TITLE_CHARS)),
            Chunk::WasReasoning => title.clear(),
            Chunk::Usage(counted) => usage = Some(counted),
            Chunk::Done(_) => break,
            // A title is not worth a second request.
            Chunk::Retrying { .. } => return None,
            _ => {}
        }
        if title.chars().count() >= MAX_TITLE_CHARS {
            break;
        }
    }
    Some((title, usage))
}
