//! Reports the progress of long local work. Short work reports nothing.

use super::Progress;
use crate::project::output::CommandProgress;
use std::time::{Duration, Instant};

/// Work that is shorter than this reports nothing.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// Interval between two reports.
const INTERVAL: Duration = Duration::from_millis(250);

/// Limits how often progress is reported.
pub(super) struct ProgressReporter {
    sink: Progress,
    next: Instant,
}

impl ProgressReporter {
    pub(super) fn new(sink: Progress) -> Self {
        Self { sink, next: Instant::now() + QUIET_TIME }
    }

    /// Reports from the beginning.
    #[cfg(test)]
    pub(super) fn without_delay(sink: Progress) -> Self {
        Self { sink, next: Instant::now() }
    }

    /// Reports the progress if a report is due; `words` is called only then.
    pub(super) fn report(&mut self, words: impl FnOnce() -> String) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + INTERVAL;
            (self.sink)(CommandProgress::from_status(&words()));
        }
    }
}

/// Formats a count: `12,340 files`.
pub(super) fn format_count(of: usize, one: &str, many: &str) -> String {
    let digits = of.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", if of == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn reports_only_long_work_and_not_every_step() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = told.clone();
        let mut far = ProgressReporter::new(Arc::new(move |shown: CommandProgress<'_>| {
            kept.lock().unwrap().push(shown.latest.to_owned())
        }));
        (0..1000).for_each(|n| far.report(|| format!("{n} files")));
        assert!(told.lock().unwrap().is_empty());
        let kept = told.clone();
        let mut far = ProgressReporter::without_delay(Arc::new(move |shown: CommandProgress<'_>| {
            kept.lock().unwrap().push(shown.latest.to_owned())
        }));
        (0..1000).for_each(|n| far.report(|| format!("{n} files")));
        assert_eq!(*told.lock().unwrap(), ["0 files"]);
    }

    #[test]
    fn groups_digits_of_large_counts() {
        assert_eq!(format_count(1, "file", "files"), "1 file");
        assert_eq!(
            [format_count(999, "", "f"), format_count(12_340, "", "f"), format_count(1_234_567, "", "f")],
            ["999 f", "12,340 f", "1,234,567 f"]
        );
    }
}
