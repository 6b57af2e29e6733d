//! Results of a dry run as a list: each change, each command with its result, and the actions to apply or discard them.

use super::{agent_events, popup_stack, session_exit};
use crate::agent::{ApplyRequest, Event};
use crate::chat::apply_message::APPLY_MESSAGE;
use crate::chat::dry_run_summary::build_tree;
use crate::chat::{ApplyOptions, DryRunSummary, SessionId, pluralize};
use crate::tui::host::{HostRequest, Rehearsal};
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::rehearsal_lines::{call_row_texts, change_row, escape_to_line, outside_row};
use crate::tui::popup::{ConfirmedAction, List, Popup, ReaderBody, RehearsalPart, RehearsalView, RowAction};
use crate::tui::state::State;
use std::sync::Arc;

/// Shown after `/rehearsal` with an unknown option.
const COMMAND_OPTIONS: &str =
    "Unknown option. Use /rehearsal, /rehearsal apply [ignored] [commands] [hunks] or /rehearsal drop";

/// Runs `/rehearsal` with the text after it.
pub fn run_rehearsal_command(state: &mut State, argument: &str) {
    let pending_action = match argument {
        "" | "show" => None,
        "drop" => Some(RowAction::Discard),
        text => {
            let Some(options) = ApplyOptions::parse(text) else { return state.show_info(COMMAND_OPTIONS) };
            Some(RowAction::Apply(options))
        }
    };
    if !state.agent.is_idle() {
        return state.show_info("Not available while a turn is running");
    }
    let picker = Picker::new("Dry run results", "Loading…", Vec::new());
    let view = RehearsalView { pending_action, ..RehearsalView::default() };
    state.viewport.popups.push(Popup::List(picker, List::Rehearsal(view)));
    state.send_request(HostRequest::LoadRehearsal(state.session.id.clone()));
}

/// Shows the results of the dry run once the host has loaded them.
pub fn show_rehearsal(state: &mut State, result: Result<Rehearsal, String>) {
    let Some(Popup::List(_, List::Rehearsal(view))) = state.viewport.popups.last() else { return };
    let pending_action = view.pending_action.clone();
    state.viewport.popups.pop();
    let Rehearsal { session, summary } = match result {
        Ok(rehearsal) => rehearsal,
        Err(reason) => return state.show_info(&reason),
    };
    let view = RehearsalView { session, summary: Arc::new(summary), ..RehearsalView::default() };
    match pending_action {
        None => open_rehearsal_list(state, view),
        Some(action) => run_row_action(state, view, action),
    }
}

