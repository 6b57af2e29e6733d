//! Fast typing: keys that arrive in bursts, are held, or were meant for another part of the screen.

use super::*;

fn asked() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "bash_exec", command("cargo test"));
    screen.waits(2000);
    screen
}

fn three_questions() -> Intent {
    let Intent::Ask(one) = question() else { panic!("a question asks") };
    let question = |keyword: &str| Question { keyword: keyword.into(), ..one.list[0].clone() };
    Intent::Ask(Questions {
        list: vec![question("a"), question("b"), question("c")],
        dropped: Dropped::default(),
    })
}

/// Presses keys so fast that none is handled before the next arrives.
fn burst(screen: &mut Screen, chords: &[&str]) {
    for chord in chords {
        screen.happens(Event::Tick(screen.state.now + Duration::from_millis(3)));
        screen.happens(Event::Key(key(chord)));
        screen.happens(Event::Quiet);
    }
    screen.waits(20);
    screen.happens(Event::Quiet);
}

#[test]
fn a_character_is_written_at_once_while_no_prompt_is_open() {
    let mut screen = Screen::new();
    screen.happens(Event::Key(key("a")));
    assert_eq!(screen.state.composer.text(), "a");
}

#[test]
fn r05_a_paste_received_as_single_keys_answers_nothing() {
    let mut screen = asked();
    burst(&mut screen, &["y", "e", "s"]);
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "yes"));
    let mut screen = asked();
    burst(&mut screen, &["n", "o"]);
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "no"));
}

#[test]
fn r05_keys_in_a_burst_answer_nothing() {
    let mut screen = asked();
    screen.happens(Event::Hurried);
    screen.presses("y");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "y"));
}

#[test]
fn r05_a_paste_after_its_first_character_is_written_completely() {
    let mut screen = asked();
    screen.happens(Event::Key(key("y")));
    screen.happens(Event::Pasted("es, and more".into()));
    screen.waits(100);
    screen.happens(Event::Quiet);
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "yes, and more"));
}

#[test]
fn a_single_key_answers_after_an_unnoticeable_delay() {
    let mut screen = asked();
    screen.happens(Event::Key(key("y")));
    assert_eq!(screen.decided(), 0);
    let due = screen.state.wakes_at().expect("the delay has an end");
    assert!(due <= screen.state.now + Duration::from_millis(15));
    screen.happens(Event::Tick(due));
    screen.happens(Event::Quiet);
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r03_keys_typed_in_an_overlay_do_not_answer_the_prompt_below() {
    for opens in ["ctrl-f", "f1", "ctrl-p", "alt-t"] {
        let mut screen = asked();
        screen.presses(opens);
        screen.waits(2000);
        screen.presses("esc");
        screen.waits(100);
        screen.presses("y");
        assert_eq!(screen.decided(), 0, "{opens}");
        assert_eq!(screen.state.composer.text(), "y", "{opens}");
    }
}

#[test]
fn r07_a_covered_prompt_counts_as_unseen() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.presses("f1");
    screen.calls("a", "bash_exec", command(&"long\n".repeat(10)));
    screen.waits(2000);
    assert_eq!(screen.state.prompt.as_ref().and_then(|prompt| prompt.seen()), None);
    screen.presses("esc");
    screen.waits(300);
    screen.presses("y");
    assert_eq!(screen.decided(), 0);
}

#[test]
fn r04_a_held_key_answers_one_question_of_several() {
    for held in ["1", "enter"] {
        let mut screen = Screen::new();
        screen.says("go");
        screen.calls("q", "ask_question", three_questions());
        screen.waits(2000);
        for _ in 0..40 {
            screen.presses(held);
            screen.waits(30);
        }
        assert_eq!(screen.decided(), 0, "{held}");
        let Some(crate::tui::prompt::Card::Question(card)) =
            screen.state.prompt.as_ref().map(|prompt| &prompt.card)
        else {
            panic!("the card waits")
        };
        assert_eq!(card.page(), 1, "{held}");
    }
}

