//! Runs the program that prints the key of a profile, once the key is needed. Only the caller keeps the key, and it is
//! never logged.

use super::{Error, KeySource, Secret};
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::FusedFuture;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
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
/// Maximum characters shown of the first line of the error output.
const MAX_ERROR_CHARS: usize = 200;

/// A program that prints a key.
pub struct KeyCommand {
    /// Path of aye, which starts the program without a terminal.
    pub aye_program: PathBuf,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// Home folder, the working directory of the program: files of a project must not affect it.
    pub home: PathBuf,
}

#[async_trait]
impl KeySource for KeyCommand {
    async fn request_key(&self) -> Result<Secret, Error> {
        let name = self.command.first().map_or("", String::as_str);
        let key_error = |problem: String| Error::InvalidReply(format!("the key command {name} {problem}"));
        let mut running = self.spawn_program().map_err(|error| key_error(format!("could not be started: {error}")))?;
        let Ok(result) = timeout(TIME_LIMIT, running.finish()).await else {
            return Err(key_error(format!("did not finish within {} s and was stopped", TIME_LIMIT.as_secs())));
        };
        let (status, output, error_output) = result.map_err(|error| key_error(format!("was lost: {error}")))?;
        let key = output.lines().next().unwrap_or_default().trim();
        if !status.success() {
            let error_line = first_error_line(&error_output, &output);
            let ending = status.code().map_or("was killed by a signal".to_owned(), |code| format!("failed ({code})"));
            return Err(key_error(if error_line.is_empty() { ending } else { format!("{ending}: {error_line}") }));
        }
        if key.is_empty() {
            return Err(key_error("printed nothing on its first line".to_owned()));
        }
        if !key.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(key_error("printed a key with characters that cannot be sent".to_owned()));
        }
        Ok(Secret::new(key))
    }
}

impl KeyCommand {
    fn spawn_program(&self) -> std::io::Result<Running> {
        let mut command = self.command.clone();
        if let Some(program) = command.first_mut()
            && let Some(relative) = program.strip_prefix("~/")
        {
            *program = self.home.join(relative).to_string_lossy().into_owned();
        }
        let child = Command::new(&self.aye_program)
            // `aye alone -- PROGRAM` runs the program detached from the terminal.
            .args(["alone", "--"])
            .args(command)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Running { child, has_ended: false })
    }
}

/// The running program. Dropping it kills the program and its children.
struct Running {
    child: Child,
    has_ended: bool,
}

impl Running {
    /// Waits for the end of the program. Returns its status, its output and its error output.
    async fn finish(&mut self) -> std::io::Result<(ExitStatus, String, String)> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let (mut output, mut error_output) = (Vec::new(), Vec::new());
        let reading =
            async { tokio::join!(read_output(stdout, &mut output), read_output(stderr, &mut error_output)) }.fuse();
        let mut reading = Box::pin(reading);
        let status = tokio::select! {
            status = self.child.wait() => status,
            _ = &mut reading => self.child.wait().await,
        }?;
        self.has_ended = true;
        if !reading.is_terminated() {
            let _ = timeout(LINGER, &mut reading).await;
        }
        drop(reading);
        let to_text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((status, to_text(output), to_text(error_output)))
    }
}

/// Reads a stream to its end, or as far as this function is polled. Output above the limit is dropped.
async fn read_output(stream: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let free_bytes = MAX_OUTPUT_BYTES - output.len();
        output.extend_from_slice(&buffer[..count.min(free_bytes)]);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        // A program that ended by itself may have left a process running that keeps a passphrase, such as gpg-agent.
        // That process is not killed.
        if let (Some(pid), false) = (pid, self.has_ended) {
            // The program leads its own process group once it runs. Before that this fails, and `kill_on_drop` kills
            // the child.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Returns the first line of the error output, without anything that was printed as a key.
fn first_error_line(error_output: &str, output: &str) -> String {
    let line = error_output.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let masked = output.lines().map(Secret::new).fold(line.to_owned(), |line, secret| secret.mask(&line));
    masked.chars().filter(|c| !c.is_control()).take(MAX_ERROR_CHARS).collect()
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
