//! Log entries of a call: the digest it was decided on, who decided, and the reason.

use super::*;
use crate::chat::audit::{Integrity, collect_records};

/// Returns the digests of a call in the log in order, with the kind of entry.
fn digests(state: &State, id: &str) -> Vec<(&'static str, Digest)> {
    let digest = |entry: &Entry| match entry {
        Entry::Planned { call, sha256, .. } if call.0 == id => Some(("shown", sha256.clone())),
        Entry::Asked { call, sha256, .. } if call.0 == id => Some(("asked", sha256.clone())),
        Entry::Decided { call, sha256, .. } if call.0 == id => Some(("decided", sha256.clone())),
        Entry::Answered { call, sha256, .. } if call.0 == id => Some(("answered", sha256.clone())),
        Entry::Settled { call, sha256, .. } if call.0 == id => Some(("ran", sha256.clone())),
        _ => None,
    };
    state.session.entries().iter().filter_map(digest).collect()
}

#[test]
fn r08_shown_decided_and_run_share_one_digest() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write"), ("b", "write")]);
    receive_plan(&mut state, "a", write_intent());
    decide_call(&mut state, "a", Decision::Edited(serde_json::json!({"of": "mine"})));
    receive_plan(&mut state, "a", write_intent());
    decide_call(&mut state, "a", Decision::Once);
    finish_call(&mut state, "a");
    let a = digests(&state, "a");
    let names: Vec<&str> = a.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["shown", "decided", "shown", "decided", "ran"]);
    assert_eq!(a[0].1, a[1].1, "the user edited the call as it was shown");
    assert_ne!(a[1].1, a[2].1, "the edited call, shown next, has other arguments");
    assert!(a[2].1 == a[3].1 && a[3].1 == a[4].1 && !a[4].1.is_none());
    receive_plan(&mut state, "b", write_intent());
    decide_call(&mut state, "b", Decision::Deny(String::new()));
    let b = digests(&state, "b");
    assert!(b[0].1 == b[1].1 && b[0].1 != a[0].1, "each call has its own");
    assert_eq!(b[2], ("ran", Digest::default()), "what never ran has none");
    for record in collect_records(state.session.entries()) {
        assert_eq!(record.verify(), Integrity::Intact);
    }
}

#[test]
fn r15_log_has_a_reason_for_every_verdict() {
    let last_reason = |state: &State| {
        let plan_reason = |entry: &Entry| match entry {
            Entry::Planned { verdict, reason, .. } => Some((verdict.clone(), reason.clone())),
            _ => None,
        };
        state.session.entries().iter().rev().find_map(plan_reason).unwrap()
    };
    let judge = |policy: Policy, intent: Intent| {
        let mut state = State::new(policy, "model".into(), "system".into(), vec![]);
        send_user_message(&mut state, "go");
        receive_reply(&mut state, "", &[("a", "tool")]);
        receive_plan(&mut state, "a", intent);
        last_reason(&state)
    };
    let assert_reason = |actual: (String, String), verdict: &str, part: &str| {
        assert!(actual.0 == verdict && actual.1.contains(part), "{actual:?}");
    };
    assert_reason(judge(Policy::default(), read_intent()), "allow", "read inside the project");
    assert_reason(judge(Policy::default(), write_intent()), "ask", "file change in the project");
    assert_reason(judge(Policy { dry_run: true, ..Policy::default() }, write_intent()), "rehearse", "dry run");
    assert_reason(judge(Policy { mode: Mode::Plan, ..Policy::default() }, write_intent()), "refuse", "plan mode");
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write"), ("b", "write")]);
    receive_plan(&mut state, "a", write_intent());
    let grant = Grant::new("write", GrantScope::File("a".into()));
    decide_call(&mut state, "a", Decision::Always(grant));
    finish_call(&mut state, "a");
    receive_plan(&mut state, "b", write_intent());
    assert_reason(last_reason(&state), "allow", "allowed before with y, on call 1 of this session: every write of a");
}

#[test]
fn r16_answer_is_recorded_with_author_and_question() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "ask_question")]);
    receive_plan(&mut state, "a", question_intent());
    let by = Decider::User { key: "enter".into(), after_ms: 4200 };
    let answer = Answer::from_status(AnswerStatus::Declined);
    update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: by.clone() });
    let answer_digests = digests(&state, "a");
    assert_eq!((answer_digests[0].0, answer_digests[1].0), ("asked", "answered"));
    assert!(answer_digests[0].1 == answer_digests[1].1 && !answer_digests[0].1.is_none());
    let is_recorded = state
        .session
        .entries()
        .iter()
        .any(|entry| matches!(entry, Entry::Answered { by: Some(recorded), .. } if *recorded == by));
    assert!(is_recorded);
}
