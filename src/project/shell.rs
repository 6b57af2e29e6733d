//! Runs a command with limits on time and output, and leaves none of its processes running.

mod read_only;

use super::Error;
use super::environment::environment;
use super::family::Family;
use super::guard::{self, Report};
use super::output::{Output, Shown};
use super::sandbox::{Confines, Refused};
use crate::chat::{CommandLine, Walls};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{sleep_until, timeout};

/// Runs commands. Cheap to create; one instance serves the whole program.
#[derive(Clone)]
pub struct Shell {
    program: PathBuf,
    /// Environment of every command, fixed at creation so that what is shown of it stays true.
    environment: Vec<(OsString, OsString)>,
    /// Paths that no sandboxed command writes, and files that none reads.
    closed: (Vec<PathBuf>, Vec<PathBuf>),
    /// Withheld files of every folder in which a command without approval ran.
    withheld: read_only::Lists,
}

/// Outcome of a command. A failed command is not an error: the model reads its output like any other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Interleaved stdout and stderr: the first 24 KB and the last 40 KB, with a line between them that reports the
    /// omitted bytes. Invalid UTF-8 is replaced.
    pub output: String,
    /// Number of bytes omitted from `output`.
    pub omitted: u64,
    /// Exit status, if it exited.
    pub exit: Option<i32>,
    /// Signal that killed it, if any.
    pub signal: Option<i32>,
    /// True if it was stopped at its time limit.
    pub timed_out: bool,
    /// True if it was stopped because it wrote more than `OUTPUT_LIMIT`.
    pub flooded: bool,
    /// Run time.
    pub took: Duration,
    /// Paths of the project that it changed in the overlay sandbox: [`super::rehearsal::Rehearsal::take_changed`].
    pub changed: Vec<PathBuf>,
}

/// Bytes of output after which a command is stopped.
pub const FLOOD: u64 = 1024 * 1024 * 1024;

/// Maximum length of a command in bytes.
const LONGEST: usize = 128 * 1024 - 1;
/// Bytes of a running command's output that are shown.
const SHOWN: usize = 2048;
/// Minimum interval between two progress reports.
const PACE: Duration = Duration::from_millis(100);
/// Time after which a guard that should have ended everything is not waited for any longer.
const OVERDUE: Duration = Duration::from_secs(5);
/// Time for which output is read after the guard has exited. Only processes that escaped the guard could still write.
const LINGER: Duration = Duration::from_millis(200);

impl Shell {
    /// Creates the shell. `program` is the path of aye: every command is guarded by a second aye process, started as
    /// `PROGRAM guard`.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            environment: environment(std::env::vars_os(), &[]),
            closed: Default::default(),
            withheld: Default::default(),
        }
    }

    /// Closes aye's own paths: no sandboxed command writes in the folders `keep` or reads the files `hide`.
    pub fn keeping(self, keep: Vec<PathBuf>, hide: Vec<PathBuf>) -> Self {
        Self { closed: (keep, hide), withheld: Default::default(), ..self }
    }

    /// Removes further variables that hold keys from the environment of every command.
    pub fn without(self, keys: Vec<String>) -> Self {
        Self { environment: environment(std::env::vars_os(), &keys), ..self }
    }

    /// Returns the sorted names of the variables that a command gets. Names that are not Unicode are approximated.
    pub fn names(&self) -> Vec<String> {
        let name = |(name, _): &(OsString, OsString)| name.to_string_lossy().into_owned();
        let mut names: Vec<String> = self.environment.iter().map(name).collect();
        names.sort();
        names
    }

    /// Runs a command to completion with `bash -c`, or `sh -c` if bash is not installed. Its stdin is empty, it has no
    /// terminal, and its environment contains no secrets. `progress` receives the last 2 KB of the output, at most
    /// every 100 ms. Dropping the future kills the command and everything it started. Fails only if the command or its
    /// sandbox could not be started. Requires a tokio runtime with I/O and time.
    pub async fn run(
        &self,
        line: &CommandLine,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        self.run_guarded(line, self.walls(line), std::future::ready(Ok(Vec::new())), progress).await
    }

    /// Returns a copy with another environment, derived from that of every command.
    pub(super) fn with_environment(&self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment, ..self.clone() }
    }

    /// Returns the environment of every command.
    pub(super) fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Runs a command under a guard with these arguments. `bytes` are sent over the lifeline first, and are awaited
    /// after the guard was started.
    pub(super) async fn run_guarded(
        &self,
        line: &CommandLine,
        guard_arguments: Vec<OsString>,
        bytes: impl Future<Output = io::Result<Vec<u8>>>,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        if !line.folder.is_dir() {
            return Err(Error::BadPath(format!("there is no folder {}", line.folder.display())));
        }
        // The kernel accepts no longer argument, and none with a NUL.
        if line.command.len() > LONGEST || line.command.contains('\0') {
            return Err(Error::BadPath(format!(
                "the command cannot be run: it has {} bytes; the limit is {LONGEST}, and NUL is not allowed. Put it in a file",
                line.command.len()
            )));
        }
        let started = Instant::now();
        let failed = |source| Error::Io { path: line.folder.clone(), source };
        let mut running = self.start(line, guard_arguments).map_err(failed)?;
        // If the guard has already exited, this is noticed below.
        let bytes = bytes.await.map_err(failed)?;
        let _ = running.lifeline.write_all(&bytes).await;
        let end = running.watch(started, line.seconds, progress).await.map_err(failed)?;
        let (exit, signal) = match end.report {
            Some(Report::Exit(status)) => (Some(i32::from(status)), None),
            Some(Report::Signal(signal)) => (None, Some(i32::from(signal))),
            Some(Report::Unwalled(byte)) => {
                return Err(Error::Unwalled(Refused::of(byte).unwrap_or(Refused::Files)));
            }
            Some(Report::Unstaged(why)) => return Err(Error::Unstaged(why)),
            Some(Report::Failed(errno)) => return Err(failed(io::Error::from_raw_os_error(errno.into()))),
            None => (None, Some(KILL)),
        };
        let (output, omitted) = end.output.finish();
        Ok(Ran {
            output,
            omitted,
            exit,
            signal,
            timed_out: end.timed_out,
            flooded: end.flooded,
            took: started.elapsed(),
            changed: Vec::new(),
        })
    }

    /// Starts the guard, which starts the command.
    fn start(&self, line: &CommandLine, guard_arguments: Vec<OsString>) -> io::Result<Running> {
        let (ours, theirs) = UnixStream::pair()?;
        let (reader, writer) = io::pipe()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.program);
        command
            .arg("guard")
            .args(guard_arguments)
            .args(["--", shell(), "-c", &line.command])
            .current_dir(&line.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(OwnedFd::from(theirs))
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let guard = command.spawn()?;
        // It still holds the writing end of the pipe, which would keep the output open.
        drop(command);
        Ok(Running {
            guard,
            lifeline: tokio::net::UnixStream::from_std(ours)?,
            pipe: pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?,
            output: Output::default(),
        })
    }
}

