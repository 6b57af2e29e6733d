//! Calls that end their turn: the end of the conversation, and transfers.

use super::Effect;
use super::call_settlement::{digest_call, settle_call};
use super::state::{CallStage, PendingCall};
use super::update_context::UpdateContext;
use crate::chat::{
    CallId, Conclusion, Digest, Ending, Entry, Outcome, Plan, ResultOrigin, SimulationSource, ToolCall, TurnEnd, Work,
    pluralize,
};
use std::time::Duration;

/// Returns the error for the model if a call cannot end the turn now; `None` if it can, or if it would not end it.
pub(super) fn explain_refusal(ctx: &UpdateContext<'_>, id: &CallId, plan: &Plan) -> Option<String> {
    let Work::EndTurn(end) = &plan.work else { return None };
    if ctx.parent_session.is_some() {
        return Some("Refused: a sub-agent cannot end the turn. Report to the main model instead.".to_owned());
    }
    let waiting = list_waiting(ctx, id, end);
    (!waiting.is_empty())
        .then(|| format!("Refused: the turn cannot end yet: {}. Continue, and call this alone.", waiting.join("; ")))
}

/// Lists what must be finished before the turn can end.
fn list_waiting(ctx: &UpdateContext<'_>, id: &CallId, end: &TurnEnd) -> Vec<String> {
    let describe_call = |pending: &PendingCall| match &pending.stage {
        CallStage::Settled => format!("you have not seen the result of {}", pending.call.name),
        CallStage::AwaitingAnswer(_) => format!("a question of {} is open", pending.call.name),
        CallStage::AwaitingTurn
        | CallStage::Planning
        | CallStage::UnderReview(_)
        | CallStage::AwaitingApproval(..)
        | CallStage::OnTrial(..)
        | CallStage::Running(_)
        | CallStage::Delegated(_) => format!("{} has not ended", pending.call.name),
    };
    let other_calls = ctx.state.pending().iter().filter(|pending| pending.call.id != *id);
    let mut waiting: Vec<String> = other_calls.map(describe_call).collect();
    let queued = ctx.state.queued_messages.len();
    if queued > 0 {
        waiting.push(format!("{} of the user will be sent with the next request", pluralize(queued, "message")));
    }
    if let TurnEnd::Conclude(Conclusion::Finished { .. }) = end {
        let commands = ctx.state.background.iter();
        waiting.extend(commands.map(|command| format!("background command {} is running", command.number)));
    }
    waiting
}

/// Ends the turn by an approved call. If it cannot end any more, the call fails and the turn continues.
pub(super) fn end_by_call(ctx: &mut UpdateContext<'_>, call: &ToolCall, plan: &Plan, end: TurnEnd) {
    let sha256 = digest_call(call, plan);
    let settle = |ctx: &mut UpdateContext<'_>, outcome, origin, sha256: Digest| {
        settle_call(ctx, &call.id, (outcome, origin), Duration::ZERO, sha256);
    };
    if let Some(refusal) = explain_refusal(ctx, &call.id, plan) {
        return settle(ctx, Outcome::Failed(refusal), None, Digest::default());
    }
    if let TurnEnd::SwitchProfile { profile, .. } = &end
        && ctx.state.is_dry_run()
    {
        let text = format!("Dry run: the model was not switched to the profile {profile}. Continue yourself.");
        let origin = ResultOrigin::simulated(SimulationSource::NotRun);
        return settle(ctx, Outcome::Rehearsed(text), Some(origin), sha256);
    }
    let text = match &end {
        TurnEnd::Conclude(Conclusion::Finished { .. }) => {
            "The conversation ended here. The user may continue it with another message.".to_owned()
        }
        TurnEnd::Conclude(Conclusion::Parked { .. }) => {
            "The session was handed to the user and waits for their next message.".to_owned()
        }
        TurnEnd::SwitchProfile { profile, .. } => {
            format!("The turn ended. The model of the profile {profile} was requested for the next message.")
        }
    };
    ctx.state.queue.close_view();
    settle(ctx, Outcome::Done(text), None, sha256);
    match end {
        TurnEnd::Conclude(conclusion) => ctx.record_entry(Entry::Concluded(conclusion)),
        TurnEnd::SwitchProfile { profile, model } => ctx.effects.push(Effect::SwitchProfile { profile, model }),
    }
    ctx.end_turn(Ending::Finished);
}
