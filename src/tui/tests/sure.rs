//! Confirmation prompts of the program itself: confirm, cancel, and nothing that could be mistaken for either.

use super::*;
use crate::chat::altered::{Outside, OutsideAltered};
use crate::chat::{Altered, Did};
use crate::tui::host::{Rehearsed, Reply, Wish};

/// The prompt that asks whether the rehearsed changes are discarded.
fn drops() -> Screen {
    let mut screen = Screen::dry();
    screen.says("/rehearsal drop");
    let staged = crate::chat::Played {
        tool: "bash_exec".into(),
        arguments: "{}".into(),
        summary: "make".into(),
        command: None,
        staged: None,
        asks: None,
        hooks_not_run: Vec::new(),
        result: "done".into(),
        changed: vec![],
        done: false,
    };
    let staging = crate::chat::Staging { steps: vec![staged], ..Default::default() };
    let of = SessionId("01J".into());
    screen.happens(Event::Host(Reply::Rehearsal(Ok(Rehearsed { of, staging }))));
    screen.frame();
    screen
}

fn dropped(screen: &Screen) -> bool {
    screen.effects.iter().any(|effect| matches!(effect, Effect::Ask(Wish::Drop(_))))
}

#[test]
fn a_capital_discards_rehearsed_changes_and_n_and_esc_keep_them() {
    for (chord, gone) in [("Y", true), ("n", false), ("esc", false)] {
        let mut screen = drops();
        let shows = screen.shows();
        assert!(shows.contains("Discard the rehearsed changes?") && shows.contains("Y discard"), "{shows}");
        assert!(!shows.contains("type to filter") && !shows.contains("❯ the session"), "{shows}");
        screen.waits(2000);
        screen.presses(chord);
        assert_eq!((dropped(&screen), screen.state.overlays.len()), (gone, 0), "{chord}");
    }
}

#[test]
fn r03_a_key_typed_ahead_discards_nothing() {
    let mut screen = drops();
    screen.presses("Y");
    assert!(!dropped(&screen) && screen.shows().contains("Too soon"), "{}", screen.shows());
    screen.waits(400);
    screen.presses("Y");
    assert!(!dropped(&screen), "less than half a second since the last key");
    screen.waits(600);
    screen.happens(Event::Key(key("Y")));
    screen.happens(Event::Key(key("e")));
    screen.waits(100);
    screen.happens(Event::Quiet);
    assert!(!dropped(&screen), "keys in a burst are part of a text");
    screen.waits(600);
    screen.happens(Event::Hurried);
    screen.presses("Y");
    screen.happens(Event::Pasted("Y".into()));
    assert!(!dropped(&screen));
    screen.waits(600);
    screen.presses("Y");
    assert!(dropped(&screen));
}

#[test]
fn enter_does_not_answer_and_is_explained() {
    let mut screen = drops();
    screen.waits(2000);
    screen.presses("enter");
    let shows = screen.shows();
    assert!(shows.contains("Enter does not answer · Y discard, n keep"), "{shows}");
    assert!(!dropped(&screen) && screen.state.overlays.len() == 1);
}

#[test]
fn r12_the_ordinary_approval_key_discards_nothing_and_is_explained() {
    let mut screen = drops();
    screen.waits(2000);
    screen.presses("y");
    let shows = screen.shows();
    assert!(shows.contains("Y discard: this cannot be undone"), "{shows}");
    assert!(!dropped(&screen) && screen.state.overlays.len() == 1);
}

#[test]
fn r34_confirming_needs_the_end_to_be_seen() {
    let mut screen = drops();
    for (width, height) in [(1, 1), (3, 2), (12, 3), (20, 5), (40, 4)] {
        screen.resized(width, height);
    }
    let mut screen = Screen::dry();
    screen.resized(30, 4);
    screen.happens(Event::Focused(true));
    let told = vec!["one ".repeat(60)];
    let card = crate::tui::parts::sure::Sure::new("really?", ("do it", "leave it"), told);
    let done = crate::tui::overlay::Done::Dropped(SessionId("01J".into()));
    screen.state.overlays.push(crate::tui::overlay::Overlay::Sure(card, done));
    screen.frame();
    screen.waits(2000);
    screen.presses("y");
    assert!(!dropped(&screen), "the end was not seen");
    screen.presses("end");
    screen.waits(2000);
    screen.presses("y");
    assert!(dropped(&screen));
}

#[test]
fn r34_a_toast_takes_no_row_of_a_small_prompt() {
    for height in 1..12 {
        let mut screen = drops();
        screen.state.notice("the disk is full", crate::tui::parts::toast::Kind::Danger);
        screen.resized(60, height);
        screen.presses("end");
        screen.waits(2000);
        let shows = screen.shows();
        screen.presses("Y");
        assert!(!dropped(&screen) || shows.contains("stay."), "{height}: {shows}");
    }
}

#[test]
fn a_missing_grant_is_a_note_and_not_a_row() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "bash_exec", command("make"));
    screen.waits(2000);
    screen.presses("y");
    screen.finished("a", Outcome::Done("made".into()));
    screen.replies("Done.");
    screen.says("/grants");
    let shows = screen.shows();
    assert!(shows.contains("1 of 1") && shows.contains("No grants or rules"), "{shows}");
    screen.presses("enter");
    assert!(
        screen.state.overlays.len() == 2 && screen.shows().contains("1 of 1 · bash_exec"),
        "{}",
        screen.shows()
    );
}

#[test]
fn changes_outside_the_project_are_rows_of_the_list() {
    let mut screen = Screen::dry();
    screen.says("/rehearsal");
    let changed = |path: &str, is_by_tool| OutsideAltered {
        altered: Altered {
            path: path.into(),
            did: Did::Made,
            folder: false,
            diff: None,
            notes: vec!["an empty file".into()],
            conflict: false,
            group: Default::default(),
        },
        is_by_tool,
    };
    let changes = vec![changed("/a/by-tool", true), changed("/b/by-command", false)];
    let staging = crate::chat::Staging::default().with_outside(Outside { changes, temporary: 7 });
    let of = SessionId("01J".into());
    screen.happens(Event::Host(Reply::Rehearsal(Ok(Rehearsed { of, staging }))));
    screen.frame();
    let shows = screen.shows();
    for words in ["9 changes outside the project", "+ /a/by-tool", "+ /b/by-command", "7 temporary files"] {
        assert!(shows.contains(words), "{words}: {shows}");
    }
    for _ in 0..2 {
        screen.presses("down");
    }
    screen.presses("enter");
    screen.frame();
    let shows = screen.shows();
    assert!(shows.contains("/b/by-command") && shows.contains("run the command live"), "{shows}");
}
