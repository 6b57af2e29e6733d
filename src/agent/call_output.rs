//! Output of running calls, saved in case the program exits before the call ends.

use crate::text::truncation;

/// Maximum bytes of output in the outcome of an interrupted call.
const MAX_OUTCOME_BYTES: usize = 64 << 10;
/// Maximum bytes of output in one record.
const MAX_RECORD_BYTES: usize = 16 << 10;
/// Bytes of output that are recorded in full. Later records are few and short, so that a command that prints for hours
/// does not fill the disk.
const MAX_FULL_BYTES: u64 = 32 << 10;
/// Maximum bytes of a later record.
const MAX_LATER_BYTES: usize = 1 << 10;
/// A later record is made once the output has grown by this part, an eighth, since the previous one.
const GROWTH_DIVISOR: u64 = 8;

/// Output of a running call, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOutput {
    text: String,
    /// Output that is in no record yet.
    unsaved: String,
    /// Bytes of output in total.
    received: u64,
    /// Bytes of output at the last record.
    received_at_record: u64,
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

    /// Returns the output that is in no record yet, truncated, and treats it as saved. `None` if there is none, or if
    /// much was recorded and little was printed since: the number of records grows with the logarithm of the output.
    pub(super) fn take_unsaved(&mut self) -> Option<String> {
        let is_later = self.received_at_record >= MAX_FULL_BYTES;
        let grown = self.received - self.received_at_record;
        if self.unsaved.is_empty() || is_later && grown < self.received_at_record / GROWTH_DIVISOR {
            return None;
        }
        self.received_at_record = self.received;
        let unsaved = std::mem::take(&mut self.unsaved);
        if !is_later || unsaved.len() <= MAX_LATER_BYTES {
            return Some(truncation::truncate_middle(&unsaved, MAX_RECORD_BYTES).into_owned());
        }
        let end = &unsaved[unsaved.ceil_char_boundary(unsaved.len() - MAX_LATER_BYTES)..];
        Some(format!("\n[… output left out …]\n{end}"))
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

    /// Whatever a command prints and however long it runs, its records stay small and contain its latest output.
    #[test]
    fn records_grow_with_the_logarithm_of_the_output() {
        let pieces =
            [("é\n".to_owned(), 1 << 20), ("line of output\n".repeat(50), 64 << 20), ("x".repeat(100_000), 64 << 20)];
        for (piece, total) in pieces {
            let (mut output, mut recorded) = (CallOutput::default(), 0);
            while output.received() < total {
                output.push_output(&piece);
                if let Some(record) = output.take_unsaved() {
                    assert!(record.ends_with(&piece[piece.len() - 1..]));
                    recorded += record.len();
                }
                let missing = output.received() - output.received_at_record;
                assert!(missing <= output.received() / GROWTH_DIVISOR, "{missing} of {}", output.received());
            }
            // ln(64 MB / 32 KB) / ln(9 / 8) = 65 later records.
            assert!(recorded < 2 * MAX_FULL_BYTES as usize + 70 * (MAX_LATER_BYTES + 100), "{recorded} of {total}");
        }
    }
}
