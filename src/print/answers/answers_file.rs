//! Reads the file of answers.

use super::{Answers, EXPECTED_FORMATS};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Largest answers file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

impl Answers {
    /// Reads and parses a file; `-` is standard input.
    ///
    /// # Errors
    /// Returns what is wrong and what was expected, in one sentence that names the file.
    pub fn read(file: &Path) -> Result<Self, String> {
        let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
        let describe_error =
            |reason: String| format!("Cannot read the answers in {name}: {reason}. {EXPECTED_FORMATS}");
        let mut bytes = Vec::new();
        let result = if file == Path::new("-") {
            io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes)
        } else {
            open(file).and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        };
        result.map_err(|error| describe_error(error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(describe_error(format!("it has more than {} KiB, which is the limit", MAX_BYTES >> 10)));
        }
        let text = String::from_utf8(bytes).map_err(|_| describe_error("it is not UTF-8 text".to_owned()))?;
        Self::parse(&text).map_err(describe_error)
    }
}

/// Opens the file without blocking. A pipe without a writer counts as empty.
fn open(file: &Path) -> io::Result<File> {
    if file.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let opened = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(file)?;
    // Reading may block, because the writer of a pipe may take as long as it needs.
    let flags = fcntl_getfl(&opened)?;
    fcntl_setfl(&opened, flags - OFlags::NONBLOCK)?;
    Ok(opened)
}
