//! Reviews of a call by hooks and a model reviewer, after the verdict and before the call starts.
//!
//! A hook can deny a call, require approval for it, or replace an approval that a rule could have replaced too. The
//! strictest hook wins, in any order. The model reviewer comes last, sees only calls that would run, and can only
//! require approval. No reviewer lifts a denial. An invalid answer requires approval.

use super::Effect;
use super::call_settlement::digest_call;
use super::call_start::apply_verdict;
use super::reviewers::{PendingReview, ReviewContext, reads_inside_project};
use super::state::CallStage;
use super::update_context::UpdateContext;
use crate::chat::{Access, CallId, Entry, Plan, Reach, Review, ReviewVerdict, Reviewer};
use crate::policy::{Subject, Verdict, judge_plan};

/// Number of the latest user messages sent to the model reviewer.
const REVIEWED_MESSAGES: usize = 3;

/// Returns whether a hook may replace the user's approval of this plan: only if a grant could. Destructive, sensitive,
/// irreversible and unclear calls are always the user's decision.
fn can_hook_approve(plan: &Plan) -> bool {
    let within = match &plan.access {
        Access::Nothing | Access::Read(_) | Access::Write(_) => true,
        Access::ReadSensitive(_) | Access::WriteOutside(_) | Access::AyeFiles(_) => false,
        Access::Run(run) => match run.reach {
            Reach::Reads | Reach::Writes | Reach::Runs => !run.is_sensitive,
            Reach::Outside | Reach::Unclear | Reach::Denied => false,
        },
    };
    let keeps = plan.destroys.is_none() && plan.preconditions.hard_links.is_none();
    within && keeps && plan.grant.is_some() && !plan.preconditions.is_partial
}

/// Starts the review of a call after its verdict. Without reviewers the verdict takes effect at once. If `stays` is
/// set, no hook can lift the need for approval.
pub(super) fn start_review(ctx: &mut UpdateContext<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict, stays: bool) {
    // Nor can a hook override a rule that asks.
    let call = ctx.state.pending().iter().find(|pending| pending.call.id == *id);
    let asks = call.is_some_and(|pending| {
        let of = Subject::from_plan(&pending.call.name, &plan);
        !ctx.state.rules.permits_grants(&of)
    });
    let stays = stays || asks || !can_hook_approve(&plan);
    // Replaced below by the first reviewer.
    let adviser = Reviewer::Model;
    continue_review(
        ctx,
        id,
        PendingReview { plan, reviewer: adviser, verdict, hooks_done: 0, must_ask: stays, is_lifted: false, round: 0 },
    );
}

fn continue_review(ctx: &mut UpdateContext<'_>, id: &CallId, mut consulting: PendingReview) {
    let (Some(turn), Some(call)) = (ctx.state.current_turn(), ctx.state.pending_mut(id)) else { return };
    let call = call.call.clone();
    let Some(adviser) = next_reviewer(ctx, &call.name, &mut consulting) else {
        let PendingReview { plan, verdict, is_lifted: lifted, .. } = consulting;
        // Meanwhile the user may have chosen a narrower mode or revoked a grant.
        let now = judge_plan(&ctx.state.policy, ctx.session_grants(), &ctx.state.rules, &call.name, &plan);
        let lifted = lifted && ctx.state.rules.permits_grants(&Subject::from_plan(&call.name, &plan));
        let verdict = match (now, verdict) {
            (refused @ Verdict::Deny(_), _) | (Verdict::Withhold(_), refused @ Verdict::Deny(_)) => refused,
            (withheld @ Verdict::Withhold(_), _) => withheld,
            (asks @ Verdict::Ask(_), Verdict::Allow(_)) if !lifted => asks,
            (Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_), verdict) => verdict,
        };
        return apply_verdict(ctx, id, plan, verdict);
    };
    ctx.state.review_count += 1;
    (consulting.reviewer, consulting.round) = (adviser, ctx.state.review_count);
    let brief = ReviewContext {
        user_messages: if consulting.reviewer == Reviewer::Model { last_user_messages(ctx) } else { Vec::new() },
        reviewer: consulting.reviewer.clone(),
        verdict: consulting.verdict.as_str().to_owned(),
        reason: consulting.verdict.reason().to_owned(),
        mode: ctx.state.policy.mode.as_str(),
        dry_run: ctx.state.is_dry_run(),
    };
    let (round, plan) = (consulting.round, consulting.plan.clone());
    if let Some(pending) = ctx.state.pending_mut(id) {
        pending.step = CallStage::UnderReview(Box::new(consulting));
    }
    ctx.effects.push(Effect::ReviewCall { turn, call, plan, round, context: Box::new(brief) });
}

