//! Background commands: moving them out of their turn, their end, and what the model receives.

use super::*;
use crate::chat::background::{ENDED_WITH_SESSION, STOPPED_BY_MODEL, STOPPED_BY_USER};

fn command_intent() -> Intent {
    let line = CommandLine { command: "npm run dev".into(), seconds: 30, ..CommandLine::default() };
    let access = Access::Run(CommandAccess { reach: Reach::Writes, ..line.clone().into() });
    Intent::Act(Box::new(Plan::new(
        "Run?",
        "npm run dev".into(),
        access,
        Preview::Command(line.clone()),
        Work::Command(line),
    )))
}

/// Returns a state in which the commands of these calls run.
fn running_state(calls: &[&str]) -> State {
    let mut state = idle_state();
    state.policy.mode = Mode::Full;
    state.config.background_tools = vec![ToolSpec {
        name: "kill".into(),
        description: "x".into(),
        parameters: serde_json::json!({}).into(),
        ..ToolSpec::default()
    }];
    send_user_message(&mut state, "go");
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (*call, "bash_exec")).collect();
    receive_reply(&mut state, "", &calls);
    receive_plan(&mut state, calls[0].0, command_intent());
    state
}

fn print_output(state: &mut State, call: &str, text: &str) -> Vec<Effect> {
    let event =
        Event::CallProgressed { turn: TurnId(1), call: call.into(), output: text.into(), new_output: text.into() };
    update(state, event)
}

fn move_call(state: &mut State, call: &str) -> Vec<Effect> {
    update(state, Event::BackgroundRequested { call: call.into(), elapsed: Duration::from_millis(1_500) })
}

/// Ends the command of the first turn with this outcome.
fn end_command(state: &mut State, call: &str, outcome: &str) -> Vec<Effect> {
    let (outcome, duration) = (Outcome::Done(outcome.into()), Duration::from_secs(9));
    let call = call.into();
    update(state, Event::CallFinished { turn: TurnId(1), call, outcome, result_source: None, duration })
}

/// Returns the texts that the next request sends after the system prompt.
fn sent_texts(effects: &[Effect]) -> Vec<String> {
    let request = effects.iter().find_map(|effect| match effect {
        Effect::RequestReply { request, .. } => Some(request),
        _ => None,
    });
    let to_text = |message: &Message| match message {
        Message::System(text) | Message::User(text) | Message::Tool { text, .. } => text.clone(),
        Message::Model { text, .. } => text.clone(),
    };
    request.expect("a reply is requested").messages.iter().skip(1).map(to_text).collect()
}

#[test]
fn a_moved_command_is_settled_at_once_and_the_turn_continues() {
    let mut state = running_state(&["a"]);
    print_output(&mut state, "a", "ready\n");
    let effects = move_call(&mut state, "a");
    assert_eq!(
        describe_effects(&effects),
        ["moved a to background 1", "DETACH a 1", "done a", "REQUEST_REPLY"],
        "the process is moved before the turn continues"
    );
    let Effect::DetachCall { seen_bytes, command, .. } = &effects[1] else { panic!("{effects:?}") };
    assert_eq!((*seen_bytes, command.as_str()), (6, "npm run dev"));
    let Effect::AppendEntry(Entry::Settled { sha256, took_ms, .. }) = &effects[2] else { panic!("{effects:?}") };
    assert!(!sha256.is_none() && *took_ms == 1_500, "the audit verifies the plan that runs");
    let result = sent_texts(&effects).pop().unwrap();
    assert!(
        result.starts_with("The user moved this command to the background, as background command 1.")
            && result.contains("Output so far:\nready\n")
            && result.contains("read_output with id 1"),
        "{result}"
    );
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("{effects:?}") };
    assert_eq!(request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["kill"]);
    assert_eq!(move_call(&mut state, "a"), [], "a second press does nothing");
    // Esc stops the turn, and not the command.
    assert_eq!(describe_effects(&update(&mut state, Event::TurnInterrupted)), ["CANCEL", "turn interrupted"]);
    assert_eq!(state.background.len(), 1);
}

