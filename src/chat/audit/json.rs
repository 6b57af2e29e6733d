//! JSON form of a call's record.

use super::{Holds, Record};
use crate::chat::{Advice, Adviser, Answer, By, Decision, Digest, Entry, Outcome, Staged, Status};
use serde_json::{Value, json};

impl Record<'_> {
    /// Returns all that is known about the call as one object; unknown values are null. Fields may be added and are
    /// never renamed. `time` returns when an entry was written, in milliseconds since 1970.
    ///
    /// Fields: `call`, `tool`, `arguments` (the text sent by the model), `asked_at`; `summary`, `access`, `destroys`,
    /// `verdict`, `why`, `files`, `environment` (of the last plan); `consulted` (the reviews before it); `decision`,
    /// `who`, `key`, `after_ms`, `words`, `grant`, `decided_at`; `edits`; `outcome`, `result`, `took_ms`, `ended_at`,
    /// `staged` (origin of a rehearsed result), `simulated` (details of it); `sha256`, `holds`, `wrong`; `steps`;
    /// `sub_agent` (name of the sub-agent that made the call).
    pub fn json(&self, time: &dyn Fn(usize) -> Option<u64>) -> Value {
        let mut object = json!({
            "call": self.call.id.0, "tool": self.call.name, "arguments": self.call.arguments,
            "asked_at": time(self.made),
        });
        let holds = self.holds();
        let (holds, wrong) = match holds {
            Holds::Yes => (Some(true), None),
            Holds::No(why) => (Some(false), Some(why)),
            Holds::Unknown => (None, None),
        };
        let edits = self.steps.iter().filter_map(|(_, entry)| match entry {
            Entry::Decided { decision: Decision::Edited(arguments), .. } => Some(arguments.clone()),
            _ => None,
        });
        let parts = [
            judged(self.planned()),
            json!({ "consulted": self.consulted().into_iter().map(advice).collect::<Vec<Value>>() }),
            decided(self, time),
            json!({ "edits": edits.collect::<Vec<Value>>() }),
            ended(self, time),
            json!({ "sha256": self.sha256(), "holds": holds, "wrong": wrong }),
            json!({ "steps": self.steps.iter().map(|(at, entry)| step(entry, time(*at))).collect::<Vec<Value>>() }),
            json!({ "sub_agent": self.sub_agent }),
        ];
        for part in parts {
            if let (Some(object), Value::Object(part)) = (object.as_object_mut(), part) {
                object.extend(part);
            }
        }
        object
    }
}

fn judged(planned: Option<&Entry>) -> Value {
    let Some(Entry::Planned { summary, access, destroys, basis, verdict, why, .. }) = planned else {
        return json!({
            "summary": null, "access": null, "destroys": null, "verdict": null, "why": null, "files": [],
            "environment": [],
        });
    };
    json!({
        "summary": summary, "access": access, "destroys": destroys, "verdict": verdict,
        "why": Some(why).filter(|why| !why.is_empty()), "files": basis.files,
        "environment": basis.environment,
    })
}

fn decided(record: &Record<'_>, time: &dyn Fn(usize) -> Option<u64>) -> Value {
    let at = record.steps.iter().rev().find(|(_, entry)| record.decided() == Some(*entry)).map(|(at, _)| *at);
    let (key, after) = pressed(record.by());
    let mut decision = json!({
        "decision": null, "who": record.who(), "key": key, "after_ms": after, "words": null, "grant": null,
        "decided_at": at.and_then(time),
    });
    match record.decided() {
        Some(Entry::Decided { decision: made, .. }) => {
            decision["decision"] = word(made).into();
            match made {
                Decision::Deny(words) if !words.is_empty() => decision["words"] = words.as_str().into(),
                Decision::Always(grant) => decision["grant"] = json!(grant),
                Decision::Selected(rejected) => decision["rejected"] = json!(rejected),
                Decision::Once | Decision::Edited(_) | Decision::Deny(_) => {}
            }
        }
        Some(Entry::Answered { answer, .. }) => decision["decision"] = answered(answer).into(),
        _ => {}
    }
    decision
}

fn ended(record: &Record<'_>, time: &dyn Fn(usize) -> Option<u64>) -> Value {
    let settled = record.steps.iter().find(|(_, entry)| matches!(entry, Entry::Settled { .. }));
    match settled {
        Some((at, Entry::Settled { outcome, took_ms, staged, .. })) => json!({
            "outcome": outcome_word(outcome), "result": outcome.text(), "took_ms": took_ms, "ended_at": time(*at),
            "staged": staged.as_ref().map(Staged::word), "simulated": staged.as_ref().map(Staged::json),
        }),
        _ => {
            json!({ "outcome": "open", "result": null, "took_ms": null, "ended_at": null, "staged": null, "simulated": null })
        }
    }
}

