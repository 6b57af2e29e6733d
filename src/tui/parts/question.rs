//! The question prompt: shows one question per page and sends only answers that the user chose.

mod draft;
mod hints;
mod looks;
mod rows;

use super::line::{self, Line};
use super::listening::{AT_ONCE, Listening};
use crate::chat::{Answer, CallId, Questions, Status};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crossterm::event::{KeyEvent, KeyEventKind};
use draft::{Draft, takes_own};
use ratatui::layout::Position;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Question prompt of one call. Its draft survives parking and is kept until the call is answered or declined.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionCard {
    call: CallId,
    seen: Option<Duration>,
    parked: bool,
    /// Index of the page shown. The page after the last question is the review of all answers.
    at: usize,
    pages: Vec<Draft>,
    writing: Option<(Writing, Line)>,
    rows: usize,
    /// Width in cells of the text answer in the last frame.
    cells: usize,
    /// Scroll offset of content that does not fit: first the question, then the focused option, then its preview. On the
    /// review page, of the answers.
    read: usize,
    /// Part of `read` that scrolls the question.
    text: usize,
}

/// Purpose of the line being edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writing {
    OwnWords,
    Note,
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The prompt handled the key, or ignored it; nothing is left to do.
    Nothing,
    /// The key had no effect. The text gives the reason and the key that works, separated by ` · `.
    Says(String),
    /// An option was selected and the prompt stays open. Repeats of the same held key must be ignored.
    Took,
    /// The key is not for the prompt: it goes to the composer and delays the prompt like any key typed there.
    Passed,
    /// The prompt was parked with its draft.
    Parked,
    /// The answer to send to the model.
    Answered(Answer),
}

/// Part of the prompt that a frame showed. Pass it to [`QuestionCard::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Position of the terminal's cursor if a line is being edited.
    pub cursor: Option<Position>,
    readable: bool,
    rows: usize,
    cells: usize,
    read: usize,
    text: usize,
}

impl QuestionCard {
    /// Creates the prompt of a call with nothing selected.
    pub fn new(call: CallId, asked: &Questions) -> Self {
        let pages = vec![Draft::default(); asked.list.len()];
        Self {
            call,
            seen: None,
            parked: false,
            at: 0,
            pages,
            writing: None,
            rows: 1,
            cells: usize::MAX,
            read: 0,
            text: 0,
        }
    }

    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Returns the time of the first frame since the prompt was opened or restored.
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Returns the index of the page. The page after the last question is the review of all answers.
    pub fn page(&self) -> usize {
        self.at
    }

    /// Returns whether the prompt is parked as a chip above the composer.
    pub fn is_parked(&self) -> bool {
        self.parked
    }

    /// Returns whether a line is being edited. The prompt then receives every key.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Parks the prompt with its draft.
    pub fn park(&mut self) {
        self.parked = true;
    }

    /// Restores a parked prompt with its draft.
    pub fn bring_back(&mut self) {
        (self.parked, self.seen) = (false, None);
    }

    /// Returns the answer that declines the questions, for the key on the chip.
    pub fn declined() -> Answer {
        Answer::without(Status::Declined)
    }

