//! Session titles: who sets them, and when.

use super::*;

fn named(state: &mut State, said: &str) -> Vec<Effect> {
    let usage = Some(Usage { input: 100, cached: 0, output: 7 });
    update(state, Event::TitleSuggested { text: said.into(), usage })
}

fn titled() -> State {
    State { requests_titles: true, ..idle() }
}

#[test]
fn requests_title_after_the_first_turn() {
    let mut state = titled();
    said(&mut state, "why is the test flaky?");
    let effects = replies(&mut state, "Because of the clock.", &[]);
    assert_eq!(shape(&effects), ["replied Because of the clock./0", "ended", "NAME"]);
    let Some(Effect::RequestTitle { request }) = effects.last() else { panic!("{effects:?}") };
    let [Message::System(words), Message::User(talk)] = request.messages.as_slice() else { panic!() };
    assert!(words.contains("title"), "{words}");
    assert!(talk.contains("why is the test flaky?") && talk.contains("Because of the clock."), "{talk}");
    assert!(request.tools.is_empty() && request.max_tokens == Some(40));
    assert_eq!(shape(&named(&mut state, "The flaky test\n")), ["titled"]);
    assert_eq!(state.session.title(), Some("The flaky test"));
    assert_eq!(state.session.usage().total(), 107);
    said(&mut state, "and now?");
    assert_eq!(shape(&replies(&mut state, "Now it is stable.", &[])), ["replied Now it is stable./0", "ended"]);
}

#[test]
fn user_title_is_kept() {
    let mut state = titled();
    said(&mut state, "hello there");
    replies(&mut state, "hi", &[]);
    update(&mut state, Event::SessionTitled("mine".into()));
    named(&mut state, "The model's");
    assert_eq!(state.session.title(), Some("mine"));
    assert_eq!(state.session.usage().total(), 107, "its usage is counted");
    let mut other = titled();
    update(&mut other, Event::SessionTitled("mine".into()));
    said(&mut other, "hello");
    assert!(!shape(&replies(&mut other, "hi", &[])).contains(&"NAME".to_owned()));
}

#[test]
fn unusable_title_keeps_the_first_words() {
    let mut state = titled();
    said(&mut state, "hello there");
    replies(&mut state, "hi", &[]);
    named(&mut state, " \n\u{1b}\n");
    assert_eq!(state.session.title(), Some("hello there"));
}

#[test]
fn requests_no_title_if_disabled_or_after_failure() {
    let mut state = idle();
    said(&mut state, "hello");
    assert_eq!(shape(&replies(&mut state, "hi", &[])), ["replied hi/0", "ended"]);
    let mut state = titled();
    said(&mut state, "hello");
    let turn = turn(&state);
    let effects = update(&mut state, Event::RequestFailed { turn, reason: "lost".into(), too_long: false });
    assert_eq!(shape(&effects), ["ended badly"]);
    said(&mut state, "hello");
    said(&mut state, "one more");
    let effects = shape(&replies(&mut state, "hi", &[]));
    assert_eq!(effects, ["replied hi/0", "ended", "said one more", "STREAM"], "the next turn goes first");
}

#[test]
fn requests_title_at_most_three_times() {
    let mut state = titled();
    let mut asked = 0;
    for _ in 0..8 {
        said(&mut state, "hello");
        asked += shape(&replies(&mut state, "hi", &[])).iter().filter(|word| *word == "NAME").count();
    }
    assert_eq!(asked, 3);
}

#[test]
fn title_request_truncates_long_messages() {
    let mut state = titled();
    said(&mut state, &format!("begin {} end", "x".repeat(100_000)));
    let effects = replies(&mut state, &"y".repeat(100_000), &[]);
    let Some(Effect::RequestTitle { request }) = effects.last() else { panic!() };
    let [_, Message::User(talk)] = request.messages.as_slice() else { panic!() };
    assert!(talk.len() < 2_500 && talk.contains("begin x") && talk.contains("x end"), "{}", talk.len());
}
