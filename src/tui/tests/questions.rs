//! Keys, pastes and clicks for the question prompt.

use super::*;
use crate::tui::host::{Line, Opened, Reply, Wish};

fn asked() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", question());
    screen
}

fn three() -> Intent {
    let Intent::Ask(asked) = question() else { panic!("it asks") };
    let named = |name: &str| Question { keyword: name.into(), ..asked.list[0].clone() };
    Intent::Ask(Questions { list: ["a", "b", "c"].map(named).to_vec(), dropped: Dropped::default() })
}

/// Returns the drafts of answers that the screen has saved, oldest first.
fn kept(screen: &Screen) -> Vec<String> {
    kept_after(screen, "")
}

/// Returns the drafts of answers saved after `before`. Other drafts may be saved in between.
fn kept_after(screen: &Screen, before: &str) -> Vec<String> {
    let kept = |effect: &Effect| match effect {
        Effect::Ask(Wish::Keep(session, unsent)) => {
            assert_eq!(session.0, "01J");
            Some(unsent.questions.concat())
        }
        _ => None,
    };
    let mut all = vec![before.to_owned()];
    all.extend(screen.effects.iter().filter_map(kept));
    all.dedup();
    all.split_off(1)
}

/// Reopens the session with a saved draft of its answers.
fn opened_again(before: &Screen, card: &str) -> Screen {
    let mut screen = Screen::new();
    let blank = agent::State::new(Policy::default(), "m".into(), String::new(), vec![]);
    let entries = before.state.agent.session.entries().to_vec();
    screen.happens(Event::Host(Reply::Opened(Box::new(Opened {
        offers: None,
        from: None,
        connection: Default::default(),
        session: SessionId("01J".into()),
        agent: agent::resume(Session::replay(entries), blank).0,
        line: Line {
            file: Box::new(NoFile),
            run: Box::new(|_| None),
            events: tokio::sync::mpsc::channel(1).1,
        },
        unsent: Unsent { questions: vec![card.to_owned()], ..Unsent::default() },
        folder: "/project".into(),
        history: Vec::new(),
        place: String::new(),
    }))));
    screen.frame();
    screen
}

#[test]
fn r03_keys_pressed_before_a_question_was_seen_pick_nothing() {
    for chord in ["1", "2", "enter", " ", "x", "n"] {
        let mut screen = asked();
        screen.waits(100);
        screen.presses(chord);
        screen.waits(2000);
        assert_eq!((screen.decided(), kept(&screen).len()), (0, 0), "{chord}");
    }
}

#[test]
fn r03_digits_typed_ahead_are_written_and_pick_nothing() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.types("1 2 ");
    screen.calls("q", "ask_question", question());
    screen.types("3 1122x n");
    assert_eq!((screen.decided(), kept(&screen).len()), (0, 0));
    assert_eq!(screen.state.composer.text(), "1 2 3 1122x n");
    screen.waits(2000);
    screen.presses("2");
    screen.presses("enter");
    assert_eq!(screen.decided(), 0, "keys go to the draft while there is one");
}

#[test]
fn r04_a_held_key_advances_one_question() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", three());
    screen.waits(600);
    for _ in 0..100 {
        screen.presses("enter");
        screen.waits(30);
    }
    assert_eq!(screen.decided(), 0);
    assert!(screen.shows().contains("2 of 3 · 1 answered"), "{}", screen.shows());
}

