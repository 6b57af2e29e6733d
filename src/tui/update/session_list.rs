//! The list of sessions, filtered by title and by the text of each session.

use super::session_exit;
use crate::chat::SessionId;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, SessionRequest, SessionRow};
use crate::tui::overlay::{Overlay, PickedAction, SessionSearch};
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::state::State;
use std::collections::HashMap;

/// Minimum length of a search text in ASCII characters; a single one matches almost everything.
const MIN_SEARCH_CHARS: usize = 2;

/// Opens the list at once; its rows follow when the host has loaded them.
pub fn open_session_list(state: &mut State, picking: PickedAction) -> Vec<Effect> {
    let title = match picking {
        PickedAction::Open => "Sessions",
        PickedAction::Fork(_) => "Continue in a copy of",
    };
    let picker = Picker::new(title, "Loading sessions…", Vec::new()).with_filter_hint("Filter by title or text");
    state.viewport.overlays.push(Overlay::Sessions(picker, SessionSearch::default(), picking));
    vec![Effect::Request(HostRequest::Session(SessionRequest::List))]
}

/// Shows the sessions that the host loaded.
pub fn set_sessions(state: &mut State, rows: Vec<SessionRow>) {
    if let Some(Overlay::Sessions(picker, held, _)) = state.viewport.overlays.last_mut() {
        held.rows = rows;
        picker.set_empty_text("No other session here");
        show_session_rows(picker, held, &state.session.id);
        if picker.filter_text().is_empty() {
            picker.select(held.rows.iter().position(|row| row.id == state.session.id).unwrap_or(0));
        }
    }
}

/// Starts a search if a key or paste changed the search text.
pub fn update_session_search(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Sessions(picker, held, _)) = state.viewport.overlays.last_mut() else { return Vec::new() };
    let typed = picker.filter_text();
    let enough = typed.chars().count() >= MIN_SEARCH_CHARS || !typed.is_ascii();
    let wanted = if enough { typed } else { "" };
    if wanted == held.query {
        return Vec::new();
    }
    wanted.clone_into(&mut held.query);
    if wanted.is_empty() {
        held.matches.clear();
        picker.set_note("");
        show_session_rows(picker, held, &state.session.id);
    }
    // The results of the previous text stay until new ones arrive, so that rows do not flicker.
    vec![Effect::Request(HostRequest::Session(SessionRequest::Search(held.query.clone())))]
}

/// Shows search results. Results for another text than the current one are late and dropped.
pub fn set_search_results(state: &mut State, words: &str, lines: Vec<(SessionId, String)>, whole: bool) {
    let Some(Overlay::Sessions(picker, held, _)) = state.viewport.overlays.last_mut() else { return };
    if held.query != words {
        return;
    }
    held.matches = lines;
    picker.set_note(if whole { "" } else { "Still searching the text of the sessions" });
    show_session_rows(picker, held, &state.session.id);
}

/// Opens or forks the session in a row.
pub fn pick_session(state: &mut State, held: SessionSearch, picking: PickedAction, row: usize) -> Vec<Effect> {
    let none = Effect::Request(HostRequest::Session(SessionRequest::Search(String::new())));
    let mut effects: Vec<Effect> = (!held.query.is_empty()).then_some(none).into_iter().collect();
    effects.extend(match (held.rows.into_iter().nth(row), picking) {
        (Some(session), PickedAction::Fork(becomes)) => {
            session_exit::leave_session_for(state, HostRequest::Session(SessionRequest::Fork(session.id, becomes)))
        }
        (Some(session), PickedAction::Open) if session.id == state.session.id => Vec::new(),
        (Some(session), PickedAction::Open) => {
            session_exit::leave_session_for(state, HostRequest::Session(SessionRequest::Open(session.id)))
        }
        (None, _) => Vec::new(),
    });
    effects
}

fn show_session_rows(picker: &mut Picker, held: &SessionSearch, here: &SessionId) {
    let lines: HashMap<&SessionId, &str> = held.matches.iter().map(|(id, line)| (id, line.as_str())).collect();
    picker
        .set_rows(held.rows.iter().map(|row| session_row(row, row.id == *here, lines.get(&row.id).copied())).collect());
}

/// Builds the row of a session, with the matching line if it was found by its text.
fn session_row(row: &SessionRow, here: bool, line: Option<&str>) -> Row {
    let marks = [
        (here, IN_USE),
        (row.is_copy, "copy"),
        (row.is_dry_run, "dry run"),
        (row.has_open_question, "waiting for you"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect();
    let marks = marks.join(", ");
    let more: Vec<&str> = line.into_iter().chain(Some(marks.as_str()).filter(|marks| !marks.is_empty())).collect();
    let item = Row::new(&row.title).with_key(&row.id.0).with_secondary(&more.join(" · ")).with_detail(&row.last_used);
    if line.is_some() { item.pinned() } else { item }
}
