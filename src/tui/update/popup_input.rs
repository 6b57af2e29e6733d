//! Keys, pastes and the mouse wheel while a popup is open.

use super::popup_stack::close_popup;
use super::slash_commands::run_command;
use super::{
    audit_list, background_list, clipboard_copy, confirmation_keys, file_list, grant_list, help_lists, link_hints,
    mode_list, model_list, page_search_input, project_copies, provider_list, rehearsal_list, rewind_list, rule_edits,
    server_list, session_exit, session_list, theme_list,
};
use crate::text::link::LinkTarget;
use crate::tui::host::{HostRequest, ModelRow};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::scroll_position;
use crate::tui::parts::help_page;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::picker::{Pick, Picker};
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::popup::{List, Popup, ReaderBody};
use crate::tui::state::State;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Handles a key for the popup in front.
pub fn handle_popup_key(state: &mut State, cache: &mut LayoutCache, key: KeyEvent) {
    // The frame of the popup has two rows, and up to two rows of the screen stay visible around it.
    let page_height = usize::from(state.viewport.size.1.saturating_sub(4)).max(1);
    let keys = &state.keys;
    let Some(popup) = state.viewport.popups.last_mut() else { return };
    if keys.lookup(Scope::Anywhere, &key) == Some(Action::Help) && !matches!(popup, Popup::Help(_)) {
        return help_lists::open_help(state);
    }
    if page_search_input::is_searching(state) {
        return page_search_input::handle_search_key(state, &key);
    }
    if page_search_input::opens_search(state, &key) {
        return page_search_input::open_page_search(state);
    }
    let keys = &state.keys;
    let Some(popup) = state.viewport.popups.last_mut() else { return };
    let pick = match popup {
        Popup::Help(help) => {
            if help.handle_key(&key, keys) == help_page::KeyResult::Close {
                close_popup(state);
            }
            return;
        }
        Popup::Reader(reader) => {
            if keys.lookup(Scope::Anywhere, &key) == Some(Action::OpenLink)
                && (reader.has_links() || !reader.has_file_keys())
            {
                return link_hints::show_link_hints(state, cache);
            }
            if let Some(address) = reader.whole_text.clone()
                && (key.code, key.kind) == (KeyCode::Enter, KeyEventKind::Press)
            {
                return link_hints::open_link(state, &LinkTarget::Workspace(address));
            }
            if let ReaderBody::File(page) = &mut reader.body
                && let Some(view) = &mut page.json
            {
                if let Some(action) = keys.lookup(Scope::Json, &key) {
                    if view.run_fold_action(action) {
                        reader.layout = LineCache::default();
                    }
                    return;
                }
                if let Some(action) = keys.lookup(Scope::Page, &key).filter(|action| *action != Action::Close) {
                    return view.move_cursor(action, page_height);
                }
            }
            let file_action = keys.lookup(Scope::Files, &key);
            match (&reader.body, file_action) {
                (ReaderBody::File(_), Some(action)) => return file_list::run_file_action(state, action),
                (ReaderBody::Link(_), Some(action)) => return link_hints::run_page_action(state, action),
                (ReaderBody::File(_), None) if key.code == KeyCode::Enter && key.kind == KeyEventKind::Press => {
                    return file_list::run_file_action(state, Action::OpenFile);
                }
                (ReaderBody::Link(_), None) if key.code == KeyCode::Enter && key.kind == KeyEventKind::Press => {
                    return link_hints::run_page_action(state, Action::OpenFile);
                }
                _ => {}
            }
            match keys.lookup(Scope::Page, &key) {
                Some(Action::Close) => return close_popup(state),
                Some(action) => {
                    let top = reader.top.get();
                    reader.top.set(scroll_position(action, top, page_height).unwrap_or(top));
                }
                None => {}
            }
            return;
        }
        Popup::ApiKey(field) => {
            let result = field.handle_key(&key, keys);
            return provider_list::handle_api_key_input(state, result, key.kind);
        }
        Popup::Credential(_) => return provider_list::handle_credential_key(state, &key),
        Popup::RuleEdit(_) => return rule_edits::handle_rule_edit_key(state, &key),
        Popup::ProjectCopy(_) => return project_copies::handle_project_copy_key(state, &key),
        Popup::Links(_) => return link_hints::handle_link_key(state, &key),
        Popup::Confirmation(..) => return confirmation_keys::handle_confirmation_key(state, &key),
        Popup::List(picker, List::Grants(_)) => match keys.lookup(Scope::Grants, &key) {
            Some(Action::OpenFull) => return grant_list::open_selected_text(state),
            Some(_) if picker.filter_text().is_empty() => return grant_list::revoke_selected(state),
            Some(_) | None => picker.handle_key(&key, keys),
        },
        Popup::List(picker, List::Background) if picker.filter_text().is_empty() => {
            match keys.lookup(Scope::Background, &key) {
                Some(_) => return background_list::confirm_stop(state),
                None => picker.handle_key(&key, keys),
            }
        }
        Popup::List(picker, List::Files(_) | List::FileVersions(_)) => {
            if let Some(action) = keys.lookup(Scope::Tree, &key).filter(|_| picker.shows_folders()) {
                return picker.run_fold_action(action);
            }
            match keys.lookup(Scope::Files, &key) {
                Some(action) => return file_list::run_file_action(state, action),
                None => picker.handle_key(&key, keys),
            }
        }
        Popup::List(picker, _) => picker.handle_key(&key, keys),
    };
    handle_pick(state, cache, pick)
}

