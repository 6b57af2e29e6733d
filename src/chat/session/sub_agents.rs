//! Entries of sub-agents: stored in the session of the turn, but sent to the sub-agent's model only.

use super::Session;
use crate::chat::{CallId, Digest, Entry};

impl Session {
    /// Applies an entry of a sub-agent. Its usage, grants and calls count for the whole session; its messages stay in
    /// its own conversation.
    pub(super) fn apply_sub_agent_entry(&mut self, index: usize, parent_call: &CallId, entry: &Entry) {
        self.sub_agents.entry(parent_call.clone()).or_default().push(index);
        if let Entry::Replied { calls, .. } = entry {
            self.add_calls(calls, Some(parent_call));
        }
        self.update_call(index, entry);
    }

    /// Returns whether this call started a sub-agent.
    pub fn has_sub_agent(&self, call: &CallId) -> bool {
        self.sub_agents.contains_key(call)
    }

    /// Returns the entries of this call's sub-agent, oldest first, each with its index in the session.
    pub fn sub_agent_entries(&self, call: &CallId) -> impl Iterator<Item = (usize, &Entry)> {
        let sub_agent_entry = |index: &usize| match self.entries.get(*index) {
            Some(Entry::SubAgent { entry, .. }) => Some((*index, &**entry)),
            Some(_) | None => None,
        };
        self.sub_agents.get(call).into_iter().flatten().filter_map(sub_agent_entry)
    }

    /// Returns the digest of the call's last plan, on which it was allowed to start.
    pub fn last_plan_digest(&self, call: &CallId) -> Digest {
        let plan_digest = |entry: &Entry| match entry {
            Entry::Planned { call: planned_call, sha256, .. } if planned_call == call => Some(sha256.clone()),
            _ => None,
        };
        self.entries.iter().rev().find_map(plan_digest).unwrap_or_default()
    }

    /// Returns the name of the sub-agent that this call started or belongs to; `None` for any other call of the turn.
    pub fn sub_agent_name(&self, call: &CallId) -> Option<&str> {
        let parent_call = self.find_call(call).and_then(|call| call.parent_call.as_ref()).unwrap_or(call);
        let plan = || self.find_call(parent_call).and_then(|call| call.plan.as_ref());
        self.has_sub_agent(parent_call).then(|| plan().map_or("", |plan| plan.summary.as_str()))
    }
}
