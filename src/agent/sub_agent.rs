//! A sub-agent: a talk of its own beneath the turn, with the same model and under the same gate.
//!
//! It is the same machine once more. Its effects are the turn's, its facts are kept as facts beneath the call that handed
//! it the task, and what it says last is that call's outcome.

use super::state::{Pending, State, Step};
use super::{Desk, Effect, Event, Phase, acting, thinking};
use crate::chat::{
    CallId, Chunk, Digest, Ending, Entry, Outcome, Plan, Task, ToolSpec, TurnId, Work, shorten,
};
use std::time::Duration;

/// Sub-agents that work at once; another one waits for a place.
pub const AT_ONCE: usize = 4;
/// Tasks that one turn may hand to sub-agents.
pub const IN_A_TURN: u32 = 12;
/// Bytes of what a sub-agent tells the turn at most.
const LONGEST: usize = 16 << 10;

/// What every sub-agent is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The standing words to the model.
    pub system: String,
    /// What may be called. A sub-agent hands nothing on, whatever is offered here.
    pub tools: Vec<ToolSpec>,
}

/// One that works on a call, or will as soon as there is a place.
#[derive(Debug, Clone, PartialEq)]
pub struct SubAgent {
    /// What it goes by: one line, harmless to any terminal.
    pub name: String,
    /// Its talk, and what goes on in it.
    pub state: State,
    /// What it is told, until it begins.
    task: Option<String>,
    /// Over which bytes it was allowed.
    pub(super) sha256: Digest,
    /// What its replies and calls took, added up.
    worked: Duration,
}

impl SubAgent {
    /// One that has its task yet to begin, or goes on with the talk that the state holds.
    pub(super) fn new(name: String, state: State, task: Option<String>, sha256: Digest) -> Self {
        Self { name, state, task, sha256, worked: Duration::ZERO }
    }

    /// Whether it has begun: until then it waits for a place.
    pub fn has_begun(&self) -> bool {
        self.task.is_none()
    }
}

impl Pending {
    /// The sub-agent that works on it.
    pub fn sub_agent(&self) -> Option<&SubAgent> {
        if let Step::Delegated(sub_agent) = &self.step { Some(sub_agent) } else { None }
    }

    fn sub_agent_mut(&mut self) -> Option<&mut SubAgent> {
        if let Step::Delegated(sub_agent) = &mut self.step { Some(sub_agent) } else { None }
    }
}

impl State {
    /// The agent of a sub-agent of this one, before it was told its task; `None` beneath a turn.
    pub(super) fn beneath(&self) -> Option<Self> {
        let Offer { system, tools } = self.offer.clone()?;
        let mut state = Self::new(self.policy, self.model.clone(), system, tools);
        (state.window, state.turns) = (self.window, self.turns);
        state.advisers.clone_from(&self.advisers);
        state.instruct(self.instructions.clone());
        state.tells_each = self.tells_each;
        state.tells_nothing = self.tells_nothing;
        (state.unstaged, state.simulator) = (self.unstaged.clone(), self.simulator.clone());
        Some(state)
    }
}

impl State {
    /// Whether the request of a sub-agent failed and waits to be sent again.
    pub fn retries_beneath(&self) -> bool {
        self.pending().iter().filter_map(Pending::sub_agent).any(|it| match &it.state.phase {
            Phase::Thinking(draft) => draft.retrying.is_some(),
            Phase::Idle | Phase::Acting { .. } => false,
        })
    }
}

/// Why a plan that hands a task on cannot be taken up, in words for the model; `None` where it can, or does no such
/// thing.
pub(super) fn refusal(state: &State, plan: &Plan) -> Option<String> {
    match &plan.work {
        Work::Task(_) if state.offer.is_none() => {
            Some("A sub-agent has no sub-agents of its own. Do this part yourself.".to_owned())
        }
        Work::Task(_) if state.handed >= IN_A_TURN => Some(format!(
            "{IN_A_TURN} tasks were handed to sub-agents in this turn, which is the most. Do the rest yourself, or say what is left."
        )),
        Work::Task(_) | Work::Edit(_) | Work::Command(_) | Work::Arguments(_) | Work::Batch(_) => None,
    }
}

/// Hands the task of a call to a sub-agent, which begins as soon as there is a place.
pub(super) fn hand(desk: &mut Desk<'_>, id: &CallId, task: &Task, sha256: Digest) {
    let Some(state) = desk.state.beneath() else { return };
    desk.state.handed += 1;
    if let Some(pending) = desk.state.pending_mut(id) {
        let words = Some(task.words.clone());
        pending.step = Step::Delegated(Box::new(SubAgent::new(task.name.clone(), state, words, sha256)));
    }
}

/// Lets those begin that wait for a place, as far as there are places.
pub(super) fn begin(desk: &mut Desk<'_>) {
    loop {
        let all = || desk.state.pending().iter().filter_map(|it| Some((&it.call.id, it.sub_agent()?)));
        if all().filter(|(_, it)| it.has_begun()).count() >= AT_ONCE {
            return;
        }
        let Some(id) = all().find(|(_, it)| !it.has_begun()).map(|(id, _)| id.clone()) else { return };
        let sub_agent = desk.state.pending_mut(&id).and_then(Pending::sub_agent_mut);
        let Some(task) = sub_agent.and_then(|it| it.task.take()) else { return };
        within(desk, &id, |below| thinking::said(below, task));
    }
}

