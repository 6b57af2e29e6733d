//! The list of sessions, filtered by title and by the text of each session.

use super::session_exit;
use crate::chat::SessionId;
use crate::tui::host::{HostRequest, SessionRow};
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::popup::{List, PickedAction, Popup, SessionSearch};
use crate::tui::state::State;
use std::collections::HashMap;

/// Minimum characters of a search text in ASCII, because a single one matches almost everything. Text in other scripts
/// may be shorter.
const MIN_SEARCH_CHARS: usize = 2;

/// Opens the list at once; its rows follow when the host has loaded them.
pub fn open_session_list(state: &mut State, action: PickedAction) {
    let title = match action {
        PickedAction::Open => "Sessions",
        PickedAction::Fork(_) => "Continue in a copy of",
    };
    let picker = Picker::new(title, "Loading sessions…", Vec::new()).with_filter_hint("Filter by title or text");
    state.viewport.popups.push(Popup::List(picker, List::Sessions(SessionSearch::default(), action)));
    state.send_request(HostRequest::ListSessions);
}

/// Shows the sessions that the host loaded.
pub fn set_sessions(state: &mut State, rows: Vec<SessionRow>) {
    if let Some(Popup::List(picker, List::Sessions(search, _))) = state.viewport.popups.last_mut() {
        search.rows = rows;
        picker.set_empty_text("No other session here");
        show_session_rows(picker, search, &state.session.id);
        if picker.filter_text().is_empty() {
            picker.select(search.rows.iter().position(|row| row.id == state.session.id).unwrap_or(0));
        }
    }
}

/// If a key or paste changed the search text, starts a search for it, or ends the search if the text is too short.
/// Returns whether it did one of these.
pub fn update_session_search(state: &mut State) -> bool {
    let Some(Popup::List(picker, List::Sessions(search, _))) = state.viewport.popups.last_mut() else {
        return false;
    };
    let filter = picker.filter_text();
    let is_long_enough = filter.chars().count() >= MIN_SEARCH_CHARS || !filter.is_ascii();
    let query = if is_long_enough { filter } else { "" };
    if query == search.query {
        return false;
    }
    query.clone_into(&mut search.query);
    if query.is_empty() {
        search.matches.clear();
        picker.set_note("");
        show_session_rows(picker, search, &state.session.id);
    }
    // The results of the previous text stay until new ones arrive, so that rows do not flicker.
    let request = HostRequest::SearchSessions(search.query.clone());
    state.send_request(request);
    true
}

/// Shows search results. Results for another text than the current one are late and dropped.
pub fn set_search_results(state: &mut State, query: &str, matches: Vec<(SessionId, String)>, is_complete: bool) {
    let Some(Popup::List(picker, List::Sessions(search, _))) = state.viewport.popups.last_mut() else { return };
    if search.query != query {
        return;
    }
    search.matches = matches;
    picker.set_note(if is_complete { "" } else { "Still searching the text of the sessions" });
    show_session_rows(picker, search, &state.session.id);
}

/// Opens or forks the session in a row.
pub fn pick_session(state: &mut State, search: SessionSearch, action: PickedAction, row: usize) {
    if !search.query.is_empty() {
        // Ends the search.
        state.send_request(HostRequest::SearchSessions(String::new()));
    }
    let Some(SessionRow { id, .. }) = search.rows.into_iter().nth(row) else { return };
    match action {
        PickedAction::Fork(fork_mode) => {
            session_exit::leave_session_for(state, HostRequest::ForkSession(id, fork_mode));
        }
        PickedAction::Open if id == state.session.id => {}
        PickedAction::Open => session_exit::leave_session_for(state, HostRequest::OpenSession(id)),
    }
}

fn show_session_rows(picker: &mut Picker, search: &SessionSearch, current: &SessionId) {
    let matching_lines: HashMap<&SessionId, &str> =
        search.matches.iter().map(|(id, line)| (id, line.as_str())).collect();
    picker.set_rows(
        search
            .rows
            .iter()
            .map(|row| session_row(row, row.id == *current, matching_lines.get(&row.id).copied()))
            .collect(),
    );
}

/// Builds the row of a session, with the matching line if it was found by its text.
fn session_row(row: &SessionRow, is_current: bool, line: Option<&str>) -> Row {
    let marks = [
        (is_current, IN_USE),
        (row.is_copy, "copy"),
        (row.is_dry_run, "dry run"),
        (row.has_open_question, "waiting for you"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(applies, _)| *applies).map(|(_, mark)| *mark).collect();
    let marks = marks.join(", ");
    let parked = row.parked_note.as_ref().map(|note| format!("handed to you: {note}"));
    let marks = Some(marks.as_str()).filter(|marks| !marks.is_empty());
    let details: Vec<&str> = line.into_iter().chain(marks).chain(parked.as_deref()).collect();
    let item =
        Row::new(&row.title).with_key(&row.id.0).with_secondary(&details.join(" · ")).with_detail(&row.last_used);
    // A row that was found by the text of its session must stay, even if the filter does not match its title.
    if line.is_some() { item.pinned() } else { item }
}
