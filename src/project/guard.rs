//! Guards one command from a separate process: no process that the command started outlives the command or aye.
//!
//! aye starts itself as `aye guard -- PROGRAM ARGUMENTS…` in the command's folder. The guard's output goes to a pipe,
//! and its stdin is the lifeline: a socket whose other end only aye holds. When that end closes, aye has exited or
//! cancelled the command, and the guard kills everything. Over the same socket aye may send `STOP_BYTE`, and the guard
//! reports how the command ended.
//!
//! The arguments between `guard` and `--` describe the sandbox ([`super::sandbox`]). It applies only to the thread that
//! starts the command: the guard itself stays outside, out of the command's reach.
//!
//! A command without approval gets the read-only sandbox: `--read-only`. Its specification is sent over the lifeline,
//! because finding the paths it may open may take longer than starting the guard. The guard manages its private
//! temporary folder.
//!
//! With `--terminal` the guard's output is a pseudo-terminal instead of a pipe, and the command is started as
//! `aye terminal -- PROGRAM ARGUMENTS…` ([`super::detached`]), which makes it the command's own terminal.
//!
//! With `--input` the command's stdin, which is otherwise empty, is first sent over the lifeline. With `--stream` the
//! guard's output is a socket instead of a pipe, and the command's stdin is that socket too. With `--private-folder` after
//! it, the command runs in a new private folder, which the guard removes once all processes of the command have ended.
//!
//! On Linux the guard is the subreaper of its descendants, so processes that started their own session are found too.
//! On other systems only the command's process group is found.

pub(super) mod guard_process;
pub mod lifeline;
mod watch;

use super::overlay_sandbox::{self, OverlaySpec};
use super::sandbox::{READ_ONLY_ARGUMENT, ReadOnlySpec, SANDBOX_ARGUMENT, SandboxError, SandboxSpec, probe};
use super::spec_encoding::{from_argument, from_frame, read_frame};
use lifeline::{GuardEvent, Report, STOP_BYTE, open_lifeline, send_report};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, setsid, wait};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use tempfile::TempDir;
use watch::CommandWatch;

/// Argument of the guard if the command's stdin follows over the lifeline.
pub const INPUT_ARGUMENT: &str = "--input";

/// Argument of the guard if its output is a socket, which becomes the command's stdin too.
pub const STREAM_ARGUMENT: &str = "--stream";

/// Argument of the guard after [`STREAM_ARGUMENT`] if the command runs in a private folder. The folder in which that is created
/// follows.
pub const PRIVATE_FOLDER_ARGUMENT: &str = "--private-folder";

/// Variables that name the private folder to a command that runs in one.
const FOLDER_VARIABLES: [&str; 6] =
    ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];

/// Argument of the guard if its output is a pseudo-terminal, which becomes the command's own terminal.
pub const TERMINAL_ARGUMENT: &str = "--terminal";

/// Returns the program that commands are started through: this one, even if its file was replaced meanwhile.
pub fn own_program() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    if running.exists() { running.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "aye".into()) }
}

/// Runs `aye guard`. Returns only after every process that the command started has ended.
pub fn run_guard() -> ExitCode {
    let mut arguments = std::env::args_os().skip(2).peekable();
    if arguments.next_if(|argument| argument == probe::PROBE_ARGUMENT).is_some() {
        return probe::run_probe(arguments);
    }
    #[cfg(target_os = "linux")]
    if arguments.next_if(|argument| argument == overlay_sandbox::OVERLAY_ARGUMENT).is_some() {
        return overlay_sandbox::namespace_entry::run_namespace_entry(arguments);
    }
    let report = match run_command() {
        Ok(report) => report,
        Err(error) => Report::Failed(error.raw_os_error().and_then(|code| u8::try_from(code).ok()).unwrap_or(0)),
    };
    send_report(report);
    match report {
        Report::Exit(status) => status.into(),
        Report::Signal(signal) => signal.saturating_add(128).into(),
        Report::Failed(_) | Report::SandboxFailed(_) | Report::OverlaySandboxFailed(_) => 127.into(),
    }
}