/// Returns the next reviewer; `None` if no reviewer could change the verdict.
fn next_reviewer(ctx: &UpdateContext<'_>, tool: &str, consulting: &mut PendingReview) -> Option<Reviewer> {
    if matches!(consulting.verdict, Verdict::Deny(_)) {
        return None;
    }
    let (advisers, dry_run) = (&ctx.state.reviewers, ctx.state.is_dry_run());
    while let Some(hook) = advisers.hooks.get(consulting.hooks_done) {
        consulting.hooks_done += 1;
        if (hook.in_dry_run || !dry_run) && hook.reviews_call(tool, &consulting.plan) {
            return Some(Reviewer::Hook(hook.name.clone()));
        }
    }
    let was_asked = consulting.hooks_done > advisers.hooks.len();
    // In a dry run no call has the verdict `allow`, so there is nothing to review.
    let would_go_ahead = matches!(consulting.verdict, Verdict::Allow(_)) && !reads_inside_project(&consulting.plan);
    if !advisers.has_model_reviewer || was_asked || !would_go_ahead {
        return None;
    }
    consulting.hooks_done += 1;
    Some(Reviewer::Model)
}

/// Returns the latest user messages, oldest first. In a sub-agent these are the messages of the turn, not the task,
/// which the model wrote.
fn last_user_messages(ctx: &UpdateContext<'_>) -> Vec<String> {
    let said = |entry: &Entry| if let Entry::UserMessage { text } = entry { Some(text.clone()) } else { None };
    let mut words: Vec<String> = ctx
        .parent_session
        .unwrap_or(&ctx.state.session)
        .entries()
        .iter()
        .rev()
        .filter_map(said)
        .take(REVIEWED_MESSAGES)
        .collect();
    words.reverse();
    words
}

/// Handles the answer of a reviewer.
pub(super) fn handle_review(ctx: &mut UpdateContext<'_>, id: &CallId, round: u64, said: Review) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let CallStage::UnderReview(consulting) = &pending.step else { return };
    if consulting.round != round {
        return;
    }
    let mut consulting = (**consulting).clone();
    let sha256 = digest_call(&pending.call, &consulting.plan);
    let Review { verdict: advice, reason: why, is_failed: failed, took_ms, usage } = said;
    // An answer that this reviewer may not give requires approval.
    let advice = if consulting.reviewer.allowed_verdicts().contains(&advice) { advice } else { ReviewVerdict::Ask };
    let (by, before) = (consulting.reviewer.clone(), consulting.verdict.as_str().to_owned());
    let asked = matches!(consulting.verdict, Verdict::Ask(_));
    (consulting.verdict, consulting.must_ask) =
        combine_advice(consulting.verdict, consulting.must_ask, &by, advice, &why, failed);
    consulting.is_lifted |= asked && matches!(consulting.verdict, Verdict::Allow(_));
    ctx.record_entry(Entry::Reviewed {
        call: id.clone(),
        reviewer: by,
        earlier_verdict: before,
        verdict: advice,
        reason: why,
        is_failed: failed,
        took_ms,
        usage,
        sha256,
    });
    continue_review(ctx, id, consulting);
    ctx.continue_calls();
}

/// Combines a verdict with the answer of a reviewer. Also returns whether the need for approval is now fixed.
fn combine_advice(
    verdict: Verdict,
    stays: bool,
    by: &Reviewer,
    advice: ReviewVerdict,
    why: &str,
    failed: bool,
) -> (Verdict, bool) {
    let who = by.display_name();
    let because = if why.is_empty() { String::new() } else { format!(": {why}") };
    match (advice, verdict) {
        (_, refused @ Verdict::Deny(_)) => (refused, true),
        (ReviewVerdict::Deny, Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)) => {
            let words = format!("Refused by {who}{because}. The call was not run. Do not retry it in another form.");
            (Verdict::Deny(words), true)
        }
        // A withheld call reads nothing, so no approval is needed.
        (ReviewVerdict::Ask, withheld @ Verdict::Withhold(_)) => (withheld, true),
        (ReviewVerdict::Ask, verdict) => {
            let words = match (failed, why.is_empty(), by) {
                (true, ..) => format!("{who} failed{because}"),
                (false, true, _) => format!("{who} requires approval"),
                (false, false, Reviewer::Hook(_)) => format!("{who}{because}"),
                // Quoted: the text the model read may have influenced its reason.
                (false, false, Reviewer::Model) => format!("{who}: “{why}”"),
            };
            let reason = match verdict {
                Verdict::Ask(reason) if !reason.is_empty() => format!("{reason}; {words}"),
                Verdict::Ask(_)
                | Verdict::Allow(_)
                | Verdict::Rehearse(_)
                | Verdict::Withhold(_)
                | Verdict::Deny(_) => words,
            };
            (Verdict::Ask(reason), true)
        }
        (ReviewVerdict::Allow, Verdict::Ask(_)) if !stays && matches!(by, Reviewer::Hook(_)) => {
            (Verdict::Allow(format!("{who} allows it{because}")), false)
        }
        (ReviewVerdict::Allow, verdict) => (verdict, stays),
    }
}
