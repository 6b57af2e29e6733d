//! The approval prompt: shows everything that will run, and accepts an approval only after the end of the plan was on
//! the screen.

mod answer_verbs;
mod approval_content;
mod approval_layout;
mod approval_prompt;
mod arguments_form;
mod body_builder;
mod rejected_keys;
mod scope_layout;
mod trial_view;

use crate::agent::{Trial, explain_no_grant, grant_options};
use crate::chat::{CallId, Decision, GrantSpan, Plan, ToolCall};
use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::frame::{PromptContext, scroll_position};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::review::Review;
use crate::tui::parts::scope_choice::ScopeChoice;
use crate::tui::parts::text_field::{self, TextField};
use crate::tui::prompts::prompt::{KeyResult, PromptCommand, PromptFacts, ignored_enter};
use crate::tui::text::Page;
pub use approval_content::ApprovalContent;
use arguments_form::Form;
use body_builder::Density;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::time::Duration;
use trial_view::TrialView;

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
    /// Message of a denial whose line was closed with text in it.
    denial_draft: TextField,
    /// Selected items of a batch.
    review: Review,
    trial_view: TrialView,
    layout: BodyCache,
    /// Layout for an area with fewer rows than `layout` needs.
    compact_layout: BodyCache,
    /// Layout for an area with fewer rows than `compact_layout` needs.
    excerpt_layout: BodyCache,
}

