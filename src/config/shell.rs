//! `[shell]`: how commands run.

use serde::{Deserialize, Serialize};

/// How commands run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shell {
    /// Seconds until a command is stopped, where the model asks for no other time.
    pub timeout: u64,
    /// The longest the model may ask for, in seconds; never less than `timeout` once settings are loaded.
    pub max_timeout: u64,
}

impl Default for Shell {
    fn default() -> Self {
        Self { timeout: 30, max_timeout: 120 }
    }
}
