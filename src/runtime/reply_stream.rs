//! Requests to the model. An incomplete reply is a failure, which is reported once.

use super::{EffectContext, images, journal_events};
use crate::agent::Event;
use crate::chat::{Chunk, Request, TurnId};
use crate::tools::panic_guard::catch_panic_async;
use futures::StreamExt;
use std::time::Duration;
use tokio::time::Instant;

/// Parts of one kind that arrive within this time of the last event are merged into one: thirty updates a second are
/// enough for text to grow smoothly, while a provider may send a thousand parts. The first part and everything that is
/// not text are sent at once.
const MERGE_INTERVAL: Duration = Duration::from_millis(33);

/// Delay between a new part of a reply and its record in the session: a kill loses less than a second of the reply, and
/// the disk is not written more often.
const REPLY_SAVE_DELAY: Duration = Duration::from_millis(900);

/// Requests a reply and sends its parts as events. The last event is always `Chunk::Done` or `Event::Failed`.
pub(super) async fn stream_reply(means: EffectContext, turn: TurnId, request: Request) {
    let (why, too_long) = match catch_panic_async(forward_chunks(&means, turn, request)).await {
        Some(None) => return,
        Some(Some(failed)) => failed,
        None => ("internal error while receiving the reply; this is a bug in aye".to_owned(), false),
    };
    means.send_event(Event::RequestFailed { turn, reason: why, too_long }).await;
}

/// Returns `None` once the reply is complete, else the error and whether the conversation is too long for the model.
async fn forward_chunks(means: &EffectContext, turn: TurnId, request: Request) -> Option<(String, bool)> {
    let sent = Instant::now();
    let mut noted = journal_events::ReplyNotes::note_request(&means.journal, turn, &request);
    let mut chunks = means.llm.stream(images::attach_images(means, request).await);
    let mut keep: Option<Instant> = None;
    let tell = async |(chunk, after), keep: &mut Option<Instant>| {
        if matches!(chunk, Chunk::Text(_) | Chunk::Reasoning(_)) {
            keep.get_or_insert_with(|| Instant::now() + REPLY_SAVE_DELAY);
        }
        means.send_event(Event::ReplyChunk { turn, chunk, after }).await;
    };
    let mut waits: Option<(Chunk, Duration)> = None;
    let mut told: Option<Instant> = None;
    let due = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(due);
    loop {
        let piece = tokio::select! {
            biased;
            () = &mut due, if waits.is_some() => None,
            () = sleep_until_some(keep), if keep.is_some() => {
                // A part that waits to be merged is recorded with the next one, less than a second later.
                keep = None;
                means.send_event(Event::ReplySaveDue { turn }).await;
                continue;
            }
            piece = chunks.next() => {
                noted.note_chunk(piece.as_ref());
                Some(piece)
            }
        };
        let chunk = match piece {
            None => {
                if let Some(piece) = waits.take() {
                    tell(piece, &mut keep).await;
                    told = Some(Instant::now());
                }
                continue;
            }
            Some(Some(Ok(chunk))) => chunk,
            Some(ended) => {
                if let Some(piece) = waits.take() {
                    tell(piece, &mut keep).await;
                }
                let why = ended.and_then(Result::err).map(|error| (error.to_string(), error.is_too_long()));
                return Some(why.unwrap_or_else(|| ("the reply ended before it was complete".to_owned(), false)));
            }
        };
        let Some(chunk) = (match &mut waits {
            Some((begun, _)) => merge_chunk(begun, chunk),
            None => Some(chunk),
        }) else {
            continue;
        };
        if let Some(piece) = waits.take() {
            tell(piece, &mut keep).await;
            told = Some(Instant::now());
        }
        let next = told.map(|told| told + MERGE_INTERVAL).filter(|next| *next > Instant::now());
        match next {
            Some(next) if is_mergeable(&chunk) => {
                waits = Some((chunk, sent.elapsed()));
                due.as_mut().reset(next);
            }
            Some(_) | None => {
                let done = matches!(chunk, Chunk::Done(_));
                if is_mergeable(&chunk) {
                    told = Some(Instant::now());
                }
                tell((chunk, sent.elapsed()), &mut keep).await;
                if done {
                    return None;
                }
            }
        }
    }
}

/// Waits until this instant; returns at once for `None`.
async fn sleep_until_some(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}

/// Returns whether a part can be merged with others of its kind.
fn is_mergeable(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Text(_) | Chunk::Reasoning(_) | Chunk::CallProgress { .. } => true,
        Chunk::WasReasoning
        | Chunk::Call(_)
        | Chunk::Usage(_)
        | Chunk::Retrying { .. }
        | Chunk::Silent { .. }
        | Chunk::ModelChosen { .. }
        | Chunk::Echo(_)
        | Chunk::Done(_) => false,
    }
}

/// Appends a part to one of the same kind; returns it if the kinds differ.
fn merge_chunk(begun: &mut Chunk, chunk: Chunk) -> Option<Chunk> {
    match (begun, chunk) {
        (Chunk::Text(begun), Chunk::Text(more)) | (Chunk::Reasoning(begun), Chunk::Reasoning(more)) => {
            begun.push_str(&more);
            None
        }
        (Chunk::CallProgress { name, bytes }, Chunk::CallProgress { name: same, bytes: now }) if *name == same => {
            *bytes = now;
            None
        }
        (_, other) => Some(other),
    }
}

#[cfg(test)]
mod tests;
