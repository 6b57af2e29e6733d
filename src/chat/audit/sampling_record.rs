//! Record of a request of an MCP server for an answer of the model.

use crate::chat::sampling::SamplingStep;
use crate::chat::{Decider, Entry};
use serde_json::{Value, json};

/// A request, from the decision to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRecord<'a> {
    /// Its steps in order, each with the index of its entry; at least one.
    pub steps: Vec<(usize, &'a SamplingStep)>,
}

impl<'a> SamplingRecord<'a> {
    /// Collects the requests of a session. Each begins with a decision; steps without one are left out.
    pub(super) fn collect(entries: &'a [Entry]) -> Vec<Self> {
        let mut records: Vec<Self> = Vec::new();
        let steps = entries.iter().enumerate().filter_map(|(index, entry)| match entry {
            Entry::Sampling(step) => Some((index, &**step)),
            _ => None,
        });
        for (index, step) in steps {
            if matches!(step, SamplingStep::Decided { .. }) {
                records.push(Self { steps: vec![(index, step)] });
            } else if let Some(record) = records.iter_mut().rfind(|record| record.server() == step.server()) {
                record.steps.push((index, step));
            }
        }
        records
    }

    /// Returns the index of its first entry.
    pub fn first_index(&self) -> usize {
        self.steps.first().map_or(0, |(index, _)| *index)
    }

    /// Returns the name of the server.
    pub fn server(&self) -> &'a str {
        self.steps.first().map_or("", |(_, step)| step.server())
    }

    /// Returns whether an approved request has no recorded end.
    pub fn is_open(&self) -> bool {
        self.steps.last().is_some_and(|(_, step)| step.is_open())
    }

    /// Returns whether the recorded request is the one that was shown.
    pub fn is_intact(&self) -> bool {
        self.steps.iter().all(|(_, step)| match step {
            SamplingStep::Decided { request, sha256, .. } => request.digest() == *sha256,
            SamplingStep::Answered { .. } | SamplingStep::Returned { .. } => true,
        })
    }

    /// Describes its end, or what it is at.
    pub fn describe(&self) -> String {
        let end = self.steps.last().map(|(_, step)| step.describe()).unwrap_or_default();
        match (self.is_intact(), self.is_open()) {
            (false, _) => format!("warning: the recorded request was modified · {end}"),
            (true, true) => format!("{end} · no end is recorded"),
            (true, false) => end,
        }
    }

    /// Returns all that is known about it as one object. `time` is that of [`super::Record::to_json`].
    pub(super) fn to_json(&self, time: &dyn Fn(usize) -> Option<u64>) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(|(index, step)| step_json(step, time(*index))).collect();
        json!({ "sampling": self.server(), "is_intact": self.is_intact(), "is_open": self.is_open(), "steps": steps })
    }
}

fn step_json(step: &SamplingStep, time: Option<u64>) -> Value {
    match step {
        SamplingStep::Decided { request, model, is_approved, by, sha256 } => json!({
            "at": time, "kind": "decision", "request": request, "model": model, "is_approved": is_approved,
            "decided_by": by.name(), "sha256": sha256,
        }),
        SamplingStep::Answered { text, error, usage, took_ms, .. } => json!({
            "at": time, "kind": "answer", "text": text, "error": error, "usage": usage, "took_ms": took_ms,
        }),
        SamplingStep::Returned { is_approved, by, .. } => json!({
            "at": time, "kind": "return", "is_approved": is_approved, "decided_by": by.as_ref().map(Decider::name),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::audit::{AuditItem, AuditKey, collect_items};
    use crate::chat::sampling::SamplingRequest;

    fn decided(server: &str, is_approved: bool) -> SamplingStep {
        let content = json!({ "type": "text", "text": "Hi" });
        let parameters = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 9 });
        let request = SamplingRequest::parse(server, &parameters).unwrap();
        let sha256 = request.digest();
        SamplingStep::Decided { request, model: "m at h".to_owned(), is_approved, by: Decider::File, sha256 }
    }

    fn answered(server: &str) -> SamplingStep {
        let (server, text) = (server.to_owned(), "Hello".to_owned());
        SamplingStep::Answered { server, text, error: None, usage: None, took_ms: 5 }
    }

    #[test]
    fn steps_of_two_servers_are_told_apart_and_a_modified_request_is_found() {
        let mut changed = decided("c", false);
        if let SamplingStep::Decided { request, .. } = &mut changed {
            request.system.push('x');
        }
        let returned = SamplingStep::Returned { server: "a".to_owned(), is_approved: true, by: None };
        let steps = [decided("a", true), decided("b", true), answered("b"), answered("a"), returned, changed];
        let entries: Vec<Entry> = steps.into_iter().map(|step| Entry::Sampling(Box::new(step))).collect();
        let items = collect_items(&entries);
        let keys: Vec<AuditKey> = items.iter().map(AuditItem::key).collect();
        assert_eq!(keys, [AuditKey::Sampling(0), AuditKey::Sampling(1), AuditKey::Sampling(5)]);
        let facts = |item: &AuditItem<'_>| match item {
            AuditItem::Sampling(record) => (record.steps.len(), record.is_open(), record.is_intact()),
            other => panic!("{other:?}"),
        };
        let facts: Vec<_> = items.iter().map(facts).collect();
        assert_eq!(facts, [(3, false, true), (2, true, true), (1, false, false)]);
        let json = items[0].to_json(&|index| Some(index as u64));
        assert_eq!((&json["sampling"], &json["steps"][2]["at"]), (&json!("a"), &json!(4)));
        assert_eq!(json["steps"][0]["request"]["messages"][0]["text"], "Hi");
    }

    #[test]
    fn a_step_is_read_back_as_it_was_written() {
        for step in [decided("a", true), answered("a")] {
            let entry = Entry::Sampling(Box::new(step));
            let line = serde_json::to_string(&entry).unwrap();
            assert!(line.starts_with("{\"kind\":\"sampling\",\"step\":"), "{line}");
            assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), entry);
        }
    }
}
