//! Keys for the confirmation prompt, and the action that runs once it is confirmed.

use super::grant_list;
use crate::chat::Decider;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, RehearsalRequest};
use crate::tui::keys::Chord;
use crate::tui::overlay::{ConfirmedAction, Overlay};
use crate::tui::parts::confirmation::KeyResult;
use crate::tui::state::State;
use crossterm::event::KeyEvent;
use std::time::Duration;

/// Handles a key for the confirmation prompt in front.
pub fn handle_confirmation_key(state: &mut State, key: &KeyEvent) -> Vec<Effect> {
    let (now, chord) = (state.timing.now, Chord::from(key));
    let listens = state.confirmation_listening();
    let Some((Overlay::Confirmation(card, _), listens)) = state.viewport.overlays.last_mut().zip(listens) else {
        return Vec::new();
    };
    let after = card.first_drawn().map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
    let reply = card.key(key, &state.keys, listens);
    match reply {
        KeyResult::Scrolled => return Vec::new(),
        KeyResult::Explained => {
            state.input.recent_keys.record_other_press(now);
            return Vec::new();
        }
        KeyResult::Confirmed | KeyResult::Cancelled => {}
    }
    let asked = state.viewport.overlays.pop();
    // The same key must not answer a prompt that becomes visible.
    state.input.recent_keys.record_other_press(now);
    state.input.recent_keys.record_answer(chord, now);
    match asked {
        Some(Overlay::Confirmation(_, ConfirmedAction::DiscardRehearsal(of))) if reply == KeyResult::Confirmed => {
            vec![Effect::Request(HostRequest::Rehearsal(RehearsalRequest::Discard(of)))]
        }
        Some(Overlay::Confirmation(_, ConfirmedAction::RevokeGrant(kept))) if reply == KeyResult::Confirmed => {
            grant_list::revoke_grant(state, *kept, Decider::from_key(chord.to_string(), after))
        }
        _ => Vec::new(),
    }
}
