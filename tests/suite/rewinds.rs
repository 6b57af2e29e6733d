//! What an undo shows, when Esc opens the list of messages, and what each kind of rewind restores, in the real program.

use crate::support::program::Program;
use crate::support::service::{Answer, Step};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use serde_json::{Value, json};
use std::time::Duration;

const ESC: &str = "\x1b";

fn write(path: &str, content: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": path, "content": content }))])
}

/// A turn that changes `a.txt`, and one that changes it again and creates `b.txt`.
fn play_two_turns() -> (User, Program) {
    let answers = vec![
        write("a.txt", "two\n"),
        text_answer("First done."),
        write("a.txt", "three\n"),
        write("b.txt", "new\n"),
        text_answer("Second done."),
    ];
    let user = User::new(answers).with_project_file("a.txt", "one\n");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    for (message, prompts, reply) in
        [("first message", &["two"][..], "First done."), ("second message", &["three", "b.txt"], "Second done.")]
    {
        submit_message(&mut program, message);
        for prompt in prompts {
            approve(&mut program, prompt);
        }
        program.until_idle(reply);
    }
    (user, program)
}

/// Approves the prompt with this text. Returns its screen.
fn approve(program: &mut Program, text: &str) -> String {
    let screen = program.until_prompt(text);
    program.press_keys(if screen.contains("Warning: ") { "Y" } else { "y" });
    screen
}

/// Opens the choice of what to go back to, before the second message, which is in this row of the list.
fn choose_second_message(program: &mut Program, row: usize) {
    submit_message(program, "/rewind");
    program.until("2 files +2 −1");
    program.press_keys(&"\x1b[B".repeat(row));
    program.press_keys("\r");
    program.until_all(&["Conversation and files", "Conversation only", "Files only"]);
}

/// The sessions of the project as `aye sessions` lists them, newest first.
fn list_sessions(user: &User) -> Vec<Value> {
    let (list, error, code) = user.run_headless(&["sessions", "list", "--json"]);
    assert_eq!(code, 0, "{error}");
    list.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that the session was copied up to before the second message, and that the original still has all of it.
fn check_copy(user: &User, program: &mut Program) {
    program.until_condition("a copy is stored", |_| list_sessions(user).len() == 2);
    let (copy, original) = show_copy_and_original(user);
    assert!(copy.contains("First done.") && !copy.contains("Second done."), "{copy}");
    assert!(original.contains("First done.") && original.contains("Second done."), "{original}");
}

/// Returns the transcripts of the only copy and of its original.
fn show_copy_and_original(user: &User) -> (String, String) {
    let sessions = list_sessions(user);
    let copy = sessions.iter().find(|session| !session["copied_from"].is_null()).expect("one is a copy");
    let original = sessions.iter().find(|session| session["copied_from"].is_null()).expect("one is the original");
    assert_eq!(copy["copied_from"], original["session"]);
    let show = |session: &Value| user.run_headless(&["sessions", "show", session["session"].as_str().unwrap()]).0;
    (show(copy), show(original))
}

/// Chooses to restore the files only.
fn choose_files_only(program: &mut Program, row: usize) {
    choose_second_message(program, row);
    program.press_keys("\x1b[F");
    program.press_keys("\r");
}

#[test]
fn undo_shows_every_line_that_it_restores() {
    let (_user, mut program) = play_two_turns();
    submit_message(&mut program, "/undo");
    let screen = approve(&mut program, "Restore files?");
    let rows: Vec<&str> = screen.lines().map(|line| line.trim_matches(['┃', ' '])).collect();
    for part in [
        &["❯ [x] − b.txt · +0 −1", "warning: this deletes b.txt", "1 − new"][..],
        &["[x] ~ a.txt · +1 −1", "1 − three", "1 + two"],
    ] {
        assert!(rows.windows(part.len()).any(|window| window == part), "{part:?}: {screen}");
    }
    program.until("2 of 2 restored");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("two\n"), None));
}

