//! Tests of browsing and searching the history.

use super::*;

/// Returns a composer with this text and a history of three messages. The newest one has two lines.
pub(super) fn composer_with_history(text: &str) -> Composer {
    let mut composer = composer_with(text);
    composer.set_history(["cargo test", "fix the test", "two\nlines"].map(str::to_owned).to_vec());
    composer
}

#[track_caller]
fn assert_history_keys(before: &str, chords: &str, after: &str) {
    let mut composer = composer_with_history(before);
    press_keys(&mut composer, chords);
    assert_eq!(text_with_cursor(&composer), after, "{before} {chords}");
}

#[test]
fn the_arrow_keys_browse_the_history() {
    assert_history_keys("|", "up", "two\nlines|");
    // The second `up` only moves to the first line of the newest message.
    assert_history_keys("|", "up up up", "fix the test|");
    assert_history_keys("|", "up up up up up up", "cargo test|");
    assert_history_keys("|", "up down", "|");
    assert_history_keys("|", "up up up down", "two\nlines|");
    assert_history_keys("mine|", "up", "|mine");
}

#[test]
fn r03_browsing_the_history_never_loses_text() {
    assert_history_keys("|", "up up up x down up up", "fix the testx|");
    assert_history_keys("mine|", "ctrl-r c a r g o enter down down down", "mine|");
    let mut composer = composer_with_history("|");
    press_keys(&mut composer, "up up up");
    composer.remember("newest");
    press_keys(&mut composer, "down down down");
    assert_eq!(text_with_cursor(&composer), "|");
    press_keys(&mut composer, "up");
    assert_eq!(text_with_cursor(&composer), "newest|");
    composer.set_history(vec!["other".into()]);
    assert_eq!(text_with_cursor(&composer), "|");
}

#[test]
fn the_history_is_searched_as_in_a_shell() {
    assert_history_keys("|", "ctrl-r t e s t enter", "fix the test|");
    assert_history_keys("|", "ctrl-r t e s t ctrl-r right", "cargo test|");
    assert_history_keys("|", "ctrl-r t e s t ctrl-r ctrl-r enter", "cargo test|");
    assert_history_keys("|", "ctrl-r t e s t ctrl-r down enter", "fix the test|");
    assert_history_keys("|", "ctrl-r z enter", "|");
    assert_history_keys("mine|", "ctrl-r t e s t esc", "mine|");
    assert_history_keys("mine|", "ctrl-r t e s t ctrl-g", "mine|");
    assert_history_keys("|", "ctrl-r t e z backspace enter", "fix the test|");
    assert_history_keys("|", "ctrl-r c a r g o ctrl-a", "|cargo test");
    let mut composer = composer_with_history("|");
    assert_eq!(press_keys(&mut composer, "ctrl-r c"), KeyResult::Handled);
    assert!(composer.is_searching());
    assert_eq!(press_keys(&mut composer, "enter"), KeyResult::Handled);
    assert!(!composer.is_searching());
    assert_eq!(press_keys(&mut composer, "enter"), KeyResult::Send);
}

#[test]
fn a_search_is_shown() {
    let mut composer = composer_with_history("|");
    press_keys(&mut composer, "ctrl-r t e s");
    assert_snapshot!(screen_text(&composer, 40, 5), @r"
      fix the test
    search: tes█
    ");
    press_keys(&mut composer, "z");
    assert_snapshot!(screen_text(&composer, 40, 5), @r"
    search: tesz█ no match
    ");
}

#[test]
fn a_match_is_visible_and_survives_a_newer_message() {
    let mut composer = composer_with_history("|");
    composer.remember(&format!("{}\nlatest", numbered_lines(20)));
    press_keys(&mut composer, "ctrl-r l a t");
    assert_snapshot!(screen_text(&composer, 40, 3), @r"
      line 20
      latest
    search: lat█
    ");
    composer.remember("newer");
    press_keys(&mut composer, "enter");
    assert_eq!(text_with_cursor(&composer), format!("{}\nlatest|", numbered_lines(20)));
}
