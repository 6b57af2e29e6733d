//! Judges the plan of a call before its reviews, and replans the waiting calls that a new grant covers.

use super::state::{CallStage, PendingCall, State};
use super::update_context::UpdateContext;
use super::{apply_turn, reviews, sub_agent, turn_end};
use crate::chat::{CallId, Plan};
use crate::policy::{Mode, Policy, Subject, Verdict, chain_is_covered, grant_covers, is_tried_first, judge_plan};

/// Judges the plan of a call and has it reviewed.
pub(super) fn judge_call(ctx: &mut UpdateContext<'_>, id: &CallId, mut plan: Box<Plan>) {
    let is_early = ctx.state.queue.is_early_prompt(id);
    let is_edited = ctx.state.session.find_call(id).is_some_and(|call| call.edited_arguments.is_some());
    let earlier_settled = ctx
        .state
        .pending()
        .iter()
        .take_while(|other| other.call.id != *id)
        .all(|other| other.stage == CallStage::Settled);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if !plan.access.is_inside_read() && !earlier_settled && !is_early {
        // The call was planned while earlier reads were running. It is planned again once they are settled.
        pending.has_effects = true;
        pending.stage = CallStage::AwaitingTurn;
        return;
    }
    let ask_again = std::mem::take(&mut pending.preapproval.ask_again);
    let call = pending.call.clone();
    let repeat_reason = ctx.state.turn.repeated_calls.repeat_reason(&call);
    let untrusted_reason = ctx.state.turn.untrusted_text.ask_reason(&plan);
    apply_turn::judge_items(ctx, &call.name, &mut plan);
    let verdict = ctx.judge_plan(&call.name, &plan);
    let verdict = match apply_turn::require_decision(ctx.state.turn.is_apply_turn(), verdict) {
        // The policy never asks about a task of a sub-agent. If the task cannot be delegated, it is denied here.
        Verdict::Allow(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)
            if let Some(refusal) = sub_agent::delegation_refusal(ctx.state, &plan) =>
        {
            Verdict::Deny(refusal)
        }
        // No prompt is shown for a call that cannot end the turn.
        Verdict::Allow(_) | Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Ask(_)
            if let Some(refusal) = turn_end::explain_refusal(ctx, id, &plan) =>
        {
            Verdict::Deny(refusal)
        }
        // The user sees the result of an edit before it runs.
        Verdict::Allow(_) if is_edited => Verdict::Ask("edited arguments".to_owned()),
        // A model that repeats a call with the same outcome is in a loop and does not notice it.
        Verdict::Allow(_) if let Some(reason) = &repeat_reason => Verdict::Ask(reason.clone()),
        Verdict::Allow(_) if let Some(reason) = &untrusted_reason => Verdict::Ask(reason.clone()),
        Verdict::Ask(reason) if ask_again => Verdict::Ask(format!("{reason}. Changed since you approved it")),
        verdict => verdict,
    };
    let has_asked = matches!(verdict, Verdict::Ask(_));
    // No hook may approve a call that was edited, opened before its turn, changed since its approval or repeated, nor
    // a call of an apply turn.
    let must_ask = is_edited
        || ask_again
        || is_early
        || repeat_reason.is_some()
        || untrusted_reason.is_some()
        || ctx.state.turn.is_apply_turn();
    let permits_trial = ctx.state.rules.permits_grants(&Subject::from_plan(&call.name, &plan));
    let may_try = has_asked && !must_ask && permits_trial && is_tried_first(&ctx.state.policy, &plan);
    if let Some(pending) = ctx.state.pending_mut(id) {
        pending.may_try = may_try;
    }
    reviews::start_review(ctx, id, plan, verdict, must_ask);
}

/// Replans the waiting calls that a new grant covers, so that they run without approval.
pub(super) fn replan_covered_calls(ctx: &mut UpdateContext<'_>) {
    let is_covered = |pending: &&PendingCall| {
        let CallStage::AwaitingApproval(plan, _) = &pending.stage else { return false };
        let subject = Subject::from_plan(&pending.call.name, plan);
        let grants = ctx.session_grants();
        let is_granted = grants.iter().any(|session_grant| grant_covers(&session_grant.grant, &subject))
            || chain_is_covered(grants, &ctx.state.rules, &subject);
        is_granted
            && ctx.state.turn.untrusted_text.ask_reason(plan).is_none()
            && ctx.state.rules.permits_grants(&subject)
            && ctx.state.session.find_call(&pending.call.id).is_some_and(|call| call.edited_arguments.is_none())
            && !ctx.state.queue.is_early_prompt(&pending.call.id)
    };
    let covered_calls = ctx.state.pending().iter().filter(is_covered).map(|pending| pending.call.id.clone());
    for id in covered_calls.collect::<Vec<_>>() {
        ctx.request_plan(&id);
    }
    sub_agent::for_each_sub_agent(ctx, replan_covered_calls);
}

impl State {
    /// Returns the narrowest permission mode in which this call would run without approval; `None` if there is none, or
    /// if the call needs no approval in the current mode.
    pub fn mode_allowing(&self, tool: &str, plan: &Plan) -> Option<Mode> {
        let judge = |mode| {
            let policy = Policy { mode, ..self.policy };
            judge_plan(&policy, self.session.grants(), &self.rules, tool, plan)
        };
        let asks = |mode| matches!(judge(mode), Verdict::Ask(_));
        let runs = |mode: &Mode| matches!(judge(*mode), Verdict::Allow(_) | Verdict::Rehearse(_));
        Mode::ALL.into_iter().filter(|_| asks(self.policy.mode)).find(runs)
    }
}
