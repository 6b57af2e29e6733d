//! Quitting while the session is not saved: the user chooses what happens to it.

use super::{farewell, key};
use crate::runtime::Unsaved;
use crate::tui::effect::Effect;
use crate::tui::overlay::Overlay;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::saving::{Leaving, other_files};
use crate::tui::state::State;
use crate::tui::text::clean::one_line;

/// Asks what to do with the unsaved session. Returns `None` if it is saved or the user is already asked.
pub fn ask(state: &mut State) -> Option<Vec<Effect>> {
    let unsaved = state.saving.unsaved()?;
    if matches!(state.overlays.last(), Some(Overlay::Leaving(..))) {
        return None;
    }
    let reason = one_line(&unsaved.reason).into_owned();
    let loss = state.saving.loss(state.agent.session.entries());
    let settings = &state.settings;
    let files = other_files(&state.session, settings.home.as_deref(), &settings.folder);
    let mut rows = vec![(Row::new("Wait until it is saved").more("then quit"), Leaving::Wait)];
    for file in files {
        rows.push((
            Row::new(&format!("Save to {}", file.display())).more("then quit"),
            Leaving::SaveTo(file),
        ));
    }
    rows.push((Row::new("Quit without saving").more(&format!("loses {loss}")), Leaving::Lose));
    let (rows, choices): (Vec<Row>, Vec<Leaving>) = rows.into_iter().unzip();
    let mut picker = Picker::new("This session is not saved", "", rows);
    picker.set_note(&reason);
    state.overlays.push(Overlay::Leaving(picker, choices));
    Some(Vec::new())
}

/// Applies the user's choice.
pub fn take(state: &mut State, choice: Leaving) -> Vec<Effect> {
    match choice {
        Leaving::Wait => {
            state.saving.leaves = true;
            state.notice("Quits as soon as the session is saved", Kind::Info);
            vec![Effect::Save]
        }
        Leaving::SaveTo(file) => {
            let mut effects = farewell(state);
            effects.push(Effect::SaveTo(file));
            effects
        }
        Leaving::Lose => {
            let mut effects = farewell(state);
            effects.push(Effect::Quit);
            effects
        }
    }
}

/// Handles the result of an attempt to save.
pub fn tried(state: &mut State, unsaved: Option<Unsaved>) -> Vec<Effect> {
    if !state.saving.note(unsaved, state.now) {
        return Vec::new();
    }
    if matches!(state.overlays.last(), Some(Overlay::Leaving(..))) {
        state.overlays.pop();
        state.presses.elsewhere(state.now);
    }
    if state.saving.leaves {
        return key::quit(state);
    }
    state.notice("The session is saved again", Kind::Info);
    Vec::new()
}
