//! The choice of the scope of a grant or rule in the real program: what it lists, its keys, and where it applies.

use crate::sandbox_escapes::has_sandbox;
use crate::support::program::Program;
use crate::support::stored_files::read_entries;
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use crate::support::user::User;
use aye::chat::Entry;
use serde_json::json;
use std::time::Duration;

const LEFT: &str = "\x1b[D";
const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";
const END: &str = "\x1b[F";

/// Opens the choice of scopes for the call of the next message.
fn open_choice(program: &mut Program, prompt: &str) {
    program.until("Messages go to");
    submit_message(program, "go");
    program.until_prompt(prompt);
    // The reason why no trial is possible comes late, and on a small screen it may put the end out of sight.
    program.press_keys(END);
    program.press_until("a", "Allow without asking");
}

/// Both arrows and the numbers choose. For every command of a build tool, the screen says what its sandbox guarantees.
#[test]
fn arrows_choose_and_the_sandbox_of_a_whole_program_is_shown() {
    if !has_sandbox() {
        return;
    }
    let user = User::new(vec![command_answer("make test"), text_answer("Done.")]);
    let mut program = user.start(&[]);
    open_choice(&mut program, "make test");
    let guarantee = "the sandbox of every such command: network off · may write here";
    let screen = program.until("› 1  exactly this command");
    assert!(!screen.contains(guarantee), "{screen}");
    program.press_until(RIGHT, "› 2  make test …");
    program.press_until(RIGHT, "› 3  make …");
    program.until(guarantee);
    program.press_until(RIGHT, "This is the widest scope");
    program.press_until(LEFT, "› 2  make test …");
    program.press_until(LEFT, "› 1  exactly this command");
    program.until_gone(guarantee);
    program.press_until(LEFT, "This is the narrowest scope");
    program.press_until("3", "› 3  make …");
    program.until(guarantee);
}

/// Every scope says what it never covers: in a row of its own if there are enough rows, otherwise in its only row.
#[test]
fn each_scope_says_what_it_never_covers() {
    let edit = json!({ "path": "src/a.txt", "old_text": "one", "new_text": "two" });
    let edit = || calls_answer_after(Duration::ZERO, &[("edit_file", edit.clone())]);
    let large = [
        ("edit src/a.txt", "never: another file, another tool"),
        ("edit any file below src/", "never: a file outside this folder, another tool"),
        ("edit any file of the project", "never: a file outside the project, another tool"),
        ("file changes in this project", "never: a file outside the project, a command"),
    ];
    let medium = [
        ("edit src/a.txt", "  never another file"),
        ("edit any file below src/  e.g. src/other.txt", "  never outside this folder"),
        ("edit any file of the project  e.g. other.txt", "  never outside the project"),
        ("file changes in this project  e.g. src/another.txt", "  never commands"),
    ];
    let small = [
        ("edit src/a.txt", "  never another file"),
        ("edit in src/  e.g. src/other.txt", "  never outside it"),
        ("edit in project  e.g. other.txt", "  never outside it"),
        ("all file changes  e.g. …another.txt", "  never commands"),
    ];
    for (size, is_large, scopes) in [((120, 36), true, large), ((80, 24), false, medium), ((60, 15), false, small)] {
        let user = User::new(vec![edit()]).with_project_file("src/a.txt", "one\n");
        let mut program = user.setup(&[]).size(size.0, size.1).start();
        open_choice(&mut program, "src/a.txt");
        for (number, (label, _)) in (1..).zip(scopes) {
            program.press_until(&number.to_string(), &format!("› {number}  {label}"));
            let screen = program.screen();
            let rows: Vec<&str> = screen.lines().collect();
            for (label, limit) in scopes {
                let row = rows.iter().position(|row| row.contains(label));
                let row = row.unwrap_or_else(|| panic!("{size:?}: {label}: {screen}"));
                assert!(rows[row + usize::from(is_large)].contains(limit), "{size:?}: {limit}: {screen}");
                assert!(is_large || !rows[row].contains("another tool"), "as in the other rows: {screen}");
            }
            assert!(size.1 < 24 || screen.contains("always ask: secrets such as .env"), "{size:?}: {screen}");
        }
    }
}

