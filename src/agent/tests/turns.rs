//! Turns: order of events, late events, and limits.

use super::*;

#[test]
fn r51_user_message_is_recorded_before_the_request() {
    let mut state = idle();
    assert_eq!(shape(&said(&mut state, "hi")), ["said hi", "STREAM"]);
    assert_eq!(shape(&replies(&mut state, "Hello", &[])), ["replied Hello/0", "ended"]);
    assert!(state.is_idle());
    assert_eq!(shape(&said(&mut state, "  \n")), [""; 0]);
}

#[test]
fn late_events_are_ignored() {
    let mut state = idle();
    said(&mut state, "hi");
    let over = turn(&state);
    update(&mut state, Event::TurnInterrupted);
    let before = state.clone();
    let late = |chunk| Event::ReplyChunk { turn: over, chunk, after: Duration::ZERO };
    assert_eq!(update(&mut state, late(Chunk::Text("late".into()))), []);
    assert_eq!(update(&mut state, late(Chunk::Done(FinishReason::Stop))), []);
    assert_eq!(update(&mut state, Event::RequestFailed { turn: over, reason: "late".into(), too_long: false }), []);
    assert_eq!(state, before);
}

#[test]
fn reads_run_in_parallel_and_writes_wait() {
    let mut state = idle();
    said(&mut state, "go");
    let effects = replies(&mut state, "", &[("a", "read"), ("b", "read"), ("c", "write")]);
    assert_eq!(shape(&effects), ["replied /3", "PLAN a"]);
    assert_eq!(shape(&planned(&mut state, "a", read())), ["allow a", "ACT a", "PLAN b"]);
    assert_eq!(shape(&planned(&mut state, "b", read())), ["allow b", "ACT b", "PLAN c"]);
    assert_eq!(shape(&planned(&mut state, "c", write())), [""; 0], "planned too early, so it does not count");
    assert_eq!(shape(&finished(&mut state, "b")), ["done b"]);
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "PLAN c"]);
    assert_eq!(shape(&planned(&mut state, "c", write())), ["ask c"]);
    assert_eq!(state.waiting_position(), (3, 3));
    assert_eq!(shape(&decided(&mut state, "c", Decision::Once)), ["decided c", "ACT c"]);
    assert_eq!(shape(&finished(&mut state, "c")), ["done c", "STREAM"]);
}

#[test]
fn r01_nothing_with_effects_starts_without_approval() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write"), ("b", "write")]);
    assert_eq!(shape(&planned(&mut state, "a", write())), ["ask a"]);
    assert_eq!(shape(&finished(&mut state, "a")), [""; 0], "what never ran cannot finish");
    assert_eq!(shape(&decided(&mut state, "b", Decision::Once)), [""; 0], "an approval is for one call only");
    assert_eq!(shape(&said(&mut state, "yes")), [""; 0], "a message is no decision");
    assert_eq!(state.queued_messages, ["yes"]);
}

#[test]
fn r15_denial_reaches_the_model_and_turn_continues() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write")]);
    planned(&mut state, "a", write());
    let effects = decided(&mut state, "a", Decision::Deny("use b".into()));
    assert_eq!(shape(&effects), ["decided a", "refused a", "STREAM"]);
    let messages = state.session.messages();
    assert!(matches!(messages.last(), Some(Message::Tool { call, text }) if call.0 == "a" && text.contains("use b")));
}

#[test]
fn r15_headless_denial_is_not_attributed_to_the_user() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write")]);
    planned(&mut state, "a", write());
    let decision = Decision::Deny("words of whoever".into());
    let effects = update(&mut state, Event::CallDecided { call: "a".into(), decision, by: Decider::Headless });
    assert_eq!(shape(&effects), ["decided a", "refused a", "STREAM"]);
    let Some(Message::Tool { text, .. }) = state.session.messages().pop() else { panic!("the outcome") };
    assert!(text.starts_with("Denied: no interactive user is available to approve this call."), "{text}");
    assert!(!text.contains("The user denied") && !text.contains("words of whoever"), "{text}");
}

#[test]
fn grant_covers_only_its_scope() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write"), ("b", "write"), ("c", "other")]);
    planned(&mut state, "a", write());
    let grant = Grant::new("write", GrantScope::File("a".into()));
    decided(&mut state, "a", Decision::Always(grant));
    finished(&mut state, "a");
    assert_eq!(shape(&planned(&mut state, "b", write())), ["allow b", "ACT b"]);
    finished(&mut state, "b");
    assert_eq!(shape(&planned(&mut state, "c", write())), ["ask c"], "the grant is for one tool");
}

