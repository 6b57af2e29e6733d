//! What tests are built with.

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

/// Prints that this test, or a part of it, is left out on this machine, and why.
pub fn leave_out(why: &str) {
    let thread = std::thread::current();
    aloud(&format!("LEFT OUT: {}: {why}", thread.name().unwrap_or("a test")));
}

/// How often something is tried: the small number while a person waits for the tests, the great one where
/// `AYE_TEST_THOROUGH` is set, as the check of a change does.
pub fn often(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}

/// All of these where `AYE_TEST_THOROUGH` is set; while a person waits, each so-manieth from this one on: something of
/// every group where those that are alike stand together.
pub fn part_of<T>(all: &[T], each: usize, from: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(often(0, from)).step_by(often(1, each))
}

/// How many trials of something that must never happen: so many while a person waits for the tests, fifteen where they
/// are thorough, and what `AYE_TEST_TRIALS` says where somebody measures.
pub fn trials(quick: usize) -> usize {
    measured().unwrap_or_else(|| often(15, quick))
}

/// How many trials somebody who measures wants: what `AYE_TEST_TRIALS` says.
pub fn measured() -> Option<usize> {
    std::env::var("AYE_TEST_TRIALS").ok().and_then(|count| count.parse().ok())
}

/// A row of numbers that only look random.
pub struct Dice(pub u64);

impl Dice {
    /// The next one, below this.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    /// Whether it is one of so many.
    pub fn one_of(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}
