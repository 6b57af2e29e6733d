//! Cards in the real program: many of them in a small terminal, and one that comes while nobody looks.

use crate::support::kept::session;
use crate::support::program::Setup;
use crate::support::talking::{calls_after, runs, say, says, talks};
use aye::chat::{Decision, Entry};
use serde_json::{Value, json};
use std::time::Duration;

fn commands(count: usize) -> Vec<(&'static str, Value)> {
    (0..count).map(|n| ("bash_exec", json!({ "command": format!("echo {n} >> ran") }))).collect()
}

#[test]
fn r18_the_last_of_two_hundred_calls_is_answered_alone_in_a_small_terminal() {
    let calls = calls_after(Duration::ZERO, &commands(200));
    let (_runtime, _service, mut program) = talks(vec![calls, says("Done.")], (60, 15), &[]);
    say(&mut program, "go");
    program.until_asked("1 of 200");
    program.keys("l");
    program.until("─ Queue ─");
    program.lets_pass(700);
    program.keys("\x1b[F");
    program.until("❯ [ ] 200");
    program.until("echo 199 >> ran");
    program.keys("\r");
    program.until_gone("─ Queue ─");
    program.until_asked(" 200 of 200");
    program.keys("y");
    let screen = program.until("1 of 200");
    assert!(screen.contains("$ echo 0 >> ran"), "{screen}");
    assert_eq!(program.file("ran"), None, "its turn has not come");
    let decided = |place: &_| {
        let entries = session(&Setup::again(place, &[]));
        let of = |entry: Entry| if let Entry::Decided { decision, .. } = entry { Some(decision) } else { None };
        entries.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(decided(&program.place), [Decision::Once]);
    // All the others are told no.
    program.until_asked("1 of 200");
    program.keys("l");
    program.until("─ Queue ─");
    program.lets_pass(700);
    program.keys("t");
    program.until("199 ticked");
    program.lets_pass(100);
    program.keys("n");
    program.until("Done.");
    assert_eq!(program.file("ran").as_deref(), Some("199\n"), "what had its yes ran, and nothing else");
    let all = decided(&program.place);
    assert_eq!((all.len(), all.iter().filter(|decision| **decision == Decision::Once).count()), (200, 1));
}

#[test]
fn a_card_that_comes_while_the_window_is_behind_is_told_and_marked() {
    let pause = Duration::from_millis(500);
    let answers = vec![calls_after(pause, &commands(1)), says("As you like."), calls_after(pause * 4, &commands(1))];
    let (_runtime, _service, mut program) = talks(answers, (80, 24), &[]);
    let told = |bytes: &[u8]| {
        let all = String::from_utf8_lossy(bytes).into_owned();
        all.contains("\x1b]9;aye is waiting for your approval\x1b\\\x07")
    };
    say(&mut program, "go");
    program.until("$ echo 0");
    assert!(!told(&program.bytes()), "the person looks at it");
    program.lets_pass(700);
    program.keys("n");
    program.until("As you like.");
    say(&mut program, "again");
    program.keys("\x1b[O");
    program.until("$ echo 0");
    program.until_that("nobody looks, so it is told", |program| told(&program.bytes()));
    assert!(String::from_utf8_lossy(&program.bytes()).contains(";? "), "the window's title has its mark");
}

#[test]
fn a_key_that_is_not_taken_is_answered_in_words_and_runs_nothing() {
    let (_runtime, _service, mut program) = talks(vec![runs("rm -rf gone"), says("Good.")], (60, 15), &[]);
    say(&mut program, "go");
    program.until_asked("$ rm -rf gone");
    program.keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.keys("\r");
    program.until("Enter does not answer · Y approve, n deny");
    program.until_asked("$ rm -rf gone");
    program.insists("Y", "Good.");
}

#[test]
fn r11_what_deletes_needs_a_capital_names_all_of_it_and_is_never_kept() {
    let command = "rm old.txt check.sh; git checkout -- .";
    let (_runtime, _service, mut program) = talks(vec![runs(command), says("Good.")], (110, 24), &[]);
    say(&mut program, "go");
    program.until_asked("careful: this deletes old.txt and check.sh; discards uncommitted changes in .");
    program.keys("y");
    program.until("Destructive: y is not enough · Y to approve");
    program.until_asked(command);
    program.keys("a");
    program.until("Destructive calls need approval each time · Y to approve");
    program.until_asked(command);
    program.insists("Y", "Good.");
}
