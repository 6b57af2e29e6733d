//! Runs a command, bounded in time and output, and leaves nothing of it running.

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

/// Runs commands. Cheap to make; one serves the whole program.
#[derive(Clone)]
pub struct Shell {
    program: PathBuf,
    /// What every command finds: fixed when this is made, so that what is shown of it stays true.
    environment: Vec<(OsString, OsString)>,
    /// Where no walled command writes, and what none reads.
    closed: (Vec<PathBuf>, Vec<PathBuf>),
    /// What is withheld from commands without approval, for every folder that one ran in.
    withheld: read_only::Lists,
}

/// What came of a command. Not having ended well is no error: the model reads it like the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What it wrote to stdout and stderr, in the order it was written; the first 24 KB and the last 40 KB, with a
    /// line between them that says how much is left out. What is no UTF-8 is replaced.
    pub output: String,
    /// Bytes left out of `output`.
    pub omitted: u64,
    /// The exit status, where it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// Whether it was stopped because its time was up.
    pub timed_out: bool,
    /// Whether it was stopped because it wrote more than [`FLOOD`].
    pub flooded: bool,
    /// From its start to its end.
    pub took: Duration,
    /// The paths of the project that it changed, where it ran on the stage: [`super::rehearsal::Rehearsal::take_changed`].
    pub changed: Vec<PathBuf>,
}

/// Bytes a command may write in all before it is stopped.
pub const FLOOD: u64 = 1024 * 1024 * 1024;

/// Bytes of the longest command.
const LONGEST: usize = 128 * 1024 - 1;
/// Bytes shown of a running command.
const SHOWN: usize = 2048;
/// Between one showing and the next.
const PACE: Duration = Duration::from_millis(100);
/// A guard that has not ended everything this long after it should have is not waited for.
const OVERDUE: Duration = Duration::from_secs(5);
/// How long output may still come when the guard is gone. Only what escaped it could write any.
const LINGER: Duration = Duration::from_millis(200);

