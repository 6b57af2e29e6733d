//! Detection of calls repeated within a turn with the same outcome.

use crate::chat::{Outcome, ToolCall};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of equal calls with equal outcomes before the user is asked, and again after each approval. Parallel calls
/// are counted when they end.
const MAX_REPEATS: u32 = 3;

/// Calls of the current turn, with the last outcome and the number of times in a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RepeatedCalls(Vec<RepeatedCall>);

#[derive(Debug, Clone, PartialEq)]
struct RepeatedCall {
    call: u64,
    outcome: u64,
    times: u32,
    /// The user is asked from this number on.
    ask_from: u32,
}

impl RepeatedCalls {
    /// Counts a call that has ended. One that may have changed something clears the counts of all others.
    pub(super) fn count_outcome(&mut self, call: &ToolCall, outcome: &Outcome, changed: bool) {
        let (call, came_to) = (hash_value((&call.name, &call.arguments)), hash_value(outcome.text()));
        if changed {
            self.0.retain(|repeat| repeat.call == call);
        }
        match self.0.iter_mut().find(|repeat| repeat.call == call) {
            Some(repeat) if repeat.outcome == came_to => repeat.times += 1,
            Some(repeat) => *repeat = RepeatedCall { call, outcome: came_to, times: 1, ask_from: MAX_REPEATS },
            None => self.0.push(RepeatedCall { call, outcome: came_to, times: 1, ask_from: MAX_REPEATS }),
        }
    }

    /// Records an approval. A call that was asked about because of repetition may be repeated as often again.
    pub(super) fn record_approval(&mut self, call: &ToolCall) {
        let call = hash_value((&call.name, &call.arguments));
        let asked = self.0.iter_mut().find(|repeat| repeat.call == call && repeat.times >= repeat.ask_from);
        if let Some(repeat) = asked {
            repeat.ask_from = repeat.times + MAX_REPEATS;
        }
    }

    /// Returns the reason to ask about a call that otherwise needs no approval.
    pub(super) fn repeat_reason(&self, call: &ToolCall) -> Option<String> {
        let call = hash_value((&call.name, &call.arguments));
        let RepeatedCall { times, ask_from: asks_from, .. } = self.0.iter().find(|repeat| repeat.call == call)?;
        (times >= asks_from).then(|| format!("{times} equal calls with the same outcome in this turn"))
    }

    /// Clears all counts when a turn starts.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn hash_value(what: impl Hash) -> u64 {
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
        let (mut repeats, call) = (RepeatedCalls::default(), call("{}"));
        let run = |repeats: &mut RepeatedCalls, times| {
            (0..times).for_each(|_| repeats.count_outcome(&call, &Outcome::Done("x".into()), false));
            repeats.repeat_reason(&call).is_some()
        };
        assert!(!run(&mut repeats, 2));
        assert!(run(&mut repeats, 2), "four, none of which ended as the third");
        assert!(run(&mut repeats, 4), "still asks without an approval");
        repeats.record_approval(&call);
        assert!(!run(&mut repeats, 2));
        repeats.record_approval(&call);
        assert!(run(&mut repeats, 1), "an approval before the limit changes nothing");
        repeats.record_approval(&call);
        assert!(!run(&mut repeats, 0));
        repeats.count_outcome(&call, &Outcome::Done("y".into()), false);
        assert!(!run(&mut repeats, 2) && run(&mut repeats, 3), "another outcome restarts the count");
    }
}
