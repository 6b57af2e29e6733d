//! Saving partial replies and output of running calls.

use super::*;
use crate::chat::PartialReply;
use crate::chat::partial_reply::TextPart;

fn grows(state: &mut State) -> Vec<PartialReply> {
    let turn = state.current_turn().unwrap_or(TurnId(0));
    let kept = |effect: Effect| match effect {
        Effect::SavePartialReply(grown) => *grown,
        other => panic!("{other:?}"),
    };
    update(state, Event::ReplySaveDue { turn }).into_iter().map(kept).collect()
}

fn comes(state: &mut State, chunk: Chunk) {
    let turn = state.current_turn().unwrap();
    update(state, Event::ReplyChunk { turn, chunk, after: Duration::ZERO });
}

#[test]
fn r51_saves_only_new_parts_of_a_reply() {
    let mut state = idle();
    assert!(grows(&mut state).is_empty());
    said(&mut state, "go");
    assert!(grows(&mut state).is_empty(), "nothing came yet");
    comes(&mut state, Chunk::Reasoning("hm".into()));
    comes(&mut state, Chunk::Text("one ".into()));
    let first = grows(&mut state);
    assert_eq!((&first[0].text, &first[0].reasoning), (&TextPart(0, "one ".into()), &TextPart(0, "hm".into())));
    assert!(grows(&mut state).is_empty());
    comes(&mut state, Chunk::Text("two".into()));
    let second = grows(&mut state);
    assert_eq!((&second[0].text, &second[0].reasoning), (&TextPart(4, "two".into()), &TextPart(2, String::new())));
    // Text turned out to be reasoning, so no text is left.
    comes(&mut state, Chunk::WasReasoning);
    comes(&mut state, Chunk::Text("a longer reply".into()));
    let third = grows(&mut state);
    assert_eq!(third[0].text, TextPart(0, "a longer reply".into()));
    assert_eq!(third[0].reasoning, TextPart(2, "one two".into()));
    let turn = state.current_turn().unwrap();
    update(&mut state, Event::TurnInterrupted);
    assert_eq!(update(&mut state, Event::ReplySaveDue { turn }), [], "the turn is over");
}

#[test]
fn saves_output_and_includes_it_in_interrupted_outcome() {
    let mut state = idle();
    state.policy.mode = Mode::Full;
    said(&mut state, "go");
    replies(&mut state, "", &[("a", "read")]);
    planned(&mut state, "a", read());
    let turn = state.current_turn().unwrap();
    let prints = |state: &mut State, more: &str| {
        let (call, output, more) = ("a".into(), "the end".to_owned(), more.to_owned());
        update(state, Event::CallProgressed { turn, call, output, more })
    };
    let due = |state: &mut State| shape(&update(state, Event::OutputSaveDue { turn, call: "a".into() }));
    assert_eq!(due(&mut state), [""; 0], "nothing is printed yet");
    assert_eq!(prints(&mut state, "one\n"), []);
    prints(&mut state, "two\n");
    assert_eq!(due(&mut state), ["KEEP one\ntwo\n"]);
    assert_eq!(due(&mut state), [""; 0], "nothing is saved without new output");
    // The program is killed, and the saved output is read back.
    let printed = [("a".into(), "one\ntwo\n".to_owned()), ("b".into(), "of another".to_owned())].into();
    let (resumed, _) = resume_with_output(state.session.clone(), idle(), &printed);
    let outcome = |state: &State| match state.session.entries() {
        [.., Entry::Settled { outcome, .. }, Entry::Ended { .. }] => outcome.text().to_owned(),
        other => panic!("{other:?}"),
    };
    let told = outcome(&resumed);
    assert!(told.contains("outcome is unknown") && told.ends_with("Output until then:\none\ntwo\n"), "{told}");
    // The user stops the turn or quits.
    update(&mut state, Event::TurnInterrupted);
    let told = outcome(&state);
    assert!(told.contains("interrupted this call") && told.ends_with("Output until then:\none\ntwo\n"), "{told}");
}
