//! Calls that fail again and again with the same arguments.

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
