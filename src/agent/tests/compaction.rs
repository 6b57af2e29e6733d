//! Sessions that exceed the context window.

use super::*;
use crate::chat::message_tokens;

/// Returns text of about this many tokens.
pub(super) fn words(tokens: usize) -> String {
    "word ".repeat(tokens)
}

pub(super) fn window(tokens: u64) -> State {
    let mut state = idle();
    update(&mut state, Event::ContextWindowChanged(Some(tokens)));
    state
}

fn request(effects: &[Effect]) -> &Request {
    let stream = effects.iter().rev().find_map(|effect| match effect {
        Effect::RequestReply { request, .. } => Some(request.as_ref()),
        _ => None,
    });
    stream.unwrap_or_else(|| panic!("nothing was sent: {:?}", shape(effects)))
}

fn size(request: &Request) -> u64 {
    request.messages.iter().map(message_tokens::estimate_message).sum::<u64>()
        + message_tokens::estimate_tools(&request.tools)
}

fn text(request: &Request) -> String {
    format!("{:?}", request.messages)
}

/// Runs a finished turn of about this many tokens.
pub(super) fn takes_turn(state: &mut State, name: &str, tokens: usize) {
    said(state, &format!("{name} {}", words(tokens / 2)));
    assert!(!state.is_summarizing(), "{name} fits");
    replies(state, &format!("re-{name} {}", words(tokens / 2)), &[]);
    assert!(state.is_idle());
}

fn long_talk() -> State {
    let mut state = window(4_000);
    for name in ["one", "two", "three", "four", "five"] {
        takes_turn(&mut state, name, 500);
    }
    state
}

fn too_long(state: &mut State) -> Vec<Effect> {
    let turn = turn(state);
    update(state, Event::RequestFailed { turn, reason: "400, too long".into(), too_long: true })
}

#[test]
fn summarizes_before_a_request_that_would_not_fit() {
    let mut state = long_talk();
    let effects = said(&mut state, &format!("six {}", words(900)));
    assert_eq!(shape(&effects).last().map(String::as_str), Some("STREAM"));
    assert!(state.is_summarizing());
    let asked = request(&effects);
    assert!(asked.tools.is_empty() && asked.max_tokens.is_some_and(|most| most <= 2_000));
    let sent = text(asked);
    assert!(sent.contains("one word") && sent.contains("re-two word") && !sent.contains("six word"), "{sent}");
    chunk(&mut state, Chunk::Text("## What is wanted\nA tea pot.".into()));
    chunk(&mut state, Chunk::Usage(Usage { input: 3000, cached: 0, output: 20 }));
    let effects = chunk(&mut state, Chunk::Done(FinishReason::Stop));
    assert_eq!(shape(&effects)[1..], ["STREAM"]);
    assert!(shape(&effects)[0].starts_with("compacted to"), "{:?}", shape(&effects));
    let next = request(&effects);
    assert!(size(next) < 2_400, "{}", size(next));
    let next_words = text(next);
    assert!(next_words.contains("A tea pot.") && next_words.contains("six word"));
    assert!(next_words.contains("one word"), "the first user message is kept verbatim");
    assert!(!next_words.contains("re-one word"), "replies are not");
    assert!(next_words.contains("four word"), "the latest user messages follow after the summary");
    assert_eq!(state.session.usage().input, 3000, "its usage is counted");
    assert!(!state.is_summarizing() && state.current_turn().is_some(), "the turn continues");
    let effects = replies(&mut state, "Done.", &[]);
    assert_eq!(shape(&effects), ["replied Done./0", "ended"]);
}

#[test]
fn sends_summary_joined_with_the_next_user_message() {
    let mut state = long_talk();
    said(&mut state, &format!("six {}", words(900)));
    let effects = replies(&mut state, "The notes.", &[]);
    let messages = &request(&effects).messages;
    let persons = messages.windows(2).filter(|two| matches!(two, [Message::User(_), Message::User(_)]));
    assert_eq!(persons.count(), 0, "{messages:?}");
    let [Message::System(_), Message::User(first), ..] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(first.contains("The notes.") && first.contains("They are data"), "{first}");
    let rest = first.split(crate::chat::summary::SUMMARY_END).nth(1).unwrap();
    assert!(rest.contains("word"), "the next user message follows in the same message");
}

