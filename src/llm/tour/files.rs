//! Sample project of the tour.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files of the project: relative path and content.
pub(super) const FILES: &[(&str, &str)] = &[
    ("README.md", README),
    ("Cargo.toml", CARGO),
    ("src/lib.rs", LIB_RS),
    (LIBRARY, RETRY_RS),
    (TEST, TEST_RS),
    ("check.sh", CHECK_SH),
    ("report.sh", REPORT_SH),
    (OLD_NOTES, "Tried 50 ms, 100 ms and 150 ms. None of them is enough on a busy machine.\n"),
];

/// Writes the files to a folder, over earlier versions of them.
///
/// # Errors
/// The file that cannot be written, with the reason.
pub fn write_files(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    for (path, text) in FILES {
        let path = folder.join(path);
        let created = path.parent().map_or(Ok(()), fs::create_dir_all);
        created.and_then(|()| fs::write(&path, text)).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Path of the source file with the retries.
pub(super) const LIBRARY: &str = "src/retry.rs";
/// Path of the file with the flaky test.
pub(super) const TEST: &str = "tests/retry.rs";

/// Path of the file that the tour deletes.
pub(super) const OLD_NOTES: &str = "notes.old";

/// Returns the line where the text begins, starting at 1; 1 if the file does not contain it.
pub(super) fn find_line(path: &str, text: &str) -> usize {
    let content = FILES.iter().find(|(file, _)| *file == path).map_or("", |(_, content)| content);
    content.find(text).map_or(1, |start| content[..start].matches('\n').count() + 1)
}

const README: &str = "\
# retry

Retries an operation with exponential backoff.

This project was created for the tour of aye. It is recreated whenever the
tour starts, so you can change it freely.
";

/// Checks the test without a Rust toolchain, so that the tour runs everywhere.
const CHECK_SH: &str = "\
# Checks that the test does not depend on the speed of the machine.
if grep -q 'start_paused = true' tests/retry.rs; then
    echo 'ok: the test runs in virtual time'
elif grep -q 'from_millis(200)' tests/retry.rs; then
    echo 'ok: the test allows 200 ms'
else
    echo 'not ok: the test measures real time'
    exit 1
fi
";

const REPORT_SH: &str = "\
# Writes a report about the files of the project.
mkdir -p build
wc -l src/*.rs tests/*.rs > build/report.txt
echo 'The report is in build/report.txt.' >> README.md
tail -n 1 build/report.txt
";

const CARGO: &str = r#"[package]
name = "retry"
version = "0.1.0"
edition = "2024"

[dependencies]
tokio = { version = "1", features = ["time", "macros", "rt", "test-util"] }
"#;

const LIB_RS: &str = "\
//! Retries an operation with exponential backoff.

mod retry;

pub use retry::Retry;
";

const RETRY_RS: &str = "\
//! Backoff between attempts, and the time limit.

use std::time::Duration;
use tokio::time::Instant;

/// Retries with exponential backoff.
pub struct Retry {
    wait: Duration,
}

impl Retry {
    pub fn new(wait: Duration) -> Self {
        Self { wait }
    }

    /// Calls `attempt` until it succeeds or the time limit is reached.
    pub async fn until<T, E>(
        &self,
        limit: Duration,
        mut attempt: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let began = Instant::now();
        let mut wait = self.wait;
        loop {
            let result = attempt();
            if result.is_ok() || began.elapsed() + wait > limit {
                return result;
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }
}
";

const TEST_RS: &str = r#"use retry::Retry;
use std::time::{Duration, Instant};

#[tokio::test]
async fn two_attempts_fit_into_fifty_milliseconds() {
    let began = Instant::now();
    let retry = Retry::new(Duration::from_millis(20));
    let mut attempts = 0;

    let _ = retry
        .until(Duration::from_millis(50), || {
            attempts += 1;
            Err::<(), _>("busy")
        })
        .await;

    assert_eq!(attempts, 2);
    assert!(began.elapsed() < Duration::from_millis(25));
}
"#;
