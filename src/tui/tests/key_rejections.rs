//! A key that a prompt rejects is explained in the prompt, with the keys that work.

use super::*;
use crate::tui::parts::listening::QUIET_TIME;

/// A command that has waited for approval for 10 + `ms` milliseconds.
fn screen_with_approval(ms: u64) -> Screen {
    let mut screen = Screen::with_turn();
    screen.advance_ms(1000);
    screen.receive_call("a", "bash_exec", command_intent("ls"));
    screen.advance_ms(10);
    screen.advance_ms(ms);
    screen
}

/// Returns the bottom border of the prompt.
fn bottom_border(screen: &mut Screen) -> String {
    let text = screen.screen_text();
    let border = text.lines().rfind(|row| row.starts_with(['╰', '┗'])).unwrap_or_default();
    border.trim_matches(['╰', '┗', '╯', '┛', '─', '━']).trim().to_owned()
}

#[test]
fn a_key_pressed_too_soon_is_reported_as_written_to_the_draft() {
    let mut screen = screen_with_approval(100);
    screen.press_key("y");
    assert_eq!(bottom_border(&mut screen), "Too fast: “y” was typed into your message · tab to answer");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "y"));
    screen.type_text("es");
    assert_eq!(bottom_border(&mut screen), "keys go to the composer · tab to answer");
    screen.press_key("tab");
    screen.advance_ms(600);
    assert!(bottom_border(&mut screen).starts_with("y approve · "));
    screen.press_key("y");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (1, "yes"));
}

/// The words of a denial are kept when its line is closed, and typed keys stay together around a key that selects a row.
#[test]
fn the_message_of_a_denial_survives_leaving_its_line() {
    let mut screen = Screen::with_turn();
    screen.receive_call("r", "read_file", read_intent("src/a.rs"));
    screen.finish_call("r", Outcome::Done("fn main() {}\n".into()));
    screen.receive_call("a", "bash_exec", command_intent("ls"));
    screen.advance_ms(2000);
    screen.press_key("m");
    screen.type_text("use ");
    screen.press_key("alt-up");
    screen.type_text("rg instead");
    let text = screen.screen_text();
    assert!(text.contains("deny: use rg instead") && screen.state.input.composer.is_empty(), "{text}");
    screen.press_key("esc");
    assert!(!screen.screen_text().contains("deny: "), "{}", screen.screen_text());
    screen.advance_ms(2000);
    screen.press_key("m");
    assert!(screen.screen_text().contains("deny: use rg instead"), "{}", screen.screen_text());
    screen.advance_ms(2000);
    screen.press_key("enter");
    let decision = screen.state.agent.session.entries().iter().find_map(|entry| match entry {
        Entry::Decided { decision, .. } => Some(decision.clone()),
        _ => None,
    });
    assert_eq!(decision, Some(Decision::Deny("use rg instead".into())));
}

/// While keys go to the transcript, no prompt says what they would do in it, also while a text field is open.
#[test]
fn a_prompt_without_the_focus_says_where_keys_go() {
    for opens_field in [false, true] {
        let mut screen = Screen::with_turn();
        screen.receive_call("r", "read_file", read_intent("src/a.rs"));
        screen.finish_call("r", Outcome::Done("fn main() {}\n".into()));
        screen.receive_call("a", "bash_exec", command_intent("ls"));
        screen.advance_ms(2000);
        if opens_field {
            screen.press_key("m");
            screen.type_text("not now");
            assert!(bottom_border(&mut screen).contains("enter deny"), "{}", screen.screen_text());
        }
        screen.press_key("alt-up");
        let text = screen.screen_text();
        assert_eq!(bottom_border(&mut screen), "keys go to the transcript · esc to answer", "{text}");
        assert!(text.contains("enter open") && !text.contains("enter deny"), "{text}");
        screen.press_key("enter");
        assert_eq!(screen.count_decisions(), 0, "{}", screen.screen_text());
        screen.press_key("esc");
        screen.press_key("ctrl-f");
        assert_eq!(bottom_border(&mut screen), "keys go to the search · esc to answer", "{text}");
        screen.press_key("esc");
        screen.advance_ms(2000);
        let expected = if opens_field { "enter deny" } else { "y approve" };
        assert!(bottom_border(&mut screen).contains(expected), "{}", screen.screen_text());
    }
}

