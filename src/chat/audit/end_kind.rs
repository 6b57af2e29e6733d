//! Kind of outcome of a call.

use super::Record;
use crate::chat::Outcome;

/// Kind of outcome of a call. A command that ran and exited with an error has its own kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndKind {
    Done,
    /// A command ran and failed.
    ExitError,
    /// A command ran in the overlay sandbox and failed.
    RehearsedExitError,
    Failed,
    Refused,
    Rehearsed,
    Interrupted,
    Open,
}

impl EndKind {
    /// Returns the symbol for the outcome.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::ExitError | Self::RehearsedExitError | Self::Failed => "✗",
            Self::Refused => "⊘",
            Self::Rehearsed => "◇",
            Self::Interrupted => "■",
            Self::Open => "…",
        }
    }

    /// Returns whether the call failed or was denied.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::ExitError | Self::RehearsedExitError | Self::Failed | Self::Refused)
    }

    /// Returns the outcome in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ExitError => "exited with an error",
            Self::RehearsedExitError => "rehearsed, exited with an error",
            Self::Failed => "failed",
            Self::Refused => "denied",
            Self::Rehearsed => "rehearsed",
            Self::Interrupted => "interrupted",
            Self::Open => "open",
        }
    }
}

impl Record<'_> {
    /// Returns how the call ended.
    pub fn end(&self) -> EndKind {
        match self.outcome() {
            Some(Outcome::Rehearsed(_)) if self.failure_status().is_some() => EndKind::RehearsedExitError,
            _ if self.failure_status().is_some() => EndKind::ExitError,
            Some(Outcome::Done(_)) => EndKind::Done,
            Some(Outcome::Failed(_)) => EndKind::Failed,
            Some(Outcome::Refused(_)) => EndKind::Refused,
            Some(Outcome::Rehearsed(_)) => EndKind::Rehearsed,
            Some(Outcome::Interrupted(_)) => EndKind::Interrupted,
            None => EndKind::Open,
        }
    }
}
