//! Turns: order of events, late events, and limits.

use super::*;

#[test]
fn r51_user_message_is_recorded_before_the_request() {
    let mut state = idle_state();
    assert_eq!(describe_effects(&send_user_message(&mut state, "hi")), ["message hi", "REQUEST_REPLY"]);
    assert_eq!(describe_effects(&receive_reply(&mut state, "Hello", &[])), ["replied Hello/0", "turn finished"]);
    assert!(state.is_idle());
    assert_eq!(describe_effects(&send_user_message(&mut state, "  \n")), [""; 0]);
}

#[test]
fn late_events_are_ignored() {
    let mut state = idle_state();
    send_user_message(&mut state, "hi");
    let ended_turn = running_turn(&state);
    update(&mut state, Event::TurnInterrupted);
    let state_before = state.clone();
    let late_chunk = |chunk| Event::ReplyChunk { turn: ended_turn, chunk, elapsed: Duration::ZERO };
    assert_eq!(update(&mut state, late_chunk(Chunk::Text("late".into()))), []);
    assert_eq!(update(&mut state, late_chunk(Chunk::Done(FinishReason::Stop))), []);
    assert_eq!(
        update(&mut state, Event::RequestFailed { turn: ended_turn, reason: "late".into(), too_long: false }),
        []
    );
    assert_eq!(state, state_before);
}

#[test]
fn reads_run_in_parallel_and_writes_wait() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    let effects = receive_reply(&mut state, "", &[("a", "read"), ("b", "read"), ("c", "write")]);
    assert_eq!(describe_effects(&effects), ["replied /3", "PLAN a"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", read_intent())), ["allow a", "RUN a", "PLAN b"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", read_intent())), ["allow b", "RUN b", "PLAN c"]);
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "c", write_intent())),
        [""; 0],
        "planned too early, so it does not count"
    );
    assert_eq!(describe_effects(&finish_call(&mut state, "b")), ["done b"]);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "PLAN c"]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "c", write_intent())), ["ask c"]);
    assert_eq!(state.waiting_position(), (3, 3));
    assert_eq!(describe_effects(&decide_call(&mut state, "c", Decision::Once)), ["decided c", "RUN c"]);
    assert_eq!(describe_effects(&finish_call(&mut state, "c")), ["done c", "REQUEST_REPLY"]);
}

#[test]
fn r01_nothing_with_effects_starts_without_approval() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write"), ("b", "write")]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", write_intent())), ["ask a"]);
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), [""; 0], "what never ran cannot finish");
    assert_eq!(
        describe_effects(&decide_call(&mut state, "b", Decision::Once)),
        [""; 0],
        "an approval is for one call only"
    );
    assert_eq!(describe_effects(&send_user_message(&mut state, "yes")), [""; 0], "a message is no decision");
    assert_eq!(state.queued_messages, ["yes"]);
}

#[test]
fn r15_denial_reaches_the_model_and_turn_continues() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write")]);
    receive_plan(&mut state, "a", write_intent());
    let effects = decide_call(&mut state, "a", Decision::Deny("use b".into()));
    assert_eq!(describe_effects(&effects), ["decided a", "refused a", "REQUEST_REPLY"]);
    let messages = state.session.messages(0, usize::MAX);
    assert!(matches!(messages.last(), Some(Message::Tool { call, text }) if call.0 == "a" && text.contains("use b")));
}

#[test]
fn r15_headless_denial_is_not_attributed_to_the_user() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write")]);
    receive_plan(&mut state, "a", write_intent());
    let decision = Decision::Deny("reason of the caller".into());
    let effects = update(&mut state, Event::CallDecided { call: "a".into(), decision, by: Decider::Headless });
    assert_eq!(describe_effects(&effects), ["decided a", "refused a", "REQUEST_REPLY"]);
    let Some(Message::Tool { text, .. }) = state.session.messages(0, usize::MAX).pop() else { panic!("the outcome") };
    assert!(text.starts_with("Denied: no interactive user is available to approve this call."), "{text}");
    assert!(!text.contains("The user denied") && !text.contains("reason of the caller"), "{text}");
}

#[test]
fn grant_covers_only_its_scope() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write"), ("b", "write"), ("c", "other")]);
    receive_plan(&mut state, "a", write_intent());
    let grant = Grant::new("write", GrantScope::File("a".into()));
    decide_call(&mut state, "a", Decision::Always(grant));
    finish_call(&mut state, "a");
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["allow b", "RUN b"]);
    finish_call(&mut state, "b");
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "c", write_intent())),
        ["ask c"],
        "the grant is for one tool"
    );
}

