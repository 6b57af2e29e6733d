//! `[approval]`: which calls run without asking.

use crate::policy::Mode;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    pub mode: Mode,
}
