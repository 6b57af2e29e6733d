//! The cards that the program asks by itself: a yes or a no, and nothing that could be taken for either.

use super::*;
use crate::chat::altered::{Outside, OutsideAltered};
use crate::chat::{Altered, Did};
use crate::tui::host::{Rehearsed, Reply, Wish};

/// The card that asks whether what was rehearsed is thrown away.
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
fn a_capital_throws_away_what_was_rehearsed_and_n_and_esc_leave_it() {
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
fn r03_no_key_that_was_on_its_way_throws_anything_away() {
    let mut screen = drops();
    screen.presses("Y");
    assert!(!dropped(&screen) && screen.shows().contains("Too soon"), "{}", screen.shows());
    screen.waits(400);
    screen.presses("Y");
    assert!(!dropped(&screen), "half a second has not passed since the last key");
    screen.waits(600);
    screen.happens(Event::Key(key("Y")));
    screen.happens(Event::Key(key("e")));
    screen.waits(100);
    screen.happens(Event::Quiet);
    assert!(!dropped(&screen), "letters that come at once are part of a text");
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
fn enter_says_neither_and_the_card_says_so() {
    let mut screen = drops();
    screen.waits(2000);
    screen.presses("enter");
    let shows = screen.shows();
    assert!(shows.contains("Enter does not answer · Y discard, n keep"), "{shows}");
    assert!(!dropped(&screen) && screen.state.overlays.len() == 1);
}

#[test]
fn r12_an_ordinary_yes_throws_nothing_away_and_the_card_says_what_does() {
    let mut screen = drops();
    screen.waits(2000);
    screen.presses("y");
    let shows = screen.shows();
    assert!(shows.contains("Y discard: this cannot be undone"), "{shows}");
    assert!(!dropped(&screen) && screen.state.overlays.len() == 1);
}

#[test]
fn r34_a_yes_counts_when_all_was_seen() {
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
    assert!(!dropped(&screen), "its end was not seen");
    screen.presses("end");
    screen.waits(2000);
    screen.presses("y");
    assert!(dropped(&screen));
}

#[test]
fn r34_a_notice_takes_no_row_of_a_card_that_has_few() {
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
fn where_nothing_stands_that_is_no_row() {
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
fn changes_outside_the_project_are_rows_of_the_review() {
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
