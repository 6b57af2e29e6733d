//! `[dry_run]`: what a rehearsal does.

use serde::{Deserialize, Serialize};

/// What a rehearsal does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DryRun {
    /// How often the model is told that it is in one.
    pub tell_model: Tell,
}

/// How often the model is told that a session is a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// Not at all.
    Never,
    /// In a line of its standing words.
    #[default]
    Once,
    /// There, and before the result of each call that was rehearsed.
    EachResult,
}
