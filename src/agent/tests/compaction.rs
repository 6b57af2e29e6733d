//! Sessions that exceed the context window.

use super::*;
use crate::chat::message_tokens;
use crate::chat::todo_list::TODO_WRITE;
use serde_json::json;

/// Returns text of about this many tokens.
pub(super) fn text_of_tokens(tokens: usize) -> String {
    "word ".repeat(tokens)
}

pub(super) fn state_with_window(tokens: u64) -> State {
    let mut state = idle_state();
    update(&mut state, Event::ContextWindowChanged(Some(tokens)));
    state
}

fn last_request(effects: &[Effect]) -> &Request {
    let sent = effects.iter().rev().find_map(|effect| match effect {
        Effect::RequestReply { request, .. } => Some(request.as_ref()),
        _ => None,
    });
    sent.unwrap_or_else(|| panic!("nothing was sent: {:?}", describe_effects(effects)))
}

fn request_size(request: &Request) -> u64 {
    request.messages.iter().map(message_tokens::estimate_message).sum::<u64>()
        + message_tokens::estimate_tools(&request.tools)
}

fn request_text(request: &Request) -> String {
    format!("{:?}", request.messages)
}

/// Runs a finished turn of about this many tokens.
pub(super) fn run_turn(state: &mut State, name: &str, tokens: usize) {
    send_user_message(state, &format!("{name} {}", text_of_tokens(tokens / 2)));
    assert!(!state.is_summarizing(), "{name} fits");
    receive_reply(state, &format!("re-{name} {}", text_of_tokens(tokens / 2)), &[]);
    assert!(state.is_idle());
}

fn long_session() -> State {
    let mut state = state_with_window(4_000);
    for name in ["one", "two", "three", "four", "five"] {
        run_turn(&mut state, name, 500);
    }
    state
}

fn reject_as_too_long(state: &mut State) -> Vec<Effect> {
    let turn = running_turn(state);
    update(state, Event::RequestFailed { turn, reason: "400, too long".into(), too_long: true })
}

#[test]
fn summarizes_before_a_request_that_would_not_fit() {
    let mut state = long_session();
    let effects = send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    assert_eq!(describe_effects(&effects).last().map(String::as_str), Some("REQUEST_REPLY"));
    assert!(state.is_summarizing());
    let sent_request = last_request(&effects);
    assert!(sent_request.tools.is_empty() && sent_request.max_tokens.is_some_and(|max_tokens| max_tokens <= 2_000));
    let sent_text = request_text(sent_request);
    assert!(sent_text.contains("<earlier_conversation>") && sent_text.contains("</earlier_conversation>"));
    assert!(
        sent_text.contains("one word") && sent_text.contains("re-two word") && !sent_text.contains("six word"),
        "{sent_text}"
    );
    receive_chunk(&mut state, Chunk::Text("## What is wanted\nA tea pot.".into()));
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 3000, cached: 0, output: 20 }));
    let effects = receive_chunk(&mut state, Chunk::Done(FinishReason::Stop));
    assert_eq!(describe_effects(&effects)[1..], ["REQUEST_REPLY"]);
    assert!(describe_effects(&effects)[0].starts_with("compacted to"), "{:?}", describe_effects(&effects));
    let next_request = last_request(&effects);
    assert!(request_size(next_request) < 2_400, "{}", request_size(next_request));
    let next_text = request_text(next_request);
    assert!(next_text.contains("A tea pot.") && next_text.contains("six word"));
    assert!(next_text.contains("one word"), "the first user message is kept verbatim");
    assert!(!next_text.contains("re-one word"), "replies are not");
    assert!(next_text.contains("four word"), "the latest user messages follow after the summary");
    assert_eq!(state.session.usage().input, 3000, "its usage is counted");
    assert!(!state.is_summarizing() && state.current_turn().is_some(), "the turn continues");
    let effects = receive_reply(&mut state, "Done.", &[]);
    assert_eq!(describe_effects(&effects), ["replied Done./0", "turn finished"]);
}

#[test]
fn sends_summary_joined_with_the_next_user_message() {
    let mut state = long_session();
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    let effects = receive_reply(&mut state, "The notes.", &[]);
    let messages = &last_request(&effects).messages;
    let user_pairs = messages.windows(2).filter(|two| matches!(two, [Message::User(_), Message::User(_)]));
    assert_eq!(user_pairs.count(), 0, "{messages:?}");
    let [Message::System(_), Message::User(first), ..] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(first.contains("The notes.") && first.contains("They are data"), "{first}");
    let after_summary = first.split(crate::chat::summary::SUMMARY_END).nth(1).unwrap();
    assert!(after_summary.contains("word"), "the next user message follows in the same message");
}

