//! Project files: path lookup, reads and writes, shell commands, sandboxes, the overlay of a dry run, and git.

pub mod apply;
mod atomic_file;
pub mod batch;
pub mod branch;
pub mod change_summary;
pub mod change_times;
pub mod checkpoints;
pub mod command_terminal;
pub mod detached;
pub mod disk;
mod environment;
pub mod file_names;
mod file_walk;
pub mod folder_facts;
mod git_baseline;
pub mod git_index;
mod git_objects;
mod git_state;
mod groups;
pub mod guard;
pub mod hook;
#[cfg(target_os = "linux")]
pub mod network_namespace;
mod operations;
pub mod output;
pub mod overlay_sandbox;
mod own_files;
pub mod parent_exit;
pub mod patch;
mod path;
mod path_handle;
pub mod picture_size;
pub mod process_limits;
mod process_set;
mod program_path;
pub mod rehearsal;
pub mod sandbox;
pub mod sensitive_files;
pub mod shell;
mod spec_encoding;
pub mod stdio_program;
mod stored_content;
mod terminal_filter;
#[cfg(test)]
#[path = "project/tests/test_project.rs"]
pub(crate) mod test_project;
pub mod trial;
#[cfg(test)]
#[path = "project/tests/unprivileged.rs"]
pub mod unprivileged;

pub use own_files::{OwnFile, OwnFiles};
pub use program_path::{folders_before_project, has_program, paths_outside};

use crate::chat::Digest;
use crate::text::escaped_path::escape_path;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Size limit for reading a file, in bytes. Larger files are refused, not truncated.
pub const READ_LIMIT: u64 = 10 * 1024 * 1024;

/// A resolved path: links are followed, and it is known whether it lies in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Absolute path with every link resolved, as far as the path exists.
    pub real: PathBuf,
    /// Path relative to the project root, or the same as `real` if it lies outside. This form is shown to users and
    /// models.
    pub display_path: PathBuf,
    pub is_inside: bool,
    /// True if the path may hold secrets or is read by other programs as configuration (`.git`, `.env`, keys, start-up
    /// files, `.aye`).
    pub is_sensitive: bool,
    /// Kind of aye's own file at this path, if any. Such a path is also `is_sensitive`.
    pub own_file: Option<OwnFile>,
}

/// Type of the file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file and its size in bytes.
    File(u64),
    Folder,
    /// A pipe, a device, or a dangling link.
    Other,
}

impl FileKind {
    pub(crate) fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        match (metadata.is_file(), metadata.is_dir()) {
            (true, _) => Self::File(metadata.len()),
            (_, true) => Self::Folder,
            _ => Self::Other,
        }
    }
}

/// An entry found by [`Reader::walk`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    pub location: Location,
    pub is_folder: bool,
    /// Size in bytes; 0 for folders.
    pub size: u64,
    /// Time of the last change, if known.
    pub modified: Option<SystemTime>,
}

/// Receives the entries of [`Reader::walk`], and stops the walk by returning `Break`.
pub type Visit<'a> = &'a mut dyn FnMut(WalkEntry) -> ControlFlow<()>;

impl WalkEntry {
    /// Creates the entry of a file or a folder; `None` for anything else.
    fn new(location: Location, metadata: &std::fs::Metadata) -> Option<Self> {
        let modified = metadata.modified().ok();
        match FileKind::from_metadata(metadata) {
            FileKind::File(size) => Some(Self { location, is_folder: false, size, modified }),
            FileKind::Folder => Some(Self { location, is_folder: true, size: 0, modified }),
            FileKind::Other => None,
        }
    }
}

/// A check that returns true if a file has other names (hard links) that may be those of secrets.
pub type UnknownHardLinkCheck<'a> = Box<dyn Fn(&Location) -> bool + 'a>;

/// Read-only access to the project.
pub trait Reader: Send + Sync {
    /// Returns the absolute path of the project root.
    fn root(&self) -> &Path;
    /// Resolves a path: relative paths against the root, `~` as the user's home. A path that does not exist is located
    /// by its nearest existing parent.
    fn locate(&self, path: &str) -> Result<Location, Error>;
    /// Reads a regular file of at most [`READ_LIMIT`] bytes. Never blocks on a pipe or a device.
    fn read(&self, location: &Location) -> Result<Vec<u8>, Error>;
    /// Opens a regular file of any size. Never blocks on a pipe or a device.
    fn open(&self, location: &Location) -> Result<Box<dyn io::Read + Send>, Error>;
    /// Returns the number of hard links of a regular file, or 1 if there is no such file.
    fn link_count(&self, location: &Location) -> u64;
    /// Returns a check for many files: true if a file has several hard links and not all of them are known to be
    /// harmless files of the project. The other names are collected once, at the first file with several links.
    fn unknown_hard_link_check(&self) -> UnknownHardLinkCheck<'_> {
        Box::new(|location| self.link_count(location) > 1)
    }
    /// Returns whether this reader shows a dry run's view of the project.
    fn is_rehearsal(&self) -> bool {
        false
    }
    /// Returns whether a regular file holds exactly the bytes that [`Writer::write_whole`] wrote in this dry run, or is
    /// a file of the overlay that the project does not have. Reading such a file discloses nothing, whatever its name.
    fn has_only_rehearsed_content(&self, _location: &Location) -> bool {
        false
    }
    fn exists(&self, location: &Location) -> bool {
        self.file_kind(location).is_some()
    }
    /// Returns the type of the file at this path without opening it. `None` if it cannot be read.
    fn file_kind(&self, location: &Location) -> Option<FileKind>;
    /// Returns the names of all entries of a folder, sorted, including hidden and ignored ones. Fails if a name is not
    /// Unicode.
    fn list_names(&self, location: &Location) -> Result<Vec<String>, Error>;
    /// Visits every file and folder under a folder, sorted by path. Respects ignore files and skips `.git`. Dot files
    /// are visited only if `hidden` is set.
    fn walk(&self, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error>;
}

