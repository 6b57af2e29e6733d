//! The guard as seen by the process that started it.

use crate::project::process_set::ProcessSet;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::{thread, time::Instant};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Time for which output is read after the guard has exited. Only processes that escaped the guard could still write.
pub const DRAIN_TIME: Duration = Duration::from_millis(200);

/// Maximum time between the request to stop and the guard's report. The guard first grants the program `STOP_GRACE`.
pub const GUARD_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two attempts to resume a guard that must end: the guarded program may stop it again and again.
pub const RESUME_INTERVAL: Duration = Duration::from_millis(50);

/// A started guard. Dropping this resumes a stopped guard, so that it notices the closed lifeline (its socket to this
/// process) and kills everything.
/// On Linux the guard is resumed until it has ended; one that does not end within `GUARD_TIMEOUT` is killed with the
/// processes of the guarded program.
pub struct GuardProcess(pub Child);

impl GuardProcess {
    /// Starts the guard, with its lifeline as stdin. Closes the files that the command holds: a writing end of a pipe
    /// would keep the output open.
    pub fn start(mut command: Command, environment: &[(OsString, OsString)]) -> io::Result<(Self, UnixStream)> {
        let (lifeline, guard_end) = std::os::unix::net::UnixStream::pair()?;
        lifeline.set_nonblocking(true)?;
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value))).stdin(OwnedFd::from(guard_end));
        Ok((Self(command.spawn()?), UnixStream::from_std(lifeline)?))
    }

    /// Returns the process id, while it cannot have been reused.
    fn pid(&self) -> Option<Pid> {
        self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Resumes the guard, in case the guarded program stopped it.
    pub fn resume(&self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Kills the guard, and as many processes of the guarded program as can be found. For a guard that was killed or
    /// stopped by that program.
    pub fn end_without_guard(&mut self) {
        if let Some(pid) = self.pid() {
            kill_guarded_processes(pid);
        }
        let _ = self.0.start_kill();
    }

    /// Collects the exit status of a guard that has ended or was killed, so that it does not stay a zombie.
    pub async fn collect_exit(&mut self) {
        let _ = timeout(DRAIN_TIME, self.0.wait()).await;
    }
}

impl Drop for GuardProcess {
    fn drop(&mut self) {
        self.resume();
        #[cfg(target_os = "linux")]
        if let Some(pid) = self.pid()
            && let Ok(guard) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
        {
            // If no thread can be started, the guard was resumed once.
            let _ = thread::Builder::new().name("guard end".into()).spawn(move || resume_until_end(&guard, pid));
        }
    }
}

/// Kills the processes of the guarded program that can be found.
fn kill_guarded_processes(guard: Pid) {
    ProcessSet::DescendantsOf(guard).kill_all();
    ProcessSet::InSession(guard).kill_all();
}

/// Resumes the guard until it has ended, and kills it and the guarded program after `GUARD_TIMEOUT`.
#[cfg(target_os = "linux")]
fn resume_until_end(guard: &OwnedFd, pid: Pid) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::pidfd_send_signal;
    let started = Instant::now();
    let interval = Timespec::try_from(RESUME_INTERVAL).ok();
    while started.elapsed() < GUARD_TIMEOUT {
        // Readable when the guard has ended.
        if !matches!(poll(&mut [PollFd::new(guard, PollFlags::IN)], interval.as_ref()), Ok(0)) {
            return;
        }
        let _ = pidfd_send_signal(guard, Signal::CONT);
    }
    kill_guarded_processes(pid);
    let _ = pidfd_send_signal(guard, Signal::KILL);
}
