//! Simulated results of a dry run by call: the same call on the same overlay gets the same result.

use super::{CallId, Decision, Digest, Entry, Outcome, Simulated, Staged};
use std::collections::HashMap;

/// Simulated results, collected from the entries of a session, whether it is live, resumed or copied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Calls that are not settled: the tool and its arguments.
    open: HashMap<CallId, (String, String)>,
    kept: Vec<Kept>,
    by_key: HashMap<Digest, usize>,
}

/// A simulated result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Name of the tool.
    pub tool: String,
    pub arguments: String,
    /// The text that the model received.
    pub text: String,
    /// Origin of the result.
    pub how: Simulated,
}

impl Ledger {
    /// Collects the results in these entries.
    pub fn of(entries: &[Entry]) -> Self {
        let mut ledger = Self::default();
        entries.iter().for_each(|entry| ledger.note(entry));
        ledger
    }

    /// Processes the next entry of the session.
    pub fn note(&mut self, entry: &Entry) {
        match entry.bare() {
            Entry::Replied { calls, .. } => {
                let calls = calls.iter().map(|it| (it.id.clone(), (it.name.clone(), it.arguments.clone())));
                self.open.extend(calls);
            }
            Entry::Decided { call, decision: Decision::Edited(arguments), .. } => {
                if let Some((_, old)) = self.open.get_mut(call) {
                    *old = arguments.to_string();
                }
            }
            Entry::Settled { call, outcome, staged, .. } => {
                let called = self.open.remove(call);
                if let (Some((tool, arguments)), Outcome::Rehearsed(text), Some(Staged::Simulated(how))) =
                    (called, outcome, staged)
                {
                    self.keep(Kept { tool, arguments, text: text.clone(), how: (**how).clone() });
                }
            }
            _ => {}
        }
    }

    /// Adds a result, unless there is one for the same call on the same overlay.
    pub fn keep(&mut self, kept: Kept) {
        if !kept.how.key.is_none() && !self.by_key.contains_key(&kept.how.key) {
            self.by_key.insert(kept.how.key.clone(), self.kept.len());
            self.kept.push(kept);
        }
    }

    /// Returns the result for the same call on the same overlay.
    pub fn same(&self, key: &Digest) -> Option<&Kept> {
        self.kept.get(*self.by_key.get(key)?)
    }

    /// Returns all results, oldest first.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{By, How, ToolCall};
    use serde_json::json;

    fn called(id: &str, arguments: &str) -> Entry {
        let call = ToolCall { id: id.into(), name: "mail".into(), arguments: arguments.into() };
        Entry::called(vec![call])
    }

    fn settled(id: &str, text: &str, key: &str) -> Entry {
        let key = if key.is_empty() { Digest::default() } else { Digest::of(key.as_bytes()) };
        let how = Simulated { key, ..Simulated::of(How::Imagined) };
        Entry::Settled {
            call: id.into(),
            outcome: Outcome::Rehearsed(text.into()),
            took_ms: 1,
            sha256: Digest::default(),
            staged: Some(Staged::Simulated(Box::new(how))),
        }
    }

    #[test]
    fn r30_the_first_result_of_a_call_on_an_overlay_is_kept() {
        let beneath = |entry| Entry::Beneath { call: "s".into(), entry: Box::new(entry) };
        let edited = Entry::Decided {
            call: "a".into(),
            decision: Decision::Edited(json!({ "to": 2 })),
            by: By::Nobody,
            sha256: Digest::default(),
        };
        let entries = [
            called("a", "{\"to\":1}"),
            edited,
            settled("a", "first", "k"),
            beneath(called("s/1", "{}")),
            beneath(settled("s/1", "below", "l")),
            called("b", "{}"),
            settled("b", "second", "k"),
            called("c", "{}"),
            settled("c", "no key", ""),
            settled("d", "of an unknown call", "m"),
        ];
        let ledger = Ledger::of(&entries);
        let kept: Vec<_> =
            ledger.kept().iter().map(|kept| (kept.arguments.as_str(), kept.text.as_str())).collect();
        assert_eq!(kept, [("{\"to\":2}", "first"), ("{}", "below")]);
        assert_eq!(ledger.same(&Digest::of(b"k")).map(|kept| kept.text.as_str()), Some("first"));
        assert_eq!(ledger.same(&Digest::of(b"m")), None);
        assert_eq!(ledger.same(&Digest::default()), None);
    }
}
