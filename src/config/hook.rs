//! `[hooks.NAME]`: programs that review calls.

use serde::{Deserialize, Serialize};

/// A program that reviews calls. A hook with invalid settings stays configured and every call asks: a failing guard
/// must not silently disappear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// Program and arguments, run without a shell. Empty: invalid, so every call asks.
    pub command: Vec<String>,
    /// Tools whose calls it reviews. `None`: every call that does more than read in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Timeout in seconds.
    pub seconds: u64,
    /// Run the hook in a dry run too.
    pub dry_run: bool,
}

impl Default for Hook {
    fn default() -> Self {
        Self { command: Vec::new(), tools: None, seconds: 10, dry_run: false }
    }
}
