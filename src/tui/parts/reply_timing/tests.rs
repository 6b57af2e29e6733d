//! Timing of a reply while it streams, and the times at which the display changes.

use super::*;
use crate::agent::{Event, State};
use crate::chat::{FinishReason, Usage};
use crate::policy::Policy;
use crate::tui::parts::quantities::format_seconds;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A session whose user sent a message at time 0, with events at given milliseconds.
struct TimedSession {
    agent: State,
    timing: ReplyTiming,
}

impl TimedSession {
    fn new() -> Self {
        let agent = State::new(Policy::default(), "m".into(), String::new(), vec![]);
        let mut session = Self { agent, timing: ReplyTiming::default() };
        session.handle_event(Event::UserMessage("hi".into()), 0);
        session
    }

    fn handle_event(&mut self, event: Event, time: u64) {
        if let Event::ReplyChunk { chunk, .. } = &event {
            self.timing.record_chunk(chunk, ms(time));
        }
        let effects = crate::agent::update(&mut self.agent, event);
        self.timing.start_request(&effects, ms(time));
        if self.agent.is_idle() {
            self.timing.finish_reply(ms(time));
        }
    }

    fn receive_chunk(&mut self, chunk: Chunk, time: u64) {
        let turn = self.agent.current_turn().unwrap();
        self.handle_event(Event::ReplyChunk { turn, chunk, elapsed: ms(time) }, time);
    }

    /// Streams text of this many characters.
    fn receive_chars(&mut self, count: usize, time: u64) {
        self.receive_chunk(Chunk::Text("a".repeat(count)), time);
    }

    /// Receives at `time` the announcement of a retry after `wait`, both in milliseconds.
    fn receive_retry(&mut self, wait: u64, time: u64) {
        self.receive_chunk(
            Chunk::Retrying { attempt: 2, max_attempts: 5, wait: ms(wait), reason: "busy".into(), kind: String::new() },
            time,
        );
    }

    /// Returns the figures as the status bar shows them.
    fn figures_text(&self) -> String {
        let Some(figures) = self.timing.figures() else { return String::new() };
        let total_text = figures.total.map(|total| format!(", took {} ms", total.as_millis())).unwrap_or_default();
        format!("{}, {}{total_text}", figures.first_chunk_text(), figures.speed_text().unwrap_or_default())
    }

    /// Returns the wait as text, and the time in milliseconds at which it changes.
    fn wait_text(&self, time: u64) -> (String, Option<u64>) {
        let text = match self.timing.current_wait(&self.agent, ms(time)) {
            Some(Wait::Countdown { retry, seconds_left }) => {
                format!("{} of {} in {seconds_left}", retry.attempt, retry.max_attempts)
            }
            Some(Wait::Retrying(retry)) => format!("retrying, {}", retry.attempt),
            Some(Wait::Silence { elapsed, limit }) => format!("silent {elapsed} of {limit}"),
            None => String::new(),
        };
        let next_tick = self.timing.next_tick(&self.agent, ms(time));
        (text, next_tick.map(|time| u64::try_from(time.as_millis()).unwrap()))
    }
}

#[test]
fn speed_is_estimated_while_streaming_and_counted_at_the_end() {
    let mut session = TimedSession::new();
    assert_eq!(session.figures_text(), "");
    session.receive_chars(4, 800);
    assert_eq!(session.figures_text(), "first token 0.8 s, ");
    session.receive_chars(396, 1800);
    assert_eq!(session.figures_text(), "first token 0.8 s, ~100 tok/s");
    session.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 120 }), 1900);
    session.receive_chunk(Chunk::Done(FinishReason::Stop), 2000);
    assert_eq!(session.figures_text(), "first token 0.8 s, 120 tok/s, took 2000 ms");
    session.handle_event(Event::UserMessage("more".into()), 9000);
    assert_eq!(session.figures_text(), "", "the next turn has no figures yet");
}

#[test]
fn figures_change_at_most_four_times_a_second() {
    let mut session = TimedSession::new();
    let (mut previous, mut changes) = (String::new(), 0);
    for index in 0..400 {
        session.receive_chars(1 + index * 7 % 13, 1000 + index as u64 * 10);
        if session.figures_text() != previous {
            (previous, changes) = (session.figures_text(), changes + 1);
        }
    }
    assert!((4..=17).contains(&changes), "{changes} in four seconds");
}

