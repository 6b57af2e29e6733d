//! Calls looked at, and answered, before their turn: because the person has opened the list of what waits.
//!
//! Their order stays the model's. A yes that is given early is kept until everything before the call is settled; then its
//! tool looks again, and only the same plan starts.

use super::acting::{self, digest, judged, start, unstarted};
use super::state::Step;
use super::{Desk, Effect, offered};
use crate::chat::{Access, By, CallId, Decision, Entry, Intent, Outcome, Plan, Questions, Work};
use crate::policy::{Verdict, judge};

/// What is known of a call whose turn has not come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ahead {
    /// Its tool looks, for the list alone.
    pub(super) looking: bool,
    /// That look is at arguments which are no longer its own: it says nothing.
    pub(super) dropped: bool,
    /// What came of the last look.
    pub look: Option<Look>,
    /// What the person said yes to.
    pub(super) yes: Option<Box<Plan>>,
    /// Said behind the reason where the person is asked a second time.
    pub(super) again: bool,
}

/// What a look before its turn found of a call. When its turn comes it may be something else.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// It would do something.
    Would {
        /// In a few words.
        summary: String,
        /// How far it reaches.
        access: Access,
        /// What is destroyed, where something is.
        destroys: Option<String>,
        /// Whether a person has to say yes, as it looks now.
        asks: bool,
    },
    /// It asks the person this.
    Question(String),
    /// It could not be done as things are; in words for the model.
    Fails(String),
}

impl Ahead {
    /// Whether the person has said yes to it already.
    pub fn has_yes(&self) -> bool {
        self.yes.is_some()
    }

    /// What the person has said yes to already.
    pub fn yes(&self) -> Option<&Plan> {
        self.yes.as_deref()
    }
}

/// The person looks at the list of what waits: every call in it is looked at, one after the other.
pub(super) fn listed(desk: &mut Desk<'_>) {
    desk.state.listed = true;
    look_on(desk);
}

fn look_on(desk: &mut Desk<'_>) {
    let Some(turn) = desk.state.turn() else { return };
    if !desk.state.listed || desk.state.pending().iter().any(|pending| pending.ahead.looking) {
        return;
    }
    let unknown = |step: &Step, ahead: &Ahead| *step == Step::Waiting && ahead.look.is_none();
    let next = desk.state.pending().iter().find(|pending| unknown(&pending.step, &pending.ahead));
    let Some(call) = next.map(|pending| pending.call.clone()) else {
        desk.state.listed = false;
        return;
    };
    if let Some(pending) = desk.state.pending_mut(&call.id) {
        pending.ahead.looking = true;
    }
    desk.effects.push(Effect::Plan { turn, call });
}

/// What came of a look for the list.
pub(super) fn looked(desk: &mut Desk<'_>, id: &CallId, intent: Result<Intent, String>) {
    if desk.state.pending_mut(id).is_some_and(|pending| std::mem::take(&mut pending.ahead.dropped)) {
        return look_again(desk, id);
    }
    if desk.state.brought.as_ref() == Some(id) {
        if let Some(pending) = desk.state.pending_mut(id) {
            pending.ahead.looking = false;
        }
        return planned(desk, id, intent);
    }
    let look = look(desk, id, &intent);
    if let Some(pending) = desk.state.pending_mut(id) {
        (pending.ahead.looking, pending.ahead.look) = (false, Some(look));
    }
    look_on(desk);
}

/// A look that says nothing is over. Where the person wants the card by now, another one begins.
fn look_again(desk: &mut Desk<'_>, id: &CallId) {
    let (brought, turn) = (desk.state.brought.as_ref() == Some(id), desk.state.turn());
    let (Some(turn), Some(pending)) = (turn, desk.state.pending_mut(id)) else { return };
    pending.ahead.looking = false;
    if brought {
        pending.step = Step::Planning;
        let call = pending.call.clone();
        desk.effects.push(Effect::Plan { turn, call });
    }
    look_on(desk);
}

fn look(desk: &Desk<'_>, id: &CallId, intent: &Result<Intent, String>) -> Look {
    match intent {
        Ok(Intent::Act(plan)) => Look::Would {
            summary: plan.summary.clone(),
            access: plan.access.clone(),
            destroys: plan.destroys.clone(),
            asks: matches!(verdict(desk, id, plan), Some(Verdict::Ask(_))),
        },
        Ok(Intent::Ask(questions)) => Look::Question(first(questions)),
        Err(words) => Look::Fails(words.clone()),
    }
}

fn verdict(desk: &Desk<'_>, id: &CallId, plan: &Plan) -> Option<Verdict> {
    let pending = desk.state.pending().iter().find(|pending| pending.call.id == *id)?;
    Some(judge(&desk.state.policy, desk.granted(), &desk.state.rules, &pending.call.name, plan))
}

