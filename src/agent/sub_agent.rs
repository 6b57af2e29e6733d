//! Sub-agents: sessions of their own within a turn, with the same model and the same policy.
//!
//! A sub-agent uses the same state machine. Its effects become effects of the turn, its entries are recorded under the
//! call that started it, and its last reply is that call's outcome.

use super::state::{Pending, State, Step};
use super::{Desk, Effect, Event, Phase, acting, thinking};
use crate::chat::{
    CallId, Chunk, Digest, Ending, Entry, Outcome, Plan, Task, ToolSpec, TurnId, Work, shorten,
};
use std::time::Duration;

/// Most sub-agents that work at once; others wait for a free slot.
pub const AT_ONCE: usize = 4;
/// Most tasks that one turn may delegate.
pub const IN_A_TURN: u32 = 12;
/// Most bytes of a sub-agent's result.
const LONGEST: usize = 16 << 10;

/// System prompt and tools of every sub-agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub system: String,
    /// Tools it may call. A sub-agent cannot start others, whatever is listed here.
    pub tools: Vec<ToolSpec>,
}

/// A sub-agent that works on a call, or waits for a free slot.
#[derive(Debug, Clone, PartialEq)]
pub struct SubAgent {
    /// Display name: one line without control characters.
    pub name: String,
    /// State of its own session.
    pub state: State,
    /// Its task, until it starts.
    task: Option<String>,
    /// Digest of what was approved.
    pub(super) sha256: Digest,
    /// Total time of its replies and calls.
    worked: Duration,
}

impl SubAgent {
    /// Creates a sub-agent with a task to start, or one that continues the session in `state`.
    pub(super) fn new(name: String, state: State, task: Option<String>, sha256: Digest) -> Self {
        Self { name, state, task, sha256, worked: Duration::ZERO }
    }

    /// Returns whether it has started; until then it waits for a free slot.
    pub fn has_begun(&self) -> bool {
        self.task.is_none()
    }
}

impl Pending {
    /// Returns the sub-agent that works on the call.
    pub fn sub_agent(&self) -> Option<&SubAgent> {
        if let Step::Delegated(sub_agent) = &self.step { Some(sub_agent) } else { None }
    }

    fn sub_agent_mut(&mut self) -> Option<&mut SubAgent> {
        if let Step::Delegated(sub_agent) = &mut self.step { Some(sub_agent) } else { None }
    }
}

impl State {
    /// Creates the state of a new sub-agent; `None` in a sub-agent.
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
    /// Returns whether a sub-agent waits to retry a failed request.
    pub fn retries_beneath(&self) -> bool {
        self.pending().iter().filter_map(Pending::sub_agent).any(|it| match &it.state.phase {
            Phase::Thinking(draft) => draft.retrying.is_some(),
            Phase::Idle | Phase::Acting { .. } => false,
        })
    }
}

/// Returns why a plan cannot be delegated, as an error for the model; `None` if it can, or is no task.
pub(super) fn refusal(state: &State, plan: &Plan) -> Option<String> {
    match &plan.work {
        Work::Task(_) if state.offer.is_none() => {
            Some("A sub-agent cannot start sub-agents. Do this part yourself.".to_owned())
        }
        Work::Task(_) if state.handed >= IN_A_TURN => Some(format!(
            "Sub-agent limit reached: {IN_A_TURN} tasks per turn. Do the rest yourself or report what remains."
        )),
        Work::Task(_) | Work::Edit(_) | Work::Command(_) | Work::Arguments(_) | Work::Batch(_) => None,
    }
}

/// Delegates the task of a call to a sub-agent, which starts once a slot is free.
pub(super) fn hand(ctx: &mut Desk<'_>, id: &CallId, task: &Task, sha256: Digest) {
    let Some(state) = ctx.state.beneath() else { return };
    ctx.state.handed += 1;
    if let Some(pending) = ctx.state.pending_mut(id) {
        let words = Some(task.words.clone());
        pending.step = Step::Delegated(Box::new(SubAgent::new(task.name.clone(), state, words, sha256)));
    }
}

