//! Execution of calls: planning, verdict, decision, run and outcome.

use super::printed::Printed;
use super::state::{Pending, State, Step};
use super::{Desk, Effect, Event, Phase, Waiting, ahead, consulting, editing, offered, sub_agent, thinking};
use crate::chat::{
    Access, Answer, By, CallId, Decision, Digest, Ending, Entry, How, Intent, Outcome, Plan, Questions,
    Staged, ToolCall, TurnId, Work,
};
use crate::policy::{LeftOut, Verdict, judge, may_disclose};
use std::time::Duration;

/// Number of failures in a row after which the same call with the same arguments is refused without planning.
const FAILURES: u32 = 3;

/// Starts carrying out the calls of a reply.
pub(super) fn begin(ctx: &mut Desk<'_>, turn: TurnId, calls: Vec<ToolCall>) {
    let pending = |call| Pending {
        call,
        step: Step::Waiting,
        before: None,
        changes: false,
        ahead: ahead::Ahead::default(),
        output: String::new(),
        printed: Printed::default(),
    };
    (ctx.state.brought, ctx.state.listed) = (None, false);
    ctx.state.phase = Phase::Acting { turn, calls: calls.into_iter().map(pending).collect() };
    advance(ctx);
}

/// Starts every call that can start. Calls are planned one after the other. Reads and sub-agents then run in parallel.
/// A call that may change something is planned only after everything before it is settled, so that no plan is based on
/// files that an earlier call is about to change.
pub(super) fn advance(ctx: &mut Desk<'_>) {
    sub_agent::begin(ctx);
    loop {
        let Phase::Acting { turn, calls } = &mut ctx.state.phase else { return };
        let turn = *turn;
        let mut settled = true;
        let mut next = None;
        for (index, pending) in calls.iter().enumerate() {
            match &pending.step {
                Step::Settled => {}
                Step::Running(plan) if is_read(plan) => settled = false,
                Step::Delegated(_) => settled = false,
                // A plan started before its turn does not count and must not be mistaken for the one that does.
                Step::Waiting if pending.ahead.looking => return,
                Step::Waiting if settled || !pending.changes && !pending.ahead.has_yes() => {
                    next = Some(index);
                    break;
                }
                Step::Waiting
                | Step::Planning
                | Step::Consulting(_)
                | Step::ForApproval(..)
                | Step::ForAnswer(_)
                | Step::Running(_) => return,
            }
        }
        let Some(index) = next else {
            match settled {
                true if ctx.state.offered => ctx.end(Ending::Finished),
                true => thinking::ask(ctx, turn),
                false => {}
            }
            return;
        };
        let call = calls[index].call.clone();
        if ctx.state.failures(&call) < FAILURES {
            if let Some(pending) = ctx.state.pending_mut(&call.id) {
                pending.step = Step::Planning;
            }
            ctx.effects.push(Effect::Plan { turn, call });
            return;
        }
        let words = format!(
            "Refused: this call of {} failed {FAILURES} times with the same arguments. It was not run. Try something else or report the obstacle.",
            call.name
        );
        unstarted(ctx, &call.id, Outcome::Refused(words));
    }
}

fn is_read(plan: &Plan) -> bool {
    matches!(plan.access, Access::Nothing | Access::Read(_))
}

/// Returns whether the plan only reads, inside or outside the project.
fn only_reads(plan: &Plan) -> bool {
    is_read(plan) || matches!(plan.access, Access::ReadSensitive(_))
}

/// Handles the plan of a call.
pub(super) fn planned(ctx: &mut Desk<'_>, call: &CallId, intent: Result<Intent, String>) {
    let brought = ctx.state.brought.as_ref() == Some(call);
    let Some(pending) = ctx.state.pending_mut(call) else { return };
    if pending.ahead.looking {
        ahead::looked(ctx, call, intent);
        return advance(ctx);
    }
    if pending.step != Step::Planning {
        return;
    }
    if let Some(before) = pending.before.take() {
        editing::looked(ctx, *before, intent);
        return advance(ctx);
    }
    if brought {
        ahead::planned(ctx, call, intent);
        return advance(ctx);
    }
    if let Some(yes) = pending.ahead.yes.take() {
        ahead::still(ctx, call, &yes, intent);
        return advance(ctx);
    }
    match intent {
        Err(words) => unstarted(ctx, call, Outcome::Failed(words)),
        Ok(Intent::Ask(questions)) => asked(ctx, call, questions),
        Ok(Intent::Act(plan)) => judged(ctx, call, plan),
    }
    advance(ctx);
}

