//! Reviews of a call by hooks and a model reviewer, after the verdict and before the call starts.
//!
//! A hook can deny a call, require approval for it, or approve it if a rule could have approved it too. The
//! strictest hook wins, in any order. The model reviewer comes last, sees only calls that would run, and can only
//! require approval. No reviewer lifts a denial. An invalid answer requires approval.

use super::Effect;
use super::call_settlement::digest_call;
use super::call_start::apply_verdict;
use super::reviewers::{PendingReview, ReviewContext};
use super::state::CallStage;
use super::update_context::UpdateContext;
use crate::chat::attachments::own_text;
use crate::chat::{Access, CallId, Entry, Plan, Reach, Review, ReviewVerdict, Reviewer};
use crate::policy::{Subject, Verdict};

/// Number of the latest user messages sent to the model reviewer.
const REVIEWED_MESSAGES: usize = 3;

/// Returns whether a hook may replace the user's approval of this plan: only if a grant could. Destructive, sensitive,
/// irreversible and unclear calls are always the user's decision.
fn can_hook_approve(plan: &Plan) -> bool {
    let can_grant_access = match &plan.access {
        Access::Nothing | Access::Read(_) | Access::Write(_) => true,
        Access::Workspace(access) => access.session.is_none(),
        Access::ReadSensitive(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Fetch(_)
        | Access::External(_) => false,
        Access::Run(run) => match run.reach {
            Reach::Reads | Reach::Writes | Reach::Runs => !run.is_sensitive,
            Reach::Outside | Reach::Unclear | Reach::Denied => false,
        },
    };
    let is_nondestructive = plan.destroys.is_none() && plan.preconditions.hard_links.is_none();
    can_grant_access && is_nondestructive && plan.grant.is_some() && !plan.preconditions.is_partial
}

/// Starts the review of a call after its verdict. Without reviewers the verdict takes effect at once. If `must_ask` is
/// set, no hook can lift the need for approval.
pub(super) fn start_review(
    ctx: &mut UpdateContext<'_>,
    id: &CallId,
    plan: Box<Plan>,
    verdict: Verdict,
    must_ask: bool,
) {
    // A hook cannot override a rule that asks.
    let call = ctx.state.pending().iter().find(|pending| pending.call.id == *id);
    let rule_asks = call.is_some_and(|pending| {
        let subject = Subject::from_plan(&pending.call.name, &plan);
        !ctx.state.rules.permits_grants(&subject)
    });
    let must_ask = must_ask || rule_asks || !can_hook_approve(&plan);
    // Replaced below by the first reviewer.
    let placeholder = Reviewer::Model;
    continue_review(
        ctx,
        id,
        PendingReview { plan, reviewer: placeholder, verdict, hooks_done: 0, must_ask, is_lifted: false, round: 0 },
    );
}

fn continue_review(ctx: &mut UpdateContext<'_>, id: &CallId, mut pending_review: PendingReview) {
    let (Some(turn), Some(call)) = (ctx.state.current_turn(), ctx.state.pending_mut(id)) else { return };
    let (call, may_try) = (call.call.clone(), call.may_try);
    let Some(reviewer) = next_reviewer(ctx, &call.name, may_try, &mut pending_review) else {
        let PendingReview { plan, verdict, is_lifted, .. } = pending_review;
        // During the review the user may have chosen a narrower mode or revoked a grant.
        let current_verdict = ctx.judge_plan(&call.name, &plan);
        let is_lifted = is_lifted && ctx.state.rules.permits_grants(&Subject::from_plan(&call.name, &plan));
        // A denial wins, then a withheld result, then a new need for approval that no hook lifted.
        let verdict = match (current_verdict, verdict) {
            (refused @ Verdict::Deny(_), _) | (Verdict::Withhold(_), refused @ Verdict::Deny(_)) => refused,
            (withheld @ Verdict::Withhold(_), _) => withheld,
            (asks @ Verdict::Ask(_), Verdict::Allow(_) | Verdict::Rehearse(_)) if !is_lifted => asks,
            (Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_), verdict) => verdict,
        };
        return apply_verdict(ctx, id, plan, verdict);
    };
    ctx.state.counts.reviews += 1;
    (pending_review.reviewer, pending_review.round) = (reviewer, ctx.state.counts.reviews);
    let context = ReviewContext {
        user_messages: if pending_review.reviewer == Reviewer::Model { last_user_messages(ctx) } else { Vec::new() },
        reviewer: pending_review.reviewer.clone(),
        verdict: pending_review.verdict.as_str().to_owned(),
        reason: pending_review.verdict.reason().to_owned(),
        mode: ctx.state.policy.mode.as_str(),
        dry_run: ctx.state.is_dry_run(),
    };
    let (round, plan) = (pending_review.round, pending_review.plan.clone());
    if let Some(pending) = ctx.state.pending_mut(id) {
        pending.stage = CallStage::UnderReview(Box::new(pending_review));
    }
    ctx.effects.push(Effect::ReviewCall { turn, call, plan, round, context: Box::new(context) });
}