#[test]
fn several_questions_can_be_answered_quickly() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", three_questions());
    screen.waits(2000);
    for digit in ["1", "2", "3"] {
        screen.presses(digit);
        screen.waits(80);
    }
    screen.presses("enter");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r05_enter_after_a_paste_does_not_send_a_written_answer() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", question());
    screen.waits(2000);
    screen.presses("4");
    screen.happens(Event::Hurried);
    screen.happens(Event::Pasted("words from elsewhere".into()));
    screen.presses("enter");
    assert_eq!(screen.decided(), 0);
    screen.waits(600);
    screen.presses("enter");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn enter_after_a_burst_ends_a_text_field_or_is_explained() {
    type Begins = fn() -> Screen;
    let lines: [(&[&str], Begins); 3] = [
        (&["m"], asked),
        (&["l", "m"], asked),
        (&["n"], || {
            let mut screen = Screen::new();
            screen.says("go");
            screen.calls("q", "ask_question", question());
            screen.waits(2000);
            screen
        }),
    ];
    for (opens, begin) in lines {
        let mut screen = begin();
        for chord in opens {
            screen.presses(chord);
            screen.waits(2000);
        }
        screen.happens(Event::Hurried);
        screen.presses("o");
        screen.presses("k");
        screen.presses("enter");
        let shows = screen.shows();
        assert!(screen.state.writes_in_card() && screen.decided() == 0, "{shows}");
        assert!(shows.contains("press it again"), "{opens:?}: {shows}");
        screen.waits(250);
        screen.presses("enter");
        assert!(!screen.state.writes_in_card() && screen.state.composer.is_empty(), "{}", screen.shows());
    }
}

#[test]
fn r36_a_web_address_is_shown_before_it_is_opened() {
    let mut screen = Screen::with([replied("see https://example.com/a?b=c for more"), ended()]);
    let opened =
        |screen: &Screen| screen.effects.iter().filter(|effect| matches!(effect, Effect::OpenWeb(_))).count();
    screen.presses("ctrl-o");
    screen.presses("a");
    let shows = screen.shows();
    assert!(shows.contains("Open this address?") && shows.contains("https://example.com/a?b=c"), "{shows}");
    screen.presses("esc");
    assert_eq!(opened(&screen), 0);
    screen.presses("ctrl-o");
    screen.presses("a");
    screen.presses("enter");
    assert_eq!(opened(&screen), 1);
    screen.presses("ctrl-o");
    screen.presses("A");
    assert!(screen.effects.contains(&Effect::Copy("https://example.com/a?b=c".into())));
}

#[test]
fn a_draft_stays_with_its_session() {
    use crate::tui::host::{Reply, SessionRow, Wish};
    let mut screen = Screen::new();
    screen.types("half a thought");
    screen.presses("alt-s");
    let row = SessionRow {
        id: SessionId("02".into()),
        title: "other".into(),
        when: String::new(),
        dry_run: false,
        copy: false,
        waits: false,
    };
    screen.happens(Event::Host(Reply::Sessions(vec![row])));
    screen.effects.clear();
    screen.presses("enter");
    let Some(Effect::Ask(Wish::Keep(of, unsent))) = screen.effects.first() else {
        panic!("the draft is saved first: {:?}", screen.effects)
    };
    assert_eq!((of.0.as_str(), unsent.text().as_str()), ("01J", "half a thought"));
    assert_eq!(screen.effects[1..], [Effect::Ask(Wish::Open(SessionId("02".into())))]);
}

/// A session to open, as a copy of `from` if given.
pub fn opened(from: Option<&str>) -> crate::tui::host::Opened {
    crate::tui::host::Opened {
        offers: None,
        session: SessionId("02".into()),
        from: from.map(|id| SessionId(id.into())),
        agent: agent::State::new(Policy::default(), "m".into(), String::new(), vec![]),
        line: crate::tui::host::Line {
            file: Box::new(NoFile),
            run: Box::new(|_| None),
            events: tokio::sync::mpsc::channel(1).1,
        },
        connection: Default::default(),
        unsent: Unsent::default(),
        folder: "/other".into(),
        history: vec!["said there".into()],
        place: "~/other".into(),
    }
}

