//! What stands without being asked about, and how it is taken back.

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

/// Columns of a call's own words.
const CALL: usize = 24;
/// What is said where nothing stands.
const NOTHING: &str = "nothing stands: whatever you allowed, you allowed once";

/// Everything that stands. The list is there at once, its times when the host has them.
pub fn open(state: &mut State) -> Vec<Effect> {
    list(state, 0);
    vec![Effect::Ask(Wish::LearnRules), Effect::Ask(Wish::Times(state.session.clone()))]
}

fn list(state: &mut State, row: usize) {
    let kept = kept(&state.agent);
    let judged = judged(state.agent.session.entries());
    let calls = judged.iter().map(|record| record.call.id.clone()).collect();
    let rows = rows(&kept, &judged, &state.times);
    let title = "what goes ahead, and why · enter takes it back";
    let mut picker = Picker::new(title, NOTHING, rows);
    picker.select(row);
    note(&mut picker, &kept);
    state.overlays.push(Overlay::Grants(picker, Ledger(kept, calls)));
}

/// Says above the calls that nothing stands, where there are calls and nothing does.
fn note(picker: &mut Picker, kept: &[Kept]) {
    picker.set_note(if kept.is_empty() { NOTHING } else { "" });
}

/// Every call that was judged, the newest first.
fn judged(entries: &[Entry]) -> Vec<Record<'_>> {
    let mut judged: Vec<Record<'_>> =
        records(entries).into_iter().filter(|record| record.planned().is_some()).collect();
    judged.reverse();
    judged
}

/// The rules may be other ones.
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

/// The times of the session's entries are known.
pub fn times(state: &mut State) {
    let judged = judged(state.agent.session.entries());
    for overlay in &mut state.overlays {
        if let Overlay::Grants(picker, Ledger(kept, calls)) = overlay {
            // A call that was made since the list was opened stands in the next one.
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
            "allow" => "went ahead",
            "ask" => "asked you",
            "rehearse" => "rehearsed",
            "withhold" => "withheld",
            "refuse" => "not allowed",
            other => other,
        };
        let words = if why.is_empty() { said.to_owned() } else { format!("{said}: {why}") };
        let when = times.get(record.made).map_or("", String::as_str);
        let summary = if record.summary().is_empty() { record.call.name.as_str() } else { record.summary() };
        // Why it went ahead is what is looked for here: it is seen in a narrow terminal too.
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

/// How it came about, and until when it stands.
fn given(kept: &Kept) -> String {
    match &kept.what {
        Allowed::Here(standing) => match &standing.by {
            By::Person { key, .. } => format!("given with {key} on call {}", standing.number),
            By::File | By::Nobody => format!("given on call {}", standing.number),
        },
        Allowed::Rule(rule) => rule.stands(),
    }
}

/// What went ahead by it in this session.
fn covered(kept: &Kept, times: &[String]) -> String {
    let when =
        |entry: &usize| times.get(*entry).filter(|time| !time.is_empty()).map(|time| format!(" ({time})"));
    match kept.covered.as_slice() {
        [] => "no call here yet".to_owned(),
        [(entry, one)] => format!("1 call here: {one}{}", when(entry).unwrap_or_default()),
        [.., (entry, last)] => {
            format!("{} calls here, the last: {last}{}", kept.covered.len(), when(entry).unwrap_or_default())
        }
    }
}

/// A row of the list was taken: what follows is asked once more.
pub fn take(state: &mut State, Ledger(kept, calls): Ledger, row: usize) -> Vec<Effect> {
    let call = row.checked_sub(kept.len()).and_then(|at| calls.get(at));
    if let Some(call) = call {
        list(state, row);
        super::audit::page(state, call);
    }
    if let Some(kept) = kept.into_iter().nth(row) {
        let told = vec![kept.words(), given(&kept), covered(&kept, &state.times)];
        let card = Sure::new("take it back?", ("take it back", "leave it"), told);
        state.overlays.push(Overlay::Sure(card, Done::TakenBack(Box::new(kept))));
    }
    Vec::new()
}

/// It does not stand any more, by this answer of the person's.
pub fn take_back(state: &mut State, kept: Kept, by: By) -> Vec<Effect> {
    let what = kept.words();
    match kept.what {
        Allowed::Here(standing) => {
            state.notice(&format!("taken back: {what}"), Kind::Info);
            agent::happened(state, Event::TookBack { given_on: Some(standing.call), what, by })
        }
        Allowed::Rule(rule) => vec![Effect::Ask(Wish::TakeBack { rule, by })],
    }
}

/// A rule is out of its file: that is a fact of this session.
pub fn took_back(state: &mut State, what: String, by: By) -> Vec<Effect> {
    state.notice(&format!("taken back: {what}"), Kind::Info);
    agent::happened(state, Event::TookBack { given_on: None, what, by })
}
