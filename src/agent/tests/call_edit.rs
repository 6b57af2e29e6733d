//! Edits of a call's arguments before it runs.

use super::*;
use serde_json::{Value, json};

fn edits(state: &mut State, id: &str, arguments: Value) -> Vec<Effect> {
    decided(state, id, Decision::Edited(arguments))
}

fn waits() -> State {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "write"), ("b", "write")]);
    planned(&mut state, "a", write());
    assert!(matches!(state.waiting_call(), Some(WaitingCall::Approval { .. })));
    state
}

#[test]
fn edited_call_is_planned_and_judged_again() {
    let mut state = waits();
    let effects = edits(&mut state, "a", json!({"of": "mine"}));
    let [Effect::PlanCall { call, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#);
    assert!(state.waiting_call().is_none(), "no prompt while the tool plans");
    assert_eq!(shape(&planned(&mut state, "a", write())), ["decided a", "ask a"]);
    let Some(WaitingCall::Approval { call, .. }) = state.waiting_call() else { panic!("it waits again") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#);
    let effects = decided(&mut state, "a", Decision::Once);
    let [_, Effect::RunCall { call, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(call.arguments, r#"{"of":"mine"}"#, "what runs is what was shown last");
}

#[test]
fn r08_model_receives_the_edited_arguments() {
    let mut state = waits();
    edits(&mut state, "a", json!({"of": "mine"}));
    planned(&mut state, "a", write());
    decided(&mut state, "a", Decision::Once);
    finished(&mut state, "a");
    let told = state.session.messages().into_iter().find_map(|message| match message {
        Message::Tool { call, text } if call.0 == "a" => Some(text),
        _ => None,
    });
    let told = told.expect("it was settled");
    assert!(told.contains(r#"{"of":"mine"}"#) && told.ends_with("did a"), "{told}");
    let replayed = Session::replay(state.session.entries().to_vec());
    assert_eq!(replayed.messages(), state.session.messages());
}

#[test]
fn invalid_edit_changes_nothing() {
    let mut state = waits();
    for _ in 0..2 {
        assert_eq!(shape(&edits(&mut state, "a", json!({"of": "nonsense"}))), ["PLAN a"]);
        let turn = turn(&state);
        let effects =
            update(&mut state, Event::CallPlanned { turn, call: "a".into(), intent: Err("no such thing".into()) });
        assert_eq!(shape(&effects), Vec::<String>::new());
        let Some(WaitingCall::Approval { call, reason, .. }) = state.waiting_call() else {
            panic!("the call should wait as before")
        };
        assert_eq!(call.arguments, r#"{"of":"a"}"#);
        assert_eq!(reason.matches("Edit rejected: no such thing").count(), 1, "{reason}");
    }
}

#[test]
fn edited_call_is_shown_even_if_allowed() {
    let mut state = waits();
    edits(&mut state, "a", json!({}));
    assert_eq!(shape(&planned(&mut state, "a", read())), ["decided a", "ask a"]);
}

#[test]
fn edit_of_a_call_not_waiting_is_ignored() {
    let mut state = waits();
    assert_eq!(edits(&mut state, "b", json!({})), []);
    decided(&mut state, "a", Decision::Deny(String::new()));
    assert_eq!(edits(&mut state, "a", json!({})), []);
}

#[test]
fn r51_resume_settles_unapproved_edit_as_not_run() {
    let mut state = waits();
    edits(&mut state, "a", json!({}));
    planned(&mut state, "a", write());
    let (resumed, _) = resume(state.session, idle());
    let text = |id: &str| {
        resumed.session.messages().into_iter().find_map(|message| match message {
            Message::Tool { call, text } if call.0 == id => Some(text),
            _ => None,
        })
    };
    assert!(text("a").is_some_and(|text| text.contains("Not run")), "{:?}", text("a"));
}