/// Write access to the project, given only to code that runs approved calls.
pub trait Writer: Reader {
    /// Replaces a whole file, or creates it together with its folders. Fails with [`Error::Changed`] unless the file
    /// still holds exactly `before` (`None` means that the file must not exist). The file's mode and owner are kept.
    /// The replacement is atomic.
    fn write(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error>;
    /// Writes like [`Writer::write`], for content that does not come from the previous file, not even in part.
    fn write_whole(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        self.write(location, before, after)
    }
    /// Returns a digest of the state of a dry run's overlay. It stays the same while nothing in the overlay changes,
    /// also in a copy of the overlay. Empty if there is no overlay. Blocks while the overlay is read.
    fn state_digest(&self) -> Digest {
        Digest::default()
    }
}

/// Errors of file and command operations in a project. Their texts are shown to the model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no file {}", escape_path(.0))]
    Missing(PathBuf),
    #[error("{} is {kind}, not a file", escape_path(path))]
    NotAFile {
        path: PathBuf,
        /// The type with its article: `a folder`, `a device`.
        kind: &'static str,
    },
    #[error("{} has {size} bytes; the limit is {READ_LIMIT}", escape_path(path))]
    TooLarge {
        path: PathBuf,
        /// Size in bytes.
        size: u64,
    },
    /// The file differs from the content that the plan was made from.
    #[error("{} has changed since the plan was made; nothing was written. Read it again", escape_path(.0))]
    Changed(PathBuf),
    /// The sandbox shown in the approval prompt could not be set up.
    #[error("the command was not run: its sandbox could not be set up ({0})")]
    SandboxFailed(sandbox::SandboxError),
    /// The overlay sandbox for a rehearsed command could not be set up.
    #[error("the command was not run: no overlay sandbox: {0}")]
    OverlaySandboxFailed(overlay_sandbox::SetupError),
    /// The path, the command or the change cannot be used, for the reason in the text.
    #[error("{0}")]
    Invalid(String),
    /// The disk of the project is full.
    #[error("{}: the disk is full. Nothing was changed there; free some space and try again", escape_path(.0))]
    Full(PathBuf),
    /// The disk that holds the overlay of the dry run is full.
    #[error("{}: the disk is full (it holds the overlay of this dry run). Nothing was changed there; free some space or discard the overlay (/rehearsal drop), and try again", escape_path(.0))]
    OverlayFull(PathBuf),
    /// A sensitive file was created or replaced in the project while a command of a dry run ran. The command may have
    /// read it.
    #[error("{} was created or replaced in the project while the command ran and may hold secrets. Its output is withheld and {}; run it again", escape_path(path), if *is_dropped { "its changes are dropped" } else { "its changes, which may hold them too, stay in the overlay" })]
    NewSensitiveFile {
        /// Path relative to the project.
        path: PathBuf,
        /// True if the changes of the command were dropped.
        is_dropped: bool,
    },
    #[error("the project's folder {} no longer exists; nothing was changed", escape_path(.0))]
    NoProject(PathBuf),
    /// Any other I/O error.
    #[error("{}: {source}", escape_path(path))]
    Io { path: PathBuf, source: io::Error },
}

impl Error {
    /// Returns whether listing a folder failed for a reason that stops commands too: it is not a folder, or the user
    /// has no permission. After any other error there may be names that a command can see.
    pub fn is_unlistable_folder(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        match self {
            Self::Io { source, .. } => matches!(source.kind(), NotFound | NotADirectory | PermissionDenied),
            error => matches!(error, Self::Missing(_) | Self::NotAFile { .. }),
        }
    }

    /// Returns the error for a name that is not Unicode.
    fn for_name(name: std::ffi::OsString) -> Self {
        Self::Invalid(format!("{} is not a Unicode name", Path::new(&name).display()))
    }

    /// Wraps an I/O error at a path.
    fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_disk_full(&source) { Self::Full(path) } else { Self::Io { path, source } }
    }

    /// Wraps an I/O error in the overlay of a dry run. `path` is the path that was to be changed.
    fn in_overlay(path: &Path, source: io::Error) -> Self {
        match Self::from_io(path, source) {
            Self::Full(path) => Self::OverlayFull(path),
            error => error,
        }
    }
}

/// Returns whether the error means a full disk or an exhausted quota.
fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
