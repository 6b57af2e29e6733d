//! The list of sessions, filtered by title and by the text of each session.

use super::commands;
use crate::chat::SessionId;
use crate::tui::effect::Effect;
use crate::tui::host::{SessionRow, Wish};
use crate::tui::overlay::{Held, Overlay, Picking};
use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::state::State;
use std::collections::HashMap;

/// Minimum length of a search text in ASCII characters; a single one matches almost everything.
const LETTERS: usize = 2;

/// Opens the list at once; its rows follow when the host has loaded them.
pub fn open(state: &mut State, picking: Picking) -> Vec<Effect> {
    let title = match picking {
        Picking::Open => "Sessions",
        Picking::Fork(_) => "Continue in a copy of",
    };
    let picker = Picker::new(title, "Loading sessions…", Vec::new()).inviting("Filter by title or text");
    state.overlays.push(Overlay::Sessions(picker, Held::default(), picking));
    vec![Effect::Ask(Wish::Sessions)]
}

/// Shows the sessions that the host loaded.
pub fn listed(state: &mut State, rows: Vec<SessionRow>) {
    if let Some(Overlay::Sessions(picker, held, _)) = state.overlays.last_mut() {
        held.rows = rows;
        picker.set_nothing("No other session here");
        show(picker, held, &state.session);
        if picker.typed().is_empty() {
            picker.select(held.rows.iter().position(|row| row.id == state.session).unwrap_or(0));
        }
    }
}

/// Starts a search if a key or paste changed the search text.
pub fn typed(state: &mut State) -> Vec<Effect> {
    let Some(Overlay::Sessions(picker, held, _)) = state.overlays.last_mut() else { return Vec::new() };
    let typed = picker.typed();
    let enough = typed.chars().count() >= LETTERS || !typed.is_ascii();
    let wanted = if enough { typed } else { "" };
    if wanted == held.wanted {
        return Vec::new();
    }
    wanted.clone_into(&mut held.wanted);
    if wanted.is_empty() {
        held.lines.clear();
        picker.set_note("");
        show(picker, held, &state.session);
    }
    // The results of the previous text stay until new ones arrive, so that rows do not flicker.
    vec![Effect::Ask(Wish::Search(held.wanted.clone()))]
}

/// Shows search results. Results for another text than the current one are late and dropped.
pub fn found(state: &mut State, words: &str, lines: Vec<(SessionId, String)>, whole: bool) {
    let Some(Overlay::Sessions(picker, held, _)) = state.overlays.last_mut() else { return };
    if held.wanted != words {
        return;
    }
    held.lines = lines;
    picker.set_note(if whole { "" } else { "Still searching the text of the sessions" });
    show(picker, held, &state.session);
}

/// Opens or forks the session in a row.
pub fn take(state: &mut State, held: Held, picking: Picking, row: usize) -> Vec<Effect> {
    let none = Effect::Ask(Wish::Search(String::new()));
    let mut effects: Vec<Effect> = (!held.wanted.is_empty()).then_some(none).into_iter().collect();
    effects.extend(match (held.rows.into_iter().nth(row), picking) {
        (Some(session), Picking::Fork(becomes)) => {
            commands::leave_for(state, Wish::Fork(session.id, becomes))
        }
        (Some(session), Picking::Open) if session.id == state.session => Vec::new(),
        (Some(session), Picking::Open) => commands::leave_for(state, Wish::Open(session.id)),
        (None, _) => Vec::new(),
    });
    effects
}

fn show(picker: &mut Picker, held: &Held, here: &SessionId) {
    let lines: HashMap<&SessionId, &str> = held.lines.iter().map(|(id, line)| (id, line.as_str())).collect();
    picker.set_rows(
        held.rows.iter().map(|row| item(row, row.id == *here, lines.get(&row.id).copied())).collect(),
    );
}

/// Builds the row of a session, with the matching line if it was found by its text.
fn item(row: &SessionRow, here: bool, line: Option<&str>) -> Row {
    let marks =
        [(here, IN_USE), (row.copy, "copy"), (row.dry_run, "dry run"), (row.waits, "waiting for you")];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect();
    let marks = marks.join(", ");
    let more: Vec<&str> =
        line.into_iter().chain(Some(marks.as_str()).filter(|marks| !marks.is_empty())).collect();
    let item = Row::new(&row.title).key(&row.id.0).more(&more.join(" · ")).detail(&row.when);
    if line.is_some() { item.found() } else { item }
}
