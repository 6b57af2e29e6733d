//! Number of calls that wait for an answer of a server.

use tokio::sync::watch;

/// Counts the calls of one connection.
#[derive(Clone)]
pub(super) struct CallsInProgress(watch::Sender<usize>);

/// A call. Dropping it ends it.
pub(super) struct RunningCall(watch::Sender<usize>);

impl CallsInProgress {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Starts a call.
    pub(super) fn begin_call(&self) -> RunningCall {
        self.0.send_modify(|count| *count += 1);
        RunningCall(self.0.clone())
    }

    /// Returns whether a call runs.
    pub(super) fn is_any_running(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until no call runs.
    pub(super) async fn end(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
