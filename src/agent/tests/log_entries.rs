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
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write"), ("b", "write")]);
    planned(&mut state, "a", write());
    decided(&mut state, "a", Decision::Edited(serde_json::json!({"of": "mine"})));
    planned(&mut state, "a", write());
    decided(&mut state, "a", Decision::Once);
    finished(&mut state, "a");
    let a = digests(&state, "a");
    let names: Vec<&str> = a.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["shown", "decided", "shown", "decided", "ran"]);
    assert_eq!(a[0].1, a[1].1, "the change was made to what was shown before");
    assert_ne!(a[1].1, a[2].1, "what was shown then has other arguments");
    assert!(a[2].1 == a[3].1 && a[3].1 == a[4].1 && !a[4].1.is_none());
    planned(&mut state, "b", write());
    decided(&mut state, "b", Decision::Deny(String::new()));
    let b = digests(&state, "b");
    assert!(b[0].1 == b[1].1 && b[0].1 != a[0].1, "each call has its own");
    assert_eq!(b[2], ("ran", Digest::default()), "what never ran has none");
    for record in collect_records(state.session.entries()) {
        assert_eq!(record.verify(), Integrity::Intact);
    }
}

#[test]
fn r15_log_has_a_reason_for_every_verdict() {
    let why = |state: &State| {
        let why = |entry: &Entry| match entry {
            Entry::Planned { verdict, reason: why, .. } => Some((verdict.clone(), why.clone())),
            _ => None,
        };
        state.session.entries().iter().rev().find_map(why).unwrap()
    };
    let judged = |policy: Policy, intent: Intent| {
        let mut state = State::new(policy, "model".into(), "words".into(), vec![]);
        said(&mut state, "go");
        replies(&mut state, "", &[("a", "tool")]);
        planned(&mut state, "a", intent);
        why(&state)
    };
    let is = |found: (String, String), verdict: &str, part: &str| {
        assert!(found.0 == verdict && found.1.contains(part), "{found:?}");
    };
    is(judged(Policy::default(), read()), "allow", "read inside the project");
    is(judged(Policy::default(), write()), "ask", "file change in the project");
    is(judged(Policy { dry_run: true, ..Policy::default() }, write()), "rehearse", "dry run");
    is(judged(Policy { mode: Mode::Plan, ..Policy::default() }, write()), "refuse", "plan mode");
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write"), ("b", "write")]);
    planned(&mut state, "a", write());
    let grant = Grant::new("write", GrantScope::File("a".into()));
    decided(&mut state, "a", Decision::Always(grant));
    finished(&mut state, "a");
    planned(&mut state, "b", write());
    is(why(&state), "allow", "allowed before with y, on call 1 of this session: every write of a");
}

#[test]
fn r16_answer_is_recorded_with_author_and_question() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "ask_question")]);
    planned(&mut state, "a", question());
    let by = Decider::User { key: "enter".into(), after_ms: 4200 };
    let answer = Answer::from_status(AnswerStatus::Declined);
    update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: by.clone() });
    let found = digests(&state, "a");
    assert_eq!((found[0].0, found[1].0), ("asked", "answered"));
    assert!(found[0].1 == found[1].1 && !found[0].1.is_none());
    let kept = state
        .session
        .entries()
        .iter()
        .any(|entry| matches!(entry, Entry::Answered { by: Some(kept), .. } if *kept == by));
    assert!(kept);
}
