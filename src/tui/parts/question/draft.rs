//! What was chosen and written so far, and how it is kept until the card is there again.

use super::{QuestionCard, Writing};
use crate::chat::{CallId, Given, Note, Question, Questions, Source};
use crate::tui::parts::line::Line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was chosen so far for one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Draft {
    /// The open row.
    pub(super) cursor: usize,
    /// By index, in rising order.
    pub(super) picks: Vec<usize>,
    /// The person's own words; they stay when something else is taken.
    pub(super) own: String,
    /// Whether the own words are the answer.
    pub(super) taken: bool,
    /// What is said beside single rows, by row.
    pub(super) notes: BTreeMap<usize, String>,
    /// Notes that were left in the middle, by row.
    pub(super) halves: BTreeMap<usize, String>,
}

impl Draft {
    /// How the answer would come as it stands.
    pub(super) fn source(&self) -> Source {
        match (self.picks.is_empty(), self.taken && !self.own.is_empty()) {
            (false, _) => Source::Picked(self.picks.clone()),
            (true, true) => Source::Written(self.own.clone()),
            (true, false) => Source::Skipped,
        }
    }

    /// The answer as it stands, with its notes: what is noted to the own words belongs to the answer as a whole.
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

    /// The same, as far as it is possible for this question.
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

/// Whether own words answer a question.
pub(super) fn takes_own(question: &Question) -> bool {
    question.allow_text || question.options.is_empty()
}

/// A card as it is kept.
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
    /// What has to be kept of it, as text; empty where nothing was chosen, written or moved.
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

    /// The card of a call as it was kept; as new where the text is of another call, or of none.
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
