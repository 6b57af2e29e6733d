//! Undo and rewind: the changes of the last turn, and the list of the user's messages to go back to.

use super::{agent_events, session_exit};
use crate::agent::{ApplyRequest, Event};
use crate::chat::apply_message::{describe_request, rewind_message};
use crate::chat::checkpoint::{join_spans, restore_call};
use crate::chat::{Checkpoint, CheckpointSpan, Entry, RESTORE_FILES, RewindPoint, join_first, pluralize};
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use crate::tui::host::{HostRequest, RewindTarget};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{List, Popup, RewindScope};
use crate::tui::state::State;
use std::collections::BTreeSet;

/// Characters of a message in a title and in the message of a rewind.
const QUOTED_CHARS: usize = 40;
/// Number of effects that cannot be restored and are named in the choice of what to restore; the prompt names all.
const MAX_NAMED_EFFECTS: usize = 3;
/// Shown in a dry run instead of a choice of files.
const NO_FILES_IN_DRY_RUN: &str = "A dry run changes no files: /rehearsal drop discards its overlay";

/// Asks the host for the changes of the last turn.
pub fn run_undo(state: &mut State) {
    if !state.agent.is_idle() {
        return state.show_info("Not available while a turn is running");
    }
    if state.agent.is_dry_run() {
        return state.show_info(NO_FILES_IN_DRY_RUN);
    }
    state.send_request(HostRequest::PrepareUndo(state.session.id.clone()));
}

/// Shows the approval prompt of an undo once the host has found its changes.
pub fn start_undo(state: &mut State, request: Result<ApplyRequest, String>) {
    match request {
        Ok(request) if state.agent.is_idle() => {
            agent_events::handle_agent_event(state, Event::ApplyRequested(request));
        }
        Ok(_) => state.show_info("Not undone: a turn is running"),
        Err(reason) => state.show_info(&reason),
    }
}

/// Returns whether there is a message to go back to.
pub fn can_rewind(state: &State) -> bool {
    let mut entries = state.agent.session.entries().iter();
    state.agent.is_idle() && entries.any(|entry| matches!(entry, Entry::UserMessage { .. }))
}

/// Opens the list at once; its rows follow when the host has loaded them.
pub fn open_rewind_list(state: &mut State) {
    if !state.agent.is_idle() {
        return state.show_info("Not available while a turn is running");
    }
    if !can_rewind(state) {
        return state.show_info("No message to go back to yet");
    }
    let picker = Picker::new("Rewind to before a message", "Loading…", Vec::new());
    state.viewport.popups.push(Popup::List(picker, List::Rewind(Vec::new())));
    state.send_request(HostRequest::ListRewindPoints(state.session.id.clone()));
}

/// Shows the messages that the host loaded, newest first.
pub fn set_rewind_points(state: &mut State, points: Vec<RewindPoint>) {
    if let Some(Popup::List(picker, List::Rewind(shown))) = state.viewport.popups.last_mut() {
        picker.set_empty_text("No message to go back to");
        picker.set_rows(points.iter().rev().map(|point| point_row(point).with_key(point.entry.to_string())).collect());
        *shown = points;
    }
}

fn point_row(point: &RewindPoint) -> Row {
    let files: BTreeSet<&String> = point.checkpoints.iter().flat_map(|checkpoint| &checkpoint.files).collect();
    let mut facts = Vec::new();
    facts.extend((!files.is_empty()).then(|| pluralize(files.len(), "file")));
    let lines = point.lines.filter(|(added, removed)| added + removed > 0);
    facts.extend(lines.map(|(added, removed)| format!("+{added} −{removed}")));
    let is_undo = point.checkpoints.iter().any(|checkpoint| checkpoint.tool == RESTORE_FILES);
    let mark = if is_undo { "undo" } else { "undone" };
    facts.extend((!files.is_empty() && point.is_undone).then(|| mark.to_owned()));
    let text = describe_request(&point.text).map_or_else(|| clean_line(first_line(&point.text)), Into::into);
    Row::new(&text).with_detail(&facts.join(" "))
}

/// Opens the choice of what to restore, for a row of the list.
pub fn pick_rewind_point(state: &mut State, points: &[RewindPoint], row: usize) {
    let Some(index) = points.len().checked_sub(row + 1) else { return };
    let point = points[index].clone();
    let since: Vec<Checkpoint> = points[index..].iter().flat_map(|point| point.checkpoints.clone()).collect();
    let is_dry_run = state.agent.is_dry_run();
    let spans = if is_dry_run { Vec::new() } else { join_spans(&since) };
    let files: BTreeSet<&String> = since.iter().flat_map(|checkpoint| &checkpoint.files).collect();
    let files = pluralize(files.len(), "file");
    let not_stored: BTreeSet<&str> =
        since.iter().flat_map(|checkpoint| checkpoint.not_stored.iter().map(String::as_str)).collect();
    let not_stored: Vec<&str> = not_stored.into_iter().collect();
    let mut rows = Vec::new();
    if !spans.is_empty() {
        let both =
            Row::new("Conversation and files").with_secondary(&format!("in a copy; asks before it restores {files}"));
        rows.push((both, RewindScope::Both));
    }
    let conversation = Row::new("Conversation only").with_secondary("in a copy; the files stay as they are");
    rows.push((conversation, RewindScope::Conversation));
    if !spans.is_empty() {
        let only = Row::new("Files only").with_secondary(&format!("in a full copy; asks before it restores {files}"));
        rows.push((only, RewindScope::Files));
    }
    let (rows, scopes): (Vec<Row>, Vec<RewindScope>) = rows.into_iter().unzip();
    let mut picker = Picker::new(&format!("Rewind to before {}", quote(&point.text)), "", rows);
    if is_dry_run {
        picker.set_note(NO_FILES_IN_DRY_RUN);
    } else if spans.is_empty() {
        picker.set_note("No file changes are recorded since this message");
    } else if !not_stored.is_empty() {
        picker.set_note(&format!("Cannot be restored: {}", join_first(&not_stored, MAX_NAMED_EFFECTS)));
    }
    state.viewport.popups.push(Popup::List(picker, List::RewindScope(Box::new(point), spans, scopes)));
}

/// Goes back to before a message, in a copy of the session: its own history still describes the files as they were.
pub fn rewind(state: &mut State, point: RewindPoint, spans: &[CheckpointSpan], scope: RewindScope) {
    let restores_files = matches!(scope, RewindScope::Both | RewindScope::Files);
    let message = rewind_message(&quote(&point.text));
    let approvals = restores_files.then(|| ApplyRequest { message, calls: vec![restore_call(spans)] });
    let shortens = matches!(scope, RewindScope::Both | RewindScope::Conversation);
    let target = shortens.then_some(RewindTarget { entry: point.entry, text: point.text });
    let session = state.session.id.clone();
    session_exit::leave_session_for(state, HostRequest::Rewind(session, target, approvals));
}

/// Returns the beginning of a message in quotes.
fn quote(text: &str) -> String {
    let request = describe_request(text).unwrap_or(text);
    // A message that quotes another one.
    let text = clean_line(first_line(request)).replace('“', "‘").replace('”', "’");
    format!("“{}”", truncate_end(&text, QUOTED_CHARS))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_quotes_another_is_quoted_once() {
        assert_eq!(quote("fix it\nplease"), "“fix it”");
        assert_eq!(quote(&rewind_message("“fix it”")), "“Undo all changes since ‘fix it’”");
    }
}
