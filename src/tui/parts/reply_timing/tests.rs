//! Timing of a reply while it streams, and the times at which the display changes.

use super::*;
use crate::agent::{Event, State};
use crate::chat::{FinishReason, Usage};
use crate::policy::Policy;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A session whose user sent a message at time 0, with events at given milliseconds.
struct TimedSession {
    agent: State,
    pace: ReplyTiming,
}

impl TimedSession {
    fn new() -> Self {
        let agent = State::new(Policy::default(), "m".into(), String::new(), vec![]);
        let mut talk = Self { agent, pace: ReplyTiming::default() };
        talk.handle_event(Event::UserMessage("hi".into()), 0);
        talk
    }

    fn handle_event(&mut self, event: Event, at: u64) {
        if let Event::ReplyChunk { chunk, .. } = &event {
            self.pace.record_chunk(chunk, ms(at));
        }
        let effects = crate::agent::update(&mut self.agent, event);
        self.pace.start_request(&effects, ms(at));
        if self.agent.is_idle() {
            self.pace.finish_reply(ms(at));
        }
    }

    fn receive_chunk(&mut self, chunk: Chunk, at: u64) {
        let turn = self.agent.current_turn().unwrap();
        self.handle_event(Event::ReplyChunk { turn, chunk, after: ms(at) }, at);
    }

    /// Streams text of this many characters.
    fn receive_chars(&mut self, count: usize, at: u64) {
        self.receive_chunk(Chunk::Text("a".repeat(count)), at);
    }

    fn receive_retry(&mut self, wait: u64, at: u64) {
        self.receive_chunk(
            Chunk::Retrying { attempt: 2, max_attempts: 5, wait: ms(wait), why: "busy".into(), kind: String::new() },
            at,
        );
    }

    /// Returns the figures as the status bar shows them.
    fn figures_text(&self) -> String {
        let Some(figures) = self.pace.figures() else { return String::new() };
        let took = figures.total.map(|took| format!(", took {} ms", took.as_millis())).unwrap_or_default();
        format!("{}, {}{took}", figures.first_chunk_text(), figures.speed_text().unwrap_or_default())
    }

    /// Returns the wait as text, and the time in milliseconds at which it changes.
    fn wait_text(&self, at: u64) -> (String, Option<u64>) {
        let words = match self.pace.current_wait(&self.agent, ms(at)) {
            Some(Wait::Countdown { why, left }) => {
                format!("{} of {} in {left}", why.attempt, why.max_attempts)
            }
            Some(Wait::Retrying(why)) => format!("asks, {}", why.attempt),
            Some(Wait::Silence { since, limit }) => format!("quiet {since} of {limit}"),
            None => String::new(),
        };
        let ticks = self.pace.next_tick(&self.agent, ms(at));
        (words, ticks.map(|at| u64::try_from(at.as_millis()).unwrap()))
    }
}

#[test]
fn speed_is_estimated_while_streaming_and_counted_at_the_end() {
    let mut talk = TimedSession::new();
    assert_eq!(talk.figures_text(), "");
    talk.receive_chars(4, 800);
    assert_eq!(talk.figures_text(), "first token 0.8 s, ");
    talk.receive_chars(396, 1800);
    assert_eq!(talk.figures_text(), "first token 0.8 s, ~100 tok/s");
    talk.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 120 }), 1900);
    talk.receive_chunk(Chunk::Done(FinishReason::Stop), 2000);
    assert_eq!(talk.figures_text(), "first token 0.8 s, 120 tok/s, took 2000 ms");
    talk.handle_event(Event::UserMessage("more".into()), 9000);
    assert_eq!(talk.figures_text(), "", "the figures stay until the next reply");
}

#[test]
fn figures_change_at_most_four_times_a_second() {
    let mut talk = TimedSession::new();
    let (mut before, mut changes) = (String::new(), 0);
    for at in 0..400 {
        talk.receive_chars(1 + at * 7 % 13, 1000 + at as u64 * 10);
        if talk.figures_text() != before {
            (before, changes) = (talk.figures_text(), changes + 1);
        }
    }
    assert!((4..=17).contains(&changes), "{changes} in four seconds");
}

