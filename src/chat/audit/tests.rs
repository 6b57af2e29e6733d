//! Records of calls.

use super::*;
use crate::chat::{Access, Answer, AnswerStatus, CallId, Preconditions, Preview, Question, Questions};
use serde_json::{Value, json};

fn write_call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "write_file".into(), arguments: arguments.into() }
}

fn reply_entry(calls: Vec<ToolCall>) -> Entry {
    let mut entry: Entry = serde_json::from_value(json!({ "kind": "replied", "text": "" })).unwrap();
    if let Entry::Replied { calls: entry_calls, .. } = &mut entry {
        *entry_calls = calls;
    }
    entry
}

fn plan_digest(arguments: &str, summary: &str) -> Digest {
    let (access, preview, preconditions) =
        (Access::Write("a".into()), Preview::Text("it".into()), Preconditions::default());
    let displayed = DisplayedPlan {
        title: "change?",
        summary,
        access: &access,
        preview: &preview,
        destroys: None,
        preconditions: &preconditions,
    };
    Digest::of_plan("write_file", arguments, displayed)
}

fn plan_entry(id: &str, arguments: &str, summary: &str, verdict: &str) -> Entry {
    Entry::Planned {
        call: id.into(),
        title: "change?".into(),
        summary: summary.into(),
        access: Access::Write("a".into()),
        preview: Box::new(Preview::Text("it".into())),
        destroys: None,
        preconditions: Box::default(),
        verdict: verdict.into(),
        reason: "it changes the project".into(),
        hooks_not_run: Vec::new(),
        sha256: plan_digest(arguments, summary),
    }
}

fn decision_entry(id: &str, decision: Decision, sha256: Digest) -> Entry {
    Entry::Decided { call: id.into(), decision, by: Decider::User { key: "y".into(), after_ms: 2300 }, sha256 }
}

fn settle_entry(id: &str, outcome: Outcome, sha256: Digest) -> Entry {
    Entry::Settled { call: id.into(), outcome, took_ms: 12, sha256, staged: None, usage: None }
}

fn done_outcome() -> Outcome {
    Outcome::Done("did it".into())
}

