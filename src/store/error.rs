//! Errors of stored sessions.

use crate::chat::SessionId;
use std::io;
use std::path::{Path, PathBuf};

/// Error of stored sessions, for the user: what failed, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has the session open.
    #[error("session {0} is open in another aye; close it there first")]
    Busy(SessionId),
    /// No session has this ID.
    #[error("no session matches {0}")]
    Missing(String),
    /// The folder has no sessions.
    #[error("no sessions in {0}")]
    NoSessions(PathBuf),
    /// No session of this folder is readable, and some unreadable ones may belong to it.
    #[error("no readable session in {}: {}. List all with aye sessions --all", folder.display(), explain_unreadable(unreadable))]
    NoneReadable {
        /// The project.
        folder: PathBuf,
        /// The sessions, with the reasons.
        unreadable: Vec<(SessionId, String)>,
    },
    /// The folder has no dry run.
    #[error("no dry run in {}. Start one with aye --dry-run", .0.display())]
    NoDryRun(PathBuf),
    /// A newer session than the newest readable one is unreadable.
    #[error("cannot tell which session to continue: {0}")]
    Uncertain(String),
    /// The beginning of an ID matches several sessions.
    #[error("{prefix} is ambiguous: it matches {}. Type more characters", list_ids(candidates))]
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
    #[error("no home folder. Set AYE_HOME to a folder for settings and sessions")]
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
