//! Sub-agents: sessions of their own within a turn, with the same model and the same policy.
//!
//! A sub-agent uses the same state machine. Its effects become effects of the turn, its entries are recorded under the
//! call that started it, and its last reply is that call's outcome.

use super::call_settlement::settle_call;
use super::effect::Effect;
use super::event::Event;
use super::model_requests;
use super::state::{CallStage, PendingCall, Phase, State, SubAgent};
use super::update_context::UpdateContext;
use super::waiting_calls::is_decision_allowed;
use crate::chat::{CallId, Chunk, Digest, Ending, Entry, Outcome, Plan, Task, Work};
use crate::text::truncation;
use std::time::Duration;

/// Maximum number of sub-agents that work at once; others wait for a free slot.
pub const MAX_PARALLEL_SUB_AGENTS: usize = 4;
/// Maximum number of tasks that one turn may delegate.
pub const MAX_TASKS_PER_TURN: u32 = 12;
/// Maximum bytes of a sub-agent's result.
const MAX_RESULT_BYTES: usize = 16 << 10;

impl State {
    /// Creates the state of a new sub-agent; `None` in a sub-agent.
    pub(super) fn new_sub_agent_state(&self) -> Option<Self> {
        let system_prompt = self.config.sub_agent_prompt.clone()?;
        let tools = self.config.tools.iter().filter(|tool| !tool.is_main_only).cloned().collect();
        let mut state = Self::new(self.policy, self.model.name.clone(), system_prompt, tools);
        state.model.clone_from(&self.model);
        state.counts.turns = self.counts.turns;
        state.config.search_tools.clone_from(&self.config.search_tools);
        state.config.reviewers.clone_from(&self.config.reviewers);
        state.config.dry_run.clone_from(&self.config.dry_run);
        state.set_instructions(self.config.instructions.clone());
        Some(state)
    }

    /// Returns whether a sub-agent waits to retry a failed request.
    pub fn has_sub_agent_retry(&self) -> bool {
        let waits = |state: &Self| matches!(&state.phase, Phase::Replying(reply) if reply.pending_retry.is_some());
        self.pending().iter().filter_map(PendingCall::sub_agent).any(|sub_agent| waits(&sub_agent.state))
    }
}

/// Returns the error for the model if a task cannot be delegated; `None` if it can, or if the plan is no task.
pub(super) fn delegation_refusal(state: &State, plan: &Plan) -> Option<String> {
    match &plan.work {
        Work::Task(_) if state.config.sub_agent_prompt.is_none() => {
            Some("A sub-agent cannot start sub-agents. Do this part yourself.".to_owned())
        }
        Work::Task(_) if state.turn.delegated_tasks >= MAX_TASKS_PER_TURN => Some(format!(
            "Sub-agent limit reached: {MAX_TASKS_PER_TURN} tasks per turn. Do the rest yourself or report what remains."
        )),
        Work::Task(_)
        | Work::Edit(_)
        | Work::Command(_)
        | Work::Arguments(_)
        | Work::UserInput(_)
        | Work::Batch(_)
        | Work::EndTurn(_) => None,
    }
}

/// Delegates the task of a call to a sub-agent, which starts once a slot is free.
pub(super) fn delegate_task(ctx: &mut UpdateContext<'_>, id: &CallId, task: &Task, sha256: Digest) {
    let Some(state) = ctx.state.new_sub_agent_state() else { return };
    ctx.state.turn.delegated_tasks += 1;
    if let Some(pending) = ctx.state.pending_mut(id) {
        let instructions = Some(task.instructions.clone());
        pending.stage = CallStage::Delegated(Box::new(SubAgent::new(task.name.clone(), state, instructions, sha256)));
    }
}

/// Starts waiting sub-agents while slots are free.
pub(super) fn start_waiting_sub_agents(ctx: &mut UpdateContext<'_>) {
    loop {
        let sub_agents =
            || ctx.state.pending().iter().filter_map(|pending| Some((&pending.call.id, pending.sub_agent()?)));
        if sub_agents().filter(|(_, sub_agent)| sub_agent.has_started()).count() >= MAX_PARALLEL_SUB_AGENTS {
            return;
        }
        let Some(id) = sub_agents().find(|(_, sub_agent)| !sub_agent.has_started()).map(|(id, _)| id.clone()) else {
            return;
        };
        let sub_agent = ctx.state.pending_mut(&id).and_then(PendingCall::sub_agent_mut);
        let Some(task) = sub_agent.and_then(|sub_agent| sub_agent.task.take()) else { return };
        run_in_sub_agent(ctx, &id, |sub_ctx| model_requests::queue_user_message(sub_ctx, task));
    }
}

