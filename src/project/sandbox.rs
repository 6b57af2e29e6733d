//! Sandbox of a command on Linux: it writes only in listed folders, has no network unless requested, and cannot reach
//! other processes.
//!
//! Landlock restricts files, processes and signals; seccomp restricts sockets and administrative system calls; root
//! loses the capabilities that go beyond files. The restrictions are applied in the guard, to the one thread that
//! starts the command, so that they cover the command and its children but not the guard itself. They are applied
//! completely, or the command is not run.
//!
//! Three decisions: The machine's own network (127.0.0.1) counts as network, because without a network namespace the
//! two cannot be distinguished. Sockets of other programs (Docker, tmux, the session bus, agents that hold keys) are
//! closed even if the network is open, because those programs run outside the sandbox. `.git` in the project stays
//! writable, including hooks, because git could not commit otherwise.
//!
//! Not restricted: reading, and the modes, owners and times of the user's files elsewhere.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
pub(super) mod namespaces;
#[cfg(target_os = "linux")]
pub(super) mod places;
#[cfg(target_os = "linux")]
mod powers;
pub mod probe;
#[cfg(target_os = "linux")]
pub mod read_only;
#[cfg(target_os = "linux")]
mod read_only_calls;
#[cfg(target_os = "linux")]
pub(super) mod system;

use crate::chat::Openings;
use std::ffi::OsString;
use std::path::PathBuf;

/// Sandbox support of this machine's kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// The sandbox can be applied.
    Able {
        /// Supported version of Landlock's rules, at most the one this program uses.
        landlock: u8,
        /// True if signals to outside processes can be blocked too.
        signals: bool,
    },
    /// Not supported. The value is the reason, a text that follows “no sandbox here: ”.
    Unable(String),
}

/// Specification of the sandbox of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confines {
    /// Absolute path of the working folder, links resolved.
    pub folder: PathBuf,
    /// Writable paths, network and sockets, as shown in the approval prompt.
    pub reach: Openings,
    /// Paths that are never writable: aye's own folders.
    pub keep: Vec<PathBuf>,
    /// Files that are never readable: aye's keys.
    pub hide: Vec<PathBuf>,
}

/// Reason why the sandbox could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A writable path changed since it was checked.
    #[error("a writable path no longer exists or was replaced by a link")]
    Place,
    /// The kernel rejected the file rules.
    #[error("the kernel rejected the file rules")]
    Files,
    /// The kernel rejected the system call rules.
    #[error("the kernel rejected the system call rules")]
    Calls,
    /// Root's capabilities could not be dropped.
    #[error("root's capabilities could not be dropped")]
    Powers,
}

impl Refused {
    const ALL: [Self; 4] = [Self::Place, Self::Files, Self::Calls, Self::Powers];

    /// Returns the byte sent over the guard's lifeline.
    pub fn byte(&self) -> u8 {
        match self {
            Self::Place => b'p',
            Self::Files => b'f',
            Self::Calls => b'c',
            Self::Powers => b'r',
        }
    }

    /// Returns the reason with this byte.
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|refused| refused.byte() == byte)
    }
}

/// Arguments of the guard, between `guard` and `--`.
const WALLED: &str = "--walled";
const FOLDER: &str = "--folder";
const WRITE: &str = "--write";
const KEEP: &str = "--keep";
const HIDE: &str = "--hide";
const NETWORK: &str = "--network";
const SOCKETS: &str = "--sockets";

