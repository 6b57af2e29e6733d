//! JSON form of a call's record.

use super::{Integrity, Record};
use crate::chat::{
    Answer, AnswerStatus, Decider, Decision, Digest, Entry, Outcome, ResultOrigin, ReviewVerdict, Reviewer,
    extend_object,
};
use serde_json::{Value, json};

impl Record<'_> {
    /// Returns all that is known about the call as one object; unknown values are null. A renamed field is also given
    /// under its old name for one release. `time` returns when the entry at an index was written, in milliseconds since
    /// 1970.
    ///
    /// Fields: `call`, `tool`, `arguments` (the text sent by the model), `asked_at`; `summary`, `access`, `destroys`,
    /// `policy_verdict`, `why`, `files`, `environment` (of the last plan); `reviews` (of the last plan); `decision`,
    /// `decided_by`, `key`, `after_ms`, `message`, `grant`, `decided_at`, `rejected` (if `decision` is `selected`);
    /// `edits`; `outcome`, `result`, `took_ms`, `ended_at`, `origin` (of a rehearsed result), `simulation` (details of
    /// it); `sha256`, `is_intact`, `mismatch`; `steps`; `sub_agent` (name of the sub-agent that made the call);
    /// `is_served` (true if another program made it).
    ///
    /// Old names: `verdict` (with `refuse` for `deny`), `consulted`, `who`, `words`, `staged`, `simulated`, `holds`,
    /// `wrong`; in a step `step`, `verdict` and `who`.
    pub fn to_json(&self, time: &dyn Fn(usize) -> Option<u64>) -> Value {
        let mut object = json!({
            "call": self.call.id.0, "tool": self.call.name, "arguments": self.call.arguments,
            "asked_at": time(self.reply_index),
        });
        let (is_intact, mismatch) = match self.verify() {
            Integrity::Intact => (Some(true), None),
            Integrity::Broken(reason) => (Some(false), Some(reason)),
            Integrity::Unknown => (None, None),
        };
        let edits = self.steps.iter().filter_map(|(_, entry)| match entry {
            Entry::Decided { decision: Decision::Edited(arguments), .. } => Some(arguments.clone()),
            _ => None,
        });
        let parts = [
            plan_json(self.last_plan()),
            json!({ "reviews": self.reviews().into_iter().map(review_json).collect::<Vec<Value>>() }),
            json!({ "consulted": self.reviews().into_iter().map(old_review_json).collect::<Vec<Value>>() }),
            decision_json(self, time),
            json!({ "edits": edits.collect::<Vec<Value>>() }),
            outcome_json(self, time),
            json!({ "sha256": self.sha256(), "is_intact": is_intact, "mismatch": mismatch }),
            json!({ "holds": is_intact, "wrong": mismatch }),
            json!({ "steps": self.steps.iter().map(|(index, entry)| step_json(entry, time(*index))).collect::<Vec<Value>>() }),
            json!({ "sub_agent": self.sub_agent, "is_served": self.is_served }),
        ];
        parts.into_iter().for_each(|part| extend_object(&mut object, part));
        object
    }
}

fn plan_json(last_plan: Option<&Entry>) -> Value {
    let Some(Entry::Planned { summary, access, destroys, preconditions, verdict, reason, .. }) = last_plan else {
        return json!({
            "summary": null, "access": null, "destroys": null, "policy_verdict": null, "verdict": null, "why": null,
            "files": [], "references": [], "environment": [],
        });
    };
    json!({
        "summary": summary, "access": access, "destroys": destroys, "policy_verdict": verdict_name(verdict),
        "verdict": verdict, "why": Some(reason).filter(|why| !why.is_empty()), "files": preconditions.files,
        "references": preconditions.references, "environment": preconditions.environment,
    })
}

