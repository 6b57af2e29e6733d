//! Confirmation prompts of the program itself: confirm, cancel, and nothing that could be mistaken for either.

use super::*;
use crate::chat::dry_run_summary::{OutsideChange, OutsideChanges};
use crate::chat::{ChangeKind, DryRunChange};
use crate::tui::host::{HostReply, HostRequest, Rehearsal};
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};

/// The prompt that asks whether the rehearsed changes are discarded.
fn screen_with_confirmation() -> Screen {
    let mut screen = Screen::dry_run();
    screen.send_text("/rehearsal drop");
    let call = crate::chat::RehearsedCall {
        tool: "bash_exec".into(),
        arguments: "{}".into(),
        summary: "make".into(),
        command: None,
        origin: None,
        would_ask: None,
        hooks_not_run: Vec::new(),
        result: "done".into(),
        changed_paths: vec![],
        is_run_live: false,
    };
    let summary = crate::chat::DryRunSummary { calls: vec![call], ..Default::default() };
    let session = SessionId("01J".into());
    screen.handle_event(Event::Host(HostReply::Rehearsal(Ok(Rehearsal { session, summary }))));
    screen.draw_frame();
    screen
}

fn has_discarded(screen: &Screen) -> bool {
    screen.effects.iter().any(|effect| matches!(effect, Effect::Request(HostRequest::DiscardRehearsal(_))))
}

#[test]
fn a_capital_discards_rehearsed_changes_and_n_and_esc_keep_them() {
    for (chord, is_discarded) in [("Y", true), ("n", false), ("esc", false)] {
        let mut screen = screen_with_confirmation();
        let text = screen.screen_text();
        assert!(text.contains("Discard the rehearsed changes?") && text.contains("Y discard"), "{text}");
        let shows_a_list = text.contains("type to filter") || text.contains("❯ the session");
        assert!(!shows_a_list, "{text}");
        screen.advance_ms(2000);
        screen.press_key(chord);
        assert_eq!((has_discarded(&screen), screen.state.viewport.popups.len()), (is_discarded, 0), "{chord}");
    }
}

#[test]
fn r03_a_key_typed_ahead_discards_nothing() {
    let mut screen = screen_with_confirmation();
    screen.press_key("Y");
    assert!(!has_discarded(&screen) && screen.screen_text().contains("Too fast"), "{}", screen.screen_text());
    screen.advance_ms(400);
    screen.press_key("Y");
    assert!(!has_discarded(&screen), "less than half a second since the last key");
    screen.advance_ms(600);
    screen.handle_event(Event::Key(key("Y")));
    screen.handle_event(Event::Key(key("e")));
    screen.advance_ms(100);
    screen.handle_event(Event::InputIdle);
    assert!(!has_discarded(&screen), "keys in a burst are part of a text");
    screen.advance_ms(600);
    screen.handle_event(Event::TooFast);
    screen.press_key("Y");
    screen.handle_event(Event::Pasted("Y".into()));
    assert!(!has_discarded(&screen));
    screen.advance_ms(600);
    screen.press_key("Y");
    assert!(has_discarded(&screen));
}

#[test]
fn enter_does_not_answer_and_is_explained() {
    let mut screen = screen_with_confirmation();
    screen.advance_ms(2000);
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(text.contains("Enter does not answer · Y discard, n keep"), "{text}");
    assert!(!has_discarded(&screen) && screen.state.viewport.popups.len() == 1);
}

#[test]
fn r12_the_ordinary_approval_key_discards_nothing_and_is_explained() {
    let mut screen = screen_with_confirmation();
    screen.advance_ms(2000);
    screen.press_key("y");
    let text = screen.screen_text();
    assert!(text.contains("Y discard: this cannot be undone"), "{text}");
    assert!(!has_discarded(&screen) && screen.state.viewport.popups.len() == 1);
}

