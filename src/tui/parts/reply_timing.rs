//! Timing of a reply: countdown to a retry, silence of the provider, time to the first chunk, speed.

use super::quantities::format_reply_time;
use crate::agent::{self, Effect, PendingRetry, Phase};
use crate::chat::{Chunk, TurnId};
use std::time::Duration;

/// Minimum time between changes of the shown figures while a reply streams.
const MIN_UPDATE_TIME: Duration = Duration::from_millis(250);
/// Shortest time over which a speed is meaningful.
const MIN_MEASURED_TIME: Duration = Duration::from_millis(500);
/// Characters per token, for an estimate while the provider has not sent a count.
const CHARS_PER_TOKEN: u64 = 4;

/// Timing of the current request, or of the last one if none is running.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyTiming {
    turn: Option<TurnId>,
    /// Time at which the current attempt was sent.
    sent_at: Duration,
    /// Time at which the retry was announced.
    retry_announced_at: Duration,
    /// True if the user has skipped the countdown to the retry.
    is_wait_skipped: bool,
    /// Time of the last report of silence.
    silence_reported_at: Duration,
    /// Time of the first chunk with output, if any.
    first_chunk_at: Option<Duration>,
    /// Time of the last chunk with output.
    last_chunk_at: Duration,
    /// Characters of text and reasoning, and bytes of calls, received so far.
    chars: u64,
    /// Bytes so far of the call that is being written.
    call_bytes: u64,
    /// Output tokens as counted by the provider.
    counted_tokens: Option<u64>,
    /// Shown figures, and the time at which they were computed.
    figures: Option<(Duration, TimingFigures)>,
}

/// Timing of a reply as shown in the status bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimingFigures {
    /// Time from the request to the first chunk.
    pub first_chunk_after: Duration,
    /// `None` until enough of the reply has arrived for a measurement.
    pub speed: Option<Speed>,
    /// Time from the request to the end; `None` while the reply streams.
    pub total: Option<Duration>,
}

/// Output tokens per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    pub tokens: f64,
    /// True if the tokens were estimated from the text.
    pub is_estimated: bool,
}

/// Reason why nothing arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wait<'a> {
    /// A countdown to the next attempt.
    Countdown {
        /// The next attempt, and the reason for it.
        retry: &'a PendingRetry,
        /// Seconds until the attempt.
        seconds_left: u64,
    },
    /// The next attempt has been sent.
    Retrying(&'a PendingRetry),
    /// The provider is silent.
    Silence {
        /// Seconds of silence so far.
        elapsed: u64,
        /// Seconds of silence after which the attempt is given up.
        limit: u64,
    },
}

impl ReplyTiming {
    /// Starts the timing if one of the effects sends a request.
    pub fn start_request(&mut self, effects: &[Effect], now: Duration) {
        for effect in effects {
            match effect {
                Effect::RequestReply { turn, .. } => {
                    // Within a turn the last figures stay until new ones are known.
                    let figures = self.figures.filter(|_| self.turn == Some(*turn));
                    *self = Self { turn: Some(*turn), sent_at: now, figures, ..Self::default() };
                }
                Effect::RetryNow => {
                    self.is_wait_skipped = true;
                    self.sent_at = now;
                }
                Effect::AppendEntry(_)
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::PlanCall { .. }
                | Effect::ReviewCall { .. }
                | Effect::RunCall { .. }
                | Effect::RehearseCall { .. }
                | Effect::RunUserCommand { .. }
                | Effect::CheckTrialSupport { .. }
                | Effect::TryCall { .. }
                | Effect::KeepTrial { .. }
                | Effect::DropTrial { .. }
                | Effect::RequestTitle { .. }
                | Effect::DetachCall { .. }
                | Effect::StopBackground { .. }
                | Effect::SwitchProfile { .. }
                | Effect::CancelTurn { .. } => {}
            }
        }
    }

    /// Records a chunk of the reply.
    pub fn record_chunk(&mut self, chunk: &Chunk, now: Duration) {
        match chunk {
            Chunk::Text(text) | Chunk::Reasoning(text) => {
                self.chars += text.chars().count() as u64;
                self.record_progress(now);
            }
            Chunk::CallProgress { bytes, .. } => {
                let bytes = *bytes as u64;
                // A smaller number belongs to the next call.
                self.chars += bytes.checked_sub(self.call_bytes).unwrap_or(bytes);
                self.call_bytes = bytes;
                self.record_progress(now);
            }
            Chunk::Call(_) => self.record_progress(now),
            Chunk::Usage(usage) => self.counted_tokens = Some(usage.output),
            Chunk::Retrying { wait, .. } => {
                (self.retry_announced_at, self.is_wait_skipped) = (now, false);
                self.sent_at = now.saturating_add(*wait);
            }
            Chunk::Silent { .. } => self.silence_reported_at = now,
            // Another model replaces the requested one: its attempt is sent now.
            Chunk::ModelChosen { reason: Some(_), .. } => self.sent_at = now,
            Chunk::ModelChosen { reason: None, .. } | Chunk::WasReasoning | Chunk::Echo(_) | Chunk::Done(_) => {}
        }
    }