fn decision_json(record: &Record<'_>, time: &dyn Fn(usize) -> Option<u64>) -> Value {
    let entry_index =
        record.steps.iter().rev().find(|(_, entry)| record.last_decision() == Some(*entry)).map(|(index, _)| *index);
    let (key, delay_ms) = key_press(record.decider());
    let mut decision = json!({
        "decision": null, "decided_by": record.decider_name(), "who": record.decider_name().map(old_decider_name),
        "key": key, "after_ms": delay_ms, "message": null, "words": null, "grant": null, "decided_at": entry_index.and_then(time),
    });
    match record.last_decision() {
        Some(Entry::Decided { decision: last, .. }) => {
            decision["decision"] = decision_name(last).into();
            match last {
                Decision::Deny(message) if !message.is_empty() => {
                    (decision["message"], decision["words"]) = (message.as_str().into(), message.as_str().into());
                }
                Decision::Always(grant) => decision["grant"] = json!(grant),
                Decision::Selected(rejected) => decision["rejected"] = json!(rejected),
                Decision::Kept(trial) => decision["trial"] = json!(trial),
                Decision::Once | Decision::Edited(_) | Decision::Deny(_) => {}
            }
        }
        Some(Entry::Answered { answer, .. }) => decision["decision"] = answer_name(answer).into(),
        _ => {}
    }
    decision
}

fn outcome_json(record: &Record<'_>, time: &dyn Fn(usize) -> Option<u64>) -> Value {
    let settlement = record.steps.iter().find(|(_, entry)| matches!(entry, Entry::Settled { .. }));
    let (outcome, took_ms, origin, ended_at) = match settlement {
        Some((at, Entry::Settled { outcome, took_ms, staged, .. })) => {
            (Some(outcome), Some(took_ms), staged.as_ref(), time(*at))
        }
        _ => (None, None, None, None),
    };
    json!({
        "outcome": outcome.map_or("open", outcome_name), "result": outcome.map(Outcome::text), "took_ms": took_ms,
        "ended_at": ended_at, "origin": origin.map(ResultOrigin::name), "simulation": origin.map(ResultOrigin::to_json),
        "staged": origin.map(ResultOrigin::as_str), "simulated": origin.map(ResultOrigin::to_old_json),
    })
}

fn review_json(entry: &Entry) -> Value {
    let Entry::Reviewed { reviewer, earlier_verdict, verdict, reason, is_failed, took_ms, usage, sha256, .. } = entry
    else {
        return Value::Null;
    };
    let (kind, name) = match reviewer {
        Reviewer::Hook(name) => ("hook", Some(name)),
        Reviewer::Model => ("model", None),
    };
    json!({
        "reviewer": kind, "name": name, "earlier_verdict": verdict_name(earlier_verdict), "verdict": verdict.as_str(),
        "why": Some(reason).filter(|why| !why.is_empty()), "is_failed": is_failed, "took_ms": took_ms, "usage": usage,
        "sha256": recorded_digest(sha256),
    })
}

/// Returns the JSON of a review with the field names of version 0.1.
fn old_review_json(entry: &Entry) -> Value {
    let Entry::Reviewed { reviewer, earlier_verdict, .. } = entry else { return Value::Null };
    let review = review_json(entry);
    let old_name = match reviewer {
        Reviewer::Hook(_) => "hook",
        Reviewer::Model => "second_reader",
    };
    json!({
        "who": old_name, "name": review["name"], "before": earlier_verdict, "verdict": review["verdict"],
        "why": review["why"], "failed": review["is_failed"], "took_ms": review["took_ms"], "usage": review["usage"],
        "sha256": review["sha256"],
    })
}

