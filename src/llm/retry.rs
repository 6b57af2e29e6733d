//! Tries again what is worth trying again, and only as long as nothing was seen of the reply.
//!
//! | what went wrong, before anything was seen | tried again |
//! |---|---|
//! | 408, 429, 500 and above | yes |
//! | a reset, a close, half an answer | yes |
//! | no connection, no such host | yes, but for a server on this machine |
//! | a used-up account; a talk that is too long or not allowed | no |
//! | any other answer, a silence, a certificate | no |

use super::gather::is_visible;
use super::patience::{Patience, Pulse, Wait};
use super::{Error, address};
use crate::chat::Chunk;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// How often a request is sent at most.
const ATTEMPTS: u32 = 5;
/// So long is waited in all. What a service asks for does not count where a person sees the wait.
const ALL: Duration = Duration::from_secs(120);
/// The first wait of our own choice; each one after is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The same where there was no way to the service at all: a network needs some seconds to come up again.
const FIRST_UNREACHED: Duration = Duration::from_secs(2);

pub(super) type Reply = BoxStream<'static, Result<Chunk, Error>>;

/// A reply made of as many attempts as it takes. Every wait is announced before it begins, and dropping the stream
/// ends it. A silence is told when half of its limit has passed.
pub fn stream(patience: Patience, attempt: impl FnMut(&Pulse) -> Reply + Send + 'static) -> Reply {
    let tries = Tries {
        make: Box::new(attempt),
        patience,
        pulse: Pulse::heard(),
        reply: None,
        count: 1,
        wait: None,
        waited: Duration::ZERO,
        seen: false,
        is_quiet: false,
    };
    stream::unfold(Some(tries), |tries| async move {
        let mut tries = tries?;
        let item = tries.next().await?;
        let over = matches!(item, Err(_) | Ok(Chunk::Done(_)));
        Some((item, (!over).then_some(tries)))
    })
    .boxed()
}

struct Tries {
    make: Box<dyn FnMut(&Pulse) -> Reply + Send>,
    patience: Patience,
    pulse: Pulse,
    reply: Option<Reply>,
    /// The attempt under way; the first is 1.
    count: u32,
    /// The wait before it, and why.
    wait: Option<(Wait, String, String)>,
    /// As far as that is bounded.
    waited: Duration,
    seen: bool,
    /// The silence was told.
    is_quiet: bool,
}

impl Tries {
    async fn next(&mut self) -> Option<Result<Chunk, Error>> {
        if let Some((wait, why, kind)) = &mut self.wait {
            if let Some(left) = wait.sit_out().await {
                let (why, kind) = (why.clone(), kind.clone());
                return Some(Ok(Chunk::Retrying {
                    attempt: self.count,
                    of: ATTEMPTS,
                    wait: left,
                    why,
                    kind,
                }));
            }
            self.wait = None;
        }
        let reply = self.reply.get_or_insert_with(|| {
            self.pulse.beats();
            self.is_quiet = false;
            (self.make)(&self.pulse)
        });
        let item = tokio::select! {
            biased;
            item = reply.next() => item?,
            since = self.pulse.falters(self.patience.idle, self.is_quiet) => {
                self.is_quiet = !self.is_quiet;
                return Some(Ok(Chunk::Quiet { since, limit: self.patience.idle }));
            }
        };
        match item {
            Ok(chunk) => {
                self.seen |= is_visible(&chunk);
                self.is_quiet = false;
                self.pulse.beats();
                Some(Ok(chunk))
            }
            Err(error) => Some(self.after(error)),
        }
    }

