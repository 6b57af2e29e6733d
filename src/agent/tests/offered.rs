//! Calls that the person asked for themselves: each asks, and no model is asked afterwards.

use super::*;
use serde_json::json;

fn offered(calls: &[&str]) -> Event {
    let call = |name: &&str| ((*name).to_owned(), json!({ "of": name }));
    Event::Offered(Offered { said: "apply it".into(), calls: calls.iter().map(call).collect() })
}

fn looked(state: &mut State, id: &str, intent: Intent) -> Vec<Effect> {
    let turn = turn(state);
    update(state, Event::Planned { turn, call: id.into(), intent: Ok(intent) })
}

#[test]
fn each_asks_whatever_would_let_it_go_ahead_and_no_request_follows() {
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        let mut state = idle();
        state.titles = true;
        state.policy.mode = mode;
        update(&mut state, offered(&["a", "b"]));
        // Even what only reads, and what the mode lets through.
        looked(&mut state, "offered_1", read());
        assert!(matches!(state.waiting(), Some(Waiting::Approval { .. })), "{mode:?}");
        let effects = decided(&mut state, "offered_1", Decision::Once);
        assert_eq!(shape(&effects)[..2], ["decided offered_1", "ACT offered_1"]);
        finished(&mut state, "offered_1");
        looked(&mut state, "offered_2", write());
        let effects = decided(&mut state, "offered_2", Decision::Deny(String::new()));
        assert!(
            !shape(&effects).iter().any(|effect| effect.starts_with("STREAM") || effect.starts_with("NAME")),
            "{:?}",
            shape(&effects)
        );
        assert!(state.is_idle());
        // What is said next goes to the model again, with what came of it.
        let effects = said(&mut state, "go on");
        assert!(shape(&effects).contains(&"STREAM".to_owned()), "{:?}", shape(&effects));
        replies(&mut state, "", &[("x", "write")]);
        planned(&mut state, "x", write());
        assert_eq!(state.waiting().is_some(), mode == Mode::Ask, "the next turn is the model's");
    }
}

#[test]
fn r30_nothing_is_offered_in_a_dry_run_nor_while_a_turn_runs_and_ids_stay_unique() {
    let mut state = idle();
    state.policy.dry_run = true;
    assert_eq!(update(&mut state, offered(&["a"])), []);
    let mut state = idle();
    said(&mut state, "go");
    assert_eq!(update(&mut state, offered(&["a"])), []);
    let mut state = idle();
    for _ in 0..2 {
        update(&mut state, offered(&["a"]));
        update(&mut state, Event::Interrupted);
    }
    let ids: Vec<&str> = state.session.calls().map(|call| call.call.id.0.as_str()).collect();
    assert_eq!(ids, ["offered_1", "offered_2"]);
    assert!(state.is_idle());
    // A model that takes such a name for its own call gets no say over the next one.
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("offered_2", "t")]);
    update(&mut state, Event::Interrupted);
    update(&mut state, offered(&["a"]));
    let waits: Vec<&str> = state.pending().iter().map(|pending| pending.call.id.0.as_str()).collect();
    assert_eq!(waits, ["offered_2-2"]);
}