#[test]
fn r34_confirming_needs_the_end_to_be_seen() {
    let mut screen = screen_with_confirmation();
    // No size causes a panic.
    for (width, height) in [(1, 1), (3, 2), (12, 3), (20, 5), (40, 4)] {
        screen.resize_screen(width, height);
    }
    let mut screen = Screen::dry_run();
    screen.resize_screen(30, 4);
    screen.handle_event(Event::Focused(true));
    let facts = vec!["one ".repeat(60)];
    let labels = AnswerLabels { confirm: "do it", cancel: "leave it" };
    // Nothing is lost here, so the ordinary approval key confirms.
    let confirmation = Confirmation::new("really?", labels, facts);
    let action = crate::tui::popup::ConfirmedAction::DiscardRehearsal(SessionId("01J".into()));
    screen.state.viewport.popups.push(crate::tui::popup::Popup::Confirmation(confirmation, action));
    screen.draw_frame();
    screen.advance_ms(2000);
    assert!(screen.screen_text().contains("end first, then y"), "{}", screen.screen_text());
    screen.press_key("y");
    assert!(!has_discarded(&screen), "the end was not seen");
    screen.press_key("end");
    assert!(screen.screen_text().contains("╰─ y do it · n leave it"), "{}", screen.screen_text());
    screen.advance_ms(2000);
    screen.press_key("y");
    assert!(has_discarded(&screen));
}

#[test]
fn r34_a_toast_takes_no_row_of_a_small_prompt() {
    for height in 1..12 {
        let mut screen = screen_with_confirmation();
        screen.state.show_notice("the disk is full", crate::tui::parts::toast::Kind::Error);
        screen.resize_screen(60, height);
        screen.press_key("end");
        screen.advance_ms(2000);
        let text = screen.screen_text();
        screen.press_key("Y");
        let shows_end_of_prompt = text.contains("stay.");
        assert!(!has_discarded(&screen) || shows_end_of_prompt, "{height}: {text}");
    }
}

#[test]
fn a_list_without_grants_and_calls_offers_only_to_go_back() {
    let mut screen = Screen::new();
    screen.send_text("/grants");
    let text = screen.screen_text();
    assert!(text.contains("In force: none") && text.contains("Calls: none yet"), "{text}");
    assert!(text.contains("╰─ esc back ─") && !text.contains("enter open"), "{text}");
}

#[test]
fn a_missing_grant_is_a_note_and_not_a_row() {
    let mut screen = Screen::with_turn();
    screen.run_call("bash_exec", command_intent("make"), "made");
    screen.send_text("/grants");
    let text = screen.screen_text();
    // The only row is the approved call, which Enter opens.
    assert!(text.contains("0 in force · 1 call") && text.contains("In force: none"), "{text}");
    screen.press_key("x");
    assert!(screen.screen_text().contains("Only a grant or a rule can be revoked"), "{}", screen.screen_text());
    screen.press_key("enter");
    assert!(
        screen.state.viewport.popups.len() == 2 && screen.screen_text().contains("1 of 1 · bash_exec"),
        "{}",
        screen.screen_text()
    );
}

