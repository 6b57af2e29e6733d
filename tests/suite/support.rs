//! Support code shared by the tests.

use std::io::Write;

pub mod acp_client;
pub mod browser;
pub mod closed_port;
pub mod fixture;
pub mod folder;
pub mod https_service;
#[cfg(target_os = "linux")]
pub mod key_store;
pub mod keyboard;
pub mod lost_terminal;
pub mod mcp_client;
pub mod mcp_server;
pub mod mcp_without_handshake;
#[cfg(target_os = "linux")]
pub mod mounts;
pub mod oauth_server;
#[cfg(target_os = "linux")]
pub mod ordinary_user;
pub mod overlay_place;
pub mod overlay_project;
pub mod own_process;
#[cfg(feature = "images")]
pub mod png;
#[cfg(target_os = "linux")]
pub mod preload;
pub mod processes;
pub mod program;
pub mod proxy;
pub mod restored_terminal;
pub mod scene;
pub mod scripted;
pub mod service;
pub mod stored_files;
pub mod terminal_session;
pub mod time_limits;
pub mod tls_service;
pub mod tool_service;
pub mod user;
pub mod web_server;

/// Prints a line that the test harness does not capture.
pub fn print_uncaptured(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Reports that this test, or a part of it, is skipped on this machine, and why.
pub fn report_skipped(reason: &str) {
    let thread = std::thread::current();
    print_uncaptured(&format!("LEFT OUT: {}: {reason}", thread.name().unwrap_or("a test")));
}

/// Returns `thorough` if `AYE_TEST_THOROUGH` is set, as the checks before a merge do; otherwise `quick`, for runs that
/// a developer waits for.
pub fn pick_count(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}

/// Returns all items if `AYE_TEST_THOROUGH` is set; otherwise one of every `step` items, beginning at index `start`, so
/// that a quick run takes something from each group of similar items.
pub fn pick_samples<T>(all: &[T], step: usize, start: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(pick_count(0, start)).step_by(pick_count(1, step))
}

/// The number of trials for something that must never happen: `quick` in a quick run, 15 in a thorough run, or
/// `AYE_TEST_TRIALS`.
pub fn trial_count(quick: usize) -> usize {
    requested_trials().unwrap_or_else(|| pick_count(15, quick))
}

/// The number of trials in `AYE_TEST_TRIALS`, which is set to take measurements.
pub fn requested_trials() -> Option<usize> {
    std::env::var("AYE_TEST_TRIALS").ok().and_then(|count| count.parse().ok())
}

/// Pseudo-random numbers with a fixed seed.
pub struct Dice(pub u64);

impl Dice {
    /// The next number, below this limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    /// Returns true once in `many` calls, on average.
    pub fn one_of(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}
