//! Calls that are made over and over within one turn, and come to the same each time.

use crate::chat::{Outcome, ToolCall};
use std::hash::{DefaultHasher, Hash, Hasher};

/// So often the same call may come to the same unasked, and so often again after each yes.
const MOST: u32 = 3;

/// What was called in the present turn, with what came of it last, and how often in a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repeats(Vec<Repeat>);

#[derive(Debug, Clone, PartialEq)]
struct Repeat {
    call: u64,
    came_to: u64,
    times: u32,
}

impl Repeats {
    /// A call came to its end. One that may have changed something is a reason to make all others again.
    pub(super) fn count(&mut self, call: &ToolCall, outcome: &Outcome, changed: bool) {
        let (call, came_to) = (hash((&call.name, &call.arguments)), hash(outcome.text()));
        if changed {
            self.0.retain(|repeat| repeat.call == call);
        }
        match self.0.iter_mut().find(|repeat| repeat.call == call) {
            Some(repeat) if repeat.came_to == came_to => repeat.times += 1,
            Some(repeat) => (repeat.came_to, repeat.times) = (came_to, 1),
            None => self.0.push(Repeat { call, came_to, times: 1 }),
        }
    }

    /// Why the person is to be asked about a call that needs no yes otherwise.
    pub(super) fn asks(&self, call: &ToolCall) -> Option<String> {
        let call = hash((&call.name, &call.arguments));
        let times = self.0.iter().find(|repeat| repeat.call == call)?.times;
        (times.is_multiple_of(MOST)).then(|| {
            format!(
                "the same call was made {times} times in this turn already, and came to the same each time"
            )
        })
    }

    /// A turn begins.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
