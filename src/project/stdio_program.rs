//! Runs a program that exchanges messages with aye over its stdin and stdout, such as an MCP server.
//!
//! Like a command it runs under the guard: without a terminal, in its own process group, and neither it nor a process
//! that it started outlives aye. It has no sandbox. Its stdin and stdout are one socket.

use super::guard;
use super::guard::guard_process::{DRAIN_TIME, GuardProcess};
use super::guard::lifeline::Report;
use super::hook::explain_end;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes kept of what the program writes to its stderr. The rest is read and dropped.
const STDERR_LIMIT: usize = 4 * 1024;

/// Folder in which a program runs.
#[derive(Debug, Clone, Copy)]
pub enum ProgramFolder<'a> {
    Existing(&'a Path),
    /// A new folder in this one that only the user can open. It is also the program's home folder and the one for its
    /// temporary files, and is removed once all its processes have ended, even if aye was killed.
    PrivateIn(&'a Path),
}

/// A running program. Dropping it closes the lifeline, which makes the guard kill it and everything it started.
pub struct StdioProgram {
    guard: GuardProcess,
    lifeline: UnixStream,
    /// What the guard has reported.
    report: Vec<u8>,
    stderr_bytes: Arc<Mutex<Vec<u8>>>,
    /// Ends once all of stderr was read.
    stderr_reader: Option<JoinHandle<()>>,
}

impl StdioProgram {
    /// Starts the program in this folder, with exactly this environment and the variables of a private folder, under the
    /// guard `aye_path`. Returns the socket that is its stdin and stdout. Requires a tokio runtime with I/O and time.
    pub fn start(
        aye_path: &Path,
        command_line: &[String],
        folder: ProgramFolder<'_>,
        environment: &[(OsString, OsString)],
    ) -> io::Result<(Self, UnixStream)> {
        let (socket, program_end) = std::os::unix::net::UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        let mut command = Command::new(aye_path);
        command.args(["guard", guard::STREAM_ARGUMENT]);
        match folder {
            ProgramFolder::Existing(folder) => command.current_dir(folder),
            ProgramFolder::PrivateIn(parent) => {
                command.arg(guard::PRIVATE_FOLDER_ARGUMENT).arg(parent).current_dir("/")
            }
        };
        command.arg("--").args(command_line);
        command.stdout(OwnedFd::from(program_end)).stderr(Stdio::piped());
        let (mut guard, lifeline) = GuardProcess::start(command, environment)?;
        let stderr_bytes = Arc::<Mutex<Vec<u8>>>::default();
        let stderr = guard.0.stderr.take();
        let stderr_reader = stderr.map(|stderr| tokio::spawn(collect_stderr(stderr, stderr_bytes.clone())));
        let report = Vec::new();
        Ok((Self { guard, lifeline, report, stderr_bytes, stderr_reader }, UnixStream::from_std(socket)?))
    }

    /// Explains how the program ended, worded to follow its name; `None` if it still runs.
    pub async fn explain_end(&mut self) -> Option<String> {
        let read_report = async { while let Ok(1..) = self.lifeline.read_buf(&mut self.report).await {} };
        if timeout(DRAIN_TIME, read_report).await.is_err() && self.report.is_empty() {
            return None;
        }
        self.guard.collect_exit().await;
        // A process that the program left behind may hold stderr open.
        if let Some(reader) = &mut self.stderr_reader
            && timeout(DRAIN_TIME, reader).await.is_ok()
        {
            self.stderr_reader = None;
        }
        let stderr_bytes = self.stderr_bytes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(explain_end(Report::from_bytes(&self.report), &stderr_bytes))
    }
}

/// Reads to the end and keeps the first [`STDERR_LIMIT`] bytes.
async fn collect_stderr(mut stderr: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let space = STDERR_LIMIT - kept.len();
        kept.extend_from_slice(&buffer[..count.min(space)]);
    }
}
