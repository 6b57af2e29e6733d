//! From a call to its outcome.

use super::printed::Printed;
use super::state::{Pending, State, Step};
use super::{Desk, Effect, Event, Phase, Waiting, ahead, consulting, editing, offered, sub_agent, thinking};
use crate::chat::{
    Access, Answer, By, CallId, Decision, Digest, Ending, Entry, How, Intent, Outcome, Plan, Questions,
    Staged, ToolCall, TurnId, Work,
};
use crate::policy::{LeftOut, Verdict, judge, may_disclose};
use std::time::Duration;

/// After this many failures in a row, the same call with the same arguments is refused unseen.
const FAILURES: u32 = 3;

/// Takes up the calls of a reply.
pub(super) fn begin(desk: &mut Desk<'_>, turn: TurnId, calls: Vec<ToolCall>) {
    let pending = |call| Pending {
        call,
        step: Step::Waiting,
        before: None,
        changes: false,
        ahead: ahead::Ahead::default(),
        output: String::new(),
        printed: Printed::default(),
    };
    (desk.state.brought, desk.state.listed) = (None, false);
    desk.state.phase = Phase::Acting { turn, calls: calls.into_iter().map(pending).collect() };
    advance(desk);
}

/// Starts whatever can start. Calls are planned one after the other; reads and sub-agents then run side by side, and a call that
/// may change something is planned once everything before it is settled, so that no plan is made against a folder
/// which an earlier call is about to change.
pub(super) fn advance(desk: &mut Desk<'_>) {
    sub_agent::begin(desk);
    loop {
        let Phase::Acting { turn, calls } = &mut desk.state.phase else { return };
        let turn = *turn;
        let mut settled = true;
        let mut next = None;
        for (index, pending) in calls.iter().enumerate() {
            match &pending.step {
                Step::Settled => {}
                Step::Running(plan) if is_read(plan) => settled = false,
                Step::Delegated(_) => settled = false,
                // A look that began before its turn does not count, and must not be taken for the one that does.
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
                true if desk.state.offered => desk.end(Ending::Finished),
                true => thinking::ask(desk, turn),
                false => {}
            }
            return;
        };
        let call = calls[index].call.clone();
        if desk.state.failures(&call) < FAILURES {
            if let Some(pending) = desk.state.pending_mut(&call.id) {
                pending.step = Step::Planning;
            }
            desk.effects.push(Effect::Plan { turn, call });
            return;
        }
        let words = format!(
            "STOP: this call of {} failed {FAILURES} times with the same arguments and was not tried again. Do something else, or say what is in the way.",
            call.name
        );
        unstarted(desk, &call.id, Outcome::Refused(words));
    }
}

fn is_read(plan: &Plan) -> bool {
    matches!(plan.access, Access::Nothing | Access::Read(_))
}

/// Whether it reads and does nothing else, wherever that is.
fn only_reads(plan: &Plan) -> bool {
    is_read(plan) || matches!(plan.access, Access::ReadSensitive(_))
}

/// A tool has looked at a call.
pub(super) fn planned(desk: &mut Desk<'_>, call: &CallId, intent: Result<Intent, String>) {
    let brought = desk.state.brought.as_ref() == Some(call);
    let Some(pending) = desk.state.pending_mut(call) else { return };
    if pending.ahead.looking {
        ahead::looked(desk, call, intent);
        return advance(desk);
    }
    if pending.step != Step::Planning {
        return;
    }
    if let Some(before) = pending.before.take() {
        editing::looked(desk, *before, intent);
        return advance(desk);
    }
    if brought {
        ahead::planned(desk, call, intent);
        return advance(desk);
    }
    if let Some(yes) = pending.ahead.yes.take() {
        ahead::still(desk, call, &yes, intent);
        return advance(desk);
    }
    match intent {
        Err(words) => unstarted(desk, call, Outcome::Failed(words)),
        Ok(Intent::Ask(questions)) => asked(desk, call, questions),
        Ok(Intent::Act(plan)) => judged(desk, call, plan),
    }
    advance(desk);
}

/// The call asks the person: it waits for the answer.
pub(super) fn asked(desk: &mut Desk<'_>, id: &CallId, questions: Questions) {
    let Some(pending) = desk.state.pending_mut(id) else { return };
    pending.step = Step::ForAnswer(questions.clone());
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, &questions);
    desk.keep(Entry::Asked { call: id.clone(), questions, sha256 });
}