/// Returns the JSON of one step: kind, time, source and digest.
fn step_json(entry: &Entry, time_ms: Option<u64>) -> Value {
    let decided = |kind, old_kind, decision, by: Option<&Decider>, sha256| {
        let (key, delay_ms) = key_press(by);
        json!({
            "at": time_ms, "kind": kind, "step": old_kind, "decision": decision, "decided_by": by.map(Decider::name),
            "who": by.map(|by| old_decider_name(by.name())), "key": key, "after_ms": delay_ms,
            "sha256": recorded_digest(sha256),
        })
    };
    match entry {
        Entry::Planned { verdict, reason, sha256, .. } => json!({
            "at": time_ms, "kind": "verdict", "step": "judged", "policy_verdict": verdict_name(verdict), "verdict": verdict,
            "why": reason, "sha256": recorded_digest(sha256),
        }),
        Entry::Reviewed { .. } => {
            let mut step = review_json(entry);
            extend_object(&mut step, old_review_json(entry));
            (step["at"], step["kind"], step["step"]) = (time_ms.into(), "review".into(), "consulted".into());
            step
        }
        Entry::Asked { questions, sha256, .. } => json!({
            "at": time_ms, "kind": "question", "step": "asked", "questions": questions.list.len(), "sha256": recorded_digest(sha256),
        }),
        Entry::Tried { status, changes, paths, destroys, is_automatic, took_ms, trial, sha256, .. } => json!({
            "at": time_ms, "kind": "trial", "step": "tried", "status": status, "changes": changes, "paths": paths,
            "destroys": destroys, "is_automatic": is_automatic, "took_ms": took_ms, "trial": trial,
            "sha256": recorded_digest(sha256),
        }),
        Entry::Decided { decision, by, sha256, .. } => {
            decided("decision", "decided", decision_name(decision), Some(by), sha256)
        }
        Entry::Answered { answer, by, sha256, .. } => {
            decided("answer", "answered", answer_name(answer), by.as_ref(), sha256)
        }
        Entry::Settled { outcome, took_ms, sha256, .. } => json!({
            "at": time_ms, "kind": "outcome", "step": "ended", "outcome": outcome_name(outcome), "took_ms": took_ms,
            "sha256": recorded_digest(sha256),
        }),
        Entry::BackgroundStarted { number, .. } => {
            json!({ "at": time_ms, "kind": "background_start", "number": number })
        }
        Entry::BackgroundEnded(end) => json!({
            "at": time_ms, "kind": "background_end", "number": end.number, "status": end.status, "took_ms": end.took_ms,
        }),
        _ => Value::Null,
    }
}

impl Record<'_> {
    /// Returns who decided: `user`, `file` of answers, `headless`, `hook` if a hook allowed or denied the call, or
    /// `policy` if no decision was needed.
    pub fn decider_name(&self) -> Option<&'static str> {
        match (self.last_decision(), self.decider(), self.last_plan()) {
            (Some(_), by, _) => by.map(Decider::name),
            (None, _, Some(Entry::Planned { verdict, .. })) if self.is_decided_by_hook(verdict) => Some("hook"),
            (None, _, Some(Entry::Planned { verdict, .. })) if verdict != "ask" => Some("policy"),
            (None, _, _) => None,
        }
    }

    /// Returns whether a hook determined the last verdict.
    fn is_decided_by_hook(&self, verdict: &str) -> bool {
        self.reviews().into_iter().any(|entry| match entry {
            Entry::Reviewed { verdict: ReviewVerdict::Allow, earlier_verdict: earlier, .. } => {
                verdict == "allow" && earlier == "ask"
            }
            Entry::Reviewed { verdict: ReviewVerdict::Deny, .. } => verdict == "refuse",
            _ => false,
        })
    }
}

/// Returns the name of a decider in version 0.1, which is also the one in the log.
fn old_decider_name(name: &'static str) -> &'static str {
    match name {
        "user" => "person",
        "headless" => "nobody",
        name => name,
    }
}

/// Returns the name of a verdict, given the name in the log.
fn verdict_name(stored: &str) -> &str {
    if stored == "refuse" { "deny" } else { stored }
}

/// Returns the digest; `None` if none was recorded.
fn recorded_digest(sha256: &Digest) -> Option<&Digest> {
    Some(sha256).filter(|sha256| !sha256.is_none())
}

/// Returns the key of a decision and its delay in milliseconds; `None` unless the user pressed a key.
fn key_press(by: Option<&Decider>) -> (Option<&str>, Option<u64>) {
    match by {
        Some(Decider::User { key, after_ms }) => (Some(key), Some(*after_ms)),
        Some(Decider::File | Decider::Client | Decider::AutoMode | Decider::Headless) | None => (None, None),
    }
}

fn decision_name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "once",
        Decision::Selected(_) => "selected",
        Decision::Always(_) => "always",
        Decision::Edited(_) => "edited",
        Decision::Deny(_) => "deny",
        Decision::Kept(_) => "kept",
    }
}

fn answer_name(answer: &Answer) -> &'static str {
    match answer.status {
        AnswerStatus::Answered => "answered",
        AnswerStatus::Declined => "declined",
        AnswerStatus::Deferred => "deferred",
    }
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(_) => "failed",
        Outcome::Refused(_) => "refused",
        Outcome::Rehearsed(_) => "rehearsed",
        Outcome::Interrupted(_) => "interrupted",
    }
}
