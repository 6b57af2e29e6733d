//! What a person has to do before the turn goes on, whoever beneath it asks.

use super::state::{Pending, State, Step};
use super::sub_agent::SubAgent;
use crate::chat::{CallId, Plan, Questions, ToolCall};

/// What a person has to do before the turn goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Waiting<'a> {
    /// Say yes or no.
    Approval {
        /// The call.
        call: &'a ToolCall,
        /// What it would do.
        plan: &'a Plan,
        /// Why they are asked.
        reason: &'a str,
        /// The sub-agent whose call it is; `None` where it is the turn's own.
        by: Option<&'a str>,
    },
    /// Answer.
    Answer {
        /// The call.
        call: &'a ToolCall,
        /// What is asked.
        questions: &'a Questions,
        /// The sub-agent that asks; `None` where the turn itself does.
        by: Option<&'a str>,
    },
}

impl<'a> Waiting<'a> {
    /// The call, if it is this one and waits for approval.
    pub fn approval(self, id: &CallId) -> Option<&'a ToolCall> {
        match self {
            Self::Approval { call, .. } if call.id == *id => Some(call),
            Self::Approval { .. } | Self::Answer { .. } => None,
        }
    }
}

impl State {
    /// What a person has to do now, where they have to: the one seam for frontends. What has waited longest comes
    /// first, whether the turn asks or a sub-agent beneath it, but for a card that the person brought before its turn.
    pub fn waiting(&self) -> Option<Waiting<'_>> {
        let mut all = self.under_way();
        if let Some(brought) = self.brought() {
            let found = self.under_way().find(|(_, pending)| pending.call.id == *brought);
            if found.is_some_and(|(_, pending)| pending.is_on_its_way()) {
                // Until its card is there, no other is: a key that is meant for it must not answer that.
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
                // The same card comes back as soon as the edit was looked at, and whoever is asked about it has spoken.
                return None;
            }
            if let Some(waiting) = pending.waiting(by) {
                return Some(waiting);
            }
        }
        all.find_map(|(by, pending)| pending.waiting(by))
    }

    /// Everything that waits for a person, whoever asks, in the order of the calls.
    pub fn all_waiting(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.under_way().filter_map(|(by, pending)| pending.waiting(by))
    }

    /// Every call that is carried out, with the name of the sub-agent whose it is: the turn's own in the model's order,
    /// and behind one that was handed to a sub-agent the calls of that.
    pub fn under_way(&self) -> impl Iterator<Item = (Option<&str>, &Pending)> {
        self.pending().iter().flat_map(|pending| {
            let below = pending.sub_agent().into_iter().flat_map(|sub_agent| {
                sub_agent.state.pending().iter().map(|pending| (Some(sub_agent.name.as_str()), pending))
            });
            std::iter::once((None, pending)).chain(below)
        })
    }

    /// Which of all calls under way the waiting one is, from 1, and how many there are; `(0, 0)` where none waits.
    pub fn place(&self) -> (usize, usize) {
        let Some(Waiting::Approval { call, .. } | Waiting::Answer { call, .. }) = self.waiting() else {
            return (0, 0);
        };
        let before = self.counted().take_while(|(_, pending)| pending.call.id != call.id).count();
        (before + 1, self.counted().count())
    }

    /// The calls under way but for those that were handed to a sub-agent, whose own calls count in their place.
    pub fn counted(&self) -> impl Iterator<Item = (Option<&str>, &Pending)> {
        let handed =
            |pending: &Pending| pending.sub_agent().is_some() || self.session.is_above(&pending.call.id);
        self.under_way().filter(move |(_, pending)| !handed(pending))
    }

    /// Puts those that have begun to wait behind those that do.
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

    /// Whether the person changed it on its card, and the card is not there again yet.
    fn is_edited(&self, pending: &Pending) -> bool {
        let edited = || self.session.call(&pending.call.id).is_some_and(|call| call.edited.is_some());
        pending.before.is_some() || matches!(pending.step, Step::Consulting(_)) && edited()
    }

    /// Whether the waiting call was brought before its turn, and the card whose turn it is waits behind it; be it a
    /// sub-agent's.
    pub fn is_brought(&self) -> bool {
        let first = self.pending().iter().find(|pending| pending.waiting(None).is_some());
        let below = |it: &SubAgent| it.state.is_brought();
        first.is_some_and(|first| self.brought.as_ref().is_some_and(|id| *id != first.call.id))
            || self.pending().iter().filter_map(Pending::sub_agent).any(below)
    }

    /// The call whose card the person brought before its turn, be it a sub-agent's.
    fn brought(&self) -> Option<&CallId> {
        let below = || self.pending().iter().filter_map(Pending::sub_agent).find_map(|it| it.state.brought());
        self.brought.as_ref().or_else(below)
    }
}

impl Pending {
    /// What the person has to do about this call, where they have to.
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

    /// Whether its card was brought and is not there yet.
    fn is_on_its_way(&self) -> bool {
        matches!(self.step, Step::Planning | Step::Consulting(_) | Step::Waiting)
    }
}