    fn after(&mut self, error: Error) -> Result<Chunk, Error> {
        if self.seen || self.count >= ATTEMPTS || !is_worth_trying(&error) {
            return Err(self.given_up(error));
        }
        let asked = asked_wait(&error);
        let length = asked.unwrap_or_else(|| own_wait(&error, self.count, chance()));
        let counts = asked.is_none() || !self.patience.is_watched();
        let waited = if counts { self.waited + length } else { self.waited };
        if waited > ALL || asked.is_some_and(|asked| asked > self.patience.longest) {
            return Err(self.given_up(error));
        }
        self.waited = waited;
        self.reply = None;
        self.count += 1;
        let (why, kind) = (error.reason(), error.kind());
        self.wait = Some((self.patience.wait(length), why.clone(), kind.clone()));
        Ok(Chunk::Retrying { attempt: self.count, of: ATTEMPTS, wait: length, why, kind })
    }
}

impl Tries {
    /// The error that ends the reply, with the number of attempts if there were several and nothing came of them.
    fn given_up(&self, error: Error) -> Error {
        match self.count > 1 && !self.seen {
            true => Error::Repeated { attempts: self.count, last: Box::new(error) },
            false => error,
        }
    }
}

fn asked_wait(error: &Error) -> Option<Duration> {
    match error {
        // No wait at all, or a moment that is over, is no advice.
        Error::Service { retry_after, .. } => retry_after.filter(|wait| !wait.is_zero()),
        Error::Unreachable { .. }
        | Error::Unanswered { .. }
        | Error::Proxy { .. }
        | Error::Untrusted { .. }
        | Error::Misaddressed(_)
        | Error::Repeated { .. }
        | Error::Cut(_)
        | Error::Idle(_)
        | Error::NotAModel(_)
        | Error::InStream(_) => None,
    }
}

pub(super) fn is_worth_trying(error: &Error) -> bool {
    match error {
        Error::Service { code, words, .. } if is_about_the_talk(code.as_deref(), words) => false,
        Error::Service { status: 429, code, words, .. } => !is_about_money(code.as_deref(), words),
        Error::Service { status, .. } => matches!(status, 408 | 500..),
        // A server on this machine that is not running will not be running in a moment: tell the person at once.
        Error::Unreachable { origin, .. } => !is_here(origin),
        Error::Unanswered { .. } | Error::Cut(_) => true,
        // It took the request and said nothing: asking again would only put the same work on it twice.
        Error::Idle(_) => false,
        Error::Proxy { .. }
        | Error::Untrusted { .. }
        | Error::Misaddressed(_)
        | Error::Repeated { .. }
        | Error::NotAModel(_)
        | Error::InStream(_) => false,
    }
}

/// Whether this is an address of this machine.
pub(super) fn is_here(origin: &str) -> bool {
    address::parse(origin).is_ok_and(|url| address::is_loopback(&url))
}

/// What is wrong with the talk itself, too long or not allowed, is wrong again the next time, and anywhere else.
pub(super) fn is_about_the_talk(code: Option<&str>, words: &str) -> bool {
    let said = format!("{} {words}", code.unwrap_or_default()).to_lowercase().replace(['_', '-'], " ");
    let talk = [
        "context length",
        "context window",
        "context size",
        "maximum context",
        "prompt is too long",
        "content filter",
        "content policy",
        "content management policy",
        "moderation",
        "flagged",
    ];
    talk.iter().any(|words| said.contains(words))
}

/// A used-up allowance is told with the status that otherwise means "too fast", but waiting does not fill it.
pub(super) fn is_about_money(code: Option<&str>, words: &str) -> bool {
    let said = format!("{} {words}", code.unwrap_or_default()).to_lowercase();
    ["insufficient", "quota", "billing", "credit", "balance"].iter().any(|word| said.contains(word))
}

/// Doubled with each attempt, and up to a quarter longer so that many programs do not come back at once.
fn own_wait(error: &Error, attempt: u32, chance: f64) -> Duration {
    let first = if matches!(error, Error::Unreachable { .. }) { FIRST_UNREACHED } else { FIRST };
    (first * 2u32.saturating_pow(attempt - 1)).mul_f64(1.0 + chance / 4.0)
}

/// A number from 0 to 1. The standard library seeds its hashers by chance, which is good enough to spread waits.
fn chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests;
