//! Edits of a call's arguments on its approval prompt.

use super::state::Step;
use super::{Desk, Effect, acting};
use crate::chat::{By, CallId, Decision, Entry, Intent, Plan, ToolCall};
use serde_json::Value;

/// Separates the reason for asking from the reason why the last edit was rejected.
const NOT_TAKEN: &str = ". Edit rejected: ";

/// An edit that is being planned, with the call before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Before {
    pub(super) call: ToolCall,
    pub(super) plan: Box<Plan>,
    pub(super) reason: String,
    /// New arguments.
    pub(super) arguments: Value,
    pub(super) by: By,
}

/// Plans a waiting call again with the user's arguments.
pub(super) fn begin(ctx: &mut Desk<'_>, id: &CallId, arguments: Value, by: By) {
    let Some(turn) = ctx.state.turn() else { return };
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let Step::ForApproval(plan, reason) = &pending.step else { return };
    let (plan, reason) = (plan.clone(), reason.clone());
    let before = pending.call.clone();
    pending.call.arguments = arguments.to_string();
    pending.before = Some(Box::new(Before { call: before, plan, reason, arguments, by }));
    pending.step = Step::Planning;
    let call = pending.call.clone();
    ctx.effects.push(Effect::Plan { turn, call });
}

/// Handles the plan of an edit. An invalid edit changes nothing: the call waits as before, and its prompt shows the
/// error.
pub(super) fn looked(ctx: &mut Desk<'_>, before: Before, intent: Result<Intent, String>) {
    let id = before.call.id.clone();
    let words = match intent {
        Ok(Intent::Act(plan)) => {
            let decision = Decision::Edited(before.arguments);
            let sha256 = acting::digest(&before.call, &before.plan);
            ctx.keep(Entry::Decided { call: id.clone(), decision, by: before.by, sha256 });
            return acting::judged(ctx, &id, plan);
        }
        Ok(Intent::Ask(_)) => "the result would be a question".to_owned(),
        Err(words) => words,
    };
    let Some(pending) = ctx.state.pending_mut(&id) else { return };
    pending.call = before.call;
    let reason = before.reason.split(NOT_TAKEN).next().unwrap_or_default();
    let reason = format!("{reason}{NOT_TAKEN}{words}");
    pending.step = Step::ForApproval(before.plan, reason);
}
