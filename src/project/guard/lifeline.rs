//! Messages between aye and a guard over the lifeline, a socket that is the stdin of the guard.

use crate::project::overlay_sandbox::setup_error::SetupError;
use crate::project::sandbox::SandboxError;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Duration;

/// Byte that stops the command: TERM to all its processes, KILL to the remaining ones after `STOP_GRACE`.
pub const STOP_BYTE: u8 = b'T';

/// Time between TERM and KILL when a command is stopped.
pub const STOP_GRACE: Duration = Duration::from_millis(1500);

/// End of a command, as sent over the lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// It exited with this status.
    Exit(u8),
    /// It was killed by this signal.
    Signal(u8),
    /// It could not be started; the system's error number.
    Failed(u8),
    /// It was not started, because its sandbox could not be set up.
    SandboxFailed(SandboxError),
    /// It was not started, because the overlay sandbox could not be set up.
    OverlaySandboxFailed(SetupError),
}

impl Report {
    /// Decodes a report. `None` if the guard was killed before it could report.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// Event that the guard waits for.
pub(super) enum GuardEvent {
    /// The command itself ended.
    Ended(Report),
    /// No child process is left.
    NoChildren,
    /// aye requests that the command be stopped.
    Stop,
    /// The lifeline was closed.
    LifelineClosed,
}

/// Sends the report over the lifeline.
pub(in crate::project) fn send_report(report: Report) {
    if let Ok(mut lifeline) = open_lifeline() {
        // The reader may have exited.
        let _ = lifeline.write_all(&serde_json::to_vec(&report).unwrap_or_default());
    }
}

/// Duplicates the lifeline, which is stdin, for reading and writing.
pub(super) fn open_lifeline() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}
