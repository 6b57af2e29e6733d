//! Properties that hold for every sequence of events.

use super::*;
use proptest::prelude::*;

fn any_events() -> impl Strategy<Value = Vec<(u8, u16, String)>> {
    prop::collection::vec((0u8..24, any::<u16>(), "\\PC{0,40}|[a-z #`*\n]{0,60}"), 1..60)
}

/// Applies one event, chosen by three values.
fn apply_random_event(screen: &mut Screen, (kind, number, text): (u8, u16, String)) {
    const KEYS: [&str; 24] = [
        "enter",
        "esc",
        "tab",
        "up",
        "down",
        "page-up",
        "page-down",
        "ctrl-home",
        "ctrl-end",
        "ctrl-up",
        "ctrl-down",
        "ctrl-f",
        "ctrl-o",
        "ctrl-p",
        "alt-t",
        "alt-s",
        "alt-y",
        "alt-up",
        "alt-down",
        "f1",
        "y",
        "/",
        "backspace",
        "ctrl-q",
    ];
    let turn = screen.state.agent.current_turn();
    match kind {
        0..=8 => screen.press_key(KEYS[usize::from(number) % KEYS.len()]),
        9 => screen.type_text(&text.chars().filter(|c| !c.is_control()).take(12).collect::<String>()),
        10 => screen.handle_event(Event::Pasted(text)),
        11 => screen.advance_ms(u64::from(number % 3000)),
        12 => screen.resize_screen(number % 120 + 1, number / 120 % 50 + 1),
        13..=16 if turn.is_some() => screen.receive_chunk(Chunk::Text(text)),
        17 if turn.is_some() => screen.receive_chunk(Chunk::Reasoning(text)),
        18 if turn.is_some() => screen.receive_chunk(Chunk::Done(FinishReason::Stop)),
        19 if turn.is_some() => {
            let id = CallId(format!("c{number}"));
            // Successful reads are folded.
            let name = if number % 2 == 0 { "read_file".to_owned() } else { text };
            screen.receive_chunk(Chunk::Call(ToolCall { id, name, arguments: "{}".into() }));
        }
        // The scroll bar is grabbed, dragged or released.
        23 => {
            use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
            let (columns, rows) = screen.state.viewport.size;
            let (column, row) = (columns - 1, number % rows.max(1));
            let kind = match number % 3 {
                0 => MouseEventKind::Down(MouseButton::Left),
                1 => MouseEventKind::Drag(MouseButton::Left),
                _ => MouseEventKind::Up(MouseButton::Left),
            };
            screen.handle_event(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        }
        20..=22 if turn.is_some() => {
            let open_calls = screen.state.agent.session.open_calls();
            let Some(id) = open_calls.get(usize::from(number) % open_calls.len().max(1)).cloned() else { return };
            match number % 4 {
                0 => screen.finish_planning(&id.0, command_intent(&text)),
                1 => screen.finish_planning(&id.0, read_intent(&text)),
                2 => screen.finish_planning(&id.0, question_intent()),
                _ => screen.finish_call(&id.0, Outcome::Done(text)),
            }
        }
        _ => screen.handle_event(Event::Agent(agent::Event::UserMessage(text))),
    }
    screen.draw_frame();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_cache_draws_the_same_screen(events in any_events()) {
        let mut screen = Screen::new();
        for event in events {
            apply_random_event(&mut screen, event);
            let cached_text = screen.screen_text();
            let cache = std::mem::take(&mut screen.cache);
            let uncached_text = screen.screen_text();
            screen.cache = cache;
            prop_assert_eq!(cached_text, uncached_text);
        }
    }

    #[test]
    fn r32_no_control_character_is_drawn(events in any_events(), evil in "\\PC{0,4}[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}]{1,9}\\PC{0,9}") {
        let mut screen = Screen::new();
        // The leading character is needed because blanks alone start no turn.
        let evil = format!("x{evil}");
        screen.handle_event(Event::Agent(agent::Event::UserMessage(evil.clone())));
        screen.receive_chunk(Chunk::Text(evil));
        for event in events {
            apply_random_event(&mut screen, event);
            for cell in &screen.draw_frame().content {
                prop_assert!(!cell.symbol().chars().any(char::is_control), "{:?}", cell.symbol());
            }
        }
    }

    #[test]
    fn r34_any_size_is_drawn(width in 1u16..500, height in 1u16..200, text in "\\PC{0,300}") {
        let mut screen = Screen::with_entries([user_message(&text), reply_entry(&text), turn_end()]);
        screen.resize_screen(width, height);
        screen.send_text("go");
        screen.receive_call("a", "bash_exec", command_intent(&text));
        for chord in ["f1", "esc", "ctrl-p", "esc", "page-up", "ctrl-f"] {
            screen.press_key(chord);
        }
        screen.resize_screen(height, width.min(200));
    }
}

#[test]
fn r34_the_smallest_and_the_largest_screens_are_drawn() {
    for (width, height) in [(1, 1), (1, 200), (500, 1), (2, 2), (3, 3), (500, 200)] {
        let mut screen =
            Screen::with_entries([user_message("hi"), reply_entry("# a\n\n- 漢字 👩\u{200d}👧"), turn_end()]);
        screen.send_text("go");
        screen.receive_call("q", "ask_question", question_intent());
        screen.resize_screen(width, height);
        screen.press_key("ctrl-p");
    }
}
