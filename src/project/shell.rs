//! Runs a command with limits on time and output, and leaves none of its processes running.

pub mod command_control;
mod read_only_run;
mod terminal_run;

use super::Error;
use super::environment::command_environment;
use super::guard::guard_process::{DRAIN_TIME, GUARD_TIMEOUT, GuardProcess, RESUME_INTERVAL};
use super::guard::lifeline::{self, Report};
use super::output::{CommandProgress, LongOutput, OnProgress, Output};
use super::sandbox::SandboxSpec;
use crate::chat::{CommandLine, CommandSandbox};
use command_control::CommandControl;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::{MissedTickBehavior, interval, sleep_until, timeout};

/// Runs commands. Cheap to create; one instance serves the whole program.
#[derive(Clone)]
pub struct Shell {
    program: PathBuf,
    /// Environment of every command, fixed at creation so that the approval prompt shows the actual variables.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// aye's own paths, which no sandboxed command writes.
    pub(super) protected: Vec<PathBuf>,
    /// aye's files of keys, which no sandboxed command reads.
    pub(super) unreadable: Vec<PathBuf>,
    /// Cached scan of every folder in which a command without approval ran.
    scans: read_only_run::SensitiveFileCaches,
    /// Control of the commands that this instance runs, if any.
    control: Option<Arc<CommandControl>>,
}

/// Outcome of a command. A failed command is not an error: the model reads its output like any other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandOutcome {
    /// Interleaved stdout and stderr: the first 24 KB and the last 40 KB, with a line between them that reports the
    /// omitted bytes. Invalid UTF-8 is replaced.
    pub output: String,
    /// Number of bytes omitted from `output`.
    pub omitted: u64,
    /// More of the output, if `output` omits a part of it.
    pub long_output: Option<LongOutput>,
    /// Exit status, if it exited.
    pub exit: Option<i32>,
    /// Signal that killed it, if any.
    pub signal: Option<i32>,
    /// True if it was stopped at its time limit.
    pub timed_out: bool,
    /// True if it was stopped because it wrote more than `OUTPUT_LIMIT`.
    pub exceeded_output: bool,
    /// True if it was stopped through its [`CommandControl`].
    pub stopped: bool,
    /// Run time.
    pub duration: Duration,
    /// Paths of the project that it changed in the overlay sandbox: [`super::rehearsal::Rehearsal::take_changed`].
    pub changed_paths: Vec<PathBuf>,
}

/// Bytes of output after which a command is stopped.
pub const OUTPUT_LIMIT: u64 = 1024 * 1024 * 1024;

/// Maximum length of a command in bytes.
const COMMAND_LIMIT: usize = 128 * 1024 - 1;
/// Bytes of a running command's output that are shown.
const PROGRESS_BYTES: usize = 2048;
/// Minimum interval between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

