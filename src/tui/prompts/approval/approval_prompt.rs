//! Implements [`Prompt`] for the approval prompt.

use super::answer_verbs::{approval_verb, denial_verb};
use super::{Approval, ApprovalContent, ApprovalView};
use crate::agent::{self, Trial, WaitingCall};
use crate::chat::CallId;
use crate::tui::keys::{Action, Scope};
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptFacts};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

impl Prompt for Approval {
    fn call(&self) -> Option<&CallId> {
        Some(&self.call)
    }

    fn scope(&self) -> Scope {
        Scope::Approval
    }

    fn help_scope(&self) -> Scope {
        if self.is_choosing_scope() { Scope::GrantScope } else { Scope::Approval }
    }

    fn has_use_for(&self, action: Action, facts: &PromptFacts<'_>) -> bool {
        let Some(WaitingCall::Approval { plan, trial, .. }) = facts.agent.waiting_call() else { return true };
        let is_destructive = self.is_destructive(plan, trial);
        let report = trial.report();
        let keep_loss = report.map(|report| report.describe_loss().is_some());
        let shows_plan = self.view == ApprovalView::Plan;
        match action {
            _ if self.is_writing() => false,
            _ if self.is_choosing_scope() => true,
            Action::ApproveOnce => shows_plan && !is_destructive,
            Action::ApproveDestructive => shows_plan && is_destructive,
            Action::ApproveAlways => {
                shows_plan && !is_destructive && plan.grant.is_some() && !matches!(trial, Trial::Running { .. })
            }
            Action::TryCall => {
                shows_plan && matches!(trial, Trial::None | Trial::Failed(_)) && facts.agent.offers_trial(plan)
            }
            Action::KeepTrial => shows_plan && keep_loss == Some(false),
            Action::KeepDestructive => shows_plan && keep_loss == Some(true),
            Action::Toggle => shows_plan && report.is_some() && self.trial_view.can_open(),
            Action::Select | Action::SelectAll => shows_plan && plan.batch().is_some(),
            Action::OpenQueue => facts.agent.waiting_position().1 > 1,
            _ => true,
        }
    }

    fn notification(&self) -> &'static str {
        "aye is waiting for your approval"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        content(facts).map_or(0, |content| self.preferred_height(&content, width, facts.context.theme))
    }

    fn compact_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        content(facts).map_or(0, |content| self.compact_height(&content, width, facts.context.theme))
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        content(facts).map_or_else(DrawnPrompt::default, |content| self.draw(&content, &facts.context, area, buffer))
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        if self.trial_view.record_version(drawn.content_version) {
            (self.first_drawn, self.has_reached_end) = (None, false);
        }
        self.scroll = drawn.scroll;
        self.page_rows = drawn.visible_rows.saturating_sub(1).max(1);
        if drawn.is_readable {
            self.first_drawn.get_or_insert(now);
            self.has_reached_end |= drawn.is_at_end && self.view == ApprovalView::Plan;
            if let ApprovalView::Scope(choice) = &mut self.view {
                choice.record_frame(drawn.is_at_end);
            }
        }
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let Some(WaitingCall::Approval { call, plan, trial, .. }) = facts.agent.waiting_call() else {
            return KeyResult::PassedOn;
        };
        self.handle_call_key(key, call, (plan, trial), facts)
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let Some(WaitingCall::Approval { call, plan, trial, .. }) = facts.agent.waiting_call() else { return None };
        let keys = facts.context.keys;
        let mut answers = self.approving_keys(keys, approval_verb(call), (plan, trial));
        answers.push((keys.first_chord(Scope::Approval, Action::Deny), denial_verb(call)));
        let answers: Vec<String> = answers.iter().map(|(key, action)| format!("{key} {action}")).collect();
        Some(format!("Enter does not answer · {}", answers.join(", ")))
    }

    fn is_writing(&self) -> bool {
        matches!(self.view, ApprovalView::DenyMessage(_) | ApprovalView::Form(_))
    }

    fn insert_paste(&mut self, text: &str) -> bool {
        match &mut self.view {
            ApprovalView::DenyMessage(line) => line.insert(text),
            ApprovalView::Form(form) => form.insert_paste(text),
            ApprovalView::Plan | ApprovalView::Scope(_) | ApprovalView::Details => return false,
        }
        true
    }

    fn apply_editor_text(&mut self, text: &str) -> bool {
        let ApprovalView::Form(form) = &mut self.view else { return false };
        form.apply_editor_text(text);
        true
    }

    fn written_reply(&self, agent: &agent::State) -> Option<String> {
        let tool = &agent.waiting_calls().find_map(|waiting| waiting.approval_call(&self.call))?.name;
        match &self.view {
            ApprovalView::DenyMessage(line) => Some(line.text().trim().to_owned()).filter(|text| !text.is_empty()),
            ApprovalView::Form(form) => form
                .edited_arguments()
                .map(|arguments| format!("Call {tool} with these arguments instead: {arguments}")),
            ApprovalView::Plan | ApprovalView::Scope(_) | ApprovalView::Details => None,
        }
    }

    fn finish_saving_rule(&mut self, call: &CallId, has_failed: bool, now: Duration) -> bool {
        match &mut self.view {
            ApprovalView::Scope(choice) if choice.is_storing() && self.call == *call => {
                if has_failed {
                    choice.handle_store_failure(now);
                }
                true
            }
            _ => false,
        }
    }
}

/// Returns the content of the prompt; `None` if no call waits for approval.
fn content<'a>(facts: &PromptFacts<'a>) -> Option<ApprovalContent<'a>> {
    match facts.agent.waiting_call()? {
        WaitingCall::Approval { call, plan, reason, sub_agent, trial } => {
            let (position, queue_length) = facts.agent.waiting_position();
            let (sandbox_note, home) = (facts.sandbox_note, facts.home);
            Some(ApprovalContent {
                plan,
                call,
                reason,
                sub_agent,
                sandbox_note,
                position,
                queue_length,
                home,
                trial,
                offers_trial: facts.agent.offers_trial(plan),
                missing_trial_reason: facts.agent.missing_trial_reason(&call.id, plan),
                now: facts.now,
                folder: facts.folder,
                lookups: facts.lookups,
            })
        }
        WaitingCall::Answer { .. } => None,
    }
}
