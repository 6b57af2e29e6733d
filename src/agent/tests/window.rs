//! Use of the context window, and which counts take precedence.

use super::compacting::{takes_turn, window, words};
use super::*;
use crate::chat::tokens;

#[test]
fn provider_count_takes_precedence() {
    let mut state = window(100_000);
    said(&mut state, "hello");
    let before = state.gauge();
    assert!(before.estimated && before.tokens < 60, "{before:?}");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let counted = state.gauge();
    assert_eq!((counted.tokens, counted.estimated, counted.share()), (5_060, false, Some(5)));
    said(&mut state, &words(1_000));
    let later = state.gauge();
    assert!(later.estimated && later.tokens > 6_000, "{later:?}");
}

#[test]
fn reasoning_is_not_counted_twice() {
    let mut state = window(100_000);
    said(&mut state, "hello");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 9_000 }));
    replies(&mut state, "hi", &[]);
    assert!(state.gauge().tokens < 5_100, "{:?}", state.gauge());
}

#[test]
fn long_session_is_counted_once() {
    let mut one = idle();
    takes_turn(&mut one, "x", 4);
    let turns = std::iter::repeat_n(one.session.entries().to_vec(), 10_000).flatten();
    let (mut state, _) = resume(Session::replay(turns), window(1_000_000_000));
    let before = tokens::counted();
    for _ in 0..1_000 {
        state.gauge();
    }
    takes_turn(&mut state, "x", 4);
    let bytes = tokens::counted() - before;
    assert!(bytes < 1_000, "{bytes} bytes were counted again");
}

#[test]
fn uses_lengths_from_provider_errors() {
    let mut state = idle();
    for name in ["one", "two", "three", "four"] {
        takes_turn(&mut state, name, 1_000);
    }
    said(&mut state, "five");
    let turn = turn(&state);
    let why = "request (12900 tokens) exceeds the available context size (8192 tokens)".to_owned();
    update(&mut state, Event::Failed { turn, why, too_long: true });
    assert!(state.is_summarising());
    let gauge = state.gauge();
    assert_eq!(gauge.window, Some(8_192));
    assert!((12_000..14_000).contains(&gauge.tokens), "the estimate is corrected by it: {gauge:?}");
}
