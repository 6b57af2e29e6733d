//! Tests the sandbox: a second process of this program applies it to itself and attempts forbidden operations.

use super::SandboxSpec;
#[cfg(target_os = "linux")]
use super::read_only_sandbox::{READ_ONLY, ReadOnlySpec};
use crate::chat::SandboxAccess;
use rustix::process::{getpid, getppid, test_kill_process};
use std::ffi::OsString;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Argument of `guard` that starts the test.
pub const PROBE_ARGUMENT: &str = "--probe";

/// A tested operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestedOperation {
    /// Writing inside the project's folder, which must succeed.
    WriteInside,
    /// Writing outside the project's folder.
    WriteOutside,
    /// Binding a TCP or a UDP port.
    UseNetwork,
    /// Opening a socket to other programs.
    OpenSocket,
    /// Sending a signal to the parent process. Older kernels allow it.
    SendSignal,
    /// In the read-only sandbox: reading a withheld file of the project, writing it, or changing its mode.
    UseWithheld,
}

impl TestedOperation {
    const ALL: [Self; 6] = [
        Self::WriteInside,
        Self::WriteOutside,
        Self::UseNetwork,
        Self::OpenSocket,
        Self::SendSignal,
        Self::UseWithheld,
    ];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Describes the failure.
    pub fn failure_text(self) -> &'static str {
        match self {
            Self::WriteInside => "writing inside the project was refused",
            Self::WriteOutside => "writing outside the project was not refused",
            Self::UseNetwork => "the network was not refused",
            Self::OpenSocket => "sockets of other programs were not refused",
            Self::SendSignal => "signals to other processes were not refused",
            Self::UseWithheld => "reading or changing a withheld file was not refused in the read-only sandbox",
        }
    }
}

/// Exit status if the sandbox could not be applied, or no result was received.
const FAILED: u8 = 64;

/// Tests the sandbox with two folders of the caller: one as the project, one as an outside folder. Returns the
/// operations that failed the test, or `None` if the sandbox could not be applied at all. `program` is the path of aye.
pub fn test_sandbox(program: &Path, inside: &Path, outside: &Path) -> Option<Vec<TestedOperation>> {
    let access = SandboxAccess::default();
    let spec =
        SandboxSpec { folder: inside.to_owned(), access, protected: vec![outside.to_owned()], unreadable: Vec::new() };
    run_test(program, spec.to_arguments())
}

/// Tests the read-only sandbox with a folder of the caller, in which everything is withheld.
pub fn test_read_only(program: &Path, folder: &Path) -> Option<Vec<TestedOperation>> {
    #[cfg(target_os = "linux")]
    {
        let (folder, temporary) = (folder.to_owned(), folder.to_owned());
        run_test(program, ReadOnlySpec { folder, temporary, ..ReadOnlySpec::default() }.to_arguments())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (program, folder);
        None
    }
}

fn run_test(program: &Path, arguments: Vec<OsString>) -> Option<Vec<TestedOperation>> {
    let mut command = Command::new(program);
    command.args(["guard", PROBE_ARGUMENT]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let code = u8::try_from(command.status().ok()?.code()?).ok().filter(|code| *code < FAILED)?;
    Some(TestedOperation::ALL.into_iter().filter(|operation| code & operation.bit() != 0).collect())
}

fn can_signal_parent() -> bool {
    getppid().is_some_and(|parent| test_kill_process(parent).is_ok())
}

/// Runs the test in the read-only sandbox.
#[cfg(target_os = "linux")]
fn run_read_only_probe(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    use std::os::unix::fs::PermissionsExt;
    let Ok(read_only) = ReadOnlySpec::parse_arguments(arguments, |count| Ok(vec![0; count])) else {
        return FAILED.into();
    };
    let file = read_only.folder.join(format!("probe-{}", getpid().as_raw_nonzero()));
    if fs::write(&file, "").is_err() || read_only.apply_to_thread(None).is_err() {
        return FAILED.into();
    }
    let attempt_results = [
        fs::read(&file).is_ok(),
        fs::write(&file, "").is_ok(),
        fs::write(file.with_extension("new"), "").is_ok(),
        fs::remove_file(&file).is_ok(),
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).is_ok(),
    ];
    let checks = [
        (TestedOperation::UseWithheld, attempt_results.contains(&true)),
        (TestedOperation::UseNetwork, TcpListener::bind("127.0.0.1:0").is_ok()),
        (TestedOperation::OpenSocket, UnixDatagram::unbound().is_ok()),
        (TestedOperation::SendSignal, can_signal_parent()),
    ];
    failure_bits(&checks).into()
}

/// Returns the bits of all operations whose check failed. The flag of each operation is true if its check failed.
fn failure_bits(checks: &[(TestedOperation, bool)]) -> u8 {
    checks.iter().filter(|(_, has_failed)| *has_failed).fold(0, |bits, (operation, _)| bits | operation.bit())
}

/// Runs the test process.
pub fn run_probe(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter().peekable();
    #[cfg(target_os = "linux")]
    if arguments.next_if(|argument| argument == READ_ONLY).is_some() {
        return run_read_only_probe(arguments);
    }
    let Ok(Some(spec)) = SandboxSpec::parse_arguments(arguments) else { return FAILED.into() };
    let Some(outside) = spec.protected.first() else { return FAILED.into() };
    if spec.apply_to_thread().is_err() {
        return FAILED.into();
    }
    let name = format!("probe-{}", getpid().as_raw_nonzero());
    let can_write = |folder: &Path| {
        let file = folder.join(&name);
        let is_written = fs::write(&file, "").is_ok();
        let _ = fs::remove_file(&file);
        is_written
    };
    let can_use_network = TcpListener::bind("127.0.0.1:0").is_ok() || UdpSocket::bind("127.0.0.1:0").is_ok();
    let checks = [
        (TestedOperation::WriteInside, !can_write(&spec.folder)),
        (TestedOperation::WriteOutside, can_write(outside)),
        (TestedOperation::UseNetwork, can_use_network),
        (TestedOperation::OpenSocket, UnixDatagram::unbound().is_ok()),
        (TestedOperation::SendSignal, can_signal_parent()),
    ];
    failure_bits(&checks).into()
}