/// Shows the questions of a call; the call waits for the answers.
pub(super) fn asked(ctx: &mut Desk<'_>, id: &CallId, questions: Questions) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    pending.step = Step::ForAnswer(questions.clone());
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, &questions);
    ctx.keep(Entry::Asked { call: id.clone(), questions, sha256 });
}

pub(super) fn judged(ctx: &mut Desk<'_>, id: &CallId, mut plan: Box<Plan>) {
    let brought = ctx.state.brought.as_ref() == Some(id);
    let edited = ctx.state.session.call(id).is_some_and(|call| call.edited.is_some());
    let earlier_settled = ctx
        .state
        .pending()
        .iter()
        .take_while(|other| other.call.id != *id)
        .all(|other| other.step == Step::Settled);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if !is_read(&plan) && !earlier_settled && !brought {
        // It was planned while earlier reads run. It will be planned again when they are settled.
        pending.changes = true;
        pending.step = Step::Waiting;
        return;
    }
    let again = std::mem::take(&mut pending.ahead.again);
    let call = pending.call.clone();
    let circles = ctx.state.repeats.asks(&call);
    offered::judge_items(ctx, &call.name, &mut plan);
    let verdict = judge(&ctx.state.policy, ctx.granted(), &ctx.state.rules, &call.name, &plan);
    let verdict = match offered::asks(ctx.state.offered, verdict) {
        Verdict::Allow(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)
            if let Some(words) = sub_agent::refusal(ctx.state, &plan) =>
        {
            Verdict::Refuse(words)
        }
        // The user sees the result of an edit before it runs.
        Verdict::Allow(_) if edited => Verdict::Ask("edited arguments".to_owned()),
        // A model in a loop does not notice it.
        Verdict::Allow(_) if let Some(words) = &circles => Verdict::Ask(words.clone()),
        Verdict::Ask(reason) if again => Verdict::Ask(format!("{reason}. Changed since you approved it")),
        verdict => verdict,
    };
    // Calls that the user edited, opened early, applies or has to see again are the user's decision. So are repeated
    // calls.
    let theirs = edited || again || brought || circles.is_some() || ctx.state.offered;
    consulting::begin(ctx, id, plan, verdict, theirs);
}

/// Applies the final verdict of a call.
pub(super) fn concluded(ctx: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict) {
    let Some(call) = ctx.state.pending_mut(id).map(|pending| pending.call.clone()) else { return };
    ctx.keep(Entry::Planned {
        call: id.clone(),
        title: plan.title.clone(),
        summary: plan.summary.clone(),
        access: plan.access.clone(),
        preview: Box::new(plan.preview.clone()),
        destroys: plan.destroys.clone(),
        basis: Box::new(plan.basis.clone()),
        verdict: verdict.word().to_owned(),
        why: verdict.why().to_owned(),
        hooks_not_run: consulting::hooks_not_run(ctx.state, &call.name, &plan, &verdict),
        sha256: digest(&call, &plan),
    });
    match verdict {
        Verdict::Allow(_) | Verdict::Rehearse(_) => {
            let approved =
                may_disclose(&ctx.state.policy, ctx.granted(), &ctx.state.rules, &call.name, &plan);
            start(ctx, call, plan, approved);
        }
        Verdict::Withhold(withheld) => {
            ctx.state.brought.take_if(|brought| brought == id);
            let told = match ctx.state.tells_nothing {
                true => format!("Not readable here: {} ({}).", plan.summary, call.name),
                false => withheld.told(),
            };
            let withheld = Some(Staged::simulated(How::Withheld));
            settle(ctx, id, (Outcome::Rehearsed(told), withheld), Duration::ZERO, Digest::default());
        }
        Verdict::Ask(reason) => {
            let reason = ctx.state.on_card(reason, &plan);
            if let Some(pending) = ctx.state.pending_mut(id) {
                pending.step = Step::ForApproval(plan, reason);
            }
        }
        Verdict::Refuse(words) => {
            ctx.state.brought.take_if(|brought| brought == id);
            unstarted(ctx, id, Outcome::Refused(words));
        }
    }
}

