//! The list of sessions, filtered by title and by the text of each session.

use super::session_exit;
use crate::chat::SessionId;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, SessionRequest, SessionRow};
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::popup::{List, PickedAction, Popup, SessionSearch};
use crate::tui::state::State;
use std::collections::HashMap;

/// Minimum length of a search text in ASCII characters; a single one matches almost everything.
const MIN_SEARCH_CHARS: usize = 2;

/// Opens the list at once; its rows follow when the host has loaded them.
pub fn open_session_list(state: &mut State, action: PickedAction) -> Vec<Effect> {
    let title = match action {
        PickedAction::Open => "Sessions",
        PickedAction::Fork(_) => "Continue in a copy of",
    };
    let picker = Picker::new(title, "Loading sessions…", Vec::new()).with_filter_hint("Filter by title or text");
    state.viewport.popups.push(Popup::List(picker, List::Sessions(SessionSearch::default(), action)));
    vec![Effect::Request(HostRequest::Session(SessionRequest::List))]
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

/// Starts a search if a key or paste changed the search text.
pub fn update_session_search(state: &mut State) -> Vec<Effect> {
    let Some(Popup::List(picker, List::Sessions(search, _))) = state.viewport.popups.last_mut() else {
        return Vec::new();
    };
    let filter = picker.filter_text();
    let is_long_enough = filter.chars().count() >= MIN_SEARCH_CHARS || !filter.is_ascii();
    let query = if is_long_enough { filter } else { "" };
    if query == search.query {
        return Vec::new();
    }
    query.clone_into(&mut search.query);
    if query.is_empty() {
        search.matches.clear();
        picker.set_note("");
        show_session_rows(picker, search, &state.session.id);
    }
    // The results of the previous text stay until new ones arrive, so that rows do not flicker.
    vec![Effect::Request(HostRequest::Session(SessionRequest::Search(search.query.clone())))]
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
pub fn pick_session(state: &mut State, search: SessionSearch, action: PickedAction, row: usize) -> Vec<Effect> {
    let end_search = Effect::Request(HostRequest::Session(SessionRequest::Search(String::new())));
    let mut effects: Vec<Effect> = (!search.query.is_empty()).then_some(end_search).into_iter().collect();
    effects.extend(match (search.rows.into_iter().nth(row), action) {
        (Some(session), PickedAction::Fork(fork_mode)) => {
            session_exit::leave_session_for(state, HostRequest::Session(SessionRequest::Fork(session.id, fork_mode)))
        }
        (Some(session), PickedAction::Open) if session.id == state.session.id => Vec::new(),
        (Some(session), PickedAction::Open) => {
            session_exit::leave_session_for(state, HostRequest::Session(SessionRequest::Open(session.id)))
        }
        (None, _) => Vec::new(),
    });
    effects
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
    let details: Vec<&str> = line.into_iter().chain(Some(marks.as_str()).filter(|marks| !marks.is_empty())).collect();
    let item =
        Row::new(&row.title).with_key(&row.id.0).with_secondary(&details.join(" · ")).with_detail(&row.last_used);
    if line.is_some() { item.pinned() } else { item }
}
