//! Leaving the program or the session. If the session is not saved, the user chooses what happens to it.

use super::background_list;
use crate::runtime::Unsaved;
use crate::text::clean::clean_line;
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::parts::confirmation::AnswerLabels;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{ConfirmedAction, List, Popup};
use crate::tui::session_saving::{UnsavedChoice, alternative_files};
use crate::tui::state::State;

/// Asks what to do with the unsaved session. Returns false if it is saved or the list of choices is already open.
fn offer_exit_choices(state: &mut State) -> bool {
    let Some(unsaved) = state.session.saving.unsaved() else { return false };
    if matches!(state.viewport.popups.last(), Some(Popup::List(_, List::UnsavedSession(_)))) {
        return false;
    }
    let reason = clean_line(&unsaved.reason).into_owned();
    let loss = state.session.saving.describe_loss(state.agent.session.entries());
    let settings = &state.settings;
    let files = alternative_files(&state.session.id, settings.home.as_deref(), &settings.folder);
    let mut rows = vec![(Row::new("Wait until it is saved").with_secondary("then quit"), UnsavedChoice::QuitWhenSaved)];
    for file in files {
        rows.push((
            Row::new(&format!("Save to {}", file.display())).with_secondary("then quit"),
            UnsavedChoice::SaveTo(file),
        ));
    }
    rows.push((Row::new("Quit without saving").with_secondary(&format!("loses {loss}")), UnsavedChoice::Discard));
    let (rows, choices): (Vec<Row>, Vec<UnsavedChoice>) = rows.into_iter().unzip();
    let mut picker = Picker::new("This session is not saved", "", rows);
    picker.set_note(&reason);
    state.viewport.popups.push(Popup::List(picker, List::UnsavedSession(choices)));
    true
}

/// Applies the user's choice.
pub fn pick_exit_choice(state: &mut State, choice: UnsavedChoice) {
    match choice {
        UnsavedChoice::QuitWhenSaved => {
            state.session.saving.quits_when_saved = true;
            state.show_info("Quits as soon as the session is saved");
            state.push_effect(Effect::Save);
        }
        UnsavedChoice::SaveTo(file) => {
            prepare_exit(state);
            state.push_effect(Effect::SaveTo(file));
        }
        UnsavedChoice::Discard => {
            prepare_exit(state);
            state.push_effect(Effect::Quit);
        }
    }
}

/// Handles the result of an attempt to save.
pub fn handle_save_result(state: &mut State, unsaved: Option<Unsaved>) {
    if !state.session.saving.record_result(unsaved, state.timing.now) {
        return;
    }
    if matches!(state.viewport.popups.last(), Some(Popup::List(_, List::UnsavedSession(_)))) {
        state.viewport.popups.pop();
        state.input.recent_keys.record_other_press(state.timing.now);
    }
    if state.session.saving.quits_when_saved {
        quit_confirmed(state);
    } else {
        state.show_info("The session is saved again");
    }
}

/// Quits after saving the draft. If background commands run, which end then, asks first.
pub fn quit(state: &mut State) {
    let labels = AnswerLabels { confirm: "quit", cancel: "stay" };
    if !background_list::confirm_end(state, "Quit?", labels, ConfirmedAction::Quit) {
        quit_confirmed(state);
    }
}

/// Quits after saving the draft. If the session is not saved, asks first; if that question is already open, quits.
pub fn quit_confirmed(state: &mut State) {
    if !offer_exit_choices(state) {
        prepare_exit(state);
        state.push_effect(Effect::Quit);
    }
}

/// Saves the draft and ends the running turn before the program exits.
pub fn prepare_exit(state: &mut State) {
    state.save_unsent_now();
    interrupt_turn(state);
}

/// Ends the background commands and the running turn, as interrupted, so that the session on disk does not stop in the
/// middle of it. A call that waits for the user keeps waiting.
pub fn interrupt_turn(state: &mut State) {
    if !state.agent.background.is_empty() {
        let effects = crate::agent::update(&mut state.agent, crate::agent::Event::SessionLeft);
        state.push_effect(Effect::Agent(effects));
    }
    if state.agent.waiting_call().is_none() {
        let effects = crate::agent::update(&mut state.agent, crate::agent::Event::TurnInterrupted);
        state.push_effect(Effect::Agent(effects));
    }
}

/// Leaves for another session, which the request opens. The draft stays with this session. Refused while this session
/// is not saved. If background commands run, which end then, asks first.
pub fn leave_session_for(state: &mut State, request: HostRequest) {
    if let Some(unsaved) = state.session.saving.unsaved() {
        let reason = unsaved.reason.trim_end_matches('.');
        let notice =
            format!("Cannot leave this session: it is not saved: {reason}. Correct this, or quit and lose it.");
        return state.show_warning(&notice);
    }
    let labels = AnswerLabels { confirm: "leave", cancel: "stay" };
    let action = ConfirmedAction::LeaveSession(Box::new(request.clone()));
    if !background_list::confirm_end(state, "Leave this session?", labels, action) {
        leave_confirmed(state, request);
    }
}

/// Leaves for another session, which the request opens.
pub fn leave_confirmed(state: &mut State, request: HostRequest) {
    state.save_unsent_now();
    state.send_request(request);
}
