//! Keys for the confirmation prompt, and the action that runs once it is confirmed.

use super::prompt_keys::user_decider;
use super::{agent_events, grant_list, session_exit};
use crate::agent::Event;
use crate::tui::host::HostRequest;
use crate::tui::keys::Chord;
use crate::tui::parts::confirmation::KeyResult;
use crate::tui::popup::{ConfirmedAction, Popup};
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Handles a key for the confirmation prompt in front.
pub fn handle_confirmation_key(state: &mut State, key: &KeyEvent) {
    let (now, chord) = (state.timing.now, Chord::from(key));
    let listening = state.confirmation_listening();
    let Some((Popup::Confirmation(confirmation, _), listening)) = state.viewport.popups.last_mut().zip(listening)
    else {
        return;
    };
    let first_drawn = confirmation.first_drawn();
    let result = confirmation.handle_key(key, &state.keys, listening);
    match result {
        KeyResult::Scrolled => return,
        KeyResult::Explained => {
            state.input.recent_keys.record_other_press(now);
            return;
        }
        KeyResult::Confirmed | KeyResult::Cancelled => {}
    }
    let popup = state.viewport.popups.pop();
    // The same key must not answer a prompt that becomes visible.
    state.input.recent_keys.record_other_press(now);
    state.input.recent_keys.record_answer(chord, now);
    match popup {
        Some(Popup::Confirmation(_, ConfirmedAction::DiscardRehearsal(session))) if result == KeyResult::Confirmed => {
            state.send_request(HostRequest::DiscardRehearsal(session));
        }
        Some(Popup::Confirmation(_, ConfirmedAction::RevokeGrant(grant))) if result == KeyResult::Confirmed => {
            let by = user_decider(state, chord.to_string(), first_drawn);
            grant_list::revoke_grant(state, *grant, by);
        }
        Some(Popup::Confirmation(_, ConfirmedAction::StopBackground(number))) if result == KeyResult::Confirmed => {
            agent_events::handle_agent_event(state, Event::BackgroundStopped(number));
        }
        Some(Popup::Confirmation(_, ConfirmedAction::AcceptServerTools(server, digest)))
            if result == KeyResult::Confirmed =>
        {
            state.send_request(HostRequest::AcceptServerTools { server, digest });
        }
        Some(Popup::Confirmation(_, ConfirmedAction::LeaveSession(request))) if result == KeyResult::Confirmed => {
            session_exit::leave_confirmed(state, *request);
        }
        Some(Popup::Confirmation(_, ConfirmedAction::Quit)) if result == KeyResult::Confirmed => {
            session_exit::quit_confirmed(state);
        }
        _ => {}
    }
}
