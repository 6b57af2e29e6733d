//! Implements [`Prompt`] for the approval prompt: its content, and the commands that follow from its keys.

use super::{Approval, ApprovalContent, ApprovalView, KeyResult};
use crate::agent::{self, Event, WaitingCall, explain_no_grant, grant_options};
use crate::chat::{CallId, Decision, Grant, GrantSpan};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, RuleRequest};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::scope_choice::ScopeChoice;
use crate::tui::prompts::prompt::{DrawnPrompt, Prompt, PromptCommand, PromptFacts};
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

    fn notification(&self) -> &'static str {
        "aye is waiting for your approval"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        content(facts).map_or(0, |content| self.preferred_height(&content, width, facts.context.theme))
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        content(facts).map_or_else(DrawnPrompt::default, |content| self.draw(&content, &facts.context, area, buffer))
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
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

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> Option<Vec<PromptCommand>> {
        let Some(WaitingCall::Approval { call, plan, .. }) = facts.agent.waiting_call() else { return None };
        let PromptContext { keys, listening, .. } = facts.context;
        let (decision, by) = match self.handle_key(key, keys, plan, listening, facts.now) {
            KeyResult::PassedOn => return None,
            KeyResult::Handled => return Some(Vec::new()),
            KeyResult::Explained(message) => return Some(vec![PromptCommand::Explain(message)]),
            KeyResult::OpenScope => {
                let options = grant_options(facts.agent);
                let Some(choice) = ScopeChoice::new(options, facts.folder, keys, facts.now) else {
                    let reason = explain_no_grant(facts.agent).map(|reason| format!(": {reason}")).unwrap_or_default();
                    return Some(vec![PromptCommand::Explain(format!("This call always asks{reason}"))]);
                };
                self.open_scope(choice);
                return Some(Vec::new());
            }
            KeyResult::OpenQueue => return Some(vec![PromptCommand::IgnoreRepeats, PromptCommand::OpenQueue]),
            KeyResult::OpenForm => {
                let tool = facts.agent.config.tools.iter().find(|tool| tool.name == call.name);
                if self.open_form(tool, call) {
                    return Some(Vec::new());
                }
                return Some(vec![PromptCommand::Notify("This call has no arguments to edit".to_owned())]);
            }
            KeyResult::OpenEditor(text) => return Some(vec![PromptCommand::Effect(Effect::EditText(text))]),
            KeyResult::Decided { decision, by } => (decision, by),
        };
        let mut commands = vec![PromptCommand::IgnoreRepeats];
        let call = call.id.clone();
        let decision = match decision {
            Decision::Always(grant) if grant.span == GrantSpan::Session => Decision::Always(grant),
            // A rule would also apply outside the dry run.
            Decision::Always(grant) if facts.agent.is_dry_run() => {
                let notice = "A dry run stores no rules: this grant applies to this session only";
                commands.push(PromptCommand::Notify(notice.to_owned()));
                Decision::Always(Grant { span: GrantSpan::Session, ..grant })
            }
            // The call is decided once the rule is written.
            Decision::Always(grant) => {
                let request = HostRequest::Rule(RuleRequest::Save { call, grant, by });
                commands.push(PromptCommand::Effect(Effect::Request(request)));
                return Some(commands);
            }
            decision => decision,
        };
        commands.push(PromptCommand::Agent(Event::CallDecided { call, decision, by }));
        Some(commands)
    }

    fn explain_enter(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let Some(WaitingCall::Approval { plan, .. }) = facts.agent.waiting_call() else { return None };
        let approve_action = if self.is_destructive(plan) { Action::ApproveDestructive } else { Action::ApproveOnce };
        let key = |action| facts.context.keys.first_chord(Scope::Approval, action);
        Some(format!("Enter does not answer · {} approve, {} deny", key(approve_action), key(Action::Deny)))
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
        WaitingCall::Approval { call, plan, reason, sub_agent } => {
            let (position, queue_length) = facts.agent.waiting_position();
            let (sandbox_note, home) = (facts.sandbox_note, facts.home);
            Some(ApprovalContent { plan, call, reason, sub_agent, sandbox_note, position, queue_length, home })
        }
        WaitingCall::Answer { .. } => None,
    }
}
