//! Tries the walls for real: a second process of this program raises them around itself and does what they forbid.

use super::Confines;
use crate::chat::Openings;
use rustix::process::{getpid, getppid, test_kill_process};
use std::ffi::OsString;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The word behind `guard` that asks for it.
pub const PROBE: &str = "--probe";

/// One thing that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// Writing in the folder itself, which has to work.
    Inside,
    /// Writing outside.
    Outside,
    /// Taking a port, and sending a datagram.
    Network,
    /// A socket to other programs.
    Sockets,
    /// A signal to the process that began it. Older kernels let it through.
    Signals,
}

impl Tried {
    const ALL: [Self; 5] = [Self::Inside, Self::Outside, Self::Network, Self::Sockets, Self::Signals];

    fn bit(self) -> u8 {
        match self {
            Self::Inside => 1,
            Self::Outside => 2,
            Self::Network => 4,
            Self::Sockets => 8,
            Self::Signals => 16,
        }
    }

    /// What went wrong where it did not go as it should.
    pub fn words(self) -> &'static str {
        match self {
            Self::Inside => "writing inside the project was refused",
            Self::Outside => "writing outside the project was not refused",
            Self::Network => "the network was not refused",
            Self::Sockets => "sockets of other programs were not refused",
            Self::Signals => "signals to other processes were not refused",
        }
    }
}

/// The walls could not be raised, or the process did not live to say what came of it.
const FAILED: u8 = 64;

/// Tries them, with two folders of the caller's: one to stand for the project and one for what is outside. What did
/// not go as it should; `None` where the walls could not be raised at all. `program` is aye itself.
pub fn try_walls(program: &Path, inside: &Path, outside: &Path) -> Option<Vec<Tried>> {
    let reach = Openings::default();
    let confines =
        Confines { folder: inside.to_owned(), reach, keep: vec![outside.to_owned()], hide: Vec::new() };
    let mut command = Command::new(program);
    command.args(["guard", PROBE]).args(confines.arguments());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let code = u8::try_from(command.status().ok()?.code()?).ok().filter(|code| *code < FAILED)?;
    Some(Tried::ALL.into_iter().filter(|tried| code & tried.bit() != 0).collect())
}

/// The whole life of that process.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Ok(Some(confines)) = Confines::read(words) else { return FAILED.into() };
    let Some(outside) = confines.keep.first() else { return FAILED.into() };
    if confines.raise().is_err() {
        return FAILED.into();
    }
    let name = format!("probe-{}", getpid().as_raw_nonzero());
    let writes = |folder: &Path| {
        let file = folder.join(&name);
        let made = fs::write(&file, "").is_ok();
        let _ = fs::remove_file(&file);
        made
    };
    let signals = || getppid().is_some_and(|parent| test_kill_process(parent).is_ok());
    let network = TcpListener::bind("127.0.0.1:0").is_ok() || UdpSocket::bind("127.0.0.1:0").is_ok();
    let wrong = [
        (Tried::Inside, !writes(&confines.folder)),
        (Tried::Outside, writes(outside)),
        (Tried::Network, network),
        (Tried::Sockets, UnixDatagram::unbound().is_ok()),
        (Tried::Signals, signals()),
    ];
    let bits = wrong.iter().filter(|(_, wrong)| *wrong).fold(0, |bits, (tried, _)| bits | tried.bit());
    bits.into()
}