#[test]
fn esc_twice_rewinds_only_on_an_empty_draft_and_between_turns() {
    let slow = Answer::stream().with_step(Step::Pause(Duration::from_secs(60))).text("Late.").finish("stop").done();
    let user = User::new(vec![text_answer("Hello."), slow]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    // Without a message there is nothing to go back to.
    program.press_keys(ESC);
    program.press_keys(ESC);
    submit_message(&mut program, "first message");
    assert!(!program.until_idle("Hello.").contains("Rewind to before"));
    // With a draft.
    program.type_text("abc");
    program.press_keys(ESC);
    program.press_keys(ESC);
    program.type_text("d");
    let screen = program.until("❯ abcd");
    assert!(!screen.contains("Rewind to before") && !screen.contains("again to rewind"), "{screen}");
    program.press_keys("\x15");
    // While a turn runs, the first press stops it, and the second one only says what a third does.
    submit_message(&mut program, "second message");
    program.until("replying");
    program.press_keys(ESC);
    program.until_idle("stopped");
    program.press_keys(ESC);
    let screen = program.until("Press esc again to rewind");
    assert!(!screen.contains("Rewind to before"), "{screen}");
    program.until_gone("Press esc again to rewind");
    program.press_keys(ESC);
    program.until("Press esc again to rewind");
    program.press_keys(ESC);
    program.until_all(&["Rewind to before", "first message"]);
}

#[test]
fn the_conversation_alone_goes_back_in_a_copy_and_the_files_stay() {
    let (user, mut program) = play_two_turns();
    choose_second_message(&mut program, 0);
    program.press_keys("\x1b[B");
    program.press_keys("\r");
    let screen = program.until("❯ second message");
    assert!(screen.contains("First done.") && !screen.contains("Second done."), "{screen}");
    check_copy(&user, &mut program);
    // No prompt for the files follows.
    program.wait_ms(500);
    program.until_idle("❯ second message");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt").as_deref()), (Some("three\n"), Some("new\n")));
}

/// A file that changed since is a conflict: shown before the approval, and left as it is.
#[test]
fn both_go_back_in_a_copy_and_a_conflict_is_shown_and_left() {
    let (user, mut program) = play_two_turns();
    std::fs::write(program.project().join("a.txt"), "mine\n").unwrap();
    choose_second_message(&mut program, 0);
    program.press_keys("\r");
    program.until("tab to answer");
    program.press_keys("\t");
    let screen = approve(&mut program, "Restore files?");
    assert!(screen.contains("a.txt: CONFLICT: it changed since; it is not overwritten"), "{screen}");
    let screen = program.until_all(&["1 of 2 restored", "❯ second message"]);
    assert!(screen.contains("First done.") && !screen.contains("Second done."), "{screen}");
    check_copy(&user, &mut program);
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("mine\n"), None));
}

/// The copy has every message and the restored files; the original says nothing of the rewind, and is found again.
#[test]
fn the_files_alone_go_back_in_a_copy_of_the_whole_session() {
    let (user, mut program) = play_two_turns();
    choose_files_only(&mut program, 0);
    program.until_all(&["Restore files?", "this is a copy of “first message”, which is unchanged", "/resume"]);
    approve(&mut program, "Restore files?");
    let screen = program.until_idle("2 of 2 restored");
    assert!(screen.contains("Second done."), "{screen}");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("two\n"), None));
    program.until_condition("the result is stored in a copy", |_| {
        list_sessions(&user).len() == 2 && show_copy_and_original(&user).0.contains("2 of 2 restored")
    });
    let (copy, original) = show_copy_and_original(&user);
    assert!(copy.contains("Second done."), "{copy}");
    assert!(original.contains("Second done.") && !original.contains("restored"), "{original}");
    // The next undo of the copy is that of the turn before.
    submit_message(&mut program, "/undo");
    approve(&mut program, "Restore files?");
    program.until_idle("1 of 1 restored");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    submit_message(&mut program, "/resume");
    let list = program.until_all(&["in use, copy", "2 of 2"]);
    let row_of = |text: &str| list.lines().position(|line| line.contains(text)).unwrap();
    // The session in use is selected. The other one is next to it.
    let is_first = row_of("in use, copy") == row_of("Filter by title or text") + 1;
    program.press_keys(if is_first { "\x1b[B" } else { "\x1b[A" });
    program.press_keys("\r");
    // The list covers a part of the copy, which stays until the original has been read.
    program.until_condition("the original is shown", |program| {
        let screen = program.screen();
        screen.contains("Second done.")
            && !["restored", "Undo all changes since", "2 of 2"].iter().any(|text| screen.contains(text))
    });
}

#[test]
fn a_denied_restore_of_the_files_alone_changes_no_file() {
    let (user, mut program) = play_two_turns();
    choose_files_only(&mut program, 0);
    program.until_prompt("Restore files?");
    program.press_keys("n");
    program.until_idle("denied by you");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt").as_deref()), (Some("three\n"), Some("new\n")));
    program.until_condition("the denied call is stored in a copy", |_| {
        list_sessions(&user).len() == 2 && show_copy_and_original(&user).0.contains("restore_files")
    });
    let (_, original) = show_copy_and_original(&user);
    assert!(original.contains("Second done.") && !original.contains("restore_files"), "{original}");
    // The message of the denied undo is the newest of the copy.
    choose_files_only(&mut program, 1);
    approve(&mut program, "Restore files?");
    program.until_idle("2 of 2 restored");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("two\n"), None));
}
