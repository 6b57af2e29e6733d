//! The approval prompt: shows everything that will run, and accepts an approval only after its end was on the screen.

mod approval_layout;
mod approval_prompt;
mod arguments_form;
mod rejected_keys;

use crate::chat::{CallId, Decider, Decision, Plan, ToolCall, ToolSpec};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::scroll_position;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::listening::{Listening, TOO_SOON_AFTER_PASTE};
use crate::tui::parts::review::Review;
use crate::tui::parts::scope_choice::{self, ScopeChoice};
use crate::tui::parts::text_field::{self, TextField};
use crate::tui::prompts::prompt::Prompt as _;
use arguments_form::Form;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::path::Path;
use std::time::Duration;

/// Contents of an approval prompt, built for every frame.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalContent<'a> {
    pub plan: &'a Plan,
    /// The call as the model sent it.
    pub call: &'a ToolCall,
    /// Reason the policy asks, without a leading "because".
    pub reason: &'a str,
    /// Name of the sub-agent that made the call; `None` for the main session.
    pub sub_agent: Option<&'a str>,
    /// Sandbox summary for a command whose plan has none. Written by aye, never by the model; may be empty.
    pub sandbox_note: &'a str,
    /// Position of the call in the queue, from 1.
    pub position: usize,
    /// Number of calls in the queue.
    pub queue_length: usize,
    /// Home directory of the user, displayed as `~`.
    pub home: Option<&'a Path>,
}

/// State of the approval prompt of one call. Dropped once the call is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    call: CallId,
    first_drawn: Option<Duration>,
    /// True if the end of the plan was on the screen.
    has_reached_end: bool,
    /// First visible row.
    scroll: usize,
    /// Rows that a page key scrolls.
    page_rows: usize,
    view: ApprovalView,
    /// Selected items of a batch.
    review: Review,
    layout: LineCache<()>,
}

/// Content that the prompt shows.
#[derive(Debug, Clone, PartialEq)]
enum ApprovalView {
    /// The plan.
    Plan,
    /// Choice of the scope of a grant or rule.
    Scope(Box<ScopeChoice>),
    /// Line for the message of a denial.
    DenyMessage(TextField),
    /// The call as the model sent it.
    Details,
    /// Form for editing the arguments.
    Form(Form),
}

/// Result of a key press.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyResult {
    /// The prompt handled the key, or ignored it; nothing is left to do.
    Handled,
    /// The key had no effect. The text gives the reason and the key that works, separated by ` · `.
    Explained(String),
    /// The key is not for the prompt: see [`crate::tui::prompts::prompt::Prompt::handle_prompt_key`].
    PassedOn,
    /// Open the choice of scope with [`Approval::open_scope`].
    OpenScope,
    /// Open the queue.
    OpenQueue,
    /// Open the arguments form with [`Approval::open_form`].
    OpenForm,
    /// Open this text in `$EDITOR`; pass the edited text to `apply_editor_text`.
    OpenEditor(String),
    /// The user decided.
    Decided {
        decision: Decision,
        /// Key that was pressed, and the time since the prompt was first drawn.
        by: Decider,
    },
}

impl Approval {
    /// Creates the prompt of a call that was not drawn yet.
    pub fn new(call: CallId) -> Self {
        Self {
            call,
            first_drawn: None,
            has_reached_end: false,
            scroll: 0,
            page_rows: 1,
            view: ApprovalView::Plan,
            review: Review::default(),
            layout: LineCache::default(),
        }
    }

    /// Opens the form for the call's arguments. Returns false if there are no arguments to edit.
    pub fn open_form(&mut self, tool: Option<&ToolSpec>, call: &ToolCall) -> bool {
        let Some(form) = Form::new(tool, &call.arguments) else { return false };
        self.show_view(ApprovalView::Form(form));
        true
    }

    /// Opens the choice of scope.
    pub fn open_scope(&mut self, choice: ScopeChoice) {
        self.show_view(ApprovalView::Scope(Box::new(choice)));
    }

    /// Returns whether the choice of scope is open.
    fn is_choosing_scope(&self) -> bool {
        matches!(self.view, ApprovalView::Scope(_))
    }

