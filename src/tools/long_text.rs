//! Result of a call that returns one text: shortened if it is long.

use super::result_files::{LongResult, ResultFiles};

/// Maximum bytes of text in a result. The whole text of a longer one is stored in the workspace.
pub(super) const MAX_SHOWN_BYTES: usize = 48 << 10;

impl ResultFiles {
    /// Returns the result for the model: a heading and the text. A text that is too long is cut at a line, and a file of the
    /// workspace has all of it. `label` is a part of the name of that file.
    pub(super) async fn shorten(&self, label: &str, heading: String, text: String) -> String {
        if text.len() <= MAX_SHOWN_BYTES {
            return format!("{heading}\n\n{text}");
        }
        let beginning = &text[..text.floor_char_boundary(MAX_SHOWN_BYTES)];
        let end = beginning.rfind('\n').map_or(beginning.len(), |end| end + 1);
        let mut result = format!("{heading}\n\n{}\n[{} bytes omitted]", text[..end].trim_end(), text.len() - end);
        let omitted = end..text.len();
        let long_result = LongResult { label, text, is_complete: true, omitted, untrusted_source: None };
        if let Some(note) = self.store(long_result).await {
            result.push_str(&format!("\n[{}]\n{}", note.sentence, note.outline));
        }
        result
    }
}
