//! Results of a dry run as a list: each change, each command with its result, and the actions to apply or drop them.

use super::agent;
use crate::agent::{Event, Offered};
use crate::chat::altered::tree;
use crate::chat::{SessionId, Staging, Wanted};
use crate::tui::effect::Effect;
use crate::tui::host::{Rehearsed, Wish};
use crate::tui::overlay::{Body, Chosen, Done, Overlay, Reader, Theatre};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::rehearsal::{branch_row, outside_row, step_row, visible};
use crate::tui::parts::sure::Sure;
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;
use std::cell::RefCell;
use std::sync::Arc;

/// User message of the turn that applies a dry run.
pub const APPLY: &str = "Apply the changes of the dry run. I approve each group.";

/// Action of a row in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// Show this part.
    Read(Chosen),
    /// Apply this much, with an approval prompt per group.
    Apply(Wanted),
    /// Discard everything, after a confirmation.
    Drop,
}

/// Runs `/rehearsal` with the text after it.
pub fn called(state: &mut State, words: &str) -> Vec<Effect> {
    let then = match words {
        "" | "show" => None,
        "drop" => Some(Does::Drop),
        words => match Wanted::parse(words) {
            Some(wanted) => Some(Does::Apply(wanted)),
            None => {
                state.notice(
                    "Unknown option. Use /rehearsal, /rehearsal apply [ignored] [commands] [hunks] or /rehearsal drop",
                    Kind::Info,
                );
                return Vec::new();
            }
        },
    };
    if !state.agent.is_idle() {
        state.notice("Not available while a turn is running", Kind::Info);
        return Vec::new();
    }
    let picker = Picker::new("Dry run results", "Loading…", Vec::new());
    state.overlays.push(Overlay::Rehearsal(picker, Theatre { then, ..Theatre::default() }));
    vec![Effect::Ask(Wish::Rehearsal(state.session.clone()))]
}

/// Shows the results of the dry run once the host has loaded them.
pub fn known(state: &mut State, rehearsed: Result<Rehearsed, String>) -> Vec<Effect> {
    let Some(Overlay::Rehearsal(_, theatre)) = state.overlays.last() else { return Vec::new() };
    let then = theatre.then.clone();
    state.overlays.pop();
    let Rehearsed { of, staging } = match rehearsed {
        Ok(rehearsed) => rehearsed,
        Err(why) => {
            state.notice(&why, Kind::Info);
            return Vec::new();
        }
    };
    let theatre = Theatre { of, staging: Arc::new(staging), does: Vec::new(), then: None };
    match then {
        None => {
            list(state, theatre);
            Vec::new()
        }
        Some(does) => act(state, theatre, does),
    }
}

