//! Timing of the signals that end a command's processes.

use super::{News, PATIENCE, Report};
use crate::project::family::Family;
use rustix::process::{Pid, Signal, getpid};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time between TERM and KILL after a cancelled command, and for processes left in the background.
const BRIEF: Duration = Duration::from_millis(300);
/// Time to wait after the end of the command before the remaining processes are considered background processes.
const SETTLE: Duration = Duration::from_millis(5);
/// Interval between two rounds of KILL.
const ROUND: Duration = Duration::from_millis(20);
/// Time after which processes that cannot be killed (they now belong to another user) are given up.
const GIVE_UP: Duration = Duration::from_secs(2);

/// A guarded command.
pub(super) struct Watch {
    shell: Pid,
    ended: Option<Report>,
    /// Time and kind of the next signal.
    next: Option<(Instant, Signal)>,
    /// Time between TERM and KILL.
    grace: Duration,
    /// Time of the first KILL.
    killing: Option<Instant>,
}

impl Watch {
    /// Watches the command that runs in this shell.
    pub(super) fn new(shell: Pid) -> Self {
        Self { shell, ended: None, next: None, grace: BRIEF, killing: None }
    }

    /// Handles events and sends the signals, until no child is left or none can be killed.
    pub(super) fn until_gone(mut self, news: &Receiver<News>) -> Report {
        while let Some(event) = self.hear(news) {
            let now = Instant::now();
            match event {
                News::Ended(report) => {
                    self.ended = Some(report);
                    self.next.get_or_insert((now + SETTLE, Signal::TERM));
                }
                News::Stop => {
                    self.grace = PATIENCE;
                    self.next = Some((now, Signal::TERM));
                }
                News::Cut => {
                    self.grace = BRIEF;
                    self.next = Some((now, Signal::TERM));
                }
                News::Gone => break,
            }
        }
        self.leave_no_group();
        self.ended.unwrap_or(Report::Signal(9))
    }

    /// Returns the next event, and sends signals at their time. `None` if waiting any longer is useless.
    fn hear(&mut self, news: &Receiver<News>) -> Option<News> {
        loop {
            let Some((due, signal)) = self.next else { return news.recv().ok() };
            match news.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if self.killing.is_some_and(|since| now > since + GIVE_UP) {
                return None;
            }
            if signal == Signal::KILL {
                self.killing.get_or_insert(now);
                Family::Of(getpid()).kill();
                self.signal_group(Signal::KILL);
                self.next = Some((now + ROUND, Signal::KILL));
            } else {
                Family::Of(getpid()).signal(Signal::TERM);
                self.signal_group(Signal::TERM);
                self.next = Some((now + self.grace, Signal::KILL));
            }
        }
    }

    /// Signals the command's process group on systems where processes cannot be listed. On Linux this is only done
    /// while the command runs, because its number may be reused afterwards.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) || (self.ended.is_none() && signal == Signal::KILL) {
            let _ = rustix::process::kill_process_group(self.shell, signal);
        }
    }

    /// Kills processes that are not descendants any more but are still in the command's group. On Linux they are
    /// descendants, because the guard has adopted them.
    fn leave_no_group(&self) {
        if cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.shell, Signal::KILL);
        }
    }
}
