//! What stands without being asked about, and how it is taken back.

use super::agent;
use crate::agent::{Allowed, Event, Kept, kept};
use crate::chat::By;
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Ledger, Overlay};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::parts::toast::Kind;
use crate::tui::state::State;
use std::time::Duration;

/// The row that changes something, where the person is asked once more; the one above it leaves all as it is.
const SURE: usize = 1;

/// Everything that stands. The list is there at once, its times when the host has them.
pub fn open(state: &mut State) -> Vec<Effect> {
    let kept = kept(&state.agent);
    let nothing = "nothing stands: whatever you allowed, you allowed once";
    let picker =
        Picker::new("what goes ahead unasked · enter takes it back", nothing, rows(&kept, &state.times));
    state.overlays.push(Overlay::Grants(picker, Ledger::List(kept)));
    vec![Effect::Ask(Wish::LearnRules), Effect::Ask(Wish::Times(state.session.clone()))]
}

/// The rules may be other ones.
pub fn known(state: &mut State) {
    let now = kept(&state.agent);
    for overlay in &mut state.overlays {
        if let Overlay::Grants(picker, Ledger::List(kept)) = overlay {
            kept.clone_from(&now);
            picker.set_rows(rows(kept, &state.times));
        }
    }
}

/// The times of the session's entries are known.
pub fn times(state: &mut State) {
    for overlay in &mut state.overlays {
        if let Overlay::Grants(picker, Ledger::List(kept)) = overlay {
            picker.set_rows(rows(kept, &state.times));
        }
    }
}

fn rows(kept: &[Kept], times: &[String]) -> Vec<Row> {
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
pub fn take(state: &mut State, ledger: Ledger, row: usize) -> Vec<Effect> {
    match ledger {
        Ledger::List(kept) => {
            if let Some(kept) = kept.into_iter().nth(row) {
                let what = kept.words();
                let told = [what, given(&kept), covered(&kept, &state.times)];
                let mut rows = vec![Row::new("leave it as it is"), Row::new("take it back")];
                rows.extend(told.iter().map(|line| Row::new(line)));
                let picker = Picker::new("take it back?", "", rows);
                state.overlays.push(Overlay::Grants(picker, Ledger::Sure(Box::new(kept))));
            }
            Vec::new()
        }
        Ledger::Sure(kept) if row == SURE => take_back(state, *kept),
        Ledger::Sure(_) => Vec::new(),
    }
}

fn take_back(state: &mut State, kept: Kept) -> Vec<Effect> {
    let by = By::with(state.keys.hint(Scope::List, Action::Accept), Duration::ZERO);
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
