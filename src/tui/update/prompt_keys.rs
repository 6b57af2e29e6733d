//! Keys for the open prompt. Keys that the prompt does not use go to the composer, and no character is lost.

use super::{agent_events, key_explanations, queue_keys, trust_decision};
use crate::agent::{Event, WaitingCall, explain_no_grant, grant_options};
use crate::chat::{CallId, Decider, Decision, Grant, GrantSpan};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, RuleRequest};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::scope_choice::ScopeChoice;
use crate::tui::parts::toast::Kind;
use crate::tui::prompts::prompt::PromptKind;
use crate::tui::prompts::question::QuestionPrompt;
use crate::tui::prompts::{approval, question};
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Position;
use std::time::Duration;

/// Passes a key to the open prompt; `None` if the prompt does not use it.
pub fn handle_prompt_key(state: &mut State, key: KeyEvent) -> Option<Vec<Effect>> {
    let listening = state.prompt_listening()?;
    if state.prompts.open_queue.is_some() {
        return queue_keys::handle_queue_key(state, &key, listening);
    }
    if matches!(state.prompts.current.as_ref()?.kind, PromptKind::Trust(_)) {
        return trust_decision::handle_trust_key(state, &key, listening);
    }
    let now = state.timing.now;
    let chord = Chord::from(&key);
    let switches_question =
        matches!(state.keys.lookup(Scope::Question, &key), Some(Action::NextQuestion | Action::PreviousQuestion));
    let waiting = state.agent.waiting_call()?;
    let event = match (&mut state.prompts.current.as_mut()?.kind, waiting) {
        (PromptKind::Approval(approval_prompt), WaitingCall::Approval { call, plan, .. }) => {
            match approval_prompt.handle_key(&key, &state.keys, plan, listening, now) {
                approval::KeyResult::PassedOn => return None,
                approval::KeyResult::Handled => return Some(Vec::new()),
                approval::KeyResult::Explained(message) => {
                    return Some(key_explanations::set_prompt_message(state, message));
                }
                approval::KeyResult::OpenScope => {
                    let options = grant_options(&state.agent);
                    match ScopeChoice::open(options, &state.settings.folder, &state.keys, now) {
                        Some(scope_choice) => approval_prompt.open_scope(scope_choice),
                        None => {
                            let reason_suffix = explain_no_grant(&state.agent).map(|reason| format!(": {reason}"));
                            let message = format!("This call always asks{}", reason_suffix.unwrap_or_default());
                            return Some(key_explanations::set_prompt_message(state, message));
                        }
                    }
                    return Some(Vec::new());
                }
                approval::KeyResult::OpenQueue => return Some(queue_keys::open_queue(state, &key)),
                approval::KeyResult::OpenForm => {
                    let tool = state.agent.tools.iter().find(|tool| tool.name == call.name);
                    if approval_prompt.open_form(tool, call) {
                        return Some(Vec::new());
                    }
                    state.show_notice("This call has no arguments to edit", Kind::Info);
                    return Some(Vec::new());
                }
                approval::KeyResult::OpenEditor(text) => return Some(vec![Effect::EditText(text)]),
                approval::KeyResult::Decided { decision: Decision::Always(grant), by }
                    if grant.span != GrantSpan::Session && state.agent.is_dry_run() =>
                {
                    // A rule would also apply outside the dry run.
                    let decision = Decision::Always(Grant { span: GrantSpan::Session, ..grant });
                    let event = Event::CallDecided { call: call.id.clone(), decision, by };
                    let notice = "A dry run stores no rules: this grant applies to this session only";
                    state.show_notice(notice, Kind::Info);
                    event
                }
                approval::KeyResult::Decided { decision: Decision::Always(grant), by }
                    if grant.span != GrantSpan::Session =>
                {
                    // The call is decided once the rule is written.
                    let call = call.id.clone();
                    state.input.recent_keys.record_answer(chord, now);
                    return Some(vec![Effect::Request(HostRequest::Rule(RuleRequest::Save { call, grant, by }))]);
                }
                approval::KeyResult::Decided { decision, by } => {
                    Event::CallDecided { call: call.id.clone(), decision, by }
                }
            }
        }
        (PromptKind::Question(question_prompt), WaitingCall::Answer { call, questions, .. }) => {
            let page = question_prompt.page();
            match question_prompt.handle_key(&key, &state.keys, questions, listening) {
                question::KeyResult::PassedOn => return None,
                question::KeyResult::Explained(message) => {
                    return Some(key_explanations::set_prompt_message(state, message));
                }
                question::KeyResult::Handled => {
                    // A repeat of the key that answered one question must not answer the next.
                    if question_prompt.page() != page && !switches_question {
                        state.input.recent_keys.record_answer(chord, now);
                    }
                    return Some(Vec::new());
                }
                question::KeyResult::Selected => {
                    state.input.recent_keys.record_answer(chord, now);
                    return Some(Vec::new());
                }
                question::KeyResult::Parked => return Some(return_parked_question(state)),
                question::KeyResult::Answered(answer) => {
                    let elapsed = question_prompt
                        .first_drawn()
                        .map_or(Duration::ZERO, |first_drawn| now.saturating_sub(first_drawn));
                    Event::QuestionsAnswered {
                        call: call.id.clone(),
                        answer,
                        by: Decider::from_key(chord.to_string(), elapsed),
                    }
                }
            }
        }
        (PromptKind::Approval(_), WaitingCall::Answer { .. })
        | (PromptKind::Question(_), WaitingCall::Approval { .. })
        | (PromptKind::Trust(_), _) => return None,
    };
    state.input.recent_keys.record_answer(chord, now);
    Some(agent_events::handle_agent_event(state, event))
}

