//! A background command that runs, with its output.

use super::call_output::CallOutput;
use crate::chat::CallId;

/// A background command that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningBackground {
    /// Number in its session, from 1.
    pub number: u32,
    /// The call that started it.
    pub call: CallId,
    /// Latest output for the screen, bounded.
    pub latest_output: String,
    /// True if the user requested its end.
    pub(super) is_stopped_by_user: bool,
    /// All output so far, bounded.
    pub(super) output: CallOutput,
}

impl RunningBackground {
    /// Returns all output so far, truncated in the middle.
    pub fn output(&self) -> &str {
        self.output.text()
    }
}
