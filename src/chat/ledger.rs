//! What a dry run made up so far: the same call on the same stage is answered from here.

use super::{CallId, Decision, Digest, Entry, Outcome, Simulated, Staged};
use std::collections::HashMap;

/// The results that stand in for what was not done, as the entries of a session have them: live, resumed or copied it is
/// the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Calls that are not settled: the tool and its arguments.
    open: HashMap<CallId, (String, String)>,
    kept: Vec<Kept>,
    by_key: HashMap<Digest, usize>,
}

/// A result that stands in for what was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: String,
    /// What the model was told.
    pub text: String,
    /// How it came about.
    pub how: Simulated,
}

impl Ledger {
    /// That of these entries.
    pub fn of(entries: &[Entry]) -> Self {
        let mut ledger = Self::default();
        entries.iter().for_each(|entry| ledger.note(entry));
        ledger
    }

    /// Takes in the next entry of the session.
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

    /// Keeps a result, where there is none of the same call on the same stage yet.
    pub fn keep(&mut self, kept: Kept) {
        if !kept.how.key.is_none() && !self.by_key.contains_key(&kept.how.key) {
            self.by_key.insert(kept.how.key.clone(), self.kept.len());
            self.kept.push(kept);
        }
    }

    /// The result of the same call on the same stage.
    pub fn same(&self, key: &Digest) -> Option<&Kept> {
        self.kept.get(*self.by_key.get(key)?)
    }

    /// All of them, oldest first.
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
    fn r30_the_first_result_of_a_call_on_a_stage_is_the_one_that_counts() {
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
            settled("d", "of a call that nobody made", "m"),
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
