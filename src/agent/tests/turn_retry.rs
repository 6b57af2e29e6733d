//! Retrying a failed turn and falling back to another model; no call runs twice.

use super::*;

fn fail_request(state: &mut State, reason: &str) -> Vec<Effect> {
    let turn = running_turn(state);
    update(state, Event::RequestFailed { turn, reason: reason.into(), too_long: false })
}

fn retry_turn(state: &mut State) -> Vec<Effect> {
    update(state, Event::TurnRetried)
}

/// Returns the messages of a request as short strings, without the system prompt.
fn request_messages(effects: &[Effect]) -> Vec<String> {
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("no request: {effects:?}") };
    let describe_message = |message: &Message| match message {
        Message::System(_) => "system".to_owned(),
        Message::User(text) => format!("user {text}"),
        Message::Model { text, calls, .. } => format!("model {text}/{}", calls.len()),
        Message::Tool { call, .. } => format!("outcome {call}"),
    };
    request.messages.iter().skip(1).map(describe_message).collect()
}

#[test]
fn retries_failed_request_in_a_new_turn() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    let first_turn = running_turn(&state);
    fail_request(&mut state, "down");
    assert!(state.can_retry_turn());
    let effects = retry_turn(&mut state);
    assert_eq!(
        (describe_effects(&effects), request_messages(&effects)),
        (vec!["REQUEST_REPLY".to_owned()], vec!["user go".to_owned()])
    );
    assert_ne!(running_turn(&state), first_turn);
    assert_eq!(retry_turn(&mut state), [], "a request is running");
    receive_reply(&mut state, "yes", &[]);
    assert!(!state.can_retry_turn());
    assert_eq!(retry_turn(&mut state), [], "the turn did not fail");
}

#[test]
fn keeps_partial_reply_but_does_not_send_it_on_retry() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_chunk(&mut state, Chunk::Text("Half".into()));
    fail_request(&mut state, "lost");
    let effects = retry_turn(&mut state);
    assert_eq!(request_messages(&effects), ["user go"], "a provider would continue a model message at the end");
    receive_reply(&mut state, "Whole.", &[]);
    let reply_count = state.session.entries().iter().filter(|entry| matches!(entry, Entry::Replied { .. })).count();
    assert_eq!(reply_count, 2);
    let effects = update(&mut state, Event::UserMessage("more".into()));
    assert_eq!(request_messages(&effects), ["user go", "model Whole./0", "user more"]);
}

#[test]
fn sends_partial_reply_if_the_user_continued_from_it() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_chunk(&mut state, Chunk::Text("Half".into()));
    fail_request(&mut state, "lost");
    let effects = update(&mut state, Event::UserMessage("go on".into()));
    let messages = request_messages(&effects);
    assert!(messages[1].starts_with("model Half\n[the reply was cut short"), "{messages:?}");
}

#[test]
fn r49_retry_never_runs_a_call_again() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "read")]);
    receive_plan(&mut state, "a", read_intent());
    assert_eq!(describe_effects(&finish_call(&mut state, "a")), ["done a", "REQUEST_REPLY"]);
    receive_chunk(&mut state, Chunk::Text("So".into()));
    receive_chunk(&mut state, Chunk::Call(tool_call("b", "write")));
    fail_request(&mut state, "down");
    for _ in 0..3 {
        let effects = retry_turn(&mut state);
        assert_eq!(describe_effects(&effects), ["REQUEST_REPLY"], "no plan and no act");
        assert_eq!(request_messages(&effects), ["user go", "model /1", "outcome a"]);
        fail_request(&mut state, "down");
    }
    retry_turn(&mut state);
    receive_reply(&mut state, "Done.", &[]);
    let is_settled = |entry: &&Entry| matches!(entry, Entry::Settled { .. });
    assert_eq!(state.session.entries().iter().filter(is_settled).count(), 1);
}

#[test]
fn retry_sends_queued_messages() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    send_user_message(&mut state, "and quickly");
    fail_request(&mut state, "down");
    assert_eq!(state.queued_messages, ["and quickly"]);
    assert_eq!(request_messages(&retry_turn(&mut state)), ["user go", "user and quickly"]);
}

#[test]
fn an_interrupted_turn_can_be_retried_only_without_a_reply() {
    let mut state = idle_state();
    assert_eq!(retry_turn(&mut state), [], "no message yet");
    send_user_message(&mut state, "go");
    update(&mut state, Event::TurnInterrupted);
    update(&mut state, Event::SessionTitled("mine".into()));
    update(&mut state, Event::ModelSwitched { model: "other".into(), profile: None });
    assert!(state.can_retry_turn());
    retry_turn(&mut state);
    receive_chunk(&mut state, Chunk::Text("Half".into()));
    update(&mut state, Event::TurnInterrupted);
    assert!(!state.can_retry_turn(), "the user stopped it after a reply");
}

#[test]
fn failed_turn_can_be_retried_after_restart() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    fail_request(&mut state, "down");
    let (mut resumed, _) = resume(state.session, idle_state());
    assert_eq!(request_messages(&retry_turn(&mut resumed)), ["user go"]);
}

#[test]
fn r49_only_a_pending_retry_can_be_sent_now() {
    let mut state = idle_state();
    assert_eq!(update(&mut state, Event::RetryNow), []);
    send_user_message(&mut state, "go");
    assert_eq!(update(&mut state, Event::RetryNow), []);
    let wait = Duration::from_secs(3000);
    receive_chunk(
        &mut state,
        Chunk::Retrying { attempt: 2, max_attempts: 5, wait, reason: "busy".into(), kind: String::new() },
    );
    assert_eq!(describe_effects(&update(&mut state, Event::RetryNow)), ["RETRY"]);
    receive_chunk(&mut state, Chunk::Text("a".into()));
    assert_eq!(update(&mut state, Event::RetryNow), []);
}

#[test]
fn records_fallback_model_with_reason_and_reply() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    let reason = Some("the service failed (503)".to_owned());
    let effects = receive_chunk(&mut state, Chunk::ModelChosen { model: "other".into(), reason });
    assert_eq!(describe_effects(&effects), ["fell back to other"]);
    receive_reply(&mut state, "a", &[]);
    let reply_model = |entry: &Entry| match entry {
        Entry::Replied { model, .. } => Some(model.clone()),
        _ => None,
    };
    let models: Vec<String> = state.session.entries().iter().filter_map(reply_model).collect();
    assert_eq!((models, state.model.name.as_str()), (vec!["other".to_owned()], "model"));
    send_user_message(&mut state, "more");
    let effects = receive_chunk(&mut state, Chunk::ModelChosen { model: "named".into(), reason: None });
    assert_eq!(effects, [], "a model chosen without a reason is no fallback");
}

#[test]
fn silence_ends_with_the_next_chunk() {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    let silence = |seconds| Chunk::Silent { silence: Duration::from_secs(seconds), limit: Duration::from_secs(90) };
    let has_silence = |state: &State| matches!(&state.phase, Phase::Replying(reply) if reply.silence.is_some());
    receive_chunk(&mut state, silence(45));
    assert!(has_silence(&state));
    receive_chunk(&mut state, silence(0));
    assert!(!has_silence(&state));
    receive_chunk(&mut state, silence(45));
    receive_chunk(&mut state, Chunk::Reasoning("hm".into()));
    assert!(!has_silence(&state));
}
