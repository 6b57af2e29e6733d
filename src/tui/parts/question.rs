//! The question card: asks one question a page, and sends only what the person chose.

mod looks;

use super::line::{self, Line};
use super::listening::Listening;
use crate::chat::{Answer, CallId, Given, Questions, Source, Status};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;
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
    scroll: usize,
}

/// What was chosen so far for one question.
#[derive(Debug, Clone, Default, PartialEq)]
struct Draft {
    cursor: usize,
    /// By index, in rising order.
    picks: Vec<usize>,
    own: String,
    note: String,
}

/// What a line is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    OwnWords,
    Note,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Something within the card, or nothing at all.
    Nothing,
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
    scroll: usize,
}

impl Draft {
    fn source(&self) -> Source {
        match (self.picks.is_empty(), self.own.is_empty()) {
            (false, _) => Source::Picked(self.picks.clone()),
            (true, false) => Source::Written(self.own.clone()),
            (true, true) => Source::Skipped,
        }
    }

    fn is_empty(&self) -> bool {
        self.source() == Source::Skipped
    }
}

impl QuestionCard {
    /// The card of a call, before it was drawn. Nothing is chosen.
    pub fn new(call: CallId, asked: &Questions) -> Self {
        let pages = vec![Draft::default(); asked.list.len()];
        Self { call, seen: None, parked: false, at: 0, pages, writing: None, rows: 1, scroll: 0 }
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

    /// Brings a parked card back with its draft.
    pub fn bring_back(&mut self) {
        (self.parked, self.seen) = (false, None);
    }

    /// The answer that says that there will be none; for the key on the chip.
    pub fn declined() -> Answer {
        Answer { status: Status::Declined, given: Vec::new() }
    }

    /// A frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        (self.rows, self.scroll) = (seen.rows.max(1), seen.scroll);
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
        if let Some((what, line)) = &mut self.writing {
            match line.key(key, keys) {
                // An Enter that came with a paste ends no line.
                line::Reply::Accepted
                    if key.kind == KeyEventKind::Press && !matches!(listening, Listening::Until(_)) =>
                {
                    let (what, text) = (*what, line.text().trim().to_owned());
                    self.writing = None;
                    return self.written(what, text, asked);
                }
                line::Reply::Closed => self.writing = None,
                line::Reply::Passed => return Reply::Passed,
                line::Reply::Moved | line::Reply::Changed | line::Reply::Accepted => {}
            }
            return Reply::Nothing;
        }
        let digit =
            Chord::from(key).typed().and_then(|letter| letter.to_digit(10)).filter(|digit| *digit > 0);
        let action = keys.lookup(Scope::Question, key);
        if self.parked || !listening.now() || (action.is_none() && digit.is_none()) {
            return Reply::Passed;
        }
        match action {
            Some(action) => self.act(action, key.kind == KeyEventKind::Press, asked),
            None if key.kind != KeyEventKind::Press => Reply::Nothing,
            None => {
                let row = digit.map_or(0, |digit| digit as usize - 1);
                if self.at < self.pages.len() && row < self.choices(asked) {
                    self.pages[self.at].cursor = row;
                    return self.pick(asked, true);
                }
                Reply::Nothing
            }
        }
    }

    fn act(&mut self, action: Action, pressed: bool, asked: &Questions) -> Reply {
        let last =
            if self.at < self.pages.len() { self.choices(asked).saturating_sub(1) } else { usize::MAX };
        let cursor = self.pages.get(self.at).map_or(self.scroll, |page| page.cursor);
        match action {
            Action::Up => self.move_to(cursor.saturating_sub(1)),
            Action::Down => self.move_to((cursor + 1).min(last)),
            Action::PageUp => self.move_to(cursor.saturating_sub(self.rows)),
            Action::PageDown => self.move_to((cursor + self.rows).min(last)),
            Action::Top => self.move_to(0),
            Action::Bottom => self.move_to(last),
            Action::NextQuestion => self.turn_to((self.at + 1) % self.page_count()),
            Action::PreviousQuestion => self.turn_to((self.at + self.page_count() - 1) % self.page_count()),
            Action::Accept | Action::Tick | Action::Decline | Action::Park | Action::Note if !pressed => {}
            Action::Accept if self.at == self.pages.len() => return self.send(asked),
            Action::Accept => return self.pick(asked, false),
            Action::Tick if self.at < self.pages.len() && asked.list[self.at].multi => {
                return self.pick(asked, true);
            }
            Action::Note if self.at < self.pages.len() => {
                self.writing = Some((Writing::Note, Line::new(&self.pages[self.at].note)));
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
            if question.allow_text || question.options.is_empty() {
                self.writing = Some((Writing::OwnWords, Line::new(&page.own)));
            }
            return Reply::Nothing;
        }
        if question.multi {
            match page.picks.binary_search(&page.cursor) {
                Ok(at) if tick => _ = page.picks.remove(at),
                Err(at) if tick || page.picks.is_empty() => page.picks.insert(at, page.cursor),
                Ok(_) | Err(_) => {}
            }
            page.own.clear();
            return if tick { Reply::Nothing } else { self.go_on(asked) };
        }
        page.picks = vec![page.cursor];
        page.own.clear();
        // A single question is sent by Enter alone, so that a digit can be looked at first.
        if tick && self.pages.len() == 1 { Reply::Nothing } else { self.go_on(asked) }
    }

    fn written(&mut self, what: Writing, text: String, asked: &Questions) -> Reply {
        let page = &mut self.pages[self.at];
        match what {
            Writing::Note => page.note = text,
            Writing::OwnWords => {
                page.own = text;
                if !page.own.is_empty() {
                    page.picks.clear();
                    return self.go_on(asked);
                }
            }
        }
        Reply::Nothing
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
        let given = asked.list.iter().zip(&self.pages).map(|(question, page)| Given {
            keyword: question.keyword.clone(),
            source: page.source(),
            note: page.note.clone(),
        });
        Reply::Answered(Answer { status: Status::Answered, given: given.collect() })
    }

    /// The rows that can be chosen, own words included.
    fn choices(&self, asked: &Questions) -> usize {
        let question = &asked.list[self.at];
        question.options.len() + usize::from(question.allow_text || question.options.is_empty())
    }

    fn page_count(&self) -> usize {
        self.pages.len() + usize::from(self.pages.len() > 1)
    }

    fn move_to(&mut self, row: usize) {
        match self.pages.get_mut(self.at) {
            Some(page) => page.cursor = row,
            None => self.scroll = row,
        }
    }

    fn turn_to(&mut self, at: usize) {
        (self.at, self.scroll) = (at, 0);
    }
}

#[cfg(test)]
mod tests;
