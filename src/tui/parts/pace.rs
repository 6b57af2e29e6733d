//! Timing of a reply: countdown to a retry, silence of the provider, time to the first token, speed.

use crate::agent::{self, Effect, Phase, Retrying};
use crate::chat::{Chunk, TurnId};
use std::time::Duration;

/// Minimum time between changes of the figures while a reply streams.
const CALM: Duration = Duration::from_millis(250);
/// Shortest time over which a speed is meaningful.
const ENOUGH: Duration = Duration::from_millis(500);
/// Characters per token, for an estimate while the provider has not sent a count.
const LETTERS: u64 = 4;

/// Timing of the current request, or of the last one if none is running.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    turn: Option<TurnId>,
    /// Time at which the current attempt was sent.
    sent: Duration,
    /// Time at which the retry was announced.
    failed: Duration,
    /// True if the user skipped the countdown.
    hurried: bool,
    /// Time at which the silence was reported.
    quieted: Duration,
    /// Time of the first and of the last chunk.
    first: Option<Duration>,
    last: Duration,
    letters: u64,
    /// Bytes of the call that is being written. Chunks report the total so far.
    writing: u64,
    /// Output tokens as counted by the provider.
    counted: Option<u64>,
    figures: Option<(Duration, Figures)>,
}

/// Timing of a reply as shown in the status bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Time from the request to the first chunk.
    pub first: Duration,
    /// `None` until enough of the reply has arrived for a measurement.
    pub speed: Option<Speed>,
    /// Time from the request to the end; `None` while the reply streams.
    pub took: Option<Duration>,
}

/// Output tokens per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    pub tokens: f64,
    /// True if the tokens were estimated from the text.
    pub estimated: bool,
}

/// Reason for which nothing arrives, if it has to be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wait<'a> {
    /// A countdown to the next attempt.
    Again {
        /// Number of the attempt and the reason for it.
        why: &'a Retrying,
        /// Seconds until the attempt.
        left: u64,
    },
    /// The next attempt has been sent.
    Asking(&'a Retrying),
    /// The provider is silent.
    Quiet {
        /// Seconds of silence so far.
        since: u64,
        /// Seconds of silence after which the attempt is given up.
        limit: u64,
    },
}

impl Pace {
    /// Starts the timing if the agent sends a request.
    pub fn begins(&mut self, effects: &[Effect], now: Duration) {
        for effect in effects {
            match effect {
                Effect::Stream { turn, .. } => {
                    // Within a turn the last figures stay until new ones are known.
                    let figures = self.figures.filter(|_| self.turn == Some(*turn));
                    *self = Self { turn: Some(*turn), sent: now, figures, ..Self::default() };
                }
                Effect::Hurry => {
                    self.hurried = true;
                    self.sent = now;
                }
                Effect::Append(_)
                | Effect::KeepGrown(_)
                | Effect::KeepPrinted(_)
                | Effect::Plan { .. }
                | Effect::Consult { .. }
                | Effect::Act { .. }
                | Effect::Rehearse { .. }
                | Effect::Name { .. }
                | Effect::Cancel { .. } => {}
            }
        }
    }

    /// Records a chunk of the reply.
    pub fn takes(&mut self, chunk: &Chunk, now: Duration) {
        match chunk {
            Chunk::Text(text) | Chunk::Reasoning(text) => {
                self.letters += text.chars().count() as u64;
                self.comes(now);
            }
            Chunk::Writing { bytes, .. } => {
                // The count starts at zero for each call.
                let more = (*bytes as u64).checked_sub(self.writing).unwrap_or(*bytes as u64);
                self.writing = *bytes as u64;
                self.letters += more;
                self.comes(now);
            }
            Chunk::Call(_) => self.comes(now),
            Chunk::Usage(usage) => self.counted = Some(usage.output),
            Chunk::Retrying { wait, .. } => {
                (self.failed, self.hurried) = (now, false);
                self.sent = now.saturating_add(*wait);
            }
            Chunk::Quiet { .. } => self.quieted = now,
            Chunk::Answering { instead: Some(_), .. } => self.sent = now,
            Chunk::Answering { instead: None, .. }
            | Chunk::WasReasoning
            | Chunk::Echo(_)
            | Chunk::Done(_) => {}
        }
    }

