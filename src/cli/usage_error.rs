//! Error for invalid arguments or settings.

/// Invalid command-line arguments or an invalid setting; the exit code is 2. Holds one sentence for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Returns a [`UsageError`] from the function. Its text is formatted as by `format!`.
macro_rules! bail_usage {
    ($($argument:tt)*) => {
        return Err($crate::cli::UsageError(format!($($argument)*)).into())
    };
}
pub(crate) use bail_usage;
