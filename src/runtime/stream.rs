//! Asks the model. A reply cut short is a failure, said once.

use super::{Means, noting, pictures};
use crate::agent::Event;
use crate::chat::{Chunk, Request, TurnId};
use crate::tools::crash::contain_async;
use futures::StreamExt;
use std::time::Duration;
use tokio::time::Instant;

/// Pieces of one kind that come within this time of the last one told are told together: thirty times a second is as
/// often as anybody sees text grow, and a service may send a thousand pieces in that second. The first is told at
/// once, and so is everything that is not a piece of text.
const TOGETHER: Duration = Duration::from_millis(33);

/// So long after a piece of text the agent is told that it is time to keep what came, where that was not since: a kill
/// costs a second of a reply at most, and the disk is written to no more often.
const KEEP: Duration = Duration::from_millis(900);

/// Asks for one reply and tells of every piece; ends with `Chunk::Done` or `Event::Failed`, whatever happens.
pub(super) async fn stream(means: Means, turn: TurnId, request: Request) {
    let (why, too_long) = match contain_async(pieces(&means, turn, request)).await {
        Some(None) => return,
        Some(Some(failed)) => failed,
        None => {
            ("the connection to the model broke down inside this program; this is a bug".to_owned(), false)
        }
    };
    means.tell(Event::Failed { turn, why, too_long }).await;
}

/// `None` once the reply is whole, else why it is not, and whether that is because the talk is too long.
async fn pieces(means: &Means, turn: TurnId, request: Request) -> Option<(String, bool)> {
    let sent = Instant::now();
    let mut noted = noting::Reply::asked(&means.journal, turn, &request);
    let mut chunks = means.llm.stream(pictures::shown(means, request).await);
    let mut keep: Option<Instant> = None;
    let tell = async |(chunk, after), keep: &mut Option<Instant>| {
        if matches!(chunk, Chunk::Text(_) | Chunk::Reasoning(_)) {
            keep.get_or_insert_with(|| Instant::now() + KEEP);
        }
        means.tell(Event::Chunk { turn, chunk, after }).await;
    };
    let mut waits: Option<(Chunk, Duration)> = None;
    let mut told: Option<Instant> = None;
    let due = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(due);
    loop {
        let piece = tokio::select! {
            biased;
            () = &mut due, if waits.is_some() => None,
            () = until(keep), if keep.is_some() => {
                // A piece that waits to be told is kept with the next: all that came within less than a second.
                keep = None;
                means.tell(Event::Grew { turn }).await;
                continue;
            }
            piece = chunks.next() => {
                noted.came(piece.as_ref());
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
                return Some(
                    why.unwrap_or_else(|| ("the reply ended before it was whole".to_owned(), false)),
                );
            }
        };
        let Some(chunk) = (match &mut waits {
            Some((begun, _)) => join(begun, chunk),
            None => Some(chunk),
        }) else {
            continue;
        };
        if let Some(piece) = waits.take() {
            tell(piece, &mut keep).await;
            told = Some(Instant::now());
        }
        let next = told.map(|told| told + TOGETHER).filter(|next| *next > Instant::now());
        match next {
            Some(next) if grows(&chunk) => {
                waits = Some((chunk, sent.elapsed()));
                due.as_mut().reset(next);
            }
            Some(_) | None => {
                let done = matches!(chunk, Chunk::Done(_));
                if grows(&chunk) {
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

/// Waits for this moment.
async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}

/// Whether a piece is one of many of its kind.
fn grows(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Text(_) | Chunk::Reasoning(_) | Chunk::Writing { .. } => true,
        Chunk::WasReasoning
        | Chunk::Call(_)
        | Chunk::Usage(_)
        | Chunk::Retrying { .. }
        | Chunk::Quiet { .. }
        | Chunk::Answering { .. }
        | Chunk::Echo(_)
        | Chunk::Done(_) => false,
    }
}

/// Puts a piece behind another of its kind; gives it back where it is of another.
fn join(begun: &mut Chunk, chunk: Chunk) -> Option<Chunk> {
    match (begun, chunk) {
        (Chunk::Text(begun), Chunk::Text(more)) | (Chunk::Reasoning(begun), Chunk::Reasoning(more)) => {
            begun.push_str(&more);
            None
        }
        (Chunk::Writing { name, bytes }, Chunk::Writing { name: same, bytes: now }) if *name == same => {
            *bytes = now;
            None
        }
        (_, other) => Some(other),
    }
}

#[cfg(test)]
mod tests;
