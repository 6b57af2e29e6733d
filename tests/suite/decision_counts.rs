//! How many decisions a coding session needs: thirty calls of edits, test runs and git, played by a scripted model.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::Program;
use crate::support::service::Answer;
use crate::support::stored_files::read_session;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::tool_service::call;
use crate::support::user::User;
use aye::chat::{Decider, Entry, Outcome};
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";
/// Most prompts of the session in mode `ask`, if the widest offered rule is saved at each.
const MOST_IN_ASK: usize = 6;
/// Most scopes that a prompt offers.
const MOST_SCOPES: usize = 8;
/// Most prompts of the session in mode `auto`.
const MOST_IN_AUTO: usize = 2;

fn edit(path: &str, old: &str, new: &str) -> Answer {
    call("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn write(path: &str, content: &str) -> Answer {
    call("write_file", json!({ "path": path, "content": content }))
}

/// Thirty calls as models write them. `project` is the absolute path of the project.
fn coding_calls(project: &str) -> Vec<Answer> {
    let run = command_answer;
    vec![
        run("git status --short"),
        edit("src/a.txt", "one", "1"),
        run("make test 2>&1 | tail -n 20"),
        edit("src/a.txt", "two", "2"),
        run(&format!("cd {project} && make test 2>&1 | tail -n 5")),
        run("git diff | head -n 40"),
        run("git add -A"),
        run("git commit -m \"Use digits for one and two\""),
        write("src/b.txt", "first\nsecond\n"),
        run("make test 2>&1 | grep -n passed | head -n 3"),
        edit("Makefile", "@echo passed", "@echo all passed"),
        run("cd . && make test; echo done"),
        run("git diff --stat"),
        run("git add Makefile src && git commit -q -m \"Add b, and say more\""),
        edit("src/b.txt", "first", "1st"),
        write("docs/notes.md", "# Notes\n"),
        run("make test >/dev/null 2>&1 && echo ok"),
        run("git log --oneline -n 3"),
        edit("docs/notes.md", "# Notes", "# Notes of today"),
        run("make test -s | wc -l"),
        run("git diff --stat && git add -A && git commit -m \"Write notes\" 2>&1 | tail -n 1"),
        edit("src/a.txt", "three", "3"),
        run("make test 2>/dev/null || echo failed"),
        run("git status --short | wc -l"),
        run(&format!("cd {project}/src && make -s test | sort | uniq -c | sort -rn | head -n 5")),
        edit("src/b.txt", "second", "2nd"),
        run("make test"),
        run("git add -A && git commit -q -m \"Finish a and b\" && git status --short"),
        write("src/c.txt", "last\n"),
        run("git add -A; git commit -q -m \"Add c\"; echo committed"),
    ]
}

fn git(user: &User, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(user.project()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with a test target, and the answers of the model.
fn user_with(answers: impl Fn(&str) -> Vec<Answer>) -> User {
    // The calls need the path of the project, which exists only with the user.
    let first = User::new(Vec::new());
    let project = first.project().canonicalize().unwrap().display().to_string();
    let mut answers = answers(&project);
    answers.push(text_answer("All of it is done."));
    let user = first.with_answers(answers);
    let makefile = ".PHONY: test\ntest:\n\t@echo passed\n";
    for (path, text) in [("Makefile", makefile), ("src/Makefile", makefile), ("src/a.txt", "one\ntwo\nthree\nfour\n")] {
        user.write_file(path, text);
    }
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "a"],
        &["config", "user.email", "a@b"],
        &["add", "-A"],
        &["commit", "-q", "-m", "zero"],
    ] {
        git(&user, arguments);
    }
    user
}

/// Sends a message and answers each prompt until the turn ends: with the widest rule if one is offered.
fn play(program: &mut Program) {
    program.until("Messages go to");
    submit_message(program, "go");
    let (mut answered, started) = (0, Instant::now());
    while !program.screen().contains("All of it is done.") {
        if program.has_active_prompt() {
            save_widest_rule(program);
            answered += 1;
            assert!(answered < 40, "{}", program.screen());
        }
        assert!(started.elapsed() < Duration::from_secs(240), "{}", program.screen());
        program.wait_ms(50);
    }
}

fn save_widest_rule(program: &mut Program) {
    program.press_until("a", "Allow without asking");
    let is_widest = |screen: &str| {
        let is_last = ["This is the widest scope", "No wider scope"].iter().any(|hint| screen.contains(hint));
        !screen.contains(" › ") || is_last
    };
    for step in 0.. {
        let screen = program.screen();
        if is_widest(&screen) {
            break;
        }
        assert!(step < MOST_SCOPES, "{screen}");
        program.press_keys(RIGHT);
        program.wait_ms(600);
    }
    program.press_until(DOWN, "verdict = \"allow\"");
    program.press_keys("\r");
    program.until_gone("Allow without asking");
}

/// Returns the summaries of the calls that the user decided, and checks that every call ran.
fn decided_calls(user: &User, call_count: usize) -> Vec<String> {
    let mut decided = Vec::new();
    let mut last_summary = String::new();
    let mut settled = 0;
    for entry in read_session(&user.setup(&[])) {
        match entry {
            Entry::Planned { summary, .. } => last_summary = summary,
            Entry::Decided { by: Decider::User { .. }, .. } => decided.push(last_summary.clone()),
            Entry::Settled { outcome, .. } => {
                settled += 1;
                assert!(matches!(outcome, Outcome::Done(_)), "{last_summary}: {outcome:?}");
            }
            _ => {}
        }
    }
    assert_eq!(settled, call_count);
    decided
}

#[test]
fn thirty_calls_need_few_decisions_with_rules() {
    let user = user_with(coding_calls);
    play(&mut user.start(&[]));
    let decided = decided_calls(&user, 30);
    println!("prompts in mode ask: {} {decided:#?}", decided.len());
    assert!(decided.len() <= MOST_IN_ASK, "{decided:#?}");
    assert_eq!(git(&user, &["log", "--format=%s"]).lines().count(), 6, "every commit was made");
    assert_eq!(git(&user, &["status", "--short"]), "");
}

#[test]
fn thirty_calls_need_hardly_a_decision_in_mode_auto() {
    if !has_overlay_sandbox() {
        return;
    }
    let user = user_with(coding_calls);
    play(&mut user.start(&["--mode", "auto"]));
    let decided = decided_calls(&user, 30);
    println!("prompts in mode auto: {} {decided:#?}", decided.len());
    assert!(decided.len() <= MOST_IN_AUTO, "{decided:#?}");
    assert_eq!(git(&user, &["log", "--format=%s"]).lines().count(), 6, "every commit was made");
    assert_eq!(git(&user, &["status", "--short"]), "");
}

#[test]
fn fifteen_reads_need_no_decision() {
    let user = user_with(|project| {
        let run = command_answer;
        vec![
            call("list_files", json!({})),
            call("read_file", json!({ "path": "src/a.txt" })),
            call("search_text", json!({ "pattern": "one" })),
            run("ls -la"),
            run("cat src/a.txt | head -n 2"),
            run("git status --short"),
            run("git log --oneline -n 5 | cat"),
            run("git diff HEAD --stat"),
            run("grep -rn two src | wc -l"),
            run("find src -name '*.txt' | sort"),
            run("cd src && cat a.txt 2>/dev/null | tail -n 1"),
            run(&format!("cd {project} && ls src && wc -l src/a.txt")),
            run("sed -n 1,2p src/a.txt; echo done"),
            run("cat Makefile && git branch --show-current"),
            run("head -n 1 src/a.txt || true"),
        ]
    });
    play(&mut user.start(&[]));
    let decided = decided_calls(&user, 15);
    println!("prompts of reads: {}", decided.len());
    assert_eq!(decided, Vec::<String>::new());
}