/// Handles pasted text: it goes into the filter of a list or the text field, otherwise it is ignored.
pub fn paste_into_popup(state: &mut State, cache: &mut LayoutCache, text: &str) {
    let is_searching = page_search_input::is_searching(state);
    let pick = match state.viewport.popups.last_mut() {
        Some(Popup::List(picker, _)) => picker.paste(text),
        Some(Popup::ApiKey(field)) => {
            field.insert_paste(text);
            return;
        }
        Some(Popup::Credential(entry)) => return entry.insert_paste(text),
        Some(Popup::RuleEdit(edit)) => {
            edit.field.insert(text);
            return;
        }
        Some(Popup::ProjectCopy(copy)) => {
            copy.field.insert(text);
            return;
        }
        Some(Popup::Reader(_)) if is_searching => return page_search_input::paste_search_text(state, text),
        Some(Popup::Help(_) | Popup::Reader(_) | Popup::Links(_) | Popup::Confirmation(..)) | None => return,
    };
    handle_pick(state, cache, pick)
}

/// Scrolls the popup in front.
pub fn scroll_popup(state: &mut State, cache: &mut LayoutCache, lines: isize) {
    let pick = match state.viewport.popups.last_mut() {
        Some(Popup::List(picker, _)) => picker.scroll(lines.signum()),
        Some(Popup::Reader(reader)) => return reader.top.set(reader.top.get().saturating_add_signed(lines)),
        Some(Popup::Help(help)) => return help.scroll(lines),
        Some(Popup::Confirmation(confirmation, _)) => return confirmation.scroll(lines),
        Some(Popup::Credential(entry)) => return entry.scroll_lines(lines),
        Some(Popup::Links(_) | Popup::ApiKey(_) | Popup::RuleEdit(_) | Popup::ProjectCopy(_)) | None => return,
    };
    handle_pick(state, cache, pick)
}

/// Runs what a key, paste or the wheel picked in the list in front.
fn handle_pick(state: &mut State, cache: &mut LayoutCache, pick: Pick) {
    // A key or paste that changed the search text picked no row.
    if session_list::update_session_search(state) {
        return;
    }
    let (row, save) = match pick {
        Pick::Handled => return,
        Pick::Close => return close_popup(state),
        Pick::Moved(row) => {
            if let Some(Popup::List(_, List::Themes(_))) = state.viewport.popups.last()
                && let Some((_, theme)) = theme_list::theme_at_row(state, row)
            {
                state.theme = theme;
            }
            return;
        }
        Pick::Row { row, save } => (Some(row), save),
        Pick::Typed { save } => (None, save),
    };
    let Some(Popup::List(picker, list)) = state.viewport.popups.pop() else { return };
    state.input.recent_keys.record_other_press(state.timing.now);
    match (list, row) {
        (List::Models(_), None) => {
            let model = picker.filter_text().to_owned();
            model_list::pick_model(state, ModelRow { model, ..ModelRow::default() }, save)
        }
        (list, Some(row)) => pick_list_row(state, cache, picker, list, row, save),
        (_, None) => {}
    }
}

/// Runs the action of a row. The list was closed; some actions open it again.
fn pick_list_row(state: &mut State, cache: &mut LayoutCache, picker: Picker, list: List, row: usize, save: bool) {
    match list {
        List::Sessions(search, action) => session_list::pick_session(state, search, action, row),
        List::Themes(_) => {
            if let Some((name, theme)) = theme_list::theme_at_row(state, row) {
                state.theme = theme;
                state.settings.theme.clone_from(&name);
                state.send_request(HostRequest::SaveTheme(name));
            }
        }
        List::Commands => {
            if let Some(command) = state.commands.get(row) {
                run_command(command, state, cache, "");
            }
        }
        List::Models(rows) => pick_item(rows, row, |row| model_list::pick_model(state, row, save)),
        List::Connect(choices) => pick_item(choices, row, |choice| provider_list::pick_provider(state, choice, save)),
        List::CopyTexts(texts) => pick_item(texts, row, |text| clipboard_copy::copy_text(state, &text)),
        List::Rehearsal(view) => rehearsal_list::pick_rehearsal_row(state, picker, view, row),
        List::Grants(grants) => grant_list::open_grant_row(state, picker, grants, row),
        List::Background => background_list::open_background_row(state, picker, row),
        List::Files(files) => file_list::open_file_row(state, picker, files, row),
        List::FileVersions(versions) => file_list::open_version_row(state, picker, versions, row),
        List::Servers(servers) => server_list::open_server_row(state, picker, servers, row),
        List::Audit(keys) => audit_list::open_audit_row(state, picker, keys, row),
        List::Modes(modes) => pick_item(modes, row, |(mode, needs_no_confirmation)| match needs_no_confirmation {
            true => mode_list::set_mode(state, mode),
            false => mode_list::confirm_mode(state, mode),
        }),
        List::Rewind(points) => rewind_list::pick_rewind_point(state, &points, row),
        List::RewindScope(point, spans, scopes) => {
            pick_item(scopes, row, |scope| rewind_list::rewind(state, *point, &spans, scope));
        }
        List::UnsavedSession(choices) => {
            pick_item(choices, row, |choice| session_exit::pick_exit_choice(state, choice))
        }
    }
}

/// Runs a function on the item of a row.
fn pick_item<T>(items: Vec<T>, row: usize, pick: impl FnOnce(T)) {
    if let Some(item) = items.into_iter().nth(row) {
        pick(item);
    }
}