    /// Records the end of the reply, whether it succeeded or not.
    pub fn ends(&mut self, now: Duration) {
        if self.first.is_some() {
            self.figures = self.figure(Some(now.saturating_sub(self.sent))).map(|figures| (now, figures));
        }
    }

    fn comes(&mut self, now: Duration) {
        self.first.get_or_insert(now);
        self.last = now;
        let due =
            self.figures.is_none_or(|(at, figures)| figures.took.is_some() || now.saturating_sub(at) >= CALM);
        if due {
            self.figures = self.figure(None).map(|figures| (now, figures));
        }
    }

    fn figure(&self, took: Option<Duration>) -> Option<Figures> {
        let first = self.first?;
        let estimate = self.letters / LETTERS;
        let streamed = self.last.saturating_sub(first);
        let whole = self.last.saturating_sub(self.sent);
        let per = |tokens: u64, time: Duration, estimated: bool| {
            let tokens = tokens as f64 / time.as_secs_f64();
            (time >= ENOUGH).then_some(Speed { tokens, estimated })
        };
        let speed = match self.counted.filter(|_| took.is_some()) {
            // Many more tokens were counted than received: the reasoning was not streamed and happened before the first
            // chunk.
            Some(counted) if counted > estimate.saturating_mul(2) || streamed < ENOUGH => {
                per(counted, whole, false)
            }
            Some(counted) => per(counted, streamed, false),
            None => per(estimate, streamed, true),
        };
        Some(Figures { first: first.saturating_sub(self.sent), speed, took })
    }

    /// Returns the figures of the current reply, or of the last one.
    pub fn figures(&self) -> Option<Figures> {
        self.figures.map(|(_, figures)| figures)
    }

    /// Returns what the request waits for.
    pub fn wait<'a>(&self, agent: &'a agent::State, now: Duration) -> Option<Wait<'a>> {
        let Phase::Thinking(draft) = &agent.phase else { return None };
        if let Some(quiet) = draft.quiet {
            let since = quiet.since.saturating_add(now.saturating_sub(self.quieted));
            return Some(Wait::Quiet { since: since.as_secs(), limit: quiet.limit.as_secs() });
        }
        let why = draft.retrying.as_ref()?;
        let left = self.failed.saturating_add(why.wait).saturating_sub(now);
        Some(match left.is_zero() || self.hurried {
            true => Wait::Asking(why),
            false => {
                Wait::Again { why, left: left.as_secs().saturating_add(u64::from(left.subsec_nanos() > 0)) }
            }
        })
    }

    /// Returns the time at which the shown seconds change next; `None` if no seconds are shown.
    pub fn ticks_at(&self, agent: &agent::State, now: Duration) -> Option<Duration> {
        match self.wait(agent, now)? {
            Wait::Again { why, left } => Some(
                self.failed
                    .saturating_add(why.wait)
                    .saturating_sub(Duration::from_secs(left.saturating_sub(1))),
            ),
            Wait::Quiet { .. } => {
                let Phase::Thinking(draft) = &agent.phase else { return None };
                let began = draft.quiet?.since;
                let since = began.saturating_add(now.saturating_sub(self.quieted));
                let next = since.as_secs().saturating_add(1);
                Some(self.quieted.saturating_add(Duration::from_secs(next).saturating_sub(began)))
            }
            Wait::Asking(_) => None,
        }
    }
}

/// Formats whole seconds: `12 s`, `90 s`, `50 min 0 s`.
pub fn seconds(count: u64) -> String {
    match count {
        0..120 => format!("{count} s"),
        _ => super::transcript::how_long(Duration::from_secs(count)),
    }
}

impl Figures {
    /// Formats the time to the first chunk: `first after 0.8 s`.
    pub fn soon(&self) -> String {
        let (ms, s) = (self.first.as_millis(), self.first.as_secs());
        match (ms, s) {
            (0..100, _) => format!("first after {ms} ms"),
            (_, 0..10) => format!("first after {:.1} s", self.first.as_secs_f64()),
            (_, _) => format!("first after {}", seconds(s)),
        }
    }

    /// Formats the speed: `42 tok/s`, or `~42 tok/s` if estimated.
    pub fn fast(&self) -> Option<String> {
        let speed = self.speed?;
        let about = if speed.estimated { "~" } else { "" };
        let digits = usize::from(speed.tokens < 10.0);
        Some(format!("{about}{:.digits$} tok/s", speed.tokens))
    }
}

#[cfg(test)]
mod tests;
