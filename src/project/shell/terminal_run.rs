//! Runs a command of the user: with their rights and whole environment, and in a terminal of its own.

use super::{COMMAND_LIMIT, CommandOutcome, DRAIN_TIME, KILL, OUTPUT_LIMIT, PROGRESS_BYTES, PROGRESS_INTERVAL, Shell};
use crate::project::Error;
use crate::project::command_terminal::{CommandTerminal, RunningTerminal};
use crate::project::guard::TERMINAL_ARGUMENT;
use crate::project::guard::guard_process::{GUARD_TIMEOUT, GuardProcess, RESUME_INTERVAL};
use crate::project::guard::lifeline::{self, Report};
use crate::project::output::{CommandProgress, OnProgress};
use std::ffi::OsString;
use std::io::{self, PipeWriter};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::time::{interval, sleep, timeout};

/// Variables that differ from the user's: a pager would keep the output from the transcript.
const PAGERS: [(&str, &str); 2] = [("PAGER", "cat"), ("GIT_PAGER", "cat")];

impl Shell {
    /// Runs a command of the user in `folder` with `$SHELL -c`, or with bash or sh if that is not set. It has no
    /// sandbox, no time limit and the environment of this program. `terminal` hands its terminal over; `needs_keys` is
    /// notified once it waits for keys. Dropping the future kills the command and everything it started.
    pub async fn run_in_terminal(
        &self,
        command: &str,
        folder: &Path,
        terminal: &CommandTerminal,
        progress: OnProgress<'_>,
        needs_keys: &Notify,
    ) -> Result<CommandOutcome, Error> {
        if command.len() > COMMAND_LIMIT || command.contains('\0') {
            let length = command.len();
            return Err(Error::Invalid(format!(
                "the command has {length} bytes; the limit is {COMMAND_LIMIT}, and NUL is not allowed"
            )));
        }
        let started = Instant::now();
        let to_error = |source| Error::Io { path: folder.to_owned(), source };
        let mut running = self.start_in_terminal(command, folder, terminal).map_err(to_error)?;
        let (report, exceeded_output) = running.wait_for_end(progress, needs_keys).await;
        let (exit, signal) = match report {
            Some(Report::Exit(status)) => (Some(i32::from(status)), None),
            Some(Report::Signal(signal)) => (None, Some(i32::from(signal))),
            Some(Report::Failed(errno)) => return Err(to_error(io::Error::from_raw_os_error(errno.into()))),
            Some(Report::SandboxFailed(error)) => return Err(Error::SandboxFailed(error)),
            Some(Report::OverlaySandboxFailed(error)) => return Err(Error::OverlaySandboxFailed(error)),
            None => (None, Some(KILL)),
        };
        let (output, omitted) = std::mem::take(&mut running.shown.content().output).into_text();
        let duration = started.elapsed();
        Ok(CommandOutcome { output, omitted, exit, signal, exceeded_output, duration, ..CommandOutcome::default() })
    }

    /// Starts the guard in a new pseudo-terminal. The guard starts the command.
    fn start_in_terminal<'a>(
        &self,
        command: &str,
        folder: &Path,
        terminal: &'a CommandTerminal,
    ) -> io::Result<TerminalCommand<'a>> {
        let (shown, slave, end) = RunningTerminal::open()?;
        let mut guard = Command::new(&self.program);
        guard.arg("guard").arg(TERMINAL_ARGUMENT).arg("--");
        guard.arg(&self.program).args(["terminal", "--"]).arg(user_shell()).arg("-c").arg(command);
        guard.current_dir(folder).stdout(slave.try_clone()?).stderr(slave);
        let (guard, lifeline) = GuardProcess::start(guard, &user_environment())?;
        shown.start_reader()?;
        terminal.set_running(Some(shown.clone()));
        Ok(TerminalCommand { guard, lifeline, shown, terminal, _end: end })
    }
}

