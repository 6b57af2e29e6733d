//! Records of calls.

use super::*;
use crate::chat::{Access, Answer, AnswerStatus, CallId, Preconditions, Preview, Question, Questions};
use serde_json::{Value, json};

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "write_file".into(), arguments: arguments.into() }
}

fn replied(calls: Vec<ToolCall>) -> Entry {
    let mut entry: Entry = serde_json::from_value(json!({ "kind": "replied", "text": "" })).unwrap();
    if let Entry::Replied { calls: made, .. } = &mut entry {
        *made = calls;
    }
    entry
}

fn digest(arguments: &str, summary: &str) -> Digest {
    let (access, preview, basis) = (Access::Write("a".into()), Preview::Text("it".into()), Preconditions::default());
    let told = DisplayedPlan {
        title: "change?",
        summary,
        access: &access,
        preview: &preview,
        destroys: None,
        preconditions: &basis,
    };
    Digest::of_plan("write_file", arguments, told)
}

fn planned(id: &str, arguments: &str, summary: &str, verdict: &str) -> Entry {
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
        sha256: digest(arguments, summary),
    }
}

fn decided(id: &str, decision: Decision, sha256: Digest) -> Entry {
    Entry::Decided { call: id.into(), decision, by: Decider::User { key: "y".into(), after_ms: 2300 }, sha256 }
}

fn settled(id: &str, outcome: Outcome, sha256: Digest) -> Entry {
    Entry::Settled { call: id.into(), outcome, took_ms: 12, sha256, staged: None }
}

fn done() -> Outcome {
    Outcome::Done("did it".into())
}

