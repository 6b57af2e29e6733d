//! Timing of the signals that end a command's processes.

use super::lifeline::{GuardEvent, Report, STOP_GRACE};
use crate::project::process_set::ProcessSet;
use rustix::process::{Pid, Signal, getpid};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time between TERM and KILL after the lifeline was closed, and for processes that the command left in the background.
const BRIEF_GRACE: Duration = Duration::from_millis(300);
/// Time to wait after the end of the command before the remaining processes are considered background processes.
const END_DELAY: Duration = Duration::from_millis(5);
/// Interval between two rounds of KILL.
const KILL_INTERVAL: Duration = Duration::from_millis(20);
/// Time after which processes that cannot be killed (they now belong to another user) are given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);

/// A guarded command.
pub(super) struct CommandWatch {
    shell: Pid,
    ended: Option<Report>,
    /// Time and kind of the next signal.
    next_signal: Option<(Instant, Signal)>,
    /// Time between TERM and KILL.
    grace: Duration,
    /// Time of the first KILL.
    first_kill: Option<Instant>,
}

impl CommandWatch {
    /// Watches the command that runs in this shell.
    pub(super) fn new(shell: Pid) -> Self {
        Self { shell, ended: None, next_signal: None, grace: BRIEF_GRACE, first_kill: None }
    }

    /// Handles events and sends the signals, until no child is left or none can be killed.
    pub(super) fn wait_until_gone(mut self, events: &Receiver<GuardEvent>) -> Report {
        while let Some(event) = self.next_event(events) {
            let now = Instant::now();
            match event {
                GuardEvent::Ended(report) => {
                    self.ended = Some(report);
                    self.next_signal.get_or_insert((now + END_DELAY, Signal::TERM));
                }
                GuardEvent::Stop => {
                    self.grace = STOP_GRACE;
                    self.next_signal = Some((now, Signal::TERM));
                }
                GuardEvent::LifelineClosed => {
                    self.grace = BRIEF_GRACE;
                    self.next_signal = Some((now, Signal::TERM));
                }
                GuardEvent::NoChildren => break,
            }
        }
        self.kill_group();
        // A shell whose end was not reported counts as killed.
        self.ended.unwrap_or(Report::Signal(9))
    }

    /// Returns the next event, and sends the signals that become due while it waits. `None` if no event can follow or
    /// the remaining processes cannot be killed.
    fn next_event(&mut self, events: &Receiver<GuardEvent>) -> Option<GuardEvent> {
        loop {
            let Some((due, signal)) = self.next_signal else { return events.recv().ok() };
            match events.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if self.first_kill.is_some_and(|first| now > first + GIVE_UP_AFTER) {
                return None;
            }
            if signal == Signal::KILL {
                self.first_kill.get_or_insert(now);
                ProcessSet::DescendantsOf(getpid()).kill_all();
                self.signal_group(Signal::KILL);
                self.next_signal = Some((now + KILL_INTERVAL, Signal::KILL));
            } else {
                ProcessSet::DescendantsOf(getpid()).send_signal(Signal::TERM);
                self.signal_group(Signal::TERM);
                self.next_signal = Some((now + self.grace, Signal::KILL));
            }
        }
    }

    /// Signals the command's process group: every signal on systems where processes cannot be listed, and only KILL on
    /// Linux. There the command must still run, because later another group may have the same ID.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) || (self.ended.is_none() && signal == Signal::KILL) {
            let _ = rustix::process::kill_process_group(self.shell, signal);
        }
    }

    /// Kills processes that are not descendants any more but are still in the command's group. On Linux they are
    /// descendants, because the guard has adopted them.
    fn kill_group(&self) {
        if cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.shell, Signal::KILL);
        }
    }
}
