//! Titles and key hints on the border of a question prompt.

use super::declining::Declining;
use super::{FieldKind, QuestionPrompt};
use crate::chat::{AnswerValue, Questions};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{self, key_hint};
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
            // The tool generated this keyword because the model gave none.
            Some(question) if question.keyword == format!("question-{}", self.page) => {
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
        let text_field_key = |action| keys.first_chord(Scope::TextField, action);
        if let Some((kind, _)) = &self.open_field {
            let accept_label = match kind {
                FieldKind::Note => "save note",
                FieldKind::TextAnswer if self.pages.len() == 1 => "send",
                FieldKind::TextAnswer => "confirm",
            };
            let accept_hint = format!("{} {accept_label}", text_field_key(Action::Accept));
            let close_key = text_field_key(Action::Close);
            let chords = keys.chords_for(Scope::TextField, Action::InsertLineBreak);
            // Every terminal reports Alt chords as distinct keys.
            let chord = chords.iter().find(|chord| chord.starts_with("alt")).or(chords.first());
            let chord = chord.filter(|_| *kind == FieldKind::TextAnswer);
            let with_line_break = chord.map(|chord| format!("{accept_hint} · {chord} new line"));
            let first_hints = with_line_break.into_iter().chain([accept_hint]);
            return first_hints
                .flat_map(|hints| [" back, keep text", " back"].map(|label| format!("{hints} · {close_key}{label}")))
                .collect();
        }
        if self.declining == Declining::Asked {
            let decline_key = key(Action::Decline);
            return vec![
                format!("{decline_key} again to decline · any other key keeps the questions"),
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
        let send_label = match (question.is_multiple, self.pages.len()) {
            (_, 1) => "send",
            (true, _) => "continue",
            (false, _) => "confirm",
        };
        key_hints::hint_rows([
            key_hint(8, "↑↓", &["move"]),
            key_hint(2, &digit_range(last_digit), &["pick"]),
            key_hint(6, &key(Action::Note), &["note"]).filter(|_| !self.is_for_server),
            next_hint(&["next question", "next"]),
            scroll_hint,
            key_hint(0, &accept_key, &[send_label]),
            later_hint,
            decline_hint,
        ])
    }
}
