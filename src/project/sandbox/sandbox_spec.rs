//! Specification of a sandbox, and the errors of applying it.

use crate::chat::SandboxAccess;
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Absolute path of the working folder, links resolved.
    pub folder: PathBuf,
    /// Writable paths, network and sockets, as shown in the approval prompt.
    pub access: SandboxAccess,
    /// Paths that are never writable: aye's own folders.
    pub protected: Vec<PathBuf>,
    /// Files that are never readable: aye's keys.
    pub unreadable: Vec<PathBuf>,
}

/// Reason why the sandbox could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// A writable path changed since it was checked, or the guard received invalid arguments.
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

impl SandboxError {
    pub(super) const ALL: [Self; 4] = [Self::WritablePath, Self::FileRules, Self::SyscallRules, Self::Capabilities];

    /// Returns the byte sent over the guard's lifeline.
    pub fn byte(&self) -> u8 {
        match self {
            Self::WritablePath => b'p',
            Self::FileRules => b'f',
            Self::SyscallRules => b'c',
            Self::Capabilities => b'r',
        }
    }

    /// Returns the reason with this byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.byte() == byte)
    }
}
