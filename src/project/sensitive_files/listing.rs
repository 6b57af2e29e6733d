//! Files that a command must not read, with the reasons.

use std::path::{Path, PathBuf};

/// Reason why a file is withheld, as the text that follows the path in a message.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Its name, or that of a link to it, is sensitive.
    #[error("may hold secrets or configure other programs")]
    Sensitive,
    /// It is a hard link to a file with a sensitive name.
    #[error("is a hard link to a file that may hold secrets")]
    HardLinkToSensitive,
    /// It has hard links outside the project, whose names may be sensitive.
    #[error("has hard links outside the project")]
    HardLinkedOutside,
    /// It is mounted from elsewhere.
    #[error("is mounted from outside the project")]
    Mounted,
    /// A pipe, a device or a socket.
    #[error("is not a regular file")]
    NotAFile,
    /// The project has too many files to examine all of them.
    #[error("was not examined: the project has too many files")]
    NotExamined,
    /// Withheld only because of its neighbours: its folder contains a sensitive file, so the sandbox must permit the
    /// other files one by one, and there are too many of them.
    #[error("is in a folder with a sensitive file and too many others for the read-only sandbox")]
    Crowded,
    /// It holds the content of files that git tracks or has stashed, some of which may hold secrets.
    #[error("holds file contents stored by git, some of which may hold secrets")]
    StoredByGit,
    /// A file tool changed a part of it in a dry run; the rest is the content of a live file outside the project.
    #[error("is an edited copy of a file outside the project")]
    EditedCopy,
}

/// A withheld file, or a withheld folder with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WithheldPath {
    /// Absolute path without links.
    pub path: PathBuf,
    pub reason: Reason,
}

/// Result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// All withheld paths, sorted. Does not include the folder `.git`.
    pub withheld: Vec<WithheldPath>,
    /// Paths that may be opened with everything below them: they lead neither to a withheld path nor into `.git`.
    pub open_paths: Vec<PathBuf>,
    /// Paths in the project's own `.git` that may be opened with everything below them, by commands that run git.
    pub repository: Vec<PathBuf>,
}

impl Listing {
    /// Returns the reason why this path (absolute, without links) is withheld, or `None` if it is not.
    pub fn reason(&self, path: &Path) -> Option<Reason> {
        path.ancestors().find_map(|ancestor| {
            let index = self.withheld.binary_search_by(|entry| entry.path.as_path().cmp(ancestor)).ok()?;
            Some(self.withheld[index].reason)
        })
    }
}
