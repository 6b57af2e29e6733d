//! Sessions on disk, and other data kept between runs: drafts and message history.

pub mod clock;
pub mod draft;
mod error;
pub mod fork;
pub mod history;
pub mod incomplete_replies;
pub mod journal;
mod line_parts;
pub mod local_time;
mod overlay_copy;
pub mod places;
pub mod private_files;
pub mod removal;
pub mod rule_uses;
pub mod search;
pub mod session_header;
pub mod session_list;
pub mod session_log;
pub mod session_reader;
mod workspace_copy;

use crate::chat::{Entry, PartialOutput, PartialReply};
use std::io;
use std::path::Path;

pub use draft::{DraftWriter, Drafts};
pub use error::{Error, explain_unreadable};
pub use fork::{CopiedPart, Fork, fork_session};
pub use history::History;
pub use journal::Journal;
pub use places::Places;
pub use removal::Removal;
pub use session_header::{Header, new_id};
pub use session_list::{Latest, Listed, Sessions};
pub use session_log::SessionLog;
pub use session_reader::{Notice, StoredSession, read};

/// Deletes a folder with all its content, whatever permissions it has. A missing folder is no error.
pub type DeleteFolder = fn(&Path) -> io::Result<()>;

/// Destination of a session's entries.
pub trait Log: Send {
    /// Appends one entry as a whole line, written before this returns. After an error the session continues in memory,
    /// and the next append tries again.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;

    /// Stores a piece of an incomplete reply, written and retried like an entry.
    fn append_reply_piece(&mut self, piece: &PartialReply) -> io::Result<()>;

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

    /// Stores a piece of a running call's output, written and retried like an entry.
    fn append_output_piece(&mut self, piece: &PartialOutput) -> io::Result<()>;
}
