//! Calls that wait for the user, those of sub-agents included.

use super::call_state::Trial;
use super::event::Event;
use super::state::{CallStage, PendingCall, State, SubAgent};
use crate::chat::{CallId, Decision, Plan, Questions, ToolCall};

/// A call that waits for the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WaitingCall<'a> {
    /// Waits for approval.
    Approval {
        call: &'a ToolCall,
        plan: &'a Plan,
        /// Reason for asking.
        reason: &'a str,
        /// Name of the sub-agent whose call it is; `None` for the turn's own.
        sub_agent: Option<&'a str>,
        trial: &'a Trial,
    },
    /// Waits for answers.
    Answer {
        call: &'a ToolCall,
        questions: &'a Questions,
        /// Name of the sub-agent that asks; `None` for the turn itself.
        sub_agent: Option<&'a str>,
    },
}

impl<'a> WaitingCall<'a> {
    pub fn call_id(self) -> &'a CallId {
        let (Self::Approval { call, .. } | Self::Answer { call, .. }) = self;
        &call.id
    }

    /// Returns the call if it has this ID and waits for approval.
    pub fn approval_call(self, id: &CallId) -> Option<&'a ToolCall> {
        match self {
            Self::Approval { call, .. } if call.id == *id => Some(call),
            Self::Approval { .. } | Self::Answer { .. } => None,
        }
    }
}

impl State {
    /// Returns the call whose prompt is shown now; frontends take their prompts only from here. It is the call that has
    /// waited longest, of the turn or of a sub-agent, unless the user opened the prompt of another call before its turn.
    pub fn waiting_call(&self) -> Option<WaitingCall<'_>> {
        if let Some(early_id) = self.early_prompt_call() {
            let early_call = self.active_calls().find(|(_, pending)| pending.call.id == *early_id);
            if early_call.is_some_and(|(_, pending)| pending.is_prompt_pending()) {
                // Until this prompt is ready no other is shown, so that a key press cannot answer the wrong prompt.
                return None;
            }
            if let Some(waiting) = early_call.and_then(|(sub_agent, pending)| pending.as_waiting_call(sub_agent)) {
                return Some(waiting);
            }
        }
        for queued_id in &self.queue.calls {
            let Some((sub_agent, pending)) = self.active_calls().find(|(_, pending)| pending.call.id == *queued_id)
            else {
                continue;
            };
            if self.is_edited(pending) {
                // The same prompt returns once the edit is planned and reviewed.
                return None;
            }
            if let Some(waiting) = pending.as_waiting_call(sub_agent) {
                return Some(waiting);
            }
        }
        self.active_calls().find_map(|(sub_agent, pending)| pending.as_waiting_call(sub_agent))
    }

    /// Returns all calls that wait for the user, in the order of the calls.
    pub fn waiting_calls(&self) -> impl Iterator<Item = WaitingCall<'_>> {
        self.active_calls().filter_map(|(sub_agent, pending)| pending.as_waiting_call(sub_agent))
    }

    /// Returns all calls being carried out, with the name of their sub-agent: the calls of the turn in the model's
    /// order, each delegated call followed by the calls of its sub-agent.
    pub fn active_calls(&self) -> impl Iterator<Item = (Option<&str>, &PendingCall)> {
        self.pending().iter().flat_map(|pending| {
            let sub_agent_calls = pending.sub_agent().into_iter().flat_map(|sub_agent| {
                sub_agent.state.pending().iter().map(|pending| (Some(sub_agent.name.as_str()), pending))
            });
            std::iter::once((None, pending)).chain(sub_agent_calls)
        })
    }

    /// Returns the position of the waiting call among the calls being carried out, starting from 1, and their number;
    /// `(0, 0)` if none waits.
    pub fn waiting_position(&self) -> (usize, usize) {
        let Some(WaitingCall::Approval { call, .. } | WaitingCall::Answer { call, .. }) = self.waiting_call() else {
            return (0, 0);
        };
        let calls_before = self.undelegated_calls().take_while(|(_, pending)| pending.call.id != call.id).count();
        (calls_before + 1, self.undelegated_calls().count())
    }

    /// Returns the calls being carried out. A delegated call is replaced by the calls of its sub-agent.
    pub fn undelegated_calls(&self) -> impl Iterator<Item = (Option<&str>, &PendingCall)> {
        let is_delegated =
            |pending: &PendingCall| pending.sub_agent().is_some() || self.session.has_sub_agent(&pending.call.id);
        self.active_calls().filter(move |(_, pending)| !is_delegated(pending))
    }

    /// Appends newly waiting calls to the approval queue and removes those that no longer wait.
    pub(super) fn update_approval_queue(&mut self) {
        let mut queue = std::mem::take(&mut self.queue.calls);
        let is_waiting = |(_, pending): &(Option<&str>, &PendingCall)| pending.as_waiting_call(None).is_some();
        queue.retain(|id| {
            let is_still_waiting = |active_call: &(Option<&str>, &PendingCall)| {
                active_call.1.call.id == *id && (is_waiting(active_call) || self.is_edited(active_call.1))
            };
            self.active_calls().any(|active_call| is_still_waiting(&active_call))
        });
        for (_, pending) in self.active_calls().filter(is_waiting) {
            if !queue.contains(&pending.call.id) {
                queue.push(pending.call.id.clone());
            }
        }
        self.queue.calls = queue;
    }

    /// Returns whether the user edited the call on its prompt and the prompt is not ready again.
    fn is_edited(&self, pending: &PendingCall) -> bool {
        let has_edited_arguments =
            || self.session.find_call(&pending.call.id).is_some_and(|call| call.edited_arguments.is_some());
        pending.pending_edit.is_some() || matches!(pending.stage, CallStage::UnderReview(_)) && has_edited_arguments()
    }

    /// Returns whether the user opened the prompt of a call other than the first one that waits, in the turn or in a
    /// sub-agent.
    pub fn shows_early_prompt(&self) -> bool {
        let first_waiting = self.pending().iter().find(|pending| pending.as_waiting_call(None).is_some());
        let has_early_prompt = |sub_agent: &SubAgent| sub_agent.state.shows_early_prompt();
        first_waiting.is_some_and(|first| self.queue.early_prompt.as_ref().is_some_and(|id| *id != first.call.id))
            || self.pending().iter().filter_map(PendingCall::sub_agent).any(has_early_prompt)
    }

    /// Returns the call whose prompt the user opened before its turn; sub-agents included.
    fn early_prompt_call(&self) -> Option<&CallId> {
        let find_in_sub_agents = || {
            self.pending()
                .iter()
                .filter_map(PendingCall::sub_agent)
                .find_map(|sub_agent| sub_agent.state.early_prompt_call())
        };
        self.queue.early_prompt.as_ref().or_else(find_in_sub_agents)
    }
}

