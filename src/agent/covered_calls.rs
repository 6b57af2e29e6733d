//! Waiting calls that no longer need approval because of a grant given for another call.

use super::state::{CallStage, PendingCall};
use super::update_context::UpdateContext;
use super::{Effect, sub_agent};
use crate::chat::ToolCall;
use crate::policy::{Subject, grant_covers};

/// Plans the waiting calls covered by a new grant again, so that they start.
pub(super) fn plan_covered(ctx: &mut UpdateContext<'_>) {
    let Some(turn) = ctx.state.current_turn() else { return };
    let covers = |pending: &&PendingCall| match &pending.step {
        CallStage::AwaitingApproval(plan, _) => {
            let of = Subject::from_plan(&pending.call.name, plan);
            ctx.session_grants().iter().any(|standing| grant_covers(&standing.grant, &of))
                && ctx.state.rules.permits_grants(&of)
                && ctx.state.session.call(&pending.call.id).is_some_and(|call| call.edited_arguments.is_none())
                && ctx.state.early_prompt.as_ref() != Some(&pending.call.id)
        }
        CallStage::Waiting
        | CallStage::Planning
        | CallStage::UnderReview(_)
        | CallStage::AwaitingAnswer(_)
        | CallStage::Running(_)
        | CallStage::Delegated(_)
        | CallStage::Settled => false,
    };
    let calls: Vec<ToolCall> = ctx.state.pending().iter().filter(covers).map(|pending| pending.call.clone()).collect();
    for call in calls {
        if let Some(pending) = ctx.state.pending_mut(&call.id) {
            pending.step = CallStage::Planning;
        }
        ctx.effects.push(Effect::PlanCall { turn, call });
    }
    sub_agent::for_each_sub_agent(ctx, plan_covered);
}
