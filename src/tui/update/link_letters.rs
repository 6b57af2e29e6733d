//! Opening links without a mouse: each link on the screen gets a letter.

use super::clipboard_copy;
use crate::text::link::LinkTarget;
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::keys::Chord;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::{LINK_LETTERS, LinkLetter, Links, Popup};
use crate::tui::state::State;
use crate::tui::view::{layout, visible_lines};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Shows a letter on each visible link.
pub fn show_link_letters(state: &mut State, cache: &mut LayoutCache) {
    let layout::Areas { transcript: area, toasts, .. } = layout::compute_areas(state);
    let toast_rows = toasts.height;
    let links: Vec<LinkLetter> = visible_lines::visible_targets(state, cache, area)
        .into_iter()
        .zip(LINK_LETTERS.chars())
        .map(|((position, target), letter)| LinkLetter { letter, position, target })
        .collect();
    if links.is_empty() {
        state.show_info("No links on the screen");
    } else {
        state.viewport.popups.push(Popup::Links(Links { links, toast_rows, pending_address: None }));
    }
}

/// Handles a key while letters are shown or a web address is to be confirmed.
pub fn handle_link_key(state: &mut State, key: &KeyEvent) {
    let Some(Popup::Links(links)) = state.viewport.popups.pop() else { return };
    if let Some(address) = links.pending_address {
        return match key.code {
            KeyCode::Enter if key.kind == KeyEventKind::Press => state.push_effect(Effect::OpenWeb(address)),
            KeyCode::Char('y' | 'Y') => clipboard_copy::copy_text(state, &address),
            _ => {}
        };
    }
    let Some(letter) = Chord::from(key).typed_character() else { return };
    let Some(link) = links.links.iter().find(|link| link.letter == letter.to_ascii_lowercase()) else {
        return;
    };
    match letter.is_uppercase() {
        true => clipboard_copy::copy_text(state, &link.target.to_string()),
        false => open_link(state, &link.target),
    }
}

/// Opens the target of a link. A web address is shown first and opened once the user confirms.
pub fn open_link(state: &mut State, target: &LinkTarget) {
    match target {
        LinkTarget::File { path, line, .. } => {
            state.push_effect(Effect::OpenFile { path: path.clone(), line: *line });
        }
        LinkTarget::Web(address) => {
            let toast_rows = layout::compute_areas(state).toasts.height;
            let links = Links { links: Vec::new(), toast_rows, pending_address: Some(address.clone()) };
            state.viewport.popups.push(Popup::Links(links));
        }
        LinkTarget::Workspace(address) => {
            state.push_effect(Effect::Request(HostRequest::CopyWorkspaceFile(address.clone())));
        }
    }
}