/// A call that was edited, approved and done.
fn edited_call_entries() -> Vec<Entry> {
    let (first, second) = (r#"{"x":1}"#, r#"{"x":2}"#);
    vec![
        reply_entry(vec![write_call("a", first)]),
        plan_entry("a", first, "one", "ask"),
        decision_entry("a", Decision::Edited(json!({"x": 2})), plan_digest(first, "one")),
        plan_entry("a", second, "two", "ask"),
        decision_entry("a", Decision::Once, plan_digest(second, "two")),
        settle_entry("a", done_outcome(), plan_digest(second, "two")),
    ]
}

fn verify_first(entries: &[Entry]) -> Integrity {
    collect_records(entries)[0].verify()
}

#[test]
fn r51_tells_an_allowed_call_from_a_waiting_one() {
    let entries = edited_call_entries();
    let is_allowed: Vec<bool> = (1..=6).map(|end| collect_records(&entries[..end])[0].is_allowed()).collect();
    assert_eq!(is_allowed, [false, false, false, false, true, false]);
    assert!(
        collect_records(&[reply_entry(vec![write_call("a", "{}")]), plan_entry("a", "{}", "one", "allow")])[0]
            .is_allowed()
    );
}

#[test]
fn r08_a_record_with_matching_digests_is_intact() {
    assert_eq!(verify_first(&edited_call_entries()), Integrity::Intact);
    assert_eq!(verify_first(&edited_call_entries()[..2]), Integrity::Intact);
    let denied_call = [
        reply_entry(vec![write_call("a", "{}")]),
        plan_entry("a", "{}", "one", "ask"),
        decision_entry("a", Decision::Deny(String::new()), plan_digest("{}", "one")),
        settle_entry("a", Outcome::Refused("no".into()), Digest::default()),
    ];
    assert_eq!(verify_first(&denied_call), Integrity::Intact);
}

#[test]
fn r08_a_record_with_differing_digests_is_reported() {
    let check = |change: &dyn Fn(&mut Vec<Entry>), reason: &'static str| {
        let mut entries = edited_call_entries();
        change(&mut entries);
        assert_eq!(verify_first(&entries), Integrity::Broken(reason));
        // `verify_digests` does not hash the plan again, so it does not detect a modified one.
        let is_found_by_digests = reason != "the recorded plan was modified";
        let expected = if is_found_by_digests { Integrity::Broken(reason) } else { Integrity::Intact };
        assert_eq!(collect_records(&entries)[0].verify_digests(), expected);
    };
    let other_digest = || plan_digest("{}", "another");
    check(
        &|entries| entries[4] = decision_entry("a", Decision::Once, other_digest()),
        "the decision is not for the plan that was shown",
    );
    check(
        &|entries| entries[5] = settle_entry("a", done_outcome(), other_digest()),
        "the plan that ran is not the plan that was shown",
    );
    check(&|entries| drop(entries.remove(4)), "it ran without approval");
    check(
        &|entries| {
            entries[4] = decision_entry("a", Decision::Deny(String::new()), plan_digest(r#"{"x":2}"#, "two"));
        },
        "it ran without approval",
    );
    check(
        &|entries| {
            if let Entry::Planned { summary, .. } = &mut entries[3] {
                summary.push('!');
            }
        },
        "the recorded plan was modified",
    );
    check(&|entries| entries[0] = reply_entry(vec![write_call("a", "{}")]), "the recorded plan was modified");
}

#[test]
fn a_kept_trial_is_intact_only_if_it_is_the_last_one_that_was_shown() {
    let shown = plan_digest("{}", "one");
    let trial = |name: &str| Digest::of_bytes(name.as_bytes());
    let tried = |name: &str| Entry::Tried {
        call: "a".into(),
        status: "exit 0".into(),
        changes: Default::default(),
        paths: Vec::new(),
        destroys: None,
        is_automatic: false,
        took_ms: 1,
        trial: trial(name),
        sha256: shown.clone(),
    };
    let verify_steps = |steps: Vec<Entry>| {
        let call = [reply_entry(vec![write_call("a", "{}")]), plan_entry("a", "{}", "one", "ask")];
        let end = settle_entry("a", done_outcome(), shown.clone());
        verify_first(&call.into_iter().chain(steps).chain([end]).collect::<Vec<_>>())
    };
    let kept = |name: &str| decision_entry("a", Decision::Kept(trial(name)), shown.clone());
    let broken = Integrity::Broken("what was kept is not what the trial showed");
    assert_eq!(verify_steps(vec![tried("x"), kept("x")]), Integrity::Intact);
    assert_eq!(verify_steps(vec![tried("x"), tried("y"), kept("y")]), Integrity::Intact);
    assert_eq!(verify_steps(vec![tried("x"), kept("y")]), broken);
    assert_eq!(verify_steps(vec![tried("x"), tried("y"), kept("x")]), broken);
    assert_eq!(verify_steps(vec![kept("x")]), broken);
}

#[test]
fn a_record_of_an_older_version_without_digests_is_unknown() {
    let mut entries = edited_call_entries();
    for entry in &mut entries {
        match entry {
            Entry::Planned { sha256, .. } | Entry::Decided { sha256, .. } | Entry::Settled { sha256, .. } => {
                *sha256 = Digest::default();
            }
            _ => {}
        }
    }
    assert_eq!(verify_first(&entries), Integrity::Unknown);
    assert_eq!(collect_records(&entries)[0].sha256(), None);
}

#[test]
fn r18_each_call_of_a_reply_has_a_record_and_other_entries_are_ignored() {
    let entries = [
        reply_entry(vec![write_call("a", "{}"), write_call("b", "{}")]),
        settle_entry("nobody", done_outcome(), Digest::default()),
        plan_entry("b", "{}", "b", "allow"),
        plan_entry("a", "{}", "a", "ask"),
        settle_entry("b", done_outcome(), plan_digest("{}", "b")),
        reply_entry(vec![write_call("a", "{\"again\":1}"), write_call("c", "{}")]),
    ];
    let records = collect_records(&entries);
    let summaries: Vec<(&CallId, usize, Vec<usize>)> = records
        .iter()
        .map(|record| (&record.call.id, record.reply_index, record.steps.iter().map(|(index, _)| *index).collect()))
        .collect();
    let id = |id: &str| CallId::from(id);
    assert_eq!(summaries, [(&id("a"), 0, vec![3]), (&id("b"), 0, vec![2, 4]), (&id("c"), 5, vec![])]);
    assert_eq!(records[1].decider_name(), Some("policy"));
    assert_eq!(records[0].decider_name(), None, "it is not decided yet");
}

/// Fields that other programs may rely on. Old names, each after the new one, are kept for one release: `verdict`,
/// `consulted`, `who`, `words`, `staged`, `simulated`, `holds` and `wrong`.
#[rustfmt::skip]
const FIELDS: [&str; 41] = [
    "call", "tool", "arguments", "asked_at", "summary", "access", "destroys", "policy_verdict", "verdict", "why",
    "files", "references", "environment", "reviews", "consulted", "decision", "decided_by", "who", "key", "after_ms", "message",
    "words", "grant", "decided_at", "edits", "outcome", "result", "took_ms", "ended_at", "origin", "simulation",
    "staged", "simulated", "sha256", "is_intact", "mismatch", "holds", "wrong", "steps", "sub_agent",
    "is_served",
];

#[test]
fn r15_the_json_of_a_record_has_the_decider_the_key_and_the_time() {
    let entries = edited_call_entries();
    let time = |index: usize| Some(1000 + index as u64);
    let record = collect_records(&entries)[0].to_json(&time);
    let fields: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, FIELDS, "a renamed field keeps its old name for one release");
    for (field, value) in [
        ("arguments", json!("{\"x\":1}")),
        ("asked_at", json!(1000)),
        ("summary", json!("two")),
        ("verdict", json!("ask")),
        ("why", json!("it changes the project")),
        ("decision", json!("once")),
        ("decided_by", json!("user")),
        ("who", json!("person")),
        ("key", json!("y")),
        ("after_ms", json!(2300)),
        ("decided_at", json!(1004)),
        ("edits", json!([{"x": 2}])),
        ("outcome", json!("done")),
        ("result", json!("did it")),
        ("took_ms", json!(12)),
        ("ended_at", json!(1005)),
        ("sha256", json!(plan_digest(r#"{"x":2}"#, "two"))),
        ("is_intact", json!(true)),
        ("holds", json!(true)),
        ("wrong", Value::Null),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    let steps: Vec<&str> =
        record["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["judged", "decided", "judged", "decided", "ended"]);
    assert_eq!(
        record["steps"][1]["sha256"],
        json!(plan_digest(r#"{"x":1}"#, "one")),
        "an edit has the digest of the plan that the user edited"
    );
}

#[test]
fn r16_a_question_has_a_record_of_who_answered_which_questions() {
    let question = Question {
        keyword: "k".into(),
        text: "Which?".into(),
        options: Vec::new(),
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    };
    let questions = Questions { list: vec![question], dropped: crate::chat::Dropped::default() };
    let sha256 = Digest::of_questions("write_file", "{}", &questions);
    let mut entries = vec![
        reply_entry(vec![write_call("a", "{}")]),
        Entry::Asked { call: "a".into(), questions, sha256: sha256.clone() },
        Entry::Answered {
            call: "a".into(),
            answer: Answer::from_status(AnswerStatus::Declined),
            by: Some(Decider::User { key: "x".into(), after_ms: 900 }),
            sha256,
        },
    ];
    let record = collect_records(&entries)[0].to_json(&|_| None);
    assert_eq!(
        (&record["decision"], &record["who"], &record["key"], &record["after_ms"], &record["holds"]),
        (&json!("declined"), &json!("person"), &json!("x"), &json!(900), &json!(true))
    );
    if let Entry::Asked { questions, .. } = &mut entries[1] {
        questions.list[0].text = "Something else?".into();
    }
    assert_eq!(verify_first(&entries), Integrity::Broken("the recorded questions were modified"));
}

#[test]
fn a_call_with_invalid_arguments_has_a_record() {
    let entries = [
        reply_entry(vec![write_call("a", "{\"x\":1,\"x\":2}")]),
        settle_entry("a", Outcome::Failed("x is given twice".into()), Digest::default()),
    ];
    let record = collect_records(&entries)[0].to_json(&|_| None);
    assert_eq!(
        (&record["verdict"], &record["who"], &record["outcome"], &record["holds"]),
        (&Value::Null, &Value::Null, &json!("failed"), &Value::Null)
    );
    assert_eq!(record["arguments"], "{\"x\":1,\"x\":2}", "byte for byte as sent");
}
