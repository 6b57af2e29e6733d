//! Input of the search on the page in front.

use crate::text::clean;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::page_search::{PageSearch, SearchStep};
use crate::tui::popup::{Popup, Reader};
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyCode, KeyEvent};

/// Opens the search if this key does so on the page. The rows of JSON that are collapsed are not on the page, so it has none.
pub fn opens_search(state: &State, key: &KeyEvent) -> bool {
    state.keys.lookup(Scope::Anywhere, key) == Some(Action::SearchTranscript)
        && front_page(state).is_some_and(|reader| reader.json_view().is_none())
}

/// Opens the search on the page in front.
pub fn open_page_search(state: &mut State) {
    if let Some(Popup::Reader(reader)) = state.viewport.popups.last_mut() {
        reader.search = Some(PageSearch::default());
    }
}

/// Returns whether the page in front is searched.
pub fn is_searching(state: &State) -> bool {
    front_page(state).is_some_and(|reader| reader.search.is_some())
}

/// Handles a key while a page is searched: characters extend the search text. Enter, Down and the key that opens the search
/// find the next match, Up finds the previous one, Esc ends the search.
pub fn handle_search_key(state: &mut State, key: &KeyEvent) {
    let action = state.keys.lookup(Scope::TextField, key);
    let is_search_key = state.keys.lookup(Scope::Anywhere, key) == Some(Action::SearchTranscript);
    let step = match (action, key.code) {
        (Some(Action::Close), _) => {
            if let Some(Popup::Reader(reader)) = state.viewport.popups.last_mut() {
                reader.search = None;
            }
            return;
        }
        (_, KeyCode::Up) => SearchStep::Previous,
        (_, KeyCode::Down) | (Some(Action::Accept), _) => SearchStep::Next,
        _ if is_search_key => SearchStep::Next,
        _ => {
            let typed = Chord::from(key).typed_character();
            edit_query(state, |query| match (action, typed) {
                (Some(Action::DeleteBack), _) => drop(query.pop()),
                (Some(Action::DeleteToStart), _) => query.clear(),
                (_, Some(character)) => query.push(character),
                (_, None) => {}
            });
            SearchStep::Stay
        }
    };
    show_match(state, step);
}

/// Adds pasted text to the search text. Only its first line is used.
pub fn paste_search_text(state: &mut State, text: &str) {
    let line = clean::clean_line(text.lines().next().unwrap_or_default());
    edit_query(state, |query| query.push_str(&line));
    show_match(state, SearchStep::Stay);
}

fn front_page(state: &State) -> Option<&Reader> {
    match state.viewport.popups.last() {
        Some(Popup::Reader(reader)) => Some(reader),
        _ => None,
    }
}

fn edit_query(state: &mut State, edit: impl FnOnce(&mut String)) {
    if let Some(Popup::Reader(Reader { search: Some(search), .. })) = state.viewport.popups.last_mut() {
        edit(&mut search.query);
    }
}

/// Scrolls the page to a match, unless it is visible.
fn show_match(state: &mut State, step: SearchStep) {
    let inside = layout::page_area(state);
    let Some(Popup::Reader(reader)) = state.viewport.popups.last_mut() else { return };
    let layout = reader.lay_out_text(usize::from(inside.width).max(1), &state.theme, &state.lookups);
    let (top, rows) = (reader.top.get(), usize::from(inside.height));
    let Some(search) = &mut reader.search else { return };
    if let Some(line) = search.find_line(&layout.page.lines, step, top)
        && !(top..top + rows).contains(&line)
    {
        reader.top.set(line.saturating_sub(rows / 3));
    }
}
