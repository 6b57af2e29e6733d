//! Retries failed requests as long as no part of the reply was shown.
//!
//! | error, before anything was shown | retried |
//! |---|---|
//! | 408, 429, 500 and above | yes |
//! | reset, closed connection, incomplete response | yes |
//! | no connection, unknown host | yes, except for a local server |
//! | no quota left; a conversation that is too long or not allowed | no |
//! | any other response, idle timeout, untrusted certificate | no |

use super::chunk_queue::is_visible;
use super::error::is_quota_error;
use super::loopback::is_local_origin;
use super::timeouts::{Pulse, Timeouts, Wait};
use super::{Error, ReplyStream};
use crate::chat::Chunk;
use futures::{StreamExt, stream};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Maximum number of attempts.
const MAX_ATTEMPTS: u32 = 5;
/// Maximum total wait. With an interactive user, waits that the provider asked for do not count.
const MAX_TOTAL_WAIT: Duration = Duration::from_secs(120);
/// First wait of exponential backoff. Each later one is twice as long.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// First wait after a failed connection, because a network needs a few seconds to recover.
const FIRST_UNREACHABLE_BACKOFF: Duration = Duration::from_secs(2);

/// Streams a reply with retries. Every wait is announced before it begins; dropping the stream cancels it. A silence is
/// announced when half of the idle limit has passed.
pub fn stream_with_retries(
    timeouts: Timeouts,
    attempt: impl FnMut(&Pulse) -> ReplyStream + Send + 'static,
) -> ReplyStream {
    let retries = Retries {
        start_attempt: Box::new(attempt),
        timeouts,
        pulse: Pulse::start_now(),
        reply: None,
        attempt: 1,
        wait: None,
        total_wait: Duration::ZERO,
        was_shown: false,
        is_quiet: false,
    };
    stream::unfold(Some(retries), |retries| async move {
        let mut retries = retries?;
        let item = retries.next_chunk().await?;
        let has_ended = matches!(item, Err(_) | Ok(Chunk::Done(_)));
        Some((item, (!has_ended).then_some(retries)))
    })
    .boxed()
}

struct Retries {
    start_attempt: Box<dyn FnMut(&Pulse) -> ReplyStream + Send>,
    timeouts: Timeouts,
    pulse: Pulse,
    reply: Option<ReplyStream>,
    /// Number of the current attempt, starting at 1.
    attempt: u32,
    /// Wait before the current attempt, with the reason and the kind of the previous error.
    wait: Option<(Wait, String, String)>,
    /// Total of the waits that count towards [`MAX_TOTAL_WAIT`].
    total_wait: Duration,
    /// Part of the reply was shown.
    was_shown: bool,
    /// The current silence was announced.
    is_quiet: bool,
}

impl Retries {
    async fn next_chunk(&mut self) -> Option<Result<Chunk, Error>> {
        if let Some((wait, reason, kind)) = &mut self.wait {
            if let Some(remaining) = wait.wait_to_end().await {
                return Some(Ok(retrying_chunk(self.attempt, remaining, reason.clone(), kind.clone())));
            }
            self.wait = None;
        }
        let reply = self.reply.get_or_insert_with(|| {
            self.pulse.record_beat();
            self.is_quiet = false;
            (self.start_attempt)(&self.pulse)
        });
        let item = tokio::select! {
            biased;
            item = reply.next() => item?,
            silence = self.pulse.wait_for_silence(self.timeouts.idle_limit, self.is_quiet) => {
                self.is_quiet = !self.is_quiet;
                return Some(Ok(Chunk::Silent { silence, limit: self.timeouts.idle_limit }));
            }
        };
        match item {
            Ok(chunk) => {
                self.was_shown |= is_visible(&chunk);
                self.is_quiet = false;
                self.pulse.record_beat();
                Some(Ok(chunk))
            }
            Err(error) => Some(self.handle_error(error)),
        }
    }

    fn handle_error(&mut self, error: Error) -> Result<Chunk, Error> {
        if self.was_shown || self.attempt >= MAX_ATTEMPTS || !is_retryable(&error) {
            return Err(self.final_error(error));
        }
        let requested = requested_wait(&error);
        let wait = requested.unwrap_or_else(|| backoff(&error, self.attempt, random_fraction()));
        let counts_towards_limit = requested.is_none() || !self.timeouts.is_interactive();
        let total_wait = if counts_towards_limit { self.total_wait + wait } else { self.total_wait };
        if total_wait > MAX_TOTAL_WAIT || requested.is_some_and(|wait| wait > self.timeouts.longest_wait) {
            return Err(self.final_error(error));
        }
        self.total_wait = total_wait;
        self.reply = None;
        self.attempt += 1;
        let (reason, kind) = (error.reason_text(), error.kind_name());
        self.wait = Some((self.timeouts.start_wait(wait), reason.clone(), kind.clone()));
        Ok(retrying_chunk(self.attempt, wait, reason, kind))
    }

    /// Returns the final error, with the number of attempts if there were several and nothing was shown.
    fn final_error(&self, error: Error) -> Error {
        match self.attempt > 1 && !self.was_shown {
            true => Error::RetriesExhausted { attempts: self.attempt, last: Box::new(error) },
            false => error,
        }
    }
}

/// Announces the wait before an attempt.
fn retrying_chunk(attempt: u32, wait: Duration, reason: String, kind: String) -> Chunk {
    Chunk::Retrying { attempt, max_attempts: MAX_ATTEMPTS, wait, reason, kind }
}

/// Returns the wait that the provider asked for, if any.
fn requested_wait(error: &Error) -> Option<Duration> {
    // A zero wait or a moment in the past is not useful.
    if let Error::Provider { retry_after, .. } = error { retry_after.filter(|wait| !wait.is_zero()) } else { None }
}

pub(super) fn is_retryable(error: &Error) -> bool {
    match error {
        Error::Provider { code, message, .. } if is_about_conversation(code.as_deref(), message) => false,
        Error::Provider { status: 429, code, message, .. } => !is_quota_error(code.as_deref(), message),
        Error::Provider { status, .. } => matches!(status, 408 | 500..),
        // A local server that is not running will not start by itself, so the error is reported immediately.
        Error::Unreachable { origin, .. } => !is_local_origin(origin),
        // After `Idle` a retry would only repeat the same work, because the provider accepted the request.
        error => matches!(error, Error::NoResponse { .. } | Error::ConnectionLost(_)),
    }
}

/// Returns whether the error is about the conversation itself. The same conversation would fail again, with any
/// provider.
pub(super) fn is_about_conversation(code: Option<&str>, message: &str) -> bool {
    let text = format!("{} {message}", code.unwrap_or_default()).to_lowercase().replace(['_', '-'], " ");
    #[rustfmt::skip]
    let phrases = [
        "context length", "context window", "context size", "maximum context", "prompt is too long", "content filter",
        "content policy", "content management policy", "moderation", "flagged",
    ];
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Returns the backoff: doubled with each attempt, plus up to a quarter of random jitter.
fn backoff(error: &Error, attempt: u32, random: f64) -> Duration {
    let first_backoff =
        if matches!(error, Error::Unreachable { .. }) { FIRST_UNREACHABLE_BACKOFF } else { FIRST_BACKOFF };
    (first_backoff * 2u32.saturating_pow(attempt - 1)).mul_f64(1.0 + random / 4.0)
}

/// Returns a random number from 0 to 1. The seed of the standard library's hashers is random enough for jitter.
fn random_fraction() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests;
