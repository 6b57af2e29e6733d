//! Runs a program of the person's that is asked about a call: one question on its stdin, one answer on its stdout.
//!
//! It is watched over by the guard, like a command: it has no terminal, a group of its own, and nothing that it started
//! outlives its answer, the time it has, or aye. It runs in the person's home folder and not in a project, whose files
//! must have no say in it.

use super::environment::environment;
use super::family::Family;
use super::guard::{self, Report};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Bytes of the longest answer.
pub const MOST: usize = 64 * 1024;
/// Bytes kept of what it complains of; the rest is read and dropped.
const COMPLAINT: usize = 4 * 1024;
/// How long output may still come when the guard is gone. Only what escaped it could write any.
const LINGER: Duration = Duration::from_millis(200);

/// A program that is asked.
#[derive(Debug, Clone)]
pub struct Hook {
    /// aye itself, which guards it.
    program: PathBuf,
    /// The program and its arguments. Empty where the settings name none.
    words: Vec<String>,
    /// Where it runs.
    home: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// So long it may take.
    limit: Duration,
}

impl Hook {
    /// A hook that runs these words, in the person's home folder `home` and for at most so many seconds. `program` is aye
    /// itself; `keys` are variables that hold keys, whatever they are called.
    pub fn new(program: PathBuf, words: Vec<String>, home: PathBuf, keys: &[String], seconds: u64) -> Self {
        let environment = environment(std::env::vars_os(), keys);
        Self { program, words, home, environment, limit: Duration::from_secs(seconds) }
    }

    /// Asks it this; its answer as it came, or in words why there is none. To drop the future is to end the program and
    /// everything it started, at once. Needs a tokio runtime with I/O and time.
    pub async fn ask(&self, question: &str) -> Result<String, String> {
        if self.words.is_empty() {
            return Err("the settings do not say which program it is".to_owned());
        }
        let running =
            self.start(question.len()).map_err(|error| format!("it could not be started: {error}"))?;
        match timeout(self.limit, running.answer(question)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("it did not answer within {} s and was stopped", self.limit.as_secs())),
        }
    }

    fn start(&self, bytes: usize) -> io::Result<Running> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut words = self.words.clone();
        if let Some(program) = words.first_mut()
            && let Some(inside) = program.strip_prefix("~/")
        {
            *program = self.home.join(inside).to_string_lossy().into_owned();
        }
        let mut guard = Command::new(&self.program)
            .args(["guard", &format!("{}{bytes}", guard::INPUT), "--"])
            .args(words)
            .current_dir(&self.home)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Running {
            out: guard.stdout.take(),
            err: guard.stderr.take(),
            guard,
            lifeline: tokio::net::UnixStream::from_std(ours)?,
        })
    }
}

/// A hook at work. Dropping it closes the lifeline, and the guard, once awake, does the rest.
struct Running {
    guard: Child,
    lifeline: tokio::net::UnixStream,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
}

impl Running {
    async fn answer(mut self, question: &str) -> Result<String, String> {
        // A guard that is gone has said so on the same socket.
        let _ = self.lifeline.write_all(question.as_bytes()).await;
        let (mut answer, mut complaint, mut report) = (Vec::new(), Vec::new(), Vec::new());
        let (mut out, mut err) = (self.out.take(), self.err.take());
        {
            let reads = async {
                // Whoever says too much is not heard out.
                tokio::try_join!(take(&mut out, &mut answer, MOST), drain(&mut err, &mut complaint)).map(drop)
            };
            tokio::pin!(reads);
            let mut open = true;
            loop {
                tokio::select! {
                    // What it wrote last is read before its end is heard of.
                    biased;
                    all = &mut reads, if open => {
                        open = false;
                        all?;
                    }
                    read = self.lifeline.read_buf(&mut report) => match read {
                        Ok(0) | Err(_) => break,
                        Ok(_) => {}
                    },
                }
            }
            if open && let Ok(all) = timeout(LINGER, reads).await {
                all?;
            }
        }
        let report = Report::read(&report);
        if report.is_none() {
            self.end_without_guard();
        }
        // This only takes its status, so that it does not stay a zombie.
        let _ = timeout(LINGER, self.guard.wait()).await;
        let said = first_line(&complaint);
        let because = if said.is_empty() { String::new() } else { format!(": {said}") };
        match report {
            Some(Report::Exit(0)) => {
                String::from_utf8(answer).map_err(|_| "it did not answer with text in UTF-8".to_owned())
            }
            Some(Report::Exit(status)) => Err(format!("it ended with status {status}{because}")),
            Some(Report::Signal(signal)) => Err(format!("it was ended by signal {signal}{because}")),
            Some(Report::Failed(errno)) => {
                Err(format!("it could not be started: {}", io::Error::from_raw_os_error(errno.into())))
            }
            // Nothing holds it back but what holds back the person.
            Some(Report::Unwalled(_) | Report::Unstaged(_)) => Err("it was not started".to_owned()),
            None => Err("it was lost".to_owned()),
        }
    }

    /// Does what can be done when it has killed or stopped its guard.
    fn end_without_guard(&mut self) {
        if let Some(pid) = self.pid() {
            Family::Of(pid).kill();
            Family::Session(pid).kill();
        }
        let _ = self.guard.start_kill();
    }

    /// The guard's number, while nobody else can have it.
    fn pid(&self) -> Option<Pid> {
        self.guard.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have put its guard to sleep.
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

/// Reads to the end; fails as soon as there is more than so much.
async fn take(
    from: &mut Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
    most: usize,
) -> Result<(), String> {
    let Some(from) = from else { return Ok(()) };
    while let Ok(1..) = from.read_buf(into).await {
        if into.len() > most {
            return Err(format!("it said more than {} KB and was stopped", most / 1024));
        }
    }
    Ok(())
}

/// Reads to the end and keeps the beginning.
async fn drain(from: &mut Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), String> {
    let Some(from) = from else { return Ok(()) };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let room = COMPLAINT - into.len();
        into.extend_from_slice(&buffer[..count.min(room)]);
    }
    Ok(())
}

fn first_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