/// Returns the next reviewer; `None` if no remaining reviewer could change the verdict.
fn next_reviewer(
    ctx: &UpdateContext<'_>,
    tool: &str,
    may_try: bool,
    pending_review: &mut PendingReview,
) -> Option<Reviewer> {
    if matches!(pending_review.verdict, Verdict::Deny(_)) {
        return None;
    }
    let (reviewers, dry_run) = (&ctx.state.config.reviewers, ctx.state.is_dry_run());
    while let Some(hook) = reviewers.hooks.get(pending_review.hooks_done) {
        pending_review.hooks_done += 1;
        if (hook.in_dry_run || !dry_run) && hook.reviews_call(tool, &pending_review.plan) {
            return Some(Reviewer::Hook(hook.name.clone()));
        }
    }
    // After the hooks, `hooks_done` also counts the model reviewer.
    let was_model_asked = pending_review.hooks_done > reviewers.hooks.len();
    // A dry run gives the verdict `rehearse` instead of `allow`: nothing is left to review unless a hook approved the
    // call.
    let would_run =
        may_try || matches!(pending_review.verdict, Verdict::Allow(_)) && !pending_review.plan.access.is_inside_read();
    if !reviewers.has_model_reviewer || was_model_asked || !would_run {
        return None;
    }
    pending_review.hooks_done += 1;
    Some(Reviewer::Model)
}

/// Returns the latest user messages, oldest first. For a call of a sub-agent these are the user messages of the main
/// session: the sub-agent's task was written by the model.
fn last_user_messages(ctx: &UpdateContext<'_>) -> Vec<String> {
    // Attachments are no words of the user.
    let message_text = |entry: &Entry| match entry {
        Entry::UserMessage { text } => Some(own_text(text).to_owned()),
        _ => None,
    };
    let mut messages: Vec<String> = ctx
        .parent_session
        .unwrap_or(&ctx.state.session)
        .entries()
        .iter()
        .rev()
        .filter_map(message_text)
        .take(REVIEWED_MESSAGES)
        .collect();
    messages.reverse();
    messages
}

/// Handles the answer of a reviewer.
pub(super) fn handle_review(ctx: &mut UpdateContext<'_>, id: &CallId, round: u64, review: Review) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::UnderReview(pending_review) = &pending.stage else { return };
    if pending_review.round != round {
        return;
    }
    let mut pending_review = (**pending_review).clone();
    let sha256 = digest_call(&pending.call, &pending_review.plan);
    pending.may_try &= review.verdict == ReviewVerdict::Allow && !review.is_failed;
    let Review { verdict: advice, reason: why, is_failed, took_ms, usage } = review;
    // A verdict that this reviewer may not give requires approval.
    let advice = if pending_review.reviewer.allowed_verdicts().contains(&advice) { advice } else { ReviewVerdict::Ask };
    let (reviewer, earlier_verdict) = (pending_review.reviewer.clone(), pending_review.verdict.as_str().to_owned());
    let was_ask = matches!(pending_review.verdict, Verdict::Ask(_));
    (pending_review.verdict, pending_review.must_ask) =
        combine_advice(pending_review.verdict, pending_review.must_ask, &reviewer, advice, &why, is_failed);
    pending_review.is_lifted |= was_ask && matches!(pending_review.verdict, Verdict::Allow(_));
    ctx.record_entry(Entry::Reviewed {
        call: id.clone(),
        reviewer,
        earlier_verdict,
        verdict: advice,
        reason: why,
        is_failed,
        took_ms,
        usage,
        sha256,
    });
    continue_review(ctx, id, pending_review);
    ctx.continue_calls();
}

/// Combines a verdict with the advice of a reviewer and its reason (`why`). Also returns the new value of `must_ask`:
/// true if no later hook can lift the need for approval.
fn combine_advice(
    verdict: Verdict,
    must_ask: bool,
    reviewer: &Reviewer,
    advice: ReviewVerdict,
    why: &str,
    is_failed: bool,
) -> (Verdict, bool) {
    let reviewer_name = reviewer.display_name();
    let reason_suffix = if why.is_empty() { String::new() } else { format!(": {why}") };
    match (advice, verdict) {
        (_, refused @ Verdict::Deny(_)) => (refused, true),
        (ReviewVerdict::Deny, Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)) => {
            let denial = format!(
                "Refused by {reviewer_name}{reason_suffix}. The call was not run. Do not retry it in another form."
            );
            (Verdict::Deny(denial), true)
        }
        // A withheld call reads nothing, so no approval is needed.
        (ReviewVerdict::Ask, withheld @ Verdict::Withhold(_)) => (withheld, true),
        (ReviewVerdict::Ask, verdict) => {
            let new_reason = match (is_failed, why.is_empty(), reviewer) {
                (true, ..) => format!("{reviewer_name} failed{reason_suffix}"),
                (false, true, _) => format!("{reviewer_name} requires approval"),
                (false, false, Reviewer::Hook(_)) => format!("{reviewer_name}{reason_suffix}"),
                // Quoted, because the reviewed text may have influenced the model's reason.
                (false, false, Reviewer::Model) => format!("{reviewer_name}: “{why}”"),
            };
            let earlier_reason = if let Verdict::Ask(reason) = verdict { reason } else { String::new() };
            let separator = if earlier_reason.is_empty() { "" } else { "; " };
            (Verdict::Ask(format!("{earlier_reason}{separator}{new_reason}")), true)
        }
        (ReviewVerdict::Allow, Verdict::Ask(_)) if !must_ask && matches!(reviewer, Reviewer::Hook(_)) => {
            (Verdict::Allow(format!("{reviewer_name} allows it{reason_suffix}")), false)
        }
        (ReviewVerdict::Allow, verdict) => (verdict, must_ask),
    }
}
