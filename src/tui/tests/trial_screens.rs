//! Screens of trials: changes without a diff.

use super::*;

/// A modified file without a diff.
fn change(path: &str) -> TrialChange {
    TrialChange {
        change: DryRunChange {
            path: path.into(),
            kind: ChangeKind::Modified,
            is_folder: false,
            diff: None,
            notes: Vec::new(),
            has_conflict: false,
            group: batch::Group::Source,
        },
        files_below: 0,
        loses_unsaved: false,
        is_sensitive: false,
        leads_outside: false,
        is_compared: true,
    }
}

/// A screen with the result of a trial that made these changes.
fn screen_with_trial((width, height): (u16, u16), changes: Vec<TrialChange>) -> Screen {
    let mut screen = Screen::with_turn();
    screen.resize_screen(width, height);
    screen.receive_call("a", "bash_exec", command_intent("make"));
    let (call, result) = (Some("a".into()), Ok(()));
    screen.handle_event(Event::Agent(agent::Event::TrialSupportChecked { call, result }));
    screen.advance_ms(2000);
    screen.press_key("t");
    let report = TrialReport {
        result: "made\nexit 0".into(),
        status: "exit 0".into(),
        duration: Duration::from_millis(12),
        changes,
        outside: Vec::new(),
        temporary_files: 0,
        unkeepable: Vec::new(),
        doubt: None,
        digest: Digest::of_bytes(b"changes"),
    };
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    let (call, result) = ("a".into(), Ok(Box::new(report)));
    screen.handle_event(Event::Agent(agent::Event::TrialFinished { turn, call, number: 1, result }));
    // The prompt takes keys some time after its first frame.
    screen.draw_frame();
    screen.advance_ms(2000);
    screen
}

#[test]
fn an_opened_change_without_a_diff_says_why() {
    let mut folder = TrialChange { files_below: 3, is_compared: false, ..change("c") };
    (folder.change.kind, folder.change.is_folder) = (ChangeKind::Created, true);
    let changes = vec![change("a"), TrialChange { is_compared: false, ..change("b") }, folder];
    let reasons = ["no text to compare", "not compared: more than 500 changes", "a folder of 3 files"];
    for size in [(80, 24), (60, 15)] {
        for (number, reason) in reasons.into_iter().enumerate() {
            let mut screen = screen_with_trial(size, changes.clone());
            for _ in 0..number {
                screen.press_key("down");
            }
            let closed = screen.screen_text();
            assert!(!closed.contains(reason), "{closed}");
            screen.press_key("o");
            let opened = screen.screen_text();
            let row = opened.lines().position(|line| line.contains("❯ ")).unwrap_or_default();
            assert!(opened.lines().nth(row + 1).is_some_and(|line| line.contains(reason)), "{opened}");
        }
    }
}