/// Sandbox of the command.
enum GuardSandbox {
    Unrestricted,
    /// No restrictions, but a private folder, which is created in this one.
    InPrivateFolder(PathBuf),
    /// The sandbox of [`super::sandbox`]: writing only in listed folders, no network unless requested.
    Usual(SandboxSpec),
    /// The overlay sandbox: the sandbox of the command inside it, and its memory limit in bytes.
    Overlay(SandboxSpec, Option<u64>),
    /// The read-only sandbox, and the private temporary folder if one could be created.
    ReadOnly(ReadOnlySpec, Option<PathBuf>),
}

impl GuardSandbox {
    /// Decodes the arguments between `guard` and `--`. Also sets up the overlay sandbox if they request one. Fails if
    /// they are invalid: no command runs with fewer restrictions than specified.
    fn from_arguments(lifeline: &mut File) -> Result<Self, Report> {
        let mut arguments = guard_arguments().peekable();
        let kind = arguments.next();
        let sandbox = match kind.as_ref().map_or(Some(INPUT_ARGUMENT), |kind| kind.to_str()) {
            Some(STREAM_ARGUMENT) if arguments.next_if(|argument| argument == PRIVATE_FOLDER_ARGUMENT).is_some() => {
                arguments.next().map(|parent| Self::InPrivateFolder(parent.into()))
            }
            Some(INPUT_ARGUMENT | STREAM_ARGUMENT | TERMINAL_ARGUMENT) => Some(Self::Unrestricted),
            Some(SANDBOX_ARGUMENT) => from_argument(arguments.next()).map(Self::Usual),
            Some(READ_ONLY_ARGUMENT) => from_frame(lifeline).map(|spec| Self::ReadOnly(spec, None)),
            Some(overlay_sandbox::OVERLAY_ARGUMENT | overlay_sandbox::IN_OVERLAY_ARGUMENT) => {
                let spec = OverlaySpec::from_argument(arguments.next()).and_then(|spec| spec.with_sent_paths(lifeline));
                let set_up = spec.and_then(|spec| Ok((overlay_sandbox::set_up(&spec)?, spec.memory)));
                let (inner_spec, memory) = set_up.map_err(Report::OverlaySandboxFailed)?;
                Some(Self::Overlay(inner_spec, memory))
            }
            Some(_) | None => None,
        };
        sandbox.filter(|_| arguments.next().is_none()).ok_or(Report::SandboxFailed(SandboxError::Specification))
    }

    /// Applies the sandbox to this thread and everything it starts.
    fn apply_to_thread(&self) -> Result<(), SandboxError> {
        let is_in_overlay = matches!(self, Self::Overlay(..));
        match self {
            Self::Unrestricted | Self::InPrivateFolder(_) => Ok(()),
            Self::Usual(spec) | Self::Overlay(spec, _) => spec.apply_to_thread(is_in_overlay),
            Self::ReadOnly(spec, private_folder) => spec.apply_to_thread(private_folder.as_deref()),
        }
    }

