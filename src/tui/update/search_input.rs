//! Input of the transcript search.

use super::transcript_change::change_transcript;
use crate::text::clean;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::parts::transcript::{Direction, Search};
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent};

pub fn open_transcript_search(state: &mut State) {
    state.viewport.transcript.search.get_or_insert_with(Search::default);
}

/// Handles text that was pasted or typed very fast while searching. Only its first line is used.
pub fn paste_search_text(state: &mut State, cache: &mut LayoutCache, text: &str) {
    change_transcript(state, cache, |transcript, layouts| {
        if let Some(search) = &mut transcript.search {
            search.query.push_str(&clean::clean_line(text.lines().next().unwrap_or_default()));
        }
        transcript.update_match(layouts);
    });
}

/// Handles a key while searching: characters extend the search text. Enter, Up and the key that opens the search find
/// the previous match, Down finds the next one, Esc closes the search. The match stays on the screen.
pub fn handle_search_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    let action = state.keys.lookup(Scope::TextField, &key);
    let global_action = state.keys.lookup(Scope::Anywhere, &key);
    change_transcript(state, cache, |transcript, layouts| match (action, key.code) {
        (Some(Action::Close), _) => transcript.search = None,
        (_, KeyCode::Up) | (Some(Action::Accept), _) => transcript.find_next_match(layouts, Direction::Up),
        (_, KeyCode::Down) => transcript.find_next_match(layouts, Direction::Down),
        _ if global_action == Some(Action::SearchTranscript) => transcript.find_next_match(layouts, Direction::Up),
        _ => {
            if let Some(search) = &mut transcript.search {
                match (action, Chord::from(&key).typed_character()) {
                    (Some(Action::DeleteBack), _) => drop(search.query.pop()),
                    (Some(Action::DeleteToStart), _) => search.query.clear(),
                    (_, Some(character)) => search.query.push(character),
                    (_, None) => {}
                }
            }
            transcript.update_match(layouts);
        }
    });
}
