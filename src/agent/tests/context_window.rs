//! Use of the context window, and which counts take precedence.

use super::compaction::{takes_turn, window, words};
use super::*;
use crate::text::tokens;

#[test]
fn provider_count_takes_precedence() {
    let mut state = window(100_000);
    said(&mut state, "hello");
    let before = state.context_usage();
    assert!(before.is_estimated && before.tokens < 60, "{before:?}");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let counted = state.context_usage();
    assert_eq!((counted.tokens, counted.is_estimated, counted.used_percent()), (5_060, false, Some(5)));
    said(&mut state, &words(1_000));
    let later = state.context_usage();
    assert!(later.is_estimated && later.tokens > 6_000, "{later:?}");
}

#[test]
fn reasoning_is_not_counted_twice() {
    let mut state = window(100_000);
    said(&mut state, "hello");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 9_000 }));
    replies(&mut state, "hi", &[]);
    assert!(state.context_usage().tokens < 5_100, "{:?}", state.context_usage());
}

#[test]
fn long_session_is_counted_once() {
    let mut one = idle();
    takes_turn(&mut one, "x", 4);
    let turns = std::iter::repeat_n(one.session.entries().to_vec(), 10_000).flatten();
    let (mut state, _) = resume(Session::replay(turns), window(1_000_000_000));
    let before = tokens::counted_bytes();
    for _ in 0..1_000 {
        state.context_usage();
    }
    takes_turn(&mut state, "x", 4);
    let bytes = tokens::counted_bytes() - before;
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
    update(&mut state, Event::RequestFailed { turn, reason: why, too_long: true });
    assert!(state.is_summarizing());
    let gauge = state.context_usage();
    assert_eq!(gauge.context_window, Some(8_192));
    assert!((12_000..14_000).contains(&gauge.tokens), "the estimate is corrected by it: {gauge:?}");
}