#[test]
fn the_end_is_told_with_the_next_user_message_and_starts_no_turn() {
    let mut state = running_state(&["a"]);
    move_call(&mut state, "a");
    receive_reply(&mut state, "It serves.", &[]);
    print_output(&mut state, "a", "one\n");
    assert_eq!(state.background[0].output(), "one\n");
    assert_eq!(describe_effects(&end_command(&mut state, "a", "one\ntwo\nexit 1")), ["background 1 ended: exit 1"]);
    assert!(state.is_idle() && state.background.is_empty());
    assert_eq!(end_command(&mut state, "a", "exit 0"), [], "a command ends once");
    let texts = sent_texts(&send_user_message(&mut state, "and now?"));
    assert_eq!(
        texts.last().map(String::as_str),
        Some("[Background command 1 ended: exit 1. Last lines:\none\ntwo]\n\nand now?")
    );
    receive_reply(&mut state, "It failed.", &[]);
    let texts = sent_texts(&send_user_message(&mut state, "again"));
    assert_eq!(texts.last().map(String::as_str), Some("again"), "it is told once");
}

#[test]
fn an_end_within_a_turn_keeps_requests_well_formed() {
    let mut state = running_state(&["a", "b"]);
    move_call(&mut state, "a");
    receive_plan(&mut state, "b", command_intent());
    end_command(&mut state, "a", "exit 0");
    let effects = end_command(&mut state, "b", "exit 0");
    let Some(Effect::RequestReply { request, .. }) = effects.last() else { panic!("{effects:?}") };
    invariants::check_well_formed(&request.messages);
    assert_eq!(sent_texts(&effects).len(), 4, "the message, the reply and two results: {effects:?}");
}

#[test]
fn names_who_stopped_a_command() {
    for (is_user, status) in [(true, STOPPED_BY_USER), (false, STOPPED_BY_MODEL)] {
        let mut state = running_state(&["a"]);
        move_call(&mut state, "a");
        if is_user {
            assert_eq!(describe_effects(&update(&mut state, Event::BackgroundStopped(1))), ["STOP 1"]);
            assert_eq!(update(&mut state, Event::BackgroundStopped(7)), []);
        }
        let effects = end_command(&mut state, "a", "bye\nstopped on request");
        assert_eq!(describe_effects(&effects), [format!("background 1 ended: {status}")]);
    }
}

#[test]
fn only_running_live_commands_of_the_turn_are_moved() {
    let mut state = running_state(&["a", "b"]);
    assert_eq!(move_call(&mut state, "b"), [], "it waits for its turn");
    assert_eq!(move_call(&mut state, "unknown"), []);
    end_command(&mut state, "a", "exit 0");
    assert_eq!(move_call(&mut state, "a"), [], "it has ended");
    assert_eq!(state.explain_not_movable(&"a".into()), Some("Not possible: the call has ended"));
    receive_plan(&mut state, "b", read_intent());
    assert_eq!(move_call(&mut state, "b"), [], "it is no command");
    let mut dry_run = idle_state();
    dry_run.policy.dry_run = true;
    send_user_message(&mut dry_run, "go");
    receive_reply(&mut dry_run, "", &[("a", "bash_exec")]);
    receive_plan(&mut dry_run, "a", command_intent());
    assert_eq!(move_call(&mut dry_run, "a"), []);
    assert!(dry_run.explain_not_movable(&"a".into()).is_some_and(|why| why.contains("dry run")));
}

#[test]
fn commands_end_with_their_session() {
    let mut state = running_state(&["a"]);
    move_call(&mut state, "a");
    print_output(&mut state, "a", "one\n");
    // The program is killed: the next one finds the command open.
    let (resumed, effects) = resume(state.session.clone(), idle_state());
    let expected = format!("background 1 ended: {ENDED_WITH_SESSION}");
    assert_eq!(describe_effects(&effects), [expected.clone(), "turn interrupted".to_owned()]);
    assert_eq!(resumed.session.background_commands().len(), 1);
    assert_eq!(resume(resumed.session.clone(), idle_state()).1, [], "it is settled once");
    assert_eq!(resumed.session.next_background_number(), 2);
    // The user leaves the session: the end is recorded before.
    let effects = update(&mut state, Event::SessionLeft);
    assert_eq!(describe_effects(&effects), [expected]);
    let Effect::AppendEntry(Entry::BackgroundEnded(end)) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(end.output, "one\n");
    assert!(state.background.is_empty());
}
