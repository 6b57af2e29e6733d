//! Execution of calls: planning, verdict, decision, run and outcome.

use super::call_judgement::judge_call;
use super::call_settlement::{digest_call, settle_call, settle_unstarted};
use super::call_start::{CallApproval, await_answers, start_call};
use super::call_state::Trial;
use super::state::{CallStage, PendingCall};
use super::update_context::UpdateContext;
use super::{Effect, Phase, call_edit, model_requests, preapproval, sub_agent, trials};
use crate::chat::{
    Answer, CallId, Decider, Decision, Digest, Ending, Entry, Intent, Outcome, PartialOutput, ResultOrigin, ToolCall,
    TurnId,
};
use std::time::Duration;

/// Number of failures in a row after which a call with the same arguments is refused without planning.
const MAX_FAILURES: u32 = 3;
/// Number of replies in a row in which all calls of a tool failed, after which its calls are refused until the turn ends.
const MAX_FAILED_REPLIES: u32 = 8;

/// Starts carrying out the calls of a reply.
pub(super) fn start_calls(ctx: &mut UpdateContext<'_>, turn: TurnId, calls: Vec<ToolCall>) {
    let build_pending = |call| PendingCall::new(call, CallStage::AwaitingTurn);
    ctx.state.queue.close_view();
    ctx.state.phase = Phase::RunningCalls { turn, calls: calls.into_iter().map(build_pending).collect() };
    start_ready_calls(ctx);
}

/// Starts every call that can start. Calls are planned one after the other. Reads and sub-agents then run in parallel.
/// A call that may change something is planned only after everything before it is settled, so that no plan is based on
/// files that an earlier call is about to change.
pub(super) fn start_ready_calls(ctx: &mut UpdateContext<'_>) {
    sub_agent::start_waiting_sub_agents(ctx);
    loop {
        let Phase::RunningCalls { turn, calls } = &mut ctx.state.phase else { return };
        let turn = *turn;
        let mut all_settled = true;
        let mut next = None;
        for (index, pending) in calls.iter().enumerate() {
            match &pending.stage {
                CallStage::Settled => {}
                CallStage::Running(plan) if plan.access.is_inside_read() => all_settled = false,
                CallStage::Delegated(_) => all_settled = false,
                // Its tool is planning for the queue view. That plan must not be mistaken for the plan to run.
                CallStage::AwaitingTurn if pending.preapproval.is_planning => return,
                // An approved call runs as soon as it is planned, so every call before it must be settled.
                CallStage::AwaitingTurn
                    if all_settled || !pending.has_effects && !pending.preapproval.is_approved() =>
                {
                    next = Some(index);
                    break;
                }
                _ => return,
            }
        }
        let Some(index) = next else {
            match all_settled {
                true if ctx.state.turn.has_no_model() => ctx.end_turn(Ending::Finished),
                true => model_requests::request_reply(ctx, turn),
                false => {}
            }
            return;
        };
        let call = calls[index].call.clone();
        let reason = if ctx.state.turn.failure_count(&call) >= MAX_FAILURES {
            format!("this call of {} failed {MAX_FAILURES} times with the same arguments", call.name)
        } else if ctx.state.turn.failed_reply_count(&call.name) >= MAX_FAILED_REPLIES {
            format!("all calls of {} failed in {MAX_FAILED_REPLIES} replies in a row", call.name)
        } else {
            return ctx.request_plan(&call.id);
        };
        let refusal = format!("Refused: {reason}. It was not run. Try something else or report the obstacle.");
        settle_unstarted(ctx, &call.id, Outcome::Refused(refusal));
    }
}

/// Handles the plan of a call.
pub(super) fn handle_plan(ctx: &mut UpdateContext<'_>, call: &CallId, intent: Result<Intent, String>) {
    let is_early = ctx.state.queue.is_early_prompt(call);
    let Some(pending) = ctx.state.pending_mut(call) else { return };
    if pending.preapproval.is_planning {
        preapproval::handle_preview_plan(ctx, call, intent);
        return start_ready_calls(ctx);
    }
    if pending.stage != CallStage::Planning {
        return;
    }
    if let Some(edit) = pending.pending_edit.take() {
        call_edit::handle_edit_plan(ctx, *edit, intent);
        return start_ready_calls(ctx);
    }
    if is_early {
        preapproval::handle_early_plan(ctx, call, intent);
        return start_ready_calls(ctx);
    }
    if let Some(approved_plan) = pending.preapproval.approved_plan.take() {
        preapproval::run_if_unchanged(ctx, call, &approved_plan, intent);
        return start_ready_calls(ctx);
    }
    match intent {
        Err(error) => settle_unstarted(ctx, call, Outcome::Failed(error)),
        Ok(Intent::Ask(questions)) => await_answers(ctx, call, questions),
        Ok(Intent::Act(plan)) => judge_call(ctx, call, plan),
    }
    start_ready_calls(ctx);
}

