//! Keys, pastes and the wheel while a list or page is open over the screen.

use super::popup_stack::close_popup;
use super::{
    audit_list, clipboard_copy, confirmation_keys, grant_list, link_letters, mode_list, model_list, provider_list,
    rehearsal_list, session_exit, session_list, theme_list,
};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, ModelRow};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::scroll_position;
use crate::tui::parts::help_page;
use crate::tui::parts::picker::{Pick, Picker};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;
use crossterm::event::KeyEvent;

/// Handles a key while something is open over the screen.
pub fn handle_popup_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) -> Vec<Effect> {
    let page_height = usize::from(state.viewport.size.1.saturating_sub(4)).max(1);
    let keys = &state.keys;
    let Some(popup) = state.viewport.popups.last_mut() else { return Vec::new() };
    let pick = match popup {
        Popup::Help(help) => {
            return match help.handle_key(&key, keys) {
                help_page::KeyResult::Close => close_popup(state),
                help_page::KeyResult::Handled => Vec::new(),
            };
        }
        Popup::Reader(reader) => {
            match keys.lookup(Scope::Page, &key) {
                Some(Action::Close) => return close_popup(state),
                Some(action) => {
                    let top = reader.top.get();
                    reader.top.set(scroll_position(action, top, page_height).unwrap_or(top));
                }
                None => {}
            }
            return Vec::new();
        }
        Popup::ApiKey(field) => {
            let result = field.handle_key(&key, keys);
            return provider_list::handle_api_key_input(state, result, key.kind);
        }
        Popup::Links(_) => return link_letters::handle_link_key(state, &key),
        Popup::Confirmation(..) => return confirmation_keys::handle_confirmation_key(state, &key),
        Popup::List(picker, _) => picker.handle_key(&key, keys),
    };
    handle_pick(state, cache, pick)
}

/// Handles pasted text: it goes into the filter of a list or the line of an API key, otherwise it is ignored.
pub fn paste_into_popup(state: &mut State, cache: &mut LayoutCache, text: &str) -> Vec<Effect> {
    let pick = match state.viewport.popups.last_mut() {
        Some(Popup::List(picker, _)) => picker.paste(text),
        Some(Popup::ApiKey(field)) => {
            field.insert(text);
            return Vec::new();
        }
        Some(Popup::Help(_) | Popup::Reader(_) | Popup::Links(_) | Popup::Confirmation(..)) | None => {
            return Vec::new();
        }
    };
    handle_pick(state, cache, pick)
}

/// Scrolls the popup in front.
pub fn scroll_popup(state: &mut State, cache: &mut LayoutCache, lines: isize) -> Vec<Effect> {
    let pick = match state.viewport.popups.last_mut() {
        Some(Popup::Reader(reader)) => {
            reader.top.set(reader.top.get().saturating_add_signed(lines));
            return Vec::new();
        }
        Some(Popup::List(picker, _)) => picker.scroll(lines.signum()),
        Some(Popup::Help(help)) => {
            help.scroll(lines);
            return Vec::new();
        }
        Some(Popup::Confirmation(confirmation, _)) => {
            confirmation.scroll(lines);
            return Vec::new();
        }
        Some(Popup::Links(_) | Popup::ApiKey(_)) | None => return Vec::new(),
    };
    handle_pick(state, cache, pick)
}

fn handle_pick(state: &mut State, cache: &mut LayoutCache, pick: Pick) -> Vec<Effect> {
    let search_effects = session_list::update_session_search(state);
    if !search_effects.is_empty() {
        return search_effects;
    }
    let (row, save) = match pick {
        Pick::Handled => return Vec::new(),
        Pick::Close => return close_popup(state),
        Pick::Moved(row) => {
            if let Some(Popup::List(_, List::Themes(_))) = state.viewport.popups.last()
                && let Some((_, theme)) = theme_list::theme_at_row(state, row)
            {
                state.theme = theme;
            }
            return Vec::new();
        }
        Pick::Row { row, save } => (Some(row), save),
        Pick::Typed { save } => (None, save),
    };
    let Some(Popup::List(picker, list)) = state.viewport.popups.pop() else { return Vec::new() };
    state.input.recent_keys.record_other_press(state.timing.now);
    match (list, row) {
        (List::Models(_), None) => {
            let model = picker.filter_text().to_owned();
            model_list::pick_model(state, ModelRow { model, ..ModelRow::default() }, save)
        }
        (list, Some(row)) => pick_list_row(state, cache, picker, list, row, save),
        (_, None) => Vec::new(),
    }
}

fn pick_list_row(
    state: &mut State,
    cache: &mut LayoutCache,
    picker: Picker,
    list: List,
    row: usize,
    save: bool,
) -> Vec<Effect> {
    match list {
        List::Sessions(search, action) => session_list::pick_session(state, search, action, row),
        List::Themes(_) => match theme_list::theme_at_row(state, row) {
            Some((name, theme)) => {
                state.theme = theme;
                state.settings.theme.clone_from(&name);
                vec![Effect::Request(HostRequest::SaveTheme(name))]
            }
            None => Vec::new(),
        },
        List::Commands => state.commands.get(row).map_or_else(Vec::new, |command| (command.run)(state, cache, "")),
        List::Models(rows) => pick_item(rows, row, |row| model_list::pick_model(state, row, save)),
        List::Connect(choices) => pick_item(choices, row, |choice| provider_list::pick_provider(state, choice, save)),
        List::CopyTexts(texts) => pick_item(texts, row, |text| clipboard_copy::copy_text(state, &text)),
        List::Rehearsal(view) => rehearsal_list::pick_rehearsal_row(state, picker, view, row),
        List::Grants(grants) => grant_list::pick_grant(state, grants, row),
        List::Audit(calls) => audit_list::open_audit_row(state, picker, calls, row),
        List::Modes(modes) => pick_item(modes, row, |(mode, is_confirmed)| match is_confirmed {
            true => mode_list::set_mode(state, mode),
            false => mode_list::confirm_mode(state, mode),
        }),
        List::UnsavedSession(choices) => {
            pick_item(choices, row, |choice| session_exit::pick_exit_choice(state, choice))
        }
    }
}

/// Runs a function on the item of a row.
fn pick_item<T>(items: Vec<T>, row: usize, pick: impl FnOnce(T) -> Vec<Effect>) -> Vec<Effect> {
    items.into_iter().nth(row).map_or_else(Vec::new, pick)
}
