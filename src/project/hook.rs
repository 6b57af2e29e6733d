//! Runs a hook: a program of the user that reviews a call. It gets one question on its stdin and writes one answer to
//! its stdout.
//!
//! Like a command it runs under the guard: without a terminal, in its own process group, and no process that it started
//! outlives its answer, its time limit, or aye. It runs in the user's home folder instead of the project, whose files
//! must not influence it.

use super::environment::command_environment;
use super::guard;
use super::guard::guard_process::{DRAIN_TIME, GuardProcess};
use super::guard::lifeline::Report;
use super::spec_encoding::frame_bytes;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Maximum size of an answer in bytes.
pub const ANSWER_LIMIT: usize = 64 * 1024;
/// Bytes kept of a hook's stderr. The rest is read and dropped.
const STDERR_LIMIT: usize = 4 * 1024;

/// A hook of the settings.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Path of aye, which guards the hook.
    aye_path: PathBuf,
    /// The program and its arguments. Empty if the settings name none.
    command_line: Vec<String>,
    /// Folder in which it runs.
    working_folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    time_limit: Duration,
}

impl Hook {
    /// Creates a hook with this command line, which runs in the user's home folder `working_folder` for at most
    /// `seconds`. `aye_path` is the path of aye. The hook gets no environment variable whose name suggests a secret or
    /// is one of `key_variables`, the variables that hold keys.
    pub fn new(
        aye_path: PathBuf,
        command_line: Vec<String>,
        working_folder: PathBuf,
        key_variables: &[String],
        seconds: u64,
    ) -> Self {
        let environment = command_environment(std::env::vars_os(), key_variables);
        Self { aye_path, command_line, working_folder, environment, time_limit: Duration::from_secs(seconds) }
    }

    /// Sends the question and returns the answer as it was written, or the reason why there is none. Dropping the
    /// future kills the program and everything it started. Requires a tokio runtime with I/O and time.
    pub async fn ask_hook(&self, question: &str) -> Result<String, String> {
        if self.command_line.is_empty() {
            return Err("its command is missing in the settings".to_owned());
        }
        let running = self.start_hook().map_err(|error| format!("it could not be started: {error}"))?;
        match timeout(self.time_limit, running.read_answer(question)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("it did not answer within {} s and was stopped", self.time_limit.as_secs())),
        }
    }

    fn start_hook(&self) -> io::Result<RunningHook> {
        let mut command_line = self.command_line.clone();
        if let Some(program) = command_line.first_mut()
            && let Some(relative) = program.strip_prefix("~/")
        {
            *program = self.working_folder.join(relative).to_string_lossy().into_owned();
        }
        let mut command = Command::new(&self.aye_path);
        command.args(["guard", guard::INPUT_ARGUMENT, "--"]).args(command_line).current_dir(&self.working_folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut guard, lifeline) = GuardProcess::start(command, &self.environment)?;
        Ok(RunningHook { out: guard.0.stdout.take(), err: guard.0.stderr.take(), guard, lifeline })
    }
}

/// A running hook. Dropping it closes the lifeline, which makes the guard end everything.
struct RunningHook {
    guard: GuardProcess,
    lifeline: UnixStream,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
}

impl RunningHook {
    async fn read_answer(mut self, question: &str) -> Result<String, String> {
        // A guard that has exited has already reported the reason on the same socket.
        let _ = self.lifeline.write_all(&frame_bytes(question.as_bytes())).await;
        let (mut answer, mut stderr_bytes, mut report) = (Vec::new(), Vec::new(), Vec::new());
        let (mut out, mut err) = (self.out.take(), self.err.take());
        {
            let read_output = async {
                // Stops reading once the answer exceeds the limit.
                tokio::try_join!(
                    read_limited(&mut out, &mut answer, ANSWER_LIMIT),
                    read_beginning(&mut err, &mut stderr_bytes)
                )
                .map(drop)
            };
            tokio::pin!(read_output);
            let mut is_open = true;
            loop {
                tokio::select! {
                    // Read its last output before handling its end.
                    biased;
                    result = &mut read_output, if is_open => {
                        is_open = false;
                        result?;
                    }
                    result = self.lifeline.read_buf(&mut report) => if !matches!(result, Ok(1..)) { break },
                }
            }
            if is_open && let Ok(result) = timeout(DRAIN_TIME, read_output).await {
                result?;
            }
        }
        let report = Report::from_bytes(&report);
        if report.is_none() {
            self.guard.end_without_guard();
        }
        self.guard.collect_exit().await;
        match report {
            Some(Report::Exit(0)) => String::from_utf8(answer).map_err(|_| "its answer is not valid UTF-8".to_owned()),
            report => Err(explain_end(report, &stderr_bytes)),
        }
    }
}

/// Explains how a program ended that was started without a sandbox, worded to follow its name, with the first line that
/// it wrote to its stderr. `report` is `None` if the guard was killed.
pub(super) fn explain_end(report: Option<Report>, stderr_bytes: &[u8]) -> String {
    let reason = first_line(stderr_bytes);
    let suffix = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match report {
        Some(Report::Exit(status)) => format!("it exited with status {status}{suffix}"),
        Some(Report::Signal(signal)) => format!("it was killed by signal {signal}{suffix}"),
        Some(Report::Failed(errno)) => {
            format!("it could not be started: {}", io::Error::from_raw_os_error(errno.into()))
        }
        // It runs without a sandbox.
        Some(Report::SandboxFailed(_) | Report::OverlaySandboxFailed(_)) => "it was not started".to_owned(),
        None => "its guard was lost".to_owned(),
    }
}

/// Reads to the end. Fails as soon as the limit is exceeded.
async fn read_limited(
    source: &mut Option<impl AsyncRead + Unpin>,
    buffer: &mut Vec<u8>,
    limit: usize,
) -> Result<(), String> {
    let Some(source) = source else { return Ok(()) };
    while let Ok(1..) = source.read_buf(buffer).await {
        if buffer.len() > limit {
            return Err(format!("it wrote more than {} KB and was stopped", limit / 1024));
        }
    }
    Ok(())
}

/// Reads to the end and keeps the first [`STDERR_LIMIT`] bytes.
async fn read_beginning(source: &mut Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> Result<(), String> {
    let Some(source) = source else { return Ok(()) };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        let space = STDERR_LIMIT - kept.len();
        kept.extend_from_slice(&buffer[..count.min(space)]);
    }
    Ok(())
}

fn first_line(stderr_bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr_bytes);
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
