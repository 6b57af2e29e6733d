//! The list of every call of the session, and the page of one call.

use crate::chat::audit::{Record, records};
use crate::chat::{CallId, SessionId};
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::overlay::Overlay;
use crate::tui::parts::audit;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::state::State;
use crate::tui::text::{clean, width};

/// Maximum columns of a line on a page.
const WIDEST: usize = 100;

/// Opens the list with the cursor on the newest call. Its times follow when the host has loaded them.
pub fn open(state: &mut State) -> Vec<Effect> {
    let records = records(state.agent.session.entries());
    let calls: Vec<CallId> = records.iter().map(|record| record.call.id.clone()).collect();
    let rows = rows(&records, &state.times);
    let mut picker = Picker::new("Calls and decisions", "No tool calls yet", rows);
    picker.select(calls.len().saturating_sub(1));
    state.overlays.push(Overlay::Audit(picker, calls));
    vec![Effect::Ask(Wish::Times(state.session.clone()))]
}

/// Stores the times of a session's entries and refreshes the list.
pub fn times(state: &mut State, session: &SessionId, times: Vec<String>) {
    if *session != state.session {
        return;
    }
    state.times = times;
    let records = records(state.agent.session.entries());
    for overlay in &mut state.overlays {
        if let Overlay::Audit(picker, calls) = overlay {
            // A call made after the list was opened appears when it is opened again.
            let known = records.get(..calls.len().min(records.len())).unwrap_or_default();
            picker.set_rows(rows(known, &state.times));
        }
    }
}

/// Opens the page of a call, with the list below it.
pub fn read(state: &mut State, picker: Picker, calls: Vec<CallId>, row: usize) -> Vec<Effect> {
    let call = calls.get(row).cloned();
    state.overlays.push(Overlay::Audit(picker, calls));
    if let Some(call) = call {
        page(state, &call);
    }
    Vec::new()
}

/// Opens the page of a call above any open list.
pub fn page(state: &mut State, call: &CallId) {
    let width = usize::from(state.size.0.saturating_sub(10)).clamp(1, WIDEST);
    let when = |at: usize| state.times.get(at).cloned().unwrap_or_default();
    let records = records(state.agent.session.entries());
    let Some(at) = records.iter().position(|record| record.call.id == *call) else { return };
    let name = clean::one_line(&records[at].call.name);
    let title = format!("{} of {} · {}", at + 1, records.len(), width::fit(&name, 40));
    let text = audit::page(&records[at], &when, width, true).join("\n");
    super::overlay::open_reader(state, &title, &text, false);
}

fn rows(records: &[Record<'_>], times: &[String]) -> Vec<Row> {
    let row = |record: &Record<'_>| {
        let (text, more) = audit::row(record);
        let when = times.get(record.made).map_or("", String::as_str);
        Row::new(&text).more(&more).detail(when).key(record.call.id.0.as_str())
    };
    records.iter().map(row).collect()
}
