//! The queue list: opened over an approval prompt, with decisions made from it.

use super::{agent, unheard};
use crate::agent::{Event, Waiting};
use crate::chat::{By, CallId, Decision};
use crate::tui::effect::Effect;
use crate::tui::keys::Chord;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::waits::{self, Reply, Waits};
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Opens the list in place of an approval prompt. A call that was opened before its turn returns to its place.
pub fn open(state: &mut State, key: &KeyEvent) -> Vec<Effect> {
    // A repeat of the key must not close the list that it opened.
    state.presses.answered(Chord::from(key), state.now);
    let mut effects = agent::happened(state, Event::Brought(None));
    if matches!(state.agent.waiting(), Some(Waiting::Approval { .. })) {
        state.waits = Some(Waits::default());
        effects.extend(agent::happened(state, Event::Listed));
    }
    effects
}

/// Passes a key to the list; `None` if the list does not use it.
pub fn key(state: &mut State, key: &KeyEvent, listening: Listening) -> Option<Vec<Effect>> {
    let rows = waits::rows(&state.agent);
    let list = state.waits.as_mut()?;
    let seen = list.seen();
    match list.key(key, &state.keys, &rows, listening) {
        Reply::Passed => return None,
        Reply::Nothing => {}
        Reply::Says(words) => drop(unheard::says(state, words.to_owned())),
        Reply::Closed => {
            close(state);
            state.presses.answered(Chord::from(key), state.now);
        }
        Reply::Brought(call) => {
            close(state);
            state.presses.answered(Chord::from(key), state.now);
            return Some(agent::happened(state, Event::Brought(Some(call))));
        }
        Reply::Refused(calls, words) => {
            state.presses.answered(Chord::from(key), state.now);
            let after = seen.map_or(0, |seen| state.now.saturating_sub(seen).as_millis());
            let after_ms = u64::try_from(after).unwrap_or(u64::MAX);
            // The last call is denied first, so that no call is planned again in vain.
            let refuse = |call: CallId| {
                let by = By::Person { key: Chord::from(key).to_string(), after_ms };
                agent::happened(state, Event::Decided { call, decision: Decision::Deny(words.clone()), by })
            };
            return Some(calls.into_iter().rev().flat_map(refuse).collect());
        }
    }
    Some(Vec::new())
}

/// Returns to the prompt, which must be seen again before it accepts answers.
fn close(state: &mut State) {
    (state.waits, state.prompt) = (None, None);
}
