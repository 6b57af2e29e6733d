//! `[hooks.NAME]`: the programs that are asked about calls.

use serde::{Deserialize, Serialize};

/// A program that is asked about calls. One whose settings are wrong stays, and everything asks: a guard that cannot be
/// asked must not be a guard that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// The program and its arguments, run without a shell. Empty: it cannot be asked.
    pub command: Vec<String>,
    /// The tools whose calls it is asked about. `None`: every call that does more than read inside the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Seconds until it is stopped.
    pub seconds: u64,
    /// Whether it is run in a dry run too.
    pub dry_run: bool,
}

impl Default for Hook {
    fn default() -> Self {
        Self { command: Vec::new(), tools: None, seconds: 10, dry_run: false }
    }
}
