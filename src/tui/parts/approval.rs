//! The approval card: shows everything that will run, and takes a yes only from somebody who can have seen it.

mod form;
mod looks;
mod unheard;

use super::line::{self, Line};
use super::listening::{AT_ONCE, Listening};
use super::review::Review;
use super::scope::{self, Choosing};
use crate::chat::{By, CallId, Decision, Plan, Preview, ToolCall, ToolSpec};
use crate::tui::keys::{Action, Chord, Keymap, Scope};
use crate::tui::parts::laid::Laid;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use form::Form;
use ratatui::layout::Position;
use std::path::Path;
use std::time::Duration;

/// What a card shows, read anew for every frame.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// What would be done.
    pub plan: &'a Plan,
    /// The call as the model sent it.
    pub call: &'a ToolCall,
    /// Why the person is asked.
    pub reason: &'a str,
    /// The sub-agent whose call it is; `None` where it is the turn's own.
    pub by: Option<&'a str>,
    /// What is said of a command whose plan says nothing of walls; the program's own words, may be empty.
    pub may: &'a str,
    /// Which of the waiting calls it is, from 1, and of how many.
    pub place: (usize, usize),
    /// The person's home folder, which is written `~`.
    pub home: Option<&'a Path>,
}

/// The state of the card of one call. Nothing of it is kept when the call is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    call: CallId,
    seen: Option<Duration>,
    end_seen: bool,
    scroll: usize,
    page: usize,
    step: Step,
    /// What of a batch is ticked.
    review: Review,
    laid: Laid<()>,
}

/// What the card is at.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// The plan.
    Plan,
    /// How wide a yes is kept.
    Scope(Box<Choosing>),
    /// No, with words for the model.
    Because(Line),
    /// The call as the model sent it.
    Details,
    /// Its arguments as the person wants them.
    Edit(Form),
}

/// What a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Something within the card, or nothing at all.
    Nothing,
    /// Nothing was done; why, and what would work.
    Says(String),
    /// It was not for the card: it goes on into the composer, and counts as pressed elsewhere.
    Passed,
    /// A yes is to be kept: [`Approval::choose`].
    Scopes,
    /// The list of what waits is wanted.
    Lists,
    /// The arguments are to be changed: [`Approval::edit`].
    Edits,
    /// This text is to be opened in the person's editor; what comes back goes to [`Approval::edited`].
    Editor(String),
    /// The call is decided.
    Decided {
        /// What the person decided.
        decision: Decision,
        /// With which key, and how long after the card was first drawn.
        by: By,
    },
}

/// What a frame really showed. Hand it to [`Approval::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Where the terminal's cursor belongs, where a line is being written.
    pub cursor: Option<Position>,
    scroll: usize,
    rows: usize,
    readable: bool,
    end: bool,
}

impl Approval {
    /// The card of a call, before it was drawn.
    pub fn new(call: CallId) -> Self {
        Self {
            call,
            seen: None,
            end_seen: false,
            scroll: 0,
            page: 1,
            step: Step::Plan,
            review: Review::default(),
            laid: Laid::default(),
        }
    }

    /// Whose card it is.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// When it was first drawn; for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Whether the card wants every key because a line is being written in it: it then has the keyboard.
    pub fn is_writing(&self) -> bool {
        matches!(self.step, Step::Because(_) | Step::Edit(_))
    }

    /// What is being written in it, for the call of this tool: the words of a denial, or the other arguments, in words
    /// that the model understands without the prompt.
    pub fn written_reply(&self, tool: &str) -> Option<String> {
        match &self.step {
            Step::Because(line) => Some(line.text().trim().to_owned()).filter(|text| !text.is_empty()),
            Step::Edit(form) => form
                .changed()
                .map(|arguments| format!("Call {tool} with these arguments instead: {arguments}")),
            Step::Plan | Step::Scope(_) | Step::Details => None,
        }
    }

    /// A frame is on the screen.
    pub fn drawn(&mut self, now: Duration, seen: Seen) {
        self.scroll = seen.scroll;
        self.page = seen.rows.saturating_sub(1).max(1);
        if seen.readable {
            self.seen.get_or_insert(now);
            self.end_seen |= seen.end && self.step == Step::Plan;
            if let Step::Scope(choosing) = &mut self.step {
                choosing.drawn(seen.end);
            }
        }
    }

    /// Text was pasted. Whether it went into the line of this card; a paste is never an answer.
    pub fn pasted(&mut self, text: &str) -> bool {
        match &mut self.step {
            Step::Because(line) => line.insert(text),
            Step::Edit(form) => form.pasted(text),
            Step::Plan | Step::Scope(_) | Step::Details => return false,
        }
        true
    }