/// A call that was edited, approved and done.
fn edited() -> Vec<Entry> {
    let (first, second) = (r#"{"x":1}"#, r#"{"x":2}"#);
    vec![
        replied(vec![call("a", first)]),
        planned("a", first, "one", "ask"),
        decided("a", Decision::Edited(json!({"x": 2})), digest(first, "one")),
        planned("a", second, "two", "ask"),
        decided("a", Decision::Once, digest(second, "two")),
        settled("a", done(), digest(second, "two")),
    ]
}

fn holds(entries: &[Entry]) -> Integrity {
    collect_records(entries)[0].verify()
}

#[test]
fn r51_tells_an_allowed_call_from_a_waiting_one() {
    let entries = edited();
    let starts: Vec<bool> = (1..=6).map(|end| collect_records(&entries[..end])[0].is_allowed()).collect();
    assert_eq!(starts, [false, false, false, false, true, false]);
    assert!(collect_records(&[replied(vec![call("a", "{}")]), planned("a", "{}", "one", "allow")])[0].is_allowed());
}

#[test]
fn r08_a_record_with_matching_digests_is_intact() {
    assert_eq!(holds(&edited()), Integrity::Intact);
    assert_eq!(holds(&edited()[..2]), Integrity::Intact);
    let refused = [
        replied(vec![call("a", "{}")]),
        planned("a", "{}", "one", "ask"),
        decided("a", Decision::Deny(String::new()), digest("{}", "one")),
        settled("a", Outcome::Refused("no".into()), Digest::default()),
    ];
    assert_eq!(holds(&refused), Integrity::Intact);
}

#[test]
fn r08_a_record_with_differing_digests_is_reported() {
    let check = |change: &dyn Fn(&mut Vec<Entry>), why: &'static str| {
        let mut entries = edited();
        change(&mut entries);
        assert_eq!(holds(&entries), Integrity::Broken(why));
        let seen_by_hashing_alone = why == "the recorded plan was modified";
        let agrees = if seen_by_hashing_alone { Integrity::Intact } else { Integrity::Broken(why) };
        assert_eq!(collect_records(&entries)[0].verify_digests(), agrees);
    };
    let other = || digest("{}", "another");
    check(
        &|entries| entries[4] = decided("a", Decision::Once, other()),
        "the decision is not for the plan that was shown",
    );
    check(&|entries| entries[5] = settled("a", done(), other()), "the plan that ran is not the plan that was shown");
    check(&|entries| drop(entries.remove(4)), "it ran without approval");
    check(
        &|entries| {
            entries[4] = decided("a", Decision::Deny(String::new()), digest(r#"{"x":2}"#, "two"));
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
    check(&|entries| entries[0] = replied(vec![call("a", "{}")]), "the recorded plan was modified");
}

#[test]
fn a_record_of_an_older_version_without_digests_is_unknown() {
    let mut entries = edited();
    for entry in &mut entries {
        match entry {
            Entry::Planned { sha256, .. } | Entry::Decided { sha256, .. } | Entry::Settled { sha256, .. } => {
                *sha256 = Digest::default();
            }
            _ => {}
        }
    }
    assert_eq!(holds(&entries), Integrity::Unknown);
    assert_eq!(collect_records(&entries)[0].sha256(), None);
}

#[test]
fn r18_each_call_of_a_reply_has_a_record_and_other_entries_are_ignored() {
    let entries = [
        replied(vec![call("a", "{}"), call("b", "{}")]),
        settled("nobody", done(), Digest::default()),
        planned("b", "{}", "b", "allow"),
        planned("a", "{}", "a", "ask"),
        settled("b", done(), digest("{}", "b")),
        replied(vec![call("a", "{\"again\":1}"), call("c", "{}")]),
    ];
    let records = collect_records(&entries);
    let told: Vec<(&CallId, usize, Vec<usize>)> = records
        .iter()
        .map(|record| (&record.call.id, record.reply_index, record.steps.iter().map(|(at, _)| *at).collect()))
        .collect();
    let id = |id: &str| CallId::from(id);
    assert_eq!(told, [(&id("a"), 0, vec![3]), (&id("b"), 0, vec![2, 4]), (&id("c"), 5, vec![])]);
    assert_eq!(records[1].decider_name(), Some("policy"));
    assert_eq!(records[0].decider_name(), None, "it is not decided yet");
}

/// Fields that other programs may rely on.
#[rustfmt::skip]
const FIELDS: [&str; 39] = [
    "call", "tool", "arguments", "asked_at", "summary", "access", "destroys", "policy_verdict", "verdict", "why",
    "files", "environment", "reviews", "consulted", "decision", "decided_by", "who", "key", "after_ms", "message",
    "words", "grant", "decided_at", "edits", "outcome", "result", "took_ms", "ended_at", "origin", "simulation",
    "staged", "simulated", "sha256", "is_intact", "mismatch", "holds", "wrong", "steps", "sub_agent",
];

#[test]
fn r15_the_json_of_a_record_has_the_decider_the_key_and_the_time() {
    let entries = edited();
    let time = |at: usize| Some(1000 + at as u64);
    let told = collect_records(&entries)[0].to_json(&time);
    let fields: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
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
        ("sha256", json!(digest(r#"{"x":2}"#, "two"))),
        ("is_intact", json!(true)),
        ("holds", json!(true)),
        ("wrong", Value::Null),
    ] {
        assert_eq!(told[field], value, "{field}");
    }
    let steps: Vec<&str> =
        told["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["judged", "decided", "judged", "decided", "ended"]);
    assert_eq!(told["steps"][1]["sha256"], json!(digest(r#"{"x":1}"#, "one")), "an edit is of the plan shown before");
}

#[test]
fn r16_a_question_has_a_record_of_who_answered_which_questions() {
    let question = Question {
        keyword: "k".into(),
        text: "Which?".into(),
        options: Vec::new(),
        is_multiple: false,
        allow_text: true,
        recommended: None,
    };
    let questions = Questions { list: vec![question], dropped: crate::chat::Dropped::default() };
    let sha256 = Digest::of_questions("write_file", "{}", &questions);
    let mut entries = vec![
        replied(vec![call("a", "{}")]),
        Entry::Asked { call: "a".into(), questions, sha256: sha256.clone() },
        Entry::Answered {
            call: "a".into(),
            answer: Answer::from_status(AnswerStatus::Declined),
            by: Some(Decider::User { key: "x".into(), after_ms: 900 }),
            sha256,
        },
    ];
    let told = collect_records(&entries)[0].to_json(&|_| None);
    assert_eq!(
        (&told["decision"], &told["who"], &told["key"], &told["after_ms"], &told["holds"]),
        (&json!("declined"), &json!("person"), &json!("x"), &json!(900), &json!(true))
    );
    if let Entry::Asked { questions, .. } = &mut entries[1] {
        questions.list[0].text = "Something else?".into();
    }
    assert_eq!(holds(&entries), Integrity::Broken("the recorded questions were modified"));
}

#[test]
fn a_call_with_invalid_arguments_has_a_record() {
    let entries = [
        replied(vec![call("a", "{\"x\":1,\"x\":2}")]),
        settled("a", Outcome::Failed("x is given twice".into()), Digest::default()),
    ];
    let told = collect_records(&entries)[0].to_json(&|_| None);
    assert_eq!(
        (&told["verdict"], &told["who"], &told["outcome"], &told["holds"]),
        (&Value::Null, &Value::Null, &json!("failed"), &Value::Null)
    );
    assert_eq!(told["arguments"], "{\"x\":1,\"x\":2}", "byte for byte as sent");
}
