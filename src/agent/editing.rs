//! From a call that waits for a yes to the same call as the person wants it.

use super::state::Step;
use super::{Desk, Effect, acting};
use crate::chat::{By, CallId, Decision, Entry, Intent, Plan, ToolCall};
use serde_json::Value;

/// Between why the person is asked and why their last change was not taken.
const NOT_TAKEN: &str = ". Your change was not taken: ";

/// A call that waited for a yes when the person edited it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Before {
    pub(super) call: ToolCall,
    pub(super) plan: Box<Plan>,
    pub(super) reason: String,
    /// What it is to be called with.
    pub(super) arguments: Value,
    pub(super) by: By,
}

/// The person changed the arguments of the call that waits: its tool looks anew.
pub(super) fn begin(desk: &mut Desk<'_>, id: &CallId, arguments: Value, by: By) {
    let Some(turn) = desk.state.turn() else { return };
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let Step::ForApproval(plan, reason) = &pending.step else { return };
    let (plan, reason) = (plan.clone(), reason.clone());
    let before = pending.call.clone();
    pending.call.arguments = arguments.to_string();
    pending.before = Some(Box::new(Before { call: before, plan, reason, arguments, by }));
    pending.step = Step::Planning;
    let call = pending.call.clone();
    desk.effects.push(Effect::Plan { turn, call });
}

/// The tool has looked at it. An edit that does not fit changes nothing: the call waits as it did, and the card says
/// why.
pub(super) fn looked(desk: &mut Desk<'_>, before: Before, intent: Result<Intent, String>) {
    let id = before.call.id.clone();
    let words = match intent {
        Ok(Intent::Act(plan)) => {
            let decision = Decision::Edited(before.arguments);
            let sha256 = acting::digest(&before.call, &before.plan);
            desk.keep(Entry::Decided { call: id.clone(), decision, by: before.by, sha256 });
            return acting::judged(desk, &id, plan);
        }
        Ok(Intent::Ask(_)) => "it would have become a question".to_owned(),
        Err(words) => words,
    };
    let Some(pending) = desk.state.pending_mut(&id) else { return };
    pending.call = before.call;
    let reason = before.reason.split(NOT_TAKEN).next().unwrap_or_default();
    let reason = format!("{reason}{NOT_TAKEN}{words}");
    pending.step = Step::ForApproval(before.plan, reason);
}