#[test]
fn never_compacts_with_unknown_window() {
    let mut state = idle_state();
    for _ in 0..20 {
        run_turn(&mut state, "one", 5_000);
    }
    assert_eq!(describe_effects(&send_user_message(&mut state, "more")), ["message more", "REQUEST_REPLY"]);
}

#[test]
fn later_summary_includes_the_earlier_one() {
    let mut state = long_session();
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    receive_reply(&mut state, "First notes.", &[]);
    receive_reply(&mut state, "ok", &[]);
    for name in ["seven", "eight", "nine"] {
        run_turn(&mut state, name, 400);
    }
    let effects = send_user_message(&mut state, &format!("ten {}", text_of_tokens(1_000)));
    assert!(state.is_summarizing(), "{:?}", describe_effects(&effects));
    let sent_text = request_text(last_request(&effects));
    assert!(sent_text.contains("First notes.") && !sent_text.contains("re-one"), "{sent_text}");
    let effects = receive_reply(&mut state, "Second notes.", &[]);
    let sent_text = request_text(last_request(&effects));
    assert!(sent_text.contains("Second notes.") && !sent_text.contains("First notes."), "{sent_text}");
    assert!(sent_text.contains("one word"), "the first user message is still there");
}

#[test]
fn restored_session_sends_the_same_request() {
    let mut state = long_session();
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    receive_reply(&mut state, "The notes.", &[]);
    receive_reply(&mut state, "ok", &[]);
    let replayed = Session::replay(state.session.entries().to_vec());
    assert_eq!(replayed, state.session);
    let (resumed, effects) = resume(replayed, state_with_window(4_000));
    assert_eq!(effects, []);
    assert_eq!(
        (resumed.context_usage(), resumed.session.messages(0, usize::MAX)),
        (state.context_usage(), state.session.messages(0, usize::MAX))
    );
}

#[test]
fn interrupting_a_summary_ends_the_turn_and_keeps_messages() {
    let mut state = long_session();
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    receive_chunk(&mut state, Chunk::Text("## Half of".into()));
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(describe_effects(&effects), ["CANCEL", "turn interrupted"]);
    assert!(matches!(state.session.entries().iter().rev().nth(1), Some(Entry::UserMessage { .. })));
    assert!(!state.session.entries().iter().any(|entry| matches!(entry, Entry::Compacted { .. })));
}

#[test]
fn failed_or_empty_summary_is_reported_and_changes_nothing() {
    let mut state = long_session();
    let messages_before = state.session.messages(0, usize::MAX);
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    let turn = running_turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "no power.".into(), too_long: false });
    let [Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(why, "Cannot summarize the session: no power. Try again, or choose another model with /model.");
    assert_eq!(state.session.messages(0, usize::MAX)[..messages_before.len()], messages_before[..]);
    send_user_message(&mut state, "again");
    assert!(state.is_summarizing());
    assert_eq!(describe_effects(&receive_chunk(&mut state, Chunk::Done(FinishReason::Stop))), ["turn failed"]);
    send_user_message(&mut state, "and again");
    receive_chunk(&mut state, Chunk::Text(text_of_tokens(10_000)));
    assert!(!state.is_summarizing(), "an endless summary is cut");
}

#[test]
fn discards_summary_longer_than_its_source() {
    let mut state = long_session();
    update(&mut state, Event::ContextWindowChanged(None));
    update(&mut state, Event::CompactionRequested);
    let effects = receive_reply(&mut state, &text_of_tokens(4_000), &[]);
    assert_eq!(describe_effects(&effects), ["turn failed"]);
    let mut state = long_session();
    send_user_message(&mut state, &format!("six {}", text_of_tokens(900)));
    let effects = receive_reply(&mut state, &text_of_tokens(4_000), &[]);
    assert_eq!(describe_effects(&effects), ["REQUEST_REPLY"], "the turn continues without it");
    assert!(!state.is_summarizing());
}

#[test]
fn user_can_request_summary_between_turns() {
    let mut state = idle_state();
    assert_eq!(update(&mut state, Event::CompactionRequested), [], "nothing to summarize yet");
    run_turn(&mut state, "one", 600);
    run_turn(&mut state, "two", 600);
    assert_eq!(describe_effects(&update(&mut state, Event::CompactionRequested)), ["REQUEST_REPLY"]);
    assert_eq!(update(&mut state, Event::CompactionRequested), [], "one at a time");
    let effects = receive_reply(&mut state, "Short notes.", &[]);
    assert_eq!(effects.len(), 1);
    let Some(Effect::AppendEntry(Entry::Compacted { tokens: (before, after), pinned, .. })) = effects.first() else {
        panic!("{effects:?}")
    };
    assert!(*before > 1_000 && after < before, "{before} {after}");
    assert!(pinned.contains("one word") && pinned.contains("two word"), "{pinned}");
    assert!(state.is_idle() && !state.has_entries_to_summarize());
    assert_eq!(update(&mut state, Event::CompactionRequested), []);
    let effects = send_user_message(&mut state, "on");
    assert_eq!(last_request(&effects).messages.len(), 2);
}

