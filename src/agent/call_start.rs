//! Applies the verdict of a call: starts it, waits for the user, or settles it.

use super::call_settlement::{digest_call, settle_call, settle_unstarted};
use super::effect::Effect;
use super::state::CallStage;
use super::sub_agent;
use super::trials;
use super::turn_end;
use super::update_context::UpdateContext;
use crate::chat::{CallId, Digest, Entry, Outcome, Plan, Questions, ResultOrigin, SimulationSource, ToolCall, Work};
use crate::policy::{ExcludedPaths, Subject, Verdict, is_allowed_in_parts, may_disclose};
use std::time::Duration;

/// Shows the questions of a call; the call waits for the answers.
pub(super) fn await_answers(ctx: &mut UpdateContext<'_>, id: &CallId, questions: Questions) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    pending.stage = CallStage::AwaitingAnswer(questions.clone());
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, &questions);
    ctx.record_entry(Entry::Asked { call: id.clone(), questions, sha256 });
}

/// Applies the final verdict of a call.
pub(super) fn apply_verdict(ctx: &mut UpdateContext<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict) {
    let Some(call) = ctx.state.pending_mut(id).map(|pending| pending.call.clone()) else { return };
    let skipped_hooks = match ctx.state.is_dry_run() {
        true => ctx.state.config.reviewers.list_skipped_hooks(&call.name, &plan, &verdict),
        false => Vec::new(),
    };
    ctx.record_entry(Entry::Planned {
        call: id.clone(),
        title: plan.title.clone(),
        summary: plan.summary.clone(),
        access: plan.access.clone(),
        preview: Box::new(plan.preview.clone()),
        destroys: plan.destroys.clone(),
        preconditions: Box::new(plan.preconditions.clone()),
        verdict: verdict.as_str().to_owned(),
        reason: verdict.reason().to_owned(),
        hooks_not_run: skipped_hooks,
        sha256: digest_call(&call, &plan),
    });
    match verdict {
        Verdict::Allow(_) | Verdict::Rehearse(_) => {
            let (policy, grants, rules) = (&ctx.state.policy, ctx.session_grants(), &ctx.state.rules);
            let approval = match ctx.state.is_dry_run() {
                true if !may_disclose(policy, grants, rules, &call.name, &plan) => CallApproval::WithoutDisclosure,
                false if is_allowed_in_parts(grants, rules, &Subject::from_plan(&call.name, &plan)) => {
                    CallApproval::Parts
                }
                _ => CallApproval::Whole,
            };
            start_call(ctx, call, plan, approval);
        }
        Verdict::Withhold(withheld) => {
            ctx.state.queue.close_early_prompt(id);
            let outcome_text = match ctx.state.config.dry_run.is_hidden {
                true => format!("Not readable here: {} ({}).", plan.summary, call.name),
                false => withheld.outcome_text(),
            };
            let origin = Some(ResultOrigin::simulated(SimulationSource::Withheld));
            settle_call(ctx, id, (Outcome::Rehearsed(outcome_text), origin), Duration::ZERO, Digest::default());
        }
        Verdict::Ask(reason) => {
            let reason = ctx.state.prompt_reason(reason, &plan);
            trials::drop_trial(ctx, id);
            trials::await_approval(ctx, id, plan, reason);
        }
        Verdict::Deny(reason) => {
            ctx.state.queue.close_early_prompt(id);
            settle_unstarted(ctx, id, Outcome::Refused(reason));
        }
    }
}

/// What the approval of a call covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallApproval {
    /// The call as planned.
    Whole,
    /// The parts of its command line. See [`crate::tools::LiveContext::runs_in_parts`].
    Parts,
    /// A rehearsal whose data may not go to the model. See [`Effect::RehearseCall`].
    WithoutDisclosure,
}

/// Starts a call: live, or in a dry run as a rehearsal, which never emits `RunCall`.
pub(super) fn start_call(ctx: &mut UpdateContext<'_>, call: ToolCall, plan: Box<Plan>, approval: CallApproval) {
    let Some(turn) = ctx.state.current_turn() else { return };
    if let Work::Task(task) = &plan.work {
        return sub_agent::delegate_task(ctx, &call.id, task, digest_call(&call, &plan));
    }
    if let Work::EndTurn(end) = &plan.work {
        return turn_end::end_by_call(ctx, &call, &plan, end.clone());
    }
    trials::drop_trial(ctx, &call.id);
    if let Some(pending) = ctx.state.pending_mut(&call.id) {
        pending.stage = CallStage::Running(plan.clone());
    }
    let excluded_paths = ExcludedPaths::for_tool(&ctx.state.rules, &call.name);
    ctx.effects.push(match ctx.state.is_dry_run() {
        true => {
            let approved = approval != CallApproval::WithoutDisclosure;
            Effect::RehearseCall { turn, call, plan, excluded_paths, approved }
        }
        false => {
            let runs_in_parts = approval == CallApproval::Parts;
            Effect::RunCall { turn, call, plan, excluded_paths, runs_in_parts }
        }
    });
}
