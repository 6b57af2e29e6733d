//! Approvals given from the queue before a call's turn.
//!
//! Calls still run in the model's order. An early approval is stored with the plan it was given for; when the call's
//! turn comes the tool plans again, and the call runs only if the plan is unchanged. Otherwise the user is asked again.

use super::call_judgement::judge_call;
use super::call_settlement::{digest_call, settle_unstarted};
use super::call_start::{CallApproval, await_answers, start_call};
use super::call_state::QueuePreview;
use super::state::{CallStage, PendingCall};
use super::update_context::UpdateContext;
use super::{Effect, apply_turn};
use crate::chat::{CallId, Decider, Decision, Entry, Intent, Outcome, Plan, Work};
use crate::policy::Verdict;

/// Handles the opening of the queue view: plans every waiting call, one after the other.
pub(super) fn open_queue(ctx: &mut UpdateContext<'_>) {
    ctx.state.queue.is_planning_previews = true;
    plan_next_preview(ctx);
}

fn plan_next_preview(ctx: &mut UpdateContext<'_>) {
    let Some(turn) = ctx.state.current_turn() else { return };
    let is_planning = |pending: &PendingCall| pending.preapproval.is_planning;
    if !ctx.state.queue.is_planning_previews || ctx.state.pending().iter().any(is_planning) {
        return;
    }
    let needs_preview =
        |pending: &&PendingCall| pending.stage == CallStage::AwaitingTurn && pending.preapproval.preview.is_none();
    let Some(call) = ctx.state.pending().iter().find(needs_preview).map(|pending| pending.call.clone()) else {
        ctx.state.queue.is_planning_previews = false;
        return;
    };
    if let Some(pending) = ctx.state.pending_mut(&call.id) {
        pending.preapproval.is_planning = true;
    }
    let is_apply_call = ctx.state.turn.is_apply_turn();
    ctx.effects.push(Effect::PlanCall { turn, call, is_apply_call });
}

/// Handles a plan made for the queue view.
pub(super) fn handle_preview_plan(ctx: &mut UpdateContext<'_>, id: &CallId, intent: Result<Intent, String>) {
    if ctx.state.pending_mut(id).is_some_and(|pending| std::mem::take(&mut pending.preapproval.is_stale)) {
        return replan_stale_preview(ctx, id);
    }
    if ctx.state.queue.is_early_prompt(id) {
        if let Some(pending) = ctx.state.pending_mut(id) {
            pending.preapproval.is_planning = false;
        }
        return handle_early_plan(ctx, id, intent);
    }
    let preview = build_preview(ctx, id, &intent);
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.preapproval.is_planning, pending.preapproval.preview) = (false, Some(preview));
    }
    plan_next_preview(ctx);
}

/// Drops an outdated plan. Plans again if the user has since opened the approval prompt.
fn replan_stale_preview(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    pending.preapproval.is_planning = false;
    if ctx.state.queue.is_early_prompt(id) {
        ctx.request_plan(id);
    }
    plan_next_preview(ctx);
}

fn build_preview(ctx: &UpdateContext<'_>, id: &CallId, intent: &Result<Intent, String>) -> QueuePreview {
    match intent {
        Ok(Intent::Act(plan)) => QueuePreview::Plan {
            summary: plan.summary.clone(),
            access: plan.access.clone(),
            destruction: plan.destroys.clone(),
            needs_approval: matches!(preview_verdict(ctx, id, plan), Some(Verdict::Ask(_))),
        },
        Ok(Intent::Ask(questions)) => {
            let first_question = questions.list.first().map(|question| question.text.clone());
            QueuePreview::Question(first_question.unwrap_or_default())
        }
        Err(error) => QueuePreview::Error(error.clone()),
    }
}

fn preview_verdict(ctx: &UpdateContext<'_>, id: &CallId, plan: &Plan) -> Option<Verdict> {
    let pending = ctx.state.pending().iter().find(|pending| pending.call.id == *id)?;
    Some(ctx.judge_plan(&pending.call.name, plan))
}

/// Opens the approval prompt of this call before its turn; for `None` returns to the call whose turn it is.
pub(super) fn open_early_prompt(ctx: &mut UpdateContext<'_>, id: Option<CallId>) {
    close_early_prompt(ctx);
    request_early_prompt(ctx, id);
    // The call whose prompt was closed may be the next one to start.
    ctx.continue_calls();
}

