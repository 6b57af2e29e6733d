//! What is kept of a reply while it grows.

use super::*;
use crate::chat::Grown;
use crate::chat::grown::More;

fn grows(state: &mut State) -> Vec<Grown> {
    let turn = state.turn().unwrap_or(TurnId(0));
    let kept = |effect: Effect| match effect {
        Effect::KeepGrown(grown) => *grown,
        other => panic!("{other:?}"),
    };
    update(state, Event::Grew { turn }).into_iter().map(kept).collect()
}

fn comes(state: &mut State, chunk: Chunk) {
    let turn = state.turn().unwrap();
    update(state, Event::Chunk { turn, chunk, after: Duration::ZERO });
}

#[test]
fn r51_what_came_since_the_last_time_is_kept_and_nothing_twice() {
    let mut state = idle();
    assert!(grows(&mut state).is_empty());
    said(&mut state, "go");
    assert!(grows(&mut state).is_empty(), "nothing came yet");
    comes(&mut state, Chunk::Reasoning("hm".into()));
    comes(&mut state, Chunk::Text("one ".into()));
    let first = grows(&mut state);
    assert_eq!((&first[0].text, &first[0].reasoning), (&More(0, "one ".into()), &More(0, "hm".into())));
    assert!(grows(&mut state).is_empty());
    comes(&mut state, Chunk::Text("two".into()));
    let second = grows(&mut state);
    assert_eq!((&second[0].text, &second[0].reasoning), (&More(4, "two".into()), &More(2, String::new())));
    // What was said turned out to be thought: none of it stands any more.
    comes(&mut state, Chunk::WasReasoning);
    comes(&mut state, Chunk::Text("a longer reply".into()));
    let third = grows(&mut state);
    assert_eq!(third[0].text, More(0, "a longer reply".into()));
    assert_eq!(third[0].reasoning, More(2, "one two".into()));
    let turn = state.turn().unwrap();
    update(&mut state, Event::Interrupted);
    assert_eq!(update(&mut state, Event::Grew { turn }), [], "the turn is over");
}