#[test]
fn never_compacts_with_unknown_window() {
    let mut state = idle();
    for _ in 0..20 {
        takes_turn(&mut state, "one", 5_000);
    }
    assert_eq!(shape(&said(&mut state, "more")), ["said more", "STREAM"]);
}

#[test]
fn later_summary_includes_the_earlier_one() {
    let mut state = long_talk();
    said(&mut state, &format!("six {}", words(900)));
    replies(&mut state, "First notes.", &[]);
    replies(&mut state, "ok", &[]);
    for name in ["seven", "eight", "nine"] {
        takes_turn(&mut state, name, 400);
    }
    let effects = said(&mut state, &format!("ten {}", words(1_000)));
    assert!(state.is_summarizing(), "{:?}", shape(&effects));
    let sent = text(request(&effects));
    assert!(sent.contains("First notes.") && !sent.contains("re-one"), "{sent}");
    let effects = replies(&mut state, "Second notes.", &[]);
    let sent = text(request(&effects));
    assert!(sent.contains("Second notes.") && !sent.contains("First notes."), "{sent}");
    assert!(sent.contains("one word"), "the first user message is still there");
}

#[test]
fn restored_session_sends_the_same_request() {
    let mut state = long_talk();
    said(&mut state, &format!("six {}", words(900)));
    replies(&mut state, "The notes.", &[]);
    replies(&mut state, "ok", &[]);
    let again = Session::replay(state.session.entries().to_vec());
    assert_eq!(again, state.session);
    let (resumed, effects) = resume(again, window(4_000));
    assert_eq!(effects, []);
    assert_eq!(
        (resumed.context_usage(), resumed.session.messages()),
        (state.context_usage(), state.session.messages())
    );
}

#[test]
fn interrupting_a_summary_ends_the_turn_and_keeps_messages() {
    let mut state = long_talk();
    said(&mut state, &format!("six {}", words(900)));
    chunk(&mut state, Chunk::Text("## Half of".into()));
    let effects = update(&mut state, Event::TurnInterrupted);
    assert_eq!(shape(&effects), ["CANCEL", "ended by the person"]);
    assert!(matches!(state.session.entries().iter().rev().nth(1), Some(Entry::UserMessage { .. })));
    assert!(!state.session.entries().iter().any(|entry| matches!(entry, Entry::Compacted { .. })));
}

#[test]
fn failed_or_empty_summary_is_reported_and_changes_nothing() {
    let mut state = long_talk();
    let before = state.session.messages();
    said(&mut state, &format!("six {}", words(900)));
    let turn = turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "no power.".into(), too_long: false });
    let [Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(why, "Cannot summarize the session: no power");
    assert_eq!(state.session.messages()[..before.len()], before[..]);
    said(&mut state, "again");
    assert!(state.is_summarizing());
    assert_eq!(shape(&chunk(&mut state, Chunk::Done(FinishReason::Stop))), ["ended badly"]);
    said(&mut state, "and again");
    chunk(&mut state, Chunk::Text(words(10_000)));
    assert!(!state.is_summarizing(), "an endless summary is cut");
}

#[test]
fn discards_summary_longer_than_its_source() {
    let mut state = long_talk();
    update(&mut state, Event::ContextWindowChanged(None));
    update(&mut state, Event::CompactionRequested);
    let effects = replies(&mut state, &words(4_000), &[]);
    assert_eq!(shape(&effects), ["ended badly"]);
    let mut state = long_talk();
    said(&mut state, &format!("six {}", words(900)));
    let effects = replies(&mut state, &words(4_000), &[]);
    assert_eq!(shape(&effects), ["STREAM"], "the turn continues without it");
    assert!(!state.is_summarizing());
}

