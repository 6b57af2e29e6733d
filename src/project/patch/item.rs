//! A changed path in a patch: its state before and after, without content.

use super::object_id::{Algorithm, changed_error};
use crate::project::atomic_file::READ_FLAGS;
use crate::project::rehearsal::{Change, FileNode, Rehearsal, UPPER};
use crate::project::{READ_LIMIT, Reader};
use rustix::fs::{CWD, Mode, openat};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Size limit for a comparison by lines, in bytes. A larger file is written like a binary file.
pub(super) const TEXT_LIMIT: u64 = READ_LIMIT;

/// A changed path and its representation in the patch.
pub struct PatchItem {
    pub path: PathBuf,
    pub before: PathState,
    pub after: PathState,
    /// True if both sides are files, or both are links, with the same content.
    pub is_same_content: bool,
    /// True if the patch deletes the old entry, possibly to replace it.
    pub has_old_side: bool,
    /// True if the patch creates the new entry.
    pub has_new_side: bool,
    /// Source of an unchanged file that was moved here.
    pub renamed_from: Option<PathBuf>,
    /// True if the file is moved to another path.
    pub is_renamed: bool,
}

/// State of a path.
pub enum PathState {
    Nothing,
    File {
        size: u64,
        /// Lower twelve bits.
        mode: u32,
        /// True if a patch shows its lines: it is not large and contains no NUL byte.
        is_text: bool,
        /// Upper limit of its size in a patch, in bytes.
        cost: u64,
        disk_path: PathBuf,
    },
    Link(PathBuf),
    Folder {
        mode: u32,
    },
    /// Any state that git cannot represent, as a text such as `a pipe`.
    Other(String),
}

impl PatchItem {
    /// Creates the item of a change. The plan of the patch later sets which sides it has and whether it is a renaming.
    pub fn new(rehearsal: &Rehearsal, change: Change) -> Self {
        let upper = rehearsal.overlay_folder().join(UPPER);
        let Change { path, before, after } = change;
        let same_bytes = before.file_bytes().zip(after.file_bytes()).map(|(before, after)| before == after);
        let (before, after) =
            (PathState::new(before, rehearsal.root().join(&path)), PathState::new(after, upper.join(&path)));
        let is_same_content = same_bytes.unwrap_or_else(|| before.is_stored() && before.has_same_content(&after));
        Self {
            path,
            before,
            after,
            is_same_content,
            has_old_side: false,
            has_new_side: false,
            renamed_from: None,
            is_renamed: false,
        }
    }

    /// Returns whether the patch contains anything at this path.
    pub fn is_patched(&self) -> bool {
        !self.is_renamed && (self.has_old_side || self.has_new_side)
    }
}

impl PathState {
    fn new(node: FileNode, disk_path: PathBuf) -> Self {
        match node {
            FileNode::Nothing => Self::Nothing,
            FileNode::Folder { mode } => Self::Folder { mode },
            FileNode::Link(target) => Self::Link(target),
            FileNode::File { bytes, mode } => {
                let size = bytes.len() as u64;
                let is_text = size <= TEXT_LIMIT && !bytes.contains(&0);
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                // Eight bytes a line cover its prefix and its share of the header of its hunk.
                let cost = if is_text { size + lines * 8 } else { max_encoded_size(size) };
                Self::File { size, mode, is_text, cost, disk_path }
            }
            // A regular file here was too large to be loaded.
            FileNode::Other(kind) => match disk_path.symlink_metadata() {
                Ok(metadata) if metadata.is_file() && open_regular(&disk_path).is_ok() => Self::File {
                    size: metadata.len(),
                    mode: metadata.mode() & 0o7777,
                    is_text: false,
                    cost: max_encoded_size(metadata.len()),
                    disk_path,
                },
                Ok(_) | Err(_) => Self::Other(kind),
            },
        }
    }

    /// Returns the mode in a patch, if git stores such an entry.
    pub fn git_mode(&self) -> Option<&'static str> {
        match self {
            Self::File { mode, .. } if mode & 0o100 == 0 => Some("100644"),
            Self::File { .. } => Some("100755"),
            Self::Link(_) => Some("120000"),
            _ => None,
        }
    }

    /// Returns whether git stores such an entry: a file or a link.
    pub fn is_stored(&self) -> bool {
        self.git_mode().is_some()
    }

    pub fn is_link(&self) -> bool {
        matches!(self, Self::Link(_))
    }

    /// Returns the lower twelve bits of the mode, 0 if it has none.
    pub fn permissions(&self) -> u32 {
        match self {
            Self::File { mode, .. } | Self::Folder { mode } => *mode,
            _ => 0,
        }
    }

    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Returns whether the content can be shown as lines. True for an absent path.
    pub fn is_text(&self) -> bool {
        match self {
            Self::File { is_text, .. } => *is_text,
            Self::Nothing | Self::Link(_) => true,
            Self::Folder { .. } | Self::Other(_) => false,
        }
    }

    /// Returns the size of the content in bytes, if git stores content for it.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::File { size, .. } => Some(*size),
            Self::Link(target) => Some(target.as_os_str().len() as u64),
            _ => None,
        }
    }

    /// Returns the upper limit of the content's size in a patch, in bytes.
    pub fn max_patch_size(&self) -> u64 {
        match self {
            Self::File { cost, .. } => *cost,
            Self::Link(target) => 2 * target.as_os_str().len() as u64,
            _ => 0,
        }
    }

    /// Opens the content; that of a link is its target.
    pub fn open_content(&self) -> io::Result<Box<dyn Read>> {
        match self {
            Self::File { disk_path, .. } => open_regular(disk_path),
            Self::Link(target) => Ok(Box::new(io::Cursor::new(target.as_os_str().as_bytes().to_vec()))),
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => Ok(Box::new(io::empty())),
        }
    }

    /// Reads the whole content. Fails if it is now shorter than at planning time; what was added since is not read.
    pub fn read_content(&self) -> io::Result<Vec<u8>> {
        let size = self.size().unwrap_or(0);
        let mut bytes = Vec::new();
        self.open_content()?.take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Returns whether both contents are equal. Unreadable files count as different.
    fn has_same_content(&self, other: &Self) -> bool {
        let hash = |side: &Self| Algorithm::Sha256.hash_blob(side.open_content().ok()?, side.size()?).ok();
        self.is_link() == other.is_link()
            && self.size() == other.size()
            && hash(self).is_some_and(|hash_of_self| hash(other) == Some(hash_of_self))
    }

    /// Describes the state in the list of omissions.
    pub fn describe(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::File { size, .. } => format!("a file of {size} bytes"),
            Self::Link(target) => format!("a link to {}", quote_path(target)),
            Self::Folder { .. } => "a folder".to_owned(),
            Self::Other(kind) => kind.clone(),
        }
    }
}

/// Formats a path on one line, quoted like git.
fn quote_path(path: &Path) -> String {
    String::from_utf8_lossy(&super::git_names::quote_name("", path)).into_owned()
}

/// Returns the upper limit of a binary file's size in a patch: base 85 writes four bytes as five, and each line of 52
/// bytes gets its length and a line end. Together that is less than four thirds of the size.
fn max_encoded_size(size: u64) -> u64 {
    size / 3 * 4 + 1024
}

/// Opens a regular file for reading. Does not follow a link and does not block on a pipe.
pub(super) fn open_regular(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::from(openat(CWD, path, READ_FLAGS, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(changed_error());
    }
    Ok(Box::new(file))
}
