//! `[project]`: limits for project instructions.

use serde::{Deserialize, Serialize};

/// Limits for the instructions of a trusted project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// Maximum KiB of `AGENTS.md` and `.aye/instructions.md` together. 0: neither is read.
    pub instructions_kib: usize,
}

impl Default for Project {
    fn default() -> Self {
        Self { instructions_kib: 32 }
    }
}
