//! Previews and approvals from the queue, before a call's turn.

use super::*;

/// Three writes in one reply; the first waits for approval.
fn three() -> State {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "t"), ("b", "t"), ("c", "t")]);
    planned(&mut state, "a", write());
    state
}

fn brought(state: &mut State, id: &str) -> Vec<Effect> {
    update(state, Event::EarlyPromptRequested(Some(id.into())))
}

fn waits(state: &State) -> Option<(&str, (usize, usize))> {
    match state.waiting_call() {
        Some(WaitingCall::Approval { call, .. }) => Some((call.id.0.as_str(), state.waiting_position())),
        Some(WaitingCall::Answer { .. }) | None => None,
    }
}

#[test]
fn queue_plans_each_call_once_without_side_effects() {
    let mut state = three();
    assert_eq!(shape(&update(&mut state, Event::QueueOpened)), ["PLAN b"]);
    assert_eq!(shape(&update(&mut state, Event::QueueOpened)), [""; 0], "one plan at a time");
    assert_eq!(shape(&planned(&mut state, "b", write())), ["PLAN c"]);
    assert_eq!(shape(&planned(&mut state, "c", question())), [""; 0]);
    let looks: Vec<_> = state.pending().iter().map(|pending| pending.preapproval.preview.clone()).collect();
    assert!(matches!(&looks[1], Some(QueuePreview::Plan { needs_approval: true, .. })), "{looks:?}");
    assert_eq!(looks[2], Some(QueuePreview::Question("Which?".into())));
    assert_eq!((waits(&state), state.session.open_calls().len()), (Some(("a", (1, 3))), 3));
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), ["decided a", "ACT a"]);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "PLAN b"], "a look before its turn does not count");
}

#[test]
fn r08_queue_plan_is_not_used_for_the_call() {
    let mut state = three();
    update(&mut state, Event::QueueOpened);
    decided(&mut state, "a", Decision::Once);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a"], "b is still being planned for the queue");
    assert_eq!(shape(&planned(&mut state, "b", write())), ["PLAN b"]);
    assert_eq!(shape(&planned(&mut state, "b", write())), ["ask b"]);
}

#[test]
fn r18_early_approval_keeps_the_order_of_calls() {
    let mut state = three();
    assert_eq!(shape(&brought(&mut state, "c")), ["PLAN c"]);
    assert_eq!(waits(&state), None, "no other prompt meanwhile");
    assert_eq!(shape(&planned(&mut state, "c", write())), ["ask c"]);
    assert_eq!(waits(&state), Some(("c", (3, 3))));
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), [""; 0], "b was not shown");
    brought(&mut state, "c");
    planned(&mut state, "c", write());
    assert_eq!(shape(&decided(&mut state, "c", Decision::Once)), ["decided c"]);
    assert_eq!(waits(&state), Some(("a", (1, 3))));
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), ["decided a", "ACT a"]);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "PLAN b"]);
    planned(&mut state, "b", write());
    assert_eq!(shape(&decided(&mut state, "b", Decision::Deny(String::new()))), ["decided b", "refused b", "PLAN c"]);
    assert_eq!(shape(&planned(&mut state, "c", write())), ["ACT c"], "the plan is unchanged: the approval is valid");
}

#[test]
fn r08_changed_plan_needs_a_new_approval() {
    let mut state = three();
    brought(&mut state, "b");
    planned(&mut state, "b", write());
    decided(&mut state, "b", Decision::Once);
    decided(&mut state, "a", Decision::Once);
    finished(&mut state, "a");
    let other = plan(Access::Write("elsewhere".into()));
    assert_eq!(shape(&planned(&mut state, "b", other)), ["ask b"]);
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("nothing waits") };
    assert!(reason.ends_with("Changed since you approved it"), "{reason}");
    let (resumed, _) = resume(state.session.clone(), idle());
    let told = resumed.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Settled { call, outcome, .. } if call.0 == "b" => Some(outcome.text().to_owned()),
        _ => None,
    });
    assert!(told.is_some_and(|told| told.starts_with("Not run")), "it never ran");
}

