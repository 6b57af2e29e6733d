//! The guard as seen by the process that started it.

use crate::project::process_set::ProcessSet;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;
use tokio::process::Child;
use tokio::time::timeout;

/// Time for which output is read after the guard has exited. Only processes that escaped the guard could still write.
pub const DRAIN_TIME: Duration = Duration::from_millis(200);

/// A started guard. Dropping this resumes a stopped guard, so that it notices the closed lifeline and kills everything.
pub struct GuardProcess(pub Child);

impl GuardProcess {
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
            ProcessSet::DescendantsOf(pid).kill_all();
            ProcessSet::InSession(pid).kill_all();
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
    }
}
