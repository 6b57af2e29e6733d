//! Changing the mode and its display in the footer.

use super::*;

fn run_slash_command(screen: &mut Screen, text: &str) {
    screen.type_text(text);
    screen.press_key("enter");
}

#[test]
fn r20_a_wide_mode_needs_confirmation_and_staying_is_preselected() {
    for (mode, chip) in [(Mode::Auto, "AUTO MODE"), (Mode::Full, "FULL MODE")] {
        let mut screen = Screen::new();
        run_slash_command(&mut screen, &format!("/mode {}", mode.as_str()));
        assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
        let text = screen.screen_text();
        assert!(text.contains("Stay in ask mode") && text.contains(mode.description()), "{text}");
        screen.press_key("enter");
        assert_eq!(screen.state.agent.policy.mode, Mode::Ask, "Enter alone keeps the mode");
        run_slash_command(&mut screen, &format!("/mode {}", mode.as_str()));
        screen.press_key("down");
        screen.press_key("enter");
        assert_eq!(screen.state.agent.policy.mode, mode);
        assert!(screen.footer_text().contains(chip), "{}", screen.footer_text());
        screen.resize_screen(40, 15);
        assert!(screen.footer_text().contains(chip), "{}", screen.footer_text());
        // The key leads only to narrower modes.
        screen.handle_event(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
        assert_eq!(screen.state.agent.policy.mode, Mode::Plan);
    }
}

#[test]
fn r20_every_mode_can_be_picked_from_the_list() {
    for (row, mode) in Mode::ALL.into_iter().enumerate() {
        let mut screen = Screen::new();
        run_slash_command(&mut screen, "/mode");
        let text = screen.screen_text();
        assert!(text.contains("❯ ask mode ") && text.contains("in use") && text.contains("full mode"), "{text}");
        let ask_row = Mode::ALL.into_iter().position(|mode| mode == Mode::Ask).unwrap();
        // The cursor starts at ask mode and wraps around after the last mode.
        (ask_row..row + Mode::ALL.len()).for_each(|_| screen.press_key("down"));
        screen.press_key("enter");
        if mode.is_wide() {
            assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
            screen.press_key("esc");
            assert_eq!(screen.state.agent.policy.mode, Mode::Ask, "Esc keeps the mode");
            run_slash_command(&mut screen, &format!("/mode {}", mode.as_str()));
            screen.press_key("down");
            screen.press_key("enter");
        }
        assert_eq!(screen.state.agent.policy.mode, mode);
    }
}

#[test]
fn an_unknown_mode_is_reported_with_the_valid_ones() {
    let mut screen = Screen::new();
    run_slash_command(&mut screen, "/mode yolo");
    assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
    assert!(
        screen.screen_text().contains("Unknown mode. Use one of plan, ask, auto, full"),
        "{}",
        screen.screen_text()
    );
}

#[test]
fn r20_a_prompt_opened_below_the_list_prevents_a_change() {
    let mut screen = Screen::with_turn();
    run_slash_command(&mut screen, "/mode full");
    screen.receive_call("c1", "bash_exec", command_intent("make"));
    screen.press_key("down");
    screen.press_key("enter");
    assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
    assert!(screen.state.agent.waiting_call().is_some(), "the prompt still waits");
}

#[test]
fn descriptions_of_modes_are_complete_in_a_narrow_terminal() {
    for width in [50, 60, 80] {
        let mut screen = Screen::new();
        screen.resize_screen(width, 15);
        run_slash_command(&mut screen, "/mode");
        let text = screen.screen_text();
        let words: Vec<&str> = text.split(['│', ' ', '\n']).filter(|word| !word.is_empty()).collect();
        let joined_text = words.join(" ");
        for end in ["irreversible actions", "changed or run", "everything else asks", "the rest asks"] {
            // Other text of the list may be between the words of a wrapped description: then its last word is enough.
            let last_word = end.rsplit(' ').next().unwrap();
            assert!(joined_text.contains(end) || joined_text.contains(last_word), "{width}: {end}: {text}");
        }
        let list: String = text.lines().skip_while(|row| !row.contains('╭')).collect();
        assert!(!list.contains('…'), "{width}: {text}");
    }
}

#[test]
fn enter_in_the_freshly_opened_list_changes_nothing() {
    for mode in [Mode::Plan, Mode::Ask, Mode::Auto] {
        let mut screen = Screen::new();
        screen.state.agent.policy.mode = mode;
        run_slash_command(&mut screen, "/mode");
        screen.press_key("enter");
        assert_eq!(screen.state.agent.policy.mode, mode);
    }
}
