//! Results of a dry run as a list: each change, each command with its result, and the actions to apply or drop them.

use super::{agent_events, session_exit};
use crate::agent::{ApplyRequest, Event};
use crate::chat::dry_run_summary::build_tree;
use crate::chat::{ApplyOptions, DryRunSummary, SessionId};
use crate::tui::effect::Effect;
use crate::tui::host::{HostRequest, Rehearsal, RehearsalRequest};
use crate::tui::overlay::{ConfirmedAction, Overlay, Reader, ReaderBody, RehearsalPart, RehearsalView, RowAction};
use crate::tui::parts::confirmation::Confirmation;
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::rehearsal_lines::{branch_row_texts, escape_to_line, outside_row_texts, step_row_texts};
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;
use std::cell::RefCell;
use std::sync::Arc;

/// User message of the turn that applies a dry run.
pub const APPLY_MESSAGE: &str = "Apply the changes of the dry run. I approve each group.";

/// Runs `/rehearsal` with the text after it.
pub fn run_rehearsal_command(state: &mut State, words: &str) -> Vec<Effect> {
    let then = match words {
        "" | "show" => None,
        "drop" => Some(RowAction::Drop),
        words => match ApplyOptions::parse(words) {
            Some(wanted) => Some(RowAction::Apply(wanted)),
            None => {
                state.show_notice(
                    "Unknown option. Use /rehearsal, /rehearsal apply [ignored] [commands] [hunks] or /rehearsal drop",
                    Kind::Info,
                );
                return Vec::new();
            }
        },
    };
    if !state.agent.is_idle() {
        state.show_notice("Not available while a turn is running", Kind::Info);
        return Vec::new();
    }
    let picker = Picker::new("Dry run results", "Loading…", Vec::new());
    state
        .viewport
        .overlays
        .push(Overlay::Rehearsal(picker, RehearsalView { pending_action: then, ..RehearsalView::default() }));
    vec![Effect::Request(HostRequest::Rehearsal(RehearsalRequest::Load(state.session.id.clone())))]
}

/// Shows the results of the dry run once the host has loaded them.
pub fn show_rehearsal(state: &mut State, rehearsed: Result<Rehearsal, String>) -> Vec<Effect> {
    let Some(Overlay::Rehearsal(_, theatre)) = state.viewport.overlays.last() else { return Vec::new() };
    let then = theatre.pending_action.clone();
    state.viewport.overlays.pop();
    let Rehearsal { session: of, staging } = match rehearsed {
        Ok(rehearsed) => rehearsed,
        Err(why) => {
            state.show_notice(&why, Kind::Info);
            return Vec::new();
        }
    };
    let theatre = RehearsalView { session: of, staging: Arc::new(staging), actions: Vec::new(), pending_action: None };
    match then {
        None => {
            open_rehearsal_list(state, theatre);
            Vec::new()
        }
        Some(does) => run_row_action(state, theatre, does),
    }
}