#[test]
fn changes_outside_the_project_are_rows_of_the_list() {
    let mut screen = Screen::dry_run();
    screen.send_text("/rehearsal");
    let outside_change = |path: &str, is_by_tool| OutsideChange {
        change: DryRunChange {
            path: path.into(),
            kind: ChangeKind::Created,
            is_folder: false,
            diff: None,
            notes: vec!["an empty file".into()],
            has_conflict: false,
            group: Default::default(),
        },
        is_by_tool,
    };
    let changes = vec![outside_change("/a/by-tool", true), outside_change("/b/by-command", false)];
    let outside = OutsideChanges { changes, temporary_files: 7 };
    let summary = crate::chat::DryRunSummary { outside, ..Default::default() };
    let session = SessionId("01J".into());
    screen.handle_event(Event::Host(HostReply::Rehearsal(Ok(Rehearsal { session, summary }))));
    screen.draw_frame();
    let text = screen.screen_text();
    for part in ["9 changes outside the project", "+ /a/by-tool", "+ /b/by-command", "7 temporary files"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for _ in 0..2 {
        screen.press_key("down");
    }
    screen.press_key("enter");
    screen.draw_frame();
    let text = screen.screen_text();
    assert!(text.contains("/b/by-command") && text.contains("run the command live"), "{text}");
}

/// On a small screen too, whatever the list shows above.
#[test]
fn the_actions_of_a_dry_run_are_explained_whole() {
    let change = |path: &str, group| DryRunChange {
        path: path.into(),
        is_folder: false,
        kind: ChangeKind::Created,
        diff: None,
        notes: vec![],
        has_conflict: false,
        group,
    };
    let mut screen = Screen::dry_run();
    screen.resize_screen(60, 15);
    screen.send_text("/rehearsal");
    let ran = |command: &str| crate::chat::RehearsedCall {
        tool: "bash_exec".into(),
        arguments: "{}".into(),
        summary: command.into(),
        command: Some(crate::chat::CommandLine { command: command.into(), ..Default::default() }),
        origin: Some(crate::chat::ResultOrigin::Ran(vec![])),
        would_ask: None,
        hooks_not_run: Vec::new(),
        result: "exit 0".into(),
        changed_paths: vec![],
        is_run_live: false,
    };
    let changes = vec![
        change("src/a.rs", crate::chat::batch::Group::Source),
        change("target/b", crate::chat::batch::Group::Ignored),
    ];
    let calls = vec![ran("cargo test --workspace --all-features --no-fail-fast && echo done")];
    let summary = crate::chat::DryRunSummary { changes, calls, ..Default::default() };
    let session = SessionId("01J".into());
    screen.handle_event(Event::Host(HostReply::Rehearsal(Ok(Rehearsal { session, summary }))));
    screen.press_key("end");
    let text = screen.screen_text();
    for part in
        ["also files that git ignores", "also the commands that ran", "one prompt per hunk", "only the session stays"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_call_in_the_list_of_grants_shows_the_end_of_a_long_path_and_the_decision() {
    let path = "src/tui/prompts/approval/approval_layout.rs";
    for ((width, height), shown_path) in
        [((120, 36), path), ((80, 24), "/approval_layout.rs"), ((60, 15), "approval_layout.rs")]
    {
        let mut screen = Screen::with_turn();
        screen.resize_screen(width, height);
        let Intent::Act(plan) = prompt_position::edit_intent() else { panic!("an edit is an act") };
        screen.run_call("edit_file", Intent::Act(Box::new(Plan { summary: path.to_owned(), ..*plan })), "Changed it.");
        screen.send_text("/grants");
        let text = screen.screen_text();
        assert!(text.contains(&format!("{shown_path}  you approved")), "{text}");
    }
}

#[test]
fn a_call_in_the_list_of_grants_shows_the_start_of_a_long_command_and_the_decision() {
    let command = "make --directory build/release --jobs 4 all install check";
    let mut screen = Screen::with_turn();
    screen.run_call("bash_exec", command_intent(command), "made\nexit 0");
    screen.send_text("go on");
    screen.receive_call("b", "bash_exec", command_intent(command));
    screen.advance_ms(2000);
    screen.press_key("n");
    screen.receive_reply("Denied.");
    for ((width, height), shown) in [
        ((120, 36), "Run make --directory build/release --jobs 4 all…"),
        ((80, 24), "Run make --directory build/release --jobs 4 all…"),
    ] {
        screen.resize_screen(width, height);
        screen.send_text("/grants");
        let text = screen.screen_text();
        for decision in ["you approved", "you denied"] {
            assert!(text.contains(&format!("{shown}  {decision}")), "{decision}: {text}");
        }
        screen.press_key("esc");
    }
}
