//! Decisions on calls, and the ends of turns.

use super::{Digest, Grant, Rejected};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Decision of the user on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "with", rename_all = "snake_case")]
pub enum Decision {
    /// Approved once.
    Once,
    /// Approved, and a grant or rule for later calls.
    Always(Grant),
    /// Approved without the rejected parts.
    Selected(Vec<Rejected>),
    /// Arguments changed by the user. The call is planned and judged again and waits for another decision.
    Edited(Value),
    /// Denied, with a message for the model that may be empty.
    Deny(String),
    /// The changes of the trial with this digest made real; its output is the result, and nothing runs again.
    Kept(Digest),
}

impl Decision {
    /// Returns whether the call runs, at least in part.
    pub fn is_approval(&self) -> bool {
        match self {
            Self::Once | Self::Selected(_) | Self::Always(_) | Self::Kept(_) => true,
            Self::Edited(_) | Self::Deny(_) => false,
        }
    }
}

/// End of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", content = "why", rename_all = "snake_case")]
pub enum Ending {
    /// The model finished.
    Finished,
    /// The user stopped the turn, or the program ended during it.
    Interrupted,
    /// An error, in one sentence.
    Failed(String),
}

impl Ending {
    /// Returns the kind of ending, without the error.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
        }
    }
}
