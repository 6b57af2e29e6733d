//! Keys, pastes and clicks for the question prompt.

use super::link_screens::{answer_checks, modifiers_at};
use super::*;
use crate::tui::host::{AgentLink, HostReply, HostRequest, Opened};

fn screen_with_question() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen
}

/// Returns the drafts of answers that the screen has saved, oldest first.
fn saved_drafts(screen: &Screen) -> Vec<String> {
    saved_drafts_after(screen, "")
}

/// Returns the drafts of answers saved after the draft `previous`. Repeats are removed: unchanged answers are saved
/// again whenever another draft of the session is saved.
fn saved_drafts_after(screen: &Screen, previous: &str) -> Vec<String> {
    let saved_questions = |effect: &Effect| match effect {
        Effect::Request(HostRequest::SaveUnsent(session, unsent)) => {
            assert_eq!(session.0, "01J");
            Some(unsent.questions.concat())
        }
        _ => None,
    };
    let mut drafts = vec![previous.to_owned()];
    drafts.extend(screen.effects.iter().filter_map(saved_questions));
    drafts.dedup();
    drafts.split_off(1)
}

/// Reopens the session with a saved draft of its answers.
fn reopen_session(old_screen: &Screen, draft: &str) -> Screen {
    let mut screen = Screen::new();
    let new_agent = agent::State::new(Policy::default(), "m".into(), String::new(), vec![]);
    let entries = old_screen.state.agent.session.entries().to_vec();
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(Opened {
        approvals: None,
        copied_from: None,
        connection: Default::default(),
        session: SessionId("01J".into()),
        agent: agent::resume_session(Session::replay(entries), new_agent, &Default::default()).0,
        link: AgentLink {
            file: Box::new(NullSessionFile),
            run: Box::new(|_| None),
            events: tokio::sync::mpsc::channel(1).1,
            forward: Box::new(|_| crate::tui::host::ForwardEnd::Returned),
        },
        unsent: UnsentText { questions: vec![draft.to_owned()], ..UnsentText::default() },
        folder: "/project".into(),
        history: Vec::new(),
        location: String::new(),
    }))));
    screen.draw_frame();
    screen
}

#[test]
fn r03_keys_pressed_before_a_question_was_seen_pick_nothing() {
    for chord in ["1", "2", "enter", " ", "x", "n"] {
        let mut screen = screen_with_question();
        screen.advance_ms(100);
        screen.press_key(chord);
        screen.advance_ms(2000);
        assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0), "{chord}");
    }
}

#[test]
fn r03_digits_typed_ahead_are_written_and_pick_nothing() {
    let mut screen = Screen::with_turn();
    screen.type_text("1 2 ");
    screen.receive_call("q", "ask_question", question_intent());
    screen.type_text("3 1122x n");
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0));
    assert_eq!(screen.state.input.composer.text(), "1 2 3 1122x n");
    screen.advance_ms(2000);
    screen.press_key("2");
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 0, "keys go to the draft while there is one");
}

#[test]
fn r04_a_held_key_advances_one_question() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", three_questions());
    screen.advance_ms(600);
    for _ in 0..100 {
        screen.press_key("enter");
        screen.advance_ms(30);
    }
    assert_eq!(screen.count_decisions(), 0);
    assert!(screen.screen_text().contains("2 of 3 · 1 answered"), "{}", screen.screen_text());
}

#[test]
fn r04_held_enter_ticks_one_option_and_sends_nothing() {
    let Intent::Ask(mut questions) = question_intent() else { panic!("it asks") };
    questions.list[0].is_multiple = true;
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", Intent::Ask(questions));
    screen.advance_ms(600);
    for _ in 0..100 {
        screen.press_key("enter");
        screen.advance_ms(30);
    }
    assert_eq!(screen.count_decisions(), 0);
    assert!(screen.screen_text().contains("[x] tokio"), "{}", screen.screen_text());
    screen.advance_ms(600);
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r05_a_paste_picks_nothing_and_is_inserted_as_text() {
    let mut screen = screen_with_question();
    screen.advance_ms(2000);
    screen.handle_event(Event::Pasted("2\n".into()));
    screen.advance_ms(2000);
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0));
    assert!(screen.state.input.composer.text().starts_with('2'));
    let mut screen = screen_with_question();
    screen.advance_ms(2000);
    screen.press_key("4");
    screen.handle_event(Event::Pasted("1\nx\n".into()));
    let text = screen.screen_text();
    assert!(text.contains("│ ❯ 1") && screen.state.input.composer.is_empty(), "{text}");
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn line_break_keys_do_nothing_in_a_note() {
    let mut screen = screen_with_question();
    screen.advance_ms(2000);
    screen.press_key("n");
    screen.press_key("a");
    screen.press_key("alt-enter");
    screen.press_key("b");
    assert!(
        screen.screen_text().contains("note ab") && screen.state.input.composer.is_empty(),
        "{}",
        screen.screen_text()
    );
}