impl Shell {
    /// Creates the shell. `program` is the path of aye: every command is guarded by a second aye process, started as
    /// `PROGRAM guard`.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            environment: command_environment(std::env::vars_os(), &[]),
            protected: Vec::new(),
            unreadable: Vec::new(),
            scans: Default::default(),
            control: None,
        }
    }

    /// Closes aye's own paths: no sandboxed command writes in the folders `protected` or reads the files
    /// `unreadable`.
    pub fn with_closed_paths(self, protected: Vec<PathBuf>, unreadable: Vec<PathBuf>) -> Self {
        Self { protected, unreadable, scans: Default::default(), ..self }
    }

    /// Returns an instance for one command, which can be detached and stopped through `control`.
    pub fn with_control(&self, control: Arc<CommandControl>) -> Self {
        Self { control: Some(control), ..self.clone() }
    }

    /// Also removes the variables with these names, which hold keys, from the environment of every command.
    pub fn without_variables(self, key_variables: Vec<String>) -> Self {
        Self { environment: command_environment(std::env::vars_os(), &key_variables), ..self }
    }

    /// Returns the variables that a command gets.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Returns the sorted names of the variables that a command gets. Names that are not Unicode are approximated.
    pub fn variable_names(&self) -> Vec<String> {
        let name = |(name, _): &(OsString, OsString)| name.to_string_lossy().into_owned();
        let mut names: Vec<String> = self.environment.iter().map(name).collect();
        names.sort();
        names
    }

    /// Runs a command to completion with `bash -c`, or `sh -c` if bash is not installed. Its stdin is empty, it has no
    /// terminal, and its environment contains no secrets. `progress` receives the last 2 KB of the output, at most
    /// every 100 ms. Dropping the future kills the command and everything it started. Fails only if the command or its
    /// sandbox could not be started. Requires a tokio runtime with I/O and time.
    pub async fn run_command(&self, line: &CommandLine, progress: OnProgress<'_>) -> Result<CommandOutcome, Error> {
        self.run_guarded(line, self.sandbox_arguments(line), std::future::ready(Ok(Vec::new())), progress).await
    }

    /// Returns a copy with another environment, derived from that of every command.
    pub(super) fn with_environment(&self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment, ..self.clone() }
    }

    /// Returns the value of a variable of every command.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_os_str())
    }

    /// Runs a command under a guard with these arguments. `bytes` is awaited after the guard was started; its result is
    /// the first data sent over the lifeline.
    pub(super) async fn run_guarded(
        &self,
        line: &CommandLine,
        guard_arguments: Vec<OsString>,
        bytes: impl Future<Output = io::Result<Vec<u8>>>,
        progress: OnProgress<'_>,
    ) -> Result<CommandOutcome, Error> {
        if !line.folder.is_dir() {
            return Err(Error::Invalid(format!("there is no folder {}", line.folder.display())));
        }
        // The kernel accepts no longer argument, and none with a NUL.
        if line.command.len() > COMMAND_LIMIT || line.command.contains('\0') {
            return Err(Error::Invalid(format!(
                "the command cannot be run: it has {} bytes; the limit is {COMMAND_LIMIT}, and NUL is not allowed. Put it in a file",
                line.command.len()
            )));
        }
        let started = Instant::now();
        let to_error = |source| Error::Io { path: line.folder.clone(), source };
        let mut running = self.start_guard(line, guard_arguments).map_err(to_error)?;
        // If the guard has already exited, this is noticed below.
        let bytes = bytes.await.map_err(to_error)?;
        let _ = running.lifeline.write_all(&bytes).await;
        let end = running.read_until_end(started, line.seconds, progress).await.map_err(to_error)?;
        let (exit, signal) = match end.report {
            Some(Report::Exit(status)) => (Some(i32::from(status)), None),
            Some(Report::Signal(signal)) => (None, Some(i32::from(signal))),
            Some(Report::SandboxFailed(error)) => return Err(Error::SandboxFailed(error)),
            Some(Report::OverlaySandboxFailed(error)) => return Err(Error::OverlaySandboxFailed(error)),
            Some(Report::Failed(errno)) => return Err(to_error(io::Error::from_raw_os_error(errno.into()))),
            None => (None, Some(KILL)),
        };
        let long_output = end.output.long_output();
        let (output, omitted) = end.output.into_text();
        Ok(CommandOutcome {
            output,
            omitted,
            long_output,
            exit,
            signal,
            timed_out: end.timed_out,
            exceeded_output: end.exceeded_output,
            stopped: end.stopped,
            duration: started.elapsed(),
            changed_paths: Vec::new(),
        })
    }

    /// Starts the guard, which starts the command.
    fn start_guard(&self, line: &CommandLine, guard_arguments: Vec<OsString>) -> io::Result<RunningCommand> {
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.program);
        command
            .arg("guard")
            .args(guard_arguments)
            .args(["--", shell_program(), "-c", &line.command])
            .current_dir(&line.folder)
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let (guard, lifeline) = GuardProcess::start(command, &self.environment)?;
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        Ok(RunningCommand { guard, lifeline, pipe, output: Output::keeping_middle(), control: self.control.clone() })
    }

    /// Returns the guard's arguments for the sandbox shown in the approval prompt.
    fn sandbox_arguments(&self, line: &CommandLine) -> Vec<OsString> {
        let CommandSandbox::Enforced(access) = &line.sandbox else { return Vec::new() };
        let spec = SandboxSpec {
            folder: line.folder.clone(),
            access: (**access).clone(),
            protected: self.protected.clone(),
            unreadable: self.unreadable.clone(),
        };
        spec.to_arguments().into()
    }
}

/// SIGKILL.
const KILL: i32 = 9;

/// Returns the shell that interprets the command.
fn shell_program() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("bash").is_file()) { "bash" } else { "sh" }
}

/// A running command. Dropping it closes the lifeline, which makes the guard end everything.
struct RunningCommand {
    guard: GuardProcess,
    lifeline: UnixStream,
    pipe: pipe::Receiver,
    output: Output,
    control: Option<Arc<CommandControl>>,
}

