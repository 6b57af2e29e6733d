//! Approvals given from the queue before a call's turn.
//!
//! Calls still run in the model's order. An early approval is stored with the plan it was given for; when the call's
//! turn comes the tool plans again, and the call runs only if the plan is unchanged. Otherwise the user is asked again.

use super::acting::{self, digest, judged, start, unstarted};
use super::state::Step;
use super::{Desk, Effect, offered};
use crate::chat::{Access, By, CallId, Decision, Entry, Intent, Outcome, Plan, Questions, Work};
use crate::policy::{Verdict, judge};

/// State of a call before its turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ahead {
    /// True while its tool plans for the queue view.
    pub(super) looking: bool,
    /// True if that plan is for outdated arguments and must be ignored.
    pub(super) dropped: bool,
    /// Result of the last plan for the queue view.
    pub look: Option<Look>,
    /// Approved plan.
    pub(super) yes: Option<Box<Plan>>,
    /// True if the user is asked a second time; adds a note to the reason.
    pub(super) again: bool,
}

/// Preview of a call in the queue. When its turn comes the plan may differ.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// The call would do something.
    Would {
        /// Short description.
        summary: String,
        access: Access,
        /// Description of what is destroyed, if anything.
        destroys: Option<String>,
        /// True if the call needs approval, as things are now.
        asks: bool,
    },
    /// The call asks the user this question.
    Question(String),
    /// The call cannot run as things are; error for the model.
    Fails(String),
}

impl Ahead {
    /// Returns whether the user has approved the call.
    pub fn has_yes(&self) -> bool {
        self.yes.is_some()
    }

    /// Returns the approved plan.
    pub fn yes(&self) -> Option<&Plan> {
        self.yes.as_deref()
    }
}

/// Handles the opening of the queue view: plans every waiting call, one after the other.
pub(super) fn listed(ctx: &mut Desk<'_>) {
    ctx.state.listed = true;
    look_on(ctx);
}

fn look_on(ctx: &mut Desk<'_>) {
    let Some(turn) = ctx.state.turn() else { return };
    if !ctx.state.listed || ctx.state.pending().iter().any(|pending| pending.ahead.looking) {
        return;
    }
    let unknown = |step: &Step, ahead: &Ahead| *step == Step::Waiting && ahead.look.is_none();
    let next = ctx.state.pending().iter().find(|pending| unknown(&pending.step, &pending.ahead));
    let Some(call) = next.map(|pending| pending.call.clone()) else {
        ctx.state.listed = false;
        return;
    };
    if let Some(pending) = ctx.state.pending_mut(&call.id) {
        pending.ahead.looking = true;
    }
    ctx.effects.push(Effect::Plan { turn, call });
}

/// Handles a plan made for the queue view.
pub(super) fn looked(ctx: &mut Desk<'_>, id: &CallId, intent: Result<Intent, String>) {
    if ctx.state.pending_mut(id).is_some_and(|pending| std::mem::take(&mut pending.ahead.dropped)) {
        return look_again(ctx, id);
    }
    if ctx.state.brought.as_ref() == Some(id) {
        if let Some(pending) = ctx.state.pending_mut(id) {
            pending.ahead.looking = false;
        }
        return planned(ctx, id, intent);
    }
    let look = look(ctx, id, &intent);
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.ahead.looking, pending.ahead.look) = (false, Some(look));
    }
    look_on(ctx);
}

/// Drops an outdated plan. Plans again if the user has opened the approval prompt meanwhile.
fn look_again(ctx: &mut Desk<'_>, id: &CallId) {
    let (brought, turn) = (ctx.state.brought.as_ref() == Some(id), ctx.state.turn());
    let (Some(turn), Some(pending)) = (turn, ctx.state.pending_mut(id)) else { return };
    pending.ahead.looking = false;
    if brought {
        pending.step = Step::Planning;
        let call = pending.call.clone();
        ctx.effects.push(Effect::Plan { turn, call });
    }
    look_on(ctx);
}

fn look(ctx: &Desk<'_>, id: &CallId, intent: &Result<Intent, String>) -> Look {
    match intent {
        Ok(Intent::Act(plan)) => Look::Would {
            summary: plan.summary.clone(),
            access: plan.access.clone(),
            destroys: plan.destroys.clone(),
            asks: matches!(verdict(ctx, id, plan), Some(Verdict::Ask(_))),
        },
        Ok(Intent::Ask(questions)) => Look::Question(first(questions)),
        Err(words) => Look::Fails(words.clone()),
    }
}

