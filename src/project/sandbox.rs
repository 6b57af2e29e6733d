//! The walls around a command on Linux: it writes only in named places, reaches no network unless that was asked for,
//! and touches no process outside.
//!
//! Landlock holds files, processes and signals; seccomp holds sockets and what only a system's owner does; root gives up
//! what goes beyond files. They are
//! raised in the guard, in the one thread that starts the command, so that the command and everything it starts are
//! within and the guard itself is not. What was promised is raised whole, or the command is not run.
//!
//! Three decisions. The machine's own network (127.0.0.1) is network too: nothing below a namespace of its own can tell
//! the two apart. Sockets of other programs (Docker, tmux, the session bus, agents that hold keys) are closed even where the
//! network is open: whoever talks to those is out. `.git` stays open in the project, its hooks with it, since git
//! could not commit otherwise. What neither wall has a word for: reading, and modes, owners and times of the person's
//! own files elsewhere.

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

/// What this machine's kernel can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// It can raise the walls.
    Able {
        /// The version of Landlock's rules it knows, as far as this program does.
        landlock: u8,
        /// Whether signals to processes outside can be held back too.
        signals: bool,
    },
    /// It cannot; with why, in words that follow “no sandbox here: ”.
    Unable(String),
}

/// Everything that the walls around one command are made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confines {
    /// The folder it works in; absolute, links resolved.
    pub folder: PathBuf,
    /// What its card says it reaches.
    pub reach: Openings,
    /// What it never writes in, wherever that lies: aye's own folders.
    pub keep: Vec<PathBuf>,
    /// Files it never reads: aye's keys.
    pub hide: Vec<PathBuf>,
}

/// Why the walls could not be raised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A place that was promised is not what it was.
    #[error("a place it was to write in is gone, or a link has taken its place")]
    Place,
    /// The kernel does not take the rules about files.
    #[error("the kernel did not take the rules about files")]
    Files,
    /// The kernel does not take the rules about system calls.
    #[error("the kernel did not take the rules about system calls")]
    Calls,
    /// Root's powers could not be given up.
    #[error("the powers of root could not be given up")]
    Powers,
}

impl Refused {
    const ALL: [Self; 4] = [Self::Place, Self::Files, Self::Calls, Self::Powers];

    /// Its byte on the guard's lifeline.
    pub fn byte(&self) -> u8 {
        match self {
            Self::Place => b'p',
            Self::Files => b'f',
            Self::Calls => b'c',
            Self::Powers => b'r',
        }
    }

    /// The one of this byte.
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|refused| refused.byte() == byte)
    }
}

/// The words of the guard's command line, between `guard` and `--`.
const WALLED: &str = "--walled";
const FOLDER: &str = "--folder";
const WRITE: &str = "--write";
const KEEP: &str = "--keep";
const HIDE: &str = "--hide";
const NETWORK: &str = "--network";
const SOCKETS: &str = "--sockets";

impl Confines {
    /// As the guard is told of them.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![WALLED.into(), FOLDER.into(), self.folder.clone().into()];
        for (name, paths) in [(WRITE, &self.reach.write), (KEEP, &self.keep), (HIDE, &self.hide)] {
            words.extend(paths.iter().flat_map(|path| [name.into(), path.clone().into()]));
        }
        words.extend(self.reach.network.then(|| NETWORK.into()));
        words.extend(self.reach.sockets.then(|| SOCKETS.into()));
        words
    }

    /// Reads them back: `None` where no walls are asked for; an error where the words make no sense, for a command
    /// must not run with less than was meant.
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

    /// Raises the walls around this thread and whatever it starts from now on. There is no way back.
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

    /// The same on a stage, whose mounts hold the files already: Landlock is a second wall there, and may be missing.
    #[cfg(target_os = "linux")]
    pub fn raise_on_stage(&self) -> Result<(), Refused> {
        powers::give_up()?;
        if let Kernel::Able { .. } = files::kernel() {
            files::wall(self)?;
        }
        calls::wall(&self.reach)
    }
}

/// What the kernel can do, asked of it anew.
pub fn kernel() -> Kernel {
    #[cfg(target_os = "linux")]
    {
        if !calls::is_known() {
            return Kernel::Unable(format!("it is not made for {} processors", std::env::consts::ARCH));
        }
        if !namespaces::takes_filters() {
            return Kernel::Unable("this kernel has no seccomp, or it is closed to programs".to_owned());
        }
        files::kernel()
    }
    #[cfg(not(target_os = "linux"))]
    Kernel::Unable(format!("{} has none that aye knows of", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_confines_are_read_as_they_were_written_and_never_as_less() {
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
    fn every_reason_has_a_byte_of_its_own() {
        for refused in Refused::ALL {
            assert_eq!(Refused::of(refused.byte()), Some(refused));
        }
        assert_eq!(Refused::of(b'x'), None);
    }
}