#[test]
fn dry_run_never_acts() {
    let mut state = idle_state();
    state.policy.dry_run = true;
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "read"), ("b", "write")]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", read_intent())), ["allow a", "REHEARSE a", "PLAN b"]);
    let turn = state.current_turn().unwrap();
    let read_finished = Event::CallFinished {
        turn,
        call: "a".into(),
        outcome: Outcome::Rehearsed("x".into()),
        result_source: None,
        duration: Duration::ZERO,
    };
    assert_eq!(describe_effects(&update(&mut state, read_finished)), ["done a"], "reads are the same in a dry run");
    assert_eq!(describe_effects(&receive_plan(&mut state, "b", write_intent())), ["rehearse b", "REHEARSE b"]);
    let rehearsed = Outcome::Rehearsed("x".into());
    let write_finished = Event::CallFinished {
        turn,
        call: "b".into(),
        outcome: rehearsed,
        result_source: None,
        duration: Duration::ZERO,
    };
    assert_eq!(describe_effects(&update(&mut state, write_finished)), ["rehearsed b", "REQUEST_REPLY"]);
}

#[test]
fn plan_mode_refuses_with_reason() {
    let mut state = idle_state();
    state.policy.mode = Mode::Plan;
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write")]);
    assert_eq!(
        describe_effects(&receive_plan(&mut state, "a", write_intent())),
        ["refuse a", "refused a", "REQUEST_REPLY"]
    );
}

#[test]
fn calls_after_a_question_wait_for_the_answer() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "ask"), ("b", "read")]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", question_intent())), ["asked a"]);
    let question_answer = QuestionAnswer::new("k", AnswerValue::Selected(vec![2]));
    let answer = Answer { answers: vec![question_answer], ..Answer::from_status(AnswerStatus::Answered) };
    let effects = update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::Headless });
    assert_eq!(describe_effects(&effects), ["answered a", "done a", "PLAN b"]);
}

#[test]
fn interrupting_settles_everything_in_one_step() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "read"), ("b", "ask"), ("c", "read")]);
    receive_plan(&mut state, "a", read_intent());
    receive_plan(&mut state, "b", question_intent());
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(
        describe_effects(&effects),
        ["CANCEL", "interrupted a", "interrupted b", "interrupted c", "turn interrupted"]
    );
    assert!(state.is_idle() && state.session.open_calls().is_empty());
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), [""; 0]);
}

#[test]
fn incomplete_reply_is_kept_and_its_calls_are_not_run() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_chunk(&mut state, Chunk::Text("Half".into()));
    receive_chunk(&mut state, Chunk::Call(tool_call("a", "write")));
    let turn = running_turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "lost".into(), too_long: false });
    assert_eq!(describe_effects(&effects), ["replied Half/0 incomplete", "turn failed"]);
    send_user_message(&mut state, "again");
    receive_chunk(&mut state, Chunk::Call(tool_call("a", "write")));
    assert_eq!(describe_effects(&receive_chunk(&mut state, Chunk::Done(FinishReason::Length))), ["turn failed"]);
}

#[test]
fn text_reclassified_as_reasoning_is_recorded_as_reasoning() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_chunk(&mut state, Chunk::Text("Let me see.\n".into()));
    receive_chunk(&mut state, Chunk::WasReasoning);
    receive_chunk(&mut state, Chunk::Text("Yes.".into()));
    assert_eq!(
        describe_effects(&receive_chunk(&mut state, Chunk::Done(FinishReason::Stop))),
        ["replied Yes./0", "turn finished"]
    );
    let Some(Entry::Replied { reasoning, .. }) = state.session.entries().iter().rev().nth(1) else {
        panic!("{:?}", state.session.entries())
    };
    assert_eq!(reasoning, "Let me see.\n");
}

#[test]
fn empty_reply_is_reported() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    assert_eq!(
        describe_effects(&receive_chunk(&mut state, Chunk::Done(FinishReason::Stop))),
        ["replied /0", "turn failed"]
    );
    assert!(!state.session.messages(0, usize::MAX).iter().any(|message| matches!(message, Message::Model { .. })));
}

#[test]
fn queued_message_is_sent_with_the_next_request() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    assert_eq!(describe_effects(&send_user_message(&mut state, "also")), [""; 0]);
    receive_reply(&mut state, "", &[("a", "read")]);
    receive_plan(&mut state, "a", read_intent());
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "message also", "REQUEST_REPLY"]);
    send_user_message(&mut state, "next");
    assert_eq!(
        describe_effects(&receive_reply(&mut state, "Done", &[])),
        ["replied Done/0", "turn finished", "message next", "REQUEST_REPLY"]
    );
}

#[test]
fn queued_message_stays_queued_if_the_turn_fails() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    send_user_message(&mut state, "also");
    assert_eq!(describe_effects(&update(&mut state, Event::TurnInterrupted)), ["CANCEL", "turn interrupted"]);
    assert_eq!(state.queued_messages, ["also"]);
    update(&mut state, Event::QueuedMessagesWithdrawn);
    assert_eq!(describe_effects(&send_user_message(&mut state, "new")), ["message new", "REQUEST_REPLY"]);
}