#[test]
fn r05_a_paste_without_bracketed_paste_picks_nothing() {
    let mut screen = screen_with_question();
    screen.advance_ms(2000);
    for chord in ["2", "enter", "1"] {
        screen.handle_event(Event::Key(key(chord)));
    }
    screen.handle_event(Event::TooFast);
    screen.advance_ms(2000);
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0));
    assert!(screen.state.input.composer.text().contains('2'));
}

#[test]
fn r06_focusing_the_window_answers_no_question() {
    let mut screen = screen_with_question();
    screen.advance_ms(2000);
    screen.handle_event(Event::Focused(true));
    screen.press_key("2");
    screen.press_key("enter");
    screen.advance_ms(2000);
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0));
}

#[test]
fn r16_a_question_has_no_timeout() {
    let mut screen = screen_with_question();
    screen.advance_ms(1000 * 60 * 60 * 24 * 365);
    assert_eq!(screen.count_decisions(), 0);
    assert!(screen.screen_text().contains("Which clock"));
}

#[test]
fn r16_repeated_esc_parks_a_question_without_losing_it() {
    let mut screen = screen_with_question();
    screen.advance_ms(600);
    screen.press_key("2");
    screen.press_key("esc");
    screen.advance_ms(100);
    screen.press_key("esc");
    assert!(!screen.state.agent.is_idle() && screen.state.prompts.current.is_some());
    assert!(screen.screen_text().contains("without an answer"), "{}", screen.screen_text());
    screen.advance_ms(1100);
    screen.press_key("ctrl-q");
    assert!(screen.screen_text().contains("✓ a trait"), "{}", screen.screen_text());
    screen.press_key("esc");
    screen.press_key("alt-x");
    screen.advance_ms(600);
    assert!(screen.screen_text().contains("x again to decline"), "{}", screen.screen_text());
    screen.press_key("x");
    assert!(
        screen.count_decisions() == 0 && screen.screen_text().contains("Declining in 5 s"),
        "{}",
        screen.screen_text()
    );
    screen.advance_ms(5000);
    assert!(screen.count_decisions() == 1 && screen.screen_text().contains("declined"), "{}", screen.screen_text());
}

#[test]
fn quitting_with_ctrl_c_keeps_the_question() {
    let mut screen = screen_with_question();
    screen.advance_ms(600);
    screen.press_key("2");
    screen.press_key("ctrl-c");
    assert!(screen.state.prompts.current.is_some());
    assert!(screen.screen_text().contains("the question keeps waiting"), "{}", screen.screen_text());
    screen.press_key("ctrl-c");
    assert!(screen.effects.contains(&Effect::Quit));
    assert_eq!(saved_drafts(&screen).len(), 1);
    let is_end = |entry: &Entry| matches!(entry, Entry::Settled { .. } | Entry::Ended { .. });
    assert!(!screen.state.agent.session.entries().iter().any(is_end));
}

#[test]
fn choices_are_saved_soon_but_not_at_every_key() {
    let mut screen = screen_with_question();
    screen.advance_ms(600);
    screen.press_key("4");
    screen.type_text("words that take a while to be written");
    let save_count = saved_drafts(&screen).len();
    assert!((3..=10).contains(&save_count), "{save_count} in 3.7 seconds");
    screen.advance_ms(700);
    assert!(saved_drafts(&screen).last().is_some_and(|text| text.contains("words that take a while to be written")));
    let save_count = saved_drafts(&screen).len();
    screen.advance_ms(5000);
    assert_eq!(saved_drafts(&screen).len(), save_count, "unchanged drafts are not saved again");
    screen.press_key("enter");
    screen.advance_ms(10);
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).last().map(String::as_str)), (1, Some("")));
}

#[test]
fn a_saved_question_prompt_is_restored_with_its_session() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", three_questions());
    screen.advance_ms(600);
    screen.press_key("2");
    screen.press_key("enter");
    screen.advance_ms(600);
    screen.press_key("n");
    screen.type_text("half a note");
    screen.advance_ms(1000);
    let draft = saved_drafts(&screen).last().expect("it was kept").clone();
    let text_before = screen.screen_text();
    let mut reopened = reopen_session(&screen, &draft);
    reopened.advance_ms(600);
    let text_after = reopened.screen_text();
    let prompt_lines = |text: &str| {
        text.lines().skip_while(|row| !row.starts_with('╭')).take(9).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(prompt_lines(&text_after), prompt_lines(&text_before));
    assert!(text_after.contains("2 of 3 · 1 answered") && text_after.contains("half a note"), "{text_after}");
    assert!(saved_drafts_after(&reopened, &draft).is_empty(), "nothing changed");
    screen.press_key("esc");
    screen.press_key("esc");
    screen.advance_ms(1000);
    let draft = saved_drafts(&screen).last().expect("it was kept").clone();
    let reopened = reopen_session(&screen, &draft);
    assert!(reopened.state.prompts.current.as_ref().is_some_and(|prompt| prompt.is_parked()));
}

