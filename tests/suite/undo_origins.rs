//! Undo of changes that no call of the main model made directly: those of an applied dry run, and those of a sub-agent.

use crate::rehearsal_apply::{open_apply_screen, rehearse, write_call};
use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use serde_json::json;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Sends `/undo` and answers its prompt, which must list these changes and has words of its own.
fn undo(program: &mut Program, changes: &[&str]) {
    submit_message(program, "/undo");
    let screen = program.until_prompt("Restore files?");
    for change in changes {
        assert!(screen.contains(change), "{change}: {screen}");
    }
    let hints = screen.lines().rfind(|row| row.starts_with(['╰', '┗'])).unwrap_or_default();
    assert!(hints.contains(" restore") && hints.contains("n cancel"), "{screen}");
    assert!(["approve", "apply", "deny"].iter().all(|verb| !hints.contains(verb)), "{screen}");
    let key = if screen.contains("Warning: ") { "Y" } else { "y" };
    program.press_keys("\r");
    program.until(&format!("Enter does not answer · {key} restore, n cancel"));
    program.wait_ms(600);
    program.press_keys(key);
}

#[test]
fn undo_restores_what_applying_a_dry_run_changed() {
    let calls = [write_call("a.txt", "two\n"), write_call("b.txt", "new\n")];
    let (_runtime, service, place) = rehearse(&calls, &[("a.txt", "one\n"), ("c.txt", "c\n")]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_prompt("Apply: change a.txt?");
    program.press_keys("y");
    program.until_prompt("Apply: create b.txt?");
    program.press_keys("y");
    program.until_condition("the file is created", |program| program.file("b.txt").is_some());
    program.until_idle("ask mode");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    undo(&mut program, &["a.txt", "b.txt"]);
    program.until("2 of 2 restored");
    program.until_idle("ask mode");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    assert_eq!((program.file("b.txt"), program.file("c.txt").as_deref()), (None, Some("c\n")));
    submit_message(&mut program, "/undo");
    program.until("Nothing to undo");
}

/// The changes of a sub-agent belong to the turn that started it.
#[test]
fn undo_restores_what_a_sub_agent_changed() {
    let edit = ("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" }));
    let task = ("sub_agent", json!({ "name": "notes", "task": "do notes" }));
    let answer = |call| calls_answer_after(Duration::ZERO, &[call]);
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start_parallel(vec![
        ("do notes", vec![answer(edit), answer(write_call("new/b.txt", "new\n")), text_answer("Both are written.")]),
        ("go", vec![answer(task), text_answer("All is done.")]),
    ]));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).with_file("a.txt", "one\n");
    let mut program = setup.size(100, 30).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    for prompt in ["Change a file?", "Create a file?"] {
        let screen = program.until_prompt(prompt);
        assert!(screen.contains("asked by sub-agent “notes”"), "{screen}");
        program.press_keys("y");
    }
    program.until_idle("All is done.");
    assert_eq!(program.file("new/b.txt").as_deref(), Some("new\n"));
    undo(&mut program, &["a.txt", "new/b.txt"]);
    program.until("2 of 2 restored");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    assert!(!program.project().join("new").exists());
}
