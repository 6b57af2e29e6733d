//! The approval prompt: shows everything that will run, and accepts an approval only after all of it was on the screen.

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

/// Contents of an approval prompt, built for every frame.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    pub plan: &'a Plan,
    /// The call as the model sent it.
    pub call: &'a ToolCall,
    /// Reason the policy asks, without a leading "because".
    pub reason: &'a str,
    /// Name of the sub-agent that made the call; `None` for the main session.
    pub by: Option<&'a str>,
    /// Sandbox summary for a command whose plan has none. Written by aye, never by the model; may be empty.
    pub may: &'a str,
    /// Position in the queue (1-based) and length of the queue.
    pub place: (usize, usize),
    /// Home directory of the user, displayed as `~`.
    pub home: Option<&'a Path>,
}

/// State of the approval prompt of one call. Dropped once the call is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    call: CallId,
    seen: Option<Duration>,
    end_seen: bool,
    scroll: usize,
    page: usize,
    step: Step,
    /// Selected items of a batch.
    review: Review,
    laid: Laid<()>,
}

/// View that the prompt shows.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// The plan.
    Plan,
    /// Choice of the scope of a grant or rule.
    Scope(Box<Choosing>),
    /// Line for the message of a denial.
    Because(Line),
    /// The call as the model sent it.
    Details,
    /// Form for editing the arguments.
    Edit(Form),
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The prompt handled the key, or ignored it; nothing is left to do.
    Nothing,
    /// The key had no effect. The text gives the reason and the key that works, separated by ` · `.
    Says(String),
    /// The key is not for the prompt: it goes to the composer and delays the prompt like any key typed there.
    Passed,
    /// Open the choice of scope with [`Approval::choose`].
    Scopes,
    /// Open the queue.
    Lists,
    /// Open the arguments form with [`Approval::edit`].
    Edits,
    /// Open this text in `$EDITOR`; pass the edited text to [`Approval::edited`].
    Editor(String),
    /// The user decided.
    Decided {
        decision: Decision,
        /// Key that was pressed, and the time since the prompt was first drawn.
        by: By,
    },
}

/// Part of the prompt that a frame showed. Pass it to [`Approval::drawn`] once the frame is on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Position of the terminal's cursor if a line is being edited.
    pub cursor: Option<Position>,
    scroll: usize,
    rows: usize,
    readable: bool,
    end: bool,
}

impl Approval {
    /// Creates the prompt of a call that was not drawn yet.
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

    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Returns the time of the first frame, for [`super::listening::listening`].
    pub fn seen(&self) -> Option<Duration> {
        self.seen
    }

    /// Returns whether a line is being edited. The prompt then receives every key.
    pub fn is_writing(&self) -> bool {
        matches!(self.step, Step::Because(_) | Step::Edit(_))
    }

    /// Returns unsent input for a call of this tool, phrased for the model: the message of a denial, or edited arguments.
    pub fn written_reply(&self, tool: &str) -> Option<String> {
        match &self.step {
            Step::Because(line) => Some(line.text().trim().to_owned()).filter(|text| !text.is_empty()),
            Step::Edit(form) => form
                .changed()
                .map(|arguments| format!("Call {tool} with these arguments instead: {arguments}")),
            Step::Plan | Step::Scope(_) | Step::Details => None,
        }
    }

    /// Records which part of the prompt is now on the screen.
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

    /// Inserts pasted text into the line being edited. Returns false if there is none: a paste never answers.
    pub fn pasted(&mut self, text: &str) -> bool {
        match &mut self.step {
            Step::Because(line) => line.insert(text),
            Step::Edit(form) => form.pasted(text),
            Step::Plan | Step::Scope(_) | Step::Details => return false,
        }
        true
    }

    /// Opens the form for the call's arguments. Returns false if there are no arguments to edit.
    pub fn edit(&mut self, tool: Option<&ToolSpec>, call: &ToolCall) -> bool {
        let form = Form::new(tool, &call.arguments);
        let opens = form.is_some();
        if let Some(form) = form {
            self.turn_to(Step::Edit(form));
        }
        opens
    }

    /// Opens the choice of scope.
    pub fn choose(&mut self, choosing: Choosing) {
        self.turn_to(Step::Scope(Box::new(choosing)));
    }

    /// Returns to the choice of scope because the rule could not be saved.
    pub fn unkept(&mut self, now: Duration) {
        if let Step::Scope(choosing) = &mut self.step {
            choosing.unkept(now);
        }
    }

    /// Returns whether the call is approved and its rule is being saved.
    pub fn is_keeping(&self) -> bool {
        matches!(&self.step, Step::Scope(choosing) if choosing.is_keeping())
    }

    /// Returns whether the choice of scope is open.
    pub fn is_choosing(&self) -> bool {
        matches!(self.step, Step::Scope(_))
    }

    /// Takes the text that the editor returned. Returns false if the form is closed.
    pub fn edited(&mut self, text: &str) -> bool {
        let Step::Edit(form) = &mut self.step else { return false };
        form.edited(text);
        true
    }

    /// Handles a key that was checked with [`super::listening::Presses::goes_on`]. Unused Esc and Tab are passed on: they
    /// stop the turn and move the keyboard focus.
    pub fn key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        plan: &Plan,
        listening: Listening,
        now: Duration,
    ) -> Reply {
        // Enter that arrives with a paste, or repeats while held, does not submit.
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
            // Without a batch these keys type a character in the composer.
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
        // A repeat belongs to an earlier press of a held key.
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

    /// Returns whether approval would destroy data. Of a batch only selected items count.
    fn destroys(&self, plan: &Plan) -> bool {
        match &plan.preview {
            Preview::Batch(batch) => self.review.destroys(batch).is_some(),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => plan.destroys.is_some(),
        }
    }

    /// Returns whether the plan is a batch without a selected item.
    fn is_empty(&self, plan: &Plan) -> bool {
        match &plan.preview {
            Preview::Batch(batch) => {
                let count = self.review.count(batch);
                count.whole + count.part == 0
            }
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => false,
        }
    }

    /// Builds the approval: of a batch, only of the selected items.
    fn approval(&self, plan: &Plan) -> Decision {
        let rejected = match &plan.preview {
            Preview::Batch(batch) => self.review.rejected(batch),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => Vec::new(),
        };
        if rejected.is_empty() { Decision::Once } else { Decision::Selected(rejected) }
    }

    /// Handles a key while the choice of scope is open.
    fn chosen(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening, now: Duration) -> Reply {
        let known = keys.lookup(Scope::Keep, key).or_else(|| keys.lookup(Scope::Approval, key));
        let (Some(action), false) = (known, listening == Listening::Unsent) else { return Reply::Passed };
        let (up, down, page) = (self.scroll.saturating_sub(self.page), self.scroll + self.page, key.kind);
        let Step::Scope(choosing) = &mut self.step else { return Reply::Nothing };
        // Right after the choice opened, a character or Enter is still part of earlier typing.
        if matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) && choosing.is_fresh(now) {
            return Reply::Passed;
        }
        match action {
            Action::PageUp => return self.scroll_to(up),
            Action::PageDown => return self.scroll_to(down),
            Action::Bottom => return self.scroll_to(usize::MAX),
            // While the rule is being saved only stopping the turn has an effect.
            Action::Close if choosing.is_keeping() => return Reply::Passed,
            _ if choosing.is_keeping() => return Reply::Nothing,
            _ => {}
        }
        // A repeat belongs to an earlier press of a held key.
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
