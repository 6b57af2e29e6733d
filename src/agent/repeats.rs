//! Detection of calls repeated within a turn with the same outcome.

use crate::chat::{Outcome, ToolCall};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of equal calls with equal outcomes before the user is asked, and again after each approval. Parallel calls
/// are counted when they end.
const MOST: u32 = 3;

/// Calls of the current turn, with the last outcome and the number of times in a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repeats(Vec<Repeat>);

#[derive(Debug, Clone, PartialEq)]
struct Repeat {
    call: u64,
    came_to: u64,
    times: u32,
    /// The user is asked from this number on.
    asks_from: u32,
}

impl Repeats {
    /// Counts a call that has ended. One that may have changed something clears the counts of all others.
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

    /// Records an approval. A call that was asked about because of repetition may be repeated as often again.
    pub(super) fn allow(&mut self, call: &ToolCall) {
        let call = hash((&call.name, &call.arguments));
        let asked = self.0.iter_mut().find(|repeat| repeat.call == call && repeat.times >= repeat.asks_from);
        if let Some(repeat) = asked {
            repeat.asks_from = repeat.times + MOST;
        }
    }

    /// Returns the reason to ask about a call that otherwise needs no approval.
    pub(super) fn asks(&self, call: &ToolCall) -> Option<String> {
        let call = hash((&call.name, &call.arguments));
        let Repeat { times, asks_from, .. } = self.0.iter().find(|repeat| repeat.call == call)?;
        (times >= asks_from).then(|| format!("{times} equal calls with the same outcome in this turn"))
    }

    /// Clears all counts when a turn starts.
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
    fn asks_about_repeats_even_if_parallel_calls_skip_the_limit() {
        let (mut repeats, call) = (Repeats::default(), call("{}"));
        let run = |repeats: &mut Repeats, times| {
            (0..times).for_each(|_| repeats.count(&call, &Outcome::Done("x".into()), false));
            repeats.asks(&call).is_some()
        };
        assert!(!run(&mut repeats, 2));
        assert!(run(&mut repeats, 2), "four, none of which ended as the third");
        assert!(run(&mut repeats, 4), "still asks without an approval");
        repeats.allow(&call);
        assert!(!run(&mut repeats, 2));
        repeats.allow(&call);
        assert!(run(&mut repeats, 1), "an approval before the limit changes nothing");
        repeats.allow(&call);
        assert!(!run(&mut repeats, 0));
        repeats.count(&call, &Outcome::Done("y".into()), false);
        assert!(!run(&mut repeats, 2) && run(&mut repeats, 3), "another outcome restarts the count");
    }
}
