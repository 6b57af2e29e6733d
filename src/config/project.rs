//! `[project]`: what a project may say to the model.

use serde::{Deserialize, Serialize};

/// What a project may say to the model, once its files are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// How much of its `AGENTS.md` and `.aye/instructions.md` is sent, in KiB, of both together. 0: neither is read.
    pub instructions_kib: usize,
}

impl Default for Project {
    fn default() -> Self {
        Self { instructions_kib: 32 }
    }
}