    /// Handles a key. Unused Esc and Tab are passed on: they stop the turn and move the keyboard focus.
    pub fn handle_key(
        &mut self,
        key: &KeyEvent,
        keys: &Keymap,
        plan: &Plan,
        listening: Listening,
        now: Duration,
    ) -> KeyResult {
        let is_repeat = key.kind != KeyEventKind::Press;
        // An Enter that arrives with a paste, or repeats while held, submits nothing.
        let is_pasting = matches!(listening, Listening::Until(_));
        if let ApprovalView::Form(form) = &mut self.view {
            return match form.handle_key(key, keys) {
                arguments_form::KeyResult::Submit(_) if is_repeat => KeyResult::Handled,
                arguments_form::KeyResult::Submit(_) if is_pasting => {
                    KeyResult::Explained(TOO_SOON_AFTER_PASTE.to_owned())
                }
                arguments_form::KeyResult::Submit(arguments) => {
                    self.build_decision(Decision::Edited(arguments), key, now)
                }
                arguments_form::KeyResult::Handled => KeyResult::Handled,
                arguments_form::KeyResult::PassedOn => KeyResult::PassedOn,
                arguments_form::KeyResult::Close => self.show_view(ApprovalView::Plan),
                arguments_form::KeyResult::OpenEditor(text) => KeyResult::OpenEditor(text),
            };
        }
        if let ApprovalView::DenyMessage(field) = &mut self.view {
            return match field.handle_key(key, keys) {
                text_field::KeyResult::Accepted if is_repeat => KeyResult::Handled,
                text_field::KeyResult::Accepted if is_pasting => KeyResult::Explained(TOO_SOON_AFTER_PASTE.to_owned()),
                text_field::KeyResult::Accepted => {
                    let message = field.text().trim().to_owned();
                    self.build_decision(Decision::Deny(message), key, now)
                }
                text_field::KeyResult::Cancelled => self.show_view(ApprovalView::Plan),
                text_field::KeyResult::PassedOn => KeyResult::PassedOn,
                text_field::KeyResult::Handled | text_field::KeyResult::Changed => KeyResult::Handled,
            };
        }
        if self.is_choosing_scope() {
            return self.handle_scope_key(key, keys, listening, now);
        }
        let Some(action) = keys.lookup(Scope::Approval, key) else { return KeyResult::PassedOn };
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        let batch = plan.batch().filter(|_| self.view == ApprovalView::Plan);
        if matches!(action, Action::Select | Action::SelectAll) {
            // Without a batch these keys type a character in the composer.
            if batch.is_none() || !listening.is_listening() {
                return KeyResult::PassedOn;
            }
            if is_repeat {
                return KeyResult::Handled;
            }
        }
        let (scroll, page_rows) = (self.scroll, self.page_rows);
        let review_row = batch.and_then(|batch| self.review.handle_action(action, batch, scroll, page_rows));
        if let Some(row) = review_row.or_else(|| scroll_position(action, scroll, page_rows)) {
            return self.scroll_to(row);
        }
        if action == Action::Close && self.view != ApprovalView::Plan {
            return self.show_view(ApprovalView::Plan);
        }
        if !listening.is_listening() {
            return KeyResult::PassedOn;
        }
        // A repeat belongs to an earlier press of a held key.
        if is_repeat {
            return KeyResult::Handled;
        }
        let can_approve = self.has_reached_end && !self.is_selection_empty(plan);
        let is_destructive = self.is_destructive(plan);
        match (action, &self.view) {
            (Action::ApproveOnce, ApprovalView::Plan) if can_approve && !is_destructive => {
                self.build_decision(self.build_approval(plan), key, now)
            }
            (Action::ApproveDestructive, ApprovalView::Plan) if can_approve && is_destructive => {
                self.build_decision(self.build_approval(plan), key, now)
            }
            (Action::ApproveAlways, ApprovalView::Plan) if can_approve && plan.grant.is_some() && !is_destructive => {
                KeyResult::OpenScope
            }
            (Action::Deny, ApprovalView::Plan | ApprovalView::Details) => {
                self.build_decision(Decision::Deny(String::new()), key, now)
            }
            (Action::OpenQueue, ApprovalView::Plan | ApprovalView::Details) => KeyResult::OpenQueue,
            (Action::EditCall, ApprovalView::Plan | ApprovalView::Details) => KeyResult::OpenForm,
            (Action::DenyWithMessage, _) => self.show_view(ApprovalView::DenyMessage(TextField::default())),
            (Action::Details, ApprovalView::Details) => self.show_view(ApprovalView::Plan),
            (Action::Details, _) => self.show_view(ApprovalView::Details),
            (Action::SwitchFocus | Action::Close, _) => KeyResult::PassedOn,
            _ => self.explain_ignored_key(action, keys, plan),
        }
    }

