//! Fast typing: keys that arrive in bursts, are held, or were meant for another part of the screen.

use super::*;

fn screen_with_approval() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("cargo test"));
    screen.advance_ms(2000);
    screen
}

/// Presses keys so fast that none is handled before the next arrives.
fn press_burst(screen: &mut Screen, chords: &[&str]) {
    for chord in chords {
        screen.handle_event(Event::Tick(screen.state.timing.now + Duration::from_millis(3)));
        screen.handle_event(Event::Key(key(chord)));
        screen.handle_event(Event::InputIdle);
    }
    screen.advance_ms(20);
    screen.handle_event(Event::InputIdle);
}

#[test]
fn a_character_is_written_at_once_while_no_prompt_is_open() {
    let mut screen = Screen::new();
    screen.handle_event(Event::Key(key("a")));
    assert_eq!(screen.state.input.composer.text(), "a");
}

#[test]
fn r05_a_paste_received_as_single_keys_answers_nothing() {
    let mut screen = screen_with_approval();
    press_burst(&mut screen, &["y", "e", "s"]);
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "yes"));
    let mut screen = screen_with_approval();
    press_burst(&mut screen, &["n", "o"]);
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "no"));
}

#[test]
fn r05_keys_in_a_burst_answer_nothing() {
    let mut screen = screen_with_approval();
    screen.handle_event(Event::TooFast);
    screen.press_key("y");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "y"));
}

#[test]
fn r05_a_paste_after_its_first_character_is_written_completely() {
    let mut screen = screen_with_approval();
    screen.handle_event(Event::Key(key("y")));
    screen.handle_event(Event::Pasted("es, and more".into()));
    screen.advance_ms(100);
    screen.handle_event(Event::InputIdle);
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "yes, and more"));
}

