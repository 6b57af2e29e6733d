//! One changed path: what a patch keeps of it before and after, without its content.

use super::object_id::Algorithm;
use super::{TEXT_LIMIT, open};
use crate::project::Reader;
use crate::project::rehearsal::{Change, Node, Rehearsal, UPPER};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A changed path, and what the patch says of it.
pub struct Item {
    pub path: PathBuf,
    pub before: Side,
    pub after: Side,
    /// Whether both sides are files, or both links, with the same content.
    pub is_same_content: bool,
    /// Whether the patch takes away what stands there, alone or to replace it.
    pub deletes: bool,
    /// Whether the patch puts there what the rehearsal left.
    pub creates: bool,
    /// The file that becomes this one without any other change.
    pub renamed_from: Option<PathBuf>,
    /// Whether it becomes another path.
    pub is_renamed: bool,
}

/// What stands at a path.
pub enum Side {
    Nothing,
    File {
        size: u64,
        /// The lower twelve bits.
        mode: u32,
        /// Whether a patch shows its lines: it is not large and holds no NUL byte.
        is_text: bool,
        /// Upper limit of the bytes that it takes in a patch.
        cost: u64,
        disk: PathBuf,
    },
    Link(PathBuf),
    Folder {
        mode: u32,
    },
    /// Something that git has no word for, in words such as `a pipe`.
    Other(String),
}

/// What git tells apart: a change of one into the other is a deletion and a creation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GitKind {
    File,
    Link,
}

impl Item {
    pub fn new(rehearsal: &Rehearsal, change: Change) -> Self {
        let upper = rehearsal.folder().join(UPPER);
        let Change { path, before, after } = change;
        let same = match (&before, &after) {
            (Node::File { bytes: before, .. }, Node::File { bytes: after, .. }) => Some(before == after),
            (_, _) => None,
        };
        let (before, after) =
            (Side::new(before, rehearsal.root().join(&path)), Side::new(after, upper.join(&path)));
        let is_same_content =
            same.unwrap_or_else(|| before.git_kind().is_some() && before.holds_same(&after));
        Self {
            path,
            before,
            after,
            is_same_content,
            deletes: false,
            creates: false,
            renamed_from: None,
            is_renamed: false,
        }
    }

    /// Whether anything of it is written at its place in the patch.
    pub fn is_patched(&self) -> bool {
        !self.is_renamed && (self.deletes || self.creates)
    }
}

impl Side {
    fn new(node: Node, disk: PathBuf) -> Self {
        match node {
            Node::Nothing => Self::Nothing,
            Node::Folder { mode } => Self::Folder { mode },
            Node::Link(to) => Self::Link(to),
            Node::File { bytes, mode } => {
                let size = bytes.len() as u64;
                let is_text = size <= TEXT_LIMIT && !bytes.contains(&0);
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                // Each line has a sign before it, and each few of them a header at worst.
                let cost = if is_text { size + lines * 8 } else { encoded(size) };
                Self::File { size, mode, is_text, cost, disk }
            }
            Node::Other(words) => match disk.symlink_metadata() {
                Ok(meta) if meta.is_file() && open(&disk).is_ok() => Self::File {
                    size: meta.len(),
                    mode: meta.mode() & 0o7777,
                    is_text: false,
                    cost: encoded(meta.len()),
                    disk,
                },
                Ok(_) | Err(_) => Self::Other(words),
            },
        }
    }

    /// Its mode in a patch, if git keeps such a thing.
    pub fn git_mode(&self) -> Option<&'static str> {
        match self {
            Self::File { mode, .. } if mode & 0o100 == 0 => Some("100644"),
            Self::File { .. } => Some("100755"),
            Self::Link(_) => Some("120000"),
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => None,
        }
    }

    pub fn git_kind(&self) -> Option<GitKind> {
        match self {
            Self::File { .. } => Some(GitKind::File),
            Self::Link(_) => Some(GitKind::Link),
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => None,
        }
    }

    /// The lower twelve bits of its mode; 0 if it has none of its own.
    pub fn permissions(&self) -> u32 {
        match self {
            Self::File { mode, .. } | Self::Folder { mode } => *mode,
            Self::Nothing | Self::Link(_) | Self::Other(_) => 0,
        }
    }

    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Whether its lines can stand in a patch; nothing has none.
    pub fn is_text(&self) -> bool {
        match self {
            Self::File { is_text, .. } => *is_text,
            Self::Nothing | Self::Link(_) => true,
            Self::Folder { .. } | Self::Other(_) => false,
        }
    }

    /// Bytes of its content, if git keeps one.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::File { size, .. } => Some(*size),
            Self::Link(to) => Some(to.as_os_str().len() as u64),
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => None,
        }
    }

    /// Upper limit of the bytes that its content takes in a patch.
    pub fn cost(&self) -> u64 {
        match self {
            Self::File { cost, .. } => *cost,
            Self::Link(to) => 2 * to.as_os_str().len() as u64,
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => 0,
        }
    }

    /// Its content; that of a link is where it leads.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        match self {
            Self::File { disk, .. } => open(disk),
            Self::Link(to) => Ok(Box::new(io::Cursor::new(to.as_os_str().as_bytes().to_vec()))),
            Self::Nothing | Self::Folder { .. } | Self::Other(_) => Ok(Box::new(io::empty())),
        }
    }

    /// All of its content. Only as much is read as there was when the patch was planned.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let size = self.size().unwrap_or(0);
        let mut bytes = Vec::new();
        self.open()?.take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Whether the other holds the same bytes. Files that cannot be read are taken for different ones.
    fn holds_same(&self, other: &Self) -> bool {
        let hash = |side: &Self| Algorithm::Sha256.of_blob(side.open().ok()?, side.size()?).ok();
        self.git_kind() == other.git_kind()
            && self.size() == other.size()
            && hash(self).is_some_and(|hash_of_self| hash(other) == Some(hash_of_self))
    }

    /// A few words for the list of omissions.
    pub fn words(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::File { size, .. } => format!("a file of {size} bytes"),
            Self::Link(to) => format!("a link to {}", shown(to)),
            Self::Folder { .. } => "a folder".to_owned(),
            Self::Other(words) => words.clone(),
        }
    }
}

/// A path on one line, as git quotes it.
fn shown(path: &Path) -> String {
    String::from_utf8_lossy(&super::names::quoted("", path)).into_owned()
}

/// Upper limit of what a binary file takes: base85 makes five bytes of four, and a line of 52 has a count and an end.
fn encoded(size: u64) -> u64 {
    size / 3 * 4 + 1024
}
