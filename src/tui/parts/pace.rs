//! How a reply comes: the wait for the next try, the silence, how soon and how fast it is.

use crate::agent::{self, Effect, Phase, Retrying};
use crate::chat::{Chunk, TurnId};
use std::time::Duration;

/// Figures change at most this often while a reply streams.
const CALM: Duration = Duration::from_millis(250);
/// Speed over less than this is chance.
const ENOUGH: Duration = Duration::from_millis(500);
/// Letters of a token, where nobody counted.
const LETTERS: u64 = 4;

/// The times of the present request, or of the last one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    turn: Option<TurnId>,
    /// When the present attempt was sent.
    sent: Duration,
    /// When it was said that it will be sent again.
    failed: Duration,
    /// The person did not want to wait for that.
    hurried: bool,
    /// When the silence was told.
    quieted: Duration,
    /// When the first and the last piece came.
    first: Option<Duration>,
    last: Duration,
    letters: u64,
    /// Bytes of the call being written, which come as a sum.
    writing: u64,
    /// What the service counted.
    counted: Option<u64>,
    figures: Option<(Duration, Figures)>,
}

/// What the foot says of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// From the request to the first piece.
    pub first: Duration,
    /// Tokens a second, where enough has come to tell.
    pub speed: Option<Speed>,
    /// From the request to the end; nothing while it comes.
    pub took: Option<Duration>,
}

/// Tokens a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// How many.
    pub tokens: f64,
    /// They were estimated from the text.
    pub estimated: bool,
}

/// What is waited for, where that has to be said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wait<'a> {
    /// For the next try.
    Again {
        /// Which try it is, and why.
        why: &'a Retrying,
        /// Seconds until then.
        left: u64,
    },
    /// The next try is under way.
    Asking(&'a Retrying),
    /// The service is silent.
    Quiet {
        /// For so many seconds.
        since: u64,
        /// It is given up at so many.
        limit: u64,
    },
}

impl Pace {
    /// What the agent wants done.
    pub fn begins(&mut self, effects: &[Effect], now: Duration) {
        for effect in effects {
            match effect {
                Effect::Stream { turn, .. } => {
                    // Within a turn the last figures stand until there are others.
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

    /// A piece of the reply came.
    pub fn takes(&mut self, chunk: &Chunk, now: Duration) {
        match chunk {
            Chunk::Text(text) | Chunk::Reasoning(text) => {
                self.letters += text.chars().count() as u64;
                self.comes(now);
            }
            Chunk::Writing { bytes, .. } => {
                // The next call begins at nothing.
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

    /// The reply is over, however it ended.
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
            // Much more was counted than was seen: it was thought unseen, before the first piece came.
            Some(counted) if counted > estimate.saturating_mul(2) || streamed < ENOUGH => {
                per(counted, whole, false)
            }
            Some(counted) => per(counted, streamed, false),
            None => per(estimate, streamed, true),
        };
        Some(Figures { first: first.saturating_sub(self.sent), speed, took })
    }

    /// What the foot says of the present reply, or of the last.
    pub fn figures(&self) -> Option<Figures> {
        self.figures.map(|(_, figures)| figures)
    }

    /// What is waited for now.
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

    /// When the words of a wait change, once a second; nothing where no seconds are told.
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

/// Whole seconds as they are said: `12 s`, `90 s`, `50 min 0 s`.
pub fn seconds(count: u64) -> String {
    match count {
        0..120 => format!("{count} s"),
        _ => super::transcript::how_long(Duration::from_secs(count)),
    }
}

impl Figures {
    /// How soon the first piece came: `first after 0.8 s`.
    pub fn soon(&self) -> String {
        let (ms, s) = (self.first.as_millis(), self.first.as_secs());
        match (ms, s) {
            (0..100, _) => format!("first after {ms} ms"),
            (_, 0..10) => format!("first after {:.1} s", self.first.as_secs_f64()),
            (_, _) => format!("first after {}", seconds(s)),
        }
    }

    /// How fast it comes: `42 tok/s`, `~42 tok/s`.
    pub fn fast(&self) -> Option<String> {
        let speed = self.speed?;
        let about = if speed.estimated { "~" } else { "" };
        let digits = usize::from(speed.tokens < 10.0);
        Some(format!("{about}{:.digits$} tok/s", speed.tokens))
    }
}

#[cfg(test)]
mod tests;