/// On a small screen the first change of the diff stays visible above all scopes, each with an example and what it never
/// covers. A key shows the whole diff.
#[test]
fn the_change_stays_visible_above_all_scopes_on_a_small_screen() {
    let edit =
        json!({ "path": "src/deep/a.txt", "old_text": "one\ntwo\nthree\n", "new_text": "four\nfive\nsix\nseven\n" });
    let edit = || calls_answer_after(Duration::ZERO, &[("edit_file", edit.clone())]);
    let labels = ["edit src/deep/a.txt", "edit ", "edit ", "edit ", ""];
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        let user = User::new(vec![edit()]).with_project_file("src/deep/a.txt", "one\ntwo\nthree\n");
        let mut program = user.setup(&[]).size(width, height).start();
        open_choice(&mut program, "src/deep/a.txt");
        for (number, selected) in (1..).zip(labels) {
            program.press_until(&number.to_string(), &format!("› {number}  {selected}"));
            let screen = program.screen();
            let rows: Vec<&str> = screen.lines().collect();
            assert!(screen.contains("src/deep/a.txt · +4 −3") && screen.contains("− one"), "{width}: {screen}");
            assert!(screen.contains("Allow without asking:"), "{width}: {screen}");
            assert!(screen.matches("never").count() >= labels.len(), "{width}: {screen}");
            for (number, label) in (1..).zip(labels) {
                let row = rows.iter().position(|row| row.contains(&format!("{number}  {label}")));
                let row = row.unwrap_or_else(|| panic!("{width}, {label}: {screen}"));
                let has_example = rows[row].contains(" · such as ") || rows[row].contains("  e.g. ");
                assert_eq!(has_example, number > 1, "{width}, {label}: {screen}");
                assert!(number == 1 || rows[row].contains(".txt "), "{width}, the end of the path: {screen}");
                assert!([row, row + 1].iter().any(|row| rows[*row].contains("never")), "{width}, {label}: {screen}");
            }
            assert!(screen.contains("[for this session] · in this project"), "{width}: {screen}");
        }
        assert!(program.screen().contains("grant · 1–5 ←→ scope"), "{}", program.screen());
        if height == 15 {
            assert!(!program.screen().contains("+ seven"), "{}", program.screen());
            program.press_until("o", "+ seven");
            program.press_until("o", "more lines · o shows all");
        }
        program.press_until("\x1b[F", "matches no earlier call");
    }
}

/// The whole call leaves rows to the scopes, and what a key changes is visible.
#[test]
fn the_choice_stays_usable_below_the_whole_call_on_a_small_screen() {
    if !has_sandbox() {
        return;
    }
    let long = format!("make test && echo '{}'", "some words ".repeat(18));
    for command in ["make test", long.as_str()] {
        let user = User::new(vec![command_answer(command)]);
        let mut program = user.setup(&[]).size(60, 15).start();
        open_choice(&mut program, "make test");
        if command == "make test" {
            program.press_until("o", "│ Allow without asking:");
            let screen = program.screen();
            for part in ["› 1  exactly this command", "  2  make test …", "  3  make …", "[for this session] · "]
            {
                assert!(screen.contains(part), "{part}: {screen}");
            }
        } else {
            program.until("o shows all");
            program.press_until("o", "lines below");
            assert!(!program.screen().contains("o shows all"), "{}", program.screen());
        }
        // The choice comes back when it changes.
        program.press_until(DOWN, "[in this project]");
        let screen = program.screen();
        assert!(screen.contains("› 1  exactly this command  never"), "{screen}");
    }
}

/// The choice for a short command fits into 24 rows whichever scope is selected.
#[test]
fn each_scope_of_a_short_command_says_what_it_never_covers_in_24_rows() {
    if !has_sandbox() {
        return;
    }
    let user = User::new(vec![command_answer("make test")]);
    let mut program = user.setup(&[]).size(80, 24).start();
    open_choice(&mut program, "make test");
    let words = "never: a variable, a substitution, > FILE, a path outside the project";
    let limits = [
        ("exactly this command", "never: a command that differs in any character"),
        ("make test …", words),
        ("make …", words),
    ];
    for (number, (selected, _)) in (1..).zip(limits) {
        program.press_until(&number.to_string(), &format!("› {number}  {selected}"));
        let screen = program.until("always ask: secrets, ");
        let rows: Vec<&str> = screen.lines().collect();
        for (number, (label, limit)) in (1..).zip(limits) {
            let row = rows.iter().position(|row| row.contains(&format!("{number}  {label}")));
            let row = row.unwrap_or_else(|| panic!("{label}: {screen}"));
            assert!(rows[row + 1].contains(limit), "{label}: {screen}");
            // Nothing differs from exactly this command.
            assert_eq!(rows[row].contains(" · such as make "), number > 1, "{label}: {screen}");
        }
        assert!(screen.contains("╰─ enter approve and grant"), "nothing is below: {screen}");
    }
}

/// A rule for every project allows in another one what the same rule for one project does not.
#[test]
fn a_rule_for_every_project_applies_in_another_one() {
    for (steps, span) in [(1, "[in this project]"), (2, "[in every project]")] {
        let commands = ["touch one", "touch two"].map(command_answer);
        let [first, second] = commands;
        let user = User::new(vec![first, text_answer("One."), second, text_answer("Two.")]);
        let mut program = user.start(&[]);
        open_choice(&mut program, "touch one");
        program.press_until("3", "› 3  touch …");
        for _ in 0..steps {
            program.press_keys(DOWN);
        }
        program.until(span);
        program.press_until("\r", "One.");
        drop(program);
        let sessions = user.path("home/aye/data/sessions");
        std::fs::remove_dir_all(sessions).unwrap();
        let mut program = user.setup(&[]).in_folder("other").start();
        program.until("Messages go to");
        submit_message(&mut program, "again");
        let is_everywhere = steps == 2;
        if !is_everywhere {
            program.until_prompt("touch two");
            assert!(!user.path("other/two").exists());
            continue;
        }
        program.until_idle("Two.");
        assert!(user.path("other/two").exists() && !user.path("project/two").exists());
        let is_decided = |entry: &Entry| matches!(entry, Entry::Decided { .. });
        let entries = read_entries(user.root.path());
        let is_allowed = |entry: &Entry| matches!(entry, Entry::Planned { verdict, .. } if verdict == "allow");
        assert!(entries.iter().any(is_allowed) && !entries.iter().any(is_decided), "{entries:#?}");
    }
}
