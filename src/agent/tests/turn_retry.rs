//! Retrying a failed turn and falling back to another model; no call runs twice.

use super::*;

fn fails(state: &mut State, why: &str) -> Vec<Effect> {
    let turn = turn(state);
    update(state, Event::RequestFailed { turn, reason: why.into(), too_long: false })
}

fn again(state: &mut State) -> Vec<Effect> {
    update(state, Event::TurnRetried)
}

/// Returns the messages of a request as short strings, without the system prompt.
fn asked(effects: &[Effect]) -> Vec<String> {
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("nothing was asked: {effects:?}") };
    let word = |message: &Message| match message {
        Message::System(_) => "words".to_owned(),
        Message::User(text) => format!("person {text}"),
        Message::Model { text, calls, .. } => format!("model {text}/{}", calls.len()),
        Message::Tool { call, .. } => format!("outcome {call}"),
    };
    request.messages.iter().skip(1).map(word).collect()
}

#[test]
fn retries_failed_request_in_a_new_turn() {
    let mut state = idle();
    said(&mut state, "go");
    let first = turn(&state);
    fails(&mut state, "down");
    assert!(state.can_retry_turn());
    let effects = again(&mut state);
    assert_eq!((shape(&effects), asked(&effects)), (vec!["STREAM".to_owned()], vec!["person go".to_owned()]));
    assert_ne!(turn(&state), first);
    assert_eq!(again(&mut state), [], "a request is running");
    replies(&mut state, "yes", &[]);
    assert!(!state.can_retry_turn());
    assert_eq!(again(&mut state), [], "the turn did not fail");
}

#[test]
fn keeps_partial_reply_but_does_not_send_it_on_retry() {
    let mut state = idle();
    said(&mut state, "go");
    chunk(&mut state, Chunk::Text("Half".into()));
    fails(&mut state, "lost");
    let effects = again(&mut state);
    assert_eq!(asked(&effects), ["person go"], "a provider continues a model message at the end");
    replies(&mut state, "Whole.", &[]);
    let kept = state.session.entries().iter().filter(|entry| matches!(entry, Entry::Replied { .. })).count();
    assert_eq!(kept, 2);
    let effects = update(&mut state, Event::UserMessage("more".into()));
    assert_eq!(asked(&effects), ["person go", "model Whole./0", "person more"]);
}

#[test]
fn sends_partial_reply_if_the_user_continued_from_it() {
    let mut state = idle();
    said(&mut state, "go");
    chunk(&mut state, Chunk::Text("Half".into()));
    fails(&mut state, "lost");
    let effects = update(&mut state, Event::UserMessage("go on".into()));
    let told = asked(&effects);
    assert!(told[1].starts_with("model Half\n[the reply was cut short"), "{told:?}");
}

#[test]
fn r49_retry_never_runs_a_call_again() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "read")]);
    planned(&mut state, "a", read());
    assert_eq!(shape(&finished(&mut state, "a")), ["done a", "STREAM"]);
    chunk(&mut state, Chunk::Text("So".into()));
    chunk(&mut state, Chunk::Call(call("b", "write")));
    fails(&mut state, "down");
    for _ in 0..3 {
        let effects = again(&mut state);
        assert_eq!(shape(&effects), ["STREAM"], "no plan and no act");
        assert_eq!(asked(&effects), ["person go", "model /1", "outcome a"]);
        fails(&mut state, "down");
    }
    again(&mut state);
    replies(&mut state, "Done.", &[]);
    let ran = |entry: &&Entry| matches!(entry, Entry::Settled { .. });
    assert_eq!(state.session.entries().iter().filter(ran).count(), 1);
}

#[test]
fn retry_sends_queued_messages() {
    let mut state = idle();
    said(&mut state, "go");
    said(&mut state, "and quickly");
    fails(&mut state, "down");
    assert_eq!(state.queued_messages, ["and quickly"]);
    assert_eq!(asked(&again(&mut state)), ["person go", "person and quickly"]);
}

#[test]
fn only_interrupted_turns_without_reply_can_be_retried() {
    let mut state = idle();
    assert_eq!(again(&mut state), [], "no message yet");
    said(&mut state, "go");
    update(&mut state, Event::TurnInterrupted);
    update(&mut state, Event::SessionTitled("mine".into()));
    update(&mut state, Event::ModelSwitched { model: "other".into(), profile: None });
    assert!(state.can_retry_turn());
    again(&mut state);
    chunk(&mut state, Chunk::Text("Half".into()));
    update(&mut state, Event::TurnInterrupted);
    assert!(!state.can_retry_turn(), "the user stopped it after a reply");
}

#[test]
fn failed_turn_can_be_retried_after_restart() {
    let mut state = idle();
    said(&mut state, "go");
    fails(&mut state, "down");
    let (mut resumed, _) = resume(state.session, idle());
    assert_eq!(asked(&again(&mut resumed)), ["person go"]);
}

#[test]
fn r49_only_a_pending_retry_can_be_sent_now() {
    let mut state = idle();
    assert_eq!(update(&mut state, Event::RetryNow), []);
    said(&mut state, "go");
    assert_eq!(update(&mut state, Event::RetryNow), []);
    let wait = Duration::from_secs(3000);
    chunk(&mut state, Chunk::Retrying { attempt: 2, max_attempts: 5, wait, why: "busy".into(), kind: String::new() });
    assert_eq!(shape(&update(&mut state, Event::RetryNow)), ["HURRY"]);
    chunk(&mut state, Chunk::Text("a".into()));
    assert_eq!(update(&mut state, Event::RetryNow), []);
}

#[test]
fn records_fallback_model_with_reason_and_reply() {
    let mut state = idle();
    said(&mut state, "go");
    let instead = Some("the service failed (503)".to_owned());
    let effects = chunk(&mut state, Chunk::ModelChosen { model: "other".into(), instead });
    assert_eq!(shape(&effects), ["fell back to other"]);
    replies(&mut state, "a", &[]);
    let replied = |entry: &Entry| match entry {
        Entry::Replied { model, .. } => Some(model.clone()),
        _ => None,
    };
    let answered: Vec<String> = state.session.entries().iter().filter_map(replied).collect();
    assert_eq!((answered, state.model.as_str()), (vec!["other".to_owned()], "model"));
    said(&mut state, "more");
    let effects = chunk(&mut state, Chunk::ModelChosen { model: "named".into(), instead: None });
    assert_eq!(effects, [], "a model without an earlier name is no fallback");
}

#[test]
fn silence_ends_with_the_next_chunk() {
    let mut state = idle();
    said(&mut state, "go");
    let quiet = |seconds| Chunk::Silent { since: Duration::from_secs(seconds), limit: Duration::from_secs(90) };
    let is_quiet = |state: &State| matches!(&state.phase, Phase::Replying(draft) if draft.silence.is_some());
    chunk(&mut state, quiet(45));
    assert!(is_quiet(&state));
    chunk(&mut state, quiet(0));
    assert!(!is_quiet(&state));
    chunk(&mut state, quiet(45));
    chunk(&mut state, Chunk::Reasoning("hm".into()));
    assert!(!is_quiet(&state));
}
