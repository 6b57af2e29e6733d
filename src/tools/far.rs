//! Reports the progress of long local work. Short work reports nothing.

use super::Progress;
use crate::project::output::Shown;
use std::time::{Duration, Instant};

/// Work that is shorter than this reports nothing.
const SOON: Duration = Duration::from_millis(500);
/// Interval between two reports.
const PACE: Duration = Duration::from_millis(250);

/// Limits how often progress is reported.
pub(super) struct Far {
    tell: Progress,
    next: Instant,
}

impl Far {
    pub(super) fn new(tell: Progress) -> Self {
        Self { tell, next: Instant::now() + SOON }
    }

    /// Reports from the beginning.
    #[cfg(test)]
    pub(super) fn long(tell: Progress) -> Self {
        Self { tell, next: Instant::now() }
    }

    /// Reports the progress if a report is due; `words` is called only then.
    pub(super) fn is(&mut self, words: impl FnOnce() -> String) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PACE;
            (self.tell)(Shown::status(&words()));
        }
    }
}

/// Formats a count: `12,340 files`.
pub(super) fn count(of: usize, one: &str, many: &str) -> String {
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
        let mut far =
            Far::new(Arc::new(move |shown: Shown<'_>| kept.lock().unwrap().push(shown.latest.to_owned())));
        (0..1000).for_each(|n| far.is(|| format!("{n} files")));
        assert!(told.lock().unwrap().is_empty());
        let kept = told.clone();
        let mut far =
            Far::long(Arc::new(move |shown: Shown<'_>| kept.lock().unwrap().push(shown.latest.to_owned())));
        (0..1000).for_each(|n| far.is(|| format!("{n} files")));
        assert_eq!(*told.lock().unwrap(), ["0 files"]);
    }

    #[test]
    fn groups_digits_of_large_counts() {
        assert_eq!(count(1, "file", "files"), "1 file");
        assert_eq!(
            [count(999, "", "f"), count(12_340, "", "f"), count(1_234_567, "", "f")],
            ["999 f", "12,340 f", "1,234,567 f"]
        );
    }
}