/// Starts a call: live, or in a dry run as a rehearsal, which never emits `Act`. For `approved` see
/// [`Effect::Rehearse`].
pub(super) fn start(ctx: &mut Desk<'_>, call: ToolCall, plan: Box<Plan>, approved: bool) {
    let Some(turn) = ctx.state.turn() else { return };
    if let Work::Task(task) = &plan.work {
        return sub_agent::hand(ctx, &call.id, task, digest(&call, &plan));
    }
    if let Some(pending) = ctx.state.pending_mut(&call.id) {
        pending.step = Step::Running(plan.clone());
    }
    let left_out = LeftOut::of(&ctx.state.rules, &call.name);
    ctx.effects.push(match ctx.state.is_dry_run() {
        true => Effect::Rehearse { turn, call, plan, left_out, approved },
        false => Effect::Act { turn, call, plan, left_out },
    });
}

/// Returns whether an event may be handled. An approval or an edit is accepted only for the call whose prompt is shown,
/// so that no approval reaches another call. A denial is accepted for any call. All other events are accepted.
pub(super) fn may_decide(state: &State, event: &Event) -> bool {
    let Event::Decided { call: id, decision, .. } = event else { return true };
    let is_card = |waiting| matches!(waiting, Waiting::Approval { call, .. } if call.id == *id);
    matches!(decision, Decision::Deny(_)) || state.waiting().is_some_and(is_card)
}

/// Handles a decision. Ignored unless the call waits, or it is a denial before the call's turn.
pub(super) fn decided(ctx: &mut Desk<'_>, id: &CallId, decision: Decision, by: By) {
    let first = ctx.state.pending().iter().find(|pending| pending.step != Step::Settled);
    let early = first.is_some_and(|pending| pending.call.id != *id) && ctx.state.brought.as_ref() == Some(id);
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let call = pending.call.clone();
    let mut plan = match &pending.step {
        Step::ForApproval(plan, _) => plan.clone(),
        // A denial needs no plan, so the queue accepts it for any call whose turn has not come.
        Step::Waiting if matches!(decision, Decision::Deny(_)) => return refused(ctx, id, decision, by),
        Step::Waiting
        | Step::Planning
        | Step::Consulting(_)
        | Step::ForAnswer(_)
        | Step::Running(_)
        | Step::Delegated(_)
        | Step::Settled => return,
    };
    if let Decision::Selected(rejected) = &decision
        && !plan.reject(rejected)
    {
        // Only a batch has parts, and approving a part does not approve the whole.
        return;
    }
    match decision {
        Decision::Edited(arguments) => return editing::begin(ctx, id, arguments, by),
        Decision::Once | Decision::Always(_) | Decision::Selected(_) if early => {
            ahead::kept(ctx, id, plan, decision, by);
            return advance(ctx);
        }
        Decision::Deny(_) => return refused(ctx, id, decision, by),
        Decision::Once | Decision::Always(_) | Decision::Selected(_) => ctx.state.repeats.allow(&call),
    }
    (ctx.state.brought, ctx.state.listed) = (None, false);
    let sha256 = digest(&call, &plan);
    ctx.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    start(ctx, call, plan, true);
    advance(ctx);
}

