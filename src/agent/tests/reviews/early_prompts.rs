//! Reviews of calls whose prompt the user opened before their turn.

use super::*;

/// Two calls of one reply: the first asks, and the user has opened the prompt of the second.
fn state_with_early_prompt() -> State {
    let mut state = state_with_hooks(1);
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "t"), ("b", "t")]);
    let effects = receive_plan(&mut state, "a", grantable_intent(Access::Write("a".into())));
    finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Ask)));
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    state
}

#[test]
fn late_reviews_of_a_closed_early_prompt_are_ignored() {
    let mut state = state_with_early_prompt();
    let review_effects = receive_plan(&mut state, "b", grantable_intent(Access::Write("b".into())));
    assert_eq!(describe_effects(&review_effects), ["REVIEW b"]);
    assert_eq!(state.waiting_call(), None, "no other prompt meanwhile: the next key is meant for b");
    // The call returns to the queue during its review, so the answer of the reviewer is ignored.
    update(&mut state, Event::EarlyPromptRequested(None));
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { call, .. }) if call.id == "a".into()));
    assert_eq!(
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))),
        Some(vec![])
    );
    update(&mut state, Event::EarlyPromptRequested(Some("b".into())));
    let effects = receive_plan(&mut state, "b", grantable_intent(Access::Write("b".into())));
    assert_eq!(
        finish_review(&mut state, &review_effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))),
        Some(vec![]),
        "an answer to the first review"
    );
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Allow))).unwrap();
    assert_eq!(describe_effects(&effects), ["review allow b", "ask b"]);
    // The approval is stored. When the turn of b comes, the unchanged plan starts without another review.
    assert_eq!(describe_effects(&decide_call(&mut state, "b", Decision::Once)), ["decided b"]);
    decide_call(&mut state, "a", Decision::Once);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "PLAN b"]);
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "b", grantable_intent(Access::Write("b".into())))),
        ["RUN b"]
    );
}

#[test]
fn refused_early_prompt_returns_to_the_current_call() {
    let mut state = state_with_early_prompt();
    let effects = receive_plan(&mut state, "b", grantable_intent(Access::Write("b".into())));
    let effects =
        finish_review(&mut state, &effects, build_review(ReviewerBehavior::Answers(ReviewVerdict::Deny))).unwrap();
    assert_eq!(describe_effects(&effects), ["review deny b", "refuse b", "refused b"]);
    assert_eq!(state.queue.early_prompt, None);
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { call, .. }) if call.id == "a".into()));
}
