//! Text on the frame of a question prompt and on its chip.

use super::{QuestionCard, Reply, Writing};
use crate::chat::{Questions, Source};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::hints::{self, hint};
use crate::tui::parts::transcript::sub_agent::asked_by;
use crate::tui::text::{reveal, width};

/// Maximum width in cells of a question's keyword on the frame.
const KEYWORD: usize = 40;

impl QuestionCard {
    /// Returns the text of the chip of a parked prompt.
    pub fn chip(&self, keys: &Keymap) -> String {
        let count = self.pages.len();
        let words =
            if count == 1 { "1 question waiting".to_owned() } else { format!("{count} questions waiting") };
        let key = |action| keys.hint(Scope::Anywhere, action);
        format!("{words} · {} · {} decline", key(Action::BringQuestion), key(Action::DeclineQuestion))
    }

    /// Explains that a digit has no option or question.
    pub(super) fn no_such(&self, digit: usize, asked: &Questions) -> Reply {
        let (what, last) = match self.at == self.pages.len() {
            true => ("question", self.pages.len()),
            false => ("option", self.choices(asked)),
        };
        let last = match last.min(9) {
            0 | 1 => "1".to_owned(),
            last => format!("1-{last}"),
        };
        Reply::Says(format!("No {what} {digit} · {last} to pick"))
    }

    /// Returns the text at the left and at the right of the upper border.
    pub(super) fn heading(&self, asked: &Questions, by: Option<&str>) -> (String, String) {
        let count = self.pages.len();
        let answered = self.pages.iter().filter(|page| page.source() != Source::Skipped).count();
        let (left, mut right) = match asked.list.get(self.at) {
            None => ("your answers".to_owned(), format!("{answered} of {count} answered")),
            // The tool made this keyword up because the model gave none.
            Some(question) if question.keyword == format!("question-{}", self.at) => {
                ("question".to_owned(), format!("{} of {count}", self.at + 1))
            }
            Some(question) => {
                let name = reveal::one_line(&question.keyword);
                let name = width::fit(&name, KEYWORD);
                (format!("question · {name}"), format!("{} of {count}", self.at + 1))
            }
        };
        let left = by.map(|name| format!("{} · {left}", asked_by(name))).unwrap_or(left);
        if count == 1 {
            right.clear();
        } else if answered > 0 && self.at < count {
            right.push_str(&format!(" · {answered} answered"));
        }
        (left, right)
    }

    /// Returns the key hints, longest variant first. `more` labels the key that scrolls content that does not fit.
    pub(super) fn hints(&self, asked: &Questions, keys: &Keymap, more: Option<&str>) -> Vec<String> {
        let key = |action| keys.hint(Scope::Question, action);
        let line = |action| keys.hint(Scope::Line, action);
        if let Some((what, _)) = &self.writing {
            let take = match what {
                Writing::Note => "save note",
                Writing::OwnWords if self.pages.len() == 1 => "send",
                Writing::OwnWords => "confirm",
            };
            let (enter, back) = (line(Action::Accept), line(Action::Close));
            let mut hints = Vec::new();
            if *what == Writing::OwnWords {
                let wraps = keys.chords_of(Scope::Line, Action::BreakLine);
                // Every terminal reports Alt chords as distinct keys.
                let wraps = wraps.iter().find(|chord| chord.starts_with("alt")).or(wraps.first());
                hints.extend(
                    wraps.map(|wraps| format!("{enter} {take} · {wraps} new line · {back} back, keep text")),
                );
                hints.extend(wraps.map(|wraps| format!("{enter} {take} · {wraps} new line · {back} back")));
            }
            hints.extend([
                format!("{enter} {take} · {back} back, keep text"),
                format!("{enter} {take} · {back} back"),
            ]);
            return hints;
        }
        let (enter, later) = (key(Action::Accept), hint(3, &key(Action::Park), &["later"]));
        let no = hint(5, &key(Action::Decline), &["decline"]);
        let read = more.and_then(|words| hint(1, &key(Action::ReadDown), &[words]));
        let next = |words: &[&str]| match self.pages.len() {
            0 | 1 => None,
            _ => hint(4, &key(Action::NextQuestion), words),
        };
        let digits = |last: usize| if last > 1 { format!("1-{last}") } else { "1".to_owned() };
        let Some(question) = asked.list.get(self.at) else {
            let last = self.pages.len().min(9);
            let change = hint(2, &digits(last), &["change"]);
            let (send, first) = (hint(0, &enter, &["send"]), next(&["first question", "first"]));
            return hints::rows([send, change, first, read, later, no]);
        };
        let most = self.choices(asked).min(9);
        let (pick, send) = match (question.multi, self.pages.len()) {
            (true, 1) => ("tick", "send"),
            (true, _) => ("tick", "continue"),
            (false, 1) => ("pick", "send"),
            (false, _) => ("pick", "confirm"),
        };
        hints::rows([
            hint(8, "↑↓", &["move"]),
            hint(2, &digits(most), &[pick]),
            hint(6, &key(Action::Note), &["note"]),
            next(&["next question", "next"]),
            read,
            hint(0, &enter, &[send]),
            later,
            no,
        ])
    }
}
