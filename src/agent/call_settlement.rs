//! Settles calls: records the outcome and counts failures.

use super::call_output::CallOutput;
use super::state::CallStage;
use super::update_context::UpdateContext;
use crate::chat::{Access, CallId, Digest, Entry, Outcome, Plan, ResultOrigin, ToolCall};
use std::time::Duration;

/// Returns the digest of a call and its plan, recorded with each decision and outcome.
pub(super) fn digest_call(call: &ToolCall, plan: &Plan) -> Digest {
    Digest::of_plan(&call.name, &call.arguments, plan.displayed_plan())
}

/// Settles a call that never ran.
pub(super) fn settle_unstarted(ctx: &mut UpdateContext<'_>, id: &CallId, outcome: Outcome) {
    settle_call(ctx, id, (outcome, None), Duration::ZERO, Digest::default());
}

/// Settles a call; does nothing if the call is already settled.
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
    (pending.latest_output, pending.full_output) = (String::new(), CallOutput::default());
    let call = pending.call.clone();
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => ctx.state.turn.clear_failures(&call.name),
        Outcome::Failed(_) => ctx.state.turn.count_failure(&call),
        // The call was not run, so its failure count stays: a refusal must not allow the same call again.
        Outcome::Refused(_) | Outcome::Interrupted(_) => {}
    }
    let took_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    ctx.record_entry(Entry::Settled { call: id.clone(), outcome, took_ms, sha256, staged: origin });
}

/// Returns whether the plan only reads inside the project, or has no effect.
pub(super) fn is_inside_read(plan: &Plan) -> bool {
    matches!(plan.access, Access::Nothing | Access::Read(_))
}
