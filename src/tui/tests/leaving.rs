//! Quitting while the session is not saved.

use super::*;
use crate::runtime::Unsaved;
use crate::tui::host::Wish;
use std::path::{Path, PathBuf};

fn unsaved(entries: usize) -> Event {
    Event::Saved(Some(Unsaved { entries, reason: "No space left on device (os error 28)".into() }))
}

/// A session whose message and reply are not saved.
fn failing() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.replies("Good.");
    let entries = screen.state.agent.session.entries().len();
    screen.happens(unsaved(entries));
    screen.frame();
    screen
}

fn count(screen: &Screen, effect: &Effect) -> usize {
    screen.effects.iter().filter(|one| *one == effect).count()
}

#[test]
fn r53_the_footer_shows_not_saved_and_saving_is_retried_every_three_seconds() {
    let mut screen = failing();
    assert!(screen.shows().contains("NOT SAVED"), "{}", screen.shows());
    for tries in 1..=3 {
        screen.waits(2_900);
        assert_eq!(count(&screen, &Effect::Save), tries - 1);
        screen.waits(200);
        assert_eq!(count(&screen, &Effect::Save), tries);
        screen.happens(unsaved(2));
    }
    screen.happens(Event::Saved(None));
    screen.frame();
    let shown = screen.shows();
    assert!(!shown.contains("NOT SAVED") && shown.contains("The session is saved again"), "{shown}");
    screen.waits(60_000);
    assert_eq!(count(&screen, &Effect::Save), 3, "no further attempts");
}

#[test]
fn r53_quitting_asks_and_lists_what_would_be_lost() {
    let mut screen = failing();
    screen.presses("ctrl-d");
    let shown = screen.shows();
    for part in [
        "This session is not saved",
        "No space left on device",
        "Wait until it is saved",
        "Save to /project/aye-01J.jsonl",
        "Quit without saving",
        "loses 1 message, 1 reply",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(count(&screen, &Effect::Quit), 0);
    screen.presses("esc");
    assert!(!screen.shows().contains("Quit without saving"));
    screen.presses("ctrl-d");
    while !screen.shows().contains("❯ Quit without saving") {
        screen.presses("down");
    }
    screen.presses("enter");
    assert_eq!(count(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_quitting_can_wait_or_save_to_another_file() {
    let mut screen = failing();
    screen.presses("ctrl-d");
    screen.presses("enter");
    assert_eq!((count(&screen, &Effect::Save), count(&screen, &Effect::Quit)), (1, 0));
    screen.happens(unsaved(2));
    assert_eq!(count(&screen, &Effect::Quit), 0);
    screen.happens(Event::Saved(None));
    assert_eq!(count(&screen, &Effect::Quit), 1);

    let mut screen = failing();
    screen.presses("ctrl-d");
    screen.presses("down");
    screen.presses("enter");
    let to = |effect: &Effect| matches!(effect, Effect::SaveTo(file) if file.ends_with("aye-01J.jsonl"));
    assert_eq!(screen.effects.iter().filter(|effect| to(effect)).count(), 1);
    assert_eq!(count(&screen, &Effect::Quit), 0, "only after it was written");
    // The list closes if the disk has room again.
    let mut screen = failing();
    screen.presses("ctrl-d");
    screen.happens(Event::Saved(None));
    screen.frame();
    assert!(!screen.shows().contains("Quit without saving"));
    screen.presses("ctrl-d");
    assert_eq!(count(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_ctrl_c_asks_once_and_then_quits() {
    let mut screen = failing();
    screen.presses("ctrl-c");
    screen.presses("ctrl-c");
    assert!(screen.shows().contains("Quit without saving"), "{}", screen.shows());
    screen.waits(2_000);
    screen.presses("ctrl-c");
    assert!(screen.shows().contains("again to quit and lose 1 message, 1 reply"), "{}", screen.shows());
    assert_eq!(count(&screen, &Effect::Quit), 0);
    screen.presses("ctrl-c");
    assert_eq!(count(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_an_unsaved_session_is_not_replaced_by_another() {
    let mut screen = failing();
    screen.says("/new");
    let shown = screen.shows();
    assert!(shown.contains("Cannot leave this session: it is not saved"), "{shown}");
    let opens = |effect: &Effect| matches!(effect, Effect::Ask(Wish::New));
    assert!(!screen.effects.iter().any(opens));
}

#[test]
fn the_same_folder_is_offered_once() {
    let files = |home: Option<&str>, project: &str| {
        crate::tui::saving::other_files(&SessionId("01J".into()), home.map(Path::new), Path::new(project))
    };
    let all = ["/home/ada", "/p", "/tmp"].map(|folder| PathBuf::from(folder).join("aye-01J.jsonl"));
    assert_eq!(files(Some("/home/ada"), "/p"), all);
    assert_eq!(files(Some("/home/ada"), "/home/ada"), [all[0].clone(), all[2].clone()]);
}
