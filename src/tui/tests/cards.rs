//! Keys and the prompts they may answer.

use super::*;

fn asked() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "bash_exec", command("cargo test"));
    screen
}

#[test]
fn a_deliberate_approval_is_accepted() {
    let mut screen = asked();
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r03_a_key_typed_before_the_prompt_was_seen_approves_nothing() {
    for chord in ["y", "enter", "1", "a"] {
        let mut screen = asked();
        screen.waits(100);
        screen.presses(chord);
        assert_eq!(screen.decided(), 0, "{chord}");
    }
}

#[test]
fn r03_typing_on_never_answers_and_loses_no_character() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.types("y y ");
    screen.calls("a", "bash_exec", command("cargo test"));
    screen.types("yes 1 yyyyyyyyyyyyyyy");
    assert_eq!(screen.decided(), 0);
    assert_eq!(screen.state.composer.text(), "y y yes 1 yyyyyyyyyyyyyyy");
}

#[test]
fn tab_moves_the_focus_from_a_draft_to_the_prompt() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.types("half a");
    screen.calls("a", "bash_exec", command("cargo test"));
    screen.waits(2000);
    screen.presses("y");
    assert_eq!(screen.decided(), 0);
    screen.presses("tab");
    screen.waits(600);
    screen.presses("y");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (1, "half ay"));
}

#[test]
fn r04_a_held_key_answers_one_prompt() {
    let mut screen = Screen::new();
    screen.says("go");
    for id in ["a", "b", "c"] {
        let call = ToolCall { id: id.into(), name: "bash_exec".into(), arguments: "{}".into() };
        screen.chunk(Chunk::Call(call));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("a", command("one"));
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 1);
    screen.finished("a", Outcome::Done("fine".into()));
    screen.planned("b", command("two"));
    for _ in 0..100 {
        screen.waits(30);
        screen.presses("y");
    }
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r05_a_paste_answers_nothing() {
    let mut screen = asked();
    screen.waits(2000);
    screen.happens(Event::Pasted("y\n".into()));
    assert_eq!(screen.decided(), 0);
    assert!(screen.state.composer.text().starts_with('y'));
}

#[test]
fn r06_the_click_that_brings_the_window_back_answers_nothing() {
    let mut screen = asked();
    screen.waits(2000);
    screen.happens(Event::Focused(true));
    screen.presses("y");
    assert_eq!(screen.decided(), 0);
}

#[test]
fn enter_alone_never_approves() {
    let mut screen = asked();
    screen.waits(2000);
    screen.presses("enter");
    screen.waits(2000);
    screen.presses("enter");
    assert_eq!(screen.decided(), 0);
}

#[test]
fn esc_stops_a_turn_once_or_twice_if_a_prompt_is_open() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.presses("esc");
    assert!(screen.state.agent.is_idle());
    let mut screen = asked();
    screen.waits(2000);
    screen.presses("esc");
    assert!(!screen.state.agent.is_idle());
    assert!(screen.shows().contains("Press esc again to stop the turn"));
    screen.waits(200);
    screen.presses("esc");
    assert!(screen.state.agent.is_idle());
    assert!(screen.state.prompt.is_none());
    assert!(!screen.shows().contains("esc again"), "the outdated hint is removed");
}

#[test]
fn a_parked_question_becomes_a_chip_and_can_be_reopened() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", question());
    screen.waits(600);
    screen.presses("esc");
    let shows = screen.shows();
    assert!(shows.contains("1 question waiting") && !shows.contains("virtual time"), "{shows}");
    screen.presses("ctrl-q");
    assert!(screen.shows().contains("virtual time"));
    screen.waits(600);
    screen.presses("2");
    screen.presses("enter");
    assert_eq!(screen.decided(), 1);
    let shows = screen.shows();
    assert!(shows.contains("? Which clock") && shows.contains("a trait"), "{shows}");
}

#[test]
fn r63_ctrl_c_twice_quits_in_every_state() {
    let mut screen = asked();
    screen.waits(700);
    screen.presses("ctrl-p");
    screen.presses("ctrl-c");
    screen.waits(100);
    screen.presses("ctrl-c");
    assert!(screen.effects.contains(&Effect::Quit));
}

#[test]
fn a_prompt_alerts_only_if_the_window_has_no_focus() {
    let rings = |screen: &Screen| screen.effects.iter().any(|effect| matches!(effect, Effect::Alert(_)));
    assert!(!rings(&asked()));
    let mut screen = Screen::new();
    screen.says("go");
    screen.happens(Event::Focused(false));
    screen.calls("a", "bash_exec", command("cargo test"));
    assert!(rings(&screen));
}