impl Shell {
    /// Returns the paths that no sandboxed command writes, and the files that none reads.
    pub(super) fn closed(&self) -> (&[PathBuf], &[PathBuf]) {
        (&self.closed.0, &self.closed.1)
    }

    /// Returns the guard's arguments for the sandbox shown in the approval prompt.
    fn walls(&self, line: &CommandLine) -> Vec<OsString> {
        let Walls::Raised(reach) = &line.walls else { return Vec::new() };
        let (keep, hide) = self.closed.clone();
        Confines { folder: line.folder.clone(), reach: (**reach).clone(), keep, hide }.arguments()
    }
}

/// SIGKILL.
const KILL: i32 = 9;

/// Returns the shell that interprets the command.
fn shell() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("bash").is_file()) { "bash" } else { "sh" }
}

/// A running command. Dropping it closes the lifeline, which makes the guard end everything.
struct Running {
    guard: Child,
    lifeline: tokio::net::UnixStream,
    pipe: pipe::Receiver,
    output: Output,
}

/// End of a command.
struct End {
    output: Output,
    report: Option<Report>,
    timed_out: bool,
    flooded: bool,
}

impl Running {
    /// Reads the output until the guard reports the end.
    async fn watch(
        mut self,
        started: Instant,
        seconds: u64,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> io::Result<End> {
        let mut buffer = vec![0; 64 * 1024];
        let mut report = Vec::new();
        let mut deadline = started + Duration::from_secs(seconds.min(YEAR));
        let (mut timed_out, mut flooded, mut open) = (false, false, true);
        let (mut shown, mut fresh) = (started, false);
        let is_reported = loop {
            tokio::select! {
                read = self.pipe.read(&mut buffer), if open => match read? {
                    0 => open = false,
                    bytes => {
                        self.output.push(&buffer[..bytes]);
                        fresh = true;
                        if self.output.seen() > FLOOD && !timed_out && !flooded {
                            flooded = true;
                            self.stop().await;
                            deadline = Instant::now() + OVERDUE;
                        }
                    }
                },
                read = self.lifeline.read_buf(&mut report) => match read {
                    Ok(0) | Err(_) => break true,
                    Ok(_) => {}
                },
                () = sleep_until(deadline.into()) => {
                    if timed_out || flooded {
                        break false;
                    }
                    timed_out = true;
                    self.stop().await;
                    deadline = Instant::now() + OVERDUE;
                }
                () = sleep_until((shown + PACE).into()), if fresh => {}
            }
            if fresh && shown.elapsed() >= PACE {
                progress(Shown { latest: &self.output.latest(SHOWN), more: &self.output.fresh() });
                (shown, fresh) = (Instant::now(), false);
            }
        };
        let report = Report::read(&report);
        if !is_reported || report.is_none() {
            self.end_without_guard();
        }
        if open {
            let _ = timeout(LINGER, self.drain(&mut buffer)).await;
        }
        // The guard has ended or was killed. This only collects its exit status, so that it does not stay a zombie.
        let _ = timeout(LINGER, self.guard.wait()).await;
        Ok(End { output: std::mem::take(&mut self.output), report, timed_out, flooded })
    }

    /// Requests the guard to stop the command.
    async fn stop(&mut self) {
        self.wake();
        // A guard that has exited has already reported the reason on the same socket.
        let _ = self.lifeline.write_all(&[guard::STOP]).await;
    }

    /// Continues the guard, in case the command stopped it.
    fn wake(&self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Returns the guard's process id, while it cannot have been reused.
    fn pid(&self) -> Option<Pid> {
        self.guard.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Kills the processes that can be found if the command killed or stopped its guard.
    fn end_without_guard(&mut self) {
        if let Some(pid) = self.pid() {
            Family::Of(pid).kill();
            Family::Session(pid).kill();
        }
        let _ = self.guard.start_kill();
    }

    /// Reads the remaining bytes from the pipe.
    async fn drain(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        loop {
            match self.pipe.read(buffer).await? {
                0 => return Ok(()),
                bytes => self.output.push(&buffer[..bytes]),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.wake();
    }
}

/// Seconds. Longer than any command runs, and small enough for clock arithmetic.
const YEAR: u64 = 365 * 24 * 60 * 60;
