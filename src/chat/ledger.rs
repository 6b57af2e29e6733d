//! Simulated results of a dry run by call: the same call on the same overlay gets the same result.

use super::{CallId, Decision, Digest, Entry, Outcome, ResultOrigin, SimulatedResult};
use std::collections::HashMap;

/// Simulated results, collected from the entries of a session, whether it is new, resumed or copied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulationLedger {
    /// Calls that are not settled: the tool and its arguments.
    open_calls: HashMap<CallId, (String, String)>,
    results: Vec<LedgerResult>,
    /// Indexes in `results` by the digest of the call and the overlay.
    by_key: HashMap<Digest, usize>,
}

/// A simulated result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerResult {
    /// Name of the tool.
    pub tool: String,
    pub arguments: String,
    /// The text that the model received.
    pub text: String,
    pub origin: SimulatedResult,
}

impl SimulationLedger {
    /// Collects the results in these entries.
    pub fn from_entries(entries: &[Entry]) -> Self {
        let mut ledger = Self::default();
        entries.iter().for_each(|entry| ledger.apply_entry(entry));
        ledger
    }

    /// Processes the next entry of the session.
    pub fn apply_entry(&mut self, entry: &Entry) {
        match entry.unwrap_sub_agent() {
            Entry::Replied { calls, .. } => {
                let calls = calls.iter().map(|call| (call.id.clone(), (call.name.clone(), call.arguments.clone())));
                self.open_calls.extend(calls);
            }
            Entry::Decided { call, decision: Decision::Edited(arguments), .. } => {
                if let Some((_, call_arguments)) = self.open_calls.get_mut(call) {
                    *call_arguments = arguments.to_string();
                }
            }
            Entry::Settled { call, outcome, staged, .. } => {
                let open_call = self.open_calls.remove(call);
                if let (Some((tool, arguments)), Outcome::Rehearsed(text), Some(ResultOrigin::Simulated(simulated))) =
                    (open_call, outcome, staged)
                {
                    self.insert(LedgerResult { tool, arguments, text: text.clone(), origin: (**simulated).clone() });
                }
            }
            _ => {}
        }
    }

    /// Adds a result, unless it has no key or there is one for the same call on the same overlay.
    pub fn insert(&mut self, result: LedgerResult) {
        if !result.origin.key.is_none() && !self.by_key.contains_key(&result.origin.key) {
            self.by_key.insert(result.origin.key.clone(), self.results.len());
            self.results.push(result);
        }
    }

    /// Returns the result for the same call on the same overlay. `key` is the digest of both.
    pub fn get(&self, key: &Digest) -> Option<&LedgerResult> {
        self.results.get(*self.by_key.get(key)?)
    }

    /// Returns all results, oldest first.
    pub fn results(&self) -> &[LedgerResult] {
        &self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Decider, SimulationSource, ToolCall};
    use serde_json::json;

    fn call_entry(id: &str, arguments: &str) -> Entry {
        let call = ToolCall { id: id.into(), name: "mail".into(), arguments: arguments.into() };
        Entry::from_calls(vec![call])
    }

    fn settle_entry(id: &str, text: &str, key: &str) -> Entry {
        let key = if key.is_empty() { Digest::default() } else { Digest::of_bytes(key.as_bytes()) };
        let simulated = SimulatedResult { key, ..SimulatedResult::from_source(SimulationSource::Model) };
        Entry::Settled {
            call: id.into(),
            outcome: Outcome::Rehearsed(text.into()),
            took_ms: 1,
            sha256: Digest::default(),
            staged: Some(ResultOrigin::Simulated(Box::new(simulated))),
            usage: None,
        }
    }

    #[test]
    fn r30_the_first_result_of_a_call_on_an_overlay_is_kept() {
        let in_sub_agent = |entry| Entry::SubAgent { call: "s".into(), entry: Box::new(entry) };
        let edited = Entry::Decided {
            call: "a".into(),
            decision: Decision::Edited(json!({ "to": 2 })),
            by: Decider::Headless,
            sha256: Digest::default(),
        };
        let entries = [
            call_entry("a", "{\"to\":1}"),
            edited,
            settle_entry("a", "first", "k"),
            in_sub_agent(call_entry("s/1", "{}")),
            in_sub_agent(settle_entry("s/1", "below", "l")),
            call_entry("b", "{}"),
            settle_entry("b", "second", "k"),
            call_entry("c", "{}"),
            settle_entry("c", "no key", ""),
            settle_entry("d", "of an unknown call", "m"),
        ];
        let ledger = SimulationLedger::from_entries(&entries);
        let results: Vec<_> =
            ledger.results().iter().map(|result| (result.arguments.as_str(), result.text.as_str())).collect();
        assert_eq!(results, [("{\"to\":2}", "first"), ("{}", "below")]);
        assert_eq!(ledger.get(&Digest::of_bytes(b"k")).map(|result| result.text.as_str()), Some("first"));
        assert_eq!(ledger.get(&Digest::of_bytes(b"m")), None);
        assert_eq!(ledger.get(&Digest::default()), None);
    }
}
