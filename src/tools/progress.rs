//! Reports the progress of long local work. Short work reports nothing.

use super::Progress;
use crate::project::output::CommandProgress;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Work that is shorter than this reports nothing.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// Interval between two reports.
const INTERVAL: Duration = Duration::from_millis(250);

/// Limits how often progress is reported.
pub(super) struct ProgressReporter {
    sink: Progress,
    next_report: Instant,
}

impl ProgressReporter {
    pub(super) fn new(sink: Progress) -> Self {
        Self { sink, next_report: Instant::now() + QUIET_TIME }
    }

    /// Reports from the beginning.
    #[cfg(test)]
    pub(super) fn without_delay(sink: Progress) -> Self {
        Self { sink, next_report: Instant::now() }
    }

    /// Reports the progress if a report is due; `status` is called only then.
    pub(super) fn report_if_due(&mut self, status: impl FnOnce() -> String) {
        let now = Instant::now();
        if now >= self.next_report {
            self.next_report = now + INTERVAL;
            (self.sink)(CommandProgress::from_status(&status()));
        }
    }
}

/// Measures work on another thread. Once its caller no longer waits, it is out of time.
pub(super) struct WorkClock {
    started: Instant,
    caller: Weak<()>,
}

impl WorkClock {
    /// Starts to measure. The caller waits until it drops the first value.
    pub(super) fn start() -> (Arc<()>, Self) {
        let caller = Arc::new(());
        let clock = Self { started: Instant::now(), caller: Arc::downgrade(&caller) };
        (caller, clock)
    }

    /// Returns the time since the start; the longest possible one if nothing waits.
    pub(super) fn elapsed(&self) -> Duration {
        if self.caller.strong_count() == 0 { Duration::MAX } else { self.started.elapsed() }
    }
}

/// Formats a count: `12,340 files`.
pub(super) fn format_count(count: usize, singular: &str, plural: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", if count == 1 { singular } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn work_that_nobody_waits_for_is_out_of_time() {
        let (caller, clock) = WorkClock::start();
        assert!(clock.elapsed() < Duration::from_secs(5));
        drop(caller);
        assert_eq!(clock.elapsed(), Duration::MAX);
    }

    #[test]
    fn reports_only_long_work_and_not_every_step() {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let sink_reports = reports.clone();
        let mut reporter = ProgressReporter::new(Arc::new(move |progress: CommandProgress<'_>| {
            sink_reports.lock().unwrap().push(progress.latest.to_owned())
        }));
        (0..1000).for_each(|n| reporter.report_if_due(|| format!("{n} files")));
        assert!(reports.lock().unwrap().is_empty());
        let sink_reports = reports.clone();
        let mut reporter = ProgressReporter::without_delay(Arc::new(move |progress: CommandProgress<'_>| {
            sink_reports.lock().unwrap().push(progress.latest.to_owned())
        }));
        (0..1000).for_each(|n| reporter.report_if_due(|| format!("{n} files")));
        assert_eq!(*reports.lock().unwrap(), ["0 files"]);
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