#[test]
fn dry_run_never_acts() {
    let mut state = idle();
    state.policy.dry_run = true;
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "read"), ("b", "write")]);
    assert_eq!(shape(&planned(&mut state, "a", read())), ["allow a", "REHEARSE a", "PLAN b"]);
    let turn = state.current_turn().unwrap();
    let read = Event::CallFinished {
        turn,
        call: "a".into(),
        outcome: Outcome::Rehearsed("x".into()),
        result_source: None,
        duration: Duration::ZERO,
    };
    assert_eq!(shape(&update(&mut state, read)), ["done a"], "reads are the same in a dry run");
    assert_eq!(shape(&planned(&mut state, "b", write())), ["rehearse b", "REHEARSE b"]);
    let rehearsed = Outcome::Rehearsed("x".into());
    let write = Event::CallFinished {
        turn,
        call: "b".into(),
        outcome: rehearsed,
        result_source: None,
        duration: Duration::ZERO,
    };
    assert_eq!(shape(&update(&mut state, write)), ["rehearsed b", "STREAM"]);
}

#[test]
fn plan_mode_refuses_with_reason() {
    let mut state = idle();
    state.policy.mode = Mode::Plan;
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write")]);
    assert_eq!(shape(&planned(&mut state, "a", write())), ["refuse a", "refused a", "STREAM"]);
}

#[test]
fn calls_after_a_question_wait_for_the_answer() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "ask"), ("b", "read")]);
    assert_eq!(shape(&planned(&mut state, "a", question())), ["asked a"]);
    let given = QuestionAnswer::new("k", AnswerValue::Selected(vec![2]));
    let answer = Answer { answers: vec![given], ..Answer::from_status(AnswerStatus::Answered) };
    let effects = update(&mut state, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::Headless });
    assert_eq!(shape(&effects), ["answered a", "done a", "PLAN b"]);
}

#[test]
fn interrupting_settles_everything_in_one_step() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "read"), ("b", "ask"), ("c", "read")]);
    planned(&mut state, "a", read());
    planned(&mut state, "b", question());
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(shape(&effects), ["CANCEL", "interrupted a", "interrupted b", "interrupted c", "ended by the person"]);
    assert!(state.is_idle() && state.session.open_calls().is_empty());
    assert_eq!(shape(&finished(&mut state, "a")), [""; 0]);
}

#[test]
fn incomplete_reply_is_kept_and_its_calls_are_not_run() {
    let mut state = idle();
    said(&mut state, "go");
    chunk(&mut state, Chunk::Text("Half".into()));
    chunk(&mut state, Chunk::Call(call("a", "write")));
    let turn = turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "lost".into(), too_long: false });
    assert_eq!(shape(&effects), ["replied Half/0 cut", "ended badly"]);
    said(&mut state, "again");
    chunk(&mut state, Chunk::Call(call("a", "write")));
    assert_eq!(shape(&chunk(&mut state, Chunk::Done(FinishReason::Length))), ["ended badly"]);
}

#[test]
fn text_reclassified_as_reasoning_is_recorded_as_reasoning() {
    let mut state = idle();
    said(&mut state, "go");
    chunk(&mut state, Chunk::Text("Let me see.\n".into()));
    chunk(&mut state, Chunk::WasReasoning);
    chunk(&mut state, Chunk::Text("Yes.".into()));
    assert_eq!(shape(&chunk(&mut state, Chunk::Done(FinishReason::Stop))), ["replied Yes./0", "ended"]);
    let Some(Entry::Replied { reasoning, .. }) = state.session.entries().iter().rev().nth(1) else {
        panic!("{:?}", state.session.entries())
    };
    assert_eq!(reasoning, "Let me see.\n");
}

#[test]
fn empty_reply_is_reported() {
    let mut state = idle();
    said(&mut state, "go");
    assert_eq!(shape(&chunk(&mut state, Chunk::Done(FinishReason::Stop))), ["replied /0", "ended badly"]);
    assert!(!state.session.messages().iter().any(|message| matches!(message, Message::Model { .. })));
}

#[test]
fn queued_message_is_sent_with_the_next_request() {
    let mut state = idle();
    said(&mut state, "go");
    assert_eq!(shape(&said(&mut state, "also")), [""; 0]);
    replies(&mut state, "", &[("a", "read")]);
    planned(&mut state, "a", read());
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "said also", "STREAM"]);
    said(&mut state, "next");
    assert_eq!(shape(&replies(&mut state, "Done", &[])), ["replied Done/0", "ended", "said next", "STREAM"]);
}

#[test]
fn queued_message_stays_queued_if_the_turn_fails() {
    let mut state = idle();
    said(&mut state, "go");
    said(&mut state, "also");
    assert_eq!(shape(&update(&mut state, Event::TurnInterrupted)), ["CANCEL", "ended by the person"]);
    assert_eq!(state.queued_messages, ["also"]);
    update(&mut state, Event::QueueWithdrawn);
    assert_eq!(shape(&said(&mut state, "new")), ["said new", "STREAM"]);
}

#[test]
fn calls_with_equal_ids_are_renamed() {
    let mut state = idle();
    said(&mut state, "go");
    for expected in [["call_0", "call_0-2"], ["call_0-3", "call_0-4"]] {
        replies(&mut state, "", &[("call_0", "read"), ("call_0", "read")]);
        let ids: Vec<String> = state.pending().iter().map(|pending| pending.call.id.0.clone()).collect();
        assert_eq!(ids, expected);
        for id in expected {
            planned(&mut state, id, read());
            finished(&mut state, id);
        }
    }
}

