//! The list of sessions and the search in their text.

use super::*;
use crate::tui::host::{Reply, SessionRow, Wish};

fn row(id: &str, title: &str) -> SessionRow {
    SessionRow {
        id: SessionId(id.into()),
        title: title.into(),
        when: "14:02".into(),
        dry_run: id == "03",
        copy: false,
        waits: false,
    }
}

fn list() -> Screen {
    let mut screen = Screen::new();
    screen.presses("alt-s");
    let rows = vec![row("02", "the flaky clock"), row("03", "an orchard"), row("04", "rename the section")];
    screen.happens(Event::Host(Reply::Sessions(rows)));
    screen.effects.clear();
    screen
}

fn found(screen: &mut Screen, words: &str, lines: &[(&str, &str)], whole: bool) {
    let lines = lines.iter().map(|(id, line)| (SessionId((*id).into()), (*line).to_owned())).collect();
    screen.happens(Event::Host(Reply::Found { words: words.into(), lines, whole }));
}

fn searches(screen: &mut Screen) -> Vec<String> {
    let words = |effect: Effect| match effect {
        Effect::Ask(Wish::Search(words)) => Some(words),
        _ => None,
    };
    std::mem::take(&mut screen.effects).into_iter().filter_map(words).collect()
}

#[test]
fn sessions_are_found_by_their_text() {
    let mut screen = list();
    screen.types("ap");
    screen.types("ple");
    assert_eq!(searches(&mut screen), ["ap", "app", "appl", "apple"]);
    assert!(screen.shows().contains("No matches"), "{}", screen.shows());
    found(&mut screen, "apple", &[("03", "you: where does the Apple\u{1b}[2J fall?")], false);
    let shown = screen.shows();
    assert!(
        shown.contains("an orchard") && shown.contains("you: where does the Apple<U+001B>[2J fall?"),
        "{shown}"
    );
    assert!(shown.contains("Still searching") && !shown.contains("the flaky clock"), "{shown}");
    found(
        &mut screen,
        "apple",
        &[("03", "you: where does the Apple fall?"), ("04", "model: an apple")],
        true,
    );
    let shown = screen.shows();
    assert!(shown.contains("model: an apple") && !shown.contains("Still searching"), "{shown}");
    screen.presses("down");
    screen.presses("enter");
    assert!(
        screen.effects.contains(&Effect::Ask(Wish::Open(SessionId("04".into())))),
        "{:?}",
        screen.effects
    );
    assert_eq!(searches(&mut screen), [""], "the search was stopped");
}

#[test]
fn an_empty_list_is_reported_once_loaded() {
    let mut screen = Screen::new();
    screen.presses("alt-s");
    let shown = screen.shows();
    assert!(shown.contains("Loading sessions") && !shown.contains("No other"), "{shown}");
    screen.happens(Event::Host(Reply::Sessions(Vec::new())));
    let shown = screen.shows();
    assert!(shown.contains("No other session here") && !shown.contains("Loading"), "{shown}");
}

#[test]
fn late_results_and_those_for_other_text_are_ignored() {
    let mut screen = list();
    screen.types("orch");
    found(&mut screen, "orc", &[("02", "you: an orc")], true);
    let shown = screen.shows();
    assert!(!shown.contains("you: an orc") && shown.contains("an orchard"), "{shown}");
    searches(&mut screen);
    screen.presses("esc");
    assert_eq!(searches(&mut screen), [""]);
    found(&mut screen, "orch", &[("02", "you: late")], true);
    assert!(!screen.shows().contains("late"));
    let mut screen = list();
    screen.types("o");
    assert_eq!(searches(&mut screen), [""; 0], "a single character matches almost everything");
    screen.types("漢");
    screen.presses("backspace");
    screen.presses("backspace");
    assert_eq!(searches(&mut screen), ["o漢", ""]);
    let shown = screen.shows();
    assert!(shown.contains("the flaky clock") && shown.contains("3 of 3"), "{shown}");
}

#[test]
fn the_cursor_stays_on_its_session_as_results_arrive() {
    let mut screen = list();
    screen.types("needle");
    found(&mut screen, "needle", &[("03", "you: a needle")], false);
    found(&mut screen, "needle", &[("02", "you: a needle"), ("03", "you: a needle")], true);
    screen.presses("enter");
    assert!(
        screen.effects.contains(&Effect::Ask(Wish::Open(SessionId("03".into())))),
        "{:?}",
        screen.effects
    );
}

#[test]
fn the_current_session_is_marked_and_selected() {
    let mut screen = Screen::new();
    screen.presses("alt-s");
    screen.happens(Event::Host(Reply::Sessions(vec![row("02", "another"), row("01J", "this very one")])));
    let shows = screen.shows();
    let line = shows.lines().find(|line| line.contains("this very one")).unwrap_or_default();
    assert!(line.contains("❯ this very one") && line.contains("in use"), "{shows}");
    assert_eq!(shows.matches("in use").count(), 1, "{shows}");
}
