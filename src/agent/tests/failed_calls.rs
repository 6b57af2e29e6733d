//! Calls that fail again and again: with the same arguments, and with others.

use super::*;

/// Repeats the same call; returns the effects from its planning on.
fn call_again(state: &mut State, id: &str) -> Vec<String> {
    receive_chunk(state, Chunk::Call(ToolCall { arguments: "{}".into(), ..tool_call(id, "read") }));
    describe_effects(&receive_chunk(state, Chunk::Done(FinishReason::Stop)))[1..].to_vec()
}

/// Repeats the same call, which is planned and fails.
fn fail_again(state: &mut State, id: &str) {
    assert_eq!(call_again(state, id)[0], format!("PLAN {id}"));
    let turn = running_turn(state);
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Err("no such file".into()) });
}

#[test]
fn r65_call_that_failed_three_times_is_refused_without_planning() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    for id in ["a", "b", "c"] {
        fail_again(&mut state, id);
    }
    for id in ["d", "e"] {
        assert_eq!(call_again(&mut state, id), [format!("refused {id}").as_str(), "REQUEST_REPLY"]);
    }
}

#[test]
fn r65_a_success_restarts_the_count_of_failures() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    fail_again(&mut state, "a");
    fail_again(&mut state, "b");
    assert_eq!(call_again(&mut state, "c"), ["PLAN c"]);
    receive_plan(&mut state, "c", read_intent());
    finish_call(&mut state, "c");
    for id in ["d", "e", "f"] {
        fail_again(&mut state, id);
    }
    assert_eq!(call_again(&mut state, "g"), ["refused g", "REQUEST_REPLY"]);
}

fn call_with(state: &mut State, id: &str, path: &str) {
    let mut call = tool_call(id, "read");
    call.arguments = format!(r#"{{"path":"{path}"}}"#);
    receive_chunk(state, Chunk::Call(call));
}

fn end_reply(state: &mut State) -> Vec<String> {
    describe_effects(&receive_chunk(state, Chunk::Done(FinishReason::Stop)))
}

fn fail(state: &mut State, id: &str) {
    let turn = running_turn(state);
    update(state, Event::CallPlanned { turn, call: id.into(), intent: Err("no such file".into()) });
}

#[test]
fn r65_a_tool_that_failed_in_eight_replies_in_a_row_is_refused_until_the_turn_ends() {
    let mut state = idle_state();
    let fail_in_reply = |state: &mut State, number: usize| {
        let id = format!("c{number}");
        call_with(state, &id, &id);
        assert_eq!(end_reply(state)[1], format!("PLAN {id}"));
        fail(state, &id);
    };
    send_user_message(&mut state, "go");
    (0..7).for_each(|number| fail_in_reply(&mut state, number));
    // A success clears the count.
    call_with(&mut state, "done", "x");
    end_reply(&mut state);
    receive_plan(&mut state, "done", read_intent());
    finish_call(&mut state, "done");
    (8..16).for_each(|number| fail_in_reply(&mut state, number));
    call_with(&mut state, "refused", "x");
    assert_eq!(end_reply(&mut state)[1..], ["refused refused", "REQUEST_REPLY"]);
    update(&mut state, Event::TurnInterrupted);
    send_user_message(&mut state, "again");
    call_with(&mut state, "later", "x");
    assert_eq!(end_reply(&mut state)[1], "PLAN later");
}

#[test]
fn guesses_in_one_reply_count_once() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    let ids: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    ids.iter().for_each(|id| call_with(&mut state, id, id));
    end_reply(&mut state);
    ids.iter().for_each(|id| fail(&mut state, id));
    call_with(&mut state, "next", "x");
    assert_eq!(end_reply(&mut state)[1], "PLAN next");
}
