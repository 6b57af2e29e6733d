//! Approval prompts in the real program: 200 of them in a small terminal, and one that appears while the window has no
//! focus.

use crate::support::program::Setup;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_after, runs, say, says, start_session};
use aye::chat::{Decision, Entry};
use serde_json::{Value, json};
use std::time::Duration;

fn command_calls(count: usize) -> Vec<(&'static str, Value)> {
    (0..count).map(|n| ("bash_exec", json!({ "command": format!("echo {n} >> ran") }))).collect()
}

#[test]
fn r18_last_of_200_calls_can_be_approved_alone_in_a_small_terminal() {
    let calls = calls_after(Duration::ZERO, &command_calls(200));
    let (_runtime, _service, mut program) = start_session(vec![calls, says("Done.")], (60, 15), &[]);
    say(&mut program, "go");
    program.until_asked("1 of 200");
    program.keys("l");
    program.until("─ Queue ─");
    program.wait_ms(700);
    program.keys("\x1b[F");
    program.until("❯ [ ] 200");
    program.until("echo 199 >> ran");
    program.keys("\r");
    program.until_gone("─ Queue ─");
    program.until_asked(" 200 of 200");
    program.keys("y");
    let screen = program.until("1 of 200");
    assert!(screen.contains("$ echo 0 >> ran"), "{screen}");
    assert_eq!(program.file("ran"), None, "the calls before it are not settled");
    let read_decisions = |place: &_| {
        let entries = read_session(&Setup::again(place, &[]));
        let decision_of =
            |entry: Entry| if let Entry::Decided { decision, .. } = entry { Some(decision) } else { None };
        entries.into_iter().filter_map(decision_of).collect::<Vec<_>>()
    };
    assert_eq!(read_decisions(&program.place), [Decision::Once]);
    // Deny all the others.
    program.until_asked("1 of 200");
    program.keys("l");
    program.until("─ Queue ─");
    program.wait_ms(700);
    program.keys("t");
    program.until("199 ticked");
    program.wait_ms(100);
    program.keys("n");
    program.until("Done.");
    assert_eq!(program.file("ran").as_deref(), Some("199\n"), "only the approved call ran");
    let all = read_decisions(&program.place);
    assert_eq!((all.len(), all.iter().filter(|decision| **decision == Decision::Once).count()), (200, 1));
}

#[test]
fn notifies_of_a_prompt_that_appears_without_focus() {
    let pause = Duration::from_millis(500);
    let answers =
        vec![calls_after(pause, &command_calls(1)), says("As you like."), calls_after(pause * 4, &command_calls(1))];
    let (_runtime, _service, mut program) = start_session(answers, (80, 24), &[]);
    let has_notification = |bytes: &[u8]| {
        let all = String::from_utf8_lossy(bytes).into_owned();
        all.contains("\x1b]9;aye is waiting for your approval\x1b\\\x07")
    };
    say(&mut program, "go");
    program.until("$ echo 0");
    assert!(!has_notification(&program.bytes()), "the window has focus");
    program.wait_ms(700);
    program.keys("n");
    program.until("As you like.");
    say(&mut program, "again");
    program.keys("\x1b[O");
    program.until("$ echo 0");
    program.until_that("a notification is sent without focus", |program| has_notification(&program.bytes()));
    assert!(String::from_utf8_lossy(&program.bytes()).contains(";? "), "the window title is marked");
}

#[test]
fn explains_a_rejected_key_and_runs_nothing() {
    let (_runtime, _service, mut program) = start_session(vec![runs("rm -rf gone"), says("Good.")], (60, 15), &[]);
    say(&mut program, "go");
    program.until_asked("$ rm -rf gone");
    program.keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.keys("\r");
    program.until("Enter does not answer · Y approve, n deny");
    program.until_asked("$ rm -rf gone");
    program.press_until("Y", "Good.");
}

#[test]
fn r11_deletion_needs_a_capital_names_every_path_and_offers_no_grant() {
    let command = "rm old.txt check.sh; git checkout -- .";
    let (_runtime, _service, mut program) = start_session(vec![runs(command), says("Good.")], (110, 24), &[]);
    say(&mut program, "go");
    program.until_asked("warning: this deletes old.txt and check.sh; discards uncommitted changes in .");
    program.keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.until_asked(command);
    program.keys("a");
    program.until("Destructive calls need approval each time · Y to approve");
    program.until_asked(command);
    program.press_until("Y", "Good.");
}
