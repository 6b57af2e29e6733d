//! Number of calls that wait for an answer of a server.

use tokio::sync::watch;

/// Counts the calls of one connection.
#[derive(Clone)]
pub(super) struct CallsInProgress(watch::Sender<Counts>);

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    running: usize,
    /// Calls so far.
    begun: u64,
}

/// A call. Dropping it ends it.
pub(super) struct RunningCall(watch::Sender<Counts>);

impl CallsInProgress {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }

    /// Starts a call.
    pub(super) fn begin_call(&self) -> RunningCall {
        self.0.send_modify(|counts| {
            counts.running += 1;
            counts.begun += 1;
        });
        RunningCall(self.0.clone())
    }

    /// Returns whether a call runs.
    pub(super) fn is_any_running(&self) -> bool {
        self.0.borrow().running > 0
    }

    /// Returns the number of the last call; the first one has number 1.
    pub(super) fn last_number(&self) -> u64 {
        self.0.borrow().begun
    }

    /// Waits until no call runs.
    pub(super) async fn end(&self) {
        let _ = self.0.subscribe().wait_for(|counts| counts.running == 0).await;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|counts| counts.running = counts.running.saturating_sub(1));
    }
}
