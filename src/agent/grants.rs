//! Waiting calls that no longer need approval because of a grant given for another call.

use super::state::{Pending, Step};
use super::{Desk, Effect, sub_agent};
use crate::chat::ToolCall;
use crate::policy::{Subject, covers};

/// Plans the waiting calls covered by a new grant again, so that they start.
pub(super) fn plan_covered(ctx: &mut Desk<'_>) {
    let Some(turn) = ctx.state.turn() else { return };
    let covers = |pending: &&Pending| match &pending.step {
        Step::ForApproval(plan, _) => {
            let of = Subject::of(&pending.call.name, plan);
            ctx.granted().iter().any(|standing| covers(&standing.grant, &of))
                && ctx.state.rules.lets_grants(&of)
                && ctx.state.session.call(&pending.call.id).is_some_and(|call| call.edited.is_none())
                && ctx.state.brought.as_ref() != Some(&pending.call.id)
        }
        Step::Waiting
        | Step::Planning
        | Step::Consulting(_)
        | Step::ForAnswer(_)
        | Step::Running(_)
        | Step::Delegated(_)
        | Step::Settled => false,
    };
    let calls: Vec<ToolCall> =
        ctx.state.pending().iter().filter(covers).map(|pending| pending.call.clone()).collect();
    for call in calls {
        if let Some(pending) = ctx.state.pending_mut(&call.id) {
            pending.step = Step::Planning;
        }
        ctx.effects.push(Effect::Plan { turn, call });
    }
    sub_agent::each(ctx, plan_covered);
}
