//! Ends the program after a termination signal if its terminal accepts no more output, such as over a dead connection.

use crate::tui::terminal;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// Time limit for the screen to end by itself.
const GRACE: Duration = Duration::from_millis(1500);

/// Watches for termination signals until dropped.
pub struct ExitWatchdog(JoinHandle<()>);

impl ExitWatchdog {
    /// Starts to watch on a separate task, because the loop of the screen may hang in a write.
    pub fn start_watching() -> io::Result<Self> {
        let (mut terminate, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        Ok(Self(tokio::spawn(async move {
            let received = tokio::select! {
                _ = terminate.recv() => SignalKind::terminate(),
                _ = hangup.recv() => SignalKind::hangup(),
            };
            tokio::time::sleep(GRACE).await;
            terminal::exit_now(128 + received.as_raw_value());
        })))
    }
}

impl Drop for ExitWatchdog {
    fn drop(&mut self) {
        self.0.abort();
    }
}
