//! Keys for the open prompt. Keys that the prompt does not use go to the composer, and no character is lost.

use super::{agent_events, key_explanations, queue_keys, trust_decision};
use crate::agent::{Event, WaitingCall, explain_no_grant, grant_options};
use crate::chat::{CallId, Decider, Decision, Grant, GrantSpan};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, RuleRequest};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::question::QuestionPrompt;
use crate::tui::parts::scope_choice::ScopeChoice;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::{approval, question};
use crate::tui::prompt::PromptKind;
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
    let turns =
        matches!(state.keys.lookup(Scope::Question, &key), Some(Action::NextQuestion | Action::PreviousQuestion));
    let waiting = state.agent.waiting_call()?;
    let event = match (&mut state.prompts.current.as_mut()?.kind, waiting) {
        (PromptKind::Approval(card), WaitingCall::Approval { call, plan, .. }) => {
            match card.handle_key(&key, &state.keys, plan, listening, now) {
                approval::KeyResult::PassedOn => return None,
                approval::KeyResult::Handled => return Some(Vec::new()),
                approval::KeyResult::Explained(words) => {
                    return Some(key_explanations::set_prompt_message(state, words));
                }
                approval::KeyResult::OpenScope => {
                    let widths = grant_options(&state.agent);
                    match ScopeChoice::open(widths, &state.settings.folder, &state.keys, now) {
                        Some(choosing) => card.open_scope(choosing),
                        None => {
                            let why = explain_no_grant(&state.agent).map(|why| format!(": {why}"));
                            let words = format!("This call always asks{}", why.unwrap_or_default());
                            return Some(key_explanations::set_prompt_message(state, words));
                        }
                    }
                    return Some(Vec::new());
                }
                approval::KeyResult::OpenQueue => return Some(queue_keys::open_queue(state, &key)),
                approval::KeyResult::OpenForm => {
                    let tool = state.agent.tools.iter().find(|tool| tool.name == call.name);
                    if card.open_form(tool, call) {
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
                    let words = "A dry run stores no rules: this grant applies to this session only";
                    state.show_notice(words, Kind::Info);
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
        (PromptKind::Question(card), WaitingCall::Answer { call, questions, .. }) => {
            let page = card.page();
            match card.handle_key(&key, &state.keys, questions, listening) {
                question::KeyResult::PassedOn => return None,
                question::KeyResult::Explained(words) => {
                    return Some(key_explanations::set_prompt_message(state, words));
                }
                question::KeyResult::Handled => {
                    // A repeat of the key that answered one question must not answer the next.
                    if card.page() != page && !turns {
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
                    let after = card.first_drawn().map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
                    Event::QuestionsAnswered {
                        call: call.id.clone(),
                        answer,
                        by: Decider::from_key(chord.to_string(), after),
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
    failed: Option<String>,
) -> Vec<Effect> {
    // Writing the rule can take as long as another process holds the file. By then a call of another session may wait
    // under the same id, which the user has not approved.
    let is_it =
        |card: &PromptKind| matches!(card, PromptKind::Approval(card) if *card.call() == call && card.is_saving_rule());
    let waits = state.prompts.current.as_ref().is_some_and(|prompt| is_it(&prompt.kind))
        && matches!(state.agent.waiting_call(), Some(WaitingCall::Approval { call: waiting, .. }) if waiting.id == call);
    if let Some(why) = failed {
        let end = if waits { "; the call was not run" } else { "" };
        state.show_notice(&format!("Cannot store the rule: {why}{end}"), Kind::Warning);
        let card = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind);
        if let Some(PromptKind::Approval(card)) = card.filter(|_| waits) {
            card.reopen_scope(state.timing.now);
        }
        return Vec::new();
    }
    state.show_notice(&format!("Stored: {}. Revoke it with /grants", grant.describe_grant()), Kind::Info);
    if waits {
        return agent_events::handle_agent_event(
            state,
            Event::CallDecided { call, decision: Decision::Always(grant), by },
        );
    }
    Vec::new()
}

/// Passes pasted text to a line of the open prompt. Returns whether it was used. It is never an answer.
pub fn paste_into_prompt(state: &mut State, text: &str) -> bool {
    if let Some(list) = &mut state.prompts.open_queue {
        return list.insert_paste(text);
    }
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Approval(card)) => card.insert_paste(text),
        Some(PromptKind::Question(card)) => card.insert_paste(text),
        Some(PromptKind::Trust(_)) | None => false,
    }
}

/// Passes text from the external editor to a field of the open prompt. Returns whether it was used.
pub fn apply_editor_text_to_prompt(state: &mut State, text: &str) -> bool {
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Approval(card)) => card.apply_editor_text(text),
        Some(PromptKind::Question(_) | PromptKind::Trust(_)) | None => false,
    }
}

/// Scrolls the question or trust prompt under the mouse. Returns whether there was one.
pub fn scroll_prompt(state: &mut State, event: &MouseEvent, lines: isize) -> bool {
    let over = layout::compute_areas(state).prompt.contains(Position::new(event.column, event.row));
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Question(card)) if over && state.viewport.overlays.is_empty() => card.scroll_content(lines),
        Some(PromptKind::Trust(card)) if over && state.viewport.overlays.is_empty() => card.scroll_content(lines),
        Some(PromptKind::Question(_) | PromptKind::Approval(_) | PromptKind::Trust(_)) | None => {
            return false;
        }
    }
    true
}

/// Parks the open question. Returns `None` if no question is open.
pub fn park_question(state: &mut State) -> Option<Vec<Effect>> {
    match state.prompts.current.as_mut().map(|prompt| &mut prompt.kind) {
        Some(PromptKind::Question(card)) if !card.is_parked() => card.park(),
        Some(PromptKind::Question(_) | PromptKind::Approval(_) | PromptKind::Trust(_)) | None => return None,
    }
    Some(return_parked_question(state))
}

/// Returns a parked question that was opened before its turn to its place, so that it hides no other prompt.
fn return_parked_question(state: &mut State) -> Vec<Effect> {
    if !state.agent.is_early_prompt() {
        return Vec::new();
    }
    let list = state.keys.first_chord(Scope::Approval, Action::OpenQueue);
    state.show_notice(&format!("The question keeps waiting with your choices · {list} lists it"), Kind::Info);
    agent_events::handle_agent_event(state, Event::EarlyPromptRequested(None))
}

/// Reopens a parked question.
pub fn reopen_question(state: &mut State) {
    if let Some(PromptKind::Question(card)) = state.prompts.current.as_mut().map(|prompt| &mut prompt.kind)
        && card.is_parked()
    {
        card.restore();
    }
}

/// Declines a parked question.
pub fn decline_parked_question(state: &mut State) -> Vec<Effect> {
    match &state.prompts.current {
        Some(prompt) if prompt.is_parked() => {
            let Some(call) = prompt.call().cloned() else { return Vec::new() };
            let after = prompt.first_drawn().map_or(Duration::ZERO, |seen| state.timing.now.saturating_sub(seen));
            let by = Decider::from_key(state.keys.first_chord(Scope::Anywhere, Action::DeclineQuestion), after);
            agent_events::handle_agent_event(
                state,
                Event::QuestionsAnswered { call, answer: QuestionPrompt::declined_answer(), by },
            )
        }
        Some(_) | None => Vec::new(),
    }
}