impl PendingCall {
    /// Returns the call if it waits for the user.
    fn as_waiting_call<'a>(&'a self, sub_agent: Option<&'a str>) -> Option<WaitingCall<'a>> {
        let call = &self.call;
        if let CallStage::AwaitingApproval(plan, reason) = &self.stage {
            return Some(WaitingCall::Approval { call, plan, reason, sub_agent, trial: &self.trial });
        }
        let CallStage::AwaitingAnswer(questions) = &self.stage else { return None };
        Some(WaitingCall::Answer { call, questions, sub_agent })
    }

    /// Returns whether its prompt is not ready yet: the call is not planned or still under review.
    fn is_prompt_pending(&self) -> bool {
        matches!(self.stage, CallStage::Planning | CallStage::UnderReview(_) | CallStage::AwaitingTurn)
    }
}

/// Returns whether an event may be handled. An approval, an edit or a trial is accepted only for the call whose prompt is shown,
/// so that no approval reaches another call. A denial is accepted for any call. All other events are accepted.
pub(super) fn is_decision_allowed(state: &State, event: &Event) -> bool {
    let id = match event {
        Event::CallDecided { decision: Decision::Deny(_), .. } => return true,
        Event::CallDecided { call, .. } | Event::TrialRequested(call) => call,
        _ => return true,
    };
    let is_shown_prompt = |waiting| matches!(waiting, WaitingCall::Approval { call, .. } if call.id == *id);
    state.waiting_call().is_some_and(is_shown_prompt)
}
