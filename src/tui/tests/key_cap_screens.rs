//! Key caps: keys that act are shown, typed text and secrets are not.

use super::credential_screens::screen_with_prompt;
use super::*;

/// The screen as a recording shows it.
fn shown(screen: &mut Screen) -> String {
    let mut buffer = screen.draw_frame();
    screen.state.draw_key_caps(&mut buffer);
    buffer_text(&buffer)
}

/// The caps, in the order of the presses.
fn caps(screen: &mut Screen) -> String {
    let without = screen.screen_text();
    let shown = shown(screen);
    let rows = shown.lines().zip(without.lines()).filter(|(row, plain)| row != plain);
    let rows: Vec<&str> = rows.map(|(row, _)| row).collect();
    assert!(rows.len() <= 1, "{shown}");
    let row = rows.first().copied().unwrap_or_default();
    row.rsplit(['─', '╮', '╯', '┘']).find(|part| !part.is_empty()).unwrap_or_default().trim().to_owned()
}

fn enable(mut screen: Screen) -> Screen {
    screen.state.input.key_caps.is_shown = true;
    screen.advance_ms(5_000);
    screen
}

#[test]
fn typed_text_is_not_shown_and_the_keys_that_act_on_it_are() {
    let mut screen = enable(Screen::new());
    screen.type_text("hello y n");
    screen.press_key("backspace");
    screen.press_key("alt-enter");
    screen.press_key("ctrl-s");
    assert_eq!(caps(&mut screen), "", "these type, or do nothing");
    screen.press_key("ctrl-w");
    screen.press_key("left");
    assert_eq!(caps(&mut screen), "ctrl-w   ←");
    screen.advance_ms(1_499);
    assert_eq!(caps(&mut screen), "ctrl-w   ←");
    screen.advance_ms(1);
    assert_eq!(caps(&mut screen), "");
    screen.press_key("enter");
    assert_eq!(caps(&mut screen), "↵");
    screen.press_key("ctrl-c");
    assert_eq!(caps(&mut screen), "↵   ctrl-c");
}

#[test]
fn nothing_is_shown_or_due_unless_it_is_asked_for() {
    let mut screen = Screen::new();
    screen.press_key("ctrl-p");
    screen.press_key("down");
    assert_eq!((caps(&mut screen), screen.state.next_change()), (String::new(), None));
}

#[test]
fn answers_of_a_prompt_are_shown_but_not_what_is_typed_there() {
    let mut screen = enable(Screen::with_turn());
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.press_key("y");
    assert_eq!(caps(&mut screen), "", "the prompt does not listen yet: it is typed");
    let mut screen = enable(Screen::with_turn());
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2_000);
    screen.press_key("m");
    assert_eq!(caps(&mut screen), "m");
    screen.advance_ms(2_000);
    screen.type_text("why y");
    screen.press_key("ctrl-w");
    assert_eq!(caps(&mut screen), "");
    screen.press_key("enter");
    assert_eq!(caps(&mut screen), "↵");
    let mut screen = enable(Screen::with_turn());
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(2_000);
    for key in ["down", "down", "down", "2"] {
        screen.press_key(key);
    }
    assert_eq!(caps(&mut screen), "↓ ×3   2");
}

#[test]
fn filters_and_searches_are_text_and_pages_and_selections_have_keys() {
    let mut screen = Screen::with_turn();
    screen.run_call("bash_exec", command_intent("make"), "built");
    let mut screen = enable(screen);
    screen.press_key("ctrl-p");
    screen.type_text("help");
    screen.press_key("down");
    screen.press_key("esc");
    assert_eq!(caps(&mut screen), "ctrl-p   ↓   esc");
    screen.advance_ms(3_000);
    screen.press_key("ctrl-f");
    screen.type_text("yno");
    assert_eq!(caps(&mut screen), "ctrl-f");
    screen.press_key("esc");
    screen.advance_ms(3_000);
    screen.press_key("f1");
    screen.press_key("j");
    screen.press_key("x");
    screen.press_key("q");
    assert_eq!(caps(&mut screen), "f1   j   q", "x does nothing");
    screen.advance_ms(3_000);
    screen.press_key("alt-up");
    screen.press_key("w");
    assert_eq!(caps(&mut screen), "alt-↑   w");
}

#[test]
fn no_key_of_a_secret_is_shown_in_its_prompt_nor_in_its_popup() {
    let mut screen = enable(screen_with_prompt());
    screen.press_key("y");
    assert_eq!(caps(&mut screen), "y");
    screen.advance_ms(2_000);
    screen.type_text("Y1?n");
    for key in ["backspace", "left", "ctrl-a", "ctrl-u", "alt-y", "space"] {
        screen.press_key(key);
    }
    assert_eq!(caps(&mut screen), "");
    screen.type_text("secret");
    screen.press_key("enter");
    assert_eq!(caps(&mut screen), "↵");

    let mut screen = enable(Screen::new());
    screen.state.viewport.popups.push(crate::tui::popup::Popup::ApiKey(Default::default()));
    screen.type_text("sk-yn?");
    screen.press_key("ctrl-w");
    screen.press_key("backspace");
    assert_eq!(caps(&mut screen), "");
    screen.press_key("esc");
    assert_eq!(caps(&mut screen), "esc");
}

#[test]
fn a_paste_that_looks_like_an_answer_is_not_shown() {
    let mut screen = enable(Screen::with_turn());
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2_000);
    for character in "yes".chars() {
        screen.handle_event(Event::Key(key(&character.to_string())));
    }
    screen.advance_ms(100);
    assert_eq!(caps(&mut screen), "");
}

#[test]
fn caps_have_a_place_in_every_size_and_change_nothing_else() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (20, 6), (3, 2), (1, 1)] {
        let mut screen = enable(Screen::with_turn());
        screen.resize_screen(width, height);
        screen.receive_call("a", "bash_exec", command_intent("make"));
        screen.advance_ms(2_000);
        screen.press_key("down");
        let shown = shown(&mut screen);
        assert_eq!(shown.contains(" ↓ "), width >= 20, "{width}x{height}:\n{shown}");
        for (row, plain) in shown.lines().zip(screen.screen_text().lines()) {
            let changed = row.chars().zip(plain.chars()).filter(|(new, old)| new != old);
            assert!(changed.count() <= 5, "{row}\n{plain}");
        }
    }
}
