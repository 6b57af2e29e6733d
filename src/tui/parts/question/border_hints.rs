//! Text on the frame of a question prompt and on its chip.

use super::{KeyResult, LineKind, QuestionPrompt};
use crate::chat::{AnswerValue, Questions};
use crate::text::{reveal, width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{self, key_hint};
use crate::tui::parts::sub_agent_name::origin_line;

/// Maximum width in cells of a question's keyword on the frame.
const KEYWORD_WIDTH: usize = 40;

impl QuestionPrompt {
    /// Returns the text of the chip of a parked prompt.
    pub fn chip_text(&self, keys: &Keymap) -> String {
        let count = self.pages.len();
        let words = if count == 1 { "1 question waiting".to_owned() } else { format!("{count} questions waiting") };
        let key = |action| keys.first_chord(Scope::Anywhere, action);
        format!("{words} · {} · {} decline", key(Action::OpenQuestion), key(Action::DeclineQuestion))
    }

    /// Explains that a digit has no option or question.
    pub(super) fn explain_missing_row(&self, digit: usize, asked: &Questions) -> KeyResult {
        let (what, last) = match self.page == self.pages.len() {
            true => ("question", self.pages.len()),
            false => ("option", self.option_count(asked)),
        };
        let last = match last.min(9) {
            0 | 1 => "1".to_owned(),
            last => format!("1-{last}"),
        };
        KeyResult::Explained(format!("No {what} {digit} · {last} to pick"))
    }

    /// Returns the text at the left and at the right of the upper border.
    pub(super) fn build_title(&self, asked: &Questions, by: Option<&str>) -> (String, String) {
        let count = self.pages.len();
        let answered = self.pages.iter().filter(|page| page.source() != AnswerValue::Skipped).count();
        let (left, mut right) = match asked.list.get(self.page) {
            None => ("Your answers".to_owned(), format!("{answered} of {count} answered")),
            // The tool made this keyword up because the model gave none.
            Some(question) if question.keyword == format!("question-{}", self.page) => {
                ("Question".to_owned(), format!("{} of {count}", self.page + 1))
            }
            Some(question) => {
                let name = reveal::reveal_line(&question.keyword);
                let name = width::fit_start(&name, KEYWORD_WIDTH);
                (format!("Question · {name}"), format!("{} of {count}", self.page + 1))
            }
        };
        let left = by.map(|name| format!("{} · {left}", origin_line(name))).unwrap_or(left);
        if count == 1 {
            right.clear();
        } else if answered > 0 && self.page < count {
            right.push_str(&format!(" · {answered} answered"));
        }
        (left, right)
    }

    /// Returns the key hints, longest variant first. `more` labels the key that scrolls content that does not fit.
    pub(super) fn build_hints(&self, asked: &Questions, keys: &Keymap, more: Option<&str>) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Question, action);
        let line = |action| keys.first_chord(Scope::TextField, action);
        if let Some((what, _)) = &self.open_line {
            let take = match what {
                LineKind::Note => "save note",
                LineKind::TextAnswer if self.pages.len() == 1 => "send",
                LineKind::TextAnswer => "confirm",
            };
            let (enter, back) = (line(Action::Accept), line(Action::Close));
            let mut hints = Vec::new();
            if *what == LineKind::TextAnswer {
                let wraps = keys.chords_of(Scope::TextField, Action::InsertLineBreak);
                // Every terminal reports Alt chords as distinct keys.
                let wraps = wraps.iter().find(|chord| chord.starts_with("alt")).or(wraps.first());
                hints.extend(wraps.map(|wraps| format!("{enter} {take} · {wraps} new line · {back} back, keep text")));
                hints.extend(wraps.map(|wraps| format!("{enter} {take} · {wraps} new line · {back} back")));
            }
            hints.extend([format!("{enter} {take} · {back} back, keep text"), format!("{enter} {take} · {back} back")]);
            return hints;
        }
        let (enter, later) = (key(Action::Accept), key_hint(3, &key(Action::AnswerLater), &["later"]));
        let no = key_hint(5, &key(Action::Decline), &["decline"]);
        let read = more.and_then(|words| key_hint(1, &key(Action::ScrollTextDown), &[words]));
        let next = |words: &[&str]| match self.pages.len() {
            0 | 1 => None,
            _ => key_hint(4, &key(Action::NextQuestion), words),
        };
        let digits = |last: usize| if last > 1 { format!("1-{last}") } else { "1".to_owned() };
        let Some(question) = asked.list.get(self.page) else {
            let last = self.pages.len().min(9);
            let change = key_hint(2, &digits(last), &["change"]);
            let (send, first) = (key_hint(0, &enter, &["send"]), next(&["first question", "first"]));
            return key_hints::hint_rows([send, change, first, read, later, no]);
        };
        let most = self.option_count(asked).min(9);
        let (pick, send) = match (question.is_multiple, self.pages.len()) {
            (true, 1) => ("tick", "send"),
            (true, _) => ("tick", "continue"),
            (false, 1) => ("pick", "send"),
            (false, _) => ("pick", "confirm"),
        };
        key_hints::hint_rows([
            key_hint(8, "↑↓", &["move"]),
            key_hint(2, &digits(most), &[pick]),
            key_hint(6, &key(Action::Note), &["note"]),
            next(&["next question", "next"]),
            read,
            key_hint(0, &enter, &[send]),
            later,
            no,
        ])
    }
}
