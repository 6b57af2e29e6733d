//! Sessions on disk, and what else is kept between two runs: drafts, and what was said before.

pub mod draft;
pub mod fork;
pub mod half;
pub mod history;
pub mod journal;
mod layer;
pub mod lines;
pub mod list;
mod parts;
pub mod place;
pub mod private;
pub mod read;
pub mod remove;
pub mod search;

use crate::chat::{Entry, Grown, Printed, SessionId};
use std::io;
use std::path::{Path, PathBuf};

pub use draft::{Drafts, Keeper};
pub use fork::{Fork, fork, fork_as};
pub use history::History;
pub use journal::Journal;
pub use lines::{Header, Lines, new_id};
pub use list::{Latest, Listed, Sessions, explain_unreadable};
pub use place::Places;
pub use read::{Notice, Read, read};
pub use remove::Removal;

/// Takes a folder away with everything in it, whatever stands in it; one that is not there is gone already.
pub type Empty = fn(&Path) -> io::Result<()>;

/// Where a session's entries go.
pub trait Log: Send {
    /// Adds one entry: one whole line, handed to the system before this returns. After an error the session goes on
    /// in memory; the next append tries again.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;

    /// Keeps what came of a reply that is not whole, in the same way.
    fn grew(&mut self, grown: &Grown) -> io::Result<()>;

    /// Tries once more to save what could not be saved. Does nothing if everything is saved and still there.
    fn save(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Writes all of the session to another file, which must not exist yet.
    fn save_to(&mut self, file: &Path) -> io::Result<()> {
        let _ = file;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns how many entries are not saved.
    fn unsaved(&self) -> usize {
        0
    }

    /// Keeps what a running call has printed, in the same way.
    fn printed(&mut self, printed: &Printed) -> io::Result<()>;
}

/// What goes wrong with stored sessions. The person reads it: what happened, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has the session open.
    #[error("session {0} is open in another aye; close it there first")]
    Busy(SessionId),
    /// No session has such a name.
    #[error("no session is called {0}")]
    Missing(String),
    /// There is no session of this folder yet.
    #[error("no session was held in {0} yet")]
    None(PathBuf),
    /// No session of this folder can be read, and some that cannot may be of it.
    #[error("no session of {} can be read: {}. Look at them with: aye sessions --all", folder.display(), explain_unreadable(unreadable))]
    NoneReadable {
        /// The project.
        folder: PathBuf,
        /// Which, and why.
        unreadable: Vec<(SessionId, String)>,
    },
    /// The beginning of a name fits several sessions.
    #[error("{prefix} could be any of {}; write more of it", names(candidates))]
    Ambiguous {
        /// What was written.
        prefix: String,
        /// Every session it fits, newest first.
        candidates: Vec<SessionId>,
    },
    /// A session could be read, and its copy not be written.
    #[error("no copy of session {from} could be made: {path}: {source}")]
    Copy {
        /// The session that was to be copied.
        from: SessionId,
        /// What could not be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no home for the person that runs the program.
    #[error("there is no home folder; set AYE_HOME to a folder for settings and sessions")]
    Homeless,
    /// A file or folder could not be used.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: names the file or folder beside what the system said.
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// How many candidates a message names.
const NAMED: usize = 5;

fn names(ids: &[SessionId]) -> String {
    let mut text = ids.iter().take(NAMED).map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED {
        text.push_str(&format!(" and {} more", ids.len() - NAMED));
    }
    text
}