#[test]
fn a_narrow_prompt_names_the_key_that_was_typed_instead_of_the_key_that_answers() {
    for (width, expected) in [
        (63, "Too fast: “y” was typed into your message · tab to answer"),
        (62, "Too fast: “y” was typed into your message"),
        (60, "Too fast: “y” was typed into your message"),
    ] {
        let mut screen = screen_with_approval(100);
        screen.resize_screen(width, 15);
        screen.press_key("y");
        assert_eq!(bottom_border(&mut screen), expected, "{width} columns");
    }
}

#[test]
fn enter_capitals_and_repeated_keys_are_explained() {
    let mut screen = screen_with_approval(600);
    screen.press_key("enter");
    assert_eq!(
        (bottom_border(&mut screen).as_str(), screen.count_decisions()),
        ("Enter does not answer · y approve, n deny", 0)
    );
    screen.advance_ms(600);
    screen.press_key("Y");
    assert_eq!(bottom_border(&mut screen), "Y is for destructive calls only · y to approve");
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1, "the explanation does not delay an answer");
    let mut screen = Screen::with_turn();
    for id in ["a", "b"] {
        let arguments = format!(r#"{{"command":"echo {id}"}}"#);
        screen.receive_chunk(Chunk::Call(ToolCall { id: id.into(), name: "bash_exec".into(), arguments }));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("a", command_intent("echo a"));
    screen.advance_ms(600);
    screen.press_key("n");
    screen.finish_planning("b", command_intent("echo b"));
    screen.advance_ms(100);
    screen.press_key("n");
    assert_eq!(bottom_border(&mut screen), "n may still be held · release it, then press it again");
    screen.advance_ms(600);
    screen.press_key("n");
    assert_eq!(screen.count_decisions(), 2);
}

#[test]
fn an_explanation_stays_until_the_next_key_without_wake_ups() {
    let mut screen = screen_with_approval(600);
    screen.press_key("Y");
    screen.advance_ms(5000);
    let (text, next_change) = (screen.screen_text(), screen.state.next_change());
    assert!(text.contains("Y is for destructive calls only"), "{text}");
    assert_eq!(next_change, None);
    screen.advance_ms(60_000);
    assert_eq!(screen.screen_text(), text, "it stays as it is");
    screen.press_key("d");
    assert!(bottom_border(&mut screen).starts_with("d back to prompt"));
}

#[test]
fn r03_explanations_do_not_change_what_answers_a_prompt() {
    // The same keys at the same times, with and without rejected keys before them.
    for rejected_keys in ["", "Y", "YY", "YdYd"] {
        let mut screen = screen_with_approval(600);
        for character in rejected_keys.chars() {
            screen.press_key(&character.to_string());
            screen.advance_ms(u64::try_from(QUIET_TIME.as_millis()).unwrap());
        }
        screen.press_key("y");
        assert_eq!(screen.count_decisions(), 1, "{rejected_keys}");
    }
    let mut screen = screen_with_approval(100);
    for _ in 0..20 {
        screen.press_key("enter");
        screen.advance_ms(100);
    }
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn question_explains_rejected_keys_and_missing_answers() {
    let option = |label: &str| QuestionOption::new(label);
    let build_question = |keyword: &str| Question {
        keyword: keyword.into(),
        text: format!("{keyword}?"),
        options: ["a", "b"].map(option).to_vec(),
        is_multiple: false,
        allow_text: false,
        text_description: String::new(),
        recommended: None,
    };
    let mut screen = Screen::with_turn();
    let list = vec![build_question("first"), build_question("second")];
    screen.receive_call("q", "ask_question", Intent::Ask(Questions { list, dropped: Dropped::default() }));
    screen.advance_ms(100);
    screen.press_key("enter");
    assert_eq!(bottom_border(&mut screen), "Too fast, not counted · press it again");
    screen.advance_ms(600);
    screen.press_key("7");
    assert_eq!(bottom_border(&mut screen), "No option 7 · 1-2 to pick");
    screen.press_key("tab");
    screen.press_key("tab");
    screen.press_key("enter");
    assert_eq!(bottom_border(&mut screen), "No answers yet · esc for later, x to decline");
    screen.press_key("8");
    assert_eq!(bottom_border(&mut screen), "No question 8 · 1-2 to pick");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, ""));
}

