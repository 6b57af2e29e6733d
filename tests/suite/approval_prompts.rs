//! Approval prompts in the real program: 200 of them in a small terminal, and one that appears while the window has no
//! focus.

use crate::support::program::Setup;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{
    calls_answer_after, command_answer, start_session, submit_message, text_answer,
};
use aye::chat::{Decision, Entry};
use serde_json::{Value, json};
use std::time::Duration;

fn command_calls(count: usize) -> Vec<(&'static str, Value)> {
    (0..count).map(|n| ("bash_exec", json!({ "command": format!("echo {n} >> ran") }))).collect()
}

#[test]
fn r18_last_of_200_calls_can_be_approved_alone_in_a_small_terminal() {
    let calls = calls_answer_after(Duration::ZERO, &command_calls(200));
    let (_runtime, _service, mut program) = start_session(vec![calls, text_answer("Done.")], (60, 15), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("1 of 200");
    program.press_keys("l");
    program.until("─ Queue ─");
    program.wait_ms(700);
    program.press_keys("\x1b[F");
    program.until("❯ [ ] 200");
    program.until("echo 199 >> ran");
    program.press_keys("\r");
    program.until_gone("─ Queue ─");
    program.until_prompt(" 200 of 200");
    program.press_keys("y");
    let screen = program.until("1 of 200");
    assert!(screen.contains("$ echo 0 >> ran"), "{screen}");
    assert_eq!(program.file("ran"), None, "the calls before it are not settled");
    let read_decisions = |place: &_| {
        let entries = read_session(&Setup::with_home(place, &[]));
        let decision_of =
            |entry: Entry| if let Entry::Decided { decision, .. } = entry { Some(decision) } else { None };
        entries.into_iter().filter_map(decision_of).collect::<Vec<_>>()
    };
    assert_eq!(read_decisions(&program.root), [Decision::Once]);
    // Deny all the others.
    program.until_prompt("1 of 200");
    program.press_keys("l");
    program.until("─ Queue ─");
    program.wait_ms(700);
    program.press_keys("t");
    program.until("199 selected");
    program.wait_ms(100);
    program.press_keys("n");
    program.until("Done.");
    assert_eq!(program.file("ran").as_deref(), Some("199\n"), "only the approved call ran");
    let all = read_decisions(&program.root);
    assert_eq!((all.len(), all.iter().filter(|decision| **decision == Decision::Once).count()), (200, 1));
}

#[test]
fn notifies_of_a_prompt_that_appears_without_focus() {
    let pause = Duration::from_millis(500);
    let answers = vec![
        calls_answer_after(pause, &command_calls(1)),
        text_answer("As you like."),
        calls_answer_after(pause * 4, &command_calls(1)),
    ];
    let (_runtime, _service, mut program) = start_session(answers, (80, 24), &[]);
    let has_notification = |bytes: &[u8]| {
        let all = String::from_utf8_lossy(bytes).into_owned();
        all.contains("\x1b]9;aye is waiting for your approval\x1b\\\x07")
    };
    submit_message(&mut program, "go");
    program.until_prompt("$ echo 0");
    assert!(!has_notification(&program.bytes()), "the window has focus");
    program.press_keys("n");
    program.until("As you like.");
    submit_message(&mut program, "again");
    program.press_keys("\x1b[O");
    program.until("$ echo 0");
    program.until_condition("a notification is sent without focus", |program| has_notification(&program.bytes()));
    assert!(String::from_utf8_lossy(&program.bytes()).contains(";? "), "the window title is marked");
}

#[test]
fn explains_a_rejected_key_and_runs_nothing() {
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer("rm -rf gone"), text_answer("Good.")], (60, 15), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("$ rm -rf gone");
    program.press_keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.press_keys("\r");
    program.until("Enter does not answer · Y approve, n deny");
    program.until_prompt("$ rm -rf gone");
    program.press_until("Y", "Good.");
}

#[test]
fn r11_deletion_needs_a_capital_names_every_path_and_offers_no_grant() {
    let command = "rm old.txt check.sh; git checkout -- .";
    let (_runtime, _service, mut program) =
        start_session(vec![command_answer(command), text_answer("Good.")], (110, 24), &[]);
    submit_message(&mut program, "go");
    program.until_prompt("warning: this deletes old.txt and check.sh; discards uncommitted changes in .");
    program.press_keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.until_prompt(command);
    program.press_keys("a");
    program.until("This call needs approval each time · Y to approve");
    program.until_prompt(command);
    program.press_until("Y", "Good.");
}

#[test]
fn a_loop_says_why_it_is_not_offered_to_be_allowed() {
    let answers = vec![command_answer("for i in one two; do touch $i; done"), text_answer("Done.")];
    let (_runtime, _service, mut program) = start_session(answers, (80, 24), &[]);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("reason: shell loop, not analyzed, which needs approval each time");
    assert!(!screen.contains("a always") && screen.matches("each time").count() == 1, "{screen}");
    program.press_keys("a");
    program.until("Needs approval each time: shell loop, not analyzed · y to approve");
}
