//! Progress of saving the unsent text.

use crate::chat::UnsentText;
use std::time::Duration;

/// The unsent text as last saved, and the time of the first change since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftSaving {
    pub(super) saved: UnsentText,
    pub(super) changed_at: Option<Duration>,
    /// Time of the last save.
    pub(super) saved_at: Option<Duration>,
    /// Error of the last write, if it failed.
    pub(super) last_error: Option<String>,
}

impl DraftSaving {
    /// Returns true while the last write has failed.
    pub fn has_failed(&self) -> bool {
        self.last_error.is_some()
    }
}