/// Lines of a body, which depend on its density and on the reason why no trial is possible.
type BodyCache = LineCache<(Density, Option<String>), Page>;

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
            denial_draft: TextField::default(),
            review: Review::default(),
            trial_view: TrialView::default(),
            layout: LineCache::default(),
            compact_layout: LineCache::default(),
            excerpt_layout: LineCache::default(),
        }
    }

    /// Returns whether the choice of scope is open.
    fn is_choosing_scope(&self) -> bool {
        matches!(self.view, ApprovalView::Scope(_))
    }

    /// Handles a key for the prompt of this call. Unused Esc and Tab are passed on: they stop the turn and move the
    /// keyboard focus.
    pub fn handle_call_key(
        &mut self,
        key: &KeyEvent,
        call: &ToolCall,
        (plan, trial): (&Plan, &Trial),
        facts: &PromptFacts<'_>,
    ) -> KeyResult {
        let PromptContext { keys, listening, .. } = facts.context;
        let field_result = match &mut self.view {
            ApprovalView::Form(form) if keys.lookup(Scope::Composer, key) == Some(Action::OpenEditor) => {
                let edit_text = Effect::EditText(form.focused_text().to_owned());
                return KeyResult::Run(vec![PromptCommand::Effect(edit_text)]);
            }
            ApprovalView::Form(form) => Some(form.handle_key(key, keys)),
            ApprovalView::DenyMessage(field) => Some(field.handle_key(key, keys)),
            ApprovalView::Plan | ApprovalView::Scope(_) | ApprovalView::Details => None,
        };
        match field_result {
            Some(text_field::KeyResult::Accepted) => return self.accept_text(key, facts),
            Some(text_field::KeyResult::Cancelled) => {
                if let ApprovalView::DenyMessage(field) = std::mem::replace(&mut self.view, ApprovalView::Plan) {
                    self.denial_draft = field;
                }
                return self.show_view(ApprovalView::Plan);
            }
            Some(text_field::KeyResult::PassedOn) => return KeyResult::PassedOn,
            Some(text_field::KeyResult::Handled | text_field::KeyResult::Changed) => return KeyResult::Handled,
            None => {}
        }
        if self.is_choosing_scope() {
            return self.handle_scope_key(key, (plan, trial), facts);
        }
        let Some(action) = keys.lookup(Scope::Approval, key) else { return KeyResult::PassedOn };
        // The composer has an unsent draft, which receives the keys.
        if listening == Listening::Unsent {
            return KeyResult::PassedOn;
        }
        let is_repeat = key.kind != KeyEventKind::Press;
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
        // A result of a trial that is not on the screen yet must be seen before an answer.
        let is_listening = listening.is_listening() && self.trial_view.is_drawn(trial);
        if self.view == ApprovalView::Plan {
            let can_answer = is_listening && !is_repeat;
            if let Some(result) = self.handle_trial_key(action, (plan, trial), can_answer, facts) {
                return result;
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
        if !is_listening {
            return KeyResult::PassedOn;
        }
        // A repeat belongs to an earlier press of a held key.
        if is_repeat {
            return KeyResult::Handled;
        }
        let can_approve = self.has_reached_end && !self.is_selection_empty(plan);
        let is_destructive = self.is_destructive(plan, trial);
        match (action, &self.view) {
            (Action::ApproveOnce, ApprovalView::Plan) if can_approve && !is_destructive => {
                self.decide(self.build_approval(plan))
            }
            (Action::ApproveDestructive, ApprovalView::Plan) if can_approve && is_destructive => {
                self.decide(self.build_approval(plan))
            }
            (Action::ApproveAlways, ApprovalView::Plan) if can_approve && plan.grant.is_some() && !is_destructive => {
                self.open_scope(facts)
            }
            (Action::Deny, ApprovalView::Plan | ApprovalView::Details) => self.decide(Decision::Deny(String::new())),
            (Action::OpenQueue, ApprovalView::Plan | ApprovalView::Details) => {
                KeyResult::answered(PromptCommand::OpenQueue)
            }
            (Action::EditCall, ApprovalView::Plan | ApprovalView::Details) => self.open_form(call, facts),
            (Action::DenyWithMessage, _) => {
                let field = std::mem::take(&mut self.denial_draft);
                self.show_view(ApprovalView::DenyMessage(field))
            }
            (Action::Details, ApprovalView::Details) => self.show_view(ApprovalView::Plan),
            (Action::Details, _) => self.show_view(ApprovalView::Details),
            (Action::SwitchFocus | Action::Close | Action::Toggle, _) => KeyResult::PassedOn,
            _ => self.explain_ignored_key(action, keys, call, (plan, trial)),
        }
    }

    /// Returns whether approval would destroy data. Of a batch only selected items count. A finished trial counts too: its
    /// changes may show a loss that the command line does not.
    fn is_destructive(&self, plan: &Plan, trial: &Trial) -> bool {
        match plan.batch() {
            Some(batch) => batch.destroys(&self.review.rejected(batch)).is_some(),
            None => plan.destroys.is_some() || trial.report().is_some_and(|report| report.describe_loss().is_some()),
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

    /// Opens the choice of scope, if a grant can be given.
    fn open_scope(&mut self, facts: &PromptFacts<'_>) -> KeyResult {
        let options = grant_options(facts.agent);
        match ScopeChoice::new(options, facts.folder, facts.context.keys, facts.now) {
            Some(choice) => self.show_view(ApprovalView::Scope(Box::new(choice))),
            None => {
                let reason = explain_no_grant(facts.agent).map(|reason| format!(": {reason}")).unwrap_or_default();
                KeyResult::Explained(format!("This call always asks{reason}"))
            }
        }
    }

    /// Opens the form for the arguments of the call, if there are any.
    fn open_form(&mut self, call: &ToolCall, facts: &PromptFacts<'_>) -> KeyResult {
        let tool = facts.agent.config.tools.iter().find(|tool| tool.name == call.name);
        match Form::new(tool, &call.arguments) {
            Some(form) => self.show_view(ApprovalView::Form(form)),
            None => KeyResult::Run(vec![PromptCommand::Notify("This call has no arguments to edit".to_owned())]),
        }
    }

    /// Decides with the arguments in the form or with the message of a denial, if they are valid.
    fn accept_text(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let decision = match &mut self.view {
            ApprovalView::Form(form) => form.submit().map(Decision::Edited),
            ApprovalView::DenyMessage(field) => Some(Decision::Deny(field.text().trim().to_owned())),
            ApprovalView::Plan | ApprovalView::Scope(_) | ApprovalView::Details => None,
        };
        let Some(decision) = decision else { return KeyResult::Handled };
        ignored_enter(key, facts.context.listening).unwrap_or_else(|| self.decide(decision))
    }

    /// Handles a key while the choice of scope is open.
    fn handle_scope_key(
        &mut self,
        key: &KeyEvent,
        (plan, trial): (&Plan, &Trial),
        facts: &PromptFacts<'_>,
    ) -> KeyResult {
        // A trial can end while the choice is open. Its result must be seen first.
        let can_grant = self.trial_view.is_drawn(trial) && !self.is_destructive(plan, trial);
        let (PromptContext { keys, listening, .. }, now) = (facts.context, facts.now);
        let action = keys.lookup(Scope::GrantScope, key).or_else(|| keys.lookup(Scope::Approval, key));
        let digit = Chord::from(key).typed_character().and_then(|c| c.to_digit(10)).filter(|_| action.is_none());
        let ApprovalView::Scope(choice) = &mut self.view else { return KeyResult::Handled };
        if listening == Listening::Unsent || action.is_none() && digit.is_none() {
            return KeyResult::PassedOn;
        }
        // Right after the choice opened, a character or Enter is still part of earlier typing.
        if matches!(key.code, KeyCode::Char(_) | KeyCode::Enter) && choice.is_just_opened(now) {
            return KeyResult::PassedOn;
        }
        match action {
            Some(action @ (Action::PageUp | Action::PageDown | Action::Bottom)) => {
                let row = scroll_position(action, self.scroll, self.page_rows).unwrap_or(self.scroll);
                return self.scroll_to(row);
            }
            // While the rule is being saved, only the key that stops the turn has an effect.
            Some(Action::Close) if choice.is_storing() => return KeyResult::PassedOn,
            _ if choice.is_storing() => return KeyResult::Handled,
            _ => {}
        }
        // A repeat belongs to an earlier press of a held key.
        if key.kind != KeyEventKind::Press && matches!(action, Some(Action::Accept | Action::Deny)) {
            return KeyResult::Handled;
        }
        if action == Some(Action::Deny) {
            if !listening.is_listening() {
                return KeyResult::PassedOn;
            }
            return self.decide(Decision::Deny(String::new()));
        }
        (self.layout, self.compact_layout, self.excerpt_layout) = Default::default();
        let change = match action {
            None => choice.select_number(digit.map_or(0, |digit| digit as usize)),
            Some(Action::Close) => return self.show_view(ApprovalView::Plan),
            Some(Action::Toggle) => {
                choice.toggle_whole_call();
                Ok(())
            }
            Some(Action::Accept) if !can_grant => return self.show_view(ApprovalView::Plan),
            Some(Action::Accept) => match choice.confirm(keys, listening.is_listening(), now) {
                Ok(grant) if grant.span == GrantSpan::Session => return self.decide(Decision::Always(grant)),
                Ok(grant) => return KeyResult::answered(PromptCommand::SaveRule(self.call.clone(), grant)),
                Err(message) => Err(message),
            },
            Some(action) => choice.change_scope(action, keys),
        };
        match change {
            Ok(()) => self.scroll_to(0),
            Err(message) => KeyResult::Explained(message),
        }
    }

    fn scroll_to(&mut self, row: usize) -> KeyResult {
        self.scroll = row;
        KeyResult::Handled
    }

    fn show_view(&mut self, view: ApprovalView) -> KeyResult {
        (self.scroll, self.view) = (0, view);
        self.drop_layouts();
        KeyResult::Handled
    }

    fn drop_layouts(&mut self) {
        (self.layout, self.compact_layout, self.excerpt_layout) = Default::default();
    }

    fn decide(&self, decision: Decision) -> KeyResult {
        KeyResult::answered(PromptCommand::Decide(self.call.clone(), decision))
    }
}

#[cfg(test)]
mod tests;
