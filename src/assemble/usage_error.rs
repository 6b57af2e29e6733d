//! Errors of the caller.

/// An error of the caller, or an invalid setting: exit code 2. One sentence that says what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
