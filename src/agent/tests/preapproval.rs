//! Previews and approvals from the queue, before a call's turn.

use super::*;

/// Three writes in one reply; the first waits for approval.
fn three_writes() -> State {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "t"), ("b", "t"), ("c", "t")]);
    receive_plan(&mut state, "a", write_intent());
    state
}

fn request_early_prompt(state: &mut State, id: &str) -> Vec<Effect> {
    update(state, Event::EarlyPromptRequested(Some(id.into())))
}

/// Returns the call on the shown approval prompt, with its position among the calls and their number.
fn shown_approval(state: &State) -> Option<(&str, (usize, usize))> {
    match state.waiting_call() {
        Some(WaitingCall::Approval { call, .. }) => Some((call.id.0.as_str(), state.waiting_position())),
        Some(WaitingCall::Answer { .. }) | None => None,
    }
}

#[test]
fn queue_plans_each_call_once_without_side_effects() {
    let mut state = three_writes();
    assert_eq!(describe_effects(&update(&mut state, Event::QueueOpened)), ["PLAN b"]);
    assert_eq!(describe_effects(&update(&mut state, Event::QueueOpened)), [""; 0], "one plan at a time");
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["PLAN c"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "c", question_intent())), [""; 0]);
    let previews: Vec<_> = state.pending().iter().map(|pending| pending.preapproval.preview.clone()).collect();
    assert!(matches!(&previews[1], Some(QueuePreview::Plan { needs_approval: true, .. })), "{previews:?}");
    assert_eq!(previews[2], Some(QueuePreview::Question("Which?".into())));
    assert_eq!((shown_approval(&state), state.session.open_calls().len()), (Some(("a", (1, 3))), 3));
    assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), ["decided a", "RUN a"]);
    assert_eq!(
        describe_effects(&finish_call(&mut state, "a")),
        ["done a", "PLAN b"],
        "a plan before its turn does not count"
    );
}

#[test]
fn r08_queue_plan_is_not_used_for_the_call() {
    let mut state = three_writes();
    update(&mut state, Event::QueueOpened);
    decide_call(&mut state, "a", Decision::Once);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a"], "b is still being planned for the queue");
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["PLAN b"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["ask b"]);
}

#[test]
fn r18_early_approval_keeps_the_order_of_calls() {
    let mut state = three_writes();
    assert_eq!(describe_effects(&request_early_prompt(&mut state, "c")), ["PLAN c"]);
    assert_eq!(shown_approval(&state), None, "no other prompt meanwhile");
    assert_eq!(describe_effects(&receive_plan(&mut state, "c", write_intent())), ["ask c"]);
    assert_eq!(shown_approval(&state), Some(("c", (3, 3))));
    assert_eq!(describe_effects(&decide_call(&mut state, "b", Decision::Once)), [""; 0], "b was not shown");
    request_early_prompt(&mut state, "c");
    receive_plan(&mut state, "c", write_intent());
    assert_eq!(describe_effects(&decide_call(&mut state, "c", Decision::Once)), ["decided c"]);
    assert_eq!(shown_approval(&state), Some(("a", (1, 3))));
    assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), ["decided a", "RUN a"]);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "PLAN b"]);
    receive_plan(&mut state, "b", write_intent());
    assert_eq!(
        describe_effects(&decide_call(&mut state, "b", Decision::Deny(String::new()))),
        ["decided b", "refused b", "PLAN c"]
    );
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "c", write_intent())),
        ["RUN c"],
        "the plan is unchanged: the approval is valid"
    );
}

#[test]
fn r08_changed_plan_needs_a_new_approval() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "b");
    receive_plan(&mut state, "b", write_intent());
    decide_call(&mut state, "b", Decision::Once);
    decide_call(&mut state, "a", Decision::Once);
    finish_call(&mut state, "a");
    let changed_plan = plan_intent(Access::Write("elsewhere".into()));
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", changed_plan)), ["ask b"]);
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("nothing waits") };
    assert!(reason.ends_with("Changed since you approved it"), "{reason}");
    let (resumed, _) = resume(state.session.clone(), idle_state());
    let outcome_text = resumed.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Settled { call, outcome, .. } if call.0 == "b" => Some(outcome.text().to_owned()),
        _ => None,
    });
    assert!(outcome_text.is_some_and(|text| text.starts_with("Not run")), "it never ran");
}

