//! Errors of a workspace.

use crate::chat::SessionId;
use crate::text::byte_size::format_bytes;
use std::io;
use std::path::{Path, PathBuf};

/// Error of a workspace: what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No file has this id or path.
    #[error("There is no file {0} in the workspace.")]
    Missing(String),
    #[error("There is no session {0}.")]
    NoSession(SessionId),
    /// The file has no version with this number.
    #[error("{name} has no version {version}: its latest is version {latest}.")]
    NoVersion { name: String, version: u64, latest: u64 },
    /// The version is one that only records a deletion.
    #[error("Version {version} of {name} is its deletion, which has no content. Choose an earlier version.")]
    Deletion { name: String, version: u64 },
    /// The content of an earlier version was removed.
    #[error("Version {version} of {name} is no longer kept: earlier versions are removed above a limit.")]
    Dropped { name: String, version: u64 },
    #[error("{0} exists. Set overwrite to true to replace it; its earlier versions are kept.")]
    Exists(String),
    /// The file has a version that the caller does not know.
    #[error("{name} was not replaced: it has a newer version {version} by now. Read that first.")]
    Changed { name: String, version: u64 },
    #[error(
        "Cannot store {name}: it has {}, and the limit is {}. Split it, or increase workspace.file_mb in the settings.",
        format_bytes(*size), format_bytes(*limit)
    )]
    TooLarge { name: String, size: u64, limit: u64 },
    #[error(
        "Cannot store {name} ({}): the workspace of the session holds {} of at most {}. Delete files that are no longer needed, or increase workspace.session_mb in the settings.",
        format_bytes(*size), format_bytes(*used), format_bytes(*limit)
    )]
    Full { name: String, size: u64, used: u64, limit: u64 },
    /// Another process holds the lock.
    #[error("Cannot write to the workspace: another aye has been writing to it for {0} s. Try again.")]
    Busy(u64),
    /// The content does not match its digest.
    #[error(
        "The content of {0} is damaged: its file on disk was changed. Restore an earlier version, or write it again."
    )]
    Damaged(String),
    #[error("Cannot use the workspace: {}: {source}. Check the disk and the permissions of the folder.", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Error {
    /// Adds the path to an error, for `map_err`.
    pub(super) fn with_path(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
