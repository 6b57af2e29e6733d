//! Notifications and warnings.

use super::parts::toast::Toasts;
use crate::chat::SessionId;

/// Notifications and warnings.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// Notifications that disappear by themselves.
    pub toasts: Toasts,
    /// All warnings, oldest first and without duplicates, for the welcome screen and `/notices`.
    pub warnings: Vec<Warning>,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Text of the warning.
    pub text: String,
    /// Session it belongs to; `None` for warnings at startup.
    pub session: Option<SessionId>,
}

/// Maximum number of warnings kept.
const MAX_WARNINGS: usize = 200;

impl Notices {
    /// Records a warning of a session.
    pub fn record_warning(&mut self, text: &str, session: &SessionId) {
        self.warnings.retain(|warning| warning.text != text);
        self.warnings.push(Warning { text: text.to_owned(), session: Some(session.clone()) });
        let excess = self.warnings.len().saturating_sub(MAX_WARNINGS);
        self.warnings.drain(..excess);
    }
}
