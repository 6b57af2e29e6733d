//! The folder being worked on: looking at it, and changing it.

pub mod alone;
pub mod altered;
pub mod apply;
pub mod batch;
pub mod branch;
pub mod disk;
mod environment;
mod family;
mod git_index;
mod groups;
pub mod guard;
pub mod hook;
mod index;
#[cfg(test)]
pub mod ordinary;
pub mod output;
mod own_files;
pub mod patch;
mod path;
pub mod rehearsal;
mod repository;
pub mod sandbox;
#[cfg(test)]
pub(crate) mod scene;
pub mod sensitive_files;
pub mod shell;
pub mod stage;
mod whole;

pub use own_files::{Own, OwnFiles};

use crate::chat::Digest;
use crate::chat::escaped_path::escape;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A file is read up to this many bytes; larger ones are refused, not cut.
pub const READ_LIMIT: u64 = 10 * 1024 * 1024;

/// A path that was looked up: links followed, and known to be inside the project or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Absolute, every link resolved as far as it exists.
    pub real: PathBuf,
    /// Relative to the project's root where it is inside; the same as `real` elsewhere. This is what people and
    /// models are shown.
    pub shown: PathBuf,
    /// Whether it is inside the project.
    pub inside: bool,
    /// Whether it holds secrets, or other programs obey it (`.git`, `.env`, keys, start-up files, `.aye`).
    pub sensitive: bool,
    /// What of aye's own it is, if any; then it is sensitive too.
    pub own: Option<Own>,
}

/// What is found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A pipe, a device, a link that leads nowhere.
    Other,
}

impl Kind {
    /// What the system says of it.
    pub(crate) fn of(meta: &std::fs::Metadata) -> Self {
        match (meta.is_file(), meta.is_dir()) {
            (true, _) => Self::File(meta.len()),
            (_, true) => Self::Folder,
            _ => Self::Other,
        }
    }
}

/// A file of the project, as a walk meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub at: Located,
    /// Whether it is a folder.
    pub folder: bool,
    /// Bytes; 0 for folders.
    pub size: u64,
}

/// Says whether a file has other names that may be those of secrets.
pub type NameCheck<'a> = Box<dyn Fn(&Located) -> bool + 'a>;

/// Looks, and can do nothing else.
pub trait Reader: Send + Sync {
    /// The project's folder, absolute.
    fn root(&self) -> &Path;
    /// Looks a path up: relative ones against the root, `~` as the person's home. What does not exist is located by
    /// its nearest parent that does.
    fn locate(&self, path: &str) -> Result<Located, Error>;
    /// The whole of a regular file of at most [`READ_LIMIT`] bytes. Never waits for a pipe or a device.
    fn read(&self, at: &Located) -> Result<Vec<u8>, Error>;
    /// Opens a regular file of any size. Never waits for a pipe or a device.
    fn open(&self, at: &Located) -> Result<Box<dyn io::Read + Send>, Error>;
    /// How many names a regular file has (hard links); 1 if there is no such file.
    fn link_count(&self, at: &Located) -> u64;
    /// Returns a check for many files: whether a file has several names (hard links) of which not all are known to be
    /// harmless files of the project. What it knows of other names is looked up once, at the first file that has several.
    fn name_check(&self) -> NameCheck<'_> {
        Box::new(|at| self.link_count(at) > 1)
    }
    /// Whether what is read here is a dry run's view.
    fn is_rehearsal(&self) -> bool {
        false
    }
    /// Whether a regular file holds exactly what [`Writer::write_whole`] put there in this dry run or, in the project, is a file
    /// that the project itself does not have. Then reading it discloses nothing, whatever its name is.
    fn is_rehearsed_whole(&self, _at: &Located) -> bool {
        false
    }
    /// Whether there is a file or folder.
    fn exists(&self, at: &Located) -> bool;
    /// Of which kind what is there is, without opening it. Nothing where nobody can look.
    fn kind(&self, at: &Located) -> Option<Kind>;
    /// The names of everything in a folder, hidden and ignored too, sorted. Refused where one of them is no Unicode.
    fn names(&self, at: &Located) -> Result<Vec<String>, Error>;
    /// Every file and folder below, sorted by path, ignore files respected, `.git` left out. `hidden` takes dot
    /// files in. `visit` ends the walk with `Break`.
    fn walk(
        &self,
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error>;
}