#[test]
fn closed_early_prompt_waits_again_and_early_denial_counts() {
    let mut state = three();
    brought(&mut state, "b");
    planned(&mut state, "b", write());
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(waits(&state), Some(("a", (1, 3))));
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), [""; 0]);
    assert_eq!(shape(&decided(&mut state, "b", Decision::Deny(String::new()))), ["decided b", "refused b"]);
    assert_eq!(waits(&state), Some(("a", (1, 3))));
    decided(&mut state, "a", Decision::Once);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "PLAN c"]);
}

#[test]
fn early_prompt_can_be_edited_and_still_needs_approval() {
    let mut state = three();
    brought(&mut state, "b");
    planned(&mut state, "b", write());
    let edit = Decision::Edited(serde_json::json!({ "path": "b" }));
    assert_eq!(shape(&decided(&mut state, "b", edit)), ["PLAN b"]);
    assert_eq!(shape(&planned(&mut state, "b", write())), ["decided b", "ask b"]);
    assert_eq!(waits(&state), Some(("b", (2, 3))));
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), ["decided b"]);
    assert_eq!(waits(&state), Some(("a", (1, 3))));
}

#[test]
fn r51_resume_distinguishes_unreached_approvals_from_started_calls() {
    let told = |state: &State, id: &str| {
        let (resumed, _) = resume(Session::replay(state.session.entries().to_vec()), idle());
        let of = |entry: &Entry| match entry {
            Entry::Settled { call, outcome, .. } if call.0 == id => Some(outcome.text().to_owned()),
            _ => None,
        };
        resumed.session.entries().iter().find_map(of).expect("it is settled")
    };
    let mut state = three();
    brought(&mut state, "c");
    planned(&mut state, "c", write());
    decided(&mut state, "c", Decision::Once);
    assert!(told(&state, "c").starts_with("Not run"), "{}", told(&state, "c"));
    decided(&mut state, "a", Decision::Once);
    assert!(told(&state, "a").contains("unknown") && told(&state, "c").starts_with("Not run"));
    finished(&mut state, "a");
    planned(&mut state, "b", write());
    decided(&mut state, "b", Decision::Deny(String::new()));
    planned(&mut state, "c", write());
    assert!(told(&state, "c").contains("unknown"), "it runs now");
}

#[test]
fn interrupting_settles_early_approved_calls_as_not_run() {
    let mut state = three();
    brought(&mut state, "c");
    planned(&mut state, "c", write());
    decided(&mut state, "c", Decision::Once);
    let effects = shape(&update(&mut state, Event::TurnInterrupted));
    assert_eq!(effects, ["CANCEL", "interrupted a", "interrupted b", "interrupted c", "ended by the person"]);
    said(&mut state, "more");
    replies(&mut state, "", &[("d", "t")]);
    planned(&mut state, "d", write());
    assert_eq!(waits(&state), Some(("d", (1, 1))));
}

#[test]
fn r08_plan_of_a_dropped_edit_shows_no_prompt() {
    let mut state = three();
    brought(&mut state, "b");
    planned(&mut state, "b", write());
    decided(&mut state, "b", Decision::Edited(serde_json::json!({ "path": "elsewhere" })));
    update(&mut state, Event::EarlyPromptRequested(None));
    assert_eq!(shape(&brought(&mut state, "b")), [""; 0], "the edit is being planned");
    let of_the_edit = plan(Access::Write("elsewhere".into()));
    assert_eq!(shape(&planned(&mut state, "b", of_the_edit)), ["PLAN b"], "that plan is not of the unedited b");
    assert_eq!(shape(&planned(&mut state, "b", write())), ["ask b"]);
}

#[test]
fn early_prompt_closed_at_its_turn_is_planned_again() {
    let mut state = three();
    brought(&mut state, "c");
    planned(&mut state, "c", write());
    decided(&mut state, "a", Decision::Deny(String::new()));
    planned(&mut state, "b", write());
    decided(&mut state, "b", Decision::Deny(String::new()));
    assert_eq!(waits(&state), Some(("c", (3, 3))));
    assert_eq!(shape(&update(&mut state, Event::EarlyPromptRequested(None))), ["PLAN c"]);
}

#[test]
fn r08_approval_applies_only_to_the_shown_prompt() {
    let mut state = three();
    brought(&mut state, "b");
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), [""; 0], "the prompt of b is being prepared");
    planned(&mut state, "b", write());
    assert_eq!(shape(&decided(&mut state, "a", Decision::Once)), [""; 0]);
    assert_eq!(waits(&state), Some(("b", (2, 3))));
}
