//! What the project says to the model: from when on it is sent, to whom, and how it is counted.

use super::compacting::{window, words};
use super::sub_agents::{handed, looked, ran, says};
use super::*;
use crate::chat::Instructions;
use std::sync::Arc;

fn instructed(state: &mut State, text: &str) {
    let all = Instructions::of([("AGENTS.md", text)], 100_000);
    assert!(update(state, Event::Instructed(Arc::new(all))).is_empty(), "it is no fact of the session");
}

#[test]
fn r68_words_of_the_project_are_sent_from_the_next_request_on_and_counted() {
    let mut state = window(100_000);
    let empty = state.gauge().tokens;
    instructed(&mut state, &words(1_000));
    let told = state.gauge().tokens;
    assert!(told > empty + 900, "{told}");
    let effects = said(&mut state, "hello");
    let system = |effects: &[Effect]| match effects.last() {
        Some(Effect::Stream { request, .. }) => match &request.messages[0] {
            Message::System(text) => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let (before, own) = (state.system.clone(), words(1_000));
    let sent = system(&effects);
    assert!(sent.starts_with(&before) && sent.contains(own.trim()), "{sent}");
    // Once the service has counted them they are counted by it, and what is taken back is not.
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    assert_eq!((state.gauge().tokens, state.gauge().estimated), (5_060, false));
    // What changes while a reply comes was not in what was counted for it.
    said(&mut state, "and");
    instructed(&mut state, "");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_100, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let without = state.gauge();
    assert!(without.estimated && without.tokens < 1_500, "{without:?}");
    assert_eq!(system(&said(&mut state, "more")), before);
    chunk(&mut state, Chunk::Usage(Usage { input: 700, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    assert_eq!(state.gauge().tokens, 760);
}

#[test]
fn a_session_that_comes_back_counts_the_words_of_the_project_once() {
    let mut state = window(100_000);
    instructed(&mut state, &words(1_000));
    said(&mut state, "hello");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let mut blank = window(100_000);
    instructed(&mut blank, &words(1_000));
    let (resumed, _) = resume(state.session.clone(), blank);
    assert_eq!((resumed.gauge().tokens, resumed.instructions.len()), (5_060, 1));
}

#[test]
fn r68_a_sub_agent_is_told_what_the_project_says_as_long_as_that_is_trusted() {
    let mut state = handed(&["one"]);
    instructed(&mut state, "Use tabs.");
    let sent = |effects: &[Effect]| format!("{:?}", effects.last());
    assert!(sent(&says(&mut state, "one", "", &[("a", "read_file")])).contains("Plan"));
    looked(&mut state, "one", "a", plan(Access::Nothing));
    let effects = ran(&mut state, "one", "a");
    assert!(sent(&effects).contains("beneath") && sent(&effects).contains("Use tabs."), "{effects:?}");
}
