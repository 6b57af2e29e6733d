//! Times that the program promises, measured so that a machine that is busy with much else breaks no promise.

use super::program::program;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So many times as long as its shortest run may something be late that takes a few processes, threads and writes.
const STEPS: u32 = 20;

/// Whether a promised time was kept. What is over it is compared with how long the shortest run of the program takes
/// at this moment: hardly anything on a quiet machine, and as much longer on a busy one as everything is there.
pub fn kept(promised: Duration, took: Duration) -> bool {
    took <= promised || took <= promised + STEPS * shortest_run()
}

fn shortest_run() -> Duration {
    let began = Instant::now();
    Command::new(program()).arg("--version").stdout(Stdio::null()).status().expect("the program runs");
    began.elapsed()
}

/// Compares what comes of times that a busy machine may not keep: tried with the times as they are, and where that came
/// out otherwise, with times four and sixteen times as long.
pub async fn in_time<T: PartialEq + std::fmt::Debug>(expected: T, check: impl AsyncFn(u32) -> T) {
    for factor in [1, 4, 16] {
        let came = check(factor).await;
        if factor == 16 || came == expected {
            return assert_eq!(came, expected);
        }
    }
}

/// Tries up to three times: a machine may be held up for a moment, what is really too slow is so each time.
pub fn thrice(what: &str, mut check: impl FnMut() -> Result<(), String>) {
    let tried: Vec<String> = (0..3).map_while(|_| check().err()).collect();
    assert!(tried.len() < 3, "{what}: {tried:?}");
}
