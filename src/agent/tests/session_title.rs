//! Session titles: who sets them, and when.

use super::*;

fn suggest_title(state: &mut State, reply: &str) -> Vec<Effect> {
    let usage = Some(Usage { input: 100, cached: 0, output: 7 });
    update(state, Event::TitleSuggested { text: reply.into(), usage })
}

fn state_requesting_titles() -> State {
    let mut state = idle_state();
    state.config.requests_titles = true;
    state
}

#[test]
fn requests_title_after_the_first_turn() {
    let mut state = state_requesting_titles();
    send_user_message(&mut state, "why is the test flaky?");
    let effects = receive_reply(&mut state, "Because of the clock.", &[]);
    assert_eq!(describe_effects(&effects), ["replied Because of the clock./0", "turn finished", "REQUEST_TITLE"]);
    let Some(Effect::RequestTitle { request }) = effects.last() else { panic!("{effects:?}") };
    let [Message::System(prompt), Message::User(excerpt)] = request.messages.as_slice() else { panic!() };
    assert!(prompt.contains("title"), "{prompt}");
    assert!(excerpt.contains("why is the test flaky?") && excerpt.contains("Because of the clock."), "{excerpt}");
    assert!(request.tools.is_empty() && request.max_tokens == Some(40));
    assert_eq!(describe_effects(&suggest_title(&mut state, "The flaky test\n")), ["titled"]);
    assert_eq!(state.session.title(), Some("The flaky test"));
    assert_eq!(state.session.usage().total(), 107);
    send_user_message(&mut state, "and now?");
    assert_eq!(
        describe_effects(&receive_reply(&mut state, "Now it is stable.", &[])),
        ["replied Now it is stable./0", "turn finished"]
    );
}

#[test]
fn user_title_is_kept() {
    let mut state = state_requesting_titles();
    send_user_message(&mut state, "hello there");
    receive_reply(&mut state, "hi", &[]);
    update(&mut state, Event::SessionTitled("mine".into()));
    suggest_title(&mut state, "The model's");
    assert_eq!(state.session.title(), Some("mine"));
    assert_eq!(state.session.usage().total(), 107, "its usage is counted");
    let mut other_state = state_requesting_titles();
    update(&mut other_state, Event::SessionTitled("mine".into()));
    send_user_message(&mut other_state, "hello");
    assert!(!describe_effects(&receive_reply(&mut other_state, "hi", &[])).contains(&"REQUEST_TITLE".to_owned()));
}

#[test]
fn unusable_title_keeps_the_first_words() {
    let mut state = state_requesting_titles();
    send_user_message(&mut state, "hello there");
    receive_reply(&mut state, "hi", &[]);
    suggest_title(&mut state, " \n\u{1b}\n");
    assert_eq!(state.session.title(), Some("hello there"));
}

#[test]
fn requests_no_title_if_disabled_or_after_failure() {
    let mut state = idle_state();
    send_user_message(&mut state, "hello");
    assert_eq!(describe_effects(&receive_reply(&mut state, "hi", &[])), ["replied hi/0", "turn finished"]);
    let mut state = state_requesting_titles();
    send_user_message(&mut state, "hello");
    let turn = running_turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "lost".into(), too_long: false });
    assert_eq!(describe_effects(&effects), ["turn failed"]);
    send_user_message(&mut state, "hello");
    send_user_message(&mut state, "one more");
    let effects = describe_effects(&receive_reply(&mut state, "hi", &[]));
    assert_eq!(effects, ["replied hi/0", "turn finished", "message one more", "REQUEST_REPLY"], "no title yet");
}

#[test]
fn requests_title_at_most_three_times() {
    let mut state = state_requesting_titles();
    let mut request_count = 0;
    for _ in 0..8 {
        send_user_message(&mut state, "hello");
        request_count += describe_effects(&receive_reply(&mut state, "hi", &[]))
            .iter()
            .filter(|effect| *effect == "REQUEST_TITLE")
            .count();
    }
    assert_eq!(request_count, 3);
}

#[test]
fn title_request_truncates_long_messages() {
    let mut state = state_requesting_titles();
    send_user_message(&mut state, &format!("begin {} end", "x".repeat(100_000)));
    let effects = receive_reply(&mut state, &"y".repeat(100_000), &[]);
    let Some(Effect::RequestTitle { request }) = effects.last() else { panic!() };
    let [_, Message::User(excerpt)] = request.messages.as_slice() else { panic!() };
    assert!(excerpt.len() < 2_500 && excerpt.contains("begin x") && excerpt.contains("x end"), "{}", excerpt.len());
}