/// Returns the JSON of a review.
fn advice(entry: &Entry) -> Value {
    let Entry::Consulted { by, before, advice, why, failed, took_ms, usage, sha256, .. } = entry else {
        return Value::Null;
    };
    let (who, name) = match by {
        Adviser::Hook(name) => ("hook", Some(name)),
        Adviser::SecondReader => ("second_reader", None),
    };
    json!({
        "who": who, "name": name, "before": before, "verdict": advice.word(),
        "why": Some(why).filter(|why| !why.is_empty()), "failed": failed, "took_ms": took_ms, "usage": usage,
        "sha256": kept(sha256),
    })
}

/// Returns the JSON of one step: kind, time, source and digest.
fn step(entry: &Entry, at: Option<u64>) -> Value {
    match entry {
        Entry::Planned { verdict, why, sha256, .. } => json!({
            "at": at, "step": "judged", "verdict": verdict, "why": why, "sha256": kept(sha256),
        }),
        Entry::Consulted { .. } => {
            let mut said = advice(entry);
            (said["at"], said["step"]) = (at.into(), "consulted".into());
            said
        }
        Entry::Asked { questions, sha256, .. } => json!({
            "at": at, "step": "asked", "questions": questions.list.len(), "sha256": kept(sha256),
        }),
        Entry::Decided { decision, by, sha256, .. } => {
            let (key, after) = pressed(Some(by));
            json!({
                "at": at, "step": "decided", "decision": word(decision), "who": by.word(), "key": key,
                "after_ms": after, "sha256": kept(sha256),
            })
        }
        Entry::Answered { answer, by, sha256, .. } => {
            let (key, after) = pressed(by.as_ref());
            json!({
                "at": at, "step": "answered", "decision": answered(answer), "who": by.as_ref().map(By::word), "key": key,
                "after_ms": after, "sha256": kept(sha256),
            })
        }
        Entry::Settled { outcome, took_ms, sha256, .. } => json!({
            "at": at, "step": "ended", "outcome": outcome_word(outcome), "took_ms": took_ms, "sha256": kept(sha256),
        }),
        _ => Value::Null,
    }
}

impl Record<'_> {
    /// Returns who decided: `person`, `file`, `nobody`, `hook` if a hook allowed or denied the call, or `policy` if
    /// nobody was asked.
    pub fn who(&self) -> Option<&'static str> {
        match (self.decided(), self.by(), self.planned()) {
            (Some(_), by, _) => by.map(By::word),
            (None, _, Some(Entry::Planned { verdict, .. })) if self.is_of_hook(verdict) => Some("hook"),
            (None, _, Some(Entry::Planned { verdict, .. })) if verdict != "ask" => Some("policy"),
            (None, _, _) => None,
        }
    }
}

impl Record<'_> {
    /// Returns whether a hook determined the last verdict.
    fn is_of_hook(&self, verdict: &str) -> bool {
        self.consulted().into_iter().any(|entry| match entry {
            Entry::Consulted { advice: Advice::Allow, before, .. } => verdict == "allow" && before == "ask",
            Entry::Consulted { advice: Advice::Deny, .. } => verdict == "refuse",
            _ => false,
        })
    }
}

impl By {
    /// Returns its name in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Person { .. } => "person",
            Self::File => "file",
            Self::Nobody => "nobody",
        }
    }
}

/// Returns the digest, if one was recorded.
fn kept(sha256: &Digest) -> Option<&Digest> {
    Some(sha256).filter(|sha256| !sha256.is_none())
}

fn pressed(by: Option<&By>) -> (Option<&str>, Option<u64>) {
    match by {
        Some(By::Person { key, after_ms }) => (Some(key), Some(*after_ms)),
        Some(By::File | By::Nobody) | None => (None, None),
    }
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "once",
        Decision::Selected(_) => "selected",
        Decision::Always(_) => "always",
        Decision::Edited(_) => "edited",
        Decision::Deny(_) => "deny",
    }
}

fn answered(answer: &Answer) -> &'static str {
    match answer.status {
        Status::Answered => "answered",
        Status::Declined => "declined",
        Status::Deferred => "deferred",
    }
}

/// Returns the name of an outcome.
pub fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Rehearsed(_) => "rehearsed",
        Outcome::Interrupted(_) => "interrupted",
    }
}
