//! Calls that are made over and over within one turn, and come to the same each time.

use crate::chat::{Outcome, ToolCall};
use std::hash::{DefaultHasher, Hash, Hasher};

/// So often the same call may come to the same unasked, and so often again after each yes. What runs side by side is
/// counted when it has come to its end.
const MOST: u32 = 3;

/// What was called in the present turn, with what came of it last, and how often in a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repeats(Vec<Repeat>);

#[derive(Debug, Clone, PartialEq)]
struct Repeat {
    call: u64,
    came_to: u64,
    times: u32,
    /// From so often on it is asked about.
    asks_from: u32,
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
            Some(repeat) => *repeat = Repeat { call, came_to, times: 1, asks_from: MOST },
            None => self.0.push(Repeat { call, came_to, times: 1, asks_from: MOST }),
        }
    }

    /// The person let a call go ahead. One that was asked about for its own sake may go on for as long again.
    pub(super) fn allow(&mut self, call: &ToolCall) {
        let call = hash((&call.name, &call.arguments));
        let asked = self.0.iter_mut().find(|repeat| repeat.call == call && repeat.times >= repeat.asks_from);
        if let Some(repeat) = asked {
            repeat.asks_from = repeat.times + MOST;
        }
    }

    /// Why the person is to be asked about a call that needs no yes otherwise.
    pub(super) fn asks(&self, call: &ToolCall) -> Option<String> {
        let call = hash((&call.name, &call.arguments));
        let Repeat { times, asks_from, .. } = self.0.iter().find(|repeat| repeat.call == call)?;
        (times >= asks_from).then(|| {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: "read_file".into(), arguments: arguments.into() }
    }

    #[test]
    fn calls_side_by_side_do_not_step_over_the_number_at_which_it_is_asked() {
        let (mut repeats, call) = (Repeats::default(), call("{}"));
        let run = |repeats: &mut Repeats, times| {
            (0..times).for_each(|_| repeats.count(&call, &Outcome::Done("x".into()), false));
            repeats.asks(&call).is_some()
        };
        assert!(!run(&mut repeats, 2));
        assert!(run(&mut repeats, 2), "four, and none of them was the third alone");
        assert!(run(&mut repeats, 4), "what was not allowed stays asked about");
        repeats.allow(&call);
        assert!(!run(&mut repeats, 2));
        repeats.allow(&call);
        assert!(run(&mut repeats, 1), "a yes before it is asked moves nothing on");
        repeats.allow(&call);
        assert!(!run(&mut repeats, 0));
        repeats.count(&call, &Outcome::Done("y".into()), false);
        assert!(!run(&mut repeats, 2) && run(&mut repeats, 3), "another result begins anew");
    }
}