/// A screen with a question that has no options, after `first_questions` with options.
fn screen_with_text_question(first_questions: usize) -> Screen {
    let Intent::Ask(mut questions) = three_questions() else { panic!("it asks") };
    questions.list.truncate(first_questions + 1);
    questions.list[first_questions].options.clear();
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", Intent::Ask(questions));
    screen
}

#[test]
fn text_typed_before_a_text_question_was_seen_is_named_and_the_field_can_be_reached() {
    let mut screen = screen_with_text_question(0);
    screen.advance_ms(100);
    screen.press_key("s");
    assert_eq!(bottom_border(&mut screen), "Too fast: “s” was typed into your message · tab to answer");
    screen.type_text("vc");
    assert_eq!(bottom_border(&mut screen), "keys go to the composer · tab to answer");
    screen.handle_event(Event::Pasted("-1".into()));
    assert_eq!(screen.state.input.composer.text(), "svc-1", "a paste goes where the keys go");
    assert!(!screen.state.is_typing_in_prompt(), "the cursor is in the composer");
    screen.press_key("tab");
    screen.advance_ms(600);
    assert!(screen.state.is_typing_in_prompt() && bottom_border(&mut screen).starts_with("enter send"));
    screen.press_key("enter");
    assert_eq!(bottom_border(&mut screen), "No answer written yet · esc to leave it");
    screen.type_text("api");
    assert!(screen.screen_text().contains("│ ❯ api"), "{}", screen.screen_text());
    screen.press_key("enter");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (1, "svc-1"));
}

#[test]
fn text_typed_right_after_turning_to_a_text_question_is_its_text() {
    for (turn_key, burst) in [("tab", true), ("tab", false), ("enter", true), ("enter", false)] {
        let mut screen = screen_with_text_question(1);
        screen.advance_ms(2000);
        screen.press_key("1");
        screen.advance_ms(600);
        screen.press_key(turn_key);
        if burst {
            screen.handle_event(Event::TooFast);
        }
        screen.type_text("svc");
        let text = screen.screen_text();
        assert!(text.contains("│ ❯ svc") && screen.state.input.composer.is_empty(), "{turn_key}, {burst}: {text}");
        assert!(text.contains("a ✓ │ ❯ b │ review"), "{text}");
    }
}

#[test]
fn r02_only_approval_keys_approve() {
    let was_approved = |screen: &Screen| {
        let runs_call = |effect: &Effect| match effect {
            Effect::Agent(effects) => effects.iter().any(|effect| matches!(effect, agent::Effect::RunCall { .. })),
            _ => false,
        };
        let is_approval = |entry: &Entry| matches!(entry, Entry::Decided { decision: Decision::Once, .. });
        screen.effects.iter().any(runs_call) || screen.state.agent.session.entries().iter().any(is_approval)
    };
    let interactions: [fn(&mut Screen); 9] = [
        |screen| screen.advance_ms(3 * 24 * 3_600_000),
        |screen| screen.resize_screen(20, 5),
        |screen| screen.resize_screen(1, 1),
        |screen| screen.handle_event(Event::TerminalLost),
        |screen| screen.handle_event(Event::Pasted("y\ny\n".into())),
        |screen| screen.press_key("ctrl-c"),
        |screen| screen.press_key("esc"),
        |screen| screen.press_key("n"),
        |screen| ["enter", "q", "1", "f5", "tab", " ", "enter"].into_iter().for_each(|key| screen.press_key(key)),
    ];
    for (index, interact) in interactions.into_iter().enumerate() {
        for ms in [0, 600] {
            let mut screen = screen_with_approval(ms);
            interact(&mut screen);
            screen.advance_ms(1000);
            interact(&mut screen);
            assert!(!was_approved(&screen), "{index}, {ms} ms after it came");
        }
    }
}
