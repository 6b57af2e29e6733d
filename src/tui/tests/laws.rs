//! Properties that hold for every sequence of events.

use super::*;
use proptest::prelude::*;

fn anything() -> impl Strategy<Value = Vec<(u8, u16, String)>> {
    prop::collection::vec((0u8..24, any::<u16>(), "\\PC{0,40}|[a-z #`*\n]{0,60}"), 1..60)
}

/// Applies one event, chosen by three values.
fn happen(screen: &mut Screen, (what, number, text): (u8, u16, String)) {
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
    let turn = screen.state.agent.turn();
    match what {
        0..=8 => screen.presses(KEYS[usize::from(number) % KEYS.len()]),
        9 => screen.types(&text.chars().filter(|c| !c.is_control()).take(12).collect::<String>()),
        10 => screen.happens(Event::Pasted(text)),
        11 => screen.waits(u64::from(number % 3000)),
        12 => screen.resized(number % 120 + 1, number / 120 % 50 + 1),
        13..=16 if turn.is_some() => screen.chunk(Chunk::Text(text)),
        17 if turn.is_some() => screen.chunk(Chunk::Reasoning(text)),
        18 if turn.is_some() => screen.chunk(Chunk::Done(Finish::Stop)),
        19 if turn.is_some() => {
            let id = CallId(format!("c{number}"));
            screen.chunk(Chunk::Call(ToolCall { id, name: text, arguments: "{}".into() }));
        }
        // The scroll bar is grabbed, dragged and released.
        23 => {
            use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
            let (columns, rows) = screen.state.size;
            let (column, row) = (columns - 1, number % rows.max(1));
            let kind = match number % 3 {
                0 => MouseEventKind::Down(MouseButton::Left),
                1 => MouseEventKind::Drag(MouseButton::Left),
                _ => MouseEventKind::Up(MouseButton::Left),
            };
            screen.happens(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        }
        20..=22 if turn.is_some() => {
            let open = screen.state.agent.session.open_calls();
            let Some(id) = open.get(usize::from(number) % open.len().max(1)).cloned() else { return };
            match number % 4 {
                0 => screen.planned(&id.0, command(&text)),
                1 => screen.planned(&id.0, read(&text)),
                2 => screen.planned(&id.0, question()),
                _ => screen.finished(&id.0, Outcome::Done(text)),
            }
        }
        _ => screen.happens(Event::Agent(agent::Event::Said(text))),
    }
    screen.frame();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_empty_cache_draws_the_same_screen(events in anything()) {
        let mut screen = Screen::new();
        for event in events {
            happen(&mut screen, event);
            let with = screen.shows();
            let kept = std::mem::take(&mut screen.cache);
            let without = screen.shows();
            screen.cache = kept;
            prop_assert_eq!(with, without);
        }
    }

    #[test]
    fn r32_no_control_character_is_drawn(events in anything(), evil in "\\PC{0,4}[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}]{1,9}\\PC{0,9}") {
        let mut screen = Screen::new();
        // The leading character is needed because blanks alone start no turn.
        let evil = format!("x{evil}");
        screen.happens(Event::Agent(agent::Event::Said(evil.clone())));
        screen.chunk(Chunk::Text(evil));
        for event in events {
            happen(&mut screen, event);
            for cell in &screen.frame().content {
                prop_assert!(!cell.symbol().chars().any(char::is_control), "{:?}", cell.symbol());
            }
        }
    }

    #[test]
    fn r34_any_size_is_drawn(width in 1u16..500, height in 1u16..200, text in "\\PC{0,300}") {
        let mut screen = Screen::with([said(&text), replied(&text), ended()]);
        screen.resized(width, height);
        screen.says("go");
        screen.calls("a", "bash_exec", command(&text));
        for chord in ["f1", "esc", "ctrl-p", "esc", "page-up", "ctrl-f"] {
            screen.presses(chord);
        }
        screen.resized(height, width.min(200));
    }
}

#[test]
fn r34_the_smallest_and_the_largest_screens_are_drawn() {
    for (width, height) in [(1, 1), (1, 200), (500, 1), (2, 2), (3, 3), (500, 200)] {
        let mut screen = Screen::with([said("hi"), replied("# a\n\n- 漢字 👩\u{200d}👧"), ended()]);
        screen.says("go");
        screen.calls("q", "ask_question", question());
        screen.resized(width, height);
        screen.presses("ctrl-p");
    }
}
