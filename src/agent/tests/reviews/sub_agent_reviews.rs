//! Reviews of sub-agents' calls; the task of a sub-agent does not count as a user message.

use super::*;
use crate::agent::tests::sub_agents::{
    delegating_state, plan_in_sub_agent, prompt_for, reply_in_sub_agent, shown_prompt, task_intent,
};

/// Starts sub-agents of these names with this many hooks that review calls with effects.
fn delegate_with_reviewers(names: &[&str], hooks: usize, has_model_reviewer: bool) -> State {
    let reviewers = state_with_reviewers(hooks, has_model_reviewer).config.reviewers;
    let mut state = with_reviewers(delegating_state(), reviewers);
    add_grant(&mut state);
    send_user_message(&mut state, "look only");
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, "sub_agent")).collect();
    receive_reply(&mut state, "", &calls);
    for name in names {
        receive_plan(&mut state, name, task_intent(name));
    }
    state
}

fn last_review_context(effects: &[Effect]) -> ReviewContext {
    let context = effects.iter().rev().find_map(|effect| match effect {
        Effect::ReviewCall { context, .. } => Some((**context).clone()),
        _ => None,
    });
    context.expect("a reviewer is asked")
}

#[test]
fn r17_sub_agent_calls_are_reviewed_without_task_as_user_message() {
    let mut state = delegate_with_reviewers(&["one"], 1, true);
    reply_in_sub_agent(&mut state, "one", "", &[("w", "t")]);
    let effects = plan_in_sub_agent(&mut state, "one", "w", grantable_intent(Access::Write("a".into())));
    assert_eq!(describe_effects(&effects), ["REVIEW w"], "a grant is not enough");
    assert_eq!(
        (last_review_context(&effects).verdict.as_str(), last_review_context(&effects).user_messages),
        ("allow", vec![])
    );
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    assert_eq!(describe_effects(&effects), ["one: review allow w", "REVIEW w"]);
    assert_eq!(last_review_context(&effects).reviewer, Reviewer::Model);
    assert_eq!(last_review_context(&effects).user_messages, ["look only"], "and not “do one”");
    let usage = Some(Usage { input: 30, cached: 0, output: 4 });
    let tokens_before = state.session.usage().total();
    let review = Review { usage, ..build_review(ReviewerBehavior::Answers(ReviewVerdict::Ask)) };
    let effects = finish_review(&mut state, &effects, review).unwrap();
    assert_eq!(describe_effects(&effects), ["one: review ask w", "one: ask w"]);
    assert_eq!(state.session.usage().total() - tokens_before, 34);
    assert_eq!(shown_prompt(&state), prompt_for("w", Some("one")));
    assert_eq!(describe_effects(&decide_call(&mut state, "w", Decision::Once)), ["one: decided w", "RUN w"]);
    for record in collect_records(state.session.entries()) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)));
    }
}

#[test]
fn hook_denial_ends_only_that_call() {
    let mut state = delegate_with_reviewers(&["one"], 1, false);
    reply_in_sub_agent(&mut state, "one", "", &[("w", "t")]);
    let effects = plan_in_sub_agent(&mut state, "one", "w", grantable_intent(Access::Write("a".into())));
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Deny))).unwrap();
    assert_eq!(describe_effects(&effects), ["one: review deny w", "one: refuse w", "one: refused w", "REQUEST_REPLY"]);
}

