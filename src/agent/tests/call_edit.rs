//! Edits of a call's arguments before it runs.

use super::*;
use serde_json::{Value, json};

fn edit_call(state: &mut State, id: &str, arguments: Value) -> Vec<Effect> {
    decide_call(state, id, Decision::Edited(arguments))
}

fn waiting_state() -> State {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "write"), ("b", "write")]);
    receive_plan(&mut state, "a", write_intent());
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })));
    state
}

#[test]
fn edited_call_is_planned_and_judged_again() {
    let mut state = waiting_state();
    let effects = edit_call(&mut state, "a", json!({"of": "mine"}));
    let [Effect::PlanCall { call, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#);
    assert!(state.waiting_call().is_none(), "no prompt while the tool plans");
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", write_intent())), ["decided a", "ask a"]);
    let Some(WaitingCall::Approval { call, .. }) = state.waiting_call() else { panic!("it waits again") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#);
    let effects = decide_call(&mut state, "a", Decision::Once);
    let [_, Effect::RunCall { call, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#, "what runs is what was shown last");
}

#[test]
fn r08_model_receives_the_edited_arguments() {
    let mut state = waiting_state();
    edit_call(&mut state, "a", json!({"of": "mine"}));
    receive_plan(&mut state, "a", write_intent());
    decide_call(&mut state, "a", Decision::Once);
    finish_call(&mut state, "a");
    let result = state.session.messages(0, usize::MAX).into_iter().find_map(|message| match message {
        Message::Tool { call, text } if call.0 == "a" => Some(text),
        _ => None,
    });
    let result = result.expect("it was settled");
    assert!(result.contains(r#"{"of":"mine"}"#) && result.ends_with("did a"), "{result}");
    let replayed = Session::replay(state.session.entries().to_vec());
    assert_eq!(replayed.messages(0, usize::MAX), state.session.messages(0, usize::MAX));
}

#[test]
fn invalid_edit_changes_nothing() {
    let mut state = waiting_state();
    for _ in 0..2 {
        assert_eq!(describe_effects(&edit_call(&mut state, "a", json!({"of": "nonsense"}))), ["PLAN a"]);
        let turn = running_turn(&state);
        let effects =
            update(&mut state, Event::CallPlanned { turn, call: "a".into(), intent: Err("no such thing".into()) });
        assert_eq!(describe_effects(&effects), Vec::<String>::new());
        let Some(WaitingCall::Approval { call, reason, .. }) = state.waiting_call() else {
            panic!("the call should wait as before")
        };
        assert_eq!(call.arguments, r#"{"of":"a"}"#);
        assert_eq!(reason.matches("Edit rejected: no such thing").count(), 1, "{reason}");
    }
}

#[test]
fn edited_call_is_shown_even_if_allowed() {
    let mut state = waiting_state();
    edit_call(&mut state, "a", json!({}));
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", read_intent())), ["decided a", "ask a"]);
}

#[test]
fn edit_of_a_call_not_waiting_is_ignored() {
    let mut state = waiting_state();
    assert_eq!(edit_call(&mut state, "b", json!({})), []);
    decide_call(&mut state, "a", Decision::Deny(String::new()));
    assert_eq!(edit_call(&mut state, "a", json!({})), []);
}

#[test]
fn r51_resume_settles_unapproved_edit_as_not_run() {
    let mut state = waiting_state();
    edit_call(&mut state, "a", json!({}));
    receive_plan(&mut state, "a", write_intent());
    let (resumed, _) = resume(state.session, idle_state());
    let outcome_text = |id: &str| {
        resumed.session.messages(0, usize::MAX).into_iter().find_map(|message| match message {
            Message::Tool { call, text } if call.0 == id => Some(text),
            _ => None,
        })
    };
    assert!(outcome_text("a").is_some_and(|text| text.contains("Not run")), "{:?}", outcome_text("a"));
}