    /// Records the end of the reply, whether it succeeded or not.
    pub fn finish_reply(&mut self, now: Duration) {
        if self.first_chunk_at.is_some() {
            self.figures = self.compute_figures(Some(now.saturating_sub(self.sent_at))).map(|figures| (now, figures));
        }
    }

    fn record_progress(&mut self, now: Duration) {
        self.first_chunk_at.get_or_insert(now);
        self.last_chunk_at = now;
        let is_due = self
            .figures
            .is_none_or(|(time, figures)| figures.total.is_some() || now.saturating_sub(time) >= MIN_UPDATE_TIME);
        if is_due {
            self.figures = self.compute_figures(None).map(|figures| (now, figures));
        }
    }

    fn compute_figures(&self, total: Option<Duration>) -> Option<TimingFigures> {
        let first_chunk = self.first_chunk_at?;
        let estimate = self.chars / CHARS_PER_TOKEN;
        let streamed_time = self.last_chunk_at.saturating_sub(first_chunk);
        let total_time = self.last_chunk_at.saturating_sub(self.sent_at);
        let measure_speed = |tokens: u64, time: Duration, is_estimated: bool| {
            let tokens = tokens as f64 / time.as_secs_f64();
            (time >= MIN_MEASURED_TIME).then_some(Speed { tokens, is_estimated })
        };
        let speed = match self.counted_tokens.filter(|_| total.is_some()) {
            // If many more tokens were counted than received, reasoning was not streamed: it took place before the first
            // chunk.
            Some(counted) if counted > estimate.saturating_mul(2) || streamed_time < MIN_MEASURED_TIME => {
                measure_speed(counted, total_time, false)
            }
            Some(counted) => measure_speed(counted, streamed_time, false),
            None => measure_speed(estimate, streamed_time, true),
        };
        Some(TimingFigures { first_chunk_after: first_chunk.saturating_sub(self.sent_at), speed, total })
    }

    /// Returns the figures of the current reply, or of the last one.
    pub fn figures(&self) -> Option<TimingFigures> {
        self.figures.map(|(_, figures)| figures)
    }

    /// Returns the wait to show, if any.
    pub fn current_wait<'a>(&self, agent: &'a agent::State, now: Duration) -> Option<Wait<'a>> {
        let Phase::Replying(draft) = &agent.phase else { return None };
        if let Some(silence) = draft.silence {
            let elapsed = silence.elapsed.saturating_add(now.saturating_sub(self.silence_reported_at));
            return Some(Wait::Silence { elapsed: elapsed.as_secs(), limit: silence.limit.as_secs() });
        }
        let retry = draft.pending_retry.as_ref()?;
        let time_left = self.retry_announced_at.saturating_add(retry.wait).saturating_sub(now);
        Some(match time_left.is_zero() || self.is_wait_skipped {
            true => Wait::Retrying(retry),
            false => Wait::Countdown {
                retry,
                seconds_left: time_left.as_secs().saturating_add(u64::from(time_left.subsec_nanos() > 0)),
            },
        })
    }

    /// Returns the time at which the shown seconds change next; `None` if no seconds are shown.
    pub fn next_tick(&self, agent: &agent::State, now: Duration) -> Option<Duration> {
        match self.current_wait(agent, now)? {
            Wait::Countdown { retry, seconds_left } => {
                let retry_at = self.retry_announced_at.saturating_add(retry.wait);
                Some(retry_at.saturating_sub(Duration::from_secs(seconds_left.saturating_sub(1))))
            }
            Wait::Silence { elapsed, .. } => {
                let Phase::Replying(draft) = &agent.phase else { return None };
                let next_second = Duration::from_secs(elapsed.saturating_add(1));
                Some(self.silence_reported_at.saturating_add(next_second.saturating_sub(draft.silence?.elapsed)))
            }
            Wait::Retrying(_) => None,
        }
    }
}

impl TimingFigures {
    /// Formats the time to the first chunk: `first token 0.8 s`.
    pub fn first_chunk_text(&self) -> String {
        format!("first token {}", format_reply_time(self.first_chunk_after))
    }

    /// Formats the speed: `42 tok/s`, or `~42 tok/s` if estimated.
    pub fn speed_text(&self) -> Option<String> {
        let speed = self.speed?;
        let prefix = if speed.is_estimated { "~" } else { "" };
        let digits = usize::from(speed.tokens < 10.0);
        Some(format!("{prefix}{:.digits$} tok/s", speed.tokens))
    }
}

#[cfg(test)]
mod tests;
