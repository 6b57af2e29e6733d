//! `[approval]`: what runs without asking.

use crate::policy::Mode;
use serde::{Deserialize, Serialize};

/// What runs without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// How much.
    pub mode: Mode,
}