#[test]
fn a_single_key_answers_after_an_unnoticeable_delay() {
    let mut screen = screen_with_approval();
    screen.handle_event(Event::Key(key("y")));
    assert_eq!(screen.count_decisions(), 0);
    let deadline = screen.state.next_change().expect("the delay has an end");
    assert!(deadline <= screen.state.timing.now + Duration::from_millis(15));
    screen.handle_event(Event::Tick(deadline));
    screen.handle_event(Event::InputIdle);
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r03_keys_typed_in_a_popup_do_not_answer_the_prompt_below() {
    for chord in ["ctrl-f", "f1", "ctrl-p", "alt-t"] {
        let mut screen = screen_with_approval();
        screen.press_key(chord);
        screen.advance_ms(2000);
        screen.press_key("esc");
        screen.advance_ms(100);
        screen.press_key("y");
        assert_eq!(screen.count_decisions(), 0, "{chord}");
        assert_eq!(screen.state.input.composer.text(), "y", "{chord}");
    }
}

#[test]
fn r07_a_covered_prompt_counts_as_unseen() {
    let mut screen = Screen::with_turn();
    screen.press_key("f1");
    screen.receive_call("a", "bash_exec", command_intent(&"long\n".repeat(10)));
    screen.advance_ms(2000);
    assert_eq!(screen.state.prompts.current.as_ref().and_then(|prompt| prompt.first_drawn()), None);
    screen.press_key("esc");
    screen.advance_ms(300);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn r04_a_held_key_answers_one_question_of_several() {
    for chord in ["1", "enter"] {
        let mut screen = Screen::with_turn();
        screen.receive_call("q", "ask_question", three_questions());
        screen.advance_ms(2000);
        for _ in 0..40 {
            screen.press_key(chord);
            screen.advance_ms(30);
        }
        assert_eq!(screen.count_decisions(), 0, "{chord}");
        // A digit only selects.
        let page = if chord == "enter" { "2 of 3" } else { "1 of 3" };
        assert!(screen.screen_text().contains(page), "{chord}: {}", screen.screen_text());
    }
}

#[test]
fn several_questions_can_be_answered_quickly() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", three_questions());
    screen.advance_ms(2000);
    for digit in ["1", "2", "3"] {
        screen.press_key(digit);
        screen.advance_ms(80);
        screen.press_key("enter");
        screen.advance_ms(80);
    }
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r05_enter_after_a_paste_does_not_send_a_written_answer() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(2000);
    screen.press_key("4");
    screen.handle_event(Event::TooFast);
    screen.handle_event(Event::Pasted("words from elsewhere".into()));
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 0);
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn enter_after_a_burst_ends_a_text_field_or_is_explained() {
    type BuildScreen = fn() -> Screen;
    let cases: [(&[&str], BuildScreen); 3] = [
        (&["m"], screen_with_approval),
        (&["l", "m"], screen_with_approval),
        (&["n"], || {
            let mut screen = Screen::with_turn();
            screen.receive_call("q", "ask_question", question_intent());
            screen.advance_ms(2000);
            screen
        }),
    ];
    for (chords, build_screen) in cases {
        let mut screen = build_screen();
        for chord in chords {
            screen.press_key(chord);
            screen.advance_ms(2000);
        }
        screen.handle_event(Event::TooFast);
        screen.press_key("o");
        screen.press_key("k");
        screen.press_key("enter");
        let text = screen.screen_text();
        assert!(screen.state.is_typing_in_prompt() && screen.count_decisions() == 0, "{text}");
        assert!(text.contains("press it again"), "{chords:?}: {text}");
        screen.advance_ms(250);
        screen.press_key("enter");
        assert!(
            !screen.state.is_typing_in_prompt() && screen.state.input.composer.is_empty(),
            "{}",
            screen.screen_text()
        );
    }
}

#[test]
fn r36_a_web_address_is_shown_before_it_is_opened() {
    let mut screen = Screen::with_entries([reply_entry("see https://example.com/a?b=c for more"), turn_end()]);
    let count_opened =
        |screen: &Screen| screen.effects.iter().filter(|effect| matches!(effect, Effect::OpenWeb(_))).count();
    screen.press_key("ctrl-o");
    screen.press_key("a");
    let text = screen.screen_text();
    assert!(text.contains("Open this address?") && text.contains("https://example.com/a?b=c"), "{text}");
    screen.press_key("esc");
    assert_eq!(count_opened(&screen), 0);
    screen.press_key("ctrl-o");
    screen.press_key("a");
    screen.press_key("enter");
    assert_eq!(count_opened(&screen), 1);
    screen.press_key("ctrl-o");
    screen.press_key("A");
    assert!(screen.effects.contains(&Effect::CopyText("https://example.com/a?b=c".into())));
}

#[test]
fn a_draft_stays_with_its_session() {
    use crate::tui::host::{HostReply, HostRequest, SessionRow};
    let mut screen = Screen::new();
    screen.type_text("half a thought");
    screen.press_key("alt-s");
    let row = SessionRow {
        id: SessionId("02".into()),
        title: "other".into(),
        last_used: String::new(),
        is_dry_run: false,
        is_copy: false,
        has_open_question: false,
        parked_note: None,
    };
    screen.handle_event(Event::Host(HostReply::Sessions(vec![row])));
    screen.effects.clear();
    screen.press_key("enter");
    let Some(Effect::Request(HostRequest::SaveUnsent(session, unsent))) = screen.effects.first() else {
        panic!("the draft is saved first: {:?}", screen.effects)
    };
    assert_eq!((session.0.as_str(), unsent.text().as_str()), ("01J", "half a thought"));
    assert_eq!(screen.effects[1..], [Effect::Request(HostRequest::OpenSession(SessionId("02".into())))]);
}

/// A session to open: the session `02`, as a copy of the session `from` if given.
pub fn opened_session(from: Option<&str>) -> crate::tui::host::Opened {
    crate::tui::host::Opened {
        approvals: None,
        session: SessionId("02".into()),
        copied_from: from.map(|id| SessionId(id.into())),
        agent: agent::State::new(Policy::default(), "m".into(), String::new(), vec![]),
        link: crate::tui::host::AgentLink {
            file: Box::new(NullSessionFile),
            run: Box::new(|_| None),
            events: tokio::sync::mpsc::channel(1).1,
            forward: Box::new(|_| crate::tui::host::ForwardEnd::Returned),
        },
        connection: Default::default(),
        unsent: UnsentText::default(),
        folder: "/other".into(),
        history: vec!["said there".into()],
        location: "~/other".into(),
    }
}

#[test]
fn a_session_is_forked_only_between_turns() {
    use crate::tui::host::HostRequest;
    let try_fork = |screen: &mut Screen| {
        screen.effects.clear();
        screen.send_text("/fork");
        screen
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Request(HostRequest::ForkSession(id, ForkMode::Unchanged)) if id.0 == "01J"))
    };
    let mut screen = Screen::new();
    assert!(!try_fork(&mut screen) && screen.screen_text().contains("Nothing to copy yet"), "{}", screen.screen_text());
    screen.send_text("go");
    assert!(
        !try_fork(&mut screen) && screen.screen_text().contains("Wait for the end of the turn"),
        "{}",
        screen.screen_text()
    );
    screen.receive_reply("Done.");
    assert!(try_fork(&mut screen), "{:?}", screen.effects);
}

