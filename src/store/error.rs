//! Errors of stored sessions.

use crate::chat::SessionId;
use std::io;
use std::path::{Path, PathBuf};

/// Error of stored sessions, for the user: what failed, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has the session open.
    #[error("Cannot open session {0}: it is open in another aye. Close it there first.")]
    Busy(SessionId),
    /// No session has this ID.
    #[error("Cannot find the session {0:?}: no ID begins with it. List the IDs with `aye sessions --all`.")]
    Missing(String),
    /// The folder has no sessions.
    #[error("Cannot find a session of {}: there is none. Start one with `aye`, or list all with `aye sessions --all`.", .0.display())]
    NoSessions(PathBuf),
    /// No session of this folder is readable, and some unreadable ones may belong to it.
    #[error("Cannot read any session of {}: {}. List all with `aye sessions --all`.", folder.display(), explain_unreadable(unreadable))]
    NoneReadable {
        /// The project.
        folder: PathBuf,
        /// The sessions, with the reasons.
        unreadable: Vec<(SessionId, String)>,
    },
    /// The folder has no dry run.
    #[error("Cannot find a dry run of {}: there is none. Start one with `aye --dry-run`.", .0.display())]
    NoDryRun(PathBuf),
    /// A newer session than the newest readable one is unreadable.
    #[error("Cannot choose the session to continue: {0}")]
    Uncertain(String),
    /// The beginning of an ID matches several sessions.
    #[error(
        "Cannot find the session {prefix:?}: several IDs begin with it: {}. Type more characters.",
        list_ids(candidates)
    )]
    Ambiguous {
        /// The given text.
        prefix: String,
        /// All matching sessions, newest first.
        candidates: Vec<SessionId>,
    },
    /// A session was readable, but its copy could not be written.
    #[error("Cannot copy session {from}: {path}: {source}")]
    Copy {
        /// The session to copy.
        from: SessionId,
        /// The path that could not be written.
        path: PathBuf,
        source: io::Error,
    },
    /// The user has no home folder.
    #[error("Cannot find the home folder: HOME is not set. Set AYE_HOME to a folder for settings and sessions.")]
    NoHome,
    /// A file or folder could not be accessed.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

impl Error {
    /// Adds the path to an error, for `map_err`.
    pub(super) fn with_path(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// Maximum number of candidates that an error lists.
const MAX_LISTED: usize = 5;

fn list_ids(ids: &[SessionId]) -> String {
    let mut text = ids.iter().take(MAX_LISTED).map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ");
    if ids.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", ids.len() - MAX_LISTED));
    }
    text
}

/// Lists unreadable sessions with the reasons.
pub fn explain_unreadable(unreadable: &[(SessionId, String)]) -> String {
    let lines: Vec<String> =
        unreadable.iter().map(|(id, reason)| format!("session {id} cannot be read: {reason}")).collect();
    lines.join("; ")
}