/// Starts waiting sub-agents while slots are free.
pub(super) fn begin(ctx: &mut Desk<'_>) {
    loop {
        let all = || ctx.state.pending().iter().filter_map(|it| Some((&it.call.id, it.sub_agent()?)));
        if all().filter(|(_, it)| it.has_begun()).count() >= AT_ONCE {
            return;
        }
        let Some(id) = all().find(|(_, it)| !it.has_begun()).map(|(id, _)| id.clone()) else { return };
        let sub_agent = ctx.state.pending_mut(&id).and_then(Pending::sub_agent_mut);
        let Some(task) = sub_agent.and_then(|it| it.task.take()) else { return };
        within(ctx, &id, |below| thinking::said(below, task));
    }
}

/// Passes an event to the sub-agent it belongs to, or to all of them. Returns the event if the turn itself has to
/// handle it.
pub(super) fn hand_down(ctx: &mut Desk<'_>, event: Event) -> Option<Event> {
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
        | Event::Finished { turn, .. } => whose(ctx.state, runs(*turn)),
        Event::Decided { call, .. } | Event::Answered { call, .. } => whose(ctx.state, has(call.clone())),
        Event::Listed | Event::Brought(_) | Event::Hurried => {
            for id in all(ctx.state) {
                within(ctx, &id, |below| super::take(below, event.clone()));
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
    if !acting::may_decide(ctx.state, &event) {
        return None;
    }
    if let Some(sub_agent) = ctx.state.pending_mut(&id).and_then(Pending::sub_agent_mut) {
        sub_agent.worked += took(&event);
    }
    within(ctx, &id, |below| super::take(below, event));
    None
}

/// Returns the duration that an event reports.
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

/// Returns the call of the sub-agent whose state matches.
fn whose(state: &State, is: impl Fn(&State) -> bool) -> Option<CallId> {
    let of = |pending: &&Pending| pending.sub_agent().is_some_and(|it| is(&it.state));
    state.pending().iter().find(of).map(|pending| pending.call.id.clone())
}

/// Interrupts all sub-agents when the user stops the turn.
pub(super) fn stop(ctx: &mut Desk<'_>) {
    each(ctx, super::interrupted);
}

/// Runs a function on every sub-agent.
pub(super) fn each(ctx: &mut Desk<'_>, does: fn(&mut Desk<'_>)) {
    for id in all(ctx.state) {
        within(ctx, &id, does);
    }
}

/// Runs a function on the state of a sub-agent after copying the turn's shared settings to it. Its entries are recorded
/// under its call.
fn within(ctx: &mut Desk<'_>, id: &CallId, does: impl FnOnce(&mut Desk<'_>)) {
    let State { session, phase, policy, rules, model, window, turns, instructions, .. } = &mut *ctx.state;
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
    ctx.take_up(id, effects);
    ended(ctx, id);
}

impl Desk<'_> {
    /// Takes over the effects of a sub-agent; its entries are recorded under its call.
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

/// Settles the call of a sub-agent that has ended. Its last reply is the outcome.
fn ended(ctx: &mut Desk<'_>, id: &CallId) {
    let Some(sub_agent) = ctx.state.pending_mut(id).and_then(|pending| pending.sub_agent_mut()) else {
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
                format!(" Its last reply:\n{}", shorten::middle(said, LONGEST))
            });
            Outcome::Failed(format!("The sub-agent failed: {why}.{said}"))
        }
        // If it was interrupted, the interruption settles its call.
        Some(_) | None => return,
    };
    let (took, sha256) = (sub_agent.worked, sub_agent.sha256.clone());
    acting::settle(ctx, id, (outcome, None), took, sha256);
    acting::advance(ctx);
}
