//! Progress of saving the unsent text.

use super::prompts::question::QuestionPrompt;
use crate::chat::{CallId, Questions, UnsentText};
use std::time::Duration;

/// The unsent text as last saved, and the time of the first change since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftSaving {
    pub(super) saved: UnsentText,
    pub(super) changed_at: Option<Duration>,
    /// Time of the last save.
    pub(super) saved_at: Option<Duration>,
    /// Error of the last write, if it failed.
    pub(super) last_error: Option<String>,
}

impl DraftSaving {
    /// Returns true while the last write has failed.
    pub fn has_failed(&self) -> bool {
        self.last_error.is_some()
    }

    /// Restores the prompt of this question from the saved text, or creates a new one.
    pub(super) fn restore_question(&self, call: &CallId, questions: &Questions) -> QuestionPrompt {
        let mut saved_prompts =
            self.saved.questions.iter().map(|text| QuestionPrompt::from_saved_json(call.clone(), questions, text));
        saved_prompts
            .find(|prompt| !prompt.to_saved_json().is_empty())
            .unwrap_or_else(|| QuestionPrompt::new(call.clone(), questions))
    }
}
