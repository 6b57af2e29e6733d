//! Files that a command must not read, with the reasons.

use std::path::{Path, PathBuf};

/// Reason why a file is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Its name, or that of a link to it, is sensitive.
    Sensitive,
    /// It is a hard link to a file with a sensitive name.
    HardLinkToSensitive,
    /// It has hard links outside the project, whose names may be sensitive.
    HardLinkedOutside,
    /// It is mounted from elsewhere.
    Mounted,
    /// A pipe, a device or a socket.
    NotAFile,
    /// The project has too many files to examine all of them.
    NotExamined,
    /// Withheld only because of its neighbours: its folder contains a sensitive file, so the sandbox must permit the
    /// other files one by one, and there are too many of them.
    Crowded,
    /// It holds the content of files that git tracks or has stashed, some of which may hold secrets.
    StoredByGit,
    /// A file tool changed a part of it in a dry run; the rest is the content of a live file outside the project.
    EditedCopy,
}

impl Reason {
    /// Returns the text that follows the path in a message.
    pub fn message(self) -> &'static str {
        match self {
            Self::Sensitive => "may hold secrets or configure other programs",
            Self::HardLinkToSensitive => "is a hard link to a file that may hold secrets",
            Self::HardLinkedOutside => "has hard links outside the project",
            Self::Mounted => "is mounted from outside the project",
            Self::NotAFile => "is not a regular file",
            Self::NotExamined => "was not examined: the project has too many files",
            Self::Crowded => "is in a folder with a sensitive file and too many others for the read-only sandbox",
            Self::StoredByGit => "holds file contents stored by git, some of which may hold secrets",
            Self::EditedCopy => "is an edited copy of a file outside the project",
        }
    }
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