fn verdict(ctx: &Desk<'_>, id: &CallId, plan: &Plan) -> Option<Verdict> {
    let pending = ctx.state.pending().iter().find(|pending| pending.call.id == *id)?;
    Some(judge(&ctx.state.policy, ctx.granted(), &ctx.state.rules, &pending.call.name, plan))
}

fn first(questions: &Questions) -> String {
    questions.list.first().map(|question| question.text.clone()).unwrap_or_default()
}

/// Opens the approval prompt of this call before its turn, or returns to the call whose turn it is.
pub(super) fn brought(ctx: &mut Desk<'_>, id: Option<CallId>) {
    put_back(ctx);
    bring(ctx, id);
    // It may have become the turn of the call that went back to waiting.
    acting::advance(ctx);
}

fn bring(ctx: &mut Desk<'_>, id: Option<CallId>) {
    let Some(turn) = ctx.state.turn() else { return };
    let Some(pending) = id.as_ref().and_then(|id| ctx.state.pending_mut(id)) else { return };
    let asked = matches!(pending.step, Step::ForAnswer(_));
    if !asked && (pending.step != Step::Waiting || pending.ahead.yes.is_some()) {
        return;
    }
    if !asked && !pending.ahead.looking {
        pending.step = Step::Planning;
        let call = pending.call.clone();
        ctx.effects.push(Effect::Plan { turn, call });
    }
    ctx.state.brought = id;
}

/// Closes the prompt that was opened before its turn; its call waits as before.
fn put_back(ctx: &mut Desk<'_>) {
    let Some(id) = ctx.state.brought.take() else { return };
    let Some(pending) = ctx.state.pending_mut(&id) else { return };
    match pending.step {
        // Reviewers check it again when its turn comes.
        Step::ForApproval(..) | Step::Consulting(_) => pending.step = Step::Waiting,
        // The running plan now serves the queue view only; the plan of an edit is dropped.
        Step::Planning => {
            if let Some(before) = pending.before.take() {
                pending.call = before.call;
                pending.ahead.dropped = true;
            }
            (pending.step, pending.ahead.looking) = (Step::Waiting, true);
        }
        // A question stays open and waits behind the prompt of the call whose turn it is.
        Step::Waiting | Step::ForAnswer(_) | Step::Running(_) | Step::Delegated(_) | Step::Settled => {}
    }
}

/// Handles the plan of a call whose prompt the user opened early: shows the prompt if the call needs approval.
pub(super) fn planned(ctx: &mut Desk<'_>, id: &CallId, intent: Result<Intent, String>) {
    let look = look(ctx, id, &intent);
    let asks = matches!(&look, Look::Would { asks: true, .. });
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.ahead.look, pending.step) = (Some(look), Step::Waiting);
    }
    match intent {
        Ok(Intent::Act(plan)) if asks => judged(ctx, id, plan),
        Ok(Intent::Ask(questions)) => acting::asked(ctx, id, questions),
        Ok(_) | Err(_) => ctx.state.brought = None,
    }
}

/// Records an approval before the call's turn. The call still waits for those before it.
pub(super) fn kept(ctx: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, decision: Decision, by: By) {
    ctx.state.brought = None;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    let (call, sha256) = (pending.call.clone(), digest(&pending.call, &plan));
    ctx.state.repeats.allow(&call);
    ctx.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    if let Some(pending) = ctx.state.pending_mut(id) {
        (pending.step, pending.ahead.yes) = (Step::Waiting, Some(plan));
    }
}

/// Runs an approved call whose turn has come if the new plan equals the approved one; otherwise asks the user again.
pub(super) fn still(ctx: &mut Desk<'_>, id: &CallId, yes: &Plan, intent: Result<Intent, String>) {
    let plan = match intent {
        Ok(Intent::Act(mut plan)) => {
            if let Some(name) = ctx.state.pending_mut(id).map(|pending| pending.call.name.clone()) {
                offered::judge_items(ctx, &name, &mut plan);
            }
            if let Work::Batch(work) = &yes.work {
                let _ = plan.reject(&work.rejected);
            }
            plan
        }
        Ok(Intent::Ask(questions)) => return acting::asked(ctx, id, questions),
        Err(words) => return unstarted(ctx, id, Outcome::Failed(words)),
    };
    let refused = matches!(verdict(ctx, id, &plan), Some(Verdict::Refuse(_) | Verdict::Withhold(_)) | None);
    let same = *plan == *yes;
    let Some(pending) = ctx.state.pending_mut(id) else { return };
    if same && !refused {
        let call = pending.call.clone();
        return start(ctx, call, plan, true);
    }
    pending.ahead.again = true;
    let mut plan = plan;
    let _ = plan.reject(&[]);
    judged(ctx, id, plan);
}
