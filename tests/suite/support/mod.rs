//! Support code shared by the tests.

use std::io::Write;

pub mod between;
pub mod closed;
pub mod encrypted;
pub mod fixture;
pub mod folder;
pub mod given_back;
pub mod hand;
pub mod kept;
pub mod lost;
#[cfg(target_os = "linux")]
pub mod mounts;
#[cfg(target_os = "linux")]
pub mod ordinary;
pub mod overlay_place;
pub mod own_process;
pub mod person;
#[cfg(target_os = "linux")]
pub mod preload;
pub mod program;
pub mod promise;
pub mod scene;
pub mod service;
pub mod staged;
pub mod talking;

/// Prints a line that the test harness does not capture.
pub fn aloud(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Reports that this test, or a part of it, is skipped on this machine, and why.
pub fn leave_out(why: &str) {
    let thread = std::thread::current();
    aloud(&format!("LEFT OUT: {}: {why}", thread.name().unwrap_or("a test")));
}

/// Returns `thorough` if `AYE_TEST_THOROUGH` is set, as the checks before a merge do; otherwise `quick`, for runs that
/// a developer waits for.
pub fn often(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}

/// All items if `AYE_TEST_THOROUGH` is set; otherwise every nth item, beginning with the item `from`, so that a quick
/// run takes something from each group of similar items.
pub fn part_of<T>(all: &[T], each: usize, from: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(often(0, from)).step_by(often(1, each))
}

/// The number of trials for something that must never happen: `quick` in a quick run, 15 in a thorough run, or
/// `AYE_TEST_TRIALS`.
pub fn trials(quick: usize) -> usize {
    measured().unwrap_or_else(|| often(15, quick))
}

/// The number of trials in `AYE_TEST_TRIALS`, which is set to take measurements.
pub fn measured() -> Option<usize> {
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