/// Records the denial of a call that has not started.
fn refused(ctx: &mut Desk<'_>, id: &CallId, decision: Decision, by: By) {
    if ctx.state.brought.as_ref() == Some(id) {
        ctx.state.brought = None;
    }
    let Decision::Deny(words) = &decision else { return };
    let words = words.trim();
    let told = if by == By::Nobody {
        "Denied: no interactive user is available to approve this call. It was not run. Do not retry it in another form; continue without it and list it as remaining work.".to_owned()
    } else if words.is_empty() {
        "The user denied this call. It was not run. Do not retry it in another form; ask the user or continue without it.".to_owned()
    } else {
        format!("The user denied this call: {words}\nIt was not run. Do not retry it in another form.")
    };
    // A denial from the queue has no prompt, so nothing was shown completely and there is no digest.
    let seen = ctx.state.pending().iter().find(|pending| pending.call.id == *id);
    let sha256 = seen.map_or_else(Digest::default, |pending| match &pending.step {
        Step::ForApproval(plan, _) => digest(&pending.call, plan),
        Step::Waiting
        | Step::Planning
        | Step::Consulting(_)
        | Step::ForAnswer(_)
        | Step::Running(_)
        | Step::Delegated(_)
        | Step::Settled => Digest::default(),
    });
    ctx.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    unstarted(ctx, id, Outcome::Refused(told));
    advance(ctx);
}

/// Handles the answers to a call's questions.
pub(super) fn answered(ctx: &mut Desk<'_>, id: &CallId, answer: Answer, by: By) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let Step::ForAnswer(questions) = &pending.step else { return };
    let result = answer.result(questions);
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, questions);
    if ctx.state.brought.as_ref() == Some(id) {
        ctx.state.brought = None;
    }
    ctx.keep(Entry::Answered { call: id.clone(), answer, by: Some(by), sha256 });
    unstarted(ctx, id, Outcome::Done(result));
    advance(ctx);
}

/// Handles the end of a running call.
pub(super) fn finished(
    ctx: &mut Desk<'_>,
    id: &CallId,
    (outcome, staged): (Outcome, Option<Staged>),
    took: Duration,
) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let Step::Running(plan) = &pending.step else { return };
    let outcome = match outcome {
        // A read returns the same in a dry run as live.
        Outcome::Rehearsed(text) if only_reads(plan) && !matches!(staged, Some(Staged::Simulated(_))) => {
            (Outcome::Done(text), None)
        }
        other => (other, staged),
    };
    let sha256 = digest(&pending.call, plan);
    let (call, changed) = (pending.call.clone(), !is_read(plan));
    ctx.state.repeats.count(&call, &outcome.0, changed);
    settle(ctx, id, outcome, took, sha256);
    // Previews of the other calls may be outdated now.
    if let Phase::Acting { calls, .. } = &mut ctx.state.phase {
        calls.iter_mut().for_each(|pending| pending.ahead.look = None);
    }
    advance(ctx);
}

/// Returns the digest of what is decided on and run.
pub(super) fn digest(call: &ToolCall, plan: &Plan) -> Digest {
    Digest::of_act(&call.name, &call.arguments, plan.told())
}

/// Settles a call that never ran.
pub(super) fn unstarted(ctx: &mut Desk<'_>, id: &CallId, outcome: Outcome) {
    settle(ctx, id, (outcome, None), Duration::ZERO, Digest::default());
}

/// Settles a call; ignored if it is settled.
pub(super) fn settle(
    ctx: &mut Desk<'_>,
    id: &CallId,
    (outcome, staged): (Outcome, Option<Staged>),
    took: Duration,
    sha256: Digest,
) {
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if pending.step == Step::Settled {
        return;
    }
    pending.step = Step::Settled;
    (pending.output, pending.printed) = (String::new(), Printed::default());
    let call = pending.call.clone();
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => ctx.state.count_failure(&call, false),
        Outcome::Failed(_) => ctx.state.count_failure(&call, true),
        // The call was not run, so its failure count stays: a refusal must not allow the same call again.
        Outcome::Refused(_) | Outcome::Interrupted(_) => {}
    }
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    ctx.keep(Entry::Settled { call: id.clone(), outcome, took_ms, sha256, staged });
}