/// Runs the call once its rule is written. If the rule cannot be written, the prompt stays open for another decision.
pub fn handle_rule_stored(
    state: &mut State,
    call: CallId,
    grant: Grant,
    by: Decider,
    error: Option<String>,
) -> Vec<Effect> {
    // Writing the rule can take as long as another process holds the file. By then a call of another session may wait
    // under the same id, which the user has not approved.
    let is_saving_rule_of_call = |kind: &PromptKind| matches!(kind, PromptKind::Approval(approval_prompt) if *approval_prompt.call() == call && approval_prompt.is_saving_rule());
    let still_waits = state.prompts.current.as_ref().is_some_and(|prompt| is_saving_rule_of_call(&prompt.kind))
        && matches!(state.agent.waiting_call(), Some(WaitingCall::Approval { call: waiting_call, .. }) if waiting_call.id == call);
    if let Some(reason) = error {
        let suffix = if still_waits { "; the call was not run" } else { "" };
        state.show_notice(&format!("Cannot store the rule: {reason}{suffix}"), Kind::Warning);
        let kind = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind);
        if let Some(PromptKind::Approval(approval_prompt)) = kind.filter(|_| still_waits) {
            approval_prompt.reopen_scope(state.timing.now);
        }
        return Vec::new();
    }
    state.show_notice(&format!("Stored: {}. Revoke it with /grants", grant.describe_grant()), Kind::Info);
    if still_waits {
        return agent_events::handle_agent_event(
            state,
            Event::CallDecided { call, decision: Decision::Always(grant), by },
        );
    }
    Vec::new()
}

/// Passes pasted text to a line of the open prompt. Returns whether it was used. It is never an answer.
pub fn paste_into_prompt(state: &mut State, text: &str) -> bool {
    if let Some(queue) = &mut state.prompts.open_queue {
        return queue.insert_paste(text);
    }
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Approval(approval_prompt)) => approval_prompt.insert_paste(text),
        Some(PromptKind::Question(question_prompt)) => question_prompt.insert_paste(text),
        Some(PromptKind::Trust(_)) | None => false,
    }
}

/// Passes text from the external editor to a field of the open prompt. Returns whether it was used.
pub fn apply_editor_text_to_prompt(state: &mut State, text: &str) -> bool {
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Approval(approval_prompt)) => approval_prompt.apply_editor_text(text),
        Some(PromptKind::Question(_) | PromptKind::Trust(_)) | None => false,
    }
}

/// Scrolls the question or trust prompt under the mouse. Returns whether there was one.
pub fn scroll_prompt(state: &mut State, event: &MouseEvent, lines: isize) -> bool {
    let is_mouse_over = layout::compute_areas(state).prompt.contains(Position::new(event.column, event.row));
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Question(question_prompt)) if is_mouse_over && state.viewport.overlays.is_empty() => {
            question_prompt.scroll_content(lines)
        }
        Some(PromptKind::Trust(trust_prompt)) if is_mouse_over && state.viewport.overlays.is_empty() => {
            trust_prompt.scroll_content(lines)
        }
        Some(PromptKind::Question(_) | PromptKind::Approval(_) | PromptKind::Trust(_)) | None => {
            return false;
        }
    }
    true
}

/// Parks the open question. Returns `None` if no question is open.
pub fn park_question(state: &mut State) -> Option<Vec<Effect>> {
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Question(question_prompt)) if !question_prompt.is_parked() => question_prompt.park(),
        Some(PromptKind::Question(_) | PromptKind::Approval(_) | PromptKind::Trust(_)) | None => return None,
    }
    Some(return_parked_question(state))
}

/// Closes the prompt of a parked question that was opened before its turn, so that it hides no other prompt.
fn return_parked_question(state: &mut State) -> Vec<Effect> {
    if !state.agent.is_early_prompt() {
        return Vec::new();
    }
    let queue_key = state.keys.first_chord(Scope::Approval, Action::OpenQueue);
    state.show_notice(&format!("The question keeps waiting with your choices · {queue_key} lists it"), Kind::Info);
    agent_events::handle_agent_event(state, Event::EarlyPromptRequested(None))
}

/// Reopens a parked question.
pub fn reopen_question(state: &mut State) {
    if let Some(PromptKind::Question(question_prompt)) = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind)
        && question_prompt.is_parked()
    {
        question_prompt.restore();
    }
}

/// Declines a parked question.
pub fn decline_parked_question(state: &mut State) -> Vec<Effect> {
    match &state.prompts.current {
        Some(prompt) if prompt.is_parked() => {
            let Some(call) = prompt.call().cloned() else { return Vec::new() };
            let elapsed =
                prompt.first_drawn().map_or(Duration::ZERO, |first_drawn| state.timing.now.saturating_sub(first_drawn));
            let by = Decider::from_key(state.keys.first_chord(Scope::Anywhere, Action::DeclineQuestion), elapsed);
            agent_events::handle_agent_event(
                state,
                Event::QuestionsAnswered { call, answer: QuestionPrompt::declined_answer(), by },
            )
        }
        Some(_) | None => Vec::new(),
    }
}