impl Shell {
    /// `program` is aye itself: every command is watched over by a second one, started as `PROGRAM guard`.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            environment: environment(std::env::vars_os(), &[]),
            closed: Default::default(),
            withheld: Default::default(),
        }
    }

    /// Lets no walled command write into these folders, nor read these files: aye's own.
    pub fn keeping(self, keep: Vec<PathBuf>, hide: Vec<PathBuf>) -> Self {
        Self { closed: (keep, hide), withheld: Default::default(), ..self }
    }

    /// Keeps these variables from every command too: they hold keys, whatever they are called.
    pub fn without(self, keys: Vec<String>) -> Self {
        Self { environment: environment(std::env::vars_os(), &keys), ..self }
    }

    /// The names of the variables that a command finds, sorted; the nearest that is Unicode.
    pub fn names(&self) -> Vec<String> {
        let name = |(name, _): &(OsString, OsString)| name.to_string_lossy().into_owned();
        let mut names: Vec<String> = self.environment.iter().map(name).collect();
        names.sort();
        names
    }

    /// Runs a command to its end: `bash -c`, or `sh -c` where there is no bash. Its stdin is empty, it has no terminal,
    /// and secrets are not in its environment. `progress` gets the last 2 KB of the output so far, at most every
    /// 100 ms. To drop the future is to end the command and everything it started, at once. Fails only if the command
    /// could not be started, or not within the walls it was promised. Needs a tokio runtime with I/O and time.
    pub async fn run(
        &self,
        line: &CommandLine,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        self.run_guarded(line, self.walls(line), std::future::ready(Ok(Vec::new())), progress).await
    }

    /// The same, but with another environment, made from that of every command.
    pub(super) fn with_environment(&self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment, ..self.clone() }
    }

    /// The environment of every command.
    pub(super) fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Runs it by a guard that receives these words and, first over the lifeline, these bytes. They are waited for after the guard
    /// was started.
    pub(super) async fn run_guarded(
        &self,
        line: &CommandLine,
        told: Vec<OsString>,
        bytes: impl Future<Output = io::Result<Vec<u8>>>,
        progress: &(dyn Fn(Shown<'_>) + Send + Sync),
    ) -> Result<Ran, Error> {
        if !line.folder.is_dir() {
            return Err(Error::BadPath(format!("there is no folder {}", line.folder.display())));
        }
        // The system passes no longer word to a program, and none with a NUL in it.
        if line.command.len() > LONGEST || line.command.contains('\0') {
            return Err(Error::BadPath(format!(
                "the command cannot be run: it has {} bytes and may have {LONGEST}, none of them NUL. Put it in a file",
                line.command.len()
            )));
        }
        let started = Instant::now();
        let failed = |source| Error::Io { path: line.folder.clone(), source };
        let mut running = self.start(line, told).map_err(failed)?;
        // A guard that is gone is noticed right below.
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
    fn start(&self, line: &CommandLine, told: Vec<OsString>) -> io::Result<Running> {
        let (ours, theirs) = UnixStream::pair()?;
        let (reader, writer) = io::pipe()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.program);
        command
            .arg("guard")
            .args(told)
            .args(["--", shell(), "-c", &line.command])
            .current_dir(&line.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(OwnedFd::from(theirs))
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let guard = command.spawn()?;
        // It still holds the pipe's writing end, and would keep the output from ever ending.
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
    /// Where no walled command writes, and what none reads.
    pub(super) fn closed(&self) -> (&[PathBuf], &[PathBuf]) {
        (&self.closed.0, &self.closed.1)
    }

    /// What the guard is told of the walls that the card promised.
    fn walls(&self, line: &CommandLine) -> Vec<OsString> {
        let Walls::Raised(reach) = &line.walls else { return Vec::new() };
        let (keep, hide) = self.closed.clone();
        Confines { folder: line.folder.clone(), reach: (**reach).clone(), keep, hide }.arguments()
    }
}

/// SIGKILL.
const KILL: i32 = 9;

/// The shell that reads the command.
fn shell() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("bash").is_file()) { "bash" } else { "sh" }
}

/// A command under way. Dropping it closes the lifeline, and the guard, once awake, does the rest.
struct Running {
    guard: Child,
    lifeline: tokio::net::UnixStream,
    pipe: pipe::Receiver,
    output: Output,
}

/// What came of it.
struct End {
    output: Output,
    report: Option<Report>,
    timed_out: bool,
    flooded: bool,
}

impl Running {
    /// Reads what it writes until the guard says that it is over.
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
        let over = loop {
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
        if !over || report.is_none() {
            self.end_without_guard();
        }
        if open {
            let _ = timeout(LINGER, self.drain(&mut buffer)).await;
        }
        // The guard is at its end, or was killed: this only takes its status, so that it does not stay a zombie.
        let _ = timeout(LINGER, self.guard.wait()).await;
        Ok(End { output: std::mem::take(&mut self.output), report, timed_out, flooded })
    }

    /// Asks the guard to end the command.
    async fn stop(&mut self) {
        self.wake();
        // A guard that is gone has said so on the same socket.
        let _ = self.lifeline.write_all(&[guard::STOP]).await;
    }

    /// Wakes the guard up, should the command have put it to sleep.
    fn wake(&self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// The guard's number, while nobody else can have it.
    fn pid(&self) -> Option<Pid> {
        self.guard.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// Does what can be done when the command has killed or stopped its guard.
    fn end_without_guard(&mut self) {
        if let Some(pid) = self.pid() {
            Family::Of(pid).kill();
            Family::Session(pid).kill();
        }
        let _ = self.guard.start_kill();
    }

    /// Takes what is still in the pipe.
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

/// Seconds; longer than any command runs, and short enough for the clock's arithmetic.
const YEAR: u64 = 365 * 24 * 60 * 60;
