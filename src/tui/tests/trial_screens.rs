//! Screens of trials: the row of a call whose trial was kept, and changes without a diff.

use super::*;

/// A changed file without a diff.
fn change(path: &str, kind: ChangeKind) -> TrialChange {
    TrialChange::sample(kind, batch::Group::Source, path)
}

#[test]
fn key_help_lists_only_the_keys_that_work_in_the_prompt_now() {
    let help = |screen: &mut Screen| {
        screen.resize_screen(130, 60);
        screen.press_key("f1");
        let text = screen.screen_text();
        screen.press_key("esc");
        text
    };
    let keep = "Keep what the trial did";
    let mut untried = Screen::with_turn();
    untried.receive_call("a", "bash_exec", command_intent("ls"));
    untried.advance_ms(2000);
    let text = help(&mut untried);
    assert!(text.contains("Approve once") && text.contains("Deny with a message"), "{text}");
    for label in
        [keep, "Keep a trial that destroys", "Approve destructive", "Try it in a", "Open the queue", "Select or"]
    {
        assert!(!text.contains(label), "{label}: {text}");
    }
    assert!(help(&mut screen_with_offered_trial("make")).contains("Try it in a throwaway sandbox"));
    let mut kept = screen_with_trial((130, 60), "make", vec![change("new", ChangeKind::Created)]);
    let text = help(&mut kept);
    assert!(text.contains(keep) && text.contains("Expand or collapse"), "{text}");
    assert!(!text.contains("Keep a trial that destroys") && !text.contains("Try it in a"), "{text}");
    let mut lossy = screen_with_trial((130, 60), "make", vec![change("lost", ChangeKind::Deleted)]);
    let text = help(&mut lossy);
    assert!(text.contains("Keep a trial that destroys") && text.contains("Approve destructive action"), "{text}");
    assert!(!text.contains(keep), "{text}");
}

/// A trial shows what a grant would allow, so that no scope can be chosen while it runs.
#[test]
fn nothing_is_granted_while_a_trial_runs() {
    let mut screen = screen_with_running_trial((80, 24), "make");
    assert!(!screen.screen_text().contains("always"), "{}", screen.screen_text());
    screen.press_key("a");
    let text = screen.screen_text();
    assert!(text.contains("The trial is running · esc stops it") && !text.contains("Allow without asking"), "{text}");
    finish_trial(&mut screen, vec![change("lost", ChangeKind::Deleted)]);
    screen.draw_frame();
    screen.advance_ms(2000);
    screen.press_key("a");
    let text = screen.screen_text();
    assert!(text.contains("This call needs approval each time") && screen.count_decisions() == 0, "{text}");
}

/// Whatever opened the choice of a scope, nothing is granted once a trial has destroyed something.
#[test]
fn a_trial_that_ends_during_the_choice_of_a_scope_is_shown_before_an_answer() {
    for draws_result in [true, false] {
        let mut screen = Screen::with_turn();
        let Intent::Act(mut plan) = command_intent("make") else { panic!("a command is an act") };
        let scope = GrantScope::Command { command: "make".into(), folder: "/project".into(), network: false };
        plan.grant = Some(Grant::new("bash_exec", scope));
        screen.receive_call("a", "bash_exec", Intent::Act(plan));
        screen.advance_ms(2000);
        screen.press_key("a");
        screen.advance_ms(2000);
        assert!(screen.screen_text().contains("Allow without asking"), "{}", screen.screen_text());
        screen.handle_event(Event::Agent(agent::Event::TrialRequested("a".into())));
        finish_trial(&mut screen, vec![change("lost", ChangeKind::Deleted)]);
        if draws_result {
            screen.draw_frame();
            screen.advance_ms(2000);
        }
        screen.press_key("enter");
        assert_eq!(screen.count_decisions(), 0);
        let text = screen.screen_text();
        assert!(text.contains("Keep what the trial did?") && !text.contains("Allow without asking"), "{text}");
    }
}

/// A screen on which a trial of this command runs.
fn screen_with_running_trial((width, height): (u16, u16), command: &str) -> Screen {
    let mut screen = screen_with_offered_trial(command);
    screen.resize_screen(width, height);
    screen.advance_ms(2000);
    screen.press_key("t");
    screen
}

/// A screen with the prompt for this command, which can be tried.
fn screen_with_offered_trial(command: &str) -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent(command));
    let (call, result) = (Some("a".into()), Ok(()));
    screen.handle_event(Event::Agent(agent::Event::TrialSupportChecked { call, result }));
    screen
}

/// Ends the trial of the call with these changes.
fn finish_trial(screen: &mut Screen, changes: Vec<TrialChange>) {
    finish_trial_with_output(screen, changes, "made");
}

