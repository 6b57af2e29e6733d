//! The queue list: opened over an approval prompt, with decisions made from it.

use super::{agent_events, key_explanations};
use crate::agent::{Event, WaitingCall};
use crate::chat::{CallId, Decider, Decision};
use crate::tui::effect::Effect;
use crate::tui::keys::Chord;
use crate::tui::parts::listening::Listening;
use crate::tui::prompts::queue_list::{self, KeyResult, QueueList};
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Opens the list in place of an approval prompt. A call that was opened before its turn returns to its place.
pub fn open_queue(state: &mut State, key: &KeyEvent) -> Vec<Effect> {
    // A repeat of the key must not close the list that it opened.
    state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
    let mut effects = agent_events::handle_agent_event(state, Event::EarlyPromptRequested(None));
    if matches!(state.agent.waiting_call(), Some(WaitingCall::Approval { .. })) {
        state.prompts.open_queue = Some(QueueList::default());
        effects.extend(agent_events::handle_agent_event(state, Event::QueueOpened));
    }
    effects
}

/// Passes a key to the list; `None` if the list does not use it.
pub fn handle_queue_key(state: &mut State, key: &KeyEvent, listening: Listening) -> Option<Vec<Effect>> {
    let rows = queue_list::queue_rows(&state.agent);
    let queue = state.prompts.open_queue.as_mut()?;
    let first_drawn = queue.first_drawn();
    match queue.key(key, &state.keys, &rows, listening) {
        KeyResult::PassedOn => return None,
        KeyResult::Handled => {}
        KeyResult::Explained(message) => drop(key_explanations::set_prompt_message(state, message.to_owned())),
        KeyResult::Close => {
            close_queue(state);
            state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
        }
        KeyResult::OpenPrompt(call) => {
            close_queue(state);
            state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
            return Some(agent_events::handle_agent_event(state, Event::EarlyPromptRequested(Some(call))));
        }
        KeyResult::Deny(calls, message) => {
            state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
            let elapsed_ms =
                first_drawn.map_or(0, |first_drawn| state.timing.now.saturating_sub(first_drawn).as_millis());
            let after_ms = u64::try_from(elapsed_ms).unwrap_or(u64::MAX);
            // The last call is denied first, so that no call is planned again in vain.
            let deny_call = |call: CallId| {
                let by = Decider::User { key: Chord::from(key).to_string(), after_ms };
                agent_events::handle_agent_event(
                    state,
                    Event::CallDecided { call, decision: Decision::Deny(message.clone()), by },
                )
            };
            return Some(calls.into_iter().rev().flat_map(deny_call).collect());
        }
    }
    Some(Vec::new())
}

/// Returns to the prompt, which must be seen again before it accepts answers.
fn close_queue(state: &mut State) {
    (state.prompts.open_queue, state.prompts.current) = (None, None);
}