/// Opens the list of results.
fn open_rehearsal_list(state: &mut State, mut view: RehearsalView) {
    let summary = view.summary.clone();
    let mut rows = Vec::new();
    let mut push_row = |row: Row, action: RowAction| {
        rows.push(row.with_key(view.actions.len().to_string()));
        view.actions.push(action);
    };
    if summary.is_empty() {
        return state.show_info("Nothing was rehearsed yet");
    }
    push_row(Row::new("Show everything"), RowAction::Read(RehearsalPart::All));
    for branch in build_tree(&summary.changes) {
        let texts = change_row(&summary, &branch);
        let sign = if branch.symbol.is_empty() { String::new() } else { format!("{} ", branch.symbol) };
        // The row shows the last part of its path in the tree, and the whole path while the list is filtered.
        let path = summary.changes[branch.changes.start]
            .path
            .ancestors()
            .find(|path| path.components().count() == branch.depth + 1);
        let slash = if branch.is_folder { "/" } else { "" };
        let full_name = path.map(|path| format!("{sign}{}{slash}", escape_to_line(&path.to_string_lossy())));
        let row = Row::new(full_name.as_ref().unwrap_or(&texts.name));
        let row = row.with_secondary(&texts.notes).with_detail(&texts.right_text);
        push_row(
            row.in_tree(branch.depth, &texts.name).with_sign(),
            RowAction::Read(RehearsalPart::Changes(branch.changes)),
        );
    }
    for (index, change) in summary.outside.changes.iter().enumerate() {
        let texts = outside_row(change);
        let row = Row::new(&texts.name).with_secondary(&texts.notes).with_detail(&texts.right_text);
        push_row(row, RowAction::Read(RehearsalPart::Outside(index)));
    }
    if let Some(text) = summary.outside.describe_temporary() {
        push_row(Row::new(&text).with_detail("outside the project"), RowAction::Read(RehearsalPart::All));
    }
    for (index, step) in summary.calls.iter().enumerate() {
        let (text, outcome) = call_row_texts(&summary, step);
        push_row(Row::new(&text).with_detail(&outcome), RowAction::Read(RehearsalPart::Step(index)));
    }
    let defaults = ApplyOptions::default();
    let prompt_count = summary.apply_calls(defaults).len();
    if prompt_count > 0 {
        let text = format!("goes on live in a copy, {}", pluralize(prompt_count, "prompt"));
        push_row(Row::new("Apply…").with_secondary(&text), RowAction::Apply(defaults));
    }
    for (label, secondary, options) in [
        ("Apply with ignored files…", "also files that git ignores", ApplyOptions { ignored: true, ..defaults }),
        ("Apply and rerun commands…", "also the commands that ran", ApplyOptions { commands: true, ..defaults }),
        ("Apply hunk by hunk…", "one prompt per hunk", ApplyOptions { hunks: true, ..defaults }),
    ] {
        // An option is offered only if it leads to more prompts than "Apply…".
        if summary.apply_calls(options).len() > prompt_count {
            push_row(Row::new(label).with_secondary(secondary), RowAction::Apply(options));
        }
    }
    push_row(Row::new("Discard…").with_secondary("only the session stays"), RowAction::Discard);
    let mut picker = Picker::new(&format!("Rehearsed: {}", summary.describe_counts()), "", rows);
    let outside = summary.outside.changes.iter().map(|outside_change| &outside_change.change);
    if summary.changes.iter().chain(outside).any(|change| change.has_conflict) {
        picker.set_note("CONFLICT: the real file has changed since; it is not overwritten");
    }
    state.viewport.popups.push(Popup::List(picker, List::Rehearsal(view)));
}

/// Runs the action of a row.
pub fn pick_rehearsal_row(state: &mut State, picker: Picker, view: RehearsalView, row: usize) {
    let Some(action) = view.actions.get(row).cloned() else { return };
    if let RowAction::Read(_) = action {
        state.viewport.popups.push(Popup::List(picker, List::Rehearsal(view.clone())));
    }
    run_row_action(state, view, action)
}

fn run_row_action(state: &mut State, view: RehearsalView, action: RowAction) {
    match action {
        RowAction::Read(part) => {
            let title = match &part {
                RehearsalPart::All => "All dry run results".to_owned(),
                RehearsalPart::Changes(range) => match range.len() {
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                },
                RehearsalPart::Outside(_) => "Changes outside the project".to_owned(),
                RehearsalPart::Step(index) => {
                    let step = view.summary.calls.get(*index);
                    let text = step.map(|step| call_row_texts(&view.summary, step).0).unwrap_or_default();
                    format!("{} of {}: {text}", index + 1, view.summary.calls.len())
                }
            };
            popup_stack::push_reader(state, &title, "".into(), ReaderBody::Rehearsal(view.summary, part));
        }
        RowAction::Apply(options) => offer_changes(state, view.session, &view.summary, options),
        RowAction::Discard => {
            let facts = vec![
                view.summary.describe_counts(),
                "The changes cannot be recovered. The session and its entries stay.".to_owned(),
            ];
            let labels = AnswerLabels { confirm: "discard", cancel: "keep" };
            let confirmation = Confirmation::new("Discard the rehearsed changes?", labels, facts).destructive();
            state
                .viewport
                .popups
                .push(Popup::Confirmation(confirmation, ConfirmedAction::DiscardRehearsal(view.session)));
        }
    }
}

/// Offers every group of changes for approval: in this session if it is live, otherwise in a live copy.
fn offer_changes(state: &mut State, session: SessionId, summary: &DryRunSummary, options: ApplyOptions) {
    let request = ApplyRequest { message: APPLY_MESSAGE.to_owned(), calls: summary.apply_calls(options) };
    if request.calls.is_empty() {
        return state.show_info("No rehearsed changes to apply");
    }
    match state.agent.is_dry_run() {
        true => session_exit::leave_session_for(state, HostRequest::ApplyRehearsal(session, request)),
        false => agent_events::handle_agent_event(state, Event::ApplyRequested(request)),
    }
}
