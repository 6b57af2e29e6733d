//! The todo list of the model in the real program.

use crate::support::service::Answer;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;
use serde_json::{Value, json};
use std::time::Duration;

/// Arguments of a list with a status per todo.
fn todos(statuses: &[&str]) -> Value {
    let todo = |(index, status): (usize, &&str)| json!({ "content": format!("Step {index}"), "activeForm": format!("Doing step {index}"), "status": status });
    json!({ "todos": statuses.iter().enumerate().map(todo).collect::<Vec<_>>() })
}

fn write_todos(statuses: &[&str]) -> Answer {
    calls_answer_after(Duration::ZERO, &[("todo_write", todos(statuses))])
}

/// Returns the rows between the transcript and the composer that show the list.
fn shown_rows(screen: &str) -> Vec<String> {
    let is_row = |row: &&str| [" ✓ Step", " ▸ Doing", " ○ Step"].iter().any(|start| row.starts_with(start));
    screen.lines().filter(is_row).map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn a_list_is_shown_without_approval_until_it_is_completed() {
    for arguments in [&[][..], &["--dry-run"], &["--mode", "plan"]] {
        let answers = vec![
            write_todos(&["completed", "in_progress", "pending"]),
            text_answer("First answer."),
            write_todos(&["completed", "in_progress", "in_progress"]),
            text_answer("Second answer."),
            write_todos(&["completed", "completed", "completed"]),
            text_answer("Third answer."),
        ];
        let user = User::new(answers);
        let mut program = user.start(arguments);
        program.until("Messages go to");
        submit_message(&mut program, "one");
        let screen = program.until_all(&["First answer.", " ○ Step 1"]);
        let rows = shown_rows(&screen);
        assert_eq!(rows.len(), 3, "{screen}");
        assert!(rows[0].starts_with(" ✓ Step 0") && rows[0].ends_with("1 of 3 done"), "{screen}");
        assert_eq!(rows[1..], [" ○ Step 1", " ○ Step 2"], "no turn runs: {screen}");
        // A list that is refused replaces nothing.
        submit_message(&mut program, "two");
        let screen = program.until_all(&["Second answer.", " ○ Step 1"]);
        assert_eq!(shown_rows(&screen), rows, "{screen}");
        submit_message(&mut program, "three");
        let screen = program.until("Third answer.");
        assert_eq!(shown_rows(&screen), [""; 0], "{screen}");
    }
}

#[test]
fn a_list_survives_a_kill() {
    let user = User::new(vec![write_todos(&["completed", "pending"]), text_answer("Noted.")]);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let rows = shown_rows(&program.until("Noted."));
    assert_eq!(rows.len(), 2);
    let is_end = |entry: &Entry| matches!(entry, Entry::Ended { .. });
    program.until_condition("the turn is stored", |_| read_session(&user.setup(&[])).iter().any(is_end));
    program.signal(rustix::process::Signal::KILL);
    program.wait_for_exit();
    let mut resumed = user.start(&["-c"]);
    let screen = resumed.until("Noted.");
    assert_eq!(shown_rows(&screen), rows, "{screen}");
    resumed.resize(60, 12);
    resumed.until_condition("the list is shown", |program| shown_rows(&program.screen()).len() == 2);
    resumed.resize(60, 11);
    resumed.until_condition("the list is hidden", |program| shown_rows(&program.screen()).is_empty());
}
