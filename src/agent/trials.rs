//! Trials of waiting commands: the user, or the mode `auto`, has a command run in a throwaway sandbox before it is
//! decided on, and its effects can then be kept.

use super::call_settlement::digest_call;
use super::call_state::{Trial, TrialSupport};
use super::effect::Effect;
use super::state::{CallStage, State};
use super::update_context::UpdateContext;
use crate::chat::{CallId, Decider, Decision, Digest, Entry, Plan, TrialReport, Work};
use crate::policy::{Mode, is_tried_first, judge_trial};

/// Returns whether a call can be tried: a command, in a live session.
fn can_be_tried(state: &State, plan: &Plan) -> bool {
    matches!(plan.work, Work::Command(_)) && !state.is_dry_run()
}

impl State {
    /// Returns whether the prompt of a call with this plan offers a trial.
    pub fn offers_trial(&self, plan: &Plan) -> bool {
        can_be_tried(self, plan) && self.trial_support == TrialSupport::Available
    }

    /// Returns why the prompt of this call offers no trial, if it is the one that explains it.
    pub fn missing_trial_reason(&self, id: &CallId, plan: &Plan) -> Option<&str> {
        match &self.trial_support {
            TrialSupport::Unavailable { reason, call } if call == id && can_be_tried(self, plan) => Some(reason),
            _ => None,
        }
    }
}

/// Shows the prompt of a call, or first tries it if its effects may be judged instead.
pub(super) fn await_approval(ctx: &mut UpdateContext<'_>, id: &CallId, plan: Box<Plan>, reason: String) {
    let is_unavailable = matches!(ctx.state.trial_support, TrialSupport::Unavailable { .. });
    // The user may have left the mode `auto` during a review.
    let is_tried = is_tried_first(&ctx.state.policy, &plan) && can_be_tried(ctx.state, &plan) && !is_unavailable;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if std::mem::take(&mut pending.may_try) && is_tried {
        pending.stage = CallStage::OnTrial(plan.clone(), reason);
        return start_trial(ctx, id, plan, true);
    }
    request_support(ctx, id, &plan);
    if let Some(pending) = ctx.state.pending_mut(id) {
        pending.stage = CallStage::AwaitingApproval(plan, reason);
    }
}

/// Finds out whether commands can be tried, when the first command waits for approval.
fn request_support(ctx: &mut UpdateContext<'_>, id: &CallId, plan: &Plan) {
    if ctx.state.trial_support == TrialSupport::Unknown && can_be_tried(ctx.state, plan) {
        ctx.state.trial_support = TrialSupport::Requested;
        ctx.effects.push(Effect::CheckTrialSupport { call: Some(id.clone()) });
    }
}

/// Starts the trial of the call whose prompt is shown, as the user requested. Does nothing if one is running or finished.
pub(super) fn start_requested_trial(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::AwaitingApproval(plan, _) = &pending.stage else { return };
    let plan = plan.clone();
    if pending.trial.number().is_none() && can_be_tried(ctx.state, &plan) {
        start_trial(ctx, id, plan, false);
    }
}

fn start_trial(ctx: &mut UpdateContext<'_>, id: &CallId, plan: Box<Plan>, is_automatic: bool) {
    let Some(turn) = ctx.state.current_turn() else { return };
    ctx.state.counts.trials += 1;
    let number = ctx.state.counts.trials;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    pending.trial = Trial::Running { number, output: String::new() };
    let call = pending.call.clone();
    ctx.effects.push(Effect::TryCall { turn, call, plan, number, is_automatic });
}

/// Stops the running trial of a call. The call keeps waiting.
pub(super) fn stop_trial(ctx: &mut UpdateContext<'_>, id: &CallId) {
    if ctx.state.pending_mut(id).is_some_and(|pending| pending.trial.is_running()) {
        drop_trial(ctx, id);
    }
}

/// Forgets the trial of a call and everything that its command wrote.
pub(super) fn drop_trial(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if std::mem::take(&mut pending.trial).number().is_some() {
        ctx.effects.push(Effect::DropTrial { call: id.clone() });
    }
}

/// Handles the end of a trial. The result of a stopped trial is ignored.
pub(super) fn finish_trial(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    trial_number: u64,
    result: Result<Box<TrialReport>, String>,
) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if !pending.trial.is_running() || pending.trial.number() != Some(trial_number) {
        return;
    }
    let (plan, ask_reason) = match &pending.stage {
        CallStage::AwaitingApproval(plan, _) => (plan.clone(), None),
        CallStage::OnTrial(plan, reason) => (plan.clone(), Some(reason.clone())),
        _ => return,
    };
    let report = match result {
        Ok(report) => report,
        Err(error) => {
            pending.trial = Trial::Failed(error);
            if let Some(reason) = ask_reason {
                pending.stage = CallStage::AwaitingApproval(plan, reason);
            }
            return;
        }
    };
    let sha256 = digest_call(&pending.call, &plan);
    let digest = report.digest.clone();
    let entry = Entry::Tried {
        call: id.clone(),
        status: report.status.clone(),
        changes: report.count_changes(),
        paths: report.list_changes(),
        destroys: report.describe_loss(),
        is_automatic: ask_reason.is_some(),
        took_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
        trial: digest.clone(),
        sha256: sha256.clone(),
    };
    let verdict = judge_trial(&plan, &report);
    pending.trial = Trial::Finished { number: trial_number, report };
    if let Some(reason) = &ask_reason {
        let reason = verdict.as_ref().err().unwrap_or(reason).clone();
        pending.stage = CallStage::AwaitingApproval(plan, reason);
    }
    ctx.record_entry(entry);
    // The user may have left the mode `auto` while the command ran.
    if ask_reason.is_some() && verdict.is_ok() && ctx.state.policy.mode == Mode::Auto {
        let (decision, by) = (Decision::Kept(digest), Decider::AutoMode);
        ctx.record_entry(Entry::Decided { call: id.clone(), decision, by, sha256 });
        keep_trial(ctx, id);
    }
}

/// Returns whether the call has a finished trial with this digest.
pub(super) fn has_finished_trial(ctx: &UpdateContext<'_>, id: &CallId, trial: &Digest) -> bool {
    let pending = ctx.state.pending().iter().find(|pending| pending.call.id == *id);
    pending.and_then(|pending| pending.trial.report()).is_some_and(|report| report.digest == *trial)
}

/// Makes the effects of the finished trial of a call real. Its output becomes the result of the call.
pub(super) fn keep_trial(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(turn) = ctx.state.current_turn() else { return };
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::AwaitingApproval(plan, _) = &pending.stage else { return };
    let plan = plan.clone();
    let Trial::Finished { number, report } = std::mem::take(&mut pending.trial) else { return };
    pending.stage = CallStage::Running(plan);
    let call = pending.call.clone();
    ctx.effects.push(Effect::KeepTrial { turn, call, number, report });
}
