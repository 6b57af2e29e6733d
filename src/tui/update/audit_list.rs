//! The list of every call of the session and every command of the user, and the page of one of them.

use super::popup_stack;
use crate::chat::audit::{AuditItem, AuditKey, collect_items, collect_records};
use crate::chat::{CallId, Entry, SessionId};
use crate::text::{clean, width};
use crate::tui::host::HostRequest;
use crate::tui::parts::audit_page;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{List, Popup, ReaderBody};
use crate::tui::state::State;
use std::sync::Arc;

/// Maximum columns of the tool's name in the title of a page.
const MAX_NAME_COLUMNS: usize = 40;

/// Opens the list with the cursor on the newest call. Its times follow when the host has loaded them.
pub fn open_audit_list(state: &mut State) {
    let items = collect_items(state.agent.session.entries());
    let keys: Vec<AuditKey> = items.iter().map(AuditItem::key).collect();
    let rows = audit_rows(&items, &state.session.entry_times);
    let mut picker = Picker::new("Calls and decisions", "No tool calls yet", rows);
    picker.select(keys.len().saturating_sub(1));
    state.viewport.popups.push(Popup::List(picker, List::Audit(keys)));
    state.send_request(HostRequest::ReadEntryTimes(state.session.id.clone()));
}

/// Stores the times of a session's entries and refreshes the list.
pub fn set_entry_times(state: &mut State, session: &SessionId, times: Vec<String>) {
    if *session != state.session.id {
        return;
    }
    state.session.entry_times = times;
    let items = collect_items(state.agent.session.entries());
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Audit(keys)) = popup {
            // A call made after the list was opened appears when it is opened again.
            let listed_items = items.get(..keys.len().min(items.len())).unwrap_or_default();
            picker.set_rows(audit_rows(listed_items, &state.session.entry_times));
        }
    }
}

/// Opens the page of an item over the list.
pub fn open_audit_row(state: &mut State, picker: Picker, keys: Vec<AuditKey>, row: usize) {
    let key = keys.get(row).cloned();
    state.viewport.popups.push(Popup::List(picker, List::Audit(keys)));
    match key {
        Some(AuditKey::Call(call)) => open_audit_page(state, &call),
        Some(AuditKey::UserCommand(entry)) => open_command_page(state, entry),
        Some(AuditKey::Sampling(entry)) => open_sampling_page(state, entry),
        None => {}
    }
}

/// Opens the page of a command that the user ran.
fn open_command_page(state: &mut State, entry: usize) {
    let Some(Entry::UserCommand(command)) = state.agent.session.entries().get(entry) else { return };
    let text = audit_page::user_command_text(command);
    let is_terminal_output = true;
    popup_stack::open_reader(state, "Your command", &text, is_terminal_output);
}

/// Opens the page of a request of an MCP server for the model.
fn open_sampling_page(state: &mut State, entry: usize) {
    let items = collect_items(state.agent.session.entries());
    let text = items.iter().find_map(|item| match item {
        AuditItem::Sampling(record) if record.first_index() == entry => Some(audit_page::sampling_text(record)),
        AuditItem::Sampling(_) | AuditItem::Call(_) | AuditItem::UserCommand(..) => None,
    });
    if let Some(text) = text {
        popup_stack::push_reader(state, "Request of an MCP server", text.into(), ReaderBody::Barred);
    }
}

/// Opens the page of a call over all open popups.
pub fn open_audit_page(state: &mut State, call: &CallId) {
    let entry_time = |entry: usize| state.session.entry_times.get(entry).cloned().unwrap_or_default();
    let records = collect_records(state.agent.session.entries());
    let Some(index) = records.iter().position(|record| record.call.id == *call) else { return };
    let name = clean::clean_line(&records[index].call.name);
    let title = format!("{} of {} · {}", index + 1, records.len(), width::fit_start(&name, MAX_NAME_COLUMNS));
    let is_full = true;
    let page = audit_page::build_audit_page(&records[index], &entry_time, is_full);
    popup_stack::push_reader(state, &title, "".into(), ReaderBody::Audit(Arc::new(page)));
}

fn audit_rows(items: &[AuditItem<'_>], times: &[String]) -> Vec<Row> {
    let build_row = |item: &AuditItem<'_>| {
        let time = times.get(item.entry_index()).map_or("", String::as_str);
        let ((text, secondary), key) = match item {
            AuditItem::Call(record) => (audit_page::audit_row_texts(record), record.call.id.0.clone()),
            AuditItem::UserCommand(index, command) => (audit_page::command_row_texts(command), format!("!{index}")),
            AuditItem::Sampling(record) => {
                (audit_page::sampling_row_texts(record), format!("sampling {}", record.first_index()))
            }
        };
        Row::new(&text).with_secondary(&secondary).with_detail(time).with_key(key.as_str())
    };
    items.iter().map(build_row).collect()
}
