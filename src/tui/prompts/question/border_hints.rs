//! Titles and key hints on the border of a question prompt.

use super::declining::Declining;
use super::{FieldKind, QuestionPrompt};
use crate::chat::{AnswerValue, Questions};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::text_field::TextField;
use crate::tui::prompts::prompt::KeyResult;

/// Maximum width in cells of a question's keyword on the frame.
const KEYWORD_WIDTH: usize = 40;

impl QuestionPrompt {
    /// Explains that no option has this number, or no question on the review page.
    pub(super) fn explain_missing_row(&self, digit: usize, questions: &Questions) -> KeyResult {
        let (item, last) = match self.is_review() {
            true => ("question", self.pages.len()),
            false => ("option", self.option_count(questions)),
        };
        let digits = match last.min(9) {
            0 | 1 => "1".to_owned(),
            last => format!("1-{last}"),
        };
        KeyResult::Explained(format!("No {item} {digit} · {digits} to pick"))
    }

    /// Returns the text at the left and at the right of the upper border.
    pub(super) fn build_title(&self, questions: &Questions, origin: Option<&str>) -> (String, String) {
        let count = self.pages.len();
        let answered = self.pages.iter().filter(|page| page.answer_value() != AnswerValue::Skipped).count();
        let (title, mut right_title) = match questions.list.get(self.page) {
            None => ("Your answers".to_owned(), format!("{answered} of {count} answered")),
            Some(question) if question.has_generated_keyword(self.page) => {
                ("Question".to_owned(), format!("{} of {count}", self.page + 1))
            }
            Some(question) => {
                let name = reveal::reveal_line(&question.keyword);
                let name = width::fit_start(&name, KEYWORD_WIDTH);
                (format!("Question · {name}"), format!("{} of {count}", self.page + 1))
            }
        };
        let title = origin.map(|origin| format!("{origin} · {title}")).unwrap_or(title);
        if count == 1 {
            right_title.clear();
        } else if answered > 0 && self.page < count {
            right_title.push_str(&format!(" · {answered} answered"));
        }
        (title, right_title)
    }

    /// Returns the key hints, longest variant first. `scroll_label` labels the key that scrolls content that
    /// does not fit.
    pub(super) fn build_hints(&self, questions: &Questions, keys: &Keymap, scroll_label: Option<&str>) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Question, action);
        if let Some((kind, field)) = &self.open_field {
            return self.build_field_hints(*kind, field, keys);
        }
        if self.declining == Declining::Asked {
            let decline_key = key(Action::Decline);
            return vec![
                format!("{decline_key} again to decline · any other key keeps the {}", self.noun()),
                format!("{decline_key} again to decline"),
            ];
        }
        let later_label = if self.is_for_server { "cancel" } else { "later" };
        // The first argument of `key_hint` is the priority: the hint with the highest number is removed first, 0 is
        // never removed.
        let (accept_key, later_hint) = (key(Action::Accept), key_hint(3, &key(Action::AnswerLater), &[later_label]));
        let decline_hint = key_hint(5, &key(Action::Decline), &["decline"]);
        let scroll_hint = scroll_label.and_then(|label| key_hint(1, &key(Action::ScrollTextDown), &[label]));
        let next_hint = |labels: &[&str]| match self.pages.len() {
            0 | 1 => None,
            _ => key_hint(4, &key(Action::NextQuestion), labels),
        };
        let digit_range = |last: usize| if last > 1 { format!("1-{last}") } else { "1".to_owned() };
        let Some(question) = questions.list.get(self.page) else {
            let last = self.pages.len().min(9);
            let change_hint = key_hint(2, &digit_range(last), &["change"]);
            let (send_hint, first_hint) =
                (key_hint(0, &accept_key, &["send"]), next_hint(&["first question", "first"]));
            return key_hints::hint_rows([send_hint, change_hint, first_hint, scroll_hint, later_hint, decline_hint]);
        };
        let last_digit = self.option_count(questions).min(9);
        // A single row has nothing to move to and nothing else to pick.
        let has_options = !question.options.is_empty();
        let focused_draft = self.pages.get(self.page).filter(|draft| draft.cursor >= question.options.len());
        let accept_label = match (focused_draft.map(|draft| draft.text_answer.is_empty()), self.pages.len()) {
            // On the row of the text answer the key opens the text field, unless there is nothing else to confirm.
            (Some(true), _) => "write",
            (Some(false), _) if has_options => "edit",
            (_, 1) => "send",
            (None, _) if question.is_multiple => "continue",
            (_, _) => "confirm",
        };
        // The user has no need for a note on what they wrote themselves.
        let is_own_text = focused_draft.is_some_and(|draft| !draft.text_answer.is_empty());
        let takes_note = has_options && !is_own_text && !self.is_for_server;
        key_hints::hint_rows([
            key_hint(8, "↑↓", &["move"]).filter(|_| has_options),
            key_hint(2, &digit_range(last_digit), &["pick"]).filter(|_| has_options),
            key_hint(6, &key(Action::Note), &["note"]).filter(|_| takes_note),
            next_hint(&["next question", "next"]),
            scroll_hint,
            key_hint(0, &accept_key, &[accept_label]),
            key_hint(2, "1", &["edit"]).filter(|_| !has_options && is_own_text),
            later_hint,
            decline_hint,
        ])
    }

    /// Returns the key hints of the open text field, longest variant first.
    fn build_field_hints(&self, kind: FieldKind, field: &TextField, keys: &Keymap) -> Vec<String> {
        let field_key = |action| keys.first_chord(Scope::TextField, action);
        let is_answer = kind == FieldKind::TextAnswer;
        let accept_label = match kind {
            FieldKind::Note => "save note",
            FieldKind::TextAnswer if self.pages.len() == 1 => "send",
            FieldKind::TextAnswer => "confirm",
        };
        let next_key = keys.first_chord(Scope::Question, Action::NextQuestion);
        let next_hint = key_hint(2, &next_key, &["next question", "next"]);
        let chords = keys.chords_for(Scope::TextField, Action::InsertLineBreak);
        // Every terminal reports Alt chords as distinct keys.
        let chord = chords.iter().find(|chord| chord.starts_with("alt")).or(chords.first());
        let close_labels: &[&str] =
            if field.text().trim().is_empty() { &["back"] } else { &["back, keep text", "back"] };
        key_hints::hint_rows([
            key_hint(0, &field_key(Action::Accept), &[accept_label]),
            next_hint.filter(|_| is_answer && self.pages.len() > 1),
            chord.filter(|_| is_answer).and_then(|chord| key_hint(3, chord, &["new line"])),
            key_hint(1, &field_key(Action::Close), close_labels),
        ])
    }
}
