//! Specification of a sandbox, and the errors of applying it.

use crate::chat::SandboxAccess;
use crate::project::spec_encoding::{absolute_path, absolute_paths};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Sandbox support of this machine's kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxSupport {
    /// The sandbox can be applied.
    Supported {
        /// Supported version of Landlock's rules, at most the one this program uses.
        landlock: u8,
        /// True if signals to outside processes can be blocked too.
        signals: bool,
    },
    /// Not supported. The value is the reason, a text that follows “no sandbox here: ”.
    Unsupported(String),
}

/// Specification of the sandbox of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    /// Absolute path of the working folder, links resolved.
    #[serde(with = "absolute_path")]
    pub folder: PathBuf,
    /// Writable paths, network and sockets, as shown in the approval prompt.
    #[serde(with = "ExactAccess")]
    pub access: SandboxAccess,
    /// Paths that are never writable: aye's own folders.
    #[serde(with = "absolute_paths")]
    pub protected: Vec<PathBuf>,
    /// Files that are never readable: aye's keys.
    #[serde(with = "absolute_paths")]
    pub unreadable: Vec<PathBuf>,
}

/// Fields of [`SandboxAccess`], which is otherwise stored with approximated paths.
#[derive(Serialize, Deserialize)]
#[serde(remote = "SandboxAccess")]
struct ExactAccess {
    #[serde(with = "absolute_paths")]
    write: Vec<PathBuf>,
    network: bool,
    sockets: bool,
}

/// Specification of the read-only sandbox of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOnlySpec {
    /// Absolute path of the working folder, links resolved.
    #[serde(with = "absolute_path")]
    pub folder: PathBuf,
    /// Readable files and folders of the project, each with everything below it.
    #[serde(with = "absolute_paths")]
    pub open_paths: Vec<PathBuf>,
    /// Folders outside the project that contain programs: those of `PATH`.
    #[serde(with = "absolute_paths")]
    pub programs: Vec<PathBuf>,
    /// Paths that stay closed within the system's folders: the project, the home, aye's own.
    #[serde(with = "absolute_paths")]
    pub closed: Vec<PathBuf>,
    /// Folder in which its private temporary folder is created.
    #[serde(with = "absolute_path")]
    pub temporary: PathBuf,
}

#[cfg(not(target_os = "linux"))]
impl ReadOnlySpec {
    pub fn apply_to_thread(&self, _: Option<&std::path::Path>) -> Result<(), SandboxError> {
        Err(SandboxError::FileRules)
    }
}

/// Reason why the sandbox could not be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SandboxError {
    /// The guard received an invalid specification.
    #[error("its specification is malformed")]
    Specification,
    /// A writable path changed since it was checked.
    #[error("a writable path no longer exists or was replaced by a link")]
    WritablePath,
    /// The kernel rejected the file rules.
    #[error("the kernel rejected the file rules")]
    FileRules,
    /// The kernel rejected the syscall filter.
    #[error("the kernel rejected the system call rules")]
    SyscallRules,
    /// Root's capabilities could not be dropped.
    #[error("root's capabilities could not be dropped")]
    Capabilities,
}