/// End of a command.
struct CommandEnd {
    output: Output,
    report: Option<Report>,
    timed_out: bool,
    exceeded_output: bool,
    stopped: bool,
}

impl RunningCommand {
    /// Reads the output until the guard reports the end.
    async fn read_until_end(
        mut self,
        started: Instant,
        seconds: u64,
        progress: OnProgress<'_>,
    ) -> io::Result<CommandEnd> {
        let mut buffer = vec![0; 64 * 1024];
        let mut report = Vec::new();
        let mut deadline = started + Duration::from_secs(seconds.min(YEAR));
        let (mut timed_out, mut exceeded_output, mut stopped, mut is_open) = (false, false, false, true);
        let control = self.control.clone();
        let (mut last_progress, mut has_new_output) = (started, false);
        let mut resume_ticks = interval(RESUME_INTERVAL);
        resume_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let has_guard_ended = loop {
            tokio::select! {
                result = self.pipe.read(&mut buffer), if is_open => match result? {
                    0 => is_open = false,
                    count => {
                        self.output.push(&buffer[..count]);
                        has_new_output = true;
                        if self.output.received > OUTPUT_LIMIT && !timed_out && !exceeded_output && !stopped {
                            exceeded_output = true;
                            self.request_stop().await;
                            deadline = Instant::now() + GUARD_TIMEOUT;
                        }
                    }
                },
                result = self.lifeline.read_buf(&mut report) => if !matches!(result, Ok(1..)) { break true },
                () = wait_for_stop_request(control.as_deref()), if !timed_out && !exceeded_output && !stopped => {
                    stopped = true;
                    self.request_stop().await;
                    deadline = Instant::now() + GUARD_TIMEOUT;
                }
                () = sleep_until(deadline.into()) => {
                    if timed_out || exceeded_output || stopped {
                        break false;
                    }
                    if control.as_ref().is_some_and(|control| control.is_detached()) {
                        deadline = Instant::now() + Duration::from_secs(YEAR);
                        continue;
                    }
                    timed_out = true;
                    self.request_stop().await;
                    deadline = Instant::now() + GUARD_TIMEOUT;
                }
                () = sleep_until((last_progress + PROGRESS_INTERVAL).into()), if has_new_output => {}
                // The command may stop its guard with SIGSTOP at any time, and a stopped guard cannot end the command.
                _ = resume_ticks.tick(), if timed_out || exceeded_output || stopped => self.guard.resume(),
            }
            if has_new_output && last_progress.elapsed() >= PROGRESS_INTERVAL {
                progress(CommandProgress {
                    latest: &self.output.latest_output(PROGRESS_BYTES),
                    new_output: &self.output.take_new(),
                });
                (last_progress, has_new_output) = (Instant::now(), false);
            }
        };
        let report = Report::from_bytes(&report);
        if !has_guard_ended || report.is_none() {
            self.guard.end_without_guard();
        }
        if is_open {
            let _ = timeout(DRAIN_TIME, self.drain_pipe(&mut buffer)).await;
        }
        self.guard.collect_exit().await;
        if control.is_some() {
            // The output of a background command is read piece by piece, and this is the last one.
            progress(CommandProgress {
                latest: &self.output.latest_output(PROGRESS_BYTES),
                new_output: &self.output.take_new(),
            });
        }
        Ok(CommandEnd { output: std::mem::take(&mut self.output), report, timed_out, exceeded_output, stopped })
    }

    /// Requests the guard to stop the command.
    async fn request_stop(&mut self) {
        self.guard.resume();
        // A guard that has exited has already reported the reason on the same socket.
        let _ = self.lifeline.write_all(&[lifeline::STOP_BYTE]).await;
    }

    /// Reads the remaining bytes from the pipe.
    async fn drain_pipe(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        loop {
            match self.pipe.read(buffer).await? {
                0 => return Ok(()),
                count => self.output.push(&buffer[..count]),
            }
        }
    }
}

/// Waits until the end of the command is requested; forever if nothing controls it.
async fn wait_for_stop_request(control: Option<&CommandControl>) {
    match control {
        Some(control) => control.wait_for_stop_request().await,
        None => std::future::pending().await,
    }
}

/// Seconds of a year. No command runs longer, and a greater time limit could overflow the clock.
const YEAR: u64 = 365 * 24 * 60 * 60;
