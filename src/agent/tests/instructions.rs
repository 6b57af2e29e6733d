//! Instructions of the project: when they are sent, to whom, and how they are counted.

use super::compaction::{state_with_window, text_of_tokens};
use super::sub_agents::{delegate_tasks, finish_in_sub_agent, plan_in_sub_agent, reply_in_sub_agent};
use super::*;
use crate::chat::Instructions;
use std::sync::Arc;

fn trust_instructions(state: &mut State, text: &str) {
    let instructions = Instructions::from_files([("AGENTS.md", text)], 100_000);
    assert!(update(state, Event::InstructionsChanged(Arc::new(instructions))).is_empty(), "no entry is recorded");
}

#[test]
fn r68_instructions_are_sent_and_counted_from_the_next_request() {
    let mut state = state_with_window(100_000);
    let empty = state.context_usage().tokens;
    trust_instructions(&mut state, &text_of_tokens(1_000));
    let tokens = state.context_usage().tokens;
    assert!(tokens > empty + 900, "{tokens}");
    let effects = send_user_message(&mut state, "hello");
    let system_prompt = |effects: &[Effect]| match effects.last() {
        Some(Effect::RequestReply { request, .. }) => match &request.messages[0] {
            Message::System(text) => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let (base_prompt, instructions) = (state.config.system_prompt.clone(), text_of_tokens(1_000));
    let sent_prompt = system_prompt(&effects);
    assert!(sent_prompt.starts_with(&base_prompt) && sent_prompt.contains(instructions.trim()), "{sent_prompt}");
    // The provider's count, which includes the instructions, replaces the estimate.
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    receive_reply(&mut state, "hi", &[]);
    assert_eq!((state.context_usage().tokens, state.context_usage().is_estimated), (5_060, false));
    // Instructions that are removed during a reply are in the provider's count for it, so they are subtracted. Their
    // estimate is scaled up to the provider's count first, so more than 1,000 tokens are subtracted.
    send_user_message(&mut state, "and");
    trust_instructions(&mut state, "");
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 5_100, cached: 0, output: 60 }));
    receive_reply(&mut state, "hi", &[]);
    let usage = state.context_usage();
    assert!(usage.is_estimated && usage.tokens < 1_500, "{usage:?}");
    assert_eq!(system_prompt(&send_user_message(&mut state, "more")), base_prompt);
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 700, cached: 0, output: 60 }));
    receive_reply(&mut state, "hi", &[]);
    assert_eq!(state.context_usage().tokens, 760);
}

#[test]
fn resumed_session_counts_instructions_once() {
    let mut state = state_with_window(100_000);
    trust_instructions(&mut state, &text_of_tokens(1_000));
    send_user_message(&mut state, "hello");
    receive_chunk(&mut state, Chunk::Usage(Usage { input: 5_000, cached: 0, output: 60 }));
    receive_reply(&mut state, "hi", &[]);
    let mut fresh_state = state_with_window(100_000);
    trust_instructions(&mut fresh_state, &text_of_tokens(1_000));
    let (resumed, _) = resume(state.session.clone(), fresh_state);
    assert_eq!((resumed.context_usage().tokens, resumed.config.instructions.len()), (5_060, 1));
}

#[test]
fn r68_sub_agent_receives_trusted_instructions() {
    let mut state = delegate_tasks(&["one"]);
    trust_instructions(&mut state, "Use tabs.");
    let describe_last = |effects: &[Effect]| format!("{:?}", effects.last());
    assert!(describe_last(&reply_in_sub_agent(&mut state, "one", "", &[("a", "read_file")])).contains("Plan"));
    plan_in_sub_agent(&mut state, "one", "a", plan_intent(Access::Nothing));
    let effects = finish_in_sub_agent(&mut state, "one", "a");
    assert!(
        describe_last(&effects).contains("You are a sub-agent.") && describe_last(&effects).contains("Use tabs."),
        "{effects:?}"
    );
}
