//! Keys, pastes and the mouse for the open prompt. Keys that it does not use go to the composer, and no character is
//! lost.

use super::{agent_events, key_explanations, sampling_decision, trust_decision};
use crate::agent::{Event, WaitingCall};
use crate::chat::{CallId, Decider, Decision, Grant};
use crate::tui::host::HostRequest;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::prompts::prompt::{KeyResult, Prompt, PromptCommand};
use crate::tui::prompts::queue_list::QueueList;
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Position;
use std::time::Duration;

/// Passes a key to the open prompt. Returns whether the prompt used it.
pub fn handle_prompt_key(state: &mut State, key: KeyEvent) -> bool {
    let Some(listening) = state.prompt_listening() else { return false };
    let mut prompts = std::mem::take(&mut state.prompts);
    let facts = state.prompt_facts(listening, "");
    let first_drawn = prompts.front().and_then(Prompt::first_drawn);
    let by = user_decider(state, Chord::from(&key).to_string(), first_drawn);
    let result = prompts.front_mut().map_or(KeyResult::PassedOn, |prompt| prompt.handle_prompt_key(&key, &facts));
    state.prompts = prompts;
    match result {
        KeyResult::PassedOn => return false,
        KeyResult::Handled => {}
        KeyResult::Explained(message) => key_explanations::set_prompt_message(state, message),
        KeyResult::Run(commands) => {
            commands.into_iter().for_each(|command| run_prompt_command(state, &key, &by, command))
        }
    }
    true
}

/// Runs a command that the prompt returned for a key.
fn run_prompt_command(state: &mut State, key: &KeyEvent, by: &Decider, command: PromptCommand) {
    match command {
        PromptCommand::Notify(message) => state.show_info(&message),
        PromptCommand::IgnoreRepeats => state.input.recent_keys.record_answer(Chord::from(key), state.timing.now),
        PromptCommand::Decide(call, decision) => {
            agent_events::handle_agent_event(state, Event::CallDecided { call, decision, by: by.clone() });
        }
        PromptCommand::TryCall(call) => agent_events::handle_agent_event(state, Event::TrialRequested(call)),
        PromptCommand::StopTrial(call) => agent_events::handle_agent_event(state, Event::TrialStopped(call)),
        PromptCommand::Answer(call, answer) => {
            agent_events::handle_agent_event(state, Event::QuestionsAnswered { call, answer, by: by.clone() });
        }
        PromptCommand::SaveRule(call, grant) => {
            state.send_request(HostRequest::SaveRule { call, grant, by: by.clone() });
        }
        PromptCommand::OpenPrompt(call) => {
            // The prompt is created again, as not yet seen.
            (state.prompts.open_queue, state.prompts.current) = (None, None);
            agent_events::handle_agent_event(state, Event::EarlyPromptRequested(Some(call)));
        }
        PromptCommand::Effect(effect) => state.push_effect(effect),
        PromptCommand::OpenQueue => open_queue(state),
        PromptCommand::CloseQueue => (state.prompts.open_queue, state.prompts.current) = (None, None),
        PromptCommand::ReturnParked => return_parked_prompt(state),
        PromptCommand::CloseCredential(id) => state.session.credential_requests.retain(|request| request.id != id),
        PromptCommand::CloseForm(id) => state.session.form_requests.retain(|request| request.id != id),
        PromptCommand::DecideSampling(id, is_approved) => {
            sampling_decision::decide_sampling(state, id, is_approved, by.clone());
        }
        PromptCommand::SkipProjectFiles => drop(trust_decision::skip_project_files(state)),
    }
}

/// Returns the user as decider who pressed this key in a prompt first drawn at this time.
pub(super) fn user_decider(state: &State, chord: String, first_drawn: Option<Duration>) -> Decider {
    let delay = first_drawn.map_or(Duration::ZERO, |first_drawn| state.timing.now.saturating_sub(first_drawn));
    Decider::from_key(chord, delay)
}

