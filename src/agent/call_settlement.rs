//! Settles calls: records the outcome and counts failures.

use super::call_output::CallOutput;
use super::folder_notes;
use super::state::CallStage;
use super::trials;
use super::update_context::UpdateContext;
use crate::chat::{CallId, Digest, Entry, Outcome, Plan, ResultOrigin, ToolCall};
use std::time::Duration;

/// Returns the digest of a call and its plan, recorded with each decision and outcome.
pub(super) fn digest_call(call: &ToolCall, plan: &Plan) -> Digest {
    Digest::of_plan(&call.name, &call.arguments, plan.displayed_plan())
}

/// Settles a call that never ran.
pub(super) fn settle_unstarted(ctx: &mut UpdateContext<'_>, id: &CallId, outcome: Outcome) {
    settle_call(ctx, id, (outcome, None), Duration::ZERO, Digest::default());
}

/// Settles a call with an outcome and, if it was rehearsed, the origin of its result. `sha256` is the digest of the plan
/// that ran. Does nothing if the call is already settled.
pub(super) fn settle_call(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    (outcome, origin): (Outcome, Option<ResultOrigin>),
    duration: Duration,
    sha256: Digest,
) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if pending.stage == CallStage::Settled {
        return;
    }
    pending.stage = CallStage::Settled;
    trials::drop_trial(ctx, id);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let usage = pending.usage.take();
    let found = std::mem::take(&mut pending.folder_instructions);
    (pending.latest_output, pending.full_output) = (String::new(), CallOutput::default());
    let call = pending.call.clone();
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => ctx.state.turn.clear_failures(&call.name),
        Outcome::Failed(_) => ctx.state.turn.count_failure(&call),
        // The failure count stays: a call that is refused because of its failures must stay refused, and an
        // interruption is neither a success nor a failure.
        Outcome::Refused(_) | Outcome::Interrupted(_) => {}
    }
    let outcome = folder_notes::append_notes(ctx.state, outcome, &found);
    let took_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    ctx.record_entry(Entry::Settled { call: id.clone(), outcome, took_ms, sha256, staged: origin, usage });
}