#[test]
fn drafts_of_removed_questions_are_discarded() {
    let mut screen = screen_with_question();
    screen.advance_ms(600);
    screen.press_key("2");
    screen.advance_ms(1000);
    let draft = saved_drafts(&screen).last().expect("it was kept").clone();
    // The reopened session has no entries, and so no question.
    let mut reopened = reopen_session(&Screen::new(), &draft);
    reopened.advance_ms(10);
    assert_eq!(saved_drafts_after(&reopened, &draft), [""]);
}

#[test]
fn the_wheel_scrolls_a_question_prompt_and_picks_nothing() {
    use crossterm::event::{MouseEvent, MouseEventKind};
    let Intent::Ask(mut questions) = question_intent() else { panic!("it asks") };
    questions.list[0].text = (0..60).map(|n| format!("line {n}\n")).collect();
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", Intent::Ask(questions));
    screen.advance_ms(600);
    assert!(!screen.screen_text().contains("line 59"));
    for _ in 0..30 {
        let kind = MouseEventKind::ScrollDown;
        screen.handle_event(Event::Mouse(MouseEvent { kind, column: 10, row: 18, modifiers: KeyModifiers::NONE }));
        screen.draw_frame();
    }
    assert!(screen.screen_text().contains("line 59"), "{}", screen.screen_text());
    screen.advance_ms(2000);
    assert_eq!((screen.count_decisions(), saved_drafts(&screen).len()), (0, 0));
}

#[test]
fn help_shows_the_keys_of_the_question_prompt() {
    let mut screen = screen_with_question();
    screen.resize_screen(80, 50);
    screen.advance_ms(600);
    screen.press_key("f1");
    let text = screen.screen_text();
    for label in ["Add a note to the option", "Decline to answer", "Answer later", "Scroll long text up"] {
        assert!(text.contains(label), "{label}: {text}");
    }
}

#[test]
fn a_skipped_question_has_a_mark_that_is_no_bullet() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", three_questions());
    for key in ["2", "enter", "tab", "tab", "enter"] {
        screen.advance_ms(600);
        screen.press_key(key);
    }
    assert_eq!(screen.count_decisions(), 1);
    let text = screen.screen_text();
    assert!(text.contains("✓ Which clock") && text.contains("⊘ Which clock") && !text.contains("· Which"), "{text}");
    screen.state.settings.is_ascii = true;
    let text = screen.screen_text();
    assert!(text.contains("v Which clock") && text.contains("! Which clock"), "{text}");
}

#[test]
fn links_in_a_question_open_and_answer_nothing() {
    let mut screen = Screen::with_turn();
    let Intent::Ask(mut questions) = question_intent() else { panic!("it asks") };
    questions.list[0].text = "Is src/main.rs right? See https://docs.rs/y and none.rs".into();
    screen.receive_call("q", "ask_question", Intent::Ask(questions));
    screen.advance_ms(2000);
    let text_before = screen.screen_text();
    answer_checks(&mut screen, &["src/main.rs"]);
    for (text, is_link) in [("src/main.rs", true), ("https://docs.rs", true), ("none.rs", false)] {
        assert_eq!(modifiers_at(&mut screen, text).contains(ratatui::style::Modifier::UNDERLINED), is_link, "{text}");
    }
    assert_eq!(screen.screen_text(), text_before);
    screen.press_key("ctrl-o");
    screen.effects.clear();
    screen.press_key("a");
    assert_eq!(screen.effects, [Effect::OpenFile { path: "src/main.rs".into(), line: None }]);
    assert_eq!(screen.count_decisions(), 0);
}

#[test]
fn links_in_options_and_their_previews_open_and_pick_nothing() {
    let mut screen = Screen::with_turn();
    let Intent::Ask(mut questions) = question_intent() else { panic!("it asks") };
    let question = &mut questions.list[0];
    question.options[0].label = "Keep src/main.rs".into();
    question.options[1].description = "As https://docs.rs/y says, with none.rs".into();
    question.options[0].preview = "See src/lib.rs for it.".into();
    screen.receive_call("q", "ask_question", Intent::Ask(questions));
    screen.advance_ms(2000);
    answer_checks(&mut screen, &["src/main.rs", "src/lib.rs"]);
    for (text, is_link) in
        [("src/main.rs", true), ("https://docs.rs/y", true), ("src/lib.rs", true), ("none.rs", false)]
    {
        assert_eq!(modifiers_at(&mut screen, text).contains(ratatui::style::Modifier::UNDERLINED), is_link, "{text}");
    }
    screen.press_key("ctrl-o");
    screen.effects.clear();
    screen.press_key("a");
    assert_eq!(screen.effects, [Effect::OpenFile { path: "src/main.rs".into(), line: None }]);
    assert_eq!(screen.count_decisions(), 0);
}
