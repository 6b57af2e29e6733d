//! Changing how much runs without asking, and seeing it all the time.

use super::*;

fn foot(screen: &mut Screen) -> String {
    screen.shows().lines().last().unwrap_or_default().to_owned()
}

fn called(screen: &mut Screen, text: &str) {
    screen.types(text);
    screen.presses("enter");
}

#[test]
fn r20_a_wide_mode_is_asked_about_once_more_and_to_stay_is_the_first_choice() {
    for (mode, chip) in [(Mode::Auto, "AUTO MODE"), (Mode::Full, "FULL MODE")] {
        let mut screen = Screen::new();
        called(&mut screen, &format!("/mode {}", mode.word()));
        assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
        let shows = screen.shows();
        assert!(shows.contains("Stay in ask mode") && shows.contains(mode.meaning()), "{shows}");
        screen.presses("enter");
        assert_eq!(screen.state.agent.policy.mode, Mode::Ask, "Enter alone stays");
        called(&mut screen, &format!("/mode {}", mode.word()));
        screen.presses("down");
        screen.presses("enter");
        assert_eq!(screen.state.agent.policy.mode, mode);
        assert!(foot(&mut screen).contains(chip), "{}", foot(&mut screen));
        screen.resized(40, 15);
        assert!(foot(&mut screen).contains(chip), "{}", foot(&mut screen));
        // The key leads back to less, never to more.
        screen.happens(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)));
        assert_eq!(screen.state.agent.policy.mode, Mode::Plan);
    }
}

#[test]
fn r20_the_list_of_modes_leads_to_each() {
    for (row, mode) in Mode::ALL.into_iter().enumerate() {
        let mut screen = Screen::new();
        called(&mut screen, "/mode");
        let shows = screen.shows();
        assert!(
            shows.contains("❯ ask mode ") && shows.contains("in use") && shows.contains("full mode"),
            "{shows}"
        );
        let now = Mode::ALL.into_iter().position(|mode| mode == Mode::Ask).unwrap();
        (now..row + Mode::ALL.len()).for_each(|_| screen.presses("down"));
        screen.presses("enter");
        if mode.is_wide() {
            assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
            screen.presses("esc");
            assert_eq!(screen.state.agent.policy.mode, Mode::Ask, "Esc stays");
            called(&mut screen, &format!("/mode {}", mode.word()));
            screen.presses("down");
            screen.presses("enter");
        }
        assert_eq!(screen.state.agent.policy.mode, mode);
    }
}

#[test]
fn a_word_that_is_no_mode_is_said_with_those_that_are() {
    let mut screen = Screen::new();
    called(&mut screen, "/mode yolo");
    assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
    assert!(screen.shows().contains("Unknown mode. Use one of plan, ask, auto, full"), "{}", screen.shows());
}

#[test]
fn r20_a_card_that_comes_under_the_list_keeps_the_mode_as_it_is() {
    let mut screen = Screen::new();
    screen.says("go");
    called(&mut screen, "/mode full");
    screen.calls("c1", "bash_exec", command("make"));
    screen.presses("down");
    screen.presses("enter");
    assert_eq!(screen.state.agent.policy.mode, Mode::Ask);
    assert!(screen.state.agent.waiting().is_some(), "the card waits as it did");
}

#[test]
fn what_a_mode_means_is_read_whole_in_a_narrow_terminal_too() {
    for width in [50, 60, 80] {
        let mut screen = Screen::new();
        screen.resized(width, 15);
        called(&mut screen, "/mode");
        let shows = screen.shows();
        let words: Vec<&str> = shows.split(['│', ' ', '\n']).filter(|word| !word.is_empty()).collect();
        let words = words.join(" ");
        for end in ["cannot be taken back", "changed or run", "everything else asks you", "the rest asks"] {
            let last = end.rsplit(' ').next().unwrap();
            assert!(words.contains(end) || words.contains(last), "{width}: {end}: {shows}");
        }
        let list: String = shows.lines().skip_while(|row| !row.contains('╭')).collect();
        assert!(!list.contains('…'), "{width}: {shows}");
    }
}

#[test]
fn enter_at_once_in_the_list_of_modes_changes_nothing() {
    for mode in [Mode::Plan, Mode::Ask, Mode::Auto] {
        let mut screen = Screen::new();
        screen.state.agent.policy.mode = mode;
        called(&mut screen, "/mode");
        screen.presses("enter");
        assert_eq!(screen.state.agent.policy.mode, mode);
    }
}
