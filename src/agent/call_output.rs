//! Output of running calls, saved in case the program exits before the call ends.

use crate::text::truncation;

/// Most bytes of output in the outcome of an interrupted call.
const MAX_OUTCOME_BYTES: usize = 64 << 10;
/// Most bytes of output in one record.
const MAX_RECORD_BYTES: usize = 16 << 10;

/// Output of a running call, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOutput {
    text: String,
    /// End of the text that is in no record yet.
    unsaved: String,
}

impl CallOutput {
    pub(super) fn push_output(&mut self, more: &str) {
        self.text.push_str(more);
        if self.text.len() > 2 * MAX_OUTCOME_BYTES {
            self.text = truncation::truncate_middle(&self.text, MAX_OUTCOME_BYTES).into_owned();
        }
        self.unsaved.push_str(more);
        if self.unsaved.len() > 2 * MAX_RECORD_BYTES {
            self.unsaved = truncation::truncate_middle(&self.unsaved, MAX_RECORD_BYTES).into_owned();
        }
    }

    /// Returns the output since the last call of this function, if any.
    pub(super) fn take_unsaved(&mut self) -> Option<String> {
        let unkept = std::mem::take(&mut self.unsaved);
        (!unkept.is_empty()).then(|| truncation::truncate_middle(&unkept, MAX_RECORD_BYTES).into_owned())
    }

    /// Returns the outcome of an interrupted call: the reason and its output.
    pub(super) fn interrupted_outcome(&self, why: &str) -> String {
        format_interrupted_outcome(why, &self.text)
    }
}

/// Returns the outcome of an interrupted call: the reason and its output.
pub(super) fn format_interrupted_outcome(why: &str, printed: &str) -> String {
    if printed.trim().is_empty() {
        return why.to_owned();
    }
    format!("{why} Output until then:\n{}", truncation::truncate_middle(printed, MAX_OUTCOME_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_output_once_and_bounds_it() {
        let mut printed = CallOutput::default();
        assert_eq!((printed.take_unsaved(), printed.interrupted_outcome("Stopped.")), (None, "Stopped.".to_owned()));
        printed.push_output("one\n");
        printed.push_output("two\n");
        assert_eq!(printed.take_unsaved().as_deref(), Some("one\ntwo\n"));
        assert_eq!(printed.take_unsaved(), None);
        assert_eq!(printed.interrupted_outcome("Stopped."), "Stopped. Output until then:\none\ntwo\n");
        for number in 0..100_000 {
            printed.push_output(&format!("line {number}\n"));
        }
        let (kept, outcome) = (printed.take_unsaved().unwrap(), printed.interrupted_outcome("Stopped."));
        assert!(
            kept.len() < 2 * MAX_RECORD_BYTES && outcome.len() < 2 * MAX_OUTCOME_BYTES,
            "{} {}",
            kept.len(),
            outcome.len()
        );
        assert!(kept.ends_with("line 99999\n") && outcome.ends_with("line 99999\n"));
        assert!(outcome.contains("one\ntwo\n"));
    }
}
