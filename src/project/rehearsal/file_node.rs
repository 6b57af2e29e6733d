//! Content of one path.

use crate::project::READ_LIMIT;
use crate::project::atomic_file::READ_FLAGS;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, openat, readlinkat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Content of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileNode {
    Nothing,
    File {
        /// The whole content.
        bytes: Vec<u8>,
        /// Permissions: the lower twelve bits of the mode.
        mode: u32,
    },
    /// A folder without its entries, each of which is a node of its own.
    Folder {
        mode: u32,
    },
    /// A symbolic link and its target as written.
    Link(PathBuf),
    /// Content that is not loaded: a file of more than [`READ_LIMIT`] bytes, an unreadable file, a pipe, a socket. The
    /// text describes it, such as `a pipe`.
    Other(String),
}

impl FileNode {
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Returns the content of a file; `None` if this is not a file.
    pub fn file_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

/// Reads the content of a path.
pub fn read_node(path: &Path) -> FileNode {
    read_node_in(CWD, path)
}

/// Reads the content of a path relative to an open folder.
pub fn read_node_in(folder: impl AsFd, path: &Path) -> FileNode {
    let folder = folder.as_fd();
    let stat = match statat(folder, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return FileNode::Nothing,
        Err(errno) => return FileNode::Other(format!("an unreachable path ({})", io::Error::from(errno))),
    };
    let mode = permission_bits(stat.st_mode);
    match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(folder, path, flags, Mode::empty()) {
                Ok(_) => FileNode::Folder { mode },
                Err(errno) => {
                    let error = io::Error::from(errno);
                    FileNode::Other(format!("an unreadable folder ({error}), mode {mode:o}"))
                }
            }
        }
        FileType::Symlink => match readlinkat(folder, path, Vec::new()) {
            Ok(target) => FileNode::Link(std::ffi::OsString::from_vec(target.into_bytes()).into()),
            Err(errno) => FileNode::Other(format!("an unreadable link ({})", io::Error::from(errno))),
        },
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size <= READ_LIMIT) => {
            let read_bytes = || -> io::Result<Vec<u8>> {
                let mut bytes = Vec::new();
                let file = File::from(openat(folder, path, READ_FLAGS, Mode::empty())?);
                file.take(READ_LIMIT + 1).read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            match read_bytes() {
                // It may have grown since its size was read.
                Ok(bytes) if bytes.len() as u64 > READ_LIMIT => {
                    FileNode::Other(format!("a growing file, mode {mode:o}"))
                }
                Ok(bytes) => FileNode::File { bytes, mode },
                Err(error) => FileNode::Other(format!("an unreadable file ({error})")),
            }
        }
        FileType::RegularFile => FileNode::Other(format!("a file of {} bytes, mode {mode:o}", stat.st_size)),
        FileType::Fifo => FileNode::Other("a pipe".to_owned()),
        FileType::Socket => FileNode::Other("a socket".to_owned()),
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => FileNode::Other("a device".to_owned()),
    }
}

/// Returns the lower twelve bits. The integer type of modes differs between systems.
fn permission_bits(mode: impl Into<u32>) -> u32 {
    mode.into() & 0o7777
}
