//! Instructions of the project: when they are sent, to whom, and how they are counted.

use super::compaction::{window, words};
use super::sub_agents::{handed, looked, ran, says};
use super::*;
use crate::chat::Instructions;
use std::sync::Arc;

fn instructed(state: &mut State, text: &str) {
    let all = Instructions::from_files([("AGENTS.md", text)], 100_000);
    assert!(update(state, Event::InstructionsChanged(Arc::new(all))).is_empty(), "no entry is recorded");
}

#[test]
fn r68_instructions_are_sent_and_counted_from_the_next_request() {
    let mut state = window(100_000);
    let empty = state.context_usage().tokens;
    instructed(&mut state, &words(1_000));
    let told = state.context_usage().tokens;
    assert!(told > empty + 900, "{told}");
    let effects = said(&mut state, "hello");
    let system = |effects: &[Effect]| match effects.last() {
        Some(Effect::RequestReply { request, .. }) => match &request.messages[0] {
            Message::System(text) => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let (before, own) = (state.system_prompt.clone(), words(1_000));
    let sent = system(&effects);
    assert!(sent.starts_with(&before) && sent.contains(own.trim()), "{sent}");
    // Once the provider has counted them its count is used, and removed instructions are subtracted.
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    assert_eq!((state.context_usage().tokens, state.context_usage().is_estimated), (5_060, false));
    // A change during a reply is not part of the count for that reply.
    said(&mut state, "and");
    instructed(&mut state, "");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_100, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let without = state.context_usage();
    assert!(without.is_estimated && without.tokens < 1_500, "{without:?}");
    assert_eq!(system(&said(&mut state, "more")), before);
    chunk(&mut state, Chunk::Usage(Usage { input: 700, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    assert_eq!(state.context_usage().tokens, 760);
}

#[test]
fn resumed_session_counts_instructions_once() {
    let mut state = window(100_000);
    instructed(&mut state, &words(1_000));
    said(&mut state, "hello");
    chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    replies(&mut state, "hi", &[]);
    let mut blank = window(100_000);
    instructed(&mut blank, &words(1_000));
    let (resumed, _) = resume(state.session.clone(), blank);
    assert_eq!((resumed.context_usage().tokens, resumed.instructions.len()), (5_060, 1));
}

#[test]
fn r68_sub_agent_receives_trusted_instructions() {
    let mut state = handed(&["one"]);
    instructed(&mut state, "Use tabs.");
    let sent = |effects: &[Effect]| format!("{:?}", effects.last());
    assert!(sent(&says(&mut state, "one", "", &[("a", "read_file")])).contains("Plan"));
    looked(&mut state, "one", "a", plan(Access::Nothing));
    let effects = ran(&mut state, "one", "a");
    assert!(sent(&effects).contains("beneath") && sent(&effects).contains("Use tabs."), "{effects:?}");
}
