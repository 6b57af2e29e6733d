//! Copying a file of the workspace into the project: asks for the path, then starts the call that the user approves.

use super::{agent_events, popup_stack};
use crate::agent::{ApplyRequest, Event};
use crate::chat::LiveCall;
use crate::chat::apply_message::{COPY_MESSAGE, COPY_TO_PROJECT};
use crate::text::workspace_address::AddressTarget;
use crate::tui::parts::project_copy::ProjectCopy;
use crate::tui::parts::text_field::KeyResult;
use crate::tui::popup::Popup;
use crate::tui::state::State;
use crate::tui::workspace_data::ListedFile;
use crossterm::event::{KeyEvent, KeyEventKind};
use serde_json::json;

/// Opens the field for the path, or says why the file cannot be copied now.
pub fn open_project_copy(state: &mut State, file: &ListedFile, target: AddressTarget) {
    if let Some(reason) = explain_unavailable(state) {
        return state.show_info(reason);
    }
    state.viewport.popups.push(Popup::ProjectCopy(Box::new(ProjectCopy::new(file, target))));
}

/// Returns why a call of the user cannot start.
fn explain_unavailable(state: &State) -> Option<&'static str> {
    match (state.agent.is_dry_run(), state.agent.is_idle()) {
        (true, _) => Some("A dry run copies nothing into the project. Elsewhere: aye files get FILE --session ID"),
        (false, false) => Some("A file is copied into the project only while no turn runs"),
        (false, true) => None,
    }
}

/// Handles a key while the field is open.
pub fn handle_project_copy_key(state: &mut State, key: &KeyEvent) {
    let Some(Popup::ProjectCopy(copy)) = state.viewport.popups.last_mut() else { return };
    match copy.field.handle_key(key, &state.keys) {
        KeyResult::Cancelled => popup_stack::close_popup(state),
        // The repeats of a held Enter accept nothing.
        KeyResult::Accepted if key.kind == KeyEventKind::Press => start_copy(state),
        KeyResult::Changed | KeyResult::Accepted | KeyResult::PassedOn | KeyResult::Handled => {}
    }
}

/// Closes the page and starts the call, whose prompt shows the difference.
fn start_copy(state: &mut State) {
    if let Some(reason) = explain_unavailable(state) {
        return state.show_info(reason);
    }
    let Some(Popup::ProjectCopy(copy)) = state.viewport.popups.last() else { return };
    let path = copy.field.text().trim().to_owned();
    if path.is_empty() {
        return state.show_info("The path is empty. Name the file of the project");
    }
    let arguments = json!({ "file_id": copy.target.to_string(), "path": path });
    let call = LiveCall { tool: COPY_TO_PROJECT.to_owned(), arguments, changed_paths: Vec::new() };
    while !state.viewport.popups.is_empty() {
        popup_stack::close_popup(state);
    }
    let request = ApplyRequest { message: COPY_MESSAGE.to_owned(), calls: vec![call] };
    agent_events::handle_agent_event(state, Event::ApplyRequested(request));
}
