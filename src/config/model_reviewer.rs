//! `[model_reviewer]`: the model reviewer of calls that would run without asking.

use serde::{Deserialize, Serialize};

/// The model reviewer of calls that would run without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelReviewer {
    /// Profile of the reviewer. `None`: no model reviewer. If the profile does not exist, every call that would run
    /// without asking asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Model to request. `None`: the model of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Timeout in seconds.
    pub seconds: u64,
}

impl Default for ModelReviewer {
    fn default() -> Self {
        Self { profile: None, model: None, seconds: 30 }
    }
}