    /// Opens the call's arguments as a form. Whether there is anything to change in them.
    pub fn edit(&mut self, tool: Option<&ToolSpec>, call: &ToolCall) -> bool {
        let form = Form::new(tool, &call.arguments);
        let opens = form.is_some();
        if let Some(form) = form {
            self.turn_to(Step::Edit(form));
        }
        opens
    }

    /// Opens how wide the yes is kept.
    pub fn choose(&mut self, choosing: Choosing) {
        self.turn_to(Step::Scope(Box::new(choosing)));
    }

    /// What was to be kept could not be written: it is chosen again.
    pub fn unkept(&mut self, now: Duration) {
        if let Step::Scope(choosing) = &mut self.step {
            choosing.unkept(now);
        }
    }

    /// Whether the yes is given and its rule is being written.
    pub fn is_keeping(&self) -> bool {
        matches!(&self.step, Step::Scope(choosing) if choosing.is_keeping())
    }

    /// Whether it is chosen how wide a yes is kept.
    pub fn is_choosing(&self) -> bool {
        matches!(self.step, Step::Scope(_))
    }

    /// The editor was closed with this text. Whether the card had asked for it.
    pub fn edited(&mut self, text: &str) -> bool {
        let Step::Edit(form) = &mut self.step else { return false };
        form.edited(text);
        true
    }