fn first(questions: &Questions) -> String {
    questions.list.first().map(|question| question.text.clone()).unwrap_or_default()
}

/// The person wants the card of this call before its turn, or that of the call whose turn it is.
pub(super) fn brought(desk: &mut Desk<'_>, id: Option<CallId>) {
    put_back(desk);
    bring(desk, id);
    // Meanwhile it may have become the turn of the call that went back.
    acting::advance(desk);
}

fn bring(desk: &mut Desk<'_>, id: Option<CallId>) {
    let Some(turn) = desk.state.turn() else { return };
    let Some(pending) = id.as_ref().and_then(|id| desk.state.pending_mut(id)) else { return };
    let asked = matches!(pending.step, Step::ForAnswer(_));
    if !asked && (pending.step != Step::Waiting || pending.ahead.yes.is_some()) {
        return;
    }
    if !asked && !pending.ahead.looking {
        pending.step = Step::Planning;
        let call = pending.call.clone();
        desk.effects.push(Effect::Plan { turn, call });
    }
    desk.state.brought = id;
}

/// The card that was brought before its turn goes; its call waits as it did.
fn put_back(desk: &mut Desk<'_>) {
    let Some(id) = desk.state.brought.take() else { return };
    let Some(pending) = desk.state.pending_mut(&id) else { return };
    match pending.step {
        // Whoever is asked about it is asked again when its turn comes.
        Step::ForApproval(..) | Step::Consulting(_) => pending.step = Step::Waiting,
        // The look that is under way counts for the list alone; so does one at an edit, which is dropped.
        Step::Planning => {
            if let Some(before) = pending.before.take() {
                pending.call = before.call;
                pending.ahead.dropped = true;
            }
            (pending.step, pending.ahead.looking) = (Step::Waiting, true);
        }
        // What was asked stays asked, and waits behind the card whose turn it is.
        Step::Waiting | Step::ForAnswer(_) | Step::Running(_) | Step::Delegated(_) | Step::Settled => {}
    }
}

/// The tool has looked at the call that was brought: its card, if there is anything to say yes to.
pub(super) fn planned(desk: &mut Desk<'_>, id: &CallId, intent: Result<Intent, String>) {
    let look = look(desk, id, &intent);
    let asks = matches!(&look, Look::Would { asks: true, .. });
    if let Some(pending) = desk.state.pending_mut(id) {
        (pending.ahead.look, pending.step) = (Some(look), Step::Waiting);
    }
    match intent {
        Ok(Intent::Act(plan)) if asks => judged(desk, id, plan),
        Ok(Intent::Ask(questions)) => acting::asked(desk, id, questions),
        Ok(_) | Err(_) => desk.state.brought = None,
    }
}

/// A yes before its turn: it is a fact, and the call waits for the ones before it.
pub(super) fn kept(desk: &mut Desk<'_>, id: &CallId, plan: Box<Plan>, decision: Decision, by: By) {
    desk.state.brought = None;
    let Some(pending) = desk.state.pending_mut(id) else { return };
    let (call, sha256) = (pending.call.clone(), digest(&pending.call, &plan));
    desk.state.repeats.allow(&call);
    desk.keep(Entry::Decided { call: id.clone(), decision, by, sha256 });
    if let Some(pending) = desk.state.pending_mut(id) {
        (pending.step, pending.ahead.yes) = (Step::Waiting, Some(plan));
    }
}

/// The turn of a call that has its yes has come, and its tool has looked again: the same plan starts, and of another
/// the person is asked again.
pub(super) fn still(desk: &mut Desk<'_>, id: &CallId, yes: &Plan, intent: Result<Intent, String>) {
    let plan = match intent {
        Ok(Intent::Act(mut plan)) => {
            if let Some(name) = desk.state.pending_mut(id).map(|pending| pending.call.name.clone()) {
                offered::judge_items(desk, &name, &mut plan);
            }
            if let Work::Batch(work) = &yes.work {
                let _ = plan.reject(&work.rejected);
            }
            plan
        }
        Ok(Intent::Ask(questions)) => return acting::asked(desk, id, questions),
        Err(words) => return unstarted(desk, id, Outcome::Failed(words)),
    };
    let refused = matches!(verdict(desk, id, &plan), Some(Verdict::Refuse(_) | Verdict::Withhold(_)) | None);
    let same = *plan == *yes;
    let Some(pending) = desk.state.pending_mut(id) else { return };
    if same && !refused {
        let call = pending.call.clone();
        return start(desk, call, plan, true);
    }
    pending.ahead.again = true;
    let mut plan = plan;
    let _ = plan.reject(&[]);
    judged(desk, id, plan);
}
