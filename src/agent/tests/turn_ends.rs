//! Calls that end the turn: when they may, and what is recorded.

use super::sub_agents::{delegate_tasks, plan_in_sub_agent, reply_in_sub_agent};
use super::*;

fn end_intent(end: TurnEnd, access: Access) -> Intent {
    let Intent::Act(mut plan) = plan_intent(access) else { panic!("it is a plan") };
    plan.work = Work::EndTurn(end);
    Intent::Act(plan)
}

fn conclude_intent() -> Intent {
    let conclusion = Conclusion::Finished { message: String::new(), reason: "all done".into() };
    end_intent(TurnEnd::Conclude(conclusion), Access::Nothing)
}

fn switch_intent() -> Intent {
    let access = ExternalAccess { request: "switch".into(), service: "b.example".into(), page_host: None };
    let end = TurnEnd::SwitchProfile { profile: "two".into(), model: String::new() };
    end_intent(end, Access::External(Box::new(access)))
}

fn start_turn_with(calls: &[(&str, &str)]) -> State {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", calls);
    state
}

/// Returns the texts of refused calls.
fn refusals(effects: &[Effect]) -> Vec<&str> {
    let refusal = |effect| match effect {
        &Effect::AppendEntry(Entry::Settled { outcome: Outcome::Refused(ref text), .. }) => Some(text.as_str()),
        _ => None,
    };
    effects.iter().filter_map(refusal).collect()
}

#[test]
fn the_turn_ends_without_another_request() {
    let mut state = start_turn_with(&[("a", "done")]);
    let effects = receive_plan(&mut state, "a", conclude_intent());
    assert_eq!(describe_effects(&effects), ["allow a", "done a", "Conversation ended: all done", "turn finished"]);
    assert!(state.is_idle() && !state.can_retry_turn() && state.session.open_calls().is_empty());
    assert_eq!(state.session.parked_note(), None);
    // The user can continue.
    let effects = send_user_message(&mut state, "one more thing");
    assert_eq!(describe_effects(&effects), ["message one more thing", "REQUEST_REPLY"]);
}

#[test]
fn the_turn_does_not_end_while_something_waits() {
    let mut state = start_turn_with(&[("r", "read_file"), ("a", "done"), ("b", "bash_exec")]);
    receive_plan(&mut state, "r", read_intent());
    let effects = receive_plan(&mut state, "a", conclude_intent());
    let expected = "Refused: the turn cannot end yet: read_file has not ended; bash_exec has not ended.";
    assert!(refusals(&effects)[0].starts_with(expected), "{effects:?}");
    assert!(!state.is_idle());

    let mut state = start_turn_with(&[("r", "read_file"), ("a", "done")]);
    receive_plan(&mut state, "r", read_intent());
    finish_call(&mut state, "r");
    let effects = receive_plan(&mut state, "a", conclude_intent());
    assert!(refusals(&effects)[0].contains("you have not seen the result of read_file"), "{effects:?}");

    let mut state = start_turn_with(&[("a", "done")]);
    send_user_message(&mut state, "wait");
    let effects = receive_plan(&mut state, "a", conclude_intent());
    assert!(refusals(&effects)[0].contains("1 message of the user will be sent"), "{effects:?}");
    let sent = describe_effects(&effects);
    assert_eq!(sent[sent.len() - 2..], ["message wait", "REQUEST_REPLY"]);

    let mut state = start_turn_with(&[("a", "done")]);
    let (number, call, output) = (3, CallId("x".into()), Default::default());
    let (latest_output, is_stopped_by_user) = (String::new(), false);
    state.background.push(RunningBackground { number, call, output, latest_output, is_stopped_by_user });
    let effects = receive_plan(&mut state, "a", conclude_intent());
    assert!(refusals(&effects)[0].contains("background command 3 is running"), "{effects:?}");
}

#[test]
fn an_approved_switch_is_requested_once_the_turn_has_ended() {
    let mut state = start_turn_with(&[("a", "transfer")]);
    assert_eq!(describe_effects(&receive_plan(&mut state, "a", switch_intent())), ["ask a"]);
    let effects = decide_call(&mut state, "a", Decision::Once);
    assert_eq!(describe_effects(&effects), ["decided a", "done a", "SWITCH two ", "turn finished"]);
    assert!(state.is_idle());
}

#[test]
fn a_message_that_arrives_at_the_prompt_is_answered_by_the_same_model() {
    let mut state = start_turn_with(&[("a", "transfer")]);
    receive_plan(&mut state, "a", switch_intent());
    send_user_message(&mut state, "wait");
    let effects = decide_call(&mut state, "a", Decision::Once);
    assert_eq!(describe_effects(&effects), ["decided a", "failed a", "message wait", "REQUEST_REPLY"]);
}

#[test]
fn a_dry_run_does_not_switch() {
    let mut state = idle_state();
    state.policy.dry_run = true;
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "transfer")]);
    let effects = receive_plan(&mut state, "a", switch_intent());
    assert_eq!(describe_effects(&effects), ["rehearse a", "rehearsed a", "REQUEST_REPLY"]);
}

#[test]
fn a_sub_agent_cannot_end_the_turn() {
    let mut state = delegate_tasks(&["s"]);
    reply_in_sub_agent(&mut state, "s", "", &[("a", "done")]);
    plan_in_sub_agent(&mut state, "s", "a", conclude_intent());
    let refused = |entry: &Entry| matches!(entry.unwrap_sub_agent(), Entry::Settled { outcome: Outcome::Refused(text), .. } if text.contains("a sub-agent cannot"));
    assert!(state.session.entries().iter().any(refused), "{:?}", state.session.entries());
    assert!(!state.is_idle());
}

#[test]
fn a_parked_session_keeps_its_note_until_the_user_answers() {
    let mut state = start_turn_with(&[("a", "ask_owner")]);
    let conclusion = Conclusion::Parked { message: String::new(), note: "choose a licence".into() };
    receive_plan(&mut state, "a", end_intent(TurnEnd::Conclude(conclusion), Access::Nothing));
    assert_eq!(state.session.parked_note(), Some("choose a licence"));
    let replayed = Session::replay(state.session.entries().to_vec());
    assert_eq!(replayed.parked_note(), Some("choose a licence"));
    send_user_message(&mut state, "MIT");
    assert_eq!(state.session.parked_note(), None);
}
