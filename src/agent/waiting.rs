//! Calls that wait for the user, those of sub-agents included.

use super::state::{Pending, State, Step};
use super::sub_agent::SubAgent;
use crate::chat::{CallId, Plan, Questions, ToolCall};

/// A call that waits for the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Waiting<'a> {
    /// Waits for approval.
    Approval {
        call: &'a ToolCall,
        plan: &'a Plan,
        /// Reason for asking.
        reason: &'a str,
        /// Name of the sub-agent whose call it is; `None` for the turn's own.
        by: Option<&'a str>,
    },
    /// Waits for answers.
    Answer {
        call: &'a ToolCall,
        questions: &'a Questions,
        /// Name of the sub-agent that asks; `None` for the turn itself.
        by: Option<&'a str>,
    },
}

impl<'a> Waiting<'a> {
    /// Returns the call if it is this one and waits for approval.
    pub fn approval(self, id: &CallId) -> Option<&'a ToolCall> {
        match self {
            Self::Approval { call, .. } if call.id == *id => Some(call),
            Self::Approval { .. } | Self::Answer { .. } => None,
        }
    }
}

impl State {
    /// Returns the call that waits for the user now. The only source of prompts for frontends. The longest waiting call
    /// comes first, whether of the turn or of a sub-agent, unless the user opened another prompt before its turn.
    pub fn waiting(&self) -> Option<Waiting<'_>> {
        let mut all = self.under_way();
        if let Some(brought) = self.brought() {
            let found = self.under_way().find(|(_, pending)| pending.call.id == *brought);
            if found.is_some_and(|(_, pending)| pending.is_on_its_way()) {
                // No other prompt is shown until this one is ready, so that a key meant for it cannot answer another.
                return None;
            }
            if let Some(waiting) = found.and_then(|(by, pending)| pending.waiting(by)) {
                return Some(waiting);
            }
        }
        for first in &self.line {
            let Some((by, pending)) = self.under_way().find(|(_, pending)| pending.call.id == *first) else {
                continue;
            };
            if self.is_edited(pending) {
                // The same prompt returns once the edit is planned and reviewed.
                return None;
            }
            if let Some(waiting) = pending.waiting(by) {
                return Some(waiting);
            }
        }
        all.find_map(|(by, pending)| pending.waiting(by))
    }

    /// Returns all calls that wait for the user, in the order of the calls.
    pub fn all_waiting(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.under_way().filter_map(|(by, pending)| pending.waiting(by))
    }

    /// Returns all calls being carried out, with the name of their sub-agent: the turn's own in the model's order, and
    /// after a delegated call the calls of its sub-agent.
    pub fn under_way(&self) -> impl Iterator<Item = (Option<&str>, &Pending)> {
        self.pending().iter().flat_map(|pending| {
            let below = pending.sub_agent().into_iter().flat_map(|sub_agent| {
                sub_agent.state.pending().iter().map(|pending| (Some(sub_agent.name.as_str()), pending))
            });
            std::iter::once((None, pending)).chain(below)
        })
    }

    /// Returns the position of the waiting call, starting from 1, and the number of calls; `(0, 0)` if none waits.
    pub fn place(&self) -> (usize, usize) {
        let Some(Waiting::Approval { call, .. } | Waiting::Answer { call, .. }) = self.waiting() else {
            return (0, 0);
        };
        let before = self.counted().take_while(|(_, pending)| pending.call.id != call.id).count();
        (before + 1, self.counted().count())
    }

    /// Returns the calls being carried out. A delegated call is replaced by the calls of its sub-agent.
    pub fn counted(&self) -> impl Iterator<Item = (Option<&str>, &Pending)> {
        let handed =
            |pending: &Pending| pending.sub_agent().is_some() || self.session.is_above(&pending.call.id);
        self.under_way().filter(move |(_, pending)| !handed(pending))
    }

    /// Appends newly waiting calls to the approval queue and removes those that no longer wait.
    pub(super) fn line_up(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let waits = |(_, pending): &(Option<&str>, &Pending)| pending.waiting(None).is_some();
        line.retain(|id| {
            let same =
                |of: &(Option<&str>, &Pending)| of.1.call.id == *id && (waits(of) || self.is_edited(of.1));
            self.under_way().any(|of| same(&of))
        });
        for (_, pending) in self.under_way().filter(waits) {
            if !line.contains(&pending.call.id) {
                line.push(pending.call.id.clone());
            }
        }
        self.line = line;
    }

    /// Returns whether the user edited the call on its prompt and the prompt is not ready again.
    fn is_edited(&self, pending: &Pending) -> bool {
        let edited = || self.session.call(&pending.call.id).is_some_and(|call| call.edited.is_some());
        pending.before.is_some() || matches!(pending.step, Step::Consulting(_)) && edited()
    }

    /// Returns whether the waiting call's prompt was opened before its turn while another call's prompt waits;
    /// sub-agents included.
    pub fn is_brought(&self) -> bool {
        let first = self.pending().iter().find(|pending| pending.waiting(None).is_some());
        let below = |it: &SubAgent| it.state.is_brought();
        first.is_some_and(|first| self.brought.as_ref().is_some_and(|id| *id != first.call.id))
            || self.pending().iter().filter_map(Pending::sub_agent).any(below)
    }

    /// Returns the call whose prompt the user opened before its turn; sub-agents included.
    fn brought(&self) -> Option<&CallId> {
        let below = || self.pending().iter().filter_map(Pending::sub_agent).find_map(|it| it.state.brought());
        self.brought.as_ref().or_else(below)
    }
}

impl Pending {
    /// Returns the call if it waits for the user.
    fn waiting<'a>(&'a self, by: Option<&'a str>) -> Option<Waiting<'a>> {
        match &self.step {
            Step::ForApproval(plan, reason) => Some(Waiting::Approval { call: &self.call, plan, reason, by }),
            Step::ForAnswer(questions) => Some(Waiting::Answer { call: &self.call, questions, by }),
            Step::Waiting
            | Step::Planning
            | Step::Consulting(_)
            | Step::Running(_)
            | Step::Delegated(_)
            | Step::Settled => None,
        }
    }

    /// Returns whether its prompt was requested and is not ready.
    fn is_on_its_way(&self) -> bool {
        matches!(self.step, Step::Planning | Step::Consulting(_) | Step::Waiting)
    }
}