/// Hands an event to the sub-agent that it is for, and what is for everybody to each; gives back what the turn itself
/// is to take.
pub(super) fn hand_down(desk: &mut Desk<'_>, event: Event) -> Option<Event> {
    let runs = |turn: TurnId| move |state: &State| state.turn() == Some(turn);
    let has =
        |call: CallId| move |state: &State| state.pending().iter().any(|pending| pending.call.id == call);
    let to = match &event {
        Event::Chunk { turn, .. }
        | Event::Grew { turn }
        | Event::Failed { turn, .. }
        | Event::Planned { turn, .. }
        | Event::Consulted { turn, .. }
        | Event::Progressed { turn, .. }
        | Event::OutputDue { turn, .. }
        | Event::Finished { turn, .. } => whose(desk.state, runs(*turn)),
        Event::Decided { call, .. } | Event::Answered { call, .. } => whose(desk.state, has(call.clone())),
        Event::Listed | Event::Brought(_) | Event::Hurried => {
            for id in all(desk.state) {
                within(desk, &id, |below| super::take(below, event.clone()));
            }
            None
        }
        Event::Said(_)
        | Event::Offered(_)
        | Event::TakenBack
        | Event::Interrupted
        | Event::Titled(_)
        | Event::Named { .. }
        | Event::CompactionWanted
        | Event::WindowKnown(_)
        | Event::AskedAgain
        | Event::Switched { .. }
        | Event::Became { .. }
        | Event::RulesRead { .. }
        | Event::Instructed(_)
        | Event::TookBack { .. }
        | Event::ModeChanged(_) => None,
    };
    let Some(id) = to else { return Some(event) };
    if !acting::may_decide(desk.state, &event) {
        return None;
    }
    if let Some(sub_agent) = desk.state.pending_mut(&id).and_then(Pending::sub_agent_mut) {
        sub_agent.worked += took(&event);
    }
    within(desk, &id, |below| super::take(below, event));
    None
}

/// What an event says of the time that something took.
fn took(event: &Event) -> Duration {
    match event {
        Event::Chunk { chunk: Chunk::Done(_), after, .. } => *after,
        Event::Finished { took, .. } => *took,
        _ => Duration::ZERO,
    }
}

fn all(state: &State) -> Vec<CallId> {
    let handed = state.pending().iter().filter(|pending| pending.sub_agent().is_some());
    handed.map(|pending| pending.call.id.clone()).collect()
}

/// The call of the sub-agent of whose state this is so.
fn whose(state: &State, is: impl Fn(&State) -> bool) -> Option<CallId> {
    let of = |pending: &&Pending| pending.sub_agent().is_some_and(|it| is(&it.state));
    state.pending().iter().find(of).map(|pending| pending.call.id.clone())
}

/// The person stopped the turn: so does every sub-agent, in the same step.
pub(super) fn stop(desk: &mut Desk<'_>) {
    each(desk, super::interrupted);
}

/// Lets every sub-agent do this.
pub(super) fn each(desk: &mut Desk<'_>, does: fn(&mut Desk<'_>)) {
    for id in all(desk.state) {
        within(desk, &id, does);
    }
}

/// Lets a sub-agent's machine work, with what it has in common with the turn. What it keeps is kept beneath its call.
fn within(desk: &mut Desk<'_>, id: &CallId, does: impl FnOnce(&mut Desk<'_>)) {
    let State { session, phase, policy, rules, model, window, turns, instructions, .. } = &mut *desk.state;
    let Phase::Acting { calls, .. } = phase else { return };
    let mut found = calls.iter_mut().filter(|pending| pending.call.id == *id);
    let Some(sub_agent) = found.find_map(Pending::sub_agent_mut) else { return };
    let state = &mut sub_agent.state;
    (state.policy, state.window, state.turns) = (*policy, *window, *turns);
    state.rules.clone_from(rules);
    if state.instructions != *instructions {
        state.instruct(instructions.clone());
    }
    if state.model != *model {
        state.model.clone_from(model);
        state.measure.forget_window();
    }
    let mut below = Desk { state, above: Some(session), effects: Vec::new() };
    does(&mut below);
    let effects = below.effects;
    *turns = state.turns;
    desk.take_up(id, effects);
    ended(desk, id);
}

impl Desk<'_> {
    /// Does what a sub-agent wants done; its facts become facts beneath its call.
    pub(super) fn take_up(&mut self, id: &CallId, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Append(entry) => {
                    self.keep(Entry::Beneath { call: id.clone(), entry: Box::new(entry) });
                }
                Effect::KeepGrown(mut grown) => {
                    grown.beneath = Some(id.clone());
                    self.effects.push(Effect::KeepGrown(grown));
                }
                other => self.effects.push(other),
            }
        }
    }
}

/// Where a sub-agent came to its end, what it said is the outcome of its call.
fn ended(desk: &mut Desk<'_>, id: &CallId) {
    let Some(sub_agent) = desk.state.pending_mut(id).and_then(|pending| pending.sub_agent_mut()) else {
        return;
    };
    if !sub_agent.state.is_idle() || !sub_agent.has_begun() {
        return;
    }
    let entries = sub_agent.state.session.entries();
    let said = entries.iter().rev().find_map(|entry| match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let outcome = match entries.last() {
        Some(Entry::Ended { ending: Ending::Finished }) => {
            Outcome::Done(shorten::middle(said.unwrap_or_default(), LONGEST).into_owned())
        }
        Some(Entry::Ended { ending: Ending::Failed(why) }) => {
            let why = why.trim_end_matches('.');
            let said = said.map_or_else(String::new, |said| {
                format!(" What it said last:\n{}", shorten::middle(said, LONGEST))
            });
            Outcome::Failed(format!("The sub-agent did not come to an end: {why}.{said}"))
        }
        // Whoever stopped it settles its call.
        Some(_) | None => return,
    };
    let (took, sha256) = (sub_agent.worked, sub_agent.sha256.clone());
    acting::settle(desk, id, (outcome, None), took, sha256);
    acting::advance(desk);
}