#[test]
fn closed_early_prompt_waits_again_and_early_denial_counts() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "b");
    receive_plan(&mut state, "b", write_intent());
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(shown_approval(&state), Some(("a", (1, 3))));
    assert_eq!(describe_effects(&decide_call(&mut state, "b", Decision::Once)), [""; 0]);
    assert_eq!(
        describe_effects(&decide_call(&mut state, "b", Decision::Deny(String::new()))),
        ["decided b", "refused b"]
    );
    assert_eq!(shown_approval(&state), Some(("a", (1, 3))));
    decide_call(&mut state, "a", Decision::Once);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "PLAN c"]);
}

#[test]
fn early_prompt_can_be_edited_and_still_needs_approval() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "b");
    receive_plan(&mut state, "b", write_intent());
    let edit = Decision::Edited(serde_json::json!({ "path": "b" }));
    assert_eq!(describe_effects(&decide_call(&mut state, "b", edit)), ["PLAN b"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["decided b", "ask b"]);
    assert_eq!(shown_approval(&state), Some(("b", (2, 3))));
    assert_eq!(describe_effects(&decide_call(&mut state, "b", Decision::Once)), ["decided b"]);
    assert_eq!(shown_approval(&state), Some(("a", (1, 3))));
}

#[test]
fn r51_resume_distinguishes_unreached_approvals_from_started_calls() {
    let outcome_after_resume = |state: &State, id: &str| {
        let (resumed, _) = resume(Session::replay(state.session.entries().to_vec()), idle_state());
        let outcome_text = |entry: &Entry| match entry {
            Entry::Settled { call, outcome, .. } if call.0 == id => Some(outcome.text().to_owned()),
            _ => None,
        };
        resumed.session.entries().iter().find_map(outcome_text).expect("it is settled")
    };
    let mut state = three_writes();
    request_early_prompt(&mut state, "c");
    receive_plan(&mut state, "c", write_intent());
    decide_call(&mut state, "c", Decision::Once);
    assert!(outcome_after_resume(&state, "c").starts_with("Not run"), "{}", outcome_after_resume(&state, "c"));
    decide_call(&mut state, "a", Decision::Once);
    assert!(
        outcome_after_resume(&state, "a").contains("unknown")
            && outcome_after_resume(&state, "c").starts_with("Not run")
    );
    finish_call(&mut state, "a");
    receive_plan(&mut state, "b", write_intent());
    decide_call(&mut state, "b", Decision::Deny(String::new()));
    receive_plan(&mut state, "c", write_intent());
    assert!(outcome_after_resume(&state, "c").contains("unknown"), "it runs now");
}

#[test]
fn interrupting_settles_early_approved_calls_as_not_run() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "c");
    receive_plan(&mut state, "c", write_intent());
    decide_call(&mut state, "c", Decision::Once);
    let effects = describe_effects(&update(&mut state, Event::TurnInterrupted));
    assert_eq!(effects, ["CANCEL", "interrupted a", "interrupted b", "interrupted c", "turn interrupted"]);
    send_user_message(&mut state, "more");
    receive_reply(&mut state, "", &[("d", "t")]);
    receive_plan(&mut state, "d", write_intent());
    assert_eq!(shown_approval(&state), Some(("d", (1, 1))));
}

#[test]
fn r08_plan_of_a_dropped_edit_shows_no_prompt() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "b");
    receive_plan(&mut state, "b", write_intent());
    decide_call(&mut state, "b", Decision::Edited(serde_json::json!({ "path": "elsewhere" })));
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(describe_effects(&request_early_prompt(&mut state, "b")), [""; 0], "the edit is being planned");
    let edit_plan = plan_intent(Access::Write("elsewhere".into()));
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "b", edit_plan)),
        ["PLAN b"],
        "that plan is not of the unedited b"
    );
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["ask b"]);
}

#[test]
fn early_prompt_closed_at_its_turn_is_planned_again() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "c");
    receive_plan(&mut state, "c", write_intent());
    decide_call(&mut state, "a", Decision::Deny(String::new()));
    receive_plan(&mut state, "b", write_intent());
    decide_call(&mut state, "b", Decision::Deny(String::new()));
    assert_eq!(shown_approval(&state), Some(("c", (3, 3))));
    assert_eq!(describe_effects(&update(&mut state, Event::EarlyPromptRequested(None))), ["PLAN c"]);
}

#[test]
fn r08_approval_applies_only_to_the_shown_prompt() {
    let mut state = three_writes();
    request_early_prompt(&mut state, "b");
    assert_eq!(
        describe_effects(&decide_call(&mut state, "a", Decision::Once)),
        [""; 0],
        "the prompt of b is being prepared"
    );
    receive_plan(&mut state, "b", write_intent());
    assert_eq!(describe_effects(&decide_call(&mut state, "a", Decision::Once)), [""; 0]);
    assert_eq!(shown_approval(&state), Some(("b", (2, 3))));
}