fn request_early_prompt(ctx: &mut UpdateContext<'_>, id: Option<CallId>) {
    let Some(id) = id else { return };
    let Some(pending) = ctx.state.pending_mut(&id) else { return };
    let has_questions = matches!(pending.stage, CallStage::AwaitingAnswer(_));
    if !has_questions && (pending.stage != CallStage::AwaitingTurn || pending.preapproval.approved_plan.is_some()) {
        return;
    }
    if !has_questions && !pending.preapproval.is_planning {
        ctx.request_plan(&id);
    }
    ctx.state.queue.early_prompt = Some(id);
}

/// Closes the prompt that was opened before its turn; its call waits as before.
fn close_early_prompt(ctx: &mut UpdateContext<'_>) {
    let Some(id) = ctx.state.queue.early_prompt.take() else { return };
    let Some(pending) = ctx.state.pending_mut(&id) else { return };
    // A question stays open and waits after the prompt of the call whose turn it is.
    if matches!(pending.stage, CallStage::AwaitingApproval(..) | CallStage::UnderReview(_)) {
        // Reviewers check the call again when its turn comes.
        pending.stage = CallStage::AwaitingTurn;
    } else if pending.stage == CallStage::Planning {
        // The tool is still planning. Its plan now serves the queue view only; the plan of an edit is dropped.
        if let Some(edit) = pending.pending_edit.take() {
            pending.call = edit.call;
            pending.preapproval.is_stale = true;
        }
        (pending.stage, pending.preapproval.is_planning) = (CallStage::AwaitingTurn, true);
    }
}

/// Handles the plan of a call whose prompt the user opened early: shows the prompt if the call needs approval.
pub(super) fn handle_early_plan(ctx: &mut UpdateContext<'_>, id: &CallId, intent: Result<Intent, String>) {
    let preview = build_preview(ctx, id, &intent);
    let needs_approval = matches!(&preview, QueuePreview::Plan { needs_approval: true, .. });
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.preapproval.preview, pending.stage) = (Some(preview), CallStage::AwaitingTurn);
    }
    match intent {
        Ok(Intent::Act(plan)) if needs_approval => judge_call(ctx, id, plan),
        Ok(Intent::Ask(questions)) => await_answers(ctx, id, questions),
        Ok(_) | Err(_) => ctx.state.queue.early_prompt = None,
    }
}

/// Records an approval before the call's turn. The call still waits for those before it.
pub(super) fn record_preapproval(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    plan: Box<Plan>,
    decision: Decision,
    by: Decider,
) {
    ctx.state.queue.early_prompt = None;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let (call, sha256) = (pending.call.clone(), digest_call(&pending.call, &plan));
    ctx.state.turn.repeated_calls.record_approval(&call);
    ctx.record_entry(Entry::Decided { call: id.clone(), decision, by, sha256 });
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.stage, pending.preapproval.approved_plan) = (CallStage::AwaitingTurn, Some(plan));
    }
}

/// Runs an approved call whose turn has come if the new plan equals the approved one; otherwise asks the user again.
pub(super) fn run_if_unchanged(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    approved_plan: &Plan,
    intent: Result<Intent, String>,
) {
    let mut plan = match intent {
        Ok(Intent::Act(mut plan)) => {
            if let Some(name) = ctx.state.pending_mut(id).map(|pending| pending.call.name.clone()) {
                apply_turn::judge_items(ctx, &name, &mut plan);
            }
            if let Work::Batch(work) = &approved_plan.work {
                let _ = plan.set_rejected(&work.rejected);
            }
            plan
        }
        Ok(Intent::Ask(questions)) => return await_answers(ctx, id, questions),
        Err(error) => return settle_unstarted(ctx, id, Outcome::Failed(error)),
    };
    let is_denied = matches!(preview_verdict(ctx, id, &plan), Some(Verdict::Deny(_) | Verdict::Withhold(_)) | None);
    let is_same = *plan == *approved_plan;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if is_same && !is_denied {
        let call = pending.call.clone();
        return start_call(ctx, call, plan, CallApproval::Whole);
    }
    pending.preapproval.ask_again = true;
    // The user selects the parts of a changed batch again.
    let _ = plan.set_rejected(&[]);
    judge_call(ctx, id, plan);
}
