//! Drafts of answers and how a question prompt is saved and restored.

use super::{FieldKind, QuestionPrompt};
use crate::chat::{AnswerValue, CallId, OptionNote, Question, QuestionAnswer, Questions};
use crate::tui::parts::text_field::TextField;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Draft of the answer to one question. The names in JSON are those of earlier versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AnswerDraft {
    /// Index of the focused row.
    pub(super) cursor: usize,
    /// Indexes of the selected options, ascending.
    pub(super) picks: Vec<usize>,
    /// Text answer. Kept when the user selects an option instead.
    #[serde(rename = "own")]
    pub(super) text_answer: String,
    /// True if the text answer is selected.
    #[serde(rename = "taken")]
    pub(super) is_text_selected: bool,
    /// Notes by row.
    pub(super) notes: BTreeMap<usize, String>,
    /// Notes closed without Enter, by row.
    #[serde(rename = "halves")]
    pub(super) unfinished_notes: BTreeMap<usize, String>,
}

impl AnswerDraft {
    /// Returns the answer of this draft without its notes.
    pub(super) fn answer_value(&self) -> AnswerValue {
        match (self.picks.is_empty(), self.is_text_selected && !self.text_answer.is_empty()) {
            (false, _) => AnswerValue::Selected(self.picks.clone()),
            (true, true) => AnswerValue::Text(self.text_answer.clone()),
            (true, false) => AnswerValue::Skipped,
        }
    }

    /// Returns the answer with its notes. The note of the text answer applies to the answer as a whole.
    pub(super) fn to_answer(&self, question: &Question) -> QuestionAnswer {
        let mut answer = QuestionAnswer::new(&question.keyword, self.answer_value());
        for (&option, text) in &self.notes {
            match option < question.options.len() {
                true => answer.notes.push(OptionNote { option, text: text.clone() }),
                false => answer.note.clone_from(text),
            }
        }
        answer
    }

    /// Returns whether no option and no text answer is selected. Notes do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.answer_value() == AnswerValue::Skipped
    }

    /// Stores the text of a text field that was closed with Enter or by turning the page. A text answer is selected.
    pub(super) fn store_text(&mut self, kind: FieldKind, text: String) {
        match kind {
            FieldKind::Note => {
                self.unfinished_notes.remove(&self.cursor);
                match text.is_empty() {
                    true => _ = self.notes.remove(&self.cursor),
                    false => _ = self.notes.insert(self.cursor, text),
                }
            }
            FieldKind::TextAnswer => {
                self.is_text_selected = !text.is_empty();
                self.text_answer = text;
                if self.is_text_selected {
                    self.picks.clear();
                }
            }
        }
    }

    /// Stores the text of a text field that was closed with Escape. The text is shown again when the field is reopened; a
    /// changed text answer is not selected.
    pub(super) fn store_unfinished_text(&mut self, kind: FieldKind, text: String) {
        match kind {
            FieldKind::Note => {
                let note = self.notes.get(&self.cursor).map_or("", String::as_str);
                match text == note {
                    true => _ = self.unfinished_notes.remove(&self.cursor),
                    false => _ = self.unfinished_notes.insert(self.cursor, text),
                }
            }
            FieldKind::TextAnswer => {
                self.is_text_selected &= self.text_answer == text;
                self.text_answer = text;
            }
        }
    }

    /// Selects the text answer, if one is written and no option is selected.
    pub(super) fn select_written_text(&mut self) {
        self.is_text_selected |= self.picks.is_empty() && !self.text_answer.is_empty();
    }

    /// Removes everything that is invalid for this question.
    fn remove_invalid(mut self, question: &Question) -> Self {
        let options = question.options.len();
        let allows_text = accepts_text(question);
        let rows = options + usize::from(allows_text);
        self.cursor = self.cursor.min(rows.saturating_sub(1));
        self.notes.retain(|row, text| *row < rows && !text.is_empty());
        self.unfinished_notes.retain(|row, _| *row < rows);
        self.picks.retain(|pick| *pick < options);
        self.picks.sort_unstable();
        self.picks.dedup();
        if !question.is_multiple {
            self.picks.truncate(1);
        }
        self.is_text_selected &= allows_text && self.picks.is_empty();
        self
    }
}

/// Returns whether the question accepts a text answer.
pub(super) fn accepts_text(question: &Question) -> bool {
    question.allow_text || question.options.is_empty()
}

/// Saved form of a question prompt.
#[derive(Serialize, Deserialize)]
struct SavedPrompt {
    call: CallId,
    #[serde(default)]
    parked: bool,
    #[serde(default, rename = "at")]
    page: usize,
    #[serde(default)]
    pages: Vec<AnswerDraft>,
    #[serde(default, rename = "writing")]
    open_field: Option<(FieldKind, TextField)>,
}

impl QuestionPrompt {
    /// Returns the prompt as JSON; empty if the user changed nothing.
    pub(super) fn serialize_draft(&self) -> String {
        let is_field_empty =
            self.open_field.as_ref().is_none_or(|(_, field)| self.is_field_untouched && field.text().is_empty());
        let untouched = !self.is_parked && self.page == 0 && is_field_empty;
        if untouched && self.pages.iter().all(|page| *page == AnswerDraft::default()) {
            return String::new();
        }
        let saved = SavedPrompt {
            call: self.call.clone(),
            parked: self.is_parked,
            page: self.page,
            pages: self.pages.clone(),
            open_field: self.open_field.clone(),
        };
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Restores the prompt of a call. Returns a new prompt if the saved text is invalid or belongs to another call.
    pub fn from_saved_json(call: CallId, questions: &Questions, text: &str) -> Self {
        let mut prompt = Self::new(call, questions);
        let Ok(saved) = serde_json::from_str::<SavedPrompt>(text) else { return prompt };
        if saved.call != prompt.call || saved.pages.len() != questions.list.len() {
            return prompt;
        }
        prompt.pages = saved
            .pages
            .into_iter()
            .zip(&questions.list)
            .map(|(page, question)| page.remove_invalid(question))
            .collect();
        prompt.is_parked = saved.parked;
        let page = saved.page.min(prompt.page_count() - 1);
        prompt.show_page(page, questions);
        let question = questions.list.get(page);
        prompt.open_field = saved.open_field.filter(|(kind, _)| match kind {
            FieldKind::TextAnswer => question.is_some_and(accepts_text),
            FieldKind::Note => question.is_some(),
        });
        prompt.is_field_untouched = prompt.open_field.is_some();
        prompt
    }
}
