//! `[second_reader]`: the model that looks at what would go ahead.

use serde::{Deserialize, Serialize};

/// The model that looks at what would go ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SecondReader {
    /// The profile it is reached by. `None`: there is no second reader. One that does not exist cannot be asked, and
    /// everything that would go ahead asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The model to ask for. `None`: the profile's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Seconds until it is given up.
    pub seconds: u64,
}

impl Default for SecondReader {
    fn default() -> Self {
        Self { profile: None, model: None, seconds: 30 }
    }
}