    /// Creates the private folder if the command gets one, and passes its path to the command. In the read-only sandbox, if
    /// that fails, the command runs without a writable folder.
    fn create_private_folder(&mut self, command: &mut Command) -> io::Result<Option<TempDir>> {
        match self {
            Self::Unrestricted | Self::Usual(_) | Self::Overlay(..) => Ok(None),
            Self::InPrivateFolder(parent) => {
                let folder = create_owner_only_folder(parent)?;
                let path = folder.path().canonicalize()?;
                command.envs(FOLDER_VARIABLES.map(|name| (name, &path))).current_dir(&path);
                Ok(Some(folder))
            }
            Self::ReadOnly(read_only, private_folder) => {
                let folder = create_owner_only_folder(&read_only.temporary).ok();
                *private_folder = folder.as_ref().and_then(|folder| folder.path().canonicalize().ok());
                let path = private_folder.as_deref().unwrap_or(Path::new("/nonexistent"));
                command.envs(["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map(|name| (name, path)));
                Ok(folder)
            }
        }
    }
}

/// Creates a folder that only its owner can open, under a name that cannot be guessed.
fn create_owner_only_folder(parent: &Path) -> io::Result<TempDir> {
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    tempfile::Builder::new().prefix("aye-").permissions(owner_only).tempdir_in(parent)
}

/// Starts the command and waits until all its processes have ended.
fn run_command() -> io::Result<Report> {
    let mut lifeline = open_lifeline()?;
    let mut sandbox = match GuardSandbox::from_arguments(&mut lifeline) {
        Ok(sandbox) => sandbox,
        Err(report) => return Ok(report),
    };
    let mut command_line = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    let program: OsString = command_line.next().ok_or(Errno::INVAL)?;
    setsid()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        // A guard that the command has stopped resumes when aye exits, and notices the closed lifeline.
        rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?;
    }
    let has_input = guard_arguments().any(|argument| argument == INPUT_ARGUMENT);
    let input = has_input.then(|| read_frame(&mut lifeline)).transpose()?;
    let mut command = Command::new(program);
    command.args(command_line);
    if guard_arguments().any(|argument| argument == TERMINAL_ARGUMENT) {
        // The command starts a session, which a leader of a process group cannot.
        command.stdin(io::stdout().as_fd().try_clone_to_owned()?);
    } else if guard_arguments().any(|argument| argument == STREAM_ARGUMENT) {
        command.stdin(io::stdout().as_fd().try_clone_to_owned()?).process_group(0);
    } else {
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).process_group(0);
    }
    // Removed on return, when all processes of the command have ended.
    let _private = sandbox.create_private_folder(&mut command)?;
    if let GuardSandbox::Overlay(spec, memory) = &sandbox {
        overlay_sandbox::start_limit_watch(spec.folder.clone(), *memory);
    }
    let mut child = match start_command(command, sandbox)? {
        Ok(child) => child,
        Err(error) => return Ok(Report::SandboxFailed(error)),
    };
    let shell = Pid::from_child(&child);
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A command that does not read its stdin must not block anything, and may close it.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (sender, events) = channel();
    let requests = sender.clone();
    thread::spawn(move || forward_requests(&mut lifeline, &requests));
    thread::spawn(move || forward_exits(shell, &sender));
    Ok(CommandWatch::new(shell).wait_until_gone(&events))
}

/// Returns the arguments between `guard` and `--`.
fn guard_arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(2).take_while(|argument| argument != "--")
}

/// Starts the command in its sandbox. The inner result is the error if the sandbox could not be set up; the command is
/// then not started.
fn start_command(mut command: Command, sandbox: GuardSandbox) -> io::Result<Result<Child, SandboxError>> {
    if matches!(sandbox, GuardSandbox::Unrestricted | GuardSandbox::InPrivateFolder(_)) {
        return command.spawn().map(Ok);
    }
    let starter = thread::Builder::new().spawn(move || match sandbox.apply_to_thread() {
        Ok(()) => command.spawn().map(Ok),
        Err(error) => Ok(Err(error)),
    })?;
    // A thread that panicked has started nothing.
    starter.join().unwrap_or(Ok(Err(SandboxError::FileRules)))
}

/// Forwards requests from aye.
fn forward_requests(lifeline: &mut File, events: &Sender<GuardEvent>) {
    let mut byte = [0];
    loop {
        let event = match lifeline.read(&mut byte) {
            Ok(1) if byte == [STOP_BYTE] => GuardEvent::Stop,
            Ok(1) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => GuardEvent::LifelineClosed,
        };
        let is_last = matches!(event, GuardEvent::LifelineClosed);
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Forwards the end of the command and of the last child, including adopted ones.
fn forward_exits(shell: Pid, events: &Sender<GuardEvent>) {
    loop {
        let event = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == shell => GuardEvent::Ended(convert_status(status)),
            Ok(_) | Err(Errno::INTR) => continue,
            Err(_) => GuardEvent::NoChildren,
        };
        let is_last = matches!(event, GuardEvent::NoChildren);
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Converts an exit status.
fn convert_status(status: WaitStatus) -> Report {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exit(byte(code)),
        (None, Some(signal)) => Report::Signal(byte(signal)),
        (None, None) => Report::Exit(u8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::overlay_sandbox::{SetupError, SetupStep};

    #[test]
    fn reports_survive_a_round_trip_and_truncated_ones_are_none() {
        for report in [
            Report::Exit(0),
            Report::Exit(137),
            Report::Signal(9),
            Report::Failed(2),
            Report::SandboxFailed(SandboxError::FileRules),
            Report::OverlaySandboxFailed(SetupError { step: SetupStep::UserMapping, errno: 1 }),
        ] {
            let bytes = serde_json::to_vec(&report).unwrap();
            assert_eq!(Report::from_bytes(&bytes), Some(report));
            assert_eq!(Report::from_bytes(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(Report::from_bytes(b""), None);
    }
}
