//! Streams replies of the model as events. An incomplete reply is reported once, as a failure.

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

/// Requests a reply and sends its parts as events. The last event is always `Chunk::Done` or [`Event::RequestFailed`].
pub(super) async fn stream_reply(context: EffectContext, turn: TurnId, request: Request) {
    let (reason, too_long) = match catch_panic_async(forward_chunks(&context, turn, request)).await {
        Some(None) => return,
        Some(Some(failure)) => failure,
        None => ("internal error while receiving the reply; this is a bug in aye".to_owned(), false),
    };
    context.send_event(Event::RequestFailed { turn, reason, too_long }).await;
}

/// Returns `None` once the reply is complete, else the error and whether the conversation is too long for the model.
async fn forward_chunks(context: &EffectContext, turn: TurnId, request: Request) -> Option<(String, bool)> {
    let sent_at = Instant::now();
    let mut notes = journal_events::ReplyNotes::note_request(&context.journal, turn, &request);
    let mut chunks = context.llm.stream(images::attach_images(context, request).await);
    let mut save_at: Option<Instant> = None;
    let send_chunk = async |(chunk, elapsed), save_at: &mut Option<Instant>| {
        if matches!(chunk, Chunk::Text(_) | Chunk::Reasoning(_)) {
            save_at.get_or_insert_with(|| Instant::now() + REPLY_SAVE_DELAY);
        }
        context.send_event(Event::ReplyChunk { turn, chunk, elapsed }).await;
    };
    let mut pending: Option<(Chunk, Duration)> = None;
    let mut last_sent: Option<Instant> = None;
    let merge_timer = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(merge_timer);
    loop {
        // `None` if the merge timer expired, else what the stream returned.
        let received = tokio::select! {
            biased;
            () = &mut merge_timer, if pending.is_some() => None,
            () = sleep_until_some(save_at), if save_at.is_some() => {
                // A part that waits to be merged is saved with the next one, less than a second later.
                save_at = None;
                context.send_event(Event::ReplySaveDue { turn }).await;
                continue;
            }
            piece = chunks.next() => {
                notes.note_chunk(piece.as_ref());
                Some(piece)
            }
        };
        let chunk = match received {
            None => {
                if let Some(merged) = pending.take() {
                    send_chunk(merged, &mut save_at).await;
                    last_sent = Some(Instant::now());
                }
                continue;
            }
            Some(Some(Ok(chunk))) => chunk,
            Some(end) => {
                if let Some(merged) = pending.take() {
                    send_chunk(merged, &mut save_at).await;
                }
                let failure = end.and_then(Result::err).map(|error| (error.to_string(), error.is_too_long()));
                return Some(failure.unwrap_or_else(|| ("the reply ended before it was complete".to_owned(), false)));
            }
        };
        let Some(chunk) = (match &mut pending {
            Some((previous, _)) => merge_chunk(previous, chunk),
            None => Some(chunk),
        }) else {
            continue;
        };
        if let Some(merged) = pending.take() {
            send_chunk(merged, &mut save_at).await;
            last_sent = Some(Instant::now());
        }
        // End of the current merge interval, unless it has passed.
        let interval_end = last_sent.map(|sent| sent + MERGE_INTERVAL).filter(|end| *end > Instant::now());
        match interval_end {
            Some(interval_end) if is_mergeable(&chunk) => {
                pending = Some((chunk, sent_at.elapsed()));
                merge_timer.as_mut().reset(interval_end);
            }
            Some(_) | None => {
                let is_done = matches!(chunk, Chunk::Done(_));
                if is_mergeable(&chunk) {
                    last_sent = Some(Instant::now());
                }
                send_chunk((chunk, sent_at.elapsed()), &mut save_at).await;
                if is_done {
                    return None;
                }
            }
        }
    }
}

/// Waits until this instant; returns at once for `None`.
async fn sleep_until_some(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline).await;
    }
}

/// Returns whether a part can be merged with others of its kind.
fn is_mergeable(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::Text(_) | Chunk::Reasoning(_) | Chunk::CallProgress { .. })
}

/// Appends a part to one of the same kind; returns it if the kinds differ.
fn merge_chunk(previous: &mut Chunk, chunk: Chunk) -> Option<Chunk> {
    match (previous, chunk) {
        (Chunk::Text(text), Chunk::Text(added)) | (Chunk::Reasoning(text), Chunk::Reasoning(added)) => {
            text.push_str(&added);
            None
        }
        (Chunk::CallProgress { name, bytes }, Chunk::CallProgress { name: next_name, bytes: next_bytes })
            if *name == next_name =>
        {
            *bytes = next_bytes;
            None
        }
        (_, other) => Some(other),
    }
}

#[cfg(test)]
mod tests;
