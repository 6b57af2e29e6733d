//! Ends the program when it is told to end and its terminal takes no more bytes, as over a line that went dead.

use crate::tui::terminal;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// So long the screen has to end by itself.
const GRACE: Duration = Duration::from_millis(1500);

/// Watches while it lives.
pub struct LastResort(JoinHandle<()>);

impl LastResort {
    /// Begins to watch, beside the loop of the screen, which may hang in a write.
    pub fn watch() -> io::Result<Self> {
        let (mut terminate, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        Ok(Self(tokio::spawn(async move {
            let told = tokio::select! {
                _ = terminate.recv() => SignalKind::terminate(),
                _ = hangup.recv() => SignalKind::hangup(),
            };
            tokio::time::sleep(GRACE).await;
            terminal::abandon(128 + told.as_raw_value());
        })))
    }
}

impl Drop for LastResort {
    fn drop(&mut self) {
        self.0.abort();
    }
}
