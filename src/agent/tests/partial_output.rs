//! Saving partial replies and output of running calls.

use super::*;
use crate::chat::PartialReply;
use crate::chat::partial_reply::TextPart;

/// Returns what is saved of the reply. A `TextPart` is an offset in bytes and the text from there on.
fn save_reply(state: &mut State) -> Vec<PartialReply> {
    let turn = state.current_turn().unwrap_or(TurnId(0));
    let saved_reply = |effect: Effect| match effect {
        Effect::SavePartialReply(reply) => *reply,
        other => panic!("{other:?}"),
    };
    update(state, Event::ReplySaveDue { turn }).into_iter().map(saved_reply).collect()
}

fn receive_chunk_at_start(state: &mut State, chunk: Chunk) {
    let turn = state.current_turn().unwrap();
    update(state, Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO });
}

#[test]
fn r51_saves_only_new_parts_of_a_reply() {
    let mut state = idle_state();
    assert!(save_reply(&mut state).is_empty());
    send_user_message(&mut state, "go");
    assert!(save_reply(&mut state).is_empty(), "nothing came yet");
    receive_chunk_at_start(&mut state, Chunk::Reasoning("hm".into()));
    receive_chunk_at_start(&mut state, Chunk::Text("one ".into()));
    let first = save_reply(&mut state);
    assert_eq!((&first[0].text, &first[0].reasoning), (&TextPart(0, "one ".into()), &TextPart(0, "hm".into())));
    assert!(save_reply(&mut state).is_empty());
    receive_chunk_at_start(&mut state, Chunk::Text("two".into()));
    let second = save_reply(&mut state);
    assert_eq!((&second[0].text, &second[0].reasoning), (&TextPart(4, "two".into()), &TextPart(2, String::new())));
    // Text turned out to be reasoning, so no text is left.
    receive_chunk_at_start(&mut state, Chunk::WasReasoning);
    receive_chunk_at_start(&mut state, Chunk::Text("a longer reply".into()));
    let third = save_reply(&mut state);
    assert_eq!(third[0].text, TextPart(0, "a longer reply".into()));
    assert_eq!(third[0].reasoning, TextPart(2, "one two".into()));
    let turn = state.current_turn().unwrap();
    update(&mut state, Event::TurnInterrupted);
    assert_eq!(update(&mut state, Event::ReplySaveDue { turn }), [], "the turn is over");
}

#[test]
fn saves_output_and_includes_it_in_interrupted_outcome() {
    let mut state = idle_state();
    state.policy.mode = Mode::Full;
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "read")]);
    receive_plan(&mut state, "a", read_intent());
    let turn = state.current_turn().unwrap();
    let print_output = |state: &mut State, text: &str| {
        let (call, output, new_output) = ("a".into(), "the end".to_owned(), text.to_owned());
        update(state, Event::CallProgressed { turn, call, output, new_output })
    };
    let save_output =
        |state: &mut State| describe_effects(&update(state, Event::OutputSaveDue { turn, call: "a".into() }));
    assert_eq!(save_output(&mut state), [""; 0], "nothing is printed yet");
    assert_eq!(print_output(&mut state, "one\n"), []);
    print_output(&mut state, "two\n");
    assert_eq!(save_output(&mut state), ["SAVE one\ntwo\n"]);
    assert_eq!(save_output(&mut state), [""; 0], "nothing is saved without new output");
    // The program is killed, and the saved output is read back.
    let saved_outputs = [("a".into(), "one\ntwo\n".to_owned()), ("b".into(), "of another".to_owned())].into();
    let (resumed, _) = resume_session(state.session.clone(), idle_state(), &saved_outputs);
    let outcome_text = |state: &State| match state.session.entries() {
        [.., Entry::Settled { outcome, .. }, Entry::Ended { .. }] => outcome.text().to_owned(),
        other => panic!("{other:?}"),
    };
    let text = outcome_text(&resumed);
    assert!(text.contains("outcome is unknown") && text.ends_with("Output until then:\none\ntwo\n"), "{text}");
    // The user stops the turn or quits.
    update(&mut state, Event::TurnInterrupted);
    let text = outcome_text(&state);
    assert!(text.contains("interrupted this call") && text.ends_with("Output until then:\none\ntwo\n"), "{text}");
}