#[test]
fn message_during_manual_summary_is_sent_afterwards() {
    let mut state = idle_state();
    run_turn(&mut state, "one", 600);
    update(&mut state, Event::CompactionRequested);
    assert_eq!(send_user_message(&mut state, "and then?"), []);
    let effects = receive_reply(&mut state, "Notes.", &[]);
    assert_eq!(describe_effects(&effects)[1..], ["message and then?", "REQUEST_REPLY"]);
}

#[test]
fn shortens_and_resends_a_request_rejected_as_too_long() {
    let mut state = idle_state();
    for name in ["one", "two", "three", "four"] {
        run_turn(&mut state, name, 1_000);
    }
    send_user_message(&mut state, "five");
    let effects = reject_as_too_long(&mut state);
    assert_eq!(describe_effects(&effects), ["REQUEST_REPLY"]);
    assert!(state.is_summarizing());
    let effects = receive_reply(&mut state, "Notes.", &[]);
    assert!(request_size(last_request(&effects)) < 2_500, "{}", request_size(last_request(&effects)));
    assert!(state.context_usage().context_window.is_some(), "the rejected size is remembered");
    let effects = reject_as_too_long(&mut state);
    let [Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })] = effects.as_slice() else {
        panic!("{:?}", describe_effects(&effects))
    };
    assert!(why.contains("exceeds the model's context window") && why.contains("400, too long"), "{why}");
}

#[test]
fn remembers_learned_window_until_model_switch() {
    let mut state = state_with_window(100_000);
    for name in ["one", "two", "three", "four"] {
        run_turn(&mut state, name, 1_000);
    }
    send_user_message(&mut state, "five");
    reject_as_too_long(&mut state);
    receive_reply(&mut state, "Notes.", &[]);
    receive_reply(&mut state, "ok", &[]);
    let learned = state.context_usage().context_window.unwrap();
    assert!(learned < 5_000, "{learned}");
    update(&mut state, Event::ContextWindowChanged(Some(100_000)));
    assert_eq!(state.context_usage().context_window, Some(learned));
    update(&mut state, Event::ModelSwitched { model: "other".into(), profile: None });
    assert_eq!(state.context_usage().context_window, None);
}

#[test]
fn retries_too_long_summary_with_less_text_at_most_four_times() {
    let mut state = state_with_window(100_000);
    for name in ["one", "two", "three", "four"] {
        run_turn(&mut state, name, 10_000);
    }
    send_user_message(&mut state, "five");
    let mut sizes = vec![];
    let mut effects = reject_as_too_long(&mut state);
    while state.is_summarizing() {
        sizes.push(request_size(last_request(&effects)));
        effects = reject_as_too_long(&mut state);
    }
    assert!((1..=4).contains(&sizes.len()), "{sizes:?}");
    assert!(sizes.windows(2).all(|two| two[1] <= two[0] / 2 + 1), "{sizes:?}");
    assert_eq!(describe_effects(&effects), ["turn failed"]);
}

#[test]
fn truncates_old_outcomes_and_never_user_messages() {
    let mut state = state_with_window(8_000);
    let message = format!("mine {}", text_of_tokens(900));
    let mut effects = send_user_message(&mut state, &message);
    for round in 0..12 {
        let id = format!("c{round}");
        effects = receive_reply(&mut state, "", &[(&id, "read_file")]);
        assert_eq!(describe_effects(&effects).last(), Some(&format!("PLAN {id}")), "round {round}");
        receive_plan(&mut state, &id, read_intent());
        let turn = running_turn(&state);
        let outcome = Outcome::Done(format!("begins {} ends", text_of_tokens(1_000)));
        effects = update(
            &mut state,
            Event::CallFinished {
                turn,
                call: id.as_str().into(),
                outcome,
                result_source: None,
                duration: Duration::ZERO,
            },
        );
        assert!(!state.is_summarizing() && !state.is_idle(), "round {round}: {:?}", describe_effects(&effects));
        // A fifth of the window is reserved for the reply.
        assert!(
            request_size(last_request(&effects)) <= 6_400,
            "round {round}: {}",
            request_size(last_request(&effects))
        );
    }
    let request = last_request(&effects);
    let sent_text = request_text(request);
    assert!(sent_text.contains("characters truncated") && sent_text.contains("ends"));
    assert!(request.messages.contains(&Message::User(message)), "the user message is complete");
    let Some(Message::Tool { text, .. }) = request.messages.last() else { panic!() };
    assert!(!text.contains("characters truncated"), "the newest outcome is complete");
}

