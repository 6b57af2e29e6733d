//! Detection of calls repeated within a turn with the same outcome.

use crate::chat::{Outcome, ToolCall};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of equal calls with equal outcomes after which the user is asked before another one; each approval allows as
/// many again. Parallel calls are counted when they end.
const MAX_REPEATS: u32 = 3;

/// Calls of the current turn, each with its last outcome and how often it had this outcome in a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RepeatedCalls(Vec<RepeatedCall>);

#[derive(Debug, Clone, PartialEq)]
struct RepeatedCall {
    call_hash: u64,
    outcome_hash: u64,
    times: u32,
    /// The user is asked before another call if `times` has reached this number.
    ask_from: u32,
}

impl RepeatedCalls {
    /// Counts a call that has ended. One that may have changed something clears the counts of all others.
    pub(super) fn count_outcome(&mut self, call: &ToolCall, outcome: &Outcome, has_effects: bool) {
        let (call_hash, outcome_hash) = (hash_call(call), hash_value(outcome.text()));
        if has_effects {
            self.0.retain(|repeat| repeat.call_hash == call_hash);
        }
        match self.0.iter_mut().find(|repeat| repeat.call_hash == call_hash) {
            Some(repeat) if repeat.outcome_hash == outcome_hash => repeat.times += 1,
            Some(repeat) => *repeat = RepeatedCall { call_hash, outcome_hash, times: 1, ask_from: MAX_REPEATS },
            None => self.0.push(RepeatedCall { call_hash, outcome_hash, times: 1, ask_from: MAX_REPEATS }),
        }
    }

    /// Records an approval. A call that was asked about because of repetition may be repeated as often again.
    pub(super) fn record_approval(&mut self, call: &ToolCall) {
        let call_hash = hash_call(call);
        let asked_repeat =
            self.0.iter_mut().find(|repeat| repeat.call_hash == call_hash && repeat.times >= repeat.ask_from);
        if let Some(repeat) = asked_repeat {
            repeat.ask_from = repeat.times + MAX_REPEATS;
        }
    }

    /// Returns the reason to ask about a call that otherwise needs no approval.
    pub(super) fn repeat_reason(&self, call: &ToolCall) -> Option<String> {
        let call_hash = hash_call(call);
        let RepeatedCall { times, ask_from, .. } = self.0.iter().find(|repeat| repeat.call_hash == call_hash)?;
        (times >= ask_from).then(|| format!("{times} equal calls with the same outcome in this turn"))
    }
}

fn hash_call(call: &ToolCall) -> u64 {
    hash_value((&call.name, &call.arguments))
}

fn hash_value(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_call(arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: "read_file".into(), arguments: arguments.into() }
    }

    #[test]
    fn asks_about_repeats_even_if_parallel_calls_skip_the_limit() {
        let (mut repeats, call) = (RepeatedCalls::default(), read_call("{}"));
        let asks_after = |repeats: &mut RepeatedCalls, times| {
            (0..times).for_each(|_| repeats.count_outcome(&call, &Outcome::Done("x".into()), false));
            repeats.repeat_reason(&call).is_some()
        };
        assert!(!asks_after(&mut repeats, 2));
        assert!(asks_after(&mut repeats, 2), "four calls, and no approval request exactly at the third");
        assert!(asks_after(&mut repeats, 4), "still asks without an approval");
        repeats.record_approval(&call);
        assert!(!asks_after(&mut repeats, 2));
        repeats.record_approval(&call);
        assert!(asks_after(&mut repeats, 1), "an approval before the limit changes nothing");
        repeats.record_approval(&call);
        assert!(!asks_after(&mut repeats, 0));
        repeats.count_outcome(&call, &Outcome::Done("y".into()), false);
        assert!(!asks_after(&mut repeats, 2) && asks_after(&mut repeats, 3), "another outcome restarts the count");
    }
}
