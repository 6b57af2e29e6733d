//! `[dry_run]`: what a rehearsal does.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a rehearsal does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DryRun {
    /// How often the model is told that it is in one.
    pub tell_model: Tell,
    /// What becomes of the questions that would be asked for real.
    pub ask: Asks,
    /// Whether commands run on a stage of their own, where the system has one.
    pub stage: Stage,
    /// Files and folders outside the project that commands may read, and sensitive files that they may open: whole paths, or from
    /// `~`. A folder opens all in it but what may hold secrets.
    pub read: Vec<PathBuf>,
    /// What becomes of what commands write outside the project where no live command may.
    pub outside: Outside,
    /// The profile of a model that imagines what would come of what is not run. `None`: a sample stands in for it. One that
    /// does not exist cannot be asked, and its results say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The model to ask for. `None`: the profile's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator_model: Option<String>,
    /// Seconds until it is given up.
    pub simulator_seconds: u64,
}

impl Default for DryRun {
    fn default() -> Self {
        Self {
            tell_model: Tell::default(),
            ask: Asks::default(),
            stage: Stage::default(),
            read: Vec::new(),
            outside: Outside::default(),
            simulator: None,
            simulator_model: None,
            simulator_seconds: 30,
        }
    }
}

/// How often the model is told that a session is a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// Not at all. Where a dry run itself is why a call fails, on a full layer say, its error names it all the same, and so
    /// does the summary of a long talk.
    Never,
    /// In a line of its standing words.
    #[default]
    Once,
    /// There, and before the result of each call that was rehearsed.
    EachResult,
}

/// What becomes of the questions that would be asked for real.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Asks {
    /// None is asked; each result says that it would have been, and why.
    #[default]
    #[serde(rename = "report")]
    Report,
    /// They are asked as in life, and what is allowed is rehearsed.
    #[serde(rename = "as live")]
    AsLive,
}

/// What becomes of what commands write in the home and in `/var/tmp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// It is refused, as it is live.
    #[default]
    Refuse,
    /// It is kept in the overlay, and listed as outside the project.
    Overlay,
}

/// Whether commands run on a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Where the system has one.
    #[default]
    Auto,
    /// Never: it is said what would have run, and something else stands in for its result.
    Off,
}
