//! State and effects of one update, and the steps that follow from it.

use super::effect::Effect;
use super::state::{CallStage, Phase, State};
use super::turn_state::TurnState;
use crate::chat::{CallId, Ending, Entry, Plan, Session, SessionGrant, ToolCall, TurnId};
use crate::policy::{Verdict, judge_plan};
use std::collections::VecDeque;

/// The state and the effects of one update. Every entry goes to the session and to the log in the same step.
pub(super) struct UpdateContext<'a> {
    pub(super) state: &'a mut State,
    /// Session of the turn; set only while `state` is that of a sub-agent.
    pub(super) parent_session: Option<&'a Session>,
    pub(super) effects: Vec<Effect>,
    /// Steps to run once the event is handled.
    pub(super) next_steps: VecDeque<NextStep>,
}

/// Step of a turn that follows from an event. It starts when the handler of the event has returned, so that handlers
/// need not call each other.
#[derive(Debug)]
pub(super) enum NextStep {
    /// Start a turn with all queued messages.
    StartTurn,
    /// Request the next reply of this turn.
    RequestReply(TurnId),
    /// Carry out these calls.
    StartCalls(TurnId, Vec<ToolCall>),
    /// Start every call that can start.
    StartReadyCalls,
    /// Request a session title, unless the session has one.
    RequestTitle,
}

impl<'a> UpdateContext<'a> {
    /// Creates the context of an update; `parent_session` is that of the turn, if the state is that of a sub-agent.
    pub(super) fn new(state: &'a mut State, parent_session: Option<&'a Session>) -> Self {
        Self { state, parent_session, effects: Vec::new(), next_steps: VecDeque::new() }
    }

    /// Returns the grants of the whole session: turn and sub-agents share them.
    pub(super) fn session_grants(&self) -> &[SessionGrant] {
        self.parent_session.unwrap_or(&self.state.session).grants()
    }

    /// Records an entry in the session and in the log.
    pub(super) fn record_entry(&mut self, entry: Entry) {
        let entry = self.state.session.apply(entry);
        self.effects.push(Effect::AppendEntry(entry.clone()));
    }

    /// Ends the turn. If it finished, queued messages start the next turn. If it failed or was interrupted, they stay
    /// in the queue until the user sends them.
    pub(super) fn end_turn(&mut self, ending: Ending) {
        let is_finished = ending == Ending::Finished;
        self.record_entry(Entry::Ended { ending });
        self.state.phase = Phase::Idle;
        if is_finished && !self.state.queued_messages.is_empty() {
            self.next_steps.push_back(NextStep::StartTurn);
        } else if is_finished && !self.state.turn.has_no_model() {
            self.next_steps.push_back(NextStep::RequestTitle);
        }
    }

    /// Ends the turn with an error for the user.
    pub(super) fn fail_turn(&mut self, reason: impl Into<String>) {
        self.end_turn(Ending::Failed(reason.into()));
    }

    /// Resets the per-turn state and returns the ID of a new turn.
    pub(super) fn new_turn(&mut self) -> TurnId {
        self.state.turn = TurnState::default();
        self.state.next_turn_id()
    }

    /// Returns the calls with a new ID for each ID that is already used in the session, sub-agents included. Some
    /// providers count from zero in each reply.
    pub(super) fn with_unique_ids(&self, calls: &[ToolCall]) -> Vec<ToolCall> {
        let mut unique_calls: Vec<ToolCall> = Vec::new();
        for call in calls {
            let is_taken = |id: &CallId, unique_calls: &[ToolCall]| {
                self.parent_session.is_some_and(|session| session.find_call(id).is_some())
                    || self.state.session.find_call(id).is_some()
                    || unique_calls.iter().any(|other| other.id == *id)
            };
            let mut id = call.id.clone();
            let mut count = 2;
            while id.0.is_empty() || is_taken(&id, &unique_calls) {
                id = CallId(format!("{}-{count}", call.id));
                count += 1;
            }
            unique_calls.push(ToolCall { id, ..call.clone() });
        }
        unique_calls
    }

    /// Requests a plan of a call from its tool, because its turn has come or its prompt is to be shown.
    pub(super) fn request_plan(&mut self, id: &CallId) {
        let Some(turn) = self.state.current_turn() else { return };
        let Some(pending) = self.state.pending_mut(id) else { return };
        pending.stage = CallStage::Planning;
        let call = pending.call.clone();
        let is_apply_call = self.state.turn.is_apply_turn();
        self.effects.push(Effect::PlanCall { turn, call, is_apply_call });
    }

    /// Judges a plan by the mode, the grants of the session and the rules.
    pub(super) fn judge_plan(&self, tool: &str, plan: &Plan) -> Verdict {
        judge_plan(&self.state.policy, self.session_grants(), &self.state.rules, tool, plan)
    }

    /// Queues a step that starts every call that can start.
    pub(super) fn continue_calls(&mut self) {
        self.next_steps.push_back(NextStep::StartReadyCalls);
    }
}