fn finish_trial_with_output(screen: &mut Screen, changes: Vec<TrialChange>, output: &str) {
    let report = TrialReport {
        result: format!("{output}\nexit 0"),
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
}

/// A screen with the result of a trial of this command that made these changes.
fn screen_with_trial(size: (u16, u16), command: &str, changes: Vec<TrialChange>) -> Screen {
    screen_with_trial_output(size, command, changes, "made")
}

fn screen_with_trial_output(size: (u16, u16), command: &str, changes: Vec<TrialChange>, output: &str) -> Screen {
    let mut screen = screen_with_running_trial(size, command);
    finish_trial_with_output(&mut screen, changes, output);
    // The prompt takes keys some time after its first frame.
    screen.draw_frame();
    screen.advance_ms(2000);
    screen
}

/// The screen after such a trial was kept, with this outcome.
fn screen_after_keeping(command: &str, changes: Vec<TrialChange>, outcome: &str) -> Screen {
    let is_destructive = changes.iter().any(|change| change.change.kind == ChangeKind::Deleted);
    let mut screen = screen_with_trial((80, 24), command, changes);
    screen.press_key(if is_destructive { "K" } else { "k" });
    screen.finish_call("a", Outcome::Done(outcome.into()));
    screen.receive_reply("Done.");
    screen
}

/// Two changed files.
fn two_changes() -> Vec<TrialChange> {
    ["f1", "f100"].map(|path| change(path, ChangeKind::Modified)).to_vec()
}

#[test]
fn a_row_without_room_for_the_changes_of_a_kept_trial_still_says_that_it_was_kept() {
    let kinds = [ChangeKind::Created, ChangeKind::Modified, ChangeKind::Modified, ChangeKind::Deleted];
    let changes = (0..).zip(kinds).map(|(number, kind)| change(&format!("f{number}"), kind)).collect::<Vec<_>>();
    let command = format!("make {}", "all ".repeat(30));
    let whole = "kept: 1 created, 2 changed, 1 deleted · 12 ms";
    for (width, exit_code, expected) in [
        (80, 0, whole.to_owned()),
        (60, 0, "kept · 12 ms".to_owned()),
        (35, 0, "kept · 12 ms".to_owned()),
        (34, 0, "kept".to_owned()),
        (70, 2, "exit 2 · kept · 12 ms".to_owned()),
        (120, 2, format!("exit 2 · {whole}")),
    ] {
        let mut screen = screen_after_keeping(&command, changes.clone(), &format!("exit {exit_code}"));
        screen.resize_screen(width, 15);
        let text = screen.screen_text();
        let row = text.lines().find(|line| line.contains(" Run make ")).unwrap_or_default();
        assert!(row.ends_with(&format!(" {expected}")) && row.contains('…'), "{width}: {text}");
    }
    let mut screen = screen_after_keeping(&command, changes, "exit 0");
    screen.resize_screen(24, 15);
    assert!(!screen.screen_text().contains("kept"), "{}", screen.screen_text());
}

#[test]
fn a_trial_kept_in_part_names_below_its_row_what_was_not_made() {
    for size in [(120, 36), (80, 24), (60, 15)] {
        let unmade = "[These changes of the command were not made: f100 (changed meanwhile)]";
        let mut screen = screen_after_keeping("make", two_changes(), &format!("{unmade}\nmade\nexit 0"));
        screen.resize_screen(size.0, size.1);
        let closed = screen.screen_text();
        assert!(closed.contains("✓ Run make") && closed.contains(" kept in part · 12 ms"), "{closed}");
        assert!(!closed.contains("2 changed"), "{closed}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = "These changes of the command were not made: f100 (changed meanwhile)";
        assert!(words(&closed).contains(&format!("12 ms {line} Done.")), "{closed}");
        screen.press_key("alt-up");
        screen.press_key("enter");
        let opened = screen.screen_text();
        assert!(words(&opened).matches(line).count() == 1, "{opened}");
        assert!(opened.contains("changes of its trial; those named above were not made:\n     ~ f1\n"), "{opened}");
        screen.resize_screen(size.0, 36);
        let opened = screen.screen_text();
        assert!(opened.contains("     ~ f100\n     output:\n     made\n"), "{opened}");
    }
}

/// What a trial showed can be looked at after the prompt is gone, whatever the answer was.
#[test]
fn an_opened_row_lists_the_changes_of_its_trial() {
    let mut kept = screen_after_keeping("make", two_changes(), "made\nexit 0");
    let mut denied = screen_with_trial((80, 24), "make", two_changes());
    denied.press_key("n");
    for (screen, heading) in [(&mut kept, "kept changes:"), (&mut denied, "changes of its trial, which were not kept:")]
    {
        screen.press_key("alt-up");
        screen.press_key("enter");
        let opened = screen.screen_text();
        assert!(opened.contains(&format!("{heading}\n     ~ f1\n     ~ f100\n     output:\n")), "{opened}");
    }
}

/// The last lines of a command that failed are its own.
#[test]
fn a_failed_trial_kept_in_part_shows_the_line_once() {
    let outcome = "[These changes of the command were not made: f100 (changed meanwhile)]\nno rule\nexit 2";
    let text = screen_after_keeping("make", two_changes(), outcome).screen_text();
    assert!(text.contains("✗ Run make") && text.contains("exit 2 · kept in part"), "{text}");
    assert!(text.matches("not made: f100").count() == 1 && text.contains("\n     no rule\n"), "{text}");
}

#[test]
fn a_trial_kept_as_a_whole_counts_its_changes() {
    let text = screen_after_keeping("make", two_changes(), "made\nexit 0").screen_text();
    assert!(text.contains(" kept: 2 changed · 12 ms") && !text.contains("not made"), "{text}");
}

/// The line of an outcome counts only if a trial was kept: a command that ran may print anything.
#[test]
fn output_of_a_command_that_ran_does_not_claim_to_be_kept_in_part() {
    let mut screen = Screen::with_turn();
    let outcome = "[These changes of the command were not made: x]\nexit 0";
    screen.run_call("bash_exec", command_intent("make"), outcome);
    let text = screen.screen_text();
    assert!(text.contains("✓ Run make") && !text.contains("in part") && !text.contains("not made"), "{text}");
}

#[test]
fn an_opened_change_without_a_diff_says_why() {
    let mut folder = TrialChange { files_below: 3, is_compared: false, ..change("c", ChangeKind::Created) };
    folder.change.is_folder = true;
    let uncompared = TrialChange { is_compared: false, ..change("b", ChangeKind::Modified) };
    let changes = vec![change("a", ChangeKind::Modified), uncompared, folder];
    let reasons = ["no text to compare", "not compared: more than 500 changes", "a folder of 3 files"];
    for size in [(80, 24), (60, 15)] {
        for (number, reason) in reasons.into_iter().enumerate() {
            let mut screen = screen_with_trial(size, "make", changes.clone());
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

/// The model gets the whole output of a kept trial, so the user can read it first.
#[test]
fn output_of_which_the_end_is_shown_opens_and_is_read_to_its_end() {
    let output = (1..=40).map(|number| format!("row {number}")).collect::<Vec<_>>().join("\n");
    let new_file = || vec![change("new", ChangeKind::Created)];
    for (size, changes) in [((80, 24), vec![]), ((80, 24), new_file()), ((60, 15), new_file())] {
        let has_changes = !changes.is_empty();
        let mut screen = screen_with_trial_output(size, "make", changes, &output);
        let closed = screen.screen_text();
        assert!(closed.contains("❯ … 35 earlier lines") && !closed.contains("row 1\n"), "{closed}");
        assert!(closed.contains("o open whole output") || closed.contains("o output"), "{closed}");
        screen.press_key("o");
        screen.draw_frame();
        let opened = screen.screen_text();
        assert!(opened.contains("all 40 lines") && opened.contains("│ row 1 "), "{opened}");
        screen.press_key("k");
        let text = screen.screen_text();
        assert!(text.contains("The end has not been shown yet") && screen.count_decisions() == 0, "{text}");
        screen.press_key("end");
        screen.draw_frame();
        // With a change, the cursor has moved to that.
        if !has_changes {
            screen.press_key("o");
            let text = screen.screen_text();
            assert!(text.contains("… 35 earlier lines"), "the key closes what it opened: {text}");
        }
        screen.press_key("k");
        assert_eq!(screen.count_decisions(), 1, "{}", screen.screen_text());
    }
    let mut short = screen_with_trial_output((80, 24), "make", vec![], "row 1\nrow 2");
    let text = short.screen_text();
    assert!(!text.contains("o open") && !text.contains("❯ …"), "{text}");
}

/// The status of a pipeline is that of its last program: a failure of the first one is not in it.
#[test]
fn the_status_of_a_pipeline_names_its_program() {
    for (command, head) in [
        ("cargo test | tail -5", "exit 0 (of tail) in"),
        ("cd web && npm test 2>&1 | grep -v warn", "exit 0 (of grep) in"),
        ("set -o pipefail; cargo test | tail", "exit 0 in"),
        ("cargo test", "exit 0 in"),
        ("ls | wc -l; cargo test", "exit 0 in"),
    ] {
        let text = screen_with_trial((80, 24), command, vec![]).screen_text();
        assert!(text.contains(head), "{command}: {text}");
    }
}

#[test]
fn a_change_that_an_undo_does_not_restore_says_so() {
    let ignored = |path, kind| {
        let mut change = change(path, kind);
        change.change.group = batch::Group::Ignored;
        change
    };
    let changes = vec![
        ignored(".env.local", ChangeKind::Deleted),
        ignored("cache", ChangeKind::Modified),
        ignored("made", ChangeKind::Created),
    ];
    for size in [(80, 24), (60, 15)] {
        let text = screen_with_trial(size, "make", changes.clone()).screen_text();
        for row in ["− .env.local  ignored by git · cannot be undone", "~ cache  ignored by git · cannot be undone"]
        {
            assert!(text.contains(row), "{row}: {text}");
        }
        assert!(text.contains("+ made  ignored by git") && text.matches("cannot be undone").count() == 2, "{text}");
        assert!(text.contains("keeping destroys .env.local") && text.contains("K keep"), "{text}");
        let deleted = vec![ignored("target/debug/aye", ChangeKind::Deleted)];
        let text = screen_with_trial(size, "make clean", deleted).screen_text();
        assert!(!text.contains("destroys") && text.contains("k keep"), "{text}");
        assert!(text.contains("− target/debug/aye  ignored by git · build output"), "{text}");
    }
}