    /// Records which part of the prompt is now on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        (self.rows, self.read, self.text) = (seen.rows.max(1), seen.read, seen.text);
        self.cells = seen.cells.max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
        }
    }

    /// Inserts pasted text into the line being edited. Returns false if there is none: a paste never answers.
    pub fn pasted(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.writing else { return false };
        line.insert(text);
        true
    }

    /// Handles a key that was checked with [`super::listening::Presses::goes_on`].
    pub fn key(&mut self, key: &KeyEvent, keys: &Keymap, asked: &Questions, listening: Listening) -> Reply {
        if self.writing.is_some() {
            return self.write(key, keys, asked, listening);
        }
        let digit =
            Chord::from(key).typed().and_then(|letter| letter.to_digit(10)).filter(|digit| *digit > 0);
        let action = keys.lookup(Scope::Question, key);
        if self.parked || !listening.now() || (action.is_none() && digit.is_none()) {
            return Reply::Passed;
        }
        match action {
            Some(action) => self.act(action, key.kind == KeyEventKind::Press, keys, asked),
            None if key.kind != KeyEventKind::Press => Reply::Nothing,
            None => {
                let row = digit.map_or(0, |digit| digit as usize - 1);
                if self.at == self.pages.len() && row < self.pages.len() {
                    // On the review page a digit opens that question.
                    self.turn_to(row);
                } else if self.at < self.pages.len() && row < self.choices(asked) {
                    self.move_to(row);
                    return self.pick(asked, true);
                } else {
                    return self.no_such(row + 1, asked);
                }
                Reply::Nothing
            }
        }
    }

    /// Handles a key for the line being edited.
    fn write(&mut self, key: &KeyEvent, keys: &Keymap, asked: &Questions, listening: Listening) -> Reply {
        let Some((what, line)) = &mut self.writing else { return Reply::Nothing };
        let what = *what;
        if what == Writing::OwnWords
            && let Some(way @ (Action::Up | Action::Down)) = keys.lookup(Scope::List, key)
        {
            line.step(self.cells, way == Action::Down);
            return Reply::Nothing;
        }
        match line.key(key, keys) {
            // Enter that arrives with a paste is part of the pasted text.
            line::Reply::Accepted if matches!(listening, Listening::Until(_)) => {
                if what != Writing::OwnWords {
                    return Reply::Says(AT_ONCE.to_owned());
                }
                line.insert("\n");
            }
            line::Reply::Accepted if key.kind == KeyEventKind::Press => {
                let text = line.text().trim().to_owned();
                self.writing = None;
                return self.written(what, text, asked);
            }
            line::Reply::Closed => {
                let text = line.text().trim().to_owned();
                self.writing = None;
                self.left(what, text);
            }
            line::Reply::Passed => return Reply::Passed,
            line::Reply::Moved | line::Reply::Changed | line::Reply::Accepted => {}
        }
        Reply::Nothing
    }

    /// Scrolls content that does not fit by a number of lines, for the mouse wheel.
    pub fn read_on(&mut self, lines: isize) {
        self.read = self.read.saturating_add_signed(lines);
    }

    fn act(&mut self, action: Action, pressed: bool, keys: &Keymap, asked: &Questions) -> Reply {
        let last =
            if self.at < self.pages.len() { self.choices(asked).saturating_sub(1) } else { usize::MAX };
        let cursor = self.pages.get(self.at).map_or(self.read, |page| page.cursor);
        match action {
            Action::Up => self.move_to(cursor.saturating_sub(1)),
            Action::Down => self.move_to((cursor + 1).min(last)),
            Action::PageUp => self.move_to(cursor.saturating_sub(self.rows)),
            Action::PageDown => self.move_to((cursor + self.rows).min(last)),
            Action::Top => self.move_to(0),
            Action::Bottom => self.move_to(last),
            Action::ReadUp => self.read = self.read.saturating_sub(1),
            Action::ReadDown => self.read = self.read.saturating_add(1),
            Action::NextQuestion => self.turn_to((self.at + 1) % self.page_count()),
            Action::PreviousQuestion => self.turn_to((self.at + self.page_count() - 1) % self.page_count()),
            Action::Accept | Action::Tick | Action::Decline | Action::Park | Action::Note if !pressed => {}
            Action::Accept if self.at == self.pages.len() && self.pages.iter().all(Draft::is_empty) => {
                let (later, no) =
                    (keys.hint(Scope::Question, Action::Park), keys.hint(Scope::Question, Action::Decline));
                return Reply::Says(format!("No answers yet · {later} for later, {no} to decline"));
            }
            Action::Accept if self.at == self.pages.len() => return self.send(asked),
            Action::Accept => return self.pick(asked, false),
            Action::Tick if self.at < self.pages.len() && asked.list[self.at].multi => {
                return self.pick(asked, true);
            }
            Action::Note if self.at < self.pages.len() => {
                let page = &self.pages[self.at];
                let left = page.halves.get(&page.cursor).or(page.notes.get(&page.cursor));
                self.writing = Some((Writing::Note, Line::new(left.map_or("", String::as_str))));
            }
            Action::Decline => return Reply::Answered(Self::declined()),
            Action::Park => {
                self.parked = true;
                return Reply::Parked;
            }
            _ => return Reply::Passed,
        }
        Reply::Nothing
    }

    /// Selects the option under the cursor. In a multiple-choice question `tick` toggles it; otherwise Enter continues.
    fn pick(&mut self, asked: &Questions, tick: bool) -> Reply {
        let question = &asked.list[self.at];
        let page = &mut self.pages[self.at];
        if page.cursor >= question.options.len() {
            if takes_own(question) {
                self.writing = Some((Writing::OwnWords, Line::of_lines(&page.own)));
            }
            return Reply::Nothing;
        }
        if question.multi {
            let none = page.picks.is_empty();
            match page.picks.binary_search(&page.cursor) {
                Ok(at) if tick => _ = page.picks.remove(at),
                Err(at) if tick || none => page.picks.insert(at, page.cursor),
                Ok(_) | Err(_) => {}
            }
            page.taken = false;
            return match (tick, none) {
                (true, _) => Reply::Nothing,
                // Show the option that Enter just ticked before sending it.
                (false, true) => Reply::Took,
                (false, false) => self.go_on(asked),
            };
        }
        page.picks = vec![page.cursor];
        page.taken = false;
        // A digit does not send a single question, so that the user sees the choice first. Enter sends it.
        if tick && self.pages.len() == 1 { Reply::Nothing } else { self.go_on(asked) }
    }

    fn written(&mut self, what: Writing, text: String, asked: &Questions) -> Reply {
        let page = &mut self.pages[self.at];
        match what {
            Writing::Note => {
                page.halves.remove(&page.cursor);
                match text.is_empty() {
                    true => _ = page.notes.remove(&page.cursor),
                    false => _ = page.notes.insert(page.cursor, text),
                }
            }
            Writing::OwnWords => {
                page.taken = !text.is_empty();
                page.own = text;
                if page.taken {
                    page.picks.clear();
                    return self.go_on(asked);
                }
            }
        }
        Reply::Nothing
    }

    /// Keeps the text of a line that was closed without Enter. It is no answer; reopening the line shows it again.
    fn left(&mut self, what: Writing, text: String) {
        let page = &mut self.pages[self.at];
        match what {
            Writing::Note => {
                let note = page.notes.get(&page.cursor).map_or("", String::as_str);
                match text == note {
                    true => _ = page.halves.remove(&page.cursor),
                    false => _ = page.halves.insert(page.cursor, text),
                }
            }
            Writing::OwnWords => {
                page.taken &= page.own == text;
                page.own = text;
            }
        }
    }

    /// Moves to the next unanswered question, or to the review page. Sends the answer of a single question.
    fn go_on(&mut self, asked: &Questions) -> Reply {
        if self.pages.len() == 1 {
            return self.send(asked);
        }
        let count = self.pages.len();
        let next = (1..count).map(|step| (self.at + step) % count).find(|at| self.pages[*at].is_empty());
        self.turn_to(next.unwrap_or(count));
        Reply::Nothing
    }

    /// Sends the answers if there is at least one. Without any, the prompt can only be parked or declined.
    fn send(&self, asked: &Questions) -> Reply {
        if self.pages.iter().all(Draft::is_empty) {
            return Reply::Nothing;
        }
        let given = asked.list.iter().zip(&self.pages).map(|(question, page)| page.given(question));
        Reply::Answered(Answer { given: given.collect(), ..Answer::without(Status::Answered) })
    }

    /// Returns the number of options, including the text answer.
    fn choices(&self, asked: &Questions) -> usize {
        let question = &asked.list[self.at];
        question.options.len() + usize::from(takes_own(question))
    }

    fn page_count(&self) -> usize {
        self.pages.len() + usize::from(self.pages.len() > 1)
    }

    fn move_to(&mut self, row: usize) {
        match self.pages.get_mut(self.at) {
            Some(page) => {
                page.cursor = row;
                // Keep the scroll offset of the question; reset that of the option and its preview.
                self.read = self.read.min(self.text);
            }
            None => self.read = row,
        }
    }

    fn turn_to(&mut self, at: usize) {
        (self.at, self.read, self.text) = (at, 0, 0);
    }
}

#[cfg(test)]
mod tests;
