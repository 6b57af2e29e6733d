//! Time limits, measured so that a busy machine does not break them.

use super::program::program;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Allowed delay on a busy machine, in durations of the shortest run of the program.
const ALLOWED_RUNS: u32 = 20;

/// Returns whether an operation stayed within its limit. A longer time is compared with the duration of the shortest
/// run of the program at this moment: hardly anything on a quiet machine, and much more on a busy one.
pub fn is_within_limit(limit: Duration, elapsed: Duration) -> bool {
    elapsed <= limit || elapsed <= limit + ALLOWED_RUNS * shortest_run()
}

fn shortest_run() -> Duration {
    let started = Instant::now();
    Command::new(program()).arg("--version").stdout(Stdio::null()).status().expect("the program runs");
    started.elapsed()
}

/// Compares a result that depends on times which a busy machine may exceed. Tries with the given times first, then with
/// four and sixteen times as long.
pub async fn check_with_slower_times<T: PartialEq + std::fmt::Debug>(expected: T, check: impl AsyncFn(u32) -> T) {
    for factor in [1, 4, 16] {
        let result = check(factor).await;
        if factor == 16 || result == expected {
            return assert_eq!(result, expected);
        }
    }
}

/// Tries up to three times: a machine may be slow for a moment, but what is really too slow fails each time.
pub fn try_three_times(description: &str, mut check: impl FnMut() -> Result<(), String>) {
    let errors: Vec<String> = (0..3).map_while(|_| check().err()).collect();
    assert!(errors.len() < 3, "{description}: {errors:?}");
}
