//! State of a path, reduced to what is needed to detect a change.

use super::file_node::FileNode;
use crate::chat::Digest;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// State of a path, reduced to what is needed to detect a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Hash of a file's bytes or of a link's target; for files not read completely, of size and time.
    #[serde(rename = "held")]
    pub digest: Option<Digest>,
    /// File type. Not recorded by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<OriginKind>,
    /// Permissions of a file or folder. Not recorded by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OriginKind {
    Nothing,
    File,
    Folder,
    Link,
    Other,
    /// The project had already changed before the state could be recorded.
    Unknown,
}

impl Fingerprint {
    pub fn from_node(node: &FileNode) -> Self {
        let (kind, mode, digest) = match node {
            FileNode::Nothing => (OriginKind::Nothing, None, None),
            FileNode::Folder { mode } => (OriginKind::Folder, Some(*mode), None),
            FileNode::File { bytes, mode } => (OriginKind::File, Some(*mode), Some(Digest::of_bytes(bytes))),
            FileNode::Link(target) => (OriginKind::Link, None, Some(Digest::of_bytes(target.as_os_str().as_bytes()))),
            FileNode::Other(description) => (OriginKind::Other, None, Some(Digest::of_bytes(description.as_bytes()))),
        };
        Self { digest, kind: Some(kind), mode }
    }

    /// Creates a fingerprint from the hash alone, as recorded by older versions.
    pub fn from_hash(digest: Option<Digest>) -> Self {
        Self { digest, ..Self::default() }
    }

    /// Creates the fingerprint of `node`, which was read at a path of the disk.
    pub(super) fn from_disk(path: &Path, node: &FileNode) -> Self {
        let fingerprint = Self::from_node(node);
        let FileNode::Other(description) = node else { return fingerprint };
        let time = path.symlink_metadata().map(|meta| (meta.mtime(), meta.mtime_nsec()));
        let (seconds, nanoseconds) = time.unwrap_or_default();
        let digest = Some(Digest::of_bytes(format!("{description} {seconds} {nanoseconds}").as_bytes()));
        Self { digest, ..fingerprint }
    }

    /// Returns whether `current` is the same state, as far as recorded.
    pub fn matches(&self, current: &Self) -> bool {
        self.digest == current.digest
            && (self.kind.is_none() || self.kind == current.kind)
            && (self.mode.is_none() || self.mode == current.mode)
    }

    /// Returns whether nothing existed.
    pub fn is_nothing(&self) -> bool {
        self.kind == Some(OriginKind::Nothing)
    }

    /// Returns the hash of the content if this was a file.
    pub fn file_digest(&self) -> Option<&Digest> {
        self.digest.as_ref().filter(|_| self.kind == Some(OriginKind::File))
    }

    /// Returns whether this was a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == Some(OriginKind::Folder)
    }
}
