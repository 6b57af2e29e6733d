//! State of a path before or after a change, and how two of them are compared.

use crate::chat::Digest;
use crate::project::READ_LIMIT;
use crate::project::rehearsal::FileNode;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// State of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum PathState {
    Nothing,
    File(FileState),
    Folder {
        /// Permissions; `None` if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A link and its target as bytes.
    Link {
        target: Vec<u8>,
    },
    /// A pipe, a device or something unreadable, in words.
    Other {
        what: String,
    },
    /// Not known: the command that changed it was killed together with aye.
    Unknown,
}

/// State of a file. Each part is `None` if unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Digest of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// Permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Identity of the file with its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<FileStamp>,
    /// Place of the content.
    #[serde(default, skip_serializing_if = "FileContent::is_unneeded")]
    pub content: FileContent,
}

/// Place of a file's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// Not needed: this is a state after a change.
    #[default]
    Unneeded,
    /// In the object store, under the digest of the state.
    Object,
    /// In git's object store, under this id.
    Blob(String),
    /// Not stored, for this reason.
    Missing(String),
}

impl FileContent {
    fn is_unneeded(&self) -> bool {
        *self == Self::Unneeded
    }
}

/// Identity of a file with its content, without reading it: writing or replacing the file changes it, renaming does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    inode: u64,
    pub size: u64,
    /// Time of the last write, in seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl FileStamp {
    pub fn from_metadata(metadata: &Metadata) -> Self {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Self { inode: metadata.ino(), size: metadata.len(), modified }
    }
}

impl PathState {
    /// Reads the state of a path of the disk without the content of a file.
    pub fn read_metadata(real: &Path) -> Self {
        match real.symlink_metadata() {
            Ok(metadata) => Self::from_metadata(real, &metadata),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Self::Nothing
            }
            Err(error) => Self::Other { what: format!("an unreachable path ({error})") },
        }
    }

    /// Returns the state of a path with this metadata, without the content of a file.
    pub fn from_metadata(real: &Path, metadata: &Metadata) -> Self {
        let mode = Some(metadata.mode() & 0o7777);
        if metadata.is_dir() {
            return Self::Folder { mode };
        }
        if metadata.is_symlink() {
            return match std::fs::read_link(real) {
                Ok(target) => Self::Link { target: target.into_os_string().into_vec() },
                Err(error) => Self::Other { what: format!("an unreadable link ({error})") },
            };
        }
        if metadata.is_file() {
            let stamp = Some(FileStamp::from_metadata(metadata));
            return Self::File(FileState { mode, stamp, ..FileState::default() });
        }
        Self::Other { what: "neither a file nor a folder nor a link".to_owned() }
    }

    /// Returns the state of a node. The content of a file is only described by its digest.
    pub fn from_node(node: &FileNode) -> Self {
        match node {
            FileNode::Nothing => Self::Nothing,
            FileNode::File { bytes, mode } => Self::File(FileState {
                sha256: Some(Digest::of_bytes(bytes)),
                mode: Some(*mode),
                ..FileState::default()
            }),
            FileNode::Folder { mode } => Self::Folder { mode: Some(*mode) },
            FileNode::Link(target) => Self::Link { target: target.as_os_str().as_bytes().to_vec() },
            FileNode::Other(what) => Self::Other { what: what.clone() },
        }
    }

    /// Returns whether both are the same state, as far as known. Two files are the same only if their contents are
    /// known to be.
    pub fn is_same(&self, other: &Self) -> bool {
        let same_mode = |one: Option<u32>, two: Option<u32>| one.is_none() || two.is_none() || one == two;
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Folder { mode: one }, Self::Folder { mode: two }) => same_mode(*one, *two),
            (Self::Link { target: one }, Self::Link { target: two }) => one == two,
            (Self::File(one), Self::File(two)) => {
                let has_same_content = match (&one.sha256, &two.sha256, one.stamp, two.stamp) {
                    (Some(one), Some(two), _, _) => one == two,
                    (_, _, Some(one), Some(two)) => one == two,
                    _ => false,
                };
                has_same_content && same_mode(one.mode, two.mode)
            }
            (_, _) => false,
        }
    }

    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Returns the target of a link as a path.
    pub fn link_target(target: &[u8]) -> PathBuf {
        std::ffi::OsStr::from_bytes(target).into()
    }

    /// Returns why the content of this file cannot be stored by reading it, if so.
    pub fn size_problem(metadata: &Metadata) -> Option<String> {
        (metadata.len() > READ_LIMIT).then(|| format!("it has more than {} MB", READ_LIMIT >> 20))
    }
}
