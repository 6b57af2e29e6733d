//! Typing, sending, and toasts next to the composer.

use super::*;
use crate::tui::overlay::{Body, Overlay, Reader};
use crate::tui::parts::toast::Kind;

#[test]
fn an_error_that_was_read_disappears_with_the_next_key() {
    let mut screen = Screen::new();
    screen.state.notice("The disk is full.", Kind::Danger);
    screen.waits(500);
    screen.presses("a");
    assert!(!screen.state.toasts.is_empty(), "half a second is too short to have read it");
    screen.waits(60_000);
    assert!(!screen.state.toasts.is_empty(), "it waits for a key");
    screen.presses("b");
    assert!(screen.state.toasts.is_empty());
    assert_eq!(screen.state.composer.text(), "ab", "the keys are written as well");
}

#[test]
fn an_unknown_command_stays_in_the_composer_and_a_blank_sends_it() {
    let mut screen = Screen::new();
    screen.says("/nosuch thing");
    assert!(screen.state.agent.is_idle(), "nothing was sent");
    assert_eq!(screen.state.composer.text(), "/nosuch thing");
    assert!(screen.shows().contains("Unknown command /nosuch"), "{}", screen.shows());
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
fn r03_text_typed_before_the_first_frame_goes_to_the_composer() {
    let mut screen = Screen::new();
    screen.happens(Event::Early("\n".into()));
    assert!(screen.state.composer.is_empty() && screen.state.toasts.is_empty());
    screen.happens(Event::Early("\nfix it\nall\x1b[2J of it\n".into()));
    assert_eq!(screen.state.composer.text(), "fix it\nall of it\n");
    assert!(screen.shows().contains("enter to send"), "{}", screen.shows());
    screen.happens(Event::Early("y\n".into()));
    assert!(screen.state.agent.is_idle() && screen.decided() == 0);
    let mut screen = Screen::new();
    screen.happens(Event::Early("/he".into()));
    assert!(screen.state.complete.is_open() && screen.state.toasts.is_empty());
    // A key in between splits the text into pieces, one of which may be only a blank.
    let mut screen = Screen::new();
    screen.happens(Event::Early("ab".into()));
    screen.happens(Event::Key(crossterm::event::KeyCode::Left.into()));
    screen.happens(Event::Early(" ".into()));
    assert_eq!(screen.state.composer.text(), "a b");
    assert!(screen.state.toasts.is_empty());
    screen.happens(Event::Early("\n".into()));
    assert_eq!(screen.state.composer.text(), "a \nb");
    assert!(screen.shows().contains("enter to send"), "{}", screen.shows());
}

#[test]
fn messages_queued_in_a_stopped_turn_can_be_sent_or_edited() {
    let stopped = || {
        let mut screen = Screen::new();
        screen.says("go");
        screen.says("and quickly");
        assert!(screen.shows().contains("queued for the next request · alt-q take back"));
        screen.presses("esc");
        let shows = screen.shows();
        assert!(shows.contains("not sent · enter send · alt-q take back"), "{shows}");
        screen
    };
    let said = |screen: &Screen| {
        let said = |entry: &Entry| matches!(entry, Entry::Said { text } if text == "and quickly");
        screen.state.agent.session.entries().iter().filter(|entry| said(entry)).count()
    };
    let mut screen = stopped();
    screen.presses("enter");
    assert_eq!((said(&screen), screen.state.agent.is_idle()), (1, false));
    assert!(!screen.shows().contains("not sent"));
    let mut screen = stopped();
    screen.presses("alt-q");
    assert_eq!((said(&screen), screen.state.composer.text().as_str()), (0, "and quickly"));
    screen.presses("ctrl-u");
    screen.presses("enter");
    assert!(screen.state.agent.is_idle(), "there is nothing to send");
    let mut screen = stopped();
    screen.types("more");
    let effects = update::farewell(&mut screen.state);
    let kept = effects.iter().find_map(|effect| match effect {
        Effect::Ask(crate::tui::host::Wish::Keep(_, unsent)) => Some((unsent.queue.join("|"), unsent.text())),
        _ => None,
    });
    assert_eq!(kept, Some(("and quickly".into(), "more".into())), "quitting loses nothing");
}

#[test]
fn toasts_do_not_cover_the_reply() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (80, 12)] {
        let mut screen = Screen::new();
        screen.resized(width, height);
        screen.says("go");
        let lines: Vec<String> =
            (1..80).map(|number| format!("{number:03} {}", "x".repeat(usize::from(width) - 8))).collect();
        screen.replies(&lines.join("  \n"));
        screen.state.notice("one notice of some length, so that it takes room", Kind::Warning);
        screen.state.notice("another", Kind::Info);
        let shows = screen.shows();
        assert!(shows.contains("one notice") && shows.contains("another"), "{shows}");
        let whole = |line: &&str| line.trim_start().starts_with('0') && !line.contains('▌');
        let whole =
            shows.lines().filter(whole).filter(|line| line.matches('x').count() + 8 == usize::from(width));
        let begun = shows.lines().filter(|line| line.trim_start().starts_with('0')).count();
        assert_eq!(whole.count(), begun, "{shows}");
        assert!(shows.contains("079 x"), "the end of the reply is seen: {shows}");
        // The same above an open page.
        screen.state.overlays.push(Overlay::Reader(Reader {
            title: "a page".into(),
            text: lines.join("\n").into(),
            body: Body::Words,
            top: 0,
            laid: Default::default(),
        }));
        let shows = screen.shows();
        let cut = |line: &&str| line.contains('x') && line.contains('▌');
        assert!(shows.contains("another") && !shows.lines().any(|line| cut(&line)), "{shows}");
    }
}

#[test]
fn toasts_are_aligned_in_one_column() {
    let mut screen = Screen::new();
    screen.state.notice("a short one", Kind::Info);
    screen.state.notice(&"words that are many ".repeat(8), Kind::Warning);
    let shows = screen.shows();
    let columns: std::collections::BTreeSet<usize> =
        shows.lines().filter_map(|line| line.chars().position(|sign| sign == '▌')).collect();
    assert_eq!(columns.len(), 1, "{shows}");
}

#[test]
fn warnings_can_be_read_again() {
    let mut screen = Screen::new();
    screen.state.notice("config.toml:2: mouse is true or false", Kind::Warning);
    screen.state.notice("copied", Kind::Info);
    screen.waits(60_000);
    assert!(screen.state.toasts.is_empty());
    assert!(screen.shows().contains("! config.toml:2: mouse is true or false"), "{}", screen.shows());
    screen.says("go");
    screen.replies("Done.");
    assert!(!screen.shows().contains("config.toml"));
    screen.says("/notices");
    let shows = screen.shows();
    assert!(shows.contains("config.toml:2") && !shows.contains("copied"), "{shows}");
}

#[test]
fn enter_in_the_history_search_takes_the_match_without_completing() {
    let mut screen = Screen::new();
    screen.says("look at @src/main.rs");
    screen.replies("Seen.");
    screen.presses("ctrl-r");
    screen.types("look");
    screen.presses("enter");
    assert_eq!(screen.state.composer.text(), "look at @src/main.rs");
}
