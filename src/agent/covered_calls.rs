//! Waiting calls that no longer need approval because of a grant given for another call.

use super::state::{CallStage, PendingCall};
use super::update_context::UpdateContext;
use super::{Effect, sub_agent};
use crate::chat::ToolCall;
use crate::policy::{Subject, grant_covers};

/// Replans the waiting calls that a new grant covers, so that they run without approval.
pub(super) fn replan_covered_calls(ctx: &mut UpdateContext<'_>) {
    let Some(turn) = ctx.state.current_turn() else { return };
    let is_covered = |pending: &&PendingCall| match &pending.stage {
        CallStage::AwaitingApproval(plan, _) => {
            let subject = Subject::from_plan(&pending.call.name, plan);
            ctx.session_grants().iter().any(|session_grant| grant_covers(&session_grant.grant, &subject))
                && ctx.state.rules.permits_grants(&subject)
                && ctx.state.session.find_call(&pending.call.id).is_some_and(|call| call.edited_arguments.is_none())
                && !ctx.state.queue.is_early_prompt(&pending.call.id)
        }
        CallStage::Waiting
        | CallStage::Planning
        | CallStage::UnderReview(_)
        | CallStage::AwaitingAnswer(_)
        | CallStage::Running(_)
        | CallStage::Delegated(_)
        | CallStage::Settled => false,
    };
    let calls: Vec<ToolCall> =
        ctx.state.pending().iter().filter(is_covered).map(|pending| pending.call.clone()).collect();
    for call in calls {
        if let Some(pending) = ctx.state.pending_mut(&call.id) {
            pending.stage = CallStage::Planning;
        }
        ctx.effects.push(Effect::PlanCall { turn, call });
    }
    sub_agent::for_each_sub_agent(ctx, replan_covered_calls);
}
