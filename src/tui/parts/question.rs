//! The question card: asks one question a page, and sends only what the person chose.

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

/// The card of one call. It outlives being parked: its draft is kept until it is answered or declined.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionCard {
    call: CallId,
    seen: Option<Duration>,
    parked: bool,
    /// The question shown; one behind the last is the page that shows all answers.
    at: usize,
    pages: Vec<Draft>,
    writing: Option<(Writing, Line)>,
    rows: usize,
    /// How wide own words were drawn last.
    cells: usize,
    /// How far it was read on where something does not fit: the question, then the open row, then its preview; on
    /// the page of all answers, those.
    read: usize,
    /// How much of that is the question.
    text: usize,
}

/// What a line is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writing {
    OwnWords,
    Note,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Something within the card, or nothing at all.
    Nothing,
    /// Nothing was done; why, and what would work.
    Says(String),
    /// An answer was taken and shown, and the card stays: the same key held on must not take the next step.
    Took,
    /// It was not for the card: it goes on into the composer, and counts as pressed elsewhere.
    Passed,
    /// The card is a chip now; its draft is kept.
    Parked,
    /// This goes to the model.
    Answered(Answer),
}

/// What a frame really showed. Hand it to [`QuestionCard::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Where the terminal's cursor belongs, where a line is being written.
    pub cursor: Option<Position>,
    readable: bool,
    rows: usize,
    cells: usize,
    read: usize,
    text: usize,
}

impl QuestionCard {
    /// The card of a call, before it was drawn. Nothing is chosen.
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

    /// Whose card it is.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// When it was first drawn, or first drawn since it was brought back.
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Which question is shown, from 0; one behind the last is the page of all answers.
    pub fn page(&self) -> usize {
        self.at
    }

    /// Whether it is only a chip now.
    pub fn is_parked(&self) -> bool {
        self.parked
    }

    /// Whether a line is being written in it: it then wants every key.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Makes it a chip with its draft.
    pub fn park(&mut self) {
        self.parked = true;
    }

    /// Brings a parked card back with its draft.
    pub fn bring_back(&mut self) {
        (self.parked, self.seen) = (false, None);
    }

    /// The answer that says that there will be none; for the key on the chip.
    pub fn declined() -> Answer {
        Answer::without(Status::Declined)
    }

    /// A frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        (self.rows, self.read, self.text) = (seen.rows.max(1), seen.read, seen.text);
        self.cells = seen.cells.max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
        }
    }

    /// Text was pasted. Whether it went into a line of this card; a paste is never an answer.
    pub fn pasted(&mut self, text: &str) -> bool {
        let Some((_, line)) = &mut self.writing else { return false };
        line.insert(text);
        true
    }

    /// A key, already asked of [`super::listening::Presses::goes_on`].
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
                    // On the page of all answers a digit goes back to that question.
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

    /// A key for the line that is written.
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
            // An Enter that came with a paste ends no line: it is part of what was pasted.
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

    /// Reads on by so many lines where something does not fit, for the wheel.
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
                return Reply::Says(format!("nothing is answered yet · {later} later, {no} declines"));
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

    /// Takes the row under the cursor. Where several may be picked, ticking stays and Enter goes on.
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
                // What was not ticked is shown ticked first.
                (false, true) => Reply::Took,
                (false, false) => self.go_on(asked),
            };
        }
        page.picks = vec![page.cursor];
        page.taken = false;
        // A single question is sent by Enter alone, so that a digit can be looked at first.
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

    /// A line was left in the middle: it answers nothing, and is there when it is opened again.
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

    /// To the next question without an answer; when there is none, to the page of all answers, or away.
    fn go_on(&mut self, asked: &Questions) -> Reply {
        if self.pages.len() == 1 {
            return self.send(asked);
        }
        let count = self.pages.len();
        let next = (1..count).map(|step| (self.at + step) % count).find(|at| self.pages[*at].is_empty());
        self.turn_to(next.unwrap_or(count));
        Reply::Nothing
    }

    /// Sends what there is, if there is anything: a card without an answer is parked or declined, never sent.
    fn send(&self, asked: &Questions) -> Reply {
        if self.pages.iter().all(Draft::is_empty) {
            return Reply::Nothing;
        }
        let given = asked.list.iter().zip(&self.pages).map(|(question, page)| page.given(question));
        Reply::Answered(Answer { given: given.collect(), ..Answer::without(Status::Answered) })
    }

    /// The rows that can be chosen, own words included.
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
                // What was read of the question stays read; the row and its preview are others now.
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
