//! Input of the transcript search.

use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::parts::transcript::search::Search;
use crate::tui::state::State;
use crate::tui::text::clean;
use crate::tui::view::layout;
use crossterm::event::{KeyCode, KeyEvent};

pub fn begin(state: &mut State) {
    state.transcript.search.get_or_insert_with(Search::default);
}

/// Handles text that was pasted or typed very fast while searching.
pub fn pasted(state: &mut State, cache: &mut Cache, text: &str) -> Vec<Effect> {
    let height = layout::transcript_height(state);
    let mut transcript = std::mem::take(&mut state.transcript);
    if let Some(search) = &mut transcript.search {
        search.words.push_str(&clean::one_line(text.lines().next().unwrap_or_default()));
    }
    transcript.find(&state.ground(), cache, height, true, true);
    state.transcript = transcript;
    Vec::new()
}

/// Handles a key while searching: characters extend the search text, Enter and Up find the previous match, Down the
/// next, Esc closes the search. The match stays on the screen.
pub fn key(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let height = layout::transcript_height(state);
    let mut transcript = std::mem::take(&mut state.transcript);
    let ground = state.ground();
    let action = state.keys.lookup(Scope::Line, &key);
    let anywhere = state.keys.lookup(Scope::Anywhere, &key);
    match (action, key.code) {
        (Some(Action::Close), _) => transcript.search = None,
        (_, KeyCode::Up) | (Some(Action::Accept), _) => transcript.find(&ground, cache, height, true, false),
        (_, KeyCode::Down) => transcript.find(&ground, cache, height, false, false),
        _ if anywhere == Some(Action::SearchTranscript) => {
            transcript.find(&ground, cache, height, true, false);
        }
        _ => {
            if let Some(search) = &mut transcript.search {
                match (action, Chord::from(&key).typed()) {
                    (Some(Action::DeleteBack), _) => drop(search.words.pop()),
                    (Some(Action::DeleteToStart), _) => search.words.clear(),
                    (_, Some(letter)) => search.words.push(letter),
                    (_, None) => {}
                }
            }
            transcript.find(&ground, cache, height, true, true);
        }
    }
    state.transcript = transcript;
    Vec::new()
}