#[test]
fn hidden_reasoning_tokens_do_not_inflate_the_speed() {
    let mut session = TimedSession::new();
    session.receive_chars(200, 9000);
    session.receive_chars(200, 10_000);
    session.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 2000 }), 10_000);
    session.receive_chunk(Chunk::Done(FinishReason::Stop), 10_000);
    assert_eq!(session.figures_text(), "first token 9.0 s, 200 tok/s, took 10000 ms");
}

#[test]
fn a_reply_in_one_chunk_is_measured_from_the_request() {
    let mut session = TimedSession::new();
    session.receive_chars(400, 2000);
    session.receive_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 100 }), 2000);
    session.receive_chunk(Chunk::Done(FinishReason::Stop), 2000);
    assert_eq!(session.figures_text(), "first token 2.0 s, 50 tok/s, took 2000 ms");
}

#[test]
fn call_arguments_are_measured_and_retry_waits_are_not() {
    let mut session = TimedSession::new();
    session.receive_retry(5000, 100);
    // The bytes of the current call so far: 400 in the first call, then 400 in a second one.
    for (bytes, time) in [(0, 5500), (200, 6000), (400, 6500), (100, 7000), (400, 7500)] {
        session.receive_chunk(Chunk::CallProgress { name: "f".into(), bytes }, time);
    }
    assert_eq!(session.figures_text(), "first token 0.4 s, ~100 tok/s", "800 bytes in two seconds, sent at 5.1 s");
}

#[test]
fn r49_a_countdown_ticks_every_second_until_the_retry_is_sent() {
    let mut session = TimedSession::new();
    assert_eq!(session.wait_text(50), (String::new(), None));
    session.receive_retry(2500, 100);
    assert_eq!(session.wait_text(100), ("2 of 5 in 3".into(), Some(600)));
    assert_eq!(session.wait_text(599), ("2 of 5 in 3".into(), Some(600)));
    assert_eq!(session.wait_text(600), ("2 of 5 in 2".into(), Some(1600)));
    assert_eq!(session.wait_text(1600), ("2 of 5 in 1".into(), Some(2600)));
    assert_eq!(session.wait_text(2600), ("retrying, 2".into(), None));
    session.receive_retry(60_000, 3000);
    session.handle_event(Event::RetryNow, 4000);
    assert_eq!(session.wait_text(4000), ("retrying, 2".into(), None));
    session.receive_chars(1, 4500);
    assert_eq!((session.wait_text(4500).0, session.figures_text()), (String::new(), "first token 0.5 s, ".into()));
}

#[test]
fn silence_is_counted_until_a_chunk_arrives() {
    let mut session = TimedSession::new();
    let silent_chunk = |silence: u64| Chunk::Silent { silence: ms(silence), limit: ms(90_000) };
    session.receive_chunk(silent_chunk(45_500), 45_500);
    assert_eq!(session.wait_text(45_500), ("silent 45 of 90".into(), Some(46_000)));
    assert_eq!(session.wait_text(46_000), ("silent 46 of 90".into(), Some(47_000)));
    // A silence of zero: something arrived that is not part of the reply, such as a keep-alive.
    session.receive_chunk(silent_chunk(0), 50_000);
    assert_eq!(session.wait_text(50_000), (String::new(), None));
    session.receive_retry(1000, 51_000);
    session.receive_chunk(silent_chunk(45_000), 97_000);
    assert_eq!(session.wait_text(97_000).0, "silent 45 of 90", "the retry may be silent too");
    session.receive_chunk(silent_chunk(0), 98_000);
    assert_eq!(session.wait_text(98_000), ("retrying, 2".into(), None));
}

#[test]
fn times_and_speeds_are_formatted_briefly() {
    let text_for = |first| TimingFigures { first_chunk_after: ms(first), speed: None, total: None }.first_chunk_text();
    assert_eq!(
        [text_for(0), text_for(99), text_for(800), text_for(9_960), text_for(75_000)],
        ["first token 0 ms", "first token 99 ms", "first token 0.8 s", "first token 10.0 s", "first token 75 s"]
    );
    let speed_text_for = |tokens, is_estimated| {
        let speed = Some(Speed { tokens, is_estimated });
        TimingFigures { first_chunk_after: ms(0), speed, total: None }.speed_text().unwrap()
    };
    assert_eq!([speed_text_for(3.12, false), speed_text_for(42.4, true)], ["3.1 tok/s", "~42 tok/s"]);
    assert_eq!([format_seconds(0), format_seconds(12), format_seconds(3000)], ["0 s", "12 s", "50 min 0 s"]);
}