#[test]
fn a_session_is_forked_only_between_turns() {
    use crate::tui::host::Wish;
    let forks = |screen: &mut Screen| {
        screen.effects.clear();
        screen.says("/fork");
        screen
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Ask(Wish::Fork(id, Becomes::AsItWas)) if id.0 == "01J"))
    };
    let mut screen = Screen::new();
    assert!(!forks(&mut screen) && screen.shows().contains("Nothing to copy yet"), "{}", screen.shows());
    screen.says("go");
    assert!(
        !forks(&mut screen) && screen.shows().contains("Wait for the end of the turn"),
        "{}",
        screen.shows()
    );
    screen.replies("Done.");
    assert!(forks(&mut screen), "{:?}", screen.effects);
}

#[test]
fn a_session_picked_from_the_list_is_forked() {
    use crate::tui::host::{Reply, SessionRow, Wish};
    use crate::tui::overlay::Picking;
    let mut screen = Screen::new();
    let effects =
        update::begin(&mut screen.state, String::new(), None, Some(Picking::Fork(Becomes::AsItWas)));
    assert!(effects.contains(&Effect::Ask(Wish::Sessions)), "{effects:?}");
    let row = SessionRow {
        id: SessionId("02".into()),
        title: "other".into(),
        when: String::new(),
        dry_run: true,
        copy: true,
        waits: false,
    };
    screen.happens(Event::Host(Reply::Sessions(vec![row])));
    let shown = screen.shows();
    assert!(shown.contains("Continue in a copy of") && shown.contains("copy, dry run"), "{shown}");
    screen.presses("enter");
    assert!(
        screen.effects.contains(&Effect::Ask(Wish::Fork(SessionId("02".into()), Becomes::AsItWas))),
        "{:?}",
        screen.effects
    );
}

#[test]
fn a_fork_keeps_the_mode_and_another_session_does_not() {
    use crate::policy::Mode;
    use crate::tui::host::Reply;
    for (from, mode) in [(Some("01J"), Mode::Plan), (Some("03"), Mode::Ask), (None, Mode::Ask)] {
        let mut screen = Screen::new();
        screen.happens(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
        assert_eq!(screen.state.agent.policy.mode, Mode::Plan);
        screen.happens(Event::Host(Reply::Opened(Box::new(opened(from)))));
        assert_eq!(screen.state.agent.policy.mode, mode, "{from:?}");
    }
}

#[test]
fn opening_a_session_loads_its_folder_and_history() {
    use crate::tui::host::Reply;
    let mut screen = Screen::new();
    screen.happens(Event::Host(Reply::Opened(Box::new(opened(None)))));
    assert_eq!(screen.state.settings.folder, std::path::Path::new("/other"));
    screen.presses("up");
    assert_eq!(screen.state.composer.text(), "said there");
}

#[test]
fn r20_the_mode_does_not_change_while_a_prompt_is_open() {
    let mut screen = asked();
    let before = screen.state.agent.policy.mode;
    screen.presses("tab");
    screen.waits(700);
    screen.happens(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
    assert_eq!(screen.state.agent.policy.mode, before);
}

#[test]
fn r03_enter_held_since_sending_answers_nothing_and_is_explained() {
    for pause in [200, 450, 600, 800, 1_200, 1_500] {
        let mut screen = Screen::new();
        screen.types("go");
        screen.presses("enter");
        screen.waits(50);
        screen.calls("q", "ask_question", question());
        screen.waits(pause);
        for _ in 0..60 {
            screen.presses("enter");
            screen.waits(33);
        }
        assert_eq!(screen.decided(), 0, "{pause}");
        let shown = screen.shows();
        assert!(shown.contains("enter may still be held") || shown.contains("Too soon"), "{shown}");
        // The key was released and is pressed deliberately.
        screen.waits(700);
        screen.presses("enter");
        let decided = screen.decided();
        screen.waits(1_000);
        screen.presses("enter");
        assert!(decided + screen.decided() > 0, "{pause}: {}", screen.shows());
    }
}