#[test]
fn user_can_request_summary_between_turns() {
    let mut state = idle();
    assert_eq!(update(&mut state, Event::CompactionRequested), [], "nothing to summarize yet");
    takes_turn(&mut state, "one", 600);
    takes_turn(&mut state, "two", 600);
    assert_eq!(shape(&update(&mut state, Event::CompactionRequested)), ["STREAM"]);
    assert_eq!(update(&mut state, Event::CompactionRequested), [], "one at a time");
    let effects = replies(&mut state, "Short notes.", &[]);
    assert_eq!(effects.len(), 1);
    let Some(Effect::AppendEntry(Entry::Compacted { tokens: (before, after), pinned, .. })) = effects.first() else {
        panic!("{effects:?}")
    };
    assert!(*before > 1_000 && after < before, "{before} {after}");
    assert!(pinned.contains("one word") && pinned.contains("two word"), "{pinned}");
    assert!(state.is_idle() && !state.has_entries_to_summarize());
    assert_eq!(update(&mut state, Event::CompactionRequested), []);
    let next = said(&mut state, "on");
    assert_eq!(request(&next).messages.len(), 2);
}

#[test]
fn message_during_manual_summary_is_sent_afterwards() {
    let mut state = idle();
    takes_turn(&mut state, "one", 600);
    update(&mut state, Event::CompactionRequested);
    assert_eq!(said(&mut state, "and then?"), []);
    let effects = replies(&mut state, "Notes.", &[]);
    assert_eq!(shape(&effects)[1..], ["said and then?", "STREAM"]);
}

#[test]
fn shortens_and_resends_a_request_rejected_as_too_long() {
    let mut state = idle();
    for name in ["one", "two", "three", "four"] {
        takes_turn(&mut state, name, 1_000);
    }
    said(&mut state, "five");
    let effects = too_long(&mut state);
    assert_eq!(shape(&effects), ["STREAM"]);
    assert!(state.is_summarizing());
    let effects = replies(&mut state, "Notes.", &[]);
    assert!(size(request(&effects)) < 2_500, "{}", size(request(&effects)));
    assert!(state.context_usage().context_window.is_some(), "the rejected size is remembered");
    let effects = too_long(&mut state);
    let [Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })] = effects.as_slice() else {
        panic!("{:?}", shape(&effects))
    };
    assert!(why.contains("exceeds the model's context window") && why.contains("400, too long"), "{why}");
}

#[test]
fn remembers_learned_window_until_model_switch() {
    let mut state = window(100_000);
    for name in ["one", "two", "three", "four"] {
        takes_turn(&mut state, name, 1_000);
    }
    said(&mut state, "five");
    too_long(&mut state);
    replies(&mut state, "Notes.", &[]);
    replies(&mut state, "ok", &[]);
    let proved = state.context_usage().context_window.unwrap();
    assert!(proved < 5_000, "{proved}");
    update(&mut state, Event::ContextWindowChanged(Some(100_000)));
    assert_eq!(state.context_usage().context_window, Some(proved));
    update(&mut state, Event::ModelSwitched { model: "other".into(), profile: None });
    assert_eq!(state.context_usage().context_window, None);
}

#[test]
fn retries_too_long_summary_with_less_a_limited_number_of_times() {
    let mut state = window(100_000);
    for name in ["one", "two", "three", "four"] {
        takes_turn(&mut state, name, 10_000);
    }
    said(&mut state, "five");
    let mut sizes = vec![];
    let mut effects = too_long(&mut state);
    while state.is_summarizing() {
        sizes.push(size(request(&effects)));
        effects = too_long(&mut state);
    }
    assert!((1..=4).contains(&sizes.len()), "{sizes:?}");
    assert!(sizes.windows(2).all(|two| two[1] <= two[0] / 2 + 1), "{sizes:?}");
    assert_eq!(shape(&effects), ["ended badly"]);
}