impl Confines {
    /// Encodes the specification as arguments of the guard.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![WALLED.into(), FOLDER.into(), self.folder.clone().into()];
        for (name, paths) in [(WRITE, &self.reach.write), (KEEP, &self.keep), (HIDE, &self.hide)] {
            words.extend(paths.iter().flat_map(|path| [name.into(), path.clone().into()]));
        }
        words.extend(self.reach.network.then(|| NETWORK.into()));
        words.extend(self.reach.sockets.then(|| SOCKETS.into()));
        words
    }

    /// Parses the arguments. Returns `None` if no sandbox is requested. Fails if an argument is invalid, because a
    /// command must not run with fewer restrictions than specified.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, Refused> {
        let mut words = words.into_iter();
        match words.next() {
            None => return Ok(None),
            Some(first) if first == WALLED => {}
            Some(_) => return Err(Refused::Place),
        }
        let mut confines = Self::default();
        while let Some(word) = words.next() {
            let mut path = || {
                let path = words.next().map(PathBuf::from).filter(|path| path.is_absolute());
                path.ok_or(Refused::Place)
            };
            match word.to_str() {
                Some(FOLDER) => confines.folder = path()?,
                Some(WRITE) => confines.reach.write.push(path()?),
                Some(KEEP) => confines.keep.push(path()?),
                Some(HIDE) => confines.hide.push(path()?),
                Some(NETWORK) => confines.reach.network = true,
                Some(SOCKETS) => confines.reach.sockets = true,
                Some(_) | None => return Err(Refused::Place),
            }
        }
        if confines.folder.as_os_str().is_empty() { Err(Refused::Place) } else { Ok(Some(confines)) }
    }

    /// Applies the sandbox to this thread and everything it starts. It cannot be undone.
    pub fn raise(&self) -> Result<(), Refused> {
        #[cfg(target_os = "linux")]
        {
            powers::give_up()?;
            files::wall(self)?;
            calls::wall(&self.reach)
        }
        #[cfg(not(target_os = "linux"))]
        Err(Refused::Files)
    }

    /// Applies the sandbox inside the overlay sandbox, whose mounts already restrict files. Landlock is an additional
    /// restriction there and may be missing.
    #[cfg(target_os = "linux")]
    pub fn raise_on_stage(&self) -> Result<(), Refused> {
        powers::give_up()?;
        if let Kernel::Able { .. } = files::kernel() {
            files::wall(self)?;
        }
        calls::wall(&self.reach)
    }
}

/// Queries the kernel's support.
pub fn kernel() -> Kernel {
    #[cfg(target_os = "linux")]
    {
        if !calls::is_known() {
            return Kernel::Unable(format!(
                "aye does not support it on {} processors",
                std::env::consts::ARCH
            ));
        }
        if !namespaces::takes_filters() {
            return Kernel::Unable("this kernel has no seccomp, or programs may not use it".to_owned());
        }
        files::kernel()
    }
    #[cfg(not(target_os = "linux"))]
    Kernel::Unable(format!("aye does not support one on {}", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_specification_survives_a_round_trip_and_rejects_invalid_arguments() {
        let confines = Confines {
            folder: "/p".into(),
            reach: Openings {
                write: vec!["/tmp".into(), "/--network".into()],
                network: false,
                sockets: false,
            },
            keep: vec!["/home/a/.config/aye".into()],
            hide: vec!["/home/a/.config/aye/credentials.toml".into()],
        };
        assert_eq!(Confines::read(confines.arguments()), Ok(Some(confines.clone())));
        let mut open = confines;
        open.reach = Openings { write: Vec::new(), network: true, sockets: true };
        assert_eq!(Confines::read(open.arguments()), Ok(Some(open)));
        assert_eq!(Confines::read([]), Ok(None));
        for words in [
            &["--network"][..],
            &["--walled"],
            &["--walled", "--folder"],
            &["--walled", "--folder", "p"],
            &["--walled", "--folder", "/p", "--wirte", "/x"],
            &["--walled", "--folder", "/p", "--write"],
        ] {
            let words = words.iter().map(OsString::from);
            assert_eq!(Confines::read(words.clone()), Err(Refused::Place), "{words:?}");
        }
    }

    #[test]
    fn every_reason_has_its_own_byte() {
        for refused in Refused::ALL {
            assert_eq!(Refused::of(refused.byte()), Some(refused));
        }
        assert_eq!(Refused::of(b'x'), None);
    }
}