/// Opens the queue in place of an approval prompt. A call that was opened before its turn returns to its place in the
/// queue.
fn open_queue(state: &mut State) {
    agent_events::handle_agent_event(state, Event::EarlyPromptRequested(None));
    if matches!(state.agent.waiting_call(), Some(WaitingCall::Approval { .. })) {
        state.prompts.open_queue = Some(Box::new(QueueList::default()));
        agent_events::handle_agent_event(state, Event::QueueOpened);
    }
}

/// Runs the call once its rule is written. If the rule cannot be written, the prompt stays open for another decision.
pub fn handle_rule_stored(state: &mut State, call: CallId, grant: Grant, by: Decider, error: Option<String>) {
    // Writing the rule can take as long as another process holds the file. By then a call of another session may wait
    // under the same id, which the user has not approved.
    let now = state.timing.now;
    let still_waits = state
        .agent
        .waiting_call()
        .is_some_and(|waiting_call| waiting_call.approval_call(&call).is_some())
        && state.prompts.current.as_mut().is_some_and(|prompt| prompt.finish_saving_rule(&call, error.is_some(), now));
    if let Some(reason) = error {
        let advice = if still_waits { "The call was not run: approve it once, or try again." } else { "Try again." };
        return state.show_warning(&format!("Cannot store the rule: {}. {advice}", reason.trim_end_matches('.')));
    }
    if still_waits {
        // The row of the decision in the transcript says what was stored.
        let event = Event::CallDecided { call, decision: Decision::Always(grant), by };
        return agent_events::handle_agent_event(state, event);
    }
    state.show_info(&format!("Stored: {}. Revoke it with /grants", grant.describe_grant()));
}

/// Scrolls the prompt under the mouse. Returns false if the mouse is not over a prompt that scrolls.
pub fn scroll_prompt(state: &mut State, event: &MouseEvent, lines: isize) -> bool {
    let is_mouse_over = layout::compute_areas(state).prompt.contains(Position::new(event.column, event.row));
    is_mouse_over
        && state.viewport.popups.is_empty()
        && state.prompts.front_mut().is_some_and(|prompt| prompt.scroll_content(lines))
}

/// Parks the open prompt. Returns false if there is no open prompt or it cannot be parked.
pub fn park_prompt(state: &mut State) -> bool {
    let has_parked = state.prompts.current.as_mut().is_some_and(|prompt| prompt.park());
    if has_parked {
        return_parked_prompt(state);
    }
    has_parked
}

/// Returns a parked prompt to the queue if it was opened before its turn, so that it hides no other prompt.
fn return_parked_prompt(state: &mut State) {
    if !state.agent.shows_early_prompt() {
        return;
    }
    let queue_key = state.keys.first_chord(Scope::Approval, Action::OpenQueue);
    state.show_info(&format!("The question keeps waiting with your choices · {queue_key} lists it"));
    agent_events::handle_agent_event(state, Event::EarlyPromptRequested(None));
}

/// Reopens a parked prompt.
pub fn reopen_prompt(state: &mut State) {
    if let Some(prompt) = state.prompts.current.as_mut().filter(|prompt| prompt.is_parked()) {
        prompt.restore();
    }
}

/// Reopens a parked prompt and asks the user to confirm declining it.
pub fn decline_parked_prompt(state: &mut State) {
    if let Some(prompt) = state.prompts.current.as_mut().filter(|prompt| prompt.is_parked()) {
        prompt.restore();
        prompt.start_declining();
    }
}

/// Runs the command of the open prompt that is due by now.
pub fn run_due_command(state: &mut State) {
    let now = state.timing.now;
    let first_drawn = state.prompts.front().and_then(Prompt::first_drawn);
    let Some(PromptCommand::Answer(call, answer)) =
        state.prompts.front_mut().and_then(|prompt| prompt.take_due_command(now))
    else {
        return;
    };
    let by = user_decider(state, state.keys.first_chord(Scope::Question, Action::Decline), first_drawn);
    agent_events::handle_agent_event(state, Event::QuestionsAnswered { call, answer, by });
}
