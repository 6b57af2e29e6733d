//! The list of every call of the session, and the page of one call.

use super::popup_stack;
use crate::chat::audit::{Record, collect_records};
use crate::chat::{CallId, SessionId};
use crate::text::{clean, width};
use crate::tui::host::HostRequest;
use crate::tui::parts::audit_page;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;

/// Maximum columns of a line on a page.
const MAX_COLUMNS: usize = 100;
/// Maximum columns of the tool's name in the title of a page.
const MAX_NAME_COLUMNS: usize = 40;

/// Opens the list with the cursor on the newest call. Its times follow when the host has loaded them.
pub fn open_audit_list(state: &mut State) {
    let records = collect_records(state.agent.session.entries());
    let calls: Vec<CallId> = records.iter().map(|record| record.call.id.clone()).collect();
    let rows = audit_rows(&records, &state.session.entry_times);
    let mut picker = Picker::new("Calls and decisions", "No tool calls yet", rows);
    picker.select(calls.len().saturating_sub(1));
    state.viewport.popups.push(Popup::List(picker, List::Audit(calls)));
    state.send_request(HostRequest::ReadEntryTimes(state.session.id.clone()));
}

/// Stores the times of a session's entries and refreshes the list.
pub fn set_entry_times(state: &mut State, session: &SessionId, times: Vec<String>) {
    if *session != state.session.id {
        return;
    }
    state.session.entry_times = times;
    let records = collect_records(state.agent.session.entries());
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Audit(calls)) = popup {
            // A call made after the list was opened appears when it is opened again.
            let listed_records = records.get(..calls.len().min(records.len())).unwrap_or_default();
            picker.set_rows(audit_rows(listed_records, &state.session.entry_times));
        }
    }
}

/// Opens the page of a call over the list.
pub fn open_audit_row(state: &mut State, picker: Picker, calls: Vec<CallId>, row: usize) {
    let call = calls.get(row).cloned();
    state.viewport.popups.push(Popup::List(picker, List::Audit(calls)));
    if let Some(call) = call {
        open_audit_page(state, &call);
    }
}

/// Opens the page of a call over all open popups.
pub fn open_audit_page(state: &mut State, call: &CallId) {
    // The pager's frame takes 4 columns. The lines are a little narrower still, so that the pager wraps none again.
    let width = usize::from(state.viewport.size.0.saturating_sub(10)).clamp(1, MAX_COLUMNS);
    let entry_time = |entry: usize| state.session.entry_times.get(entry).cloned().unwrap_or_default();
    let records = collect_records(state.agent.session.entries());
    let Some(index) = records.iter().position(|record| record.call.id == *call) else { return };
    let name = clean::clean_line(&records[index].call.name);
    let title = format!("{} of {} · {}", index + 1, records.len(), width::fit_start(&name, MAX_NAME_COLUMNS));
    let (is_full, is_terminal_output) = (true, false);
    let text = audit_page::audit_page_lines(&records[index], &entry_time, width, is_full).join("\n");
    popup_stack::open_reader(state, &title, &text, is_terminal_output);
}

fn audit_rows(records: &[Record<'_>], times: &[String]) -> Vec<Row> {
    let build_row = |record: &Record<'_>| {
        let (text, secondary) = audit_page::audit_row_texts(record);
        let time = times.get(record.reply_index).map_or("", String::as_str);
        Row::new(&text).with_secondary(&secondary).with_detail(time).with_key(record.call.id.0.as_str())
    };
    records.iter().map(build_row).collect()
}
