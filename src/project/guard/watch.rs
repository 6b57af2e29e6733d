//! When a command's processes are signalled, and when all of them are gone.

use super::{News, PATIENCE, Report};
use crate::project::family::Family;
use rustix::process::{Pid, Signal, getpid};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// From TERM to KILL when nobody waits for the command any more, and for what it left running in the background.
const BRIEF: Duration = Duration::from_millis(300);
/// How long the end of a command may go unnoticed before what is left is taken to be left running on purpose.
const SETTLE: Duration = Duration::from_millis(5);
/// Between one round of killing and the next.
const ROUND: Duration = Duration::from_millis(20);
/// What cannot be killed (it became somebody else's) is given up after this long.
const GIVE_UP: Duration = Duration::from_secs(2);

/// One command under watch.
pub(super) struct Watch {
    shell: Pid,
    ended: Option<Report>,
    /// The signal that is due, and when.
    next: Option<(Instant, Signal)>,
    /// From TERM to KILL.
    grace: Duration,
    /// Since when there is killing.
    killing: Option<Instant>,
}

impl Watch {
    /// Watches over the command whose shell this is.
    pub(super) fn new(shell: Pid) -> Self {
        Self { shell, ended: None, next: None, grace: BRIEF, killing: None }
    }

    /// Hears the news and sends the signals, until no child is left or none can be ended.
    pub(super) fn until_gone(mut self, news: &Receiver<News>) -> Report {
        while let Some(heard) = self.hear(news) {
            let now = Instant::now();
            match heard {
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

    /// The next news; signals go out when they are due. `None` when there is no use in waiting any longer.
    fn hear(&mut self, news: &Receiver<News>) -> Option<News> {
        loop {
            let Some((due, signal)) = self.next else { return news.recv().ok() };
            match news.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(heard) => return Some(heard),
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

    /// Where processes cannot be listed, the command's group stands for its family. On Linux it is left alone: its
    /// number may be another's once the command has ended.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) || (self.ended.is_none() && signal == Signal::KILL) {
            let _ = rustix::process::kill_process_group(self.shell, signal);
        }
    }

    /// What no longer is a child of anybody here, but still is in the command's group. Linux has adopted it.
    fn leave_no_group(&self) {
        if cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.shell, Signal::KILL);
        }
    }
}