/// Opens the list of results.
fn list(state: &mut State, mut theatre: Theatre) {
    let staging = theatre.staging.clone();
    let mut rows = Vec::new();
    let mut push = |row: Row, does: Does| {
        rows.push(row.key(theatre.does.len().to_string()));
        theatre.does.push(does);
    };
    if staging.is_empty() {
        state.notice("Nothing was rehearsed yet", Kind::Info);
        return;
    }
    push(Row::new("Show everything"), Does::Read(Chosen::All));
    for branch in tree(&staging.altered) {
        let (name, more, right) = branch_row(&staging, &branch);
        let sign = if branch.sign.is_empty() { String::new() } else { format!("{} ", branch.sign) };
        let whole = staging.altered[branch.of.start]
            .path
            .ancestors()
            .find(|path| path.components().count() == branch.depth + 1);
        let slash = if branch.folder { "/" } else { "" };
        let whole = whole.map(|path| format!("{sign}{}{slash}", visible(&path.to_string_lossy())));
        let row = Row::new(&whole.unwrap_or_else(|| name.clone())).more(&more).detail(&right);
        push(row.within(branch.depth, &name).signed(), Does::Read(Chosen::Changes(branch.of)));
    }
    for (at, one) in staging.outside.changes.iter().enumerate() {
        let (name, more, right) = outside_row(one);
        push(Row::new(&name).more(&more).detail(&right), Does::Read(Chosen::Outside(at)));
    }
    if let Some(words) = staging.outside.temporary_words() {
        push(Row::new(&words).detail("outside the project"), Does::Read(Chosen::All));
    }
    for (at, step) in staging.steps.iter().enumerate() {
        let (words, came) = step_row(&staging, step);
        push(Row::new(&words).detail(&came), Does::Read(Chosen::Step(at)));
    }
    let plain = Wanted::default();
    let prompts = staging.offers(plain).len();
    if prompts > 0 {
        let count = if prompts == 1 { "1 prompt".to_owned() } else { format!("{prompts} prompts") };
        push(Row::new("Apply…").more(&count), Does::Apply(plain));
    }
    for (words, more, wanted) in [
        ("Apply with ignored files…", "also files that git ignores", Wanted { ignored: true, ..plain }),
        ("Apply and rerun commands…", "also those that ran here", Wanted { commands: true, ..plain }),
        ("Apply hunk by hunk…", "one prompt per hunk", Wanted { hunks: true, ..plain }),
    ] {
        if staging.offers(wanted).len() > prompts {
            push(Row::new(words).more(more), Does::Apply(wanted));
        }
    }
    push(Row::new("Drop…").more("discard the changes; the session stays"), Does::Drop);
    let mut picker = Picker::new(&format!("Rehearsed: {}", staging.words()), "", rows);
    let outside = staging.outside.changes.iter().map(|one| &one.altered);
    if staging.altered.iter().chain(outside).any(|altered| altered.conflict) {
        picker.set_note("CONFLICT: the real file has changed since; it is not overwritten");
    }
    state.overlays.push(Overlay::Rehearsal(picker, theatre));
}

/// Runs the action of a row.
pub fn take(state: &mut State, picker: Picker, theatre: Theatre, row: usize) -> Vec<Effect> {
    let Some(does) = theatre.does.get(row).cloned() else { return Vec::new() };
    if let Does::Read(_) = does {
        state.overlays.push(Overlay::Rehearsal(picker, theatre.clone()));
    }
    act(state, theatre, does)
}

fn act(state: &mut State, theatre: Theatre, does: Does) -> Vec<Effect> {
    match does {
        Does::Read(chosen) => {
            let title = match &chosen {
                Chosen::All => "All dry run results".to_owned(),
                Chosen::Changes(of) => match of.len() {
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                },
                Chosen::Outside(_) => "Changes outside the project".to_owned(),
                Chosen::Step(at) => {
                    let step = theatre.staging.steps.get(*at);
                    let words = step.map(|step| step_row(&theatre.staging, step).0).unwrap_or_default();
                    format!("{} of {}: {words}", at + 1, theatre.staging.steps.len())
                }
            };
            let body = Body::Staged(theatre.staging, chosen);
            let reader = Reader { title, text: "".into(), body, top: 0, laid: RefCell::default() };
            state.overlays.push(Overlay::Reader(reader));
            Vec::new()
        }
        Does::Apply(wanted) => apply(state, theatre.of, &theatre.staging, wanted),
        Does::Drop => {
            let facts = vec![
                theatre.staging.words(),
                "The changes cannot be recovered. The session and its entries stay.".to_owned(),
            ];
            let card = Sure::new("Discard the rehearsed changes?", ("discard", "keep"), facts).destroying();
            state.overlays.push(Overlay::Sure(card, Done::Dropped(theatre.of)));
            Vec::new()
        }
    }
}

/// Offers every group of changes for approval: in this session if it is live, otherwise in a live copy.
fn apply(state: &mut State, of: SessionId, staging: &Staging, wanted: Wanted) -> Vec<Effect> {
    let offered = Offered { said: APPLY.to_owned(), calls: staging.offers(wanted) };
    if offered.calls.is_empty() {
        state.notice("No rehearsed changes to apply", Kind::Info);
        return Vec::new();
    }
    match state.agent.is_dry_run() {
        true => super::commands::leave_for(state, Wish::Apply(of, offered)),
        false => agent::happened(state, Event::Offered(offered)),
    }
}
