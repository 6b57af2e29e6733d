//! Runs the program that prints a profile's key when the key is needed. The key is never logged, and kept only by the
//! caller.

use super::{Error, KeySource, Secret};
use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Time limit, including a passphrase entered in another window.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Output beyond this many bytes is read and dropped.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// Time allowed for output after the program ended: a child process may hold the pipes open.
const LINGER: Duration = Duration::from_millis(200);
/// Characters shown of its error output.
const MAX_ERROR_CHARS: usize = 200;

/// A program that prints a key.
pub struct KeyCommand {
    /// aye itself, which starts the program without the terminal.
    pub myself: PathBuf,
    /// The program and its arguments; never empty.
    pub words: Vec<String>,
    /// Working directory: not a project, whose files must not affect it.
    pub home: PathBuf,
}

#[async_trait]
impl KeySource for KeyCommand {
    async fn request_key(&self) -> Result<Secret, Error> {
        let name = self.words.first().map_or("", String::as_str);
        let about = |what: String| Error::InvalidReply(format!("the key command {name} {what}"));
        let mut running = self.spawn_program().map_err(|error| about(format!("could not be started: {error}")))?;
        let Ok(ended) = timeout(TIME_LIMIT, running.wait()).await else {
            return Err(about(format!("did not finish within {} s and was stopped", TIME_LIMIT.as_secs())));
        };
        let status = ended.map_err(|error| about(format!("was lost: {error}")))?;
        let printed = running.out.output_text();
        let key = printed.lines().next().unwrap_or_default().trim();
        if !status.success() {
            let complaint = first_error_line(&running.err.output_text(), &printed);
            let how = status.code().map_or("was killed by a signal".to_owned(), |code| format!("failed ({code})"));
            return Err(about(if complaint.is_empty() { how } else { format!("{how}: {complaint}") }));
        }
        if key.is_empty() {
            return Err(about("printed nothing on its first line".to_owned()));
        }
        if !key.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(about("printed a key with characters that cannot be sent".to_owned()));
        }
        Ok(Secret::new(key))
    }
}

impl KeyCommand {
    fn spawn_program(&self) -> std::io::Result<Running> {
        let mut words = self.words.clone();
        if let Some(program) = words.first_mut()
            && let Some(inside) = program.strip_prefix("~/")
        {
            *program = self.home.join(inside).to_string_lossy().into_owned();
        }
        let mut child = Command::new(&self.myself)
            .args(["alone", "--"])
            .args(words)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let out = Pipe::spawn_reader(child.stdout.take());
        let err = Pipe::spawn_reader(child.stderr.take());
        Ok(Running { child, out, err, ended: false })
    }
}

/// The running program. Dropping it kills the program and its children.
struct Running {
    child: Child,
    out: Pipe,
    err: Pipe,
    ended: bool,
}

impl Running {
    async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.ended = true;
        let both = async { tokio::join!(self.out.wait(), self.err.wait()) };
        let _ = timeout(LINGER, both).await;
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        // If the program ended by itself, a process it left running is an agent that keeps a passphrase, and is not
        // killed.
        if let (Some(pid), false) = (pid, self.ended) {
            // The program leads its own process group once it runs; before that only the child is killed.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// The output read so far, and the task that reads it.
struct Pipe {
    came: Arc<Mutex<Vec<u8>>>,
    reads: tokio::task::JoinHandle<()>,
}

impl Pipe {
    fn spawn_reader(from: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let came = Arc::new(Mutex::new(Vec::new()));
        let into = came.clone();
        let reads = tokio::spawn(async move {
            let Some(mut from) = from else { return };
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer).await {
                let mut came = into.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_OUTPUT_BYTES - came.len();
                came.extend_from_slice(&buffer[..count.min(room)]);
            }
        });
        Self { came, reads }
    }

    async fn wait(&mut self) {
        // If the task panicked, its output so far is kept.
        let _ = (&mut self.reads).await;
    }

    fn output_text(&self) -> String {
        String::from_utf8_lossy(&self.came.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.reads.abort();
    }
}

/// Returns the first line of the error output, without anything that was printed as a key.
fn first_error_line(complained: &str, printed: &str) -> String {
    let line = complained.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let masked = printed.lines().map(Secret::new).fold(line.to_owned(), |line, secret| secret.mask(&line));
    masked.chars().filter(|letter| !letter.is_control()).take(MAX_ERROR_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_error_is_one_line_without_the_printed_key() {
        assert_eq!(first_error_line("\n  no such entry \nmore", ""), "no such entry");
        assert_eq!(first_error_line("cannot use sk-12345", "sk-12345\n"), "cannot use [key]");
        assert_eq!(first_error_line("\u{1b}[31mred", ""), "[31mred");
        assert_eq!(first_error_line(&"x".repeat(1000), "").len(), MAX_ERROR_CHARS);
    }
}
