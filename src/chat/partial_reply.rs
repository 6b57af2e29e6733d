//! Partial replies and partial output, saved about once a second so that a killed program loses little.

use super::CallId;
use serde::{Deserialize, Serialize};

/// The part of a reply since its last record. This is not an entry: the complete reply is logged as one. The reader of
/// a session builds an entry from these records only if the reply was never completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialReply {
    /// The call whose sub-agent receives the reply; `None` for the turn itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "beneath")]
    pub sub_agent_call: Option<CallId>,
    /// Name of the model.
    pub model: String,
    /// New part of the text.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub text: TextPart,
    /// New part of the reasoning.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub reasoning: TextPart,
}

/// The output of a running call since its last record. This is not an entry: the outcome is logged as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialOutput {
    pub call: CallId,
    pub text: String,
}

/// A part of a text and the byte offset where it begins. Earlier text after that offset is replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPart(pub usize, pub String);

impl TextPart {
    /// Returns the text after the first `recorded_bytes` bytes. Returns all of it if that offset is past its end or
    /// inside a character, because then the text is not the one that was recorded.
    pub fn after(text: &str, recorded_bytes: usize) -> Self {
        match text.get(recorded_bytes..) {
            Some(new_text) => Self(recorded_bytes, new_text.to_owned()),
            None => Self(0, text.to_owned()),
        }
    }
}

/// A text assembled from its parts. A missing part is replaced by `…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartialText {
    text: String,
    /// Offset in the original text where the next part is expected.
    end: usize,
}

impl PartialText {
    /// Adds a part. It replaces earlier text from its offset on; `…` marks a gap before it.
    pub fn append(&mut self, TextPart(offset, new_text): &TextPart) {
        match offset.checked_sub(self.end) {
            _ if *offset == 0 => self.text.clear(),
            Some(0) => {}
            Some(_) => self.text.push('…'),
            None => {
                let kept_bytes = self.text.len().saturating_sub(self.end - offset);
                self.text.truncate(self.text.floor_char_boundary(kept_bytes));
            }
        }
        self.end = offset.saturating_add(new_text.len());
        self.text.push_str(new_text);
    }

    /// Returns the whole text.
    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_pieces(pieces: &[(usize, &str)], expected: &str) {
        let mut text = PartialText::default();
        for (offset, part) in pieces {
            text.append(&TextPart(*offset, (*part).to_owned()));
        }
        assert_eq!(text.into_text(), expected, "{pieces:?}");
    }

    #[test]
    fn parts_are_assembled_and_a_missing_one_is_marked() {
        check_pieces(&[], "");
        check_pieces(&[(0, "one "), (4, "two"), (7, "")], "one two");
        check_pieces(&[(0, "one "), (0, "another")], "another");
        check_pieces(&[(0, "one "), (4, "two"), (4, "2")], "one 2");
        check_pieces(&[(0, "one "), (20, "three"), (25, "!")], "one …three!");
        check_pieces(&[(4, "two")], "…two");
        check_pieces(&[(1, "x"), (2, "y")], "…xy");
        check_pieces(&[(0, "é"), (1, "x")], "x");
    }

    #[test]
    fn returns_the_new_part_of_a_text() {
        assert_eq!(TextPart::after("one two", 4), TextPart(4, "two".into()));
        assert_eq!(TextPart::after("one", 3), TextPart(3, String::new()));
        assert_eq!(TextPart::after("one", 9), TextPart(0, "one".into()));
        assert_eq!(TextPart::after("éa", 1), TextPart(0, "éa".into()));
    }
}