/// Changes files too. Handed only to what was allowed.
pub trait Writer: Reader {
    /// Replaces the file as a whole, or makes it with its folders. Refused with [`Error::Changed`] unless the file
    /// still holds exactly `before` (`None`: there is no such file). Mode and ownership of the file stay; it is
    /// whole at every moment.
    fn write(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error>;
    /// The same if no part of `after` comes from the file that was there.
    fn write_whole(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        self.write(at, before, after)
    }
    /// What tells apart the states that a dry run's layer is in: the same while nothing in it changed, also in a copy of
    /// it. Nothing where there is no layer. Blocks while it is read.
    fn state(&self) -> Digest {
        Digest::default()
    }
}

/// What goes wrong with a project's files. The model reads it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is there.
    #[error("there is no file {}", escape(.0))]
    Missing(PathBuf),
    /// It is there, but is not a regular file.
    #[error("{} is {kind}, not a file", escape(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is, with its article: `a folder`, `a device`.
        kind: &'static str,
    },
    /// It is larger than [`READ_LIMIT`].
    #[error("{} has {size} bytes; the limit is {READ_LIMIT}", escape(path))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        size: u64,
    },
    /// It is not what the plan was made from.
    #[error("{} has changed since the plan was made; nothing was written. Read it again", escape(.0))]
    Changed(PathBuf),
    /// The walls that a command's card promised could not be raised.
    #[error("the command was not run: the sandbox that its card promised could not be raised ({0})")]
    Unwalled(sandbox::Refused),
    /// There is no stage for a rehearsed command.
    #[error("the command was not run: no stage here: {0}")]
    Unstaged(stage::Unstaged),
    /// The text is no path.
    #[error("{0}")]
    BadPath(String),
    /// There is no room for it.
    #[error("{}: the disk is full. Nothing was changed there; make room and try again", escape(.0))]
    Full(PathBuf),
    /// There is no room for it in the layer of a dry run.
    #[error("{}: the disk is full that holds the layer of this dry run. Nothing was changed there; make room on it, or throw away what was rehearsed (/rehearsal drop), and try again", escape(.0))]
    LayerFull(PathBuf),
    /// A sensitive file was made or replaced in the project while a command of a dry run ran, which may have read it.
    #[error("{} was made or replaced in the project while the command ran, and may hold secrets. Its output is withheld and {}; run it again", escape(path), if *is_dropped { "its changes are dropped" } else { "its changes, which may hold them too, stay in the overlay" })]
    Appeared {
        /// The file, relative to the project.
        path: PathBuf,
        /// Whether what the command wrote was dropped.
        is_dropped: bool,
    },
    /// The project's own folder is not there any more.
    #[error("the project's folder {} is not there any more; nothing was changed", escape(.0))]
    NoProject(PathBuf),
    /// The system says no.
    #[error("{}: {source}", escape(path))]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

impl Error {
    /// Said of the names in a folder: whether a command finds none there either, as it is no folder, or one that is closed to
    /// this person. Whatever else went wrong, there may be names that a command finds.
    pub fn is_of_no_folder(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        match self {
            Self::Io { source, .. } => matches!(source.kind(), NotFound | NotADirectory | PermissionDenied),
            other => matches!(other, Self::Missing(_) | Self::NotAFile { .. }),
        }
    }

    /// The system's error at a path.
    fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_full(&source) { Self::Full(path) } else { Self::Io { path, source } }
    }

    /// The system's error in the layer of a dry run, told with the path that was to change.
    fn in_layer(path: &Path, source: io::Error) -> Self {
        match Self::io(path, source) {
            Self::Full(path) => Self::LayerFull(path),
            other => other,
        }
    }
}

/// Whether there was no room, or none for this person.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