/// Returns the environment of this program, without pagers.
fn user_environment() -> Vec<(OsString, OsString)> {
    let is_kept = |(name, _): &(OsString, OsString)| PAGERS.iter().all(|(pager, _)| name != pager);
    let pagers = PAGERS.map(|(name, value)| (name.into(), value.into()));
    std::env::vars_os().filter(is_kept).chain(pagers).collect()
}

/// Programs that an account without a login has as its shell: they run no command.
const NO_SHELLS: [&str; 2] = ["nologin", "false"];

/// Returns the user's shell.
fn user_shell() -> OsString {
    let is_usable = |shell: &OsString| {
        let path = Path::new(shell);
        let is_shell = path.file_name().is_some_and(|name| NO_SHELLS.iter().all(|program| name != *program));
        path.is_absolute() && path.is_file() && is_shell
    };
    std::env::var_os("SHELL").filter(is_usable).unwrap_or_else(|| super::shell_program().into())
}

/// A command that runs in its terminal. Dropping it closes the lifeline, which makes the guard end everything.
struct TerminalCommand<'a> {
    guard: GuardProcess,
    lifeline: UnixStream,
    shown: Arc<RunningTerminal>,
    terminal: &'a CommandTerminal,
    /// Dropped last, when the output is complete: forwarding to the user's terminal ends then.
    _end: PipeWriter,
}

impl TerminalCommand<'_> {
    /// Waits until the guard reports the end and the output is complete. Also returns whether the command was stopped
    /// because of its output.
    async fn wait_for_end(&mut self, progress: OnProgress<'_>, needs_keys: &Notify) -> (Option<Report>, bool) {
        let mut report = Vec::new();
        let (mut exceeded_output, mut has_reported_need) = (false, false);
        let mut stop_deadline = None;
        let mut resume_ticks = interval(RESUME_INTERVAL);
        let has_guard_ended = loop {
            tokio::select! {
                result = self.lifeline.read_buf(&mut report) => if !matches!(result, Ok(1..)) { break true },
                () = self.shown.changed.notified() => {}
                // A command may stop its guard at any time, and a stopped guard cannot end it.
                _ = resume_ticks.tick(), if exceeded_output => self.guard.resume(),
            }
            let (received, is_needed) = {
                let content = self.shown.content();
                (content.output.received, content.needs_keys)
            };
            if is_needed && !std::mem::replace(&mut has_reported_need, true) {
                needs_keys.notify_one();
            }
            if received > OUTPUT_LIMIT && !std::mem::replace(&mut exceeded_output, true) {
                self.guard.resume();
                // A guard that has exited has already reported the reason on the same socket.
                let _ = self.lifeline.write_all(&[lifeline::STOP_BYTE]).await;
                stop_deadline = Some(Instant::now() + GUARD_TIMEOUT);
            }
            if stop_deadline.is_some_and(|deadline| Instant::now() > deadline) {
                break false;
            }
            self.report_progress(progress);
            // One report for all that is printed in this time.
            let _ = timeout(PROGRESS_INTERVAL, self.lifeline.readable()).await;
        };
        let report = Report::from_bytes(&report);
        if !has_guard_ended || report.is_none() {
            self.shown.kill_session();
            self.guard.end_without_guard();
        }
        let is_drained = async {
            while !self.shown.content().is_drained {
                sleep(DRAIN_INTERVAL).await;
            }
        };
        let _ = timeout(DRAIN_TIME, is_drained).await;
        self.guard.collect_exit().await;
        (report, exceeded_output)
    }

    fn report_progress(&self, progress: OnProgress<'_>) {
        let mut content = self.shown.content();
        let (latest, new_output) = (content.output.latest_output(PROGRESS_BYTES), content.output.take_new());
        drop(content);
        progress(CommandProgress { latest: &latest, new_output: &new_output });
    }
}

/// Time between two looks at whether all output was read.
const DRAIN_INTERVAL: Duration = Duration::from_millis(5);

impl Drop for TerminalCommand<'_> {
    fn drop(&mut self) {
        self.terminal.set_running(None);
        self.shown.close();
    }
}
