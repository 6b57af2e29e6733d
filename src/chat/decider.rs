//! Source of a decision or an answer.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Source of a decision or answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum Decider {
    /// The user, with this key.
    #[serde(rename = "person")]
    User {
        /// The key, as written in the settings.
        key: String,
        /// Milliseconds since the prompt was first drawn.
        after_ms: u64,
    },
    /// The user, by a file of answers.
    File,
    /// The client of `aye serve`, for its user. A client of `--mcp` answers questions only; one of `--acp` is an editor, which
    /// also decides on calls.
    Client,
    /// The mode `auto`, by the effects of a trial.
    AutoMode,
    /// No user is available: the headless frontend denies.
    #[serde(rename = "nobody")]
    Headless,
}

impl Decider {
    /// The user, with this key, this long after the prompt was first drawn.
    pub fn from_key(key: String, delay: Duration) -> Self {
        Self::User { key, after_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX) }
    }

    /// Returns its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::File => "file",
            Self::Client => "client",
            Self::AutoMode => "auto_mode",
            Self::Headless => "headless",
        }
    }
}
