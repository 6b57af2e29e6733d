//! Quitting while the session is not saved.

use super::*;
use crate::runtime::Unsaved;
use crate::tui::host::HostRequest;
use std::path::{Path, PathBuf};

/// Returns the event that an attempt to save failed and this many entries are unsaved.
fn unsaved_event(entries: usize) -> Event {
    Event::Saved(Some(Unsaved { entries, reason: "No space left on device (os error 28)".into() }))
}

/// A session whose message and reply are not saved.
fn unsaved_screen() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_reply("Good.");
    let entries = screen.state.agent.session.entries().len();
    screen.handle_event(unsaved_event(entries));
    screen.draw_frame();
    screen
}

fn count_effects(screen: &Screen, effect: &Effect) -> usize {
    screen.effects.iter().filter(|requested| *requested == effect).count()
}

#[test]
fn r53_the_footer_shows_not_saved_and_saving_is_retried_every_three_seconds() {
    let mut screen = unsaved_screen();
    assert!(screen.screen_text().contains("NOT SAVED"), "{}", screen.screen_text());
    for attempt in 1..=3 {
        screen.advance_ms(2_900);
        assert_eq!(count_effects(&screen, &Effect::Save), attempt - 1);
        screen.advance_ms(200);
        assert_eq!(count_effects(&screen, &Effect::Save), attempt);
        screen.handle_event(unsaved_event(2));
    }
    screen.handle_event(Event::Saved(None));
    screen.draw_frame();
    let text = screen.screen_text();
    assert!(!text.contains("NOT SAVED") && text.contains("The session is saved again"), "{text}");
    screen.advance_ms(60_000);
    assert_eq!(count_effects(&screen, &Effect::Save), 3, "no further attempts");
}

#[test]
fn r53_quitting_asks_and_lists_what_would_be_lost() {
    let mut screen = unsaved_screen();
    screen.press_key("ctrl-d");
    let text = screen.screen_text();
    for part in [
        "This session is not saved",
        "No space left on device",
        "Wait until it is saved",
        "Save to /project/aye-01J.jsonl",
        "Quit without saving",
        "loses 1 message, 1 reply",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(count_effects(&screen, &Effect::Quit), 0);
    screen.press_key("esc");
    assert!(!screen.screen_text().contains("Quit without saving"));
    screen.press_key("ctrl-d");
    while !screen.screen_text().contains("❯ Quit without saving") {
        screen.press_key("down");
    }
    screen.press_key("enter");
    assert_eq!(count_effects(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_quitting_can_wait_or_save_to_another_file() {
    let mut screen = unsaved_screen();
    screen.press_key("ctrl-d");
    // The first choice waits until the session is saved.
    screen.press_key("enter");
    assert_eq!((count_effects(&screen, &Effect::Save), count_effects(&screen, &Effect::Quit)), (1, 0));
    screen.handle_event(unsaved_event(2));
    assert_eq!(count_effects(&screen, &Effect::Quit), 0);
    screen.handle_event(Event::Saved(None));
    assert_eq!(count_effects(&screen, &Effect::Quit), 1);

    let mut screen = unsaved_screen();
    screen.press_key("ctrl-d");
    // The second choice saves to another file.
    screen.press_key("down");
    screen.press_key("enter");
    let is_save_to_file = |effect: &Effect| matches!(effect, Effect::SaveTo(file) if file.ends_with("aye-01J.jsonl"));
    assert_eq!(screen.effects.iter().filter(|effect| is_save_to_file(effect)).count(), 1);
    assert_eq!(count_effects(&screen, &Effect::Quit), 0, "the program quits only after the file was written");
    // The list closes if the disk has room again.
    let mut screen = unsaved_screen();
    screen.press_key("ctrl-d");
    screen.handle_event(Event::Saved(None));
    screen.draw_frame();
    assert!(!screen.screen_text().contains("Quit without saving"));
    screen.press_key("ctrl-d");
    assert_eq!(count_effects(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_ctrl_c_asks_once_and_then_quits() {
    let mut screen = unsaved_screen();
    screen.press_key("ctrl-c");
    screen.press_key("ctrl-c");
    assert!(screen.screen_text().contains("Quit without saving"), "{}", screen.screen_text());
    screen.advance_ms(2_000);
    screen.press_key("ctrl-c");
    assert!(screen.screen_text().contains("again to quit and lose 1 message, 1 reply"), "{}", screen.screen_text());
    assert_eq!(count_effects(&screen, &Effect::Quit), 0);
    screen.press_key("ctrl-c");
    assert_eq!(count_effects(&screen, &Effect::Quit), 1);
}

#[test]
fn r53_an_unsaved_session_is_not_replaced_by_another() {
    let mut screen = unsaved_screen();
    screen.send_text("/new");
    let text = screen.screen_text();
    assert!(text.contains("Cannot leave this session: it is not saved"), "{text}");
    let is_new_session = |effect: &Effect| matches!(effect, Effect::Request(HostRequest::StartSession));
    assert!(!screen.effects.iter().any(is_new_session));
}

#[test]
fn the_same_folder_is_offered_once() {
    let files = |home: Option<&str>, project: &str| {
        crate::tui::session_saving::alternative_files(&SessionId("01J".into()), home.map(Path::new), Path::new(project))
    };
    let expected = ["/home/ada", "/p", "/tmp"].map(|folder| PathBuf::from(folder).join("aye-01J.jsonl"));
    assert_eq!(files(Some("/home/ada"), "/p"), expected);
    assert_eq!(files(Some("/home/ada"), "/home/ada"), [expected[0].clone(), expected[2].clone()]);
    assert_eq!(files(Some("/tmp"), "/p"), [expected[2].clone(), expected[1].clone()]);
}
