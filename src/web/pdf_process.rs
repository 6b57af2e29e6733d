//! Reads a PDF in a process of its own with limits, so that a faulty or hostile PDF cannot stop aye or use up the machine.
//!
//! The process gets the PDF through stdin and writes the text, or the reason why there is none, to stdout.

use super::pdf_text::{MAX_TEXT, extract_text};
use crate::project::guard::own_program;
use crate::project::process_limits::lower_limit;
use rustix::process::Resource;
use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// First argument of a process that reads a PDF.
pub const ARGUMENT: &str = "pdf-text";
/// Memory of the process.
const MAX_MEMORY: u64 = 1 << 30;
/// Processor time of the process, and the time until it is killed.
const MAX_SECONDS: u64 = 10;
/// Stack of the thread that reads the PDF.
const STACK_BYTES: usize = 64 << 20;
/// Bytes of its output that are read. The last page may have as much text again as all before it, and a note follows.
const MAX_OUTPUT: u64 = 3 * MAX_TEXT as u64;
/// Exit code of a process that wrote a reason.
const NO_TEXT: u8 = 3;
/// Interval at which the end of the process is awaited.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Returns the text of a PDF. Blocks for at most ten seconds.
///
/// # Errors
/// One sentence that says why there is none.
pub(super) fn read_pdf(bytes: &[u8]) -> Result<String, String> {
    let cannot_start = |error: std::io::Error| format!("The PDF cannot be read: {error}.");
    let mut command = Command::new(own_program());
    command.arg(ARGUMENT).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().map_err(cannot_start)?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let bytes = bytes.to_vec();
    // A process that was killed closes both.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&bytes)));
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // More would come from a process that does not keep to its limit. It fails then, because nothing reads it.
        stdout.map(|stdout| stdout.take(MAX_OUTPUT).read_to_string(&mut text)).transpose().map(|_| text)
    });
    let started = Instant::now();
    let status = loop {
        match process.try_wait().map_err(cannot_start)? {
            Some(status) => break Some(status),
            None if started.elapsed() > Duration::from_secs(MAX_SECONDS) => {
                let _ = process.kill();
                let _ = process.wait();
                break None;
            }
            None => std::thread::sleep(CHECK_INTERVAL),
        }
    };
    let _ = writer.join();
    let text = reader.join().ok().and_then(Result::ok);
    match (status.and_then(|status| status.code()), text) {
        (Some(0), Some(text)) => Ok(text),
        (Some(code), Some(reason)) if code == i32::from(NO_TEXT) => Err(reason),
        _ => Err(format!("The PDF cannot be read within {MAX_SECONDS} s and 1 GiB of memory.")),
    }
}

/// Reads a PDF from stdin and writes its text to stdout.
pub fn run_converter() -> ExitCode {
    for (resource, limit) in [(Resource::As, MAX_MEMORY), (Resource::Cpu, MAX_SECONDS), (Resource::Core, 0)] {
        if lower_limit(resource, limit).is_err() {
            return ExitCode::FAILURE;
        }
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut bytes = Vec::new();
    if std::io::stdin().read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || extract_text(bytes));
    let (text, code) = match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(text))) => (text, 0),
        Ok(Ok(Err(reason))) => (reason, NO_TEXT),
        Ok(Err(_)) | Err(_) => return ExitCode::FAILURE,
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}
