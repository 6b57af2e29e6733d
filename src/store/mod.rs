//! Sessions on disk, and other data kept between runs: drafts and message history.

pub mod draft;
pub mod fork;
pub mod history;
pub mod incomplete_replies;
pub mod journal;
mod line_parts;
mod overlay_copy;
pub mod places;
pub mod private_files;
pub mod removal;
pub mod search;
pub mod session_list;
pub mod session_log;
pub mod session_reader;

use crate::chat::{Entry, PartialOutput, PartialReply, SessionId};
use std::io;
use std::path::{Path, PathBuf};

pub use draft::{DraftWriter, Drafts};
pub use fork::{Fork, fork_session, fork_session_as};
pub use history::History;
pub use journal::Journal;
pub use places::Places;
pub use removal::Removal;
pub use session_list::{Latest, Listed, Sessions, explain_unreadable};
pub use session_log::{Header, SessionLog, new_id};
pub use session_reader::{Notice, StoredSession, read};

/// Deletes a folder with all its content, whatever permissions it has. A missing folder is no error.
pub type DeleteFolder = fn(&Path) -> io::Result<()>;

/// Destination of a session's entries.
pub trait Log: Send {
    /// Appends one entry as a whole line, written before this returns. After an error the session continues in memory,
    /// and the next append tries again.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;

    /// Stores a piece of an incomplete reply, in the same way.
    fn append_reply_piece(&mut self, grown: &PartialReply) -> io::Result<()>;

    /// Tries again to write unsaved entries. Does nothing if everything is saved and the file still exists.
    fn save(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Writes the whole session to another file, which must not exist.
    fn save_to(&mut self, file: &Path) -> io::Result<()> {
        let _ = file;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the number of unsaved entries.
    fn unsaved_count(&self) -> usize {
        0
    }

    /// Stores a piece of a running call's output, in the same way.
    fn append_output_piece(&mut self, printed: &PartialOutput) -> io::Result<()>;
}

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
    fn with_path(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// Candidates listed in an error.
const MAX_LISTED: usize = 5;

fn list_ids(ids: &[SessionId]) -> String {
    let mut text = ids.iter().take(MAX_LISTED).map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ");
    if ids.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", ids.len() - MAX_LISTED));
    }
    text
}
