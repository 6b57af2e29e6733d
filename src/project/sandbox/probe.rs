//! Tests the sandbox: a second process of this program applies it to itself and attempts forbidden operations.

use super::Confines;
#[cfg(target_os = "linux")]
use super::read_only::{READ_ONLY, ReadOnly};
use crate::chat::Openings;
use rustix::process::{getpid, getppid, test_kill_process};
use std::ffi::OsString;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Argument of `guard` that starts the test.
pub const PROBE: &str = "--probe";

/// A tested operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// Writing in the folder itself, which must succeed.
    Inside,
    /// Writing outside.
    Outside,
    /// Binding a port, and sending a datagram.
    Network,
    /// Opening a socket to other programs.
    Sockets,
    /// Sending a signal to the parent process. Older kernels allow it.
    Signals,
    /// In the read-only sandbox: reading a closed file of the project, writing it, or changing its mode.
    Withheld,
}

impl Tried {
    const ALL: [Self; 6] =
        [Self::Inside, Self::Outside, Self::Network, Self::Sockets, Self::Signals, Self::Withheld];

    fn bit(self) -> u8 {
        match self {
            Self::Inside => 1,
            Self::Outside => 2,
            Self::Network => 4,
            Self::Sockets => 8,
            Self::Signals => 16,
            Self::Withheld => 32,
        }
    }

    /// Describes the failure.
    pub fn words(self) -> &'static str {
        match self {
            Self::Inside => "writing inside the project was refused",
            Self::Outside => "writing outside the project was not refused",
            Self::Network => "the network was not refused",
            Self::Sockets => "sockets of other programs were not refused",
            Self::Signals => "signals to other processes were not refused",
            Self::Withheld => "reading or changing a withheld file was not refused in the read-only sandbox",
        }
    }
}

/// Exit status if the sandbox could not be applied, or no result was received.
const FAILED: u8 = 64;

/// Tests the sandbox with two folders of the caller: one as the project, one as an outside folder. Returns the
/// operations that failed the test, or `None` if the sandbox could not be applied at all. `program` is the path of aye.
pub fn try_walls(program: &Path, inside: &Path, outside: &Path) -> Option<Vec<Tried>> {
    let reach = Openings::default();
    let confines =
        Confines { folder: inside.to_owned(), reach, keep: vec![outside.to_owned()], hide: Vec::new() };
    try_with(program, confines.arguments())
}

/// Tests the read-only sandbox with a folder of the caller, in which everything is withheld.
pub fn try_read_only(program: &Path, folder: &Path) -> Option<Vec<Tried>> {
    #[cfg(target_os = "linux")]
    {
        let (folder, temporary) = (folder.to_owned(), folder.to_owned());
        try_with(program, ReadOnly { folder, temporary, ..ReadOnly::default() }.arguments())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (program, folder);
        None
    }
}

fn try_with(program: &Path, arguments: Vec<OsString>) -> Option<Vec<Tried>> {
    let mut command = Command::new(program);
    command.args(["guard", PROBE]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let code = u8::try_from(command.status().ok()?.code()?).ok().filter(|code| *code < FAILED)?;
    Some(Tried::ALL.into_iter().filter(|tried| code & tried.bit() != 0).collect())
}

fn signals() -> bool {
    getppid().is_some_and(|parent| test_kill_process(parent).is_ok())
}

/// Runs the test in the read-only sandbox.
#[cfg(target_os = "linux")]
fn run_read_only(words: impl Iterator<Item = OsString>) -> ExitCode {
    use std::os::unix::fs::PermissionsExt;
    let Ok(read_only) = ReadOnly::read(words, |count| Ok(vec![0; count])) else { return FAILED.into() };
    let file = read_only.folder.join(format!("probe-{}", getpid().as_raw_nonzero()));
    if fs::write(&file, "").is_err() || read_only.raise(None).is_err() {
        return FAILED.into();
    }
    let withheld = [
        fs::read(&file).is_ok(),
        fs::write(&file, "").is_ok(),
        fs::write(file.with_extension("new"), "").is_ok(),
        fs::remove_file(&file).is_ok(),
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).is_ok(),
    ];
    let wrong = [
        (Tried::Withheld, withheld.contains(&true)),
        (Tried::Network, TcpListener::bind("127.0.0.1:0").is_ok()),
        (Tried::Sockets, UnixDatagram::unbound().is_ok()),
        (Tried::Signals, signals()),
    ];
    bits(&wrong).into()
}

fn bits(wrong: &[(Tried, bool)]) -> u8 {
    wrong.iter().filter(|(_, wrong)| *wrong).fold(0, |bits, (tried, _)| bits | tried.bit())
}

/// Runs the test process.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut words = words.into_iter().peekable();
    #[cfg(target_os = "linux")]
    if words.next_if(|word| word == READ_ONLY).is_some() {
        return run_read_only(words);
    }
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
    let network = TcpListener::bind("127.0.0.1:0").is_ok() || UdpSocket::bind("127.0.0.1:0").is_ok();
    let wrong = [
        (Tried::Inside, !writes(&confines.folder)),
        (Tried::Outside, writes(outside)),
        (Tried::Network, network),
        (Tried::Sockets, UnixDatagram::unbound().is_ok()),
        (Tried::Signals, signals()),
    ];
    bits(&wrong).into()
}
