//! What sub-agents did beneath the turns: kept in the same session, and told to nobody but them.

use super::Session;
use crate::chat::{CallId, Digest, Entry};

impl Session {
    /// A fact of a sub-agent. What it paid for, was allowed and called counts for the whole session; what was said is
    /// its own talk.
    pub(super) fn below(&mut self, index: usize, above: &CallId, entry: &Entry) {
        self.beneath.entry(above.clone()).or_default().push(index);
        match entry {
            Entry::Replied { calls, usage, .. } => {
                self.made(calls, Some(above));
                self.usage += usage.unwrap_or_default();
            }
            Entry::Compacted { usage, .. } | Entry::Titled { usage, .. } | Entry::Consulted { usage, .. } => {
                self.usage += usage.unwrap_or_default();
            }
            Entry::Planned { .. } | Entry::Asked { .. } | Entry::Decided { .. } | Entry::Settled { .. } => {
                self.became(index, entry);
            }
            Entry::Said { .. }
            | Entry::Answered { .. }
            | Entry::Ended { .. }
            | Entry::FellBack { .. }
            | Entry::TakenBack { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. }
            | Entry::Beneath { .. } => {}
        }
    }

    /// Whether this call handed a task to a sub-agent.
    pub fn is_above(&self, call: &CallId) -> bool {
        self.beneath.contains_key(call)
    }

    /// What the sub-agent of this call said and did, oldest first, each with its index among all entries; nothing
    /// where the call has none.
    pub fn beneath(&self, call: &CallId) -> impl Iterator<Item = (usize, &Entry)> {
        let entries = |index: &usize| match self.entries.get(*index) {
            Some(Entry::Beneath { entry, .. }) => Some((*index, &**entry)),
            Some(_) | None => None,
        };
        self.beneath.get(call).into_iter().flatten().filter_map(entries)
    }

    /// Over which bytes this call was let start: what was planned of it last.
    pub fn allowed(&self, call: &CallId) -> Digest {
        let planned = |entry: &Entry| match entry {
            Entry::Planned { call: of, sha256, .. } if of == call => Some(sha256.clone()),
            _ => None,
        };
        self.entries.iter().rev().find_map(planned).unwrap_or_default()
    }

    /// What the sub-agent goes by that this call is of, or that it handed its task to; `None` where it is the turn's
    /// own and hands nothing on.
    pub fn sub_agent(&self, call: &CallId) -> Option<&str> {
        let above = self.call(call).and_then(|call| call.beneath.as_ref()).unwrap_or(call);
        let shown = || self.call(above).and_then(|call| call.shown.as_ref());
        self.is_above(above).then(|| shown().map_or("", |shown| shown.summary.as_str()))
    }
}
