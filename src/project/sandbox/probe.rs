//! Tests the sandbox: a second process of this program applies it to itself and attempts forbidden operations.

use super::{READ_ONLY_ARGUMENT, ReadOnlySpec, SANDBOX_ARGUMENT, SandboxSpec};
use crate::chat::SandboxAccess;
use crate::project::spec_encoding::{from_argument, to_argument};
use rustix::process::{getpid, getppid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Argument of `guard` that starts the test.
pub const PROBE_ARGUMENT: &str = "--probe";

/// A tested operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    let (folder, temporary) = (folder.to_owned(), folder.to_owned());
    let spec = ReadOnlySpec { folder, temporary, ..ReadOnlySpec::default() };
    run_test(program, [READ_ONLY_ARGUMENT.into(), to_argument(&spec)])
}

fn run_test(program: &Path, arguments: impl IntoIterator<Item = OsString>) -> Option<Vec<TestedOperation>> {
    let mut command = Command::new(program);
    command.args(["guard", PROBE_ARGUMENT]).args(arguments);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

fn can_signal_parent() -> bool {
    getppid().is_some_and(|parent| test_kill_process(parent).is_ok())
}

/// Runs the test process, which writes the operations that failed the test to its stdout.
pub fn run_probe(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (kind, spec) = (arguments.next(), arguments.next());
    let checks = match kind.as_ref().and_then(|kind| kind.to_str()) {
        Some(SANDBOX_ARGUMENT) => from_argument(spec).and_then(|spec| check_sandbox(&spec)),
        Some(READ_ONLY_ARGUMENT) => from_argument(spec).and_then(|spec| check_read_only(&spec)),
        _ => None,
    };
    let Some(checks) = checks else { return ExitCode::FAILURE };
    let failed: Vec<TestedOperation> =
        checks.into_iter().filter(|(_, is_failed)| *is_failed).map(|(operation, _)| operation).collect();
    if serde_json::to_writer(io::stdout(), &failed).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The tested operations, each with true if it failed the test.
type Checks = Vec<(TestedOperation, bool)>;

/// Applies the sandbox to this process and tests it. `None` if it cannot be applied.
fn check_sandbox(spec: &SandboxSpec) -> Option<Checks> {
    // The caller of the test passes the outside folder as the protected path.
    let outside = spec.protected.first()?;
    let is_in_overlay = false;
    spec.apply_to_thread(is_in_overlay).ok()?;
    let name = format!("probe-{}", getpid().as_raw_nonzero());
    let can_write = |folder: &Path| {
        let file = folder.join(&name);
        let is_written = fs::write(&file, "").is_ok();
        let _ = fs::remove_file(&file);
        is_written
    };
    let can_use_network = TcpListener::bind("127.0.0.1:0").is_ok() || UdpSocket::bind("127.0.0.1:0").is_ok();
    Some(vec![
        (TestedOperation::WriteInside, !can_write(&spec.folder)),
        (TestedOperation::WriteOutside, can_write(outside)),
        (TestedOperation::UseNetwork, can_use_network),
        (TestedOperation::OpenSocket, UnixDatagram::unbound().is_ok()),
        (TestedOperation::SendSignal, can_signal_parent()),
    ])
}

/// Like [`check_sandbox`], for the read-only sandbox.
fn check_read_only(spec: &ReadOnlySpec) -> Option<Checks> {
    let file = spec.folder.join(format!("probe-{}", getpid().as_raw_nonzero()));
    fs::write(&file, "").ok()?;
    let private_folder = None;
    spec.apply_to_thread(private_folder).ok()?;
    let attempt_results = [
        fs::read(&file).is_ok(),
        fs::write(&file, "").is_ok(),
        fs::write(file.with_extension("new"), "").is_ok(),
        fs::remove_file(&file).is_ok(),
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).is_ok(),
    ];
    Some(vec![
        (TestedOperation::UseWithheld, attempt_results.contains(&true)),
        (TestedOperation::UseNetwork, TcpListener::bind("127.0.0.1:0").is_ok()),
        (TestedOperation::OpenSocket, UnixDatagram::unbound().is_ok()),
        (TestedOperation::SendSignal, can_signal_parent()),
    ])
}