pub(super) fn judged(desk: &mut Desk<'_>, id: &CallId, mut plan: Box<Plan>) {
    let brought = desk.state.brought.as_ref() == Some(id);
    let edited = desk.state.session.call(id).is_some_and(|call| call.edited.is_some());
    let earlier_settled = desk
        .state
        .pending()
        .iter()
        .take_while(|other| other.call.id != *id)
        .all(|other| other.step == Step::Settled);
    let Some(pending) = desk.state.pending_mut(id) else { return };
    if !is_read(&plan) && !earlier_settled && !brought {
        // It was planned beside reads that still run. It will be planned again when they are through.
        pending.changes = true;
        pending.step = Step::Waiting;
        return;
    }
    let again = std::mem::take(&mut pending.ahead.again);
    let call = pending.call.clone();
    let circles = desk.state.repeats.asks(&call);
    offered::judge_items(desk, &call.name, &mut plan);
    let verdict = judge(&desk.state.policy, desk.granted(), &desk.state.rules, &call.name, &plan);
    let verdict = match offered::asks(desk.state.offered, verdict) {
        Verdict::Allow(_) | Verdict::Rehearse(_) | Verdict::Withhold(_)
            if let Some(words) = sub_agent::refusal(desk.state, &plan) =>
        {
            Verdict::Refuse(words)
        }
        // Whoever changed it sees what came of that before it runs.
        Verdict::Allow(_) if edited => Verdict::Ask("you changed its arguments".to_owned()),
        // A model that turns in a circle does not see that it does.
        Verdict::Allow(_) if let Some(words) = &circles => Verdict::Ask(words.clone()),
        Verdict::Ask(reason) if again => {
            Verdict::Ask(format!("{reason}. It is no longer what you said yes to"))
        }
        verdict => verdict,
    };
    // What the person changed, brought, was offered or wants to see again is theirs to decide, and so is whether a circle
    // goes on.
    let theirs = edited || again || brought || circles.is_some() || desk.state.offered;
    consulting::begin(desk, id, plan, verdict, theirs);
}

/// The verdict over a call stands.
pub(super) fn concluded(desk: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, verdict: Verdict) {
    let Some(call) = desk.state.pending_mut(id).map(|pending| pending.call.clone()) else { return };
    desk.keep(Entry::Planned {
        call: id.clone(),
        title: plan.title.clone(),
        summary: plan.summary.clone(),
        access: plan.access.clone(),
        preview: Box::new(plan.preview.clone()),
        destroys: plan.destroys.clone(),
        basis: Box::new(plan.basis.clone()),
        verdict: verdict.word().to_owned(),
        why: verdict.why().to_owned(),
        hooks_not_run: consulting::hooks_not_run(desk.state, &call.name, &plan, &verdict),
        sha256: digest(&call, &plan),
    });
    match verdict {
        Verdict::Allow(_) | Verdict::Rehearse(_) => {
            let approved =
                may_disclose(&desk.state.policy, desk.granted(), &desk.state.rules, &call.name, &plan);
            start(desk, call, plan, approved);
        }
        Verdict::Withhold(withheld) => {
            desk.state.brought.take_if(|brought| brought == id);
            let told = match desk.state.tells_nothing {
                true => format!("This cannot be looked at here: {} ({}).", plan.summary, call.name),
                false => withheld.told(),
            };
            let withheld = Some(Staged::simulated(How::Withheld));
            settle(desk, id, (Outcome::Rehearsed(told), withheld), Duration::ZERO, Digest::default());
        }
        Verdict::Ask(reason) => {
            let reason = desk.state.on_card(reason, &plan);
            if let Some(pending) = desk.state.pending_mut(id) {
                pending.step = Step::ForApproval(plan, reason);
            }
        }
        Verdict::Refuse(words) => {
            desk.state.brought.take_if(|brought| brought == id);
            unstarted(desk, id, Outcome::Refused(words));
        }
    }
}

/// Lets a call run: for real, or on the stage alone in a dry run, where `Act` is never made. `approved` is [`Effect::Rehearse`]'s.
pub(super) fn start(desk: &mut Desk<'_>, call: ToolCall, plan: Box<Plan>, approved: bool) {
    let Some(turn) = desk.state.turn() else { return };
    if let Work::Task(task) = &plan.work {
        return sub_agent::hand(desk, &call.id, task, digest(&call, &plan));
    }
    if let Some(pending) = desk.state.pending_mut(&call.id) {
        pending.step = Step::Running(plan.clone());
    }
    let left_out = LeftOut::of(&desk.state.rules, &call.name);
    desk.effects.push(match desk.state.is_dry_run() {
        true => Effect::Rehearse { turn, call, plan, left_out, approved },
        false => Effect::Act { turn, call, plan, left_out },
    });
}

/// Whether a decision may be taken: a yes or an edit is for the call whose card is there, and a yes for one call is
/// never a yes for another. A no is taken for any. Other events are no decisions.
pub(super) fn may_decide(state: &State, event: &Event) -> bool {
    let Event::Decided { call: id, decision, .. } = event else { return true };
    let is_card = |waiting| matches!(waiting, Waiting::Approval { call, .. } if call.id == *id);
    matches!(decision, Decision::Deny(_)) || state.waiting().is_some_and(is_card)
}

