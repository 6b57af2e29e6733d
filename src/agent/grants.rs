//! Calls that wait for an approval which a grant, given on another of them, makes unnecessary.

use super::state::{Pending, Step};
use super::{Desk, Effect, sub_agent};
use crate::chat::ToolCall;
use crate::policy::{Subject, covers};

/// Plans again what waits elsewhere and is covered by a grant that was just given, so that it starts.
pub(super) fn plan_covered(desk: &mut Desk<'_>) {
    let Some(turn) = desk.state.turn() else { return };
    let covers = |pending: &&Pending| match &pending.step {
        Step::ForApproval(plan, _) => {
            let of = Subject::of(&pending.call.name, plan);
            desk.granted().iter().any(|standing| covers(&standing.grant, &of))
                && desk.state.rules.lets_grants(&of)
                && desk.state.session.call(&pending.call.id).is_some_and(|call| call.edited.is_none())
                && desk.state.brought.as_ref() != Some(&pending.call.id)
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
        desk.state.pending().iter().filter(covers).map(|pending| pending.call.clone()).collect();
    for call in calls {
        if let Some(pending) = desk.state.pending_mut(&call.id) {
            pending.step = Step::Planning;
        }
        desk.effects.push(Effect::Plan { turn, call });
    }
    sub_agent::each(desk, plan_covered);
}