#[test]
fn r04_held_enter_ticks_one_option_and_sends_nothing() {
    let Intent::Ask(mut questions) = question() else { panic!("it asks") };
    questions.list[0].multi = true;
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", Intent::Ask(questions));
    screen.waits(600);
    for _ in 0..100 {
        screen.presses("enter");
        screen.waits(30);
    }
    assert_eq!(screen.decided(), 0);
    assert!(screen.shows().contains("[x] tokio"), "{}", screen.shows());
    screen.waits(600);
    screen.presses("enter");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r05_a_paste_picks_nothing_and_is_inserted_as_text() {
    let mut screen = asked();
    screen.waits(2000);
    screen.happens(Event::Pasted("2\n".into()));
    screen.waits(2000);
    assert_eq!((screen.decided(), kept(&screen).len()), (0, 0));
    assert!(screen.state.composer.text().starts_with('2'));
    let mut screen = asked();
    screen.waits(2000);
    screen.presses("4");
    screen.happens(Event::Pasted("1\nx\n".into()));
    let shows = screen.shows();
    assert!(shows.contains("in my own words 1") && screen.state.composer.is_empty(), "{shows}");
    assert_eq!(screen.decided(), 0);
}

#[test]
fn line_break_keys_do_nothing_in_a_note() {
    let mut screen = asked();
    screen.waits(2000);
    screen.presses("n");
    screen.presses("a");
    screen.presses("alt-enter");
    screen.presses("b");
    assert!(screen.shows().contains("note ab") && screen.state.composer.is_empty(), "{}", screen.shows());
}

#[test]
fn r05_a_paste_without_bracketed_paste_picks_nothing() {
    let mut screen = asked();
    screen.waits(2000);
    for letter in ["2", "enter", "1"] {
        screen.happens(Event::Key(key(letter)));
    }
    screen.happens(Event::Hurried);
    screen.waits(2000);
    assert_eq!((screen.decided(), kept(&screen).len()), (0, 0));
    assert!(screen.state.composer.text().contains('2'));
}

#[test]
fn r06_focusing_the_window_answers_no_question() {
    let mut screen = asked();
    screen.waits(2000);
    screen.happens(Event::Focused(true));
    screen.presses("2");
    screen.presses("enter");
    screen.waits(2000);
    assert_eq!((screen.decided(), kept(&screen).len()), (0, 0));
}

#[test]
fn r16_a_question_has_no_timeout() {
    let mut screen = asked();
    screen.waits(1000 * 60 * 60 * 24 * 365);
    assert_eq!(screen.decided(), 0);
    assert!(screen.shows().contains("Which clock"));
}

#[test]
fn r16_repeated_esc_parks_a_question_without_losing_it() {
    let mut screen = asked();
    screen.waits(600);
    screen.presses("2");
    screen.presses("esc");
    screen.waits(100);
    screen.presses("esc");
    assert!(!screen.state.agent.is_idle() && screen.state.prompt.is_some());
    assert!(screen.shows().contains("without an answer"), "{}", screen.shows());
    screen.waits(1100);
    screen.presses("ctrl-q");
    assert!(screen.shows().contains("✓ a trait"), "{}", screen.shows());
    screen.presses("esc");
    screen.presses("alt-x");
    assert!(screen.decided() == 1 && screen.shows().contains("declined"), "{}", screen.shows());
}

#[test]
fn quitting_with_ctrl_c_keeps_the_question() {
    let mut screen = asked();
    screen.waits(600);
    screen.presses("2");
    screen.presses("ctrl-c");
    assert!(screen.state.prompt.is_some());
    assert!(screen.shows().contains("the question keeps waiting"), "{}", screen.shows());
    screen.presses("ctrl-c");
    assert!(screen.effects.contains(&Effect::Quit));
    assert_eq!(kept(&screen).len(), 1);
    let ended = |entry: &Entry| matches!(entry, Entry::Settled { .. } | Entry::Ended { .. });
    assert!(!screen.state.agent.session.entries().iter().any(ended));
}

#[test]
fn choices_are_saved_soon_but_not_at_every_key() {
    let mut screen = asked();
    screen.waits(600);
    screen.presses("4");
    screen.types("words that take a while to be written");
    let writes = kept(&screen).len();
    assert!((3..=10).contains(&writes), "{writes} in 3.7 seconds");
    screen.waits(700);
    assert!(kept(&screen).last().is_some_and(|text| text.contains("words that take a while to be written")));
    let writes = kept(&screen).len();
    screen.waits(5000);
    assert_eq!(kept(&screen).len(), writes, "unchanged drafts are not saved again");
    screen.presses("enter");
    screen.waits(10);
    assert_eq!((screen.decided(), kept(&screen).last().map(String::as_str)), (1, Some("")));
}

#[test]
fn a_saved_question_prompt_is_restored_with_its_session() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", three());
    screen.waits(600);
    screen.presses("2");
    screen.waits(600);
    screen.presses("n");
    screen.types("half a note");
    screen.waits(1000);
    let card = kept(&screen).last().expect("it was kept").clone();
    let before = screen.shows();
    let mut again = opened_again(&screen, &card);
    again.waits(600);
    let after = again.shows();
    let card_of = |shows: &str| {
        shows.lines().skip_while(|row| !row.starts_with('╭')).take(9).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(card_of(&after), card_of(&before));
    assert!(after.contains("2 of 3 · 1 answered") && after.contains("half a note"), "{after}");
    assert!(kept_after(&again, &card).is_empty(), "nothing changed");
    screen.presses("esc");
    screen.presses("esc");
    screen.waits(1000);
    let card = kept(&screen).last().expect("it was kept").clone();
    let again = opened_again(&screen, &card);
    assert!(again.state.prompt.as_ref().is_some_and(crate::tui::prompt::Prompt::is_parked));
}

#[test]
fn drafts_of_removed_questions_are_discarded() {
    let mut screen = asked();
    screen.waits(600);
    screen.presses("2");
    screen.waits(1000);
    let card = kept(&screen).last().expect("it was kept").clone();
    let mut gone = Screen::new();
    gone = opened_again(&gone, &card);
    gone.waits(10);
    assert_eq!(kept_after(&gone, &card), [""]);
}

#[test]
fn the_wheel_scrolls_a_question_prompt_and_picks_nothing() {
    use crossterm::event::{MouseEvent, MouseEventKind};
    let Intent::Ask(mut questions) = question() else { panic!("it asks") };
    questions.list[0].text = (0..60).map(|n| format!("line {n}\n")).collect();
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", Intent::Ask(questions));
    screen.waits(600);
    assert!(!screen.shows().contains("line 59"));
    for _ in 0..30 {
        let kind = MouseEventKind::ScrollDown;
        screen.happens(Event::Mouse(MouseEvent { kind, column: 10, row: 18, modifiers: KeyModifiers::NONE }));
        screen.frame();
    }
    assert!(screen.shows().contains("line 59"), "{}", screen.shows());
    screen.waits(2000);
    assert_eq!((screen.decided(), kept(&screen).len()), (0, 0));
}

#[test]
fn help_shows_the_keys_of_the_question_prompt() {
    let mut screen = asked();
    screen.resized(80, 50);
    screen.waits(600);
    screen.presses("f1");
    let shows = screen.shows();
    for words in ["Add a note to the option", "Decline to answer", "Answer later", "Scroll long text up"] {
        assert!(shows.contains(words), "{words}: {shows}");
    }
}