#[test]
fn hidden_reasoning_tokens_do_not_inflate_the_speed() {
    let mut talk = TimedSession::new();
    talk.receive_chars(200, 9000);
    talk.receive_chars(200, 10_000);
    talk.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 2000 }), 10_000);
    talk.receive_chunk(Chunk::Done(FinishReason::Stop), 10_000);
    assert_eq!(talk.figures_text(), "first token 9.0 s, 200 tok/s, took 10000 ms");
}

#[test]
fn a_reply_in_one_chunk_is_measured_from_the_request() {
    let mut talk = TimedSession::new();
    talk.receive_chars(400, 2000);
    talk.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 100 }), 2000);
    talk.receive_chunk(Chunk::Done(FinishReason::Stop), 2000);
    assert_eq!(talk.figures_text(), "first token 2.0 s, 50 tok/s, took 2000 ms");
}

#[test]
fn call_arguments_are_measured_and_retry_waits_are_not() {
    let mut talk = TimedSession::new();
    talk.receive_retry(5000, 100);
    for (bytes, at) in [(0, 5500), (200, 6000), (400, 6500), (100, 7000), (400, 7500)] {
        talk.receive_chunk(Chunk::CallProgress { name: "f".into(), bytes }, at);
    }
    assert_eq!(talk.figures_text(), "first token 0.4 s, ~100 tok/s", "800 bytes in two seconds, sent at 5.1 s");
}

#[test]
fn r49_a_countdown_ticks_every_second_until_the_retry_is_sent() {
    let mut talk = TimedSession::new();
    assert_eq!(talk.wait_text(50), (String::new(), None));
    talk.receive_retry(2500, 100);
    assert_eq!(talk.wait_text(100), ("2 of 5 in 3".into(), Some(600)));
    assert_eq!(talk.wait_text(599), ("2 of 5 in 3".into(), Some(600)));
    assert_eq!(talk.wait_text(600), ("2 of 5 in 2".into(), Some(1600)));
    assert_eq!(talk.wait_text(1600), ("2 of 5 in 1".into(), Some(2600)));
    assert_eq!(talk.wait_text(2600), ("asks, 2".into(), None));
    talk.receive_retry(60_000, 3000);
    talk.handle_event(Event::RetryNow, 4000);
    assert_eq!(talk.wait_text(4000), ("asks, 2".into(), None));
    talk.receive_chars(1, 4500);
    assert_eq!((talk.wait_text(4500).0, talk.figures_text()), (String::new(), "first token 0.5 s, ".into()));
}

#[test]
fn silence_is_counted_until_a_chunk_arrives() {
    let mut talk = TimedSession::new();
    let quiet = |since: u64| Chunk::Silent { since: ms(since), limit: ms(90_000) };
    talk.receive_chunk(quiet(45_500), 45_500);
    assert_eq!(talk.wait_text(45_500), ("quiet 45 of 90".into(), Some(46_000)));
    assert_eq!(talk.wait_text(46_000), ("quiet 46 of 90".into(), Some(47_000)));
    talk.receive_chunk(quiet(0), 50_000);
    assert_eq!(talk.wait_text(50_000), (String::new(), None));
    talk.receive_retry(1000, 51_000);
    talk.receive_chunk(quiet(45_000), 97_000);
    assert_eq!(talk.wait_text(97_000).0, "quiet 45 of 90", "the retry may be silent too");
    talk.receive_chunk(quiet(0), 98_000);
    assert_eq!(talk.wait_text(98_000), ("asks, 2".into(), None));
}

#[test]
fn times_and_speeds_are_formatted_briefly() {
    let soon = |first| TimingFigures { first_chunk_after: ms(first), speed: None, total: None }.first_chunk_text();
    assert_eq!(
        [soon(0), soon(99), soon(800), soon(9_960), soon(75_000)],
        ["first token 0 ms", "first token 99 ms", "first token 0.8 s", "first token 10.0 s", "first token 75 s"]
    );
    let fast = |tokens, estimated| {
        let speed = Some(Speed { tokens, estimated });
        TimingFigures { first_chunk_after: ms(0), speed, total: None }.speed_text().unwrap()
    };
    assert_eq!([fast(3.12, false), fast(42.4, true)], ["3.1 tok/s", "~42 tok/s"]);
    assert_eq!([format_seconds(0), format_seconds(12), format_seconds(3000)], ["0 s", "12 s", "50 min 0 s"]);
}