/// Passes an event to the sub-agent that it belongs to, or to all sub-agents. Returns the event if the turn itself has
/// to handle it.
pub(super) fn route_to_sub_agent(
    ctx: &mut UpdateContext<'_>,
    event: Event,
    handle: fn(&mut UpdateContext<'_>, Event),
) -> Option<Event> {
    if matches!(event, Event::QueueOpened | Event::EarlyPromptRequested(_) | Event::RetryNow) {
        for id in sub_agent_calls(ctx.state) {
            run_in_sub_agent(ctx, &id, |sub_ctx| handle(sub_ctx, event.clone()));
        }
        return Some(event);
    }
    let target_call = if let Some(turn) = event.turn() {
        find_sub_agent_call(ctx.state, |state| state.current_turn() == Some(turn))
    } else if let Event::CallDecided { call, .. }
    | Event::QuestionsAnswered { call, .. }
    | Event::TrialRequested(call)
    | Event::TrialStopped(call) = &event
    {
        find_sub_agent_call(ctx.state, |state| state.pending().iter().any(|pending| pending.call.id == *call))
    } else {
        None
    };
    let Some(id) = target_call else { return Some(event) };
    if !is_decision_allowed(ctx.state, &event) {
        return None;
    }
    if let Some(sub_agent) = ctx.state.pending_mut(&id).and_then(PendingCall::sub_agent_mut) {
        sub_agent.work_time += event_duration(&event);
    }
    run_in_sub_agent(ctx, &id, |sub_ctx| handle(sub_ctx, event));
    None
}

/// Returns the duration that an event reports.
fn event_duration(event: &Event) -> Duration {
    match event {
        Event::ReplyChunk { chunk: Chunk::Done(_), elapsed, .. } => *elapsed,
        Event::CallFinished { duration, .. } => *duration,
        _ => Duration::ZERO,
    }
}

fn sub_agent_calls(state: &State) -> Vec<CallId> {
    let delegated = state.pending().iter().filter(|pending| pending.sub_agent().is_some());
    delegated.map(|pending| pending.call.id.clone()).collect()
}

/// Returns the call of the first sub-agent whose state matches.
fn find_sub_agent_call(state: &State, predicate: impl Fn(&State) -> bool) -> Option<CallId> {
    let is_match = |pending: &&PendingCall| pending.sub_agent().is_some_and(|sub_agent| predicate(&sub_agent.state));
    state.pending().iter().find(is_match).map(|pending| pending.call.id.clone())
}

/// Runs a function on every sub-agent.
pub(super) fn for_each_sub_agent(ctx: &mut UpdateContext<'_>, action: fn(&mut UpdateContext<'_>)) {
    for id in sub_agent_calls(ctx.state) {
        run_in_sub_agent(ctx, &id, action);
    }
}

/// Runs a function on the state of a sub-agent after copying the turn's shared settings to it. Its entries are recorded
/// under its call.
fn run_in_sub_agent(ctx: &mut UpdateContext<'_>, id: &CallId, action: impl FnOnce(&mut UpdateContext<'_>)) {
    let State { session, phase, policy, rules, model, config, counts, .. } = &mut *ctx.state;
    let Phase::RunningCalls { calls, .. } = phase else { return };
    let mut matching_calls = calls.iter_mut().filter(|pending| pending.call.id == *id);
    let Some(sub_agent) = matching_calls.find_map(PendingCall::sub_agent_mut) else { return };
    let state = &mut sub_agent.state;
    (state.policy, state.counts.turns) = (*policy, counts.turns);
    state.rules.clone_from(rules);
    if state.config.instructions != config.instructions {
        state.set_instructions(config.instructions.clone());
    }
    if state.model.name != model.name {
        state.estimate.forget_window();
    }
    state.model.clone_from(model);
    let mut sub_ctx = UpdateContext::new(state, Some(session));
    action(&mut sub_ctx);
    let effects = sub_ctx.effects;
    counts.turns = state.counts.turns;
    ctx.adopt_effects(id, effects);
    settle_ended_sub_agent(ctx, id);
}

impl UpdateContext<'_> {
    /// Takes over the effects of a sub-agent; its entries are recorded under its call.
    pub(super) fn adopt_effects(&mut self, id: &CallId, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::AppendEntry(entry) => {
                    self.record_entry(Entry::SubAgent { call: id.clone(), entry: Box::new(entry) });
                }
                Effect::SavePartialReply(mut partial_reply) => {
                    partial_reply.sub_agent_call = Some(id.clone());
                    self.effects.push(Effect::SavePartialReply(partial_reply));
                }
                other => self.effects.push(other),
            }
        }
    }
}

/// Settles the call of a sub-agent that has ended. Its last reply is the outcome.
fn settle_ended_sub_agent(ctx: &mut UpdateContext<'_>, id: &CallId) {
    let Some(sub_agent) = ctx.state.pending_mut(id).and_then(|pending| pending.sub_agent_mut()) else {
        return;
    };
    if !sub_agent.state.is_idle() || !sub_agent.has_started() {
        return;
    }
    let entries = sub_agent.state.session.entries();
    let last_reply = entries.iter().rev().find_map(|entry| match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let outcome = match entries.last() {
        Some(Entry::Ended { ending: Ending::Finished }) => {
            Outcome::Done(truncation::truncate_middle(last_reply.unwrap_or_default(), MAX_RESULT_BYTES).into_owned())
        }
        Some(Entry::Ended { ending: Ending::Failed(why) }) => {
            let why = why.trim_end_matches('.');
            let reply_note = last_reply.map_or_else(String::new, |reply| {
                format!(" Its last reply:\n{}", truncation::truncate_middle(reply, MAX_RESULT_BYTES))
            });
            Outcome::Failed(format!("The sub-agent failed: {why}.{reply_note}"))
        }
        // If it was interrupted, the interruption settles its call.
        Some(_) | None => return,
    };
    let (work_time, sha256) = (sub_agent.work_time, sub_agent.sha256.clone());
    let untrusted_text = sub_agent.state.turn.untrusted_text.clone();
    ctx.state.turn.untrusted_text.add_from_sub_agent(untrusted_text);
    let result_source = None;
    settle_call(ctx, id, (outcome, result_source), work_time, sha256);
    ctx.continue_calls();
}
