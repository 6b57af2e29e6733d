//! Kind of outcome of a call; outcomes and decisions as the user reads them.

use super::Record;
use crate::chat::{Decision, Outcome, UserCommand};

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

impl From<&UserCommand> for EndKind {
    fn from(command: &UserCommand) -> Self {
        match (command.is_stopped(), command.is_success(), command.is_rehearsed) {
            (true, _, _) => Self::Interrupted,
            (false, true, false) => Self::Done,
            (false, true, true) => Self::Rehearsed,
            (false, false, false) => Self::ExitError,
            (false, false, true) => Self::RehearsedExitError,
        }
    }
}

impl From<&Outcome> for EndKind {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(_) => Self::Done,
            Outcome::Failed(_) => Self::Failed,
            Outcome::Refused(_) => Self::Refused,
            Outcome::Rehearsed(_) => Self::Rehearsed,
            Outcome::Interrupted(_) => Self::Interrupted,
        }
    }
}

/// Returns the name of an outcome as the user reads it, which can differ from its name in JSON.
pub fn outcome_label(outcome: &Outcome) -> &'static str {
    EndKind::from(outcome).label()
}

/// Returns a decision as the user reads it.
pub fn brief_decision(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "approved",
        Decision::Selected(_) => "approved a part",
        Decision::Always(_) => "granted",
        Decision::Edited(_) => "edited",
        Decision::Deny(_) => "denied",
        Decision::Kept(_) => "kept the trial",
    }
}

impl Record<'_> {
    /// Returns how the call ended.
    pub fn end(&self) -> EndKind {
        match self.outcome() {
            Some(Outcome::Rehearsed(_)) if self.failure_status().is_some() => EndKind::RehearsedExitError,
            _ if self.failure_status().is_some() => EndKind::ExitError,
            outcome => outcome.map_or(EndKind::Open, EndKind::from),
        }
    }
}