#[test]
fn hook_for_the_tool_reviews_delegation() {
    for (verdict, expected) in [
        (ReviewVerdict::Allow, vec!["review allow h", "allow h", "h: message do one", "REQUEST_REPLY"]),
        (ReviewVerdict::Ask, vec!["review ask h", "ask h"]),
        (ReviewVerdict::Deny, vec!["review deny h", "refuse h", "refused h", "REQUEST_REPLY"]),
    ] {
        let mut state = with_reviewers(delegating_state(), state_with_hooks_and_model(1).config.reviewers);
        state.config.reviewers.hooks[0].tools = Some(vec!["sub_agent".into()]);
        send_user_message(&mut state, "go");
        receive_reply(&mut state, "", &[("h", "sub_agent")]);
        let effects = receive_plan(&mut state, "h", task_intent("one"));
        let effects = finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(verdict))).unwrap();
        assert_eq!(describe_effects(&effects), expected);
        if verdict == ReviewVerdict::Ask {
            let effects = decide_call(&mut state, "h", Decision::Once);
            assert_eq!(describe_effects(&effects), ["decided h", "h: message do one", "REQUEST_REPLY"]);
        }
        // Sub-agents cannot delegate, so no hook reviews that.
        if verdict == ReviewVerdict::Allow {
            reply_in_sub_agent(&mut state, "h", "", &[("again", "sub_agent")]);
            let effects = plan_in_sub_agent(&mut state, "h", "again", task_intent("two"));
            assert_eq!(describe_effects(&effects)[..2], ["h: refuse again", "h: refused again"]);
        }
    }
}

#[test]
fn review_applies_only_to_its_own_call() {
    let mut state = delegate_with_reviewers(&["one", "two"], 1, false);
    let mut review_effects = Vec::new();
    for (name, id) in [("one", "a"), ("two", "b")] {
        reply_in_sub_agent(&mut state, name, "", &[(id, "t")]);
        review_effects.push(plan_in_sub_agent(&mut state, name, id, grantable_intent(Access::Write("a".into()))));
    }
    let shapes: Vec<Vec<String>> = review_effects.iter().map(|effects| describe_effects(effects)).collect();
    assert_eq!(shapes, [["REVIEW a"], ["REVIEW b"]]);
    let effects =
        finish_review(&mut state, &review_effects[1], build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow)))
            .unwrap();
    assert_eq!(describe_effects(&effects), ["two: review allow b", "two: allow b", "RUN b"]);
    assert_eq!(
        finish_review(&mut state, &review_effects[1], build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))),
        Some(vec![]),
        "a second answer is ignored"
    );
    let effects =
        finish_review(&mut state, &review_effects[0], build_review(ReviewerBehavior::Answers(ReviewVerdict::Deny)))
            .unwrap();
    assert_eq!(describe_effects(&effects)[..2], ["one: review deny a", "one: refuse a"]);
    // An answer after the turn was stopped is ignored.
    let mut state = delegate_with_reviewers(&["one"], 1, false);
    reply_in_sub_agent(&mut state, "one", "", &[("a", "t")]);
    let review_effects = plan_in_sub_agent(&mut state, "one", "a", grantable_intent(Access::Write("a".into())));
    let effects = update(&mut state, Event::TurnInterrupted);
    assert!(describe_effects(&effects).contains(&"one: interrupted a".to_owned()), "{:?}", describe_effects(&effects));
    assert_eq!(
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))),
        Some(vec![])
    );
}

#[test]
fn no_other_prompt_during_review_of_an_edit() {
    let mut state = delegate_with_reviewers(&["one", "two"], 1, false);
    for (name, id) in [("one", "a"), ("two", "b")] {
        reply_in_sub_agent(&mut state, name, "", &[(id, "t")]);
        let review_effects = plan_in_sub_agent(&mut state, name, id, grantable_intent(Access::Write("a".into())));
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Ask)));
    }
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    decide_call(&mut state, "a", Decision::Edited(serde_json::json!({"b": 1})));
    assert_eq!(shown_prompt(&state), None, "its tool plans");
    let review_effects = plan_in_sub_agent(&mut state, "one", "a", grantable_intent(Access::Write("a".into())));
    assert_eq!(describe_effects(&review_effects), ["one: decided a", "REVIEW a"]);
    assert_eq!(shown_prompt(&state), None, "no other prompt during the review: the next key is meant for a");
    finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow)));
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")), "an edited call is the user's decision");
}
