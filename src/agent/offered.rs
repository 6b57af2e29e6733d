//! A turn whose calls no model makes: the person wants to decide over them one by one. Each asks, whatever would let it
//! go ahead, and no request follows the last of them.

use super::thinking::{named_apart, new_turn};
use super::{Desk, acting};
use crate::chat::altered::APPLY;
use crate::chat::batch::APPLY_GROUP;
use crate::chat::{
    Access, Basis, CallId, Decision, Entry, ForReal, Intent, Item, Outcome, Plan, Preview, ToolCall, Work,
};
use crate::policy::{Verdict, judge};
use serde_json::Value;
use std::path::Path;

/// Changes that a card names.
const NAMED: usize = 4;

/// What is looked at in such a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// What the person wanted, as it stands in the talk.
    pub said: String,
    /// The calls, in order.
    pub calls: Vec<ForReal>,
}

/// Begins it. Not while anything goes on, and not in a dry run, where nothing could be done for real.
pub(super) fn begin(desk: &mut Desk<'_>, offered: Offered) {
    if !desk.state.is_idle() || desk.state.is_dry_run() || offered.calls.is_empty() {
        return;
    }
    let turn = new_turn(desk);
    desk.state.offered = true;
    let made = desk.state.session.calls().count();
    let call = |(at, offer): (usize, &ForReal)| ToolCall {
        id: CallId(format!("offered_{}", made + at + 1)),
        name: offer.tool.clone(),
        arguments: offer.arguments.to_string(),
    };
    let calls: Vec<ToolCall> = offered.calls.iter().enumerate().map(call).collect();
    // A model may have taken such a name for a call of its own.
    let calls = named_apart(desk, &calls);
    let did = offered.calls.into_iter().map(|offer| offer.changed);
    desk.state.did = calls.iter().map(|call| call.id.clone()).zip(did).collect();
    desk.keep(Entry::Said { text: offered.said });
    desk.keep(Entry::called(calls.clone()));
    acting::begin(desk, turn, calls);
}

/// Says on the card of a command which of the changes that it made when it was rehearsed are real by now: running it makes
/// them a second time.
pub(super) fn warned(desk: &Desk<'_>, id: &CallId, intent: Result<Intent, String>) -> Result<Intent, String> {
    let Ok(Intent::Act(mut plan)) = intent else { return intent };
    let changed = desk.state.did.get(id).filter(|_| desk.state.offered);
    let real: Vec<&str> = changed.into_iter().flatten().map(String::as_str).collect();
    let real: Vec<&str> = real.into_iter().filter(|path| is_real(desk, path)).collect();
    if let (Preview::Command(_), [_, ..]) = (&plan.preview, real.as_slice()) {
        let named = real.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = match real.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let again = format!("makes changes again that are applied already: {named}{more}");
        plan.destroys = Some(match plan.destroys.take() {
            Some(destroys) => format!("{again}; it {destroys}"),
            None => again,
        });
    }
    Ok(Intent::Act(plan))
}

/// Judges each change of a batch by itself: a rule that denies one path leaves out that path alone.
pub(super) fn judge_items(desk: &Desk<'_>, tool: &str, plan: &mut Plan) {
    let Plan { preview: Preview::Batch(batch), access, destroys, .. } = plan else { return };
    for item in &mut batch.items {
        let one = Plan {
            title: String::new(),
            summary: String::new(),
            access: item.access.clone(),
            preview: Preview::Text(String::new()),
            always: None,
            destroys: item.destroys.clone(),
            basis: Basis::default(),
            work: Work::Arguments(Value::Null),
        };
        let verdict = judge(&desk.state.policy, desk.granted(), &desk.state.rules, tool, &one);
        if let Verdict::Refuse(why) = verdict {
            item.blocked.get_or_insert(why);
        }
    }
    // The whole is judged by what is left of it.
    let left = || batch.selected(&[]).map(|(_, item)| &item.access);
    let careful = left().find(|access| matches!(access, Access::WriteOutside(_))).or_else(|| left().next());
    *access = careful.cloned().unwrap_or_else(|| access.clone());
    *destroys = batch.destroys(&[]);
}

/// Whether a group that was applied holds a path, and the user did not reject it.
fn is_in_group(desk: &Desk<'_>, id: &CallId, path: &str) -> Option<bool> {
    let call = desk.state.session.call(id)?;
    let Some(Preview::Batch(batch)) = call.shown.as_ref().map(|shown| &shown.preview) else { return None };
    let entries = desk.state.session.entries();
    let rejected = entries.iter().rev().find_map(|entry| match entry {
        Entry::Decided { call, decision: Decision::Selected(rejected), .. } if call == id => {
            Some(rejected.as_slice())
        }
        _ => None,
    });
    let is_of = |item: &Item| Path::new(path).starts_with(&item.path) || item.path.starts_with(path);
    batch.items.iter().any(is_of).then(|| {
        batch.selected(rejected.unwrap_or_default()).any(|(_, item)| is_of(item)) && is_done(desk, id)
    })
}

fn is_done(desk: &Desk<'_>, id: &CallId) -> bool {
    let settled = desk.state.session.call(id).and_then(|call| call.settled);
    let entry = settled.and_then(|at| desk.state.session.entries().get(at));
    matches!(entry, Some(Entry::Settled { outcome: Outcome::Done(_), .. }))
}

/// Whether a change is real: it was applied in this turn, or was so before, and is not put on a card again.
fn is_real(desk: &Desk<'_>, path: &str) -> bool {
    let mut offered = false;
    for call in
        desk.state.pending().iter().map(|pending| &pending.call).filter(|call| call.name == APPLY_GROUP)
    {
        match is_in_group(desk, &call.id, path) {
            Some(true) => return true,
            Some(false) => offered = true,
            None => {}
        }
    }
    for call in desk.state.pending().iter().map(|pending| &pending.call).filter(|call| call.name == APPLY) {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let Some(at) = arguments["path"].as_str() else { continue };
        // A folder is applied with what goes along with it; what is in one that comes has cards of its own.
        if !Path::new(path).starts_with(at) && !Path::new(at).starts_with(path) {
            continue;
        }
        offered = true;
        if is_done(desk, &call.id) {
            return true;
        }
    }
    !offered
}

/// What would go ahead by itself asks here: this is what the person wants to see.
pub(super) fn asks(offered: bool, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Allow(_) if offered => Verdict::Ask("you want to decide over each of these".to_owned()),
        Verdict::Allow(_)
        | Verdict::Ask(_)
        | Verdict::Rehearse(_)
        | Verdict::Withhold(_)
        | Verdict::Refuse(_) => verdict,
    }
}