    /// Returns whether approval would destroy data. Of a batch only selected items count.
    fn is_destructive(&self, plan: &Plan) -> bool {
        match plan.batch() {
            Some(batch) => batch.destroys(&self.review.rejected(batch)).is_some(),
            None => plan.destroys.is_some(),
        }
    }

    /// Returns whether the plan is a batch without a selected item.
    fn is_selection_empty(&self, plan: &Plan) -> bool {
        plan.batch().is_some_and(|batch| self.review.count_selected(batch).is_empty())
    }

    /// Builds the approval. Of a batch, it covers only the selected items.
    fn build_approval(&self, plan: &Plan) -> Decision {
        let rejected = plan.batch().map(|batch| self.review.rejected(batch)).unwrap_or_default();
        if rejected.is_empty() { Decision::Once } else { Decision::Selected(rejected) }
    }

    /// Handles a key while the choice of scope is open.
    fn handle_scope_key(&mut self, key: &KeyEvent, keys: &Keymap, listening: Listening, now: Duration) -> KeyResult {
        let action = keys.lookup(Scope::GrantScope, key).or_else(|| keys.lookup(Scope::Approval, key));
        let Some(action) = action.filter(|_| listening != Listening::Unsent) else { return KeyResult::PassedOn };
        let ApprovalView::Scope(choice) = &mut self.view else { return KeyResult::Handled };
        // Right after the choice opened, a character or Enter is still part of earlier typing.
        if matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) && choice.is_just_opened(now) {
            return KeyResult::PassedOn;
        }
        match action {
            Action::PageUp | Action::PageDown | Action::Bottom => {
                let row = scroll_position(action, self.scroll, self.page_rows).unwrap_or(self.scroll);
                return self.scroll_to(row);
            }
            // While the rule is being saved, only the key that stops the turn has an effect.
            Action::Close if choice.is_storing() => return KeyResult::PassedOn,
            _ if choice.is_storing() => return KeyResult::Handled,
            _ => {}
        }
        // A repeat belongs to an earlier press of a held key.
        if key.kind != KeyEventKind::Press && matches!(action, Action::Accept | Action::Deny) {
            return KeyResult::Handled;
        }
        if action == Action::Deny {
            if !listening.is_listening() {
                return KeyResult::PassedOn;
            }
            return self.build_decision(Decision::Deny(String::new()), key, now);
        }
        let result = choice.handle_action(action, keys, listening.is_listening(), now);
        self.layout = LineCache::default();
        match result {
            scope_choice::KeyResult::Handled => self.scroll_to(0),
            scope_choice::KeyResult::Explained(message) => KeyResult::Explained(message),
            scope_choice::KeyResult::Close => self.show_view(ApprovalView::Plan),
            scope_choice::KeyResult::Granted(grant) => self.build_decision(Decision::Always(grant), key, now),
        }
    }

    fn scroll_to(&mut self, row: usize) -> KeyResult {
        self.scroll = row;
        KeyResult::Handled
    }

    fn show_view(&mut self, view: ApprovalView) -> KeyResult {
        (self.view, self.scroll) = (view, 0);
        self.layout = LineCache::default();
        KeyResult::Handled
    }

    fn build_decision(&self, decision: Decision, key: &KeyEvent, now: Duration) -> KeyResult {
        KeyResult::Decided { decision, by: self.decider(key, now) }
    }
}

#[cfg(test)]
mod tests;