#[test]
fn calls_with_equal_ids_are_renamed() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    for expected in [["call_0", "call_0-2"], ["call_0-3", "call_0-4"]] {
        receive_reply(&mut state, "", &[("call_0", "read"), ("call_0", "read")]);
        let ids: Vec<String> = state.pending().iter().map(|pending| pending.call.id.0.clone()).collect();
        assert_eq!(ids, expected);
        for id in expected {
            receive_plan(&mut state, id, read_intent());
            finish_call(&mut state, id);
        }
    }
}

fn finish_call_with(state: &mut State, id: &str, text: &str) {
    let (turn, outcome) = (running_turn(state), Outcome::Done(text.into()));
    update(
        state,
        Event::CallFinished { turn, call: id.into(), outcome, result_source: None, duration: Duration::ZERO },
    );
}

/// Repeats the same call, with this outcome if it is allowed without asking; returns whether it is.
fn repeat_call(state: &mut State, id: &str, text: &str) -> bool {
    let mut same_call = tool_call(id, "read");
    same_call.arguments = "{}".into();
    receive_chunk(state, Chunk::Call(same_call));
    receive_chunk(state, Chunk::Done(FinishReason::Stop));
    let is_allowed = describe_effects(&receive_plan(state, id, read_intent())).contains(&format!("RUN {id}"));
    finish_call_with(state, id, text);
    is_allowed
}

#[test]
fn r65_asks_about_a_call_repeated_three_times() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    for id in ["a", "b", "c"] {
        assert!(repeat_call(&mut state, id, "the same"), "{id}");
    }
    assert!(!repeat_call(&mut state, "d", "the same"));
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("{:?}", state.waiting_call()) };
    assert!(reason.contains("3 equal calls"), "{reason}");
    // An approval allows as many repetitions again; a denial allows none.
    decide_call(&mut state, "d", Decision::Once);
    finish_call_with(&mut state, "d", "the same");
    assert!(repeat_call(&mut state, "e", "the same") && repeat_call(&mut state, "f", "the same"));
    for id in ["g", "h"] {
        assert!(!repeat_call(&mut state, id, "the same"), "{id}");
        decide_call(&mut state, id, Decision::Deny(String::new()));
    }
    update(&mut state, Event::TurnInterrupted);
    send_user_message(&mut state, "again");
    assert!(repeat_call(&mut state, "i", "the same"), "another turn restarts the count");
    for (id, text) in [("j", "1"), ("k", "2"), ("l", "3"), ("m", "4"), ("n", "5")] {
        assert!(repeat_call(&mut state, id, text), "{id} had another outcome");
    }
}

#[test]
fn r65_calls_with_effects_clear_the_repeat_count() {
    let mut state = idle_state();
    state.policy.mode = Mode::Auto;
    send_user_message(&mut state, "go");
    for id in ["a", "b", "c", "d", "e"] {
        assert!(repeat_call(&mut state, id, "the same"), "{id}");
        let id = format!("w{id}");
        receive_reply(&mut state, "", &[(&id, "write")]);
        receive_plan(&mut state, &id, write_intent());
        finish_call(&mut state, &id);
    }
}

#[test]
fn r65_endless_turn_is_stopped() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    for round in 0..50 {
        let id = format!("c{round}");
        receive_reply(&mut state, "", &[(&id, "read")]);
        receive_plan(&mut state, &id, read_intent());
        finish_call(&mut state, &id);
    }
    assert!(state.is_idle());
    assert!(matches!(state.session.entries().last(), Some(Entry::Ended { ending: Ending::Failed(_) })));
}

#[test]
fn r51_resume_settles_open_calls_without_running_them() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "read"), ("b", "write")]);
    receive_plan(&mut state, "a", read_intent());
    let (resumed, effects) = resume(state.session, idle_state());
    assert_eq!(describe_effects(&effects), ["interrupted a", "interrupted b", "turn interrupted"]);
    let outcomes: Vec<String> = resumed
        .session
        .messages(0, usize::MAX)
        .iter()
        .filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert!(outcomes[0].contains("outcome is unknown") && outcomes[1].starts_with("Not run"), "{outcomes:?}");
    assert!(resumed.is_idle());
}

#[test]
fn r51_open_question_waits_again_after_resume() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "ask"), ("b", "write")]);
    receive_plan(&mut state, "a", question_intent());
    let (mut resumed, effects) = resume(state.session, idle_state());
    assert_eq!(describe_effects(&effects), ["interrupted b"]);
    assert!(matches!(resumed.waiting_call(), Some(WaitingCall::Answer { .. })));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let effects = update(&mut resumed, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::Headless });
    assert_eq!(describe_effects(&effects), ["answered a", "done a", "REQUEST_REPLY"]);
}