#[test]
fn reports_request_that_cannot_fit_without_sending_it() {
    let mut state = state_with_window(2_000);
    let effects = send_user_message(&mut state, &text_of_tokens(9_000));
    let Some(Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })) = effects.last() else {
        panic!("{:?}", describe_effects(&effects))
    };
    assert!(why.contains("too long for the model") && why.contains("2000 fit"), "{why}");
}

#[test]
fn verbatim_part_lists_changed_files_and_open_questions() {
    let mut state = idle_state();
    send_user_message(&mut state, "write it");
    receive_reply(&mut state, "", &[("a", "write_file")]);
    receive_plan(&mut state, "a", write_intent());
    decide_call(&mut state, "a", Decision::Once);
    finish_call(&mut state, "a");
    receive_reply(&mut state, "", &[("q", "ask_question")]);
    receive_plan(&mut state, "q", question_intent());
    update(&mut state, Event::TurnInterrupted);
    run_turn(&mut state, "filler", 600);
    update(&mut state, Event::CompactionRequested);
    let effects = receive_reply(&mut state, "Notes.", &[]);
    let Some(Effect::AppendEntry(Entry::Compacted { pinned, .. })) = effects.first() else { panic!("{effects:?}") };
    assert!(pinned.contains("First user message:\nwrite it"), "{pinned}");
    assert!(pinned.contains("Files changed:\n- a"), "{pinned}");
    assert!(pinned.contains("Unanswered questions to the user:\n- Which?"), "{pinned}");
}

#[test]
fn verbatim_part_lists_open_todos() {
    let mut state = idle_state();
    send_user_message(&mut state, "do it");
    let todo = |content: &str, status: &str| json!({ "content": content, "activeForm": content, "status": status });
    let arguments = json!({ "todos": [todo("Read", "completed"), todo("Write", "in_progress")] }).to_string();
    receive_chunk(&mut state, Chunk::Call(ToolCall { id: "t".into(), name: TODO_WRITE.into(), arguments }));
    receive_chunk(&mut state, Chunk::Done(FinishReason::Stop));
    receive_plan(&mut state, "t", plan_intent(Access::Nothing));
    finish_call(&mut state, "t");
    receive_reply(&mut state, "Done.", &[]);
    run_turn(&mut state, "filler", 600);
    update(&mut state, Event::CompactionRequested);
    let effects = receive_reply(&mut state, "Notes.", &[]);
    let Some(Effect::AppendEntry(Entry::Compacted { pinned, .. })) = effects.first() else { panic!("{effects:?}") };
    assert!(pinned.contains("Todo list:\n- [x] Read\n- [-] Write"), "{pinned}");
}

#[test]
fn summarizes_very_long_sessions_in_parts() {
    let mut state = idle_state();
    for number in 0..12 {
        run_turn(&mut state, &format!("n{number}"), 2_000);
    }
    update(&mut state, Event::ContextWindowChanged(Some(8_000)));
    let mut effects = send_user_message(&mut state, "go on");
    let mut summary_count = 0;
    while state.is_summarizing() {
        summary_count += 1;
        assert!(request_size(last_request(&effects)) <= 8_000, "{}", request_size(last_request(&effects)));
        effects = receive_reply(&mut state, &format!("Notes {summary_count}."), &[]);
    }
    assert!((2..=4).contains(&summary_count), "{summary_count}");
    assert!(request_size(last_request(&effects)) <= 6_400, "{}", request_size(last_request(&effects)));
    let sent_text = request_text(last_request(&effects));
    assert!(sent_text.contains(&format!("Notes {summary_count}.")) && sent_text.contains("go on"), "{sent_text}");
}

#[test]
fn session_with_too_long_first_message_can_continue() {
    let mut state = state_with_window(6_000);
    send_user_message(&mut state, &format!("begins {} ends", text_of_tokens(20_000)));
    assert!(state.is_idle(), "reported as too long");
    send_user_message(&mut state, "then something short");
    assert!(state.is_summarizing());
    let effects = receive_reply(&mut state, "A long text was pasted.", &[]);
    assert!(request_size(last_request(&effects)) < 4_800, "{}", request_size(last_request(&effects)));
    assert!(request_text(last_request(&effects)).contains("then something short"));
}
