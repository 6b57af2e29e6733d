//! Unsent text of the user, saved next to the session so that it survives any end of the program.

use super::Entry;
use super::attachments::own_text;
use super::user_command::unescape_message;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All unsent text of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnsentText {
    /// The text of the composer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draft: Vec<DraftPart>,
    /// Messages that were sent during a turn and wait for the next request, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<String>,
    /// Open question prompts with selections and text, each in the frontend's own format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// Text of an approval prompt, worded so that the model understands it without the prompt: a denial message, or
    /// other arguments for the call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub approval: String,
    /// Number of entries in the session at the time of saving.
    pub entries: usize,
}

/// A part of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftPart {
    /// Typed, or pasted and not folded.
    Typed(#[serde(with = "shared")] Arc<str>),
    /// A paste that the composer shows folded. It may be large, so it is shared instead of copied.
    Pasted(#[serde(with = "shared")] Arc<str>),
}

impl DraftPart {
    /// Returns the full text.
    pub fn text(&self) -> &str {
        let (Self::Typed(text) | Self::Pasted(text)) = self;
        text
    }
}

mod shared {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

impl UnsentText {
    /// Creates a draft with this text and nothing else.
    pub fn from_text(text: &str) -> Self {
        let mut unsent = Self::default();
        unsent.add_to_draft(text);
        unsent
    }

    /// Returns true if there is no text to save.
    pub fn is_empty(&self) -> bool {
        self.is_same(&Self::default())
    }

    /// Returns whether all text is the same; `entries` is ignored.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { draft, queue, questions, approval, entries: _ } = self;
        *draft == other.draft && *queue == other.queue && *questions == other.questions && *approval == other.approval
    }

    /// Returns the draft's text, with pastes in full.
    pub fn text(&self) -> String {
        self.draft.iter().map(DraftPart::text).collect()
    }

    /// Adds a paragraph to the end of the draft.
    pub fn add_to_draft(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let separator = if self.draft.is_empty() { "" } else { "\n\n" };
        self.draft.push(DraftPart::Typed(format!("{separator}{text}").into()));
    }

    /// Removes text that was already sent, according to the session's entries: the program may have been killed after
    /// it sent a message and before it updated the saved text.
    pub fn remove_sent(&mut self, entries: &[Entry]) {
        for entry in entries.get(self.entries..).unwrap_or_default() {
            let sent = match entry {
                Entry::UserMessage { text } => text,
                Entry::UserCommand(command) => &command.draft_text(),
                _ => continue,
            };
            if let Some(index) = self.queue.iter().position(|text| text == sent) {
                self.queue.remove(index);
            } else if unescape_message(&self.text()).trim_end() == own_text(sent).trim_end() {
                self.draft.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_message(text: &str) -> Entry {
        Entry::UserMessage { text: text.to_owned() }
    }

    #[test]
    fn removes_messages_that_were_sent_after_saving() {
        let queue = vec!["one".to_owned(), "two".to_owned()];
        let saved = UnsentText { queue, entries: 1, ..UnsentText::from_text("three") };
        let remaining_after = |entries: &[Entry]| {
            let mut unsent = saved.clone();
            unsent.remove_sent(entries);
            (unsent.queue.join(" "), unsent.text())
        };
        let unchanged = ("one two".to_owned(), "three".to_owned());
        assert_eq!(remaining_after(&[]), unchanged);
        assert_eq!(remaining_after(&[user_message("one")]), unchanged, "the same text, sent before");
        assert_eq!(remaining_after(&[user_message("x"), user_message("one")]), ("two".into(), "three".into()));
        assert_eq!(
            remaining_after(&[user_message("x"), user_message("three"), user_message("two")]),
            ("one".into(), String::new())
        );
    }

    #[test]
    fn reads_what_it_wrote_and_ignores_fields_of_newer_versions() {
        let draft = vec![DraftPart::Typed("see ".into()), DraftPart::Pasted("a\nb\u{10_0000}".into())];
        let saved = UnsentText { draft, approval: "no".into(), entries: 3, ..UnsentText::default() };
        let text = serde_json::to_string(&saved).unwrap();
        assert_eq!(serde_json::from_str::<UnsentText>(&text).unwrap(), saved);
        let newer = text.replacen('{', r#"{"more":[1],"#, 1);
        assert_eq!(serde_json::from_str::<UnsentText>(&newer).unwrap(), saved);
        assert!(serde_json::from_str::<UnsentText>("{}").unwrap().is_empty());
    }
}