/// Opens the list of results.
fn open_rehearsal_list(state: &mut State, mut theatre: RehearsalView) {
    let staging = theatre.staging.clone();
    let mut rows = Vec::new();
    let mut push = |row: Row, does: RowAction| {
        rows.push(row.with_key(theatre.actions.len().to_string()));
        theatre.actions.push(does);
    };
    if staging.is_empty() {
        state.show_notice("Nothing was rehearsed yet", Kind::Info);
        return;
    }
    push(Row::new("Show everything"), RowAction::Read(RehearsalPart::All));
    for branch in build_tree(&staging.changes) {
        let (name, more, right) = branch_row_texts(&staging, &branch);
        let sign = if branch.symbol.is_empty() { String::new() } else { format!("{} ", branch.symbol) };
        let whole = staging.changes[branch.changes.start]
            .path
            .ancestors()
            .find(|path| path.components().count() == branch.depth + 1);
        let slash = if branch.is_folder { "/" } else { "" };
        let whole = whole.map(|path| format!("{sign}{}{slash}", escape_to_line(&path.to_string_lossy())));
        let row = Row::new(&whole.unwrap_or_else(|| name.clone())).with_secondary(&more).with_detail(&right);
        push(row.in_tree(branch.depth, &name).with_sign(), RowAction::Read(RehearsalPart::Changes(branch.changes)));
    }
    for (at, one) in staging.outside.changes.iter().enumerate() {
        let (name, more, right) = outside_row_texts(one);
        push(Row::new(&name).with_secondary(&more).with_detail(&right), RowAction::Read(RehearsalPart::Outside(at)));
    }
    if let Some(words) = staging.outside.describe_temporary() {
        push(Row::new(&words).with_detail("outside the project"), RowAction::Read(RehearsalPart::All));
    }
    for (at, step) in staging.calls.iter().enumerate() {
        let (words, came) = step_row_texts(&staging, step);
        push(Row::new(&words).with_detail(&came), RowAction::Read(RehearsalPart::Step(at)));
    }
    let plain = ApplyOptions::default();
    let prompts = staging.apply_calls(plain).len();
    if prompts > 0 {
        let count = if prompts == 1 { "1 prompt".to_owned() } else { format!("{prompts} prompts") };
        push(Row::new("Apply…").with_secondary(&count), RowAction::Apply(plain));
    }
    for (words, more, wanted) in [
        ("Apply with ignored files…", "also files that git ignores", ApplyOptions { ignored: true, ..plain }),
        (
            "Apply and rerun commands…",
            "also commands that ran in the dry run",
            ApplyOptions { commands: true, ..plain },
        ),
        ("Apply hunk by hunk…", "one prompt per hunk", ApplyOptions { hunks: true, ..plain }),
    ] {
        if staging.apply_calls(wanted).len() > prompts {
            push(Row::new(words).with_secondary(more), RowAction::Apply(wanted));
        }
    }
    push(Row::new("Drop…").with_secondary("discard the changes; the session stays"), RowAction::Drop);
    let mut picker = Picker::new(&format!("Rehearsed: {}", staging.describe_counts()), "", rows);
    let outside = staging.outside.changes.iter().map(|one| &one.change);
    if staging.changes.iter().chain(outside).any(|altered| altered.has_conflict) {
        picker.set_note("CONFLICT: the real file has changed since; it is not overwritten");
    }
    state.viewport.overlays.push(Overlay::Rehearsal(picker, theatre));
}

/// Runs the action of a row.
pub fn pick_rehearsal_row(state: &mut State, picker: Picker, theatre: RehearsalView, row: usize) -> Vec<Effect> {
    let Some(does) = theatre.actions.get(row).cloned() else { return Vec::new() };
    if let RowAction::Read(_) = does {
        state.viewport.overlays.push(Overlay::Rehearsal(picker, theatre.clone()));
    }
    run_row_action(state, theatre, does)
}

fn run_row_action(state: &mut State, theatre: RehearsalView, does: RowAction) -> Vec<Effect> {
    match does {
        RowAction::Read(chosen) => {
            let title = match &chosen {
                RehearsalPart::All => "All dry run results".to_owned(),
                RehearsalPart::Changes(of) => match of.len() {
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                },
                RehearsalPart::Outside(_) => "Changes outside the project".to_owned(),
                RehearsalPart::Step(at) => {
                    let step = theatre.staging.calls.get(*at);
                    let words = step.map(|step| step_row_texts(&theatre.staging, step).0).unwrap_or_default();
                    format!("{} of {}: {words}", at + 1, theatre.staging.calls.len())
                }
            };
            let body = ReaderBody::Rehearsal(theatre.staging, chosen);
            let reader = Reader { title, text: "".into(), body, top: 0, layout: RefCell::default() };
            state.viewport.overlays.push(Overlay::Reader(reader));
            Vec::new()
        }
        RowAction::Apply(wanted) => offer_changes(state, theatre.session, &theatre.staging, wanted),
        RowAction::Drop => {
            let facts = vec![
                theatre.staging.describe_counts(),
                "The changes cannot be recovered. The session and its entries stay.".to_owned(),
            ];
            let card = Confirmation::new("Discard the rehearsed changes?", ("discard", "keep"), facts).destructive();
            state
                .viewport
                .overlays
                .push(Overlay::Confirmation(card, ConfirmedAction::DiscardRehearsal(theatre.session)));
            Vec::new()
        }
    }
}

/// Offers every group of changes for approval: in this session if it is live, otherwise in a live copy.
fn offer_changes(state: &mut State, of: SessionId, staging: &DryRunSummary, wanted: ApplyOptions) -> Vec<Effect> {
    let offered = ApplyRequest { message: APPLY_MESSAGE.to_owned(), calls: staging.apply_calls(wanted) };
    if offered.calls.is_empty() {
        state.show_notice("No rehearsed changes to apply", Kind::Info);
        return Vec::new();
    }
    match state.agent.is_dry_run() {
        true => session_exit::leave_session_for(state, HostRequest::Rehearsal(RehearsalRequest::Apply(of, offered))),
        false => agent_events::handle_agent_event(state, Event::ApplyRequested(offered)),
    }
}