/// Handles a decision. Ignored unless the call waits for approval; a denial is also accepted before the call's turn.
pub(super) fn handle_decision(ctx: &mut UpdateContext<'_>, id: &CallId, decision: Decision, by: Decider) {
    let first_open = ctx.state.pending().iter().find(|pending| pending.stage != CallStage::Settled);
    let is_early = first_open.is_some_and(|pending| pending.call.id != *id) && ctx.state.queue.is_early_prompt(id);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let call = pending.call.clone();
    if pending.stage == CallStage::AwaitingTurn && matches!(decision, Decision::Deny(_)) {
        // A denial needs no plan, so the queue accepts it for any call whose turn has not come.
        return deny_call(ctx, id, decision, by);
    }
    let CallStage::AwaitingApproval(plan, _) = &pending.stage else { return };
    let mut plan = plan.clone();
    if let Decision::Selected(rejected) = &decision
        && !plan.set_rejected(rejected)
    {
        // Only a batch has parts, and approving a part does not approve the whole.
        return;
    }
    match decision {
        Decision::Edited(arguments) => return call_edit::start_edit(ctx, id, arguments, by),
        Decision::Once | Decision::Always(_) | Decision::Selected(_) if is_early => {
            preapproval::record_preapproval(ctx, id, plan, decision, by);
            return start_ready_calls(ctx);
        }
        Decision::Deny(_) => return deny_call(ctx, id, decision, by),
        Decision::Kept(ref trial) if is_early || !trials::has_finished_trial(ctx, id, trial) => return,
        Decision::Once | Decision::Always(_) | Decision::Selected(_) | Decision::Kept(_) => {
            ctx.state.turn.repeated_calls.record_approval(&call);
            ctx.state.turn.untrusted_text.confirm(&plan);
        }
    }
    ctx.state.queue.close_view();
    let sha256 = digest_call(&call, &plan);
    let is_kept = matches!(decision, Decision::Kept(_));
    ctx.record_entry(Entry::Decided { call: id.clone(), decision, by, sha256 });
    if is_kept {
        trials::keep_trial(ctx, id);
    } else {
        start_call(ctx, call, plan, CallApproval::Whole);
    }
    start_ready_calls(ctx);
}

/// Records the denial of a call that has not started.
fn deny_call(ctx: &mut UpdateContext<'_>, id: &CallId, decision: Decision, by: Decider) {
    ctx.state.queue.close_early_prompt(id);
    let Decision::Deny(message) = &decision else { return };
    let message = message.trim();
    let outcome_text = if by == Decider::Headless {
        "Denied: no interactive user is available to approve this call. It was not run. Do not retry it in another form; continue without it and list it as remaining work.".to_owned()
    } else if message.is_empty() {
        "The user denied this call. It was not run. Do not retry it in another form; ask the user or continue without it.".to_owned()
    } else {
        format!("The user denied this call: {message}\nIt was not run. Do not retry it in another form.")
    };
    // A call denied from the queue had no prompt, so no complete plan was shown and there is no digest.
    let mut sha256 = Digest::default();
    if let Some(PendingCall { call, stage: CallStage::AwaitingApproval(plan, _), .. }) = ctx.state.pending_mut(id) {
        sha256 = digest_call(call, plan);
    }
    ctx.record_entry(Entry::Decided { call: id.clone(), decision, by, sha256 });
    settle_unstarted(ctx, id, Outcome::Refused(outcome_text));
    start_ready_calls(ctx);
}

/// Handles the answers to a call's questions.
pub(super) fn handle_answer(ctx: &mut UpdateContext<'_>, id: &CallId, answer: Answer, by: Decider) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::AwaitingAnswer(questions) = &pending.stage else { return };
    let result = answer.to_result(questions);
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, questions);
    ctx.state.queue.close_early_prompt(id);
    ctx.record_entry(Entry::Answered { call: id.clone(), answer, by: Some(by), sha256 });
    settle_unstarted(ctx, id, Outcome::Done(result));
    start_ready_calls(ctx);
}

/// Handles the end of a running call.
pub(super) fn finish_call(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    (outcome, origin): (Outcome, Option<ResultOrigin>),
    duration: Duration,
) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::Running(plan) = &pending.stage else { return };
    let (outcome, origin) = match outcome {
        // A read returns the same result in a dry run as live.
        Outcome::Rehearsed(text) if plan.access.is_read() && !matches!(origin, Some(ResultOrigin::Simulated(_))) => {
            (Outcome::Done(text), None)
        }
        other => (other, origin),
    };
    let sha256 = digest_call(&pending.call, plan);
    let (call, has_effects) = (pending.call.clone(), !plan.access.is_inside_read());
    if !matches!(outcome, Outcome::Refused(_)) {
        let plan = plan.clone();
        ctx.state.turn.untrusted_text.record_read(&plan);
    }
    ctx.state.turn.repeated_calls.count_outcome(&call, &outcome, has_effects);
    settle_call(ctx, id, (outcome, origin), duration, sha256);
    // Previews of the other calls may be outdated now.
    if let Phase::RunningCalls { calls, .. } = &mut ctx.state.phase {
        calls.iter_mut().for_each(|pending| pending.preapproval.preview = None);
    }
    start_ready_calls(ctx);
}

/// Handles the progress of a running call: `output` is its latest output for the screen, `new_output` the output since
/// the previous progress.
pub(super) fn handle_progress(ctx: &mut UpdateContext<'_>, id: &CallId, output: String, new_output: &str) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if matches!(pending.stage, CallStage::Running(_)) {
        pending.latest_output = output;
        pending.full_output.push_output(new_output);
    } else if let Trial::Running { output: trial_output, .. } = &mut pending.trial {
        *trial_output = output;
    }
}

/// Saves the output of a running call.
pub(super) fn save_output(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if let Some(text) = pending.full_output.take_unsaved() {
        ctx.effects.push(Effect::SaveOutput(PartialOutput { call: id.clone(), text }));
    }
}
