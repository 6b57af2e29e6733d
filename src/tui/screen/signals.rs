//! Signals that the screen waits for.

use futures::FutureExt;
use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Maximum delay between a signal and its arrival here.
const LATE_SIGNAL: Duration = Duration::from_millis(500);

/// Signal streams.
pub(super) struct Signals {
    pub(super) resized: Signal,
    /// Signals that end the program, with their numbers: terminate, hangup, interrupt, quit.
    pub(super) ending: [(Signal, i32); 4],
    pub(super) suspend: Signal,
    pub(super) resume: Signal,
    /// Time at which another program released the terminal. An interrupt or quit signal that arrives shortly after that
    /// was meant for that program.
    terminal_returned_at: Option<Instant>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let signal_stream = |kind: SignalKind| Ok::<_, io::Error>((signal(kind)?, kind.as_raw_value()));
        let tstp = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        let cont = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            ending: [
                signal_stream(SignalKind::terminate())?,
                signal_stream(SignalKind::hangup())?,
                signal_stream(SignalKind::interrupt())?,
                signal_stream(SignalKind::quit())?,
            ],
            suspend: signal(tstp)?,
            resume: signal(cont)?,
            terminal_returned_at: None,
        })
    }

    /// Returns whether a signal comes from keys pressed in the program that had the terminal until just now. Signals
    /// arrive on another thread, possibly after that program has ended.
    pub(super) fn is_late_signal(&self, signal: i32) -> bool {
        let [_, _, (_, interrupt), (_, quit)] = &self.ending;
        [*interrupt, *quit].contains(&signal)
            && self.terminal_returned_at.is_some_and(|returned_at| returned_at.elapsed() < LATE_SIGNAL)
    }

    /// Discards signals that the terminal's keys sent to another program and to this one.
    pub(super) fn discard_key_signals(&mut self) {
        self.terminal_returned_at = Some(Instant::now());
        let [_, _, (interrupt, _), (quit, _)] = &mut self.ending;
        for signal in [interrupt, quit, &mut self.suspend, &mut self.resume] {
            while signal.recv().now_or_never().is_some() {}
        }
    }
}
