//! Signals that a frontend on the terminal waits for.

use futures::FutureExt;
use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP, also for a terminal that is gone.
pub(in crate::tui) const HANGUP: i32 = 1;
/// Maximum delay between a signal and its arrival here.
const LATE_SIGNAL: Duration = Duration::from_millis(500);

/// Signals that end the program, with their numbers: terminate, hangup, interrupt, quit.
pub(in crate::tui) struct EndingSignals(pub(in crate::tui) [(Signal, i32); 4]);

impl EndingSignals {
    pub(in crate::tui) fn new() -> io::Result<Self> {
        let stream = |kind: SignalKind| Ok::<_, io::Error>((signal(kind)?, kind.as_raw_value()));
        Ok(Self([
            stream(SignalKind::terminate())?,
            stream(SignalKind::hangup())?,
            stream(SignalKind::interrupt())?,
            stream(SignalKind::quit())?,
        ]))
    }

    /// Waits for the next of them, and returns its number.
    pub(in crate::tui) async fn recv(&mut self) -> i32 {
        let [(terminate, sigterm), (hangup, sighup), (interrupt, sigint), (quit, sigquit)] = &mut self.0;
        tokio::select! {
            biased;
            _ = terminate.recv() => *sigterm,
            _ = hangup.recv() => *sighup,
            _ = interrupt.recv() => *sigint,
            _ = quit.recv() => *sigquit,
        }
    }
}

/// Signal streams.
pub(in crate::tui) struct Signals {
    pub(in crate::tui) resized: Signal,
    pub(in crate::tui) ending: EndingSignals,
    pub(in crate::tui) suspend: Signal,
    pub(in crate::tui) resume: Signal,
    /// Time at which another program released the terminal. An interrupt or quit signal that arrives shortly after that
    /// was meant for that program.
    terminal_returned_at: Option<Instant>,
}

impl Signals {
    pub(in crate::tui) fn new() -> io::Result<Self> {
        let tstp = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        let cont = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            ending: EndingSignals::new()?,
            suspend: signal(tstp)?,
            resume: signal(cont)?,
            terminal_returned_at: None,
        })
    }

    /// Returns whether a signal comes from keys pressed in the program that had the terminal until just now. Signals
    /// arrive on another thread, possibly after that program has ended.
    pub(in crate::tui) fn is_late_signal(&self, signal: i32) -> bool {
        let [_, _, (_, interrupt), (_, quit)] = &self.ending.0;
        [*interrupt, *quit].contains(&signal)
            && self.terminal_returned_at.is_some_and(|returned_at| returned_at.elapsed() < LATE_SIGNAL)
    }

    /// Discards signals that the terminal's keys sent to another program and to this one.
    pub(in crate::tui) fn discard_key_signals(&mut self) {
        self.terminal_returned_at = Some(Instant::now());
        let [_, _, (interrupt, _), (quit, _)] = &mut self.ending.0;
        for signal in [interrupt, quit, &mut self.suspend, &mut self.resume] {
            while signal.recv().now_or_never().is_some() {}
        }
    }
}
