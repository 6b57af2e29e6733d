//! Reads a document, a picture or the clipboard in a separate process with limits, so that a faulty or hostile one cannot stop
//! aye or use up the machine.
//!
//! The process gets the document through stdin and writes the result, or the reason why there is none, to stdout. It is a
//! program of its own, `aye-reader`, so that aye contains no code and no tables of the formats: the dynamic linker would write
//! them, half a megabyte, at each start.

use super::reader_program::{READER, open_reader};
use super::reader_task::{MAX_SECONDS, NO_RESULT, OTHER_VERSION, ReaderTask, VERSION};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use super::reader_task::DocumentFormat;

/// Variables that name the display whose clipboard is read.
const DISPLAY_VARIABLES: [&str; 5] = ["DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "HOME"];
/// Exit code of the dynamic linker, if a library is missing.
const CANNOT_START: i32 = 127;
/// Interval at which the end of the process is awaited.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Checks that the program that reads documents is there and has the version of this one.
///
/// # Errors
/// Why it is not, and what to do, worded to follow a colon.
pub fn check_reader() -> Result<(), String> {
    run_reader_process(ReaderTask::Check, &[]).map(|_| ())
}

/// Returns the text of a document. Blocks for at most thirty seconds.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub fn read_document(format: DocumentFormat, bytes: &[u8]) -> Result<String, String> {
    let text = run_reader_process(ReaderTask::Text(format), bytes)?;
    String::from_utf8(text).map_err(|_| "its text is damaged".to_owned())
}

/// Starts the process and returns its result. Blocks for at most thirty seconds, ten for the clipboard.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub(super) fn run_reader_process(task: ReaderTask, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let program = open_reader()?;
    let cannot_start = |error: std::io::Error| format!("the program {READER} cannot be started: {error}");
    let mut command = Command::new(&program.path);
    command.arg0(READER).args([VERSION, &task.to_argument()]).env_clear().current_dir("/");
    if task == ReaderTask::Clipboard {
        command.envs(DISPLAY_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().map_err(cannot_start)?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let bytes = bytes.to_vec();
    // A process that was killed closes both.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&bytes)));
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        // Output beyond the limit is not read, so that the process fails to write it.
        stdout.map(|stdout| stdout.take(task.max_output()).read_to_end(&mut output)).transpose().map(|_| output)
    });
    let (started, max_wait) = (Instant::now(), task.max_wait());
    let status = loop {
        match process.try_wait().map_err(cannot_start)? {
            Some(status) => break Some(status),
            None if started.elapsed() > max_wait => {
                let _ = process.kill();
                let _ = process.wait();
                break None;
            }
            None => std::thread::sleep(CHECK_INTERVAL),
        }
    };
    let _ = writer.join();
    let output = reader.join().ok().and_then(Result::ok);
    match (status.and_then(|status| status.code()), output) {
        (Some(0), Some(output)) => Ok(output),
        (Some(code), Some(reason)) if code == i32::from(NO_RESULT) => {
            Err(String::from_utf8_lossy(&reason).into_owned())
        }
        (Some(code), _) if code == i32::from(OTHER_VERSION) => {
            let folder = &program.folder;
            Err(format!("the program {READER} in {folder} is not of this version ({VERSION}); install aye again"))
        }
        (Some(CANNOT_START), _) => Err(format!("the program {READER} in {} cannot be started", program.folder)),
        _ if status.is_none() => Err(format!("it was not read within {} s", max_wait.as_secs())),
        _ => Err(format!("it cannot be read with {MAX_SECONDS} s of processor time and 1 GiB of memory")),
    }
}
