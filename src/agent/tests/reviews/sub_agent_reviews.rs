//! Reviews of sub-agents' calls; the task of a sub-agent does not count as a user message.

use super::*;
use crate::agent::tests::sub_agents::{card, idle, is, looked, says, task};

/// Starts sub-agents of these names with this many hooks that review calls with effects.
fn handed(names: &[&str], hooks: usize, second_reader: bool) -> State {
    let advisers = asking(hooks, second_reader).reviewers;
    let mut state = State { reviewers: advisers, ..idle() };
    granted(&mut state);
    said(&mut state, "look only");
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, "sub_agent")).collect();
    replies(&mut state, "", &calls);
    for name in names {
        planned(&mut state, name, task(name));
    }
    state
}

fn brief(effects: &[Effect]) -> ReviewContext {
    let brief = effects.iter().rev().find_map(|effect| match effect {
        Effect::ReviewCall { context: brief, .. } => Some((**brief).clone()),
        _ => None,
    });
    brief.expect("a reviewer is asked")
}

#[test]
fn r17_sub_agent_calls_are_reviewed_without_task_as_user_message() {
    let mut state = handed(&["one"], 1, true);
    says(&mut state, "one", "", &[("w", "t")]);
    let effects = looked(&mut state, "one", "w", covered(Access::Write("a".into())));
    assert_eq!(shape(&effects), ["CONSULT w"], "a grant is not enough");
    assert_eq!((brief(&effects).verdict.as_str(), brief(&effects).user_messages), ("allow", vec![]));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["one: allow says w", "CONSULT w"]);
    assert_eq!(brief(&effects).reviewer, Reviewer::Model);
    assert_eq!(brief(&effects).user_messages, ["look only"], "and not “do one”");
    let usage = Some(Usage { input: 30, cached: 0, output: 4 });
    let before = state.session.usage().total();
    let said = Review { usage, ..answer(Does::Says(ReviewVerdict::Ask)) };
    let effects = consulted(&mut state, &effects, said).unwrap();
    assert_eq!(shape(&effects), ["one: ask says w", "one: ask w"]);
    assert_eq!(state.session.usage().total() - before, 34);
    assert_eq!(card(&state), is("w", Some("one")));
    assert_eq!(shape(&decided(&mut state, "w", Decision::Once)), ["one: decided w", "ACT w"]);
    for record in collect_records(state.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)));
    }
}

#[test]
fn hook_denial_ends_only_that_call() {
    let mut state = handed(&["one"], 1, false);
    says(&mut state, "one", "", &[("w", "t")]);
    let effects = looked(&mut state, "one", "w", covered(Access::Write("a".into())));
    let effects = consulted(&mut state, &effects, answer(Does::Says(ReviewVerdict::Deny))).unwrap();
    assert_eq!(shape(&effects), ["one: deny says w", "one: refuse w", "one: refused w", "STREAM"]);
}

#[test]
fn hook_for_the_tool_reviews_delegation() {
    for (does, wanted) in [
        (ReviewVerdict::Allow, vec!["allow says h", "allow h", "h: said do one", "STREAM"]),
        (ReviewVerdict::Ask, vec!["ask says h", "ask h"]),
        (ReviewVerdict::Deny, vec!["deny says h", "refuse h", "refused h", "STREAM"]),
    ] {
        let mut state = State { reviewers: asking(1, true).reviewers, ..idle() };
        state.reviewers.hooks[0].tools = Some(vec!["sub_agent".into()]);
        said(&mut state, "go");
        replies(&mut state, "", &[("h", "sub_agent")]);
        let effects = planned(&mut state, "h", task("one"));
        let effects = consulted(&mut state, &effects, answer(Does::Says(does))).unwrap();
        assert_eq!(shape(&effects), wanted);
        if does == ReviewVerdict::Ask {
            let effects = decided(&mut state, "h", Decision::Once);
            assert_eq!(shape(&effects), ["decided h", "h: said do one", "STREAM"]);
        }
        // Sub-agents cannot delegate, so no hook reviews that.
        if does == ReviewVerdict::Allow {
            says(&mut state, "h", "", &[("again", "sub_agent")]);
            let effects = looked(&mut state, "h", "again", task("two"));
            assert_eq!(shape(&effects)[..2], ["h: refuse again", "h: refused again"]);
        }
    }
}

#[test]
fn review_applies_only_to_its_own_call() {
    let mut state = handed(&["one", "two"], 1, false);
    let mut asks = Vec::new();
    for (name, id) in [("one", "a"), ("two", "b")] {
        says(&mut state, name, "", &[(id, "t")]);
        asks.push(looked(&mut state, name, id, covered(Access::Write("a".into()))));
    }
    let shapes: Vec<Vec<String>> = asks.iter().map(|asks| shape(asks)).collect();
    assert_eq!(shapes, [["CONSULT a"], ["CONSULT b"]]);
    let effects = consulted(&mut state, &asks[1], answer(Does::Says(ReviewVerdict::Allow))).unwrap();
    assert_eq!(shape(&effects), ["two: allow says b", "two: allow b", "ACT b"]);
    assert_eq!(consulted(&mut state, &asks[1], answer(Does::Says(ReviewVerdict::Allow))), Some(vec![]), "twice");
    let effects = consulted(&mut state, &asks[0], answer(Does::Says(ReviewVerdict::Deny))).unwrap();
    assert_eq!(shape(&effects)[..2], ["one: deny says a", "one: refuse a"]);
    // An answer after the turn was stopped is ignored.
    let mut state = handed(&["one"], 1, false);
    says(&mut state, "one", "", &[("a", "t")]);
    let asks = looked(&mut state, "one", "a", covered(Access::Write("a".into())));
    let effects = update(&mut state, Event::TurnInterrupted);
    assert!(shape(&effects).contains(&"one: interrupted a".to_owned()), "{:?}", shape(&effects));
    assert_eq!(consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow))), Some(vec![]));
}

#[test]
fn no_other_prompt_during_review_of_an_edit() {
    let mut state = handed(&["one", "two"], 1, false);
    for (name, id) in [("one", "a"), ("two", "b")] {
        says(&mut state, name, "", &[(id, "t")]);
        let asks = looked(&mut state, name, id, covered(Access::Write("a".into())));
        consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Ask)));
    }
    assert_eq!(card(&state), is("a", Some("one")));
    decided(&mut state, "a", Decision::Edited(serde_json::json!({"b": 1})));
    assert_eq!(card(&state), None, "its tool plans");
    let asks = looked(&mut state, "one", "a", covered(Access::Write("a".into())));
    assert_eq!(shape(&asks), ["one: decided a", "CONSULT a"]);
    assert_eq!(card(&state), None, "the hook reviews it: a key is meant for this one");
    consulted(&mut state, &asks, answer(Does::Says(ReviewVerdict::Allow)));
    assert_eq!(card(&state), is("a", Some("one")), "an edited call is the user's decision");
}
