//! Estimated length of the transcript, from the text of its entries instead of their layouts.

use crate::chat::attachments::own_text;
use crate::chat::{Ending, Entry};

/// Length of the transcript, measured from text, independent of the width.
#[derive(Debug, Default)]
pub struct TextExtent {
    /// Measure of the text before each entry, by its index. The last one is that of all entries.
    sums: Vec<TextMeasure>,
}

/// Lines and bytes of text, from which the rows at a width are estimated.
#[derive(Debug, Clone, Copy, Default)]
struct TextMeasure {
    lines: u64,
    bytes: u64,
}

impl TextExtent {
    /// Measures new entries.
    pub fn measure_new_entries(&mut self, entries: &[Entry]) {
        // Fewer entries than were measured belong to another session.
        if self.sums.len() > entries.len() + 1 {
            self.sums.clear();
        }
        let mut sum = self.sums.last().copied().unwrap_or_default();
        let measured_count = self.sums.len().saturating_sub(1);
        if self.sums.is_empty() {
            self.sums.push(sum);
        }
        self.sums.reserve(entries.len() - measured_count);
        for entry in &entries[measured_count..] {
            let TextMeasure { lines, bytes } = measure_entry(entry);
            sum = TextMeasure { lines: sum.lines + lines, bytes: sum.bytes + bytes };
            self.sums.push(sum);
        }
    }

    /// Estimates the rows before the item with this index; 0 if nothing was measured.
    pub fn rows_before(&self, item: usize, width: usize) -> f64 {
        let Some(TextMeasure { lines, bytes }) = self.sums.get(item).or(self.sums.last()) else {
            return 0.0;
        };
        *lines as f64 + *bytes as f64 / width.max(1) as f64
    }
}

fn measure_entry(entry: &Entry) -> TextMeasure {
    // The last line has no newline, and an empty row separates the text from the next item.
    let measure_text = |text: &str| TextMeasure {
        lines: 2 + memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64,
        bytes: text.len() as u64,
    };
    match entry {
        Entry::UserMessage { text: message } => measure_text(own_text(message)),
        Entry::Replied { text: reply, reasoning, .. } if !reply.is_empty() || !reasoning.is_empty() => {
            measure_text(reply)
        }
        Entry::Settled { .. }
        | Entry::BackgroundEnded(_)
        | Entry::UserCommand(_)
        | Entry::Compacted { .. }
        | Entry::Reviewed { .. }
        | Entry::FellBack { .. }
        | Entry::Concluded(_)
        | Entry::ToolsDeferred { .. }
        | Entry::UnacceptedTools(_)
        | Entry::Sampling(_)
        | Entry::Switched { .. }
        | Entry::DryRunChanged { .. }
        | Entry::Ended { ending: Ending::Failed(_) } => TextMeasure { lines: 1, bytes: 0 },
        _ => TextMeasure::default(),
    }
}
