//! Keys for the confirmation prompt, and the action that runs once it is confirmed.

use super::grants;
use crate::chat::By;
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::keys::Chord;
use crate::tui::overlay::{Done, Overlay};
use crate::tui::parts::listening::{self, Listening};
use crate::tui::parts::sure::Reply;
use crate::tui::state::State;
use crossterm::event::KeyEvent;
use std::time::Duration;

/// Returns whether the confirmation prompt in front accepts answers; `None` if there is none.
pub fn listening(state: &State) -> Option<Listening> {
    let Some(Overlay::Sure(card, _)) = state.overlays.last() else { return None };
    Some(listening::listening(card.seen(), &state.presses, false, false, false, state.now))
}

/// Handles a key for the confirmation prompt in front.
pub fn key(state: &mut State, key: &KeyEvent) -> Vec<Effect> {
    let (now, chord) = (state.now, Chord::from(key));
    let listens = listening(state);
    let Some((Overlay::Sure(card, _), listens)) = state.overlays.last_mut().zip(listens) else {
        return Vec::new();
    };
    let after = card.seen().map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
    let reply = card.key(key, &state.keys, listens);
    match reply {
        Reply::Moved => return Vec::new(),
        Reply::Nothing => {
            state.presses.elsewhere(now);
            return Vec::new();
        }
        Reply::Yes | Reply::No => {}
    }
    let asked = state.overlays.pop();
    // The same key must not answer a prompt that becomes visible.
    state.presses.elsewhere(now);
    state.presses.answered(chord, now);
    match asked {
        Some(Overlay::Sure(_, Done::Dropped(of))) if reply == Reply::Yes => vec![Effect::Ask(Wish::Drop(of))],
        Some(Overlay::Sure(_, Done::TakenBack(kept))) if reply == Reply::Yes => {
            grants::take_back(state, *kept, By::with(chord.to_string(), after))
        }
        _ => Vec::new(),
    }
}