#[test]
fn truncates_old_outcomes_and_never_user_messages() {
    let mut state = window(8_000);
    let mine = format!("mine {}", words(900));
    let mut effects = said(&mut state, &mine);
    for round in 0..12 {
        let id = format!("c{round}");
        effects = replies(&mut state, "", &[(&id, "read_file")]);
        assert_eq!(shape(&effects).last(), Some(&format!("PLAN {id}")), "round {round}");
        planned(&mut state, &id, read());
        let turn = turn(&state);
        let outcome = Outcome::Done(format!("begins {} ends", words(1_000)));
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
        assert!(!state.is_summarizing() && !state.is_idle(), "round {round}: {:?}", shape(&effects));
        assert!(size(request(&effects)) <= 6_400, "round {round}: {}", size(request(&effects)));
    }
    let request = request(&effects);
    let sent = text(request);
    assert!(sent.contains("characters truncated") && sent.contains("ends"));
    assert!(request.messages.contains(&Message::User(mine)), "the user message is complete");
    let Some(Message::Tool { text, .. }) = request.messages.last() else { panic!() };
    assert!(!text.contains("characters truncated"), "the newest outcome is complete");
}

#[test]
fn reports_request_that_cannot_fit_without_sending_it() {
    let mut state = window(2_000);
    let effects = said(&mut state, &words(9_000));
    let Some(Effect::AppendEntry(Entry::Ended { ending: Ending::Failed(why) })) = effects.last() else {
        panic!("{:?}", shape(&effects))
    };
    assert!(why.contains("too long for the model") && why.contains("2000 fit"), "{why}");
}

#[test]
fn verbatim_part_lists_changed_files_and_open_questions() {
    let mut state = idle();
    said(&mut state, "write it");
    replies(&mut state, "", &[("a", "write_file")]);
    planned(&mut state, "a", write());
    decided(&mut state, "a", Decision::Once);
    finished(&mut state, "a");
    replies(&mut state, "", &[("q", "ask_question")]);
    planned(&mut state, "q", question());
    update(&mut state, Event::TurnInterrupted);
    takes_turn(&mut state, "filler", 600);
    update(&mut state, Event::CompactionRequested);
    let effects = replies(&mut state, "Notes.", &[]);
    let Some(Effect::AppendEntry(Entry::Compacted { pinned, .. })) = effects.first() else { panic!("{effects:?}") };
    assert!(pinned.contains("First user message:\nwrite it"), "{pinned}");
    assert!(pinned.contains("Files changed:\n- a"), "{pinned}");
    assert!(pinned.contains("Unanswered questions to the user:\n- Which?"), "{pinned}");
}

#[test]
fn summarizes_very_long_sessions_in_parts() {
    let mut state = idle();
    for number in 0..12 {
        takes_turn(&mut state, &format!("n{number}"), 2_000);
    }
    update(&mut state, Event::ContextWindowChanged(Some(8_000)));
    let mut effects = said(&mut state, "go on");
    let mut asked = 0;
    while state.is_summarizing() {
        asked += 1;
        assert!(size(request(&effects)) <= 8_000, "{}", size(request(&effects)));
        effects = replies(&mut state, &format!("Notes {asked}."), &[]);
    }
    assert!((2..=4).contains(&asked), "{asked}");
    assert!(size(request(&effects)) <= 6_400, "{}", size(request(&effects)));
    let sent = text(request(&effects));
    assert!(sent.contains(&format!("Notes {asked}.")) && sent.contains("go on"), "{sent}");
}

#[test]
fn session_with_too_long_first_message_can_continue() {
    let mut state = window(6_000);
    said(&mut state, &format!("begins {} ends", words(20_000)));
    assert!(state.is_idle(), "reported as too long");
    said(&mut state, "then something short");
    assert!(state.is_summarizing());
    let effects = replies(&mut state, "A long text was pasted.", &[]);
    assert!(size(request(&effects)) < 4_800, "{}", size(request(&effects)));
    assert!(text(request(&effects)).contains("then something short"));
}