#[test]
fn a_session_picked_from_the_list_is_forked() {
    use crate::tui::host::{HostReply, HostRequest, SessionRow};
    use crate::tui::popup::PickedAction;
    let mut screen = Screen::new();
    let effects = update::apply_start_options(
        &mut screen.state,
        String::new(),
        None,
        Some(PickedAction::Fork(ForkMode::Unchanged)),
    );
    assert!(effects.contains(&Effect::Request(HostRequest::ListSessions)), "{effects:?}");
    let row = SessionRow {
        id: SessionId("02".into()),
        title: "other".into(),
        last_used: String::new(),
        is_dry_run: true,
        is_copy: true,
        has_open_question: false,
        parked_note: None,
    };
    screen.handle_event(Event::Host(HostReply::Sessions(vec![row])));
    let text = screen.screen_text();
    assert!(text.contains("Continue in a copy of") && text.contains("copy, dry run"), "{text}");
    screen.press_key("enter");
    assert!(
        screen
            .effects
            .contains(&Effect::Request(HostRequest::ForkSession(SessionId("02".into()), ForkMode::Unchanged))),
        "{:?}",
        screen.effects
    );
}

#[test]
fn a_fork_keeps_the_mode_and_another_session_does_not() {
    use crate::policy::Mode;
    use crate::tui::host::HostReply;
    for (from, mode) in [(Some("01J"), Mode::Plan), (Some("03"), Mode::Ask), (None, Mode::Ask)] {
        let mut screen = Screen::new();
        screen.handle_event(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
        assert_eq!(screen.state.agent.policy.mode, Mode::Plan);
        screen.handle_event(Event::Host(HostReply::Opened(Box::new(opened_session(from)))));
        assert_eq!(screen.state.agent.policy.mode, mode, "{from:?}");
    }
}

#[test]
fn opening_a_session_loads_its_folder_and_history() {
    use crate::tui::host::HostReply;
    let mut screen = Screen::new();
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(opened_session(None)))));
    assert_eq!(screen.state.settings.folder, std::path::Path::new("/other"));
    screen.press_key("up");
    assert_eq!(screen.state.input.composer.text(), "said there");
}

#[test]
fn r20_the_mode_does_not_change_while_a_prompt_is_open() {
    let mut screen = screen_with_approval();
    let mode = screen.state.agent.policy.mode;
    screen.press_key("tab");
    screen.advance_ms(700);
    screen.handle_event(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
    assert_eq!(screen.state.agent.policy.mode, mode);
}

#[test]
fn r03_enter_held_since_sending_answers_nothing_and_is_explained() {
    for pause in [200, 450, 600, 800, 1_200, 1_500] {
        let mut screen = Screen::new();
        screen.type_text("go");
        screen.press_key("enter");
        screen.advance_ms(50);
        screen.receive_call("q", "ask_question", question_intent());
        screen.advance_ms(pause);
        for _ in 0..60 {
            screen.press_key("enter");
            screen.advance_ms(33);
        }
        assert_eq!(screen.count_decisions(), 0, "{pause}");
        let text = screen.screen_text();
        assert!(text.contains("enter may still be held") || text.contains("Too fast"), "{text}");
        // The key was released and is pressed deliberately. The first press may only be explained.
        screen.advance_ms(700);
        screen.press_key("enter");
        screen.advance_ms(1_000);
        screen.press_key("enter");
        assert!(screen.count_decisions() > 0, "{pause}: {}", screen.screen_text());
    }
}

/// Also if Tab gave the prompt the keyboard before, with an empty draft or in the middle of one.
#[test]
fn a_letter_typed_into_the_draft_takes_the_keyboard_from_the_prompt() {
    for draft in ["", "hello"] {
        let mut screen = screen_with_approval();
        screen.type_text(draft);
        screen.press_key("tab");
        screen.advance_ms(2000);
        screen.type_text("w");
        screen.advance_ms(2000);
        screen.press_key("y");
        let text = screen.state.input.composer.text();
        assert_eq!((screen.count_decisions(), text.as_str()), (0, format!("{draft}wy").as_str()));
        screen.press_key("tab");
        screen.advance_ms(2000);
        screen.press_key("y");
        assert_eq!(screen.count_decisions(), 1, "{draft}");
    }
}

/// A frame takes long enough for a prompt to become ready while it is drawn: nothing else would draw the next one.
#[test]
fn a_slow_frame_is_followed_by_one_with_the_state_of_its_end() {
    let mut screen = screen_with_approval();
    screen.handle_event(Event::Focused(true));
    let mut draw_until = |ms| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        let drawn = view::draw_screen(&screen.state, &mut screen.cache, &mut buffer);
        let now = screen.state.timing.now + Duration::from_millis(ms);
        update::record_frame(&mut screen.state, now, drawn.prompt)
    };
    assert!(!draw_until(100));
    assert!(draw_until(600), "the prompt became ready");
    assert!(!draw_until(600));
}