    /// A key, already asked of [`super::listening::Presses::goes_on`]. Esc and Tab are passed on where the card has
    /// no use for them: they stop the turn and move the keyboard.
    pub fn key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        plan: &Plan,
        listening: Listening,
        now: Duration,
    ) -> Reply {
        // An Enter that came with a paste ends nothing.
        let held = key.kind != KeyEventKind::Press;
        let ends = !held && !matches!(listening, Listening::Until(_));
        if let Step::Edit(form) = &mut self.step {
            return match form.key(key, keys) {
                form::Reply::Wanted(arguments) if ends => self.decided(Decision::Edited(arguments), key, now),
                form::Reply::Wanted(_) if !held => Reply::Says(AT_ONCE.to_owned()),
                form::Reply::Wanted(_) | form::Reply::Nothing => Reply::Nothing,
                form::Reply::Passed => Reply::Passed,
                form::Reply::Closed => self.turn_to(Step::Plan),
                form::Reply::Editor(text) => Reply::Editor(text),
            };
        }
        if let Step::Because(line) = &mut self.step {
            return match line.key(key, keys) {
                line::Reply::Accepted if ends => {
                    let words = line.text().trim().to_owned();
                    self.decided(Decision::Deny(words), key, now)
                }
                line::Reply::Accepted if !held => Reply::Says(AT_ONCE.to_owned()),
                line::Reply::Closed => self.turn_to(Step::Plan),
                line::Reply::Passed => Reply::Passed,
                line::Reply::Moved | line::Reply::Changed | line::Reply::Accepted => Reply::Nothing,
            };
        }
        if self.is_choosing() {
            return self.chosen(key, keys, listening, now);
        }
        let Some(action) = keys.lookup(Scope::Approval, key) else { return Reply::Passed };
        if listening == Listening::Unsent {
            return Reply::Passed;
        }
        let batch = match &plan.preview {
            Preview::Batch(batch) if matches!(self.step, Step::Plan) => Some(batch),
            Preview::Batch(_) | Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => None,
        };
        if matches!(action, Action::Tick | Action::TickAll) {
            // Elsewhere these are characters of what is written.
            if batch.is_none() || !listening.now() {
                return Reply::Passed;
            }
            if key.kind != KeyEventKind::Press {
                return Reply::Nothing;
            }
        }
        if let Some(row) = batch.and_then(|batch| self.review.act(action, batch, (self.scroll, self.page))) {
            return self.scroll_to(row);
        }
        match action {
            Action::Up => return self.scroll_to(self.scroll.saturating_sub(1)),
            Action::Down => return self.scroll_to(self.scroll + 1),
            Action::PageUp => return self.scroll_to(self.scroll.saturating_sub(self.page)),
            Action::PageDown => return self.scroll_to(self.scroll + self.page),
            Action::Top => return self.scroll_to(0),
            Action::Bottom => return self.scroll_to(usize::MAX),
            Action::Close if self.step != Step::Plan => return self.turn_to(Step::Plan),
            _ => {}
        }
        if !listening.now() {
            return Reply::Passed;
        }
        // A key that repeats while it is held was pressed for something else.
        if key.kind != KeyEventKind::Press {
            return Reply::Nothing;
        }
        let armed = self.end_seen && !self.is_empty(plan);
        let destroys = self.destroys(plan);
        match (action, &self.step) {
            (Action::ApproveOnce, Step::Plan) if armed && !destroys => {
                self.decided(self.approval(plan), key, now)
            }
            (Action::ApproveDestroying, Step::Plan) if armed && destroys => {
                self.decided(self.approval(plan), key, now)
            }
            (Action::ApproveAlways, Step::Plan) if armed && plan.always.is_some() && !destroys => {
                Reply::Scopes
            }
            (Action::Refuse, Step::Plan | Step::Details) => {
                self.decided(Decision::Deny(String::new()), key, now)
            }
            (Action::ListWaiting, Step::Plan | Step::Details) => Reply::Lists,
            (Action::EditCall, Step::Plan | Step::Details) => Reply::Edits,
            (Action::RefuseBecause, _) => self.turn_to(Step::Because(Line::default())),
            (Action::Details, Step::Details) => self.turn_to(Step::Plan),
            (Action::Details, _) => self.turn_to(Step::Details),
            (Action::SwitchKeyboard | Action::Close, _) => Reply::Passed,
            _ => self.unheard(action, keys, plan),
        }
    }

    /// Whether what would be done destroys anything: of a batch, what is ticked.
    fn destroys(&self, plan: &Plan) -> bool {
        match &plan.preview {
            Preview::Batch(batch) => self.review.destroys(batch).is_some(),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => plan.destroys.is_some(),
        }
    }

    /// Whether nothing of a batch is ticked.
    fn is_empty(&self, plan: &Plan) -> bool {
        match &plan.preview {
            Preview::Batch(batch) => {
                let count = self.review.count(batch);
                count.whole + count.part == 0
            }
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => false,
        }
    }

    /// The approval that the key gives: of a batch, of what is ticked.
    fn approval(&self, plan: &Plan) -> Decision {
        let rejected = match &plan.preview {
            Preview::Batch(batch) => self.review.rejected(batch),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => Vec::new(),
        };
        if rejected.is_empty() { Decision::Once } else { Decision::Selected(rejected) }
    }

    /// A key while it is chosen how wide a yes is kept.
    fn chosen(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening, now: Duration) -> Reply {
        let known = keys.lookup(Scope::Keep, key).or_else(|| keys.lookup(Scope::Approval, key));
        let (Some(action), false) = (known, listening == Listening::Unsent) else { return Reply::Passed };
        let (up, down, page) = (self.scroll.saturating_sub(self.page), self.scroll + self.page, key.kind);
        let Step::Scope(choosing) = &mut self.step else { return Reply::Nothing };
        // Typed on from the key that opened this, a letter or enter is part of something else.
        if matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) && choosing.is_fresh(now) {
            return Reply::Passed;
        }
        match action {
            Action::PageUp => return self.scroll_to(up),
            Action::PageDown => return self.scroll_to(down),
            Action::Bottom => return self.scroll_to(usize::MAX),
            // While the rule is being written only stopping the turn means anything.
            Action::Close if choosing.is_keeping() => return Reply::Passed,
            _ if choosing.is_keeping() => return Reply::Nothing,
            _ => {}
        }
        // A key that repeats while it is held was pressed for something else.
        if page != KeyEventKind::Press && matches!(action, Action::Accept | Action::Refuse) {
            return Reply::Nothing;
        }
        if action == Action::Refuse {
            return match listening.now() {
                true => self.decided(Decision::Deny(String::new()), key, now),
                false => Reply::Passed,
            };
        }
        let did = choosing.act(action, keys, listening.now(), now);
        self.laid = Laid::default();
        match did {
            scope::Reply::Moved => self.scroll_to(0),
            scope::Reply::Says(words) => Reply::Says(words),
            scope::Reply::Closed => self.turn_to(Step::Plan),
            scope::Reply::Kept(grant) => self.decided(Decision::Always(grant), key, now),
        }
    }

    fn scroll_to(&mut self, row: usize) -> Reply {
        self.scroll = row;
        Reply::Nothing
    }

    fn turn_to(&mut self, step: Step) -> Reply {
        (self.step, self.scroll) = (step, 0);
        self.laid = Laid::default();
        Reply::Nothing
    }

    fn decided(&self, decision: Decision, key: &KeyEvent, now: Duration) -> Reply {
        let after = self.seen.map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        Reply::Decided { decision, by: By::Person { key: Chord::from(key).to_string(), after_ms } }
    }
}

#[cfg(test)]
mod tests;