#[test]
fn r65_call_that_failed_three_times_is_refused_without_planning() {
    let mut state = idle();
    said(&mut state, "go");
    let again = |state: &mut State, id: &str| {
        let mut same = call(id, "read");
        same.arguments = "{}".into();
        chunk(state, Chunk::Call(same));
        shape(&chunk(state, Chunk::Done(FinishReason::Stop)))
    };
    for id in ["a", "b", "c"] {
        assert_eq!(again(&mut state, id)[1], format!("PLAN {id}"));
        let turn = turn(&state);
        update(&mut state, Event::CallPlanned { turn, call: id.into(), intent: Err("no such file".into()) });
    }
    assert_eq!(again(&mut state, "d")[1..], ["refused d", "STREAM"]);
}

fn came_to(state: &mut State, id: &str, text: &str) {
    let (turn, outcome) = (turn(state), Outcome::Done(text.into()));
    update(
        state,
        Event::CallFinished { turn, call: id.into(), outcome, result_source: None, duration: Duration::ZERO },
    );
}

/// Repeats the same call, with this outcome if it is allowed without asking; returns whether it is.
fn circles(state: &mut State, id: &str, text: &str) -> bool {
    let mut same = call(id, "read");
    same.arguments = "{}".into();
    chunk(state, Chunk::Call(same));
    chunk(state, Chunk::Done(FinishReason::Stop));
    let unasked = shape(&planned(state, id, read())).contains(&format!("ACT {id}"));
    came_to(state, id, text);
    unasked
}

#[test]
fn r65_asks_about_a_call_repeated_three_times() {
    let mut state = idle();
    said(&mut state, "go");
    for id in ["a", "b", "c"] {
        assert!(circles(&mut state, id, "the same"), "{id}");
    }
    assert!(!circles(&mut state, "d", "the same"));
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("{:?}", state.waiting_call()) };
    assert!(reason.contains("3 equal calls"), "{reason}");
    // An approval allows as many repetitions again; a denial allows none.
    decided(&mut state, "d", Decision::Once);
    came_to(&mut state, "d", "the same");
    assert!(circles(&mut state, "e", "the same") && circles(&mut state, "f", "the same"));
    for id in ["g", "h"] {
        assert!(!circles(&mut state, id, "the same"), "{id}");
        decided(&mut state, id, Decision::Deny(String::new()));
    }
    update(&mut state, Event::TurnInterrupted);
    said(&mut state, "again");
    assert!(circles(&mut state, "i", "the same"), "another turn restarts the count");
    for (id, text) in [("j", "1"), ("k", "2"), ("l", "3"), ("m", "4"), ("n", "5")] {
        assert!(circles(&mut state, id, text), "{id} had another outcome");
    }
}

#[test]
fn r65_calls_with_effects_clear_the_repeat_count() {
    let mut state = idle();
    state.policy.mode = Mode::Auto;
    said(&mut state, "go");
    for id in ["a", "b", "c", "d", "e"] {
        assert!(circles(&mut state, id, "the same"), "{id}");
        let id = format!("w{id}");
        replies(&mut state, "", &[(&id, "write")]);
        planned(&mut state, &id, write());
        finished(&mut state, &id);
    }
}

#[test]
fn r65_endless_turn_is_stopped() {
    let mut state = idle();
    said(&mut state, "go");
    for round in 0..50 {
        let id = format!("c{round}");
        replies(&mut state, "", &[(&id, "read")]);
        planned(&mut state, &id, read());
        finished(&mut state, &id);
    }
    assert!(state.is_idle());
    assert!(matches!(state.session.entries().last(), Some(Entry::Ended { ending: Ending::Failed(_) })));
}

#[test]
fn r51_resume_settles_open_calls_without_running_them() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "read"), ("b", "write")]);
    planned(&mut state, "a", read());
    let (resumed, effects) = resume(state.session, idle());
    assert_eq!(shape(&effects), ["interrupted a", "interrupted b", "ended by the person"]);
    let words: Vec<String> = resumed
        .session
        .messages()
        .iter()
        .filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert!(words[0].contains("outcome is unknown") && words[1].starts_with("Not run"), "{words:?}");
    assert!(resumed.is_idle());
}

#[test]
fn r51_open_question_waits_again_after_resume() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "ask"), ("b", "write")]);
    planned(&mut state, "a", question());
    let (mut resumed, effects) = resume(state.session, idle());
    assert_eq!(shape(&effects), ["interrupted b"]);
    assert!(matches!(resumed.waiting_call(), Some(WaitingCall::Answer { .. })));
    let answer = Answer::from_status(AnswerStatus::Declined);
    let effects = update(&mut resumed, Event::QuestionsAnswered { call: "a".into(), answer, by: Decider::Headless });
    assert_eq!(shape(&effects), ["answered a", "done a", "STREAM"]);
}
