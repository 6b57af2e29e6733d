//! Keys and the prompts they may answer.

use super::*;

fn screen_with_approval() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    screen
}

#[test]
fn a_deliberate_approval_is_accepted() {
    let mut screen = screen_with_approval();
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r03_a_key_typed_before_the_prompt_was_seen_approves_nothing() {
    for chord in ["y", "enter", "1", "a"] {
        let mut screen = screen_with_approval();
        screen.advance_ms(100);
        screen.press_key(chord);
        assert_eq!(screen.count_decisions(), 0, "{chord}");
    }
}

#[test]
fn r03_typing_on_never_answers_and_loses_no_character() {
    let mut screen = Screen::with_turn();
    screen.type_text("y y ");
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    screen.type_text("yes 1 yyyyyyyyyyyyyyy");
    assert_eq!(screen.count_decisions(), 0);
    assert_eq!(screen.state.input.composer.text(), "y y yes 1 yyyyyyyyyyyyyyy");
}

#[test]
fn tab_moves_the_focus_from_a_draft_to_the_prompt() {
    let mut screen = Screen::with_turn();
    screen.type_text("half a");
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    screen.advance_ms(2000);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0);
    screen.press_key("tab");
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (1, "half ay"));
}

#[test]
fn r04_a_held_key_answers_one_prompt() {
    let mut screen = Screen::with_turn();
    for id in ["a", "b", "c"] {
        let call = ToolCall { id: id.into(), name: "bash_exec".into(), arguments: "{}".into() };
        screen.receive_chunk(Chunk::Call(call));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("a", command_intent("one"));
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1);
    screen.finish_call("a", Outcome::Done("fine".into()));
    screen.finish_planning("b", command_intent("two"));
    for _ in 0..100 {
        screen.advance_ms(30);
        screen.press_key("y");
    }
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r05_a_paste_answers_nothing() {
    let mut screen = screen_with_approval();
    screen.advance_ms(2000);
    screen.handle_event(Event::Pasted("y\n".into()));
    assert_eq!(screen.count_decisions(), 0);
    assert!(screen.state.input.composer.text().starts_with('y'));
}

#[test]
fn r06_a_key_right_after_focusing_the_window_answers_no_approval_prompt() {
    let mut screen = screen_with_approval();
    screen.advance_ms(2000);
    screen.handle_event(Event::Focused(true));
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn enter_alone_never_approves() {
    let mut screen = screen_with_approval();
    screen.advance_ms(2000);
    screen.press_key("enter");
    screen.advance_ms(2000);
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn one_esc_stops_a_turn_and_two_are_needed_if_a_prompt_is_open() {
    let mut screen = Screen::with_turn();
    screen.press_key("esc");
    assert!(screen.state.agent.is_idle());
    let mut screen = screen_with_approval();
    screen.advance_ms(2000);
    screen.press_key("esc");
    assert!(!screen.state.agent.is_idle());
    assert!(screen.screen_text().contains("Press esc again to stop the turn"));
    screen.advance_ms(200);
    screen.press_key("esc");
    assert!(screen.state.agent.is_idle());
    assert!(screen.state.prompts.current.is_none());
    assert!(!screen.screen_text().contains("esc again"), "the outdated hint is removed");
}

#[test]
fn the_hint_at_a_second_esc_goes_with_the_turn_or_the_prompt() {
    for key in ["ctrl-c", "n"] {
        let mut screen = screen_with_approval();
        screen.advance_ms(2000);
        screen.press_key("esc");
        assert!(screen.screen_text().contains("Press esc again to stop the turn"));
        screen.advance_ms(600);
        screen.press_key(key);
        let text = screen.screen_text();
        assert!(!text.contains("esc again"), "{key}: {text}");
        assert_eq!(text.contains("Press ctrl-c again to quit"), key == "ctrl-c", "{text}");
    }
}

#[test]
fn a_parked_question_becomes_a_chip_and_can_be_reopened() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(600);
    screen.press_key("esc");
    let text = screen.screen_text();
    assert!(text.contains("1 question waiting") && !text.contains("virtual time"), "{text}");
    screen.press_key("ctrl-q");
    assert!(screen.screen_text().contains("virtual time"));
    screen.advance_ms(600);
    screen.press_key("2");
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 1);
    let text = screen.screen_text();
    assert!(text.contains("✓ Which clock") && text.contains("a trait"), "{text}");
}

#[test]
fn r63_ctrl_c_twice_quits_with_the_palette_over_a_prompt() {
    let mut screen = screen_with_approval();
    screen.advance_ms(700);
    screen.press_key("ctrl-p");
    screen.press_key("ctrl-c");
    screen.advance_ms(100);
    screen.press_key("ctrl-c");
    assert!(screen.effects.contains(&Effect::Quit));
}

#[test]
fn a_prompt_alerts_only_if_the_window_has_no_focus() {
    let has_notified = |screen: &Screen| screen.effects.iter().any(|effect| matches!(effect, Effect::Notify(_)));
    assert!(!has_notified(&screen_with_approval()));
    let mut screen = Screen::with_turn();
    screen.handle_event(Event::Focused(false));
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    assert!(has_notified(&screen));
}

#[test]
fn a_message_that_was_not_sent_is_explained_on_a_low_screen() {
    let mut screen = Screen::new();
    screen.resize_screen(60, 15);
    screen.send_text("go");
    screen.receive_call("a", "bash_exec", command_intent(&"make -j 4 && ".repeat(60)));
    screen.advance_ms(2000);
    screen.type_text("wait, why");
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(text.contains("╰─ Not sent: answer the prompt first · tab to answer"), "{text}");
    assert!(text.contains("❯ wait, why"), "{text}");
    screen.press_key("tab");
    assert!(screen.state.prompts.has_keyboard);
}

#[test]
fn a_message_that_a_parked_question_holds_back_names_the_key_of_the_question() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(600);
    screen.press_key("esc");
    screen.advance_ms(600);
    assert!(screen.screen_text().contains("1 question waiting · ctrl-q answer"), "{}", screen.screen_text());
    screen.type_text("wait, why");
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(text.contains("Not sent: answer the question first · ctrl-q to answer"), "{text}");
    screen.press_key("ctrl-q");
    assert!(screen.screen_text().contains("virtual time"));
}
