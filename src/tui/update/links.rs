//! Opening links without a mouse: each link on the screen gets a letter.

use super::copy;
use crate::chat::link::Target;
use crate::tui::effect::Effect;
use crate::tui::keys::Chord;
use crate::tui::overlay::{LETTERS, Lettered, Links, Overlay};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::state::State;
use crate::tui::view::{layout, visible};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Shows a letter on each visible link.
pub fn begin(state: &mut State, cache: &mut Cache) -> Vec<Effect> {
    let layout::Areas { transcript: area, .. } = layout::areas(state);
    let toasts = state.toasts.height(area.width);
    let list: Vec<Lettered> = visible::links(state, cache, area)
        .into_iter()
        .zip(LETTERS.chars())
        .map(|((at, target), letter)| Lettered { letter, at, target })
        .collect();
    if list.is_empty() {
        state.notice("No links on the screen", Kind::Info);
    } else {
        state.overlays.push(Overlay::Links(Links { list, told: toasts, asks: None }));
    }
    Vec::new()
}

/// Handles a key while letters are shown or a web address is to be confirmed.
pub fn key(state: &mut State, key: &KeyEvent) -> Vec<Effect> {
    let Some(Overlay::Links(links)) = state.overlays.pop() else { return Vec::new() };
    if let Some(address) = links.asks {
        return match key.code {
            KeyCode::Enter if key.kind == KeyEventKind::Press => vec![Effect::OpenWeb(address)],
            KeyCode::Char('y' | 'Y') => copy::copy(state, &address),
            _ => Vec::new(),
        };
    }
    let Some(letter) = Chord::from(key).typed() else { return Vec::new() };
    let Some(link) = links.list.iter().find(|link| link.letter == letter.to_ascii_lowercase()) else {
        return Vec::new();
    };
    match letter.is_uppercase() {
        true => copy::copy(state, &link.target.to_string()),
        false => open(state, &link.target),
    }
}

/// Opens the target of a link. A web address is shown first and opened once the user confirms.
pub fn open(state: &mut State, target: &Target) -> Vec<Effect> {
    match target {
        Target::File { path, line, .. } => vec![Effect::OpenFile { path: path.clone(), line: *line }],
        Target::Web(address) => {
            let toasts = state.toasts.height(layout::areas(state).transcript.width);
            let links = Links { list: Vec::new(), told: toasts, asks: Some(address.clone()) };
            state.overlays.push(Overlay::Links(links));
            Vec::new()
        }
        Target::Workspace(address) => {
            state.notice(&format!("Cannot open {address}: it is not a file on this machine"), Kind::Warning);
            Vec::new()
        }
    }
}
