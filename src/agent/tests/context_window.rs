//! Use of the context window, and which counts take precedence.

use super::compaction::{run_turn, state_with_window, text_of_tokens};
use super::*;
use crate::text::tokens;

#[test]
fn provider_count_takes_precedence() {
    let mut state = state_with_window(100_000);
    send_user_message(&mut state, "hello");
    let usage_before = state.context_usage();
    assert!(usage_before.is_estimated && usage_before.tokens < 60, "{usage_before:?}");
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    receive_reply(&mut state, "hi", &[]);
    let usage_after = state.context_usage();
    assert_eq!((usage_after.tokens, usage_after.is_estimated, usage_after.used_percent()), (5_060, false, Some(5)));
    send_user_message(&mut state, &text_of_tokens(1_000));
    let after_message = state.context_usage();
    assert!(after_message.is_estimated && after_message.tokens > 6_000, "{after_message:?}");
}

#[test]
fn reasoning_does_not_count_for_the_next_request() {
    let mut state = state_with_window(100_000);
    send_user_message(&mut state, "hello");
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 9_000 }));
    receive_reply(&mut state, "hi", &[]);
    assert!(state.context_usage().tokens < 5_100, "{:?}", state.context_usage());
}

#[test]
fn long_session_is_counted_once() {
    let mut short = idle_state();
    run_turn(&mut short, "x", 4);
    let turns = std::iter::repeat_n(short.session.entries().to_vec(), 10_000).flatten();
    let (mut state, _) = resume(Session::replay(turns), state_with_window(1_000_000_000));
    let bytes_before = tokens::counted_bytes();
    for _ in 0..1_000 {
        state.context_usage();
    }
    run_turn(&mut state, "x", 4);
    let bytes = tokens::counted_bytes() - bytes_before;
    assert!(bytes < 1_000, "{bytes} bytes were counted again");
}

#[test]
fn uses_lengths_from_provider_errors() {
    let mut state = idle_state();
    for name in ["one", "two", "three", "four"] {
        run_turn(&mut state, name, 1_000);
    }
    send_user_message(&mut state, "five");
    let turn = running_turn(&state);
    let reason = "request (12900 tokens) exceeds the available context size (8192 tokens)".to_owned();
    update(&mut state, Event::RequestFailed { turn, reason, too_long: true });
    assert!(state.is_summarizing());
    let usage = state.context_usage();
    assert_eq!(usage.context_window, Some(8_192));
    assert!((12_000..14_000).contains(&usage.tokens), "the estimate uses the count of the error: {usage:?}");
}
