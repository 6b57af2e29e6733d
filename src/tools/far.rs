//! Says how far long local work has come, to whoever waits for it. Short work says nothing.

use super::Progress;
use crate::project::output::Shown;
use std::time::{Duration, Instant};

/// What takes no longer needs no word.
const SOON: Duration = Duration::from_millis(500);
/// Between one word and the next.
const PACE: Duration = Duration::from_millis(250);

/// How far some work is.
pub(super) struct Far {
    tell: Progress,
    next: Instant,
}

impl Far {
    /// The work begins now.
    pub(super) fn new(tell: Progress) -> Self {
        Self { tell, next: Instant::now() + SOON }
    }

    /// Work that is long from its beginning on.
    #[cfg(test)]
    pub(super) fn long(tell: Progress) -> Self {
        Self { tell, next: Instant::now() }
    }

    /// The work has come so far; the words are made only where they are told.
    pub(super) fn is(&mut self, words: impl FnOnce() -> String) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PACE;
            (self.tell)(Shown::status(&words()));
        }
    }
}

/// Many things as they are counted: `12,340 files`.
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
    fn short_work_says_nothing_and_long_work_not_at_every_step() {
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
    fn many_things_are_counted_so_that_they_can_be_read() {
        assert_eq!(count(1, "file", "files"), "1 file");
        assert_eq!(
            [count(999, "", "f"), count(12_340, "", "f"), count(1_234_567, "", "f")],
            ["999 f", "12,340 f", "1,234,567 f"]
        );
    }
}
