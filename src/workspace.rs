//! Workspaces: the files of sessions that are not in a project, such as reports that a model makes and long results.
//!
//! A workspace is a folder next to the session: contents under their digests, which never change, and an index of
//! versions in two files of the same lines, which only grow. Several programs may write at once.

mod contents;
mod error;
mod index;
mod index_files;
mod index_line;
mod limits;
mod media_type;
mod session_workspace;

pub use error::Error;
pub use index::StoredFile;
pub use index_line::{Origin, Secrecy};
pub use limits::Limits;
pub use media_type::{detect_media_type, is_text};
pub use session_workspace::{ChangedCopy, NewFile, Replaces, Workspace};
