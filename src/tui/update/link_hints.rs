//! Opening links without a mouse: each link on the screen gets a hint of one or two letters.

use super::{clipboard_copy, popup_stack};
use crate::text::link::LinkTarget;
use crate::text::web_destination::find_destination;
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, WorkspaceRequest};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::link_hints::{LinkHints, TypedHint};
use crate::tui::parts::link_page::LinkPage;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::{Popup, ReaderBody};
use crate::tui::state::State;
use crate::tui::view::{self, layout};
use crate::tui::workspace_data::FilePreview;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::sync::Arc;

/// Shows a hint on each visible link.
pub fn show_link_hints(state: &mut State, cache: &mut LayoutCache) {
    let links = view::find_screen_links(state, cache);
    let hints = LinkHints::new(links, layout::toast_area(state).height);
    match hints.links.is_empty() {
        true => state.show_info("No links on the screen"),
        false => state.viewport.popups.push(Popup::Links(hints)),
    }
}

/// Handles a key while hints are shown or a web address is to be confirmed.
pub fn handle_link_key(state: &mut State, key: &KeyEvent) {
    let Some(Popup::Links(mut hints)) = state.viewport.popups.pop() else { return };
    if let Some(address) = hints.pending_address {
        if state.keys.lookup(Scope::Files, key) == Some(Action::CopyAddress) {
            return clipboard_copy::copy_target(state, "address", &address);
        }
        return match key.code {
            KeyCode::Enter if key.kind == KeyEventKind::Press && find_destination(&address).is_none() => {
                state.show_info("Not opened: the host of the address cannot be determined");
            }
            KeyCode::Enter if key.kind == KeyEventKind::Press => state.push_effect(Effect::OpenWeb(address)),
            KeyCode::Char('y' | 'Y') => clipboard_copy::copy_target(state, "address", &address),
            _ => {}
        };
    }
    let Some(letter) = Chord::from(key).typed_character() else { return };
    if letter == 'p' && hints.typed.is_none() {
        if hints.has_previews() {
            hints.is_preview = !hints.is_preview;
        }
        return state.viewport.popups.push(Popup::Links(hints));
    }
    hints.is_copy |= letter.is_uppercase();
    if state.prompts.front().is_some() {
        // A repeat of the last letter is no text for the composer, nor an answer.
        state.input.recent_keys.record_answer(Chord::from(key), state.timing.now);
    }
    match hints.type_letter(letter.to_ascii_lowercase()) {
        TypedHint::Begun => state.viewport.popups.push(Popup::Links(hints)),
        TypedHint::Chosen(target) if hints.is_copy => clipboard_copy::copy_target(state, "link", &target.to_string()),
        TypedHint::Chosen(target) if hints.is_preview => open_preview(state, &target),
        TypedHint::Chosen(target) => open_link(state, &target),
        TypedHint::Unknown => {}
    }
}

/// Opens the target of a link. A web address is shown first and opened once the user confirms.
pub fn open_link(state: &mut State, target: &LinkTarget) {
    match target {
        LinkTarget::File { path, line, .. } => {
            state.push_effect(Effect::OpenFile { path: path.clone(), line: *line });
        }
        LinkTarget::Web(address) => {
            let toast_rows = layout::toast_area(state).height;
            let pending_address = Some(address.clone());
            let hints = LinkHints { toast_rows, pending_address, ..LinkHints::default() };
            state.viewport.popups.push(Popup::Links(hints));
        }
        LinkTarget::Workspace(address) => {
            state.send_request(HostRequest::Workspace(WorkspaceRequest::Copy(address.clone())));
        }
    }
}

/// Opens the page of a file that a link names. What the web has is never fetched: its address is shown as if it is opened.
fn open_preview(state: &mut State, target: &Arc<LinkTarget>) {
    if let LinkTarget::Web(_) = **target {
        return open_link(state, target);
    }
    let page = LinkPage { target: target.clone(), preview: None };
    popup_stack::push_reader(state, &target.to_string(), "".into(), ReaderBody::Link(Arc::new(page)));
    state.send_request(HostRequest::PreviewLink((**target).clone()));
}

/// Shows what the host has read, with the line of the link in the upper third. A reply for a page that was closed is dropped.
pub fn show_preview(state: &mut State, target: &LinkTarget, preview: Result<FilePreview, String>) {
    let preview = Arc::new(preview);
    let inside = layout::page_area(state);
    for popup in &mut state.viewport.popups {
        if let Popup::Reader(reader) = popup
            && let ReaderBody::Link(page) = &reader.body
            && *page.target == *target
        {
            let page = LinkPage { preview: Some(preview.clone()), ..(**page).clone() };
            (reader.body, reader.layout) = (ReaderBody::Link(Arc::new(page)), LineCache::default());
            let layout = reader.lay_out_text(usize::from(inside.width).max(1), &state.theme, &state.lookups);
            let rows = usize::from(inside.height);
            reader.top.set(layout.numbered.as_ref().map_or(0, |numbered| numbered.marked_top(rows)));
        }
    }
}

/// Runs the action of a key on the link whose page is in front.
pub fn run_page_action(state: &mut State, action: Action) {
    let Some(Popup::Reader(reader)) = state.viewport.popups.last() else { return };
    let ReaderBody::Link(page) = &reader.body else { return };
    let target = page.target.clone();
    match action {
        Action::OpenFile => {
            popup_stack::close_popup(state);
            open_link(state, &target);
        }
        Action::CopyAddress => clipboard_copy::copy_target(state, "link", &target.to_string()),
        _ => {}
    }
}
