//! Tests of the choice of what a rewind restores: each continues in a copy of the session.

use super::*;
use crate::tui::host::{HostReply, HostRequest, RewindTarget};

/// Opens the choice for the only message, with changes of two files and an effect that cannot be restored.
fn open_choice() -> Screen {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("Done."), turn_end()]);
    let checkpoint = Checkpoint {
        id: "01C".into(),
        session: SessionId("01S".into()),
        call: "call".into(),
        tool: "write_file".into(),
        seconds: 0,
        files: vec!["a.txt".into(), "b.txt".into()],
        undoes: Vec::new(),
        not_stored: vec![".env (ignored by git)".into()],
    };
    let point =
        RewindPoint { entry: 0, text: "go".into(), checkpoints: vec![checkpoint], lines: None, is_undone: false };
    screen.send_text("/rewind");
    screen.handle_event(Event::Host(HostReply::RewindPoints(vec![point])));
    screen.press_key("enter");
    screen
}

#[test]
fn each_choice_says_that_it_is_a_copy_and_what_cannot_be_restored() {
    let text = open_choice().screen_text();
    for part in [
        "Conversation and files  in a copy; asks before it restores 2 files",
        "Conversation only       in a copy; the files stay as they are",
        "Files only              in a full copy; asks before it restores 2 files",
        "Cannot be restored: .env (ignored by git)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn each_choice_asks_for_a_copy() {
    let target = RewindTarget { entry: 0, text: "go".into() };
    for (row, expected_target, restores_files) in
        [(0, Some(target.clone()), true), (1, Some(target), false), (2, None, true)]
    {
        let mut screen = open_choice();
        (0..row).for_each(|_| screen.press_key("down"));
        screen.press_key("enter");
        let session = screen.state.session.id.clone();
        let found = screen.effects.iter().find_map(|effect| match effect {
            Effect::Request(HostRequest::Rewind(id, target, request)) => Some((id.clone(), target, request.is_some())),
            _ => None,
        });
        assert_eq!(found, Some((session, &expected_target, restores_files)), "row {row}");
    }
}
