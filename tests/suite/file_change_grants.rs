//! The choice that allows all file changes of a project, in the real program.

use crate::support::program::Program;
use crate::support::service::Answer;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::{Decision, Entry, GrantScope};
use serde_json::json;
use std::time::Duration;

const DOWN: &str = "\x1b[B";
const LABEL: &str = "every file change of the project, by edit_file or write_file";

fn edit(path: &str, old: &str, new: &str) -> Answer {
    let arguments = json!({ "path": path, "old_text": old, "new_text": new });
    calls_answer_after(Duration::ZERO, &[("edit_file", arguments)])
}

fn write(path: &str, content: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("write_file", json!({ "path": path, "content": content }))])
}

fn user_with(answers: Vec<Answer>) -> User {
    User::new(answers)
        .with_project_file("src/a.txt", "one\ntwo\nthree\nfour\n")
        .with_project_file("b.txt", "one\ntwo\nthree\n")
        .with_project_file(".env", "KEY=1\n")
}

/// Opens the choice of the scopes on the prompt for `src/a.txt` and selects the widest one.
fn select_widest(program: &mut Program) {
    program.until("Messages go to");
    submit_message(program, "go");
    program.until_prompt("src/a.txt");
    program.press_until("a", "Allow without asking");
    program.press_until("4", "› 4  file changes in this project, edit and write");
}

#[test]
fn r11_one_choice_allows_edits_and_new_files_until_it_is_revoked() {
    let user = user_with(vec![
        edit("src/a.txt", "one", "1"),
        edit("b.txt", "one", "1"),
        write("docs/new.txt", "new\n"),
        text_answer("Done."),
        write("b.txt", "other\n"),
        text_answer("Denied one."),
        edit(".env", "KEY", "WORD"),
        text_answer("Denied two."),
        write(".git/hooks/pre-commit", "x"),
        text_answer("Denied three."),
        edit("b.txt", "two", "2"),
        text_answer("End."),
    ]);
    let mut program = user.start(&[]);
    select_widest(&mut program);
    program.press_until("\r", "Done.");
    assert_eq!(program.file("src/a.txt").as_deref(), Some("1\ntwo\nthree\nfour\n"));
    assert_eq!(program.file("b.txt").as_deref(), Some("1\ntwo\nthree\n"), "the edit ran without a prompt");
    assert_eq!(program.file("docs/new.txt").as_deref(), Some("new\n"), "and so did the new file");
    let is_granted = |entry: &Entry| matches!(entry, Entry::Decided { decision: Decision::Always(grant), .. } if grant.scope == GrantScope::FileChanges);
    assert!(read_session(&user.setup(&[])).iter().any(is_granted));
    let audit = user.run_headless(&["audit"]).0.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(audit.contains(LABEL), "{audit}");

    // Destructive overwrites, secrets and files that other programs obey still ask.
    for (message, prompt, text) in [
        ("overwrite", "replaces all 3 lines of b.txt", "Denied one."),
        ("secret", ".env", "Denied two."),
        ("hook", ".git/hooks/pre-commit", "Denied three."),
    ] {
        submit_message(&mut program, message);
        program.until_prompt(prompt);
        program.press_until("n", text);
    }
    assert_eq!(program.file("b.txt").as_deref(), Some("1\ntwo\nthree\n"));
    assert_eq!(program.file(".env").as_deref(), Some("KEY=1\n"));

    submit_message(&mut program, "/grants");
    program.until("❯ file changes in this project, edit and write");
    program.press_until("x", "Revoke this");
    program.press_until("y", "Revoked: every file change of the project");
    drop(program);
    let mut program = user.start(&["--continue"]);
    program.until("Denied three.");
    submit_message(&mut program, "more");
    program.until_prompt("b.txt");
    assert_eq!(program.file("b.txt").as_deref(), Some("1\ntwo\nthree\n"));
}

#[test]
fn r11_saved_as_a_rule_it_holds_after_a_restart() {
    let user = user_with(vec![
        edit("src/a.txt", "one", "1"),
        text_answer("Saved."),
        write("new.txt", "new\n"),
        edit("b.txt", "one", "1"),
        text_answer("Done."),
        write("b.txt", "other\n"),
        text_answer("End."),
    ]);
    let mut program = user.start(&[]);
    select_widest(&mut program);
    program.press_until(DOWN, "path = \"**\"");
    program.press_until("\r", "Saved.");
    let rules = std::fs::read_to_string(user.rules()).unwrap();
    assert!(rules.contains("path = \"**\"") && !rules.contains("tool ="), "{rules}");
    drop(program);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    assert_eq!(program.file("new.txt").as_deref(), Some("new\n"));
    assert_eq!(program.file("b.txt").as_deref(), Some("1\ntwo\nthree\n"));
    submit_message(&mut program, "overwrite");
    program.until_prompt("replaces all 3 lines of b.txt");
}
