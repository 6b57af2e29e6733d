//! Output of running calls, saved in case the program exits before the call ends.

use crate::text::truncation;

/// Maximum bytes of output in the outcome of an interrupted call.
const MAX_OUTCOME_BYTES: usize = 64 << 10;
/// Maximum bytes of output in one record.
const MAX_RECORD_BYTES: usize = 16 << 10;

/// Output of a running call, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOutput {
    text: String,
    /// Output that is in no record yet.
    unsaved: String,
    /// Bytes of output in total.
    received: u64,
}

impl CallOutput {
    /// Appends output. Each text is truncated only at twice its limit, so that not every new piece truncates it.
    pub(super) fn push_output(&mut self, output: &str) {
        self.received += output.len() as u64;
        self.text.push_str(output);
        if self.text.len() > 2 * MAX_OUTCOME_BYTES {
            self.text = truncation::truncate_middle(&self.text, MAX_OUTCOME_BYTES).into_owned();
        }
        self.unsaved.push_str(output);
        if self.unsaved.len() > 2 * MAX_RECORD_BYTES {
            self.unsaved = truncation::truncate_middle(&self.unsaved, MAX_RECORD_BYTES).into_owned();
        }
    }

    /// Returns the output that is in no record yet, truncated, and treats it as saved; `None` if there is none.
    pub(super) fn take_unsaved(&mut self) -> Option<String> {
        let unsaved = std::mem::take(&mut self.unsaved);
        (!unsaved.is_empty()).then(|| truncation::truncate_middle(&unsaved, MAX_RECORD_BYTES).into_owned())
    }

    /// Returns the bytes of output in total, truncated parts included.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the outcome text of an interrupted call: the reason and the output so far.
pub(super) fn format_interrupted_outcome(reason: &str, output: &str) -> String {
    if output.trim().is_empty() {
        return reason.to_owned();
    }
    format!("{reason} Output until then:\n{}", truncation::truncate_middle(output, MAX_OUTCOME_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_output_once_and_bounds_it() {
        let mut output = CallOutput::default();
        assert_eq!(
            (output.take_unsaved(), format_interrupted_outcome("Stopped.", output.text())),
            (None, "Stopped.".to_owned())
        );
        output.push_output("one\n");
        output.push_output("two\n");
        assert_eq!(output.take_unsaved().as_deref(), Some("one\ntwo\n"));
        assert_eq!(output.take_unsaved(), None);
        assert_eq!(format_interrupted_outcome("Stopped.", output.text()), "Stopped. Output until then:\none\ntwo\n");
        for number in 0..100_000 {
            output.push_output(&format!("line {number}\n"));
        }
        let (saved, outcome) = (output.take_unsaved().unwrap(), format_interrupted_outcome("Stopped.", output.text()));
        assert!(
            saved.len() < 2 * MAX_RECORD_BYTES && outcome.len() < 2 * MAX_OUTCOME_BYTES,
            "{} {}",
            saved.len(),
            outcome.len()
        );
        assert!(saved.ends_with("line 99999\n") && outcome.ends_with("line 99999\n"));
        assert!(outcome.contains("one\ntwo\n"));
    }
}
