//! Tests of browsing and searching the history.

use super::*;

pub(super) fn with_history(text: &str) -> Composer {
    let mut composer = holding(text);
    composer.set_history(["cargo test", "fix the test", "two\nlines"].map(str::to_owned).to_vec());
    composer
}

#[track_caller]
fn check_history(before: &str, pressed: &str, after: &str) {
    let mut composer = with_history(before);
    press(&mut composer, pressed);
    assert_eq!(held(&composer), after, "{before} {pressed}");
}

#[test]
fn the_arrow_keys_browse_the_history() {
    check_history("|", "up", "two\nlines|");
    check_history("|", "up up up", "fix the test|");
    check_history("|", "up up up up up up", "cargo test|");
    check_history("|", "up down", "|");
    check_history("|", "up up up down", "two\nlines|");
    check_history("mine|", "up", "|mine");
}

#[test]
fn r03_browsing_the_history_never_loses_text() {
    check_history("|", "up up up x down up up", "fix the testx|");
    check_history("mine|", "ctrl-r c a r g o enter down down down", "mine|");
    let mut composer = with_history("|");
    press(&mut composer, "up up up");
    composer.remember("newest");
    press(&mut composer, "down down down");
    assert_eq!(held(&composer), "|");
    press(&mut composer, "up");
    assert_eq!(held(&composer), "newest|");
    composer.set_history(vec!["other".into()]);
    assert_eq!(held(&composer), "|");
}

#[test]
fn the_history_is_searched_as_in_a_shell() {
    check_history("|", "ctrl-r t e s t enter", "fix the test|");
    check_history("|", "ctrl-r t e s t ctrl-r right", "cargo test|");
    check_history("|", "ctrl-r t e s t ctrl-r ctrl-r enter", "cargo test|");
    check_history("|", "ctrl-r t e s t ctrl-r down enter", "fix the test|");
    check_history("|", "ctrl-r z enter", "|");
    check_history("mine|", "ctrl-r t e s t esc", "mine|");
    check_history("mine|", "ctrl-r t e s t ctrl-g", "mine|");
    check_history("|", "ctrl-r t e z backspace enter", "fix the test|");
    check_history("|", "ctrl-r c a r g o ctrl-a", "|cargo test");
    let mut composer = with_history("|");
    assert_eq!(press(&mut composer, "ctrl-r c"), Pressed::Used);
    assert!(composer.is_searching());
    assert_eq!(press(&mut composer, "enter"), Pressed::Used);
    assert!(!composer.is_searching());
    assert_eq!(press(&mut composer, "enter"), Pressed::Send);
}

#[test]
fn a_search_is_shown() {
    let mut composer = with_history("|");
    press(&mut composer, "ctrl-r t e s");
    assert_snapshot!(shows(&composer, 40, 5), @r"
      fix the test
    search: tes█
    ");
    press(&mut composer, "z");
    assert_snapshot!(shows(&composer, 40, 5), @r"
    search: tesz█ no match
    ");
}

#[test]
fn a_match_is_visible_and_survives_a_newer_message() {
    let mut composer = with_history("|");
    composer.remember(&format!("{}\nlatest", lines(20)));
    press(&mut composer, "ctrl-r l a t");
    assert_snapshot!(shows(&composer, 40, 3), @r"
      line 20
      latest
    search: lat█
    ");
    composer.remember("newer");
    press(&mut composer, "enter");
    assert_eq!(held(&composer), format!("{}\nlatest|", lines(20)));
}
