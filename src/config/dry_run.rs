//! `[dry_run]`: behaviour of a dry run.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DryRun {
    /// Frequency of telling the model that the session is a dry run.
    pub tell_model: TellModel,
    /// Handling of calls that would ask the user in a live session.
    pub ask: AskHandling,
    /// Use of the overlay sandbox for commands.
    pub overlay_sandbox: OverlaySandbox,
    /// Paths outside the project that commands may read, and sensitive files that they may open: absolute or from `~`.
    /// A directory opens everything in it except files that may hold secrets.
    pub read: Vec<PathBuf>,
    /// Handling of writes outside the project that a live command is not allowed to make.
    pub outside: OutsideWrites,
    /// Profile of the model that simulates results. `None`: a sample is used instead. If the profile does not exist,
    /// the results report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Model to request. `None`: the profile's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator_model: Option<String>,
    /// Timeout of the simulator in seconds.
    pub simulator_seconds: u64,
}

impl Default for DryRun {
    fn default() -> Self {
        Self {
            tell_model: TellModel::default(),
            ask: AskHandling::default(),
            overlay_sandbox: OverlaySandbox::default(),
            read: Vec::new(),
            outside: OutsideWrites::default(),
            simulator: None,
            simulator_model: None,
            simulator_seconds: 30,
        }
    }
}

/// Frequency of telling the model that the session is a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TellModel {
    /// Never, except where the dry run itself makes a call fail (such as a full overlay) and in the summary of a long
    /// conversation.
    Never,
    /// Once, in the system prompt.
    #[default]
    Once,
    /// In the system prompt and before the result of each rehearsed call.
    EachResult,
}

/// Handling of calls that would ask the user in a live session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AskHandling {
    /// No prompt is shown; each result states that the call would have asked, and why.
    #[default]
    #[serde(rename = "report")]
    Report,
    /// Prompts are shown as in a live session, and approved calls are rehearsed.
    #[serde(rename = "as live")]
    AsLive,
}

/// Handling of writes to the home directory and `/var/tmp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideWrites {
    /// Writes are denied, as in a live session.
    #[default]
    Refuse,
    /// Writes are kept in the overlay and listed as outside the project.
    Overlay,
}

/// Use of the overlay sandbox for commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlaySandbox {
    /// If the system supports it.
    #[default]
    Auto,
    /// Never: commands do not run and their results are simulated.
    Off,
}
