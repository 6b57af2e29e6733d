//! The list of grants, rules and judged calls, and revoking one of them.

use super::agent;
use crate::agent::{Allowed, Event, Kept, kept};
use crate::chat::audit::{Record, records};
use crate::chat::{By, Entry};
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::overlay::{Done, Ledger, Overlay};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::sure::Sure;
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;
use crate::tui::text::clean::one_line;
use crate::tui::text::width;

/// Columns for the summary of a call.
const CALL: usize = 24;
/// Note of the list if there are no grants and no rules.
const NOTHING: &str = "No grants or rules: each approval was for one call";

/// Opens the list at once; its times follow when the host has loaded them.
pub fn open(state: &mut State) -> Vec<Effect> {
    list(state, 0);
    vec![Effect::Ask(Wish::LearnRules), Effect::Ask(Wish::Times(state.session.clone()))]
}

fn list(state: &mut State, row: usize) {
    let kept = kept(&state.agent);
    let judged = judged(state.agent.session.entries());
    let calls = judged.iter().map(|record| record.call.id.clone()).collect();
    let rows = rows(&kept, &judged, &state.times);
    let title = "Grants and judged calls · enter to revoke";
    let mut picker = Picker::new(title, NOTHING, rows);
    picker.select(row);
    note(&mut picker, &kept);
    state.overlays.push(Overlay::Grants(picker, Ledger(kept, calls)));
}

/// Shows the note above the calls if there is no grant.
fn note(picker: &mut Picker, kept: &[Kept]) {
    picker.set_note(if kept.is_empty() { NOTHING } else { "" });
}

/// Returns every judged call, newest first.
fn judged(entries: &[Entry]) -> Vec<Record<'_>> {
    let mut judged: Vec<Record<'_>> =
        records(entries).into_iter().filter(|record| record.planned().is_some()).collect();
    judged.reverse();
    judged
}

/// Refreshes the list after the rules may have changed.
pub fn known(state: &mut State) {
    let now = kept(&state.agent);
    for overlay in &mut state.overlays {
        if let Overlay::Grants(picker, Ledger(kept, _)) = overlay {
            note(picker, &now);
            kept.clone_from(&now);
        }
    }
    times(state);
}

/// Refreshes the list once the times of the session's entries are known.
pub fn times(state: &mut State) {
    let judged = judged(state.agent.session.entries());
    for overlay in &mut state.overlays {
        if let Overlay::Grants(picker, Ledger(kept, calls)) = overlay {
            // A call made after the list was opened appears when it is opened again.
            let known: Vec<Record<'_>> =
                judged.iter().filter(|record| calls.contains(&record.call.id)).cloned().collect();
            picker.set_rows(rows(kept, &known, &state.times));
        }
    }
}

fn rows(kept: &[Kept], judged: &[Record<'_>], times: &[String]) -> Vec<Row> {
    let call = |record: &Record<'_>| {
        let Some(Entry::Planned { verdict, why, .. }) = record.planned() else { return Row::new("") };
        let said = match verdict.as_str() {
            "allow" => "allowed",
            "ask" => "asked you",
            "rehearse" => "rehearsed",
            "withhold" => "withheld",
            "refuse" => "denied",
            other => other,
        };
        let words = if why.is_empty() { said.to_owned() } else { format!("{said}: {why}") };
        let when = times.get(record.made).map_or("", String::as_str);
        let summary = if record.summary().is_empty() { record.call.name.as_str() } else { record.summary() };
        // The reason is what the user looks for here, so it comes early enough for a narrow terminal.
        let what = format!("{} · {words}", width::fit(&one_line(summary), CALL));
        Row::new(&what).detail(when).key(record.call.id.0.as_str())
    };
    standing(kept, times).into_iter().chain(judged.iter().map(call)).collect()
}

fn standing(kept: &[Kept], times: &[String]) -> Vec<Row> {
    let row = |(number, kept): (usize, &Kept)| {
        let detail = kept.entry().and_then(|entry| times.get(entry)).map_or("", String::as_str);
        let more = format!("{} · {}", covered(kept, times), given(kept));
        Row::new(&kept.words()).more(&more).detail(detail).key(number.to_string())
    };
    kept.iter().enumerate().map(row).collect()
}

/// Describes the origin of a grant or rule and its duration.
fn given(kept: &Kept) -> String {
    match &kept.what {
        Allowed::Here(standing) => match &standing.by {
            By::Person { key, .. } => format!("granted with {key} on call {}", standing.number),
            By::File | By::Nobody => format!("granted on call {}", standing.number),
        },
        Allowed::Rule(rule) => rule.stands(),
    }
}

/// Describes the calls of this session that the grant or rule covered.
fn covered(kept: &Kept, times: &[String]) -> String {
    let when =
        |entry: &usize| times.get(*entry).filter(|time| !time.is_empty()).map(|time| format!(" ({time})"));
    match kept.covered.as_slice() {
        [] => "no calls here yet".to_owned(),
        [(entry, one)] => format!("1 call here: {one}{}", when(entry).unwrap_or_default()),
        [.., (entry, last)] => {
            format!("{} calls here, last: {last}{}", kept.covered.len(), when(entry).unwrap_or_default())
        }
    }
}

/// Opens the call in a row, or asks for confirmation to revoke the grant in it.
pub fn take(state: &mut State, Ledger(kept, calls): Ledger, row: usize) -> Vec<Effect> {
    let call = row.checked_sub(kept.len()).and_then(|at| calls.get(at));
    if let Some(call) = call {
        list(state, row);
        super::audit::page(state, call);
    }
    if let Some(kept) = kept.into_iter().nth(row) {
        let told = vec![kept.words(), given(&kept), covered(&kept, &state.times)];
        let card = Sure::new("Revoke it?", ("revoke", "keep"), told);
        state.overlays.push(Overlay::Sure(card, Done::TakenBack(Box::new(kept))));
    }
    Vec::new()
}

/// Revokes a grant or rule with the user's confirmation.
pub fn take_back(state: &mut State, kept: Kept, by: By) -> Vec<Effect> {
    let what = kept.words();
    match kept.what {
        Allowed::Here(standing) => {
            state.notice(&format!("Revoked: {what}"), Kind::Info);
            agent::happened(state, Event::TookBack { given_on: Some(standing.call), what, by })
        }
        Allowed::Rule(rule) => vec![Effect::Ask(Wish::TakeBack { rule, by })],
    }
}

/// Records that a rule was removed from its file.
pub fn took_back(state: &mut State, what: String, by: By) -> Vec<Effect> {
    state.notice(&format!("Revoked: {what}"), Kind::Info);
    agent::happened(state, Event::TookBack { given_on: None, what, by })
}
