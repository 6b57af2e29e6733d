//! The list of sessions and the search in their text.

use super::*;
use crate::tui::host::{HostReply, HostRequest, SessionRow};

/// Returns a row of the list. Session `03` is a dry run.
fn session_row(id: &str, title: &str) -> SessionRow {
    SessionRow {
        id: SessionId(id.into()),
        title: title.into(),
        last_used: "14:02".into(),
        is_dry_run: id == "03",
        is_copy: false,
        has_open_question: false,
        parked_note: None,
    }
}

fn open_session_list() -> Screen {
    let mut screen = Screen::new();
    screen.press_key("alt-s");
    let rows = vec![
        session_row("02", "the flaky clock"),
        session_row("03", "an orchard"),
        session_row("04", "rename the section"),
    ];
    screen.handle_event(Event::Host(HostReply::Sessions(rows)));
    screen.effects.clear();
    screen
}

/// Last parameter of `receive_results`: whether the search has finished.
const FINISHED: bool = true;
const STILL_SEARCHING: bool = false;

fn receive_results(screen: &mut Screen, query: &str, matches: &[(&str, &str)], is_complete: bool) {
    let matches = matches.iter().map(|(id, line)| (SessionId((*id).into()), (*line).to_owned())).collect();
    screen.handle_event(Event::Host(HostReply::SearchResults { query: query.into(), matches, is_complete }));
}

/// Returns the texts searched for since the last check. An empty text stops the search.
fn take_requested_searches(screen: &mut Screen) -> Vec<String> {
    let searched_text = |effect: Effect| match effect {
        Effect::Request(HostRequest::SearchSessions(query)) => Some(query),
        _ => None,
    };
    std::mem::take(&mut screen.effects).into_iter().filter_map(searched_text).collect()
}

#[test]
fn sessions_are_found_by_their_text() {
    let mut screen = open_session_list();
    screen.type_text("ap");
    screen.type_text("ple");
    assert_eq!(take_requested_searches(&mut screen), ["ap", "app", "appl", "apple"]);
    assert!(screen.screen_text().contains("No matches"), "{}", screen.screen_text());
    receive_results(&mut screen, "apple", &[("03", "you: where does the Apple\u{1b}[2J fall?")], STILL_SEARCHING);
    let text = screen.screen_text();
    assert!(text.contains("an orchard") && text.contains("you: where does the Apple<U+001B>[2J fall?"), "{text}");
    assert!(text.contains("Still searching") && !text.contains("the flaky clock"), "{text}");
    receive_results(
        &mut screen,
        "apple",
        &[("03", "you: where does the Apple fall?"), ("04", "model: an apple")],
        FINISHED,
    );
    let text = screen.screen_text();
    assert!(text.contains("model: an apple") && !text.contains("Still searching"), "{text}");
    screen.press_key("down");
    screen.press_key("enter");
    assert!(
        screen.effects.contains(&Effect::Request(HostRequest::OpenSession(SessionId("04".into())))),
        "{:?}",
        screen.effects
    );
    assert_eq!(take_requested_searches(&mut screen), [""], "the search was stopped");
}

#[test]
fn an_empty_list_is_reported_once_loaded() {
    let mut screen = Screen::new();
    screen.press_key("alt-s");
    let text = screen.screen_text();
    assert!(text.contains("Loading sessions") && !text.contains("No other"), "{text}");
    screen.handle_event(Event::Host(HostReply::Sessions(Vec::new())));
    let text = screen.screen_text();
    assert!(text.contains("No other session here") && !text.contains("Loading"), "{text}");
}

#[test]
fn late_results_and_those_for_other_text_are_ignored() {
    let mut screen = open_session_list();
    screen.type_text("orch");
    receive_results(&mut screen, "orc", &[("02", "you: an orc")], FINISHED);
    let text = screen.screen_text();
    assert!(!text.contains("you: an orc") && text.contains("an orchard"), "{text}");
    take_requested_searches(&mut screen);
    screen.press_key("esc");
    assert_eq!(take_requested_searches(&mut screen), [""]);
    receive_results(&mut screen, "orch", &[("02", "you: late")], FINISHED);
    assert!(!screen.screen_text().contains("late"));
    let mut screen = open_session_list();
    screen.type_text("o");
    assert_eq!(take_requested_searches(&mut screen), [""; 0], "a single character matches almost everything");
    screen.type_text("漢");
    screen.press_key("backspace");
    screen.press_key("backspace");
    assert_eq!(take_requested_searches(&mut screen), ["o漢", ""]);
    let text = screen.screen_text();
    assert!(text.contains("the flaky clock") && text.contains("3 of 3"), "{text}");
}

#[test]
fn the_cursor_stays_on_its_session_as_results_arrive() {
    let mut screen = open_session_list();
    screen.type_text("needle");
    receive_results(&mut screen, "needle", &[("03", "you: a needle")], STILL_SEARCHING);
    receive_results(&mut screen, "needle", &[("02", "you: a needle"), ("03", "you: a needle")], FINISHED);
    screen.press_key("enter");
    assert!(
        screen.effects.contains(&Effect::Request(HostRequest::OpenSession(SessionId("03".into())))),
        "{:?}",
        screen.effects
    );
}

#[test]
fn the_current_session_is_marked_and_selected() {
    // `Screen::new` opens session `01J`.
    let mut screen = Screen::new();
    screen.press_key("alt-s");
    screen.handle_event(Event::Host(HostReply::Sessions(vec![
        session_row("02", "another"),
        session_row("01J", "this very one"),
    ])));
    let text = screen.screen_text();
    let line = text.lines().find(|line| line.contains("this very one")).unwrap_or_default();
    assert!(line.contains("❯ this very one") && line.contains("in use"), "{text}");
    assert_eq!(text.matches("in use").count(), 1, "{text}");
}
