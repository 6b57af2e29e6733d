//! Drafts of answers and how a question prompt is saved and restored.

use super::{QuestionCard, Writing};
use crate::chat::{CallId, Given, Note, Question, Questions, Source};
use crate::tui::parts::line::Line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Draft of the answer to one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Draft {
    /// Index of the focused row.
    pub(super) cursor: usize,
    /// Indexes of the selected options, ascending.
    pub(super) picks: Vec<usize>,
    /// Text answer. Kept when the user selects an option instead.
    pub(super) own: String,
    /// True if the text answer is selected.
    pub(super) taken: bool,
    /// Notes by row.
    pub(super) notes: BTreeMap<usize, String>,
    /// Notes closed without Enter, by row.
    pub(super) halves: BTreeMap<usize, String>,
}

impl Draft {
    /// Returns the answer of this draft without its notes.
    pub(super) fn source(&self) -> Source {
        match (self.picks.is_empty(), self.taken && !self.own.is_empty()) {
            (false, _) => Source::Picked(self.picks.clone()),
            (true, true) => Source::Written(self.own.clone()),
            (true, false) => Source::Skipped,
        }
    }

    /// Returns the answer with its notes. The note of the text answer applies to the answer as a whole.
    pub(super) fn given(&self, question: &Question) -> Given {
        let mut given = Given::new(&question.keyword, self.source());
        for (&option, text) in &self.notes {
            match option < question.options.len() {
                true => given.notes.push(Note { option, text: text.clone() }),
                false => given.note.clone_from(text),
            }
        }
        given
    }

    pub(super) fn is_empty(&self) -> bool {
        self.source() == Source::Skipped
    }

    /// Removes everything that is invalid for this question.
    fn fitted(mut self, question: &Question) -> Self {
        let options = question.options.len();
        let own = takes_own(question);
        let rows = options + usize::from(own);
        self.cursor = self.cursor.min(rows.saturating_sub(1));
        self.notes.retain(|row, text| *row < rows && !text.is_empty());
        self.halves.retain(|row, _| *row < rows);
        self.picks.retain(|pick| *pick < options);
        self.picks.sort_unstable();
        self.picks.dedup();
        if !question.multi {
            self.picks.truncate(1);
        }
        self.taken &= own && self.picks.is_empty();
        self
    }
}

/// Returns whether the question accepts a text answer.
pub(super) fn takes_own(question: &Question) -> bool {
    question.allow_text || question.options.is_empty()
}

/// Saved form of a question prompt.
#[derive(Serialize, Deserialize)]
struct Kept {
    call: CallId,
    #[serde(default)]
    parked: bool,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    pages: Vec<Draft>,
    #[serde(default)]
    writing: Option<(Writing, Line)>,
}

impl QuestionCard {
    /// Serializes the prompt as JSON. Returns an empty string if the user changed nothing.
    pub fn kept(&self) -> String {
        let untouched = !self.parked && self.at == 0 && self.writing.is_none();
        if untouched && self.pages.iter().all(|page| *page == Draft::default()) {
            return String::new();
        }
        let kept = Kept {
            call: self.call.clone(),
            parked: self.parked,
            at: self.at,
            pages: self.pages.clone(),
            writing: self.writing.clone(),
        };
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Restores the prompt of a call. Returns a new prompt if the saved text is invalid or belongs to another call.
    pub fn kept_as(call: CallId, asked: &Questions, text: &str) -> Self {
        let mut card = Self::new(call, asked);
        let Ok(kept) = serde_json::from_str::<Kept>(text) else { return card };
        if kept.call != card.call || kept.pages.len() != asked.list.len() {
            return card;
        }
        card.pages =
            kept.pages.into_iter().zip(&asked.list).map(|(page, question)| page.fitted(question)).collect();
        card.parked = kept.parked;
        card.at = kept.at.min(card.page_count() - 1);
        let on_question = asked.list.get(card.at);
        card.writing = kept.writing.filter(|(what, _)| match what {
            Writing::OwnWords => on_question.is_some_and(takes_own),
            Writing::Note => on_question.is_some(),
        });
        card
    }
}