/// A call was decided. Anything but one that waits, and a no before its turn, changes nothing.
pub(super) fn decided(desk: &mut Desk<'_>, id: &CallId, decision: Decision, by: By) {
    let first = desk.state.pending().iter().find(|pending| pending.step != Step::Settled);
    let early =
        first.is_some_and(|pending| pending.call.id != *id) && desk.state.brought.as_ref() == Some(id);
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let call = pending.call.clone();
    let mut plan = match &pending.step {
        Step::ForApproval(plan, _) => plan.clone(),
        // A no needs no look, so the list takes it for any call whose turn has not come.
        Step::Waiting if matches!(decision, Decision::Deny(_)) => return refused(desk, id, decision, by),
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
        // Nothing else has parts, and an approval of a part is none of the whole.
        return;
    }
    match decision {
        Decision::Edited(arguments) => return editing::begin(desk, id, arguments, by),
        Decision::Once | Decision::Always(_) | Decision::Selected(_) if early => {
            ahead::kept(desk, id, plan, decision, by);
            return advance(desk);
        }
        Decision::Deny(_) => return refused(desk, id, decision, by),
        Decision::Once | Decision::Always(_) | Decision::Selected(_) => desk.state.repeats.allow(&call),
    }
    (desk.state.brought, desk.state.listed) = (None, false);
    let sha256 = digest(&call, &plan);
    desk.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    start(desk, call, plan, true);
    advance(desk);
}

/// A no to a call that has not begun.
fn refused(desk: &mut Desk<'_>, id: &CallId, decision: Decision, by: By) {
    if desk.state.brought.as_ref() == Some(id) {
        desk.state.brought = None;
    }
    let Decision::Deny(words) = &decision else { return };
    let words = words.trim();
    let told = if by == By::Nobody {
        "Nobody was there to say yes, and nothing was done. Nobody will come: do not try the same thing another way; go on without it, and say at the end what is left to do.".to_owned()
    } else if words.is_empty() {
        "The person said no. Nothing was done. Do not try the same thing another way; ask what they want, or go on without it.".to_owned()
    } else {
        format!("The person said no, and nothing was done. Their words: {words}")
    };
    // A no in the list is given without a card, over nothing that was shown whole.
    let seen = desk.state.pending().iter().find(|pending| pending.call.id == *id);
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
    desk.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    unstarted(desk, id, Outcome::Refused(told));
    advance(desk);
}

/// The waiting questions were answered.
pub(super) fn answered(desk: &mut Desk<'_>, id: &CallId, answer: Answer, by: By) {
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let Step::ForAnswer(questions) = &pending.step else { return };
    let result = answer.result(questions);
    let sha256 = Digest::of_questions(&pending.call.name, &pending.call.arguments, questions);
    if desk.state.brought.as_ref() == Some(id) {
        desk.state.brought = None;
    }
    desk.keep(Entry::Answered { call: id.clone(), answer, by: Some(by), sha256 });
    unstarted(desk, id, Outcome::Done(result));
    advance(desk);
}

/// A running call came to its end.
pub(super) fn finished(
    desk: &mut Desk<'_>,
    id: &CallId,
    (outcome, staged): (Outcome, Option<Staged>),
    took: Duration,
) {
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let Step::Running(plan) = &pending.step else { return };
    let outcome = match outcome {
        // Reading is the same in a rehearsal as in life.
        Outcome::Rehearsed(text) if only_reads(plan) && !matches!(staged, Some(Staged::Simulated(_))) => {
            (Outcome::Done(text), None)
        }
        other => (other, staged),
    };
    let sha256 = digest(&pending.call, plan);
    let (call, changed) = (pending.call.clone(), !is_read(plan));
    desk.state.repeats.count(&call, &outcome.0, changed);
    settle(desk, id, outcome, took, sha256);
    // What was seen of the others before this may not hold any more.
    if let Phase::Acting { calls, .. } = &mut desk.state.phase {
        calls.iter_mut().for_each(|pending| pending.ahead.look = None);
    }
    advance(desk);
}

/// Over what a call is decided and run.
pub(super) fn digest(call: &ToolCall, plan: &Plan) -> Digest {
    Digest::of_act(&call.name, &call.arguments, plan.told())
}

/// Ends a call that never ran.
pub(super) fn unstarted(desk: &mut Desk<'_>, id: &CallId, outcome: Outcome) {
    settle(desk, id, (outcome, None), Duration::ZERO, Digest::default());
}

/// Ends one call, once.
pub(super) fn settle(
    desk: &mut Desk<'_>,
    id: &CallId,
    (outcome, staged): (Outcome, Option<Staged>),
    took: Duration,
    sha256: Digest,
) {
    let Some(pending) = desk.state.pending_mut(id) else { return };
    if pending.step == Step::Settled {
        return;
    }
    pending.step = Step::Settled;
    (pending.output, pending.printed) = (String::new(), Printed::default());
    let call = pending.call.clone();
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => desk.state.count_failure(&call, false),
        Outcome::Failed(_) => desk.state.count_failure(&call, true),
        // It was not tried, so nothing is known anew: a refusal must not open the way for the same call again.
        Outcome::Refused(_) | Outcome::Interrupted(_) => {}
    }
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    desk.keep(Entry::Settled { call: id.clone(), outcome, took_ms, sha256, staged });
}
