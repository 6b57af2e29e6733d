//! What stands on the frame of a question card, and on its chip.

use super::{QuestionCard, Reply, Writing};
use crate::chat::{Questions, Source};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::transcript::sub_agent::asked_by;
use crate::tui::text::{reveal, width};

/// Cells of a question's name on the frame.
const KEYWORD: usize = 40;

impl QuestionCard {
    /// The words of the chip while the card is parked.
    pub fn chip(&self, keys: &Keymap) -> String {
        let count = self.pages.len();
        let words =
            if count == 1 { "1 question waits".to_owned() } else { format!("{count} questions wait") };
        let key = |action| keys.hint(Scope::Anywhere, action);
        format!("{words} · {} · {} decline", key(Action::BringQuestion), key(Action::DeclineQuestion))
    }

    /// What the card says to a digit for which there is no row or no question.
    pub(super) fn no_such(&self, digit: usize, asked: &Questions) -> Reply {
        let (what, last) = match self.at == self.pages.len() {
            true => ("question", self.pages.len()),
            false => ("answer", self.choices(asked)),
        };
        let last = match last.min(9) {
            0 | 1 => "1".to_owned(),
            last => format!("1-{last}"),
        };
        Reply::Says(format!("there is no {what} {digit} · {last} pick one"))
    }

    /// What stands at the left and at the right of the upper border.
    pub(super) fn heading(&self, asked: &Questions, by: Option<&str>) -> (String, String) {
        let count = self.pages.len();
        let answered = self.pages.iter().filter(|page| page.source() != Source::Skipped).count();
        let (left, mut right) = match asked.list.get(self.at) {
            None => ("your answers".to_owned(), format!("{answered} of {count} answered")),
            // A name the tool made up says nothing.
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

    /// What the keys do now, from the longest way to say it to the shortest.
    pub(super) fn hints(&self, asked: &Questions, keys: &Keymap, more: bool) -> Vec<String> {
        let key = |action| keys.hint(Scope::Question, action);
        let line = |action| keys.hint(Scope::Line, action);
        if let Some((what, _)) = &self.writing {
            let take = match what {
                Writing::Note => "keep the note",
                Writing::OwnWords if self.pages.len() == 1 => "send",
                Writing::OwnWords => "take",
            };
            let (enter, back) = (line(Action::Accept), line(Action::Close));
            let mut hints = Vec::new();
            if *what == Writing::OwnWords {
                let wraps = keys.chords_of(Scope::Line, Action::BreakLine);
                // The one that every terminal can tell apart.
                let wraps = wraps.iter().find(|chord| chord.starts_with("alt")).or(wraps.first());
                hints.extend(wraps.map(|wraps| {
                    format!("{enter} {take} · {wraps} new line · {back} back, what is written stays")
                }));
                hints.extend(wraps.map(|wraps| format!("{enter} {take} · {wraps} new line · {back} back")));
            }
            hints.extend([
                format!("{enter} {take} · {back} back, what is written stays"),
                format!("{enter} {take} · {back} back"),
            ]);
            return hints;
        }
        let (enter, later, next) = (key(Action::Accept), key(Action::Park), key(Action::NextQuestion));
        let no = key(Action::Decline);
        let read = if more { format!(" · {} read on", key(Action::ReadDown)) } else { String::new() };
        let Some(question) = asked.list.get(self.at) else {
            let last = self.pages.len().min(9);
            return vec![
                format!(
                    "{enter} send · 1-{last} change · {next} first question{read} · {later} later · {no} decline"
                ),
                format!("{enter} send · 1-{last} change{read} · {later} later · {no} decline"),
                format!("{enter} send · 1-{last} change · {later} later"),
                format!("{enter} send"),
            ];
        };
        let most = self.choices(asked).min(9);
        let (pick, send) = match (question.multi, self.pages.len()) {
            (true, 1) => ("tick", "send"),
            (true, _) => ("tick", "go on"),
            (false, 1) => ("pick", "send"),
            (false, _) => ("pick", "take"),
        };
        let digits = if most > 1 { format!("1-{most}") } else { "1".to_owned() };
        let tab = if self.pages.len() > 1 { format!(" · {next} next question") } else { String::new() };
        let note = key(Action::Note);
        let mut hints = vec![
            format!(
                "↑↓ move · {digits} {pick} · {note} note{tab}{read} · {enter} {send} · {later} later · {no} decline"
            ),
            format!(
                "{digits} {pick} · {note} note{tab}{read} · {enter} {send} · {later} later · {no} decline"
            ),
        ];
        if more {
            // Where something does not fit, how to read on is worth more than how to note or decline.
            hints.push(format!("{digits} {pick}{read} · {enter} {send} · {later} later"));
            hints.push(format!("{enter} {send}{read}"));
        }
        hints.extend([
            format!("{digits} {pick} · {note} note · {enter} {send} · {later} later · {no} decline"),
            format!("{digits} {pick} · {enter} {send} · {later} later"),
            format!("{enter} {send} · {later} later"),
        ]);
        hints
    }
}
