//! What is written, and what stands beside it.

use super::*;
use crate::tui::parts::toast::Kind;

#[test]
fn a_danger_that_was_read_leaves_with_the_next_key() {
    let mut screen = Screen::new();
    screen.state.notice("The disk is full.", Kind::Danger);
    screen.waits(500);
    screen.presses("a");
    assert!(!screen.state.toasts.is_empty(), "half a second is too short to have read it");
    screen.waits(60_000);
    assert!(!screen.state.toasts.is_empty(), "it waits for a person");
    screen.presses("b");
    assert!(screen.state.toasts.is_empty());
    assert_eq!(screen.state.composer.text(), "ab", "the keys are written all the same");
}

#[test]
fn a_command_that_is_none_stays_in_the_composer_and_a_blank_sends_it() {
    let mut screen = Screen::new();
    screen.says("/nosuch thing");
    assert!(screen.state.agent.is_idle(), "nothing was sent");
    assert_eq!(screen.state.composer.text(), "/nosuch thing");
    assert!(screen.shows().contains("there is no command /nosuch"), "{}", screen.shows());
    screen.presses("ctrl-u");
    screen.says("/titel x");
    assert!(screen.shows().contains("did you mean /title?"), "{}", screen.shows());
    screen.presses("ctrl-u");
    screen.says(" /nosuch thing");
    assert!(!screen.state.agent.is_idle(), "it was sent");
    assert!(screen.state.composer.is_empty());
    screen.replies("I see.");
    screen.says("/usr/bin/env is a path");
    assert!(!screen.state.agent.is_idle(), "a path is no command");
}

#[test]
fn enter_in_the_history_search_takes_what_was_found_and_completes_nothing() {
    let mut screen = Screen::new();
    screen.says("look at @src/main.rs");
    screen.replies("Seen.");
    screen.presses("ctrl-r");
    screen.types("look");
    screen.presses("enter");
    assert_eq!(screen.state.composer.text(), "look at @src/main.rs");
}
