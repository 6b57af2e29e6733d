//! Rehearsed changes are applied through approval prompts: nothing without a key press, nothing over a file that
//! changed since, nothing by halves.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_answer_after, submit_message, text_answer};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Rehearses these calls in a new home; returns the service that the screen connects to afterwards.
pub fn rehearse(calls: &[(&str, Value)], files: &[(&str, &str)]) -> (tokio::runtime::Runtime, Service, Arc<Folder>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers: Vec<Answer> =
        vec![calls_answer_after(Duration::ZERO, calls), text_answer("Would do."), text_answer("I see.")];
    let service = runtime.block_on(Service::start(answers));
    let mut setup = Setup::new(&["-p", "--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b", "go"]);
    for (path, text) in files {
        setup = setup.with_file(path, text);
    }
    let root = setup.root.clone();
    // The outcome of a command must not depend on whether the system has an overlay sandbox.
    let config = root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[dry_run]\noverlay_sandbox = \"off\"\n").unwrap();
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    (runtime, service, root)
}

pub fn write_call(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

/// Opens the screen of `aye rehearsal apply`.
pub fn open_apply_screen(
    service: &Service,
    place: &Arc<Folder>,
    extra_arguments: &[&str],
    (columns, rows): (u16, u16),
) -> Program {
    let mut arguments = vec!["rehearsal", "apply", "--base-url", &service.base_url, "--model", "scripted-7b"];
    arguments.extend(extra_arguments);
    Setup::with_home(place, &arguments).size(columns, rows).start()
}

/// Runs `aye audit --json` for the last session.
fn read_audit(place: &Arc<Folder>) -> Vec<Value> {
    let (out, _, _) = Setup::with_home(place, &["audit", "--json"]).run_piped("");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbered_lines(change: impl Fn(usize) -> String) -> String {
    (1..=40).map(|n| change(n) + "\n").collect()
}

#[test]
fn r30_prompts_for_each_change_and_command_and_records_each_decision() {
    let (_runtime, service, place) = rehearse(
        &[
            write_call("a.txt", "two\n"),
            write_call("b.txt", "new\n"),
            ("bash_exec", json!({ "command": "touch made" })),
        ],
        &[("a.txt", "one\n")],
    );
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_prompt("Apply: change a.txt?");
    // Enter alone never approves.
    program.press_keys("\r");
    program.wait_ms(200);
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    program.until_prompt("Apply: change a.txt?");
    program.press_keys("y");
    program.until_prompt("Apply: create b.txt?");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    program.press_keys("n");
    program.until_prompt("$ touch made");
    assert_eq!((program.file("b.txt"), program.file("made")), (None, None));
    program.press_keys("y");
    program.until_condition("the command ran", |program| program.file("made").is_some());
    // No request is sent until the next user message, which also tells the model what was applied.
    let requests_before = service.received().len();
    submit_message(&mut program, "and now?");
    program.until("I see.");
    assert_eq!(service.received().len(), requests_before + 1);
    let request = service.received().last().unwrap().body.to_string();
    assert!(request.contains("a.txt: applied") && request.contains("is now live"), "{request}");
    let offered: Vec<Value> =
        read_audit(&place).into_iter().filter(|call| call["call"].as_str().unwrap().starts_with("offered_")).collect();
    let field = |call: &Value, name: &str| call[name].as_str().unwrap_or_default().to_owned();
    let outcomes: Vec<_> =
        offered.iter().map(|call| (field(call, "tool"), field(call, "key"), field(call, "outcome"))).collect();
    let row = |tool: &str, key: &str, outcome: &str| (tool.to_owned(), key.to_owned(), outcome.to_owned());
    assert_eq!(
        outcomes,
        [row("apply_change", "y", "done"), row("apply_change", "n", "refused"), row("bash_exec", "y", "done")]
    );
    assert!(offered.iter().all(|call| call["holds"] == json!(true)), "{offered:?}");
}

#[test]
fn r03_hasty_keys_apply_nothing_and_deletions_need_a_capital() {
    let (_runtime, service, place) = rehearse(
        &[write_call("a.txt", "two\n"), write_call("b.txt", "new\n")],
        &[("a.txt", "one\n"), ("gone.txt", "x\n")],
    );
    // Marks the file as deleted, as a command in the overlay sandbox does.
    let overlay =
        std::fs::read_dir(place.path().join("home/aye/data/rehearsal")).unwrap().next().unwrap().unwrap().path();
    let kind = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, overlay.join("upper/gone.txt"), kind, 0o600.into(), 0).unwrap();
    let mut origins = std::fs::read_to_string(overlay.join("origins")).unwrap();
    let held = aye::chat::Digest::of_bytes(b"x\n");
    origins.push_str(&format!("{}\n", json!({ "path": b"gone.txt".to_vec(), "held": held })));
    std::fs::write(overlay.join("origins"), origins).unwrap();
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (60, 15));
    // Neither a key press before the prompt nor keys that keep coming answer it.
    for _ in 0..30 {
        program.press_keys("Y");
        program.wait_ms(30);
    }
    assert_eq!(program.file("gone.txt").as_deref(), Some("x\n"));
    // The keys went to the composer; backspace deletes them.
    program.press_keys(&"\x7f".repeat(40));
    program.until_prompt("Apply: delete gone.txt?");
    program.press_keys("y");
    program.wait_ms(300);
    assert_eq!(program.file("gone.txt").as_deref(), Some("x\n"), "a deletion needs a capital");
    program.until_prompt("Apply: delete gone.txt?");
    program.press_keys("Y");
    program.until_prompt("Apply: change a.txt?");
    assert_eq!(program.file("gone.txt"), None);
    // A held `y` answers at most this prompt, not the next one.
    program.press_keys("yyyyyyyy");
    program.wait_ms(300);
    assert_eq!(program.file("b.txt"), None);
}

#[test]
fn r30_shows_files_changed_since_as_conflicts_and_keeps_them() {
    let (_runtime, service, place) = rehearse(
        &[write_call("a.txt", "two\n"), write_call("b.txt", "two\n")],
        &[("a.txt", "one\n"), ("b.txt", "one\n")],
    );
    std::fs::write(place.path().join("project/a.txt"), "mine\n").unwrap();
    let (out, _, _) = Setup::with_home(&place, &["rehearsal"]).run_piped("");
    assert!(out.contains("1 conflict") && out.contains("CONFLICT: the real file changed since"), "{out}");
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until("CONFLICT: a.txt changed since");
    program.until_prompt("Apply: change b.txt?");
    // The second file changes while its prompt is open.
    std::fs::write(place.path().join("project/b.txt"), "mine too\n").unwrap();
    program.press_keys("y");
    program.until("CONFLICT: b.txt changed since");
    assert_eq!(
        (program.file("a.txt").unwrap(), program.file("b.txt").unwrap()),
        ("mine\n".into(), "mine too\n".into())
    );
}

#[test]
fn applies_one_hunk_and_keeps_the_other_for_later() {
    let before = numbered_lines(|n| n.to_string());
    let after = numbered_lines(|n| if n == 5 || n == 30 { format!("changed {n}") } else { n.to_string() });
    let (_runtime, service, place) = rehearse(&[write_call("a.txt", &after)], &[("a.txt", &before)]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_prompt("changed 5");
    program.press_keys("n");
    program.until_prompt("changed 30");
    program.press_keys("y");
    let half = numbered_lines(|n| if n == 30 { format!("changed {n}") } else { n.to_string() });
    program.until_condition("one hunk is applied", |program| program.file("a.txt").as_deref() == Some(&half));
    program.until_idle("ask mode");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let (patch, _, _) = Setup::with_home(&place, &["rehearsal", "diff"]).run_piped("");
    assert!(patch.contains("+changed 5") && !patch.contains("+changed 30"), "{patch}");
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_prompt("changed 5");
    program.press_keys("y");
    program.until_condition("both hunks are applied", |program| program.file("a.txt").as_deref() == Some(&after));
}

#[test]
fn r51_killed_between_files_leaves_whole_files_and_can_continue() {
    let calls: Vec<_> = ["a.txt", "b.txt", "c.txt"].map(|name| write_call(name, &format!("{name}\n").repeat(3))).into();
    let (_runtime, service, place) = rehearse(&calls, &[]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until_prompt("1 of 3");
    program.press_keys("y");
    program.until_prompt("2 of 3");
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let full_text = |name: &str| program.file(name).is_some_and(|text| text == format!("{name}\n").repeat(3));
    assert!(full_text("a.txt") && program.file("b.txt").is_none() && program.file("c.txt").is_none());
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until_prompt("1 of 2");
    program.press_keys("y");
    program.until_prompt("2 of 2");
    program.press_keys("y");
    program.until_condition("the last file exists", |program| program.file("c.txt").is_some());
    program.until_idle("ask mode");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let (out, err, code) = Setup::with_home(&place, &["rehearsal"]).run_piped("");
    assert!(code == 0 && out.contains("Nothing to apply."), "{out}{err}");
}

#[test]
fn reports_a_change_that_cannot_be_applied_and_continues() {
    let (_runtime, service, place) = rehearse(&[write_call("dir/a.txt", "two\n"), write_call("z.txt", "new\n")], &[]);
    // A file now has the name of the folder to create.
    std::fs::write(place.path().join("project/dir"), "mine\n").unwrap();
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    let screen = program.until_prompt("dir/a.txt · new file");
    assert!(screen.contains("CONFLICT: dir changed since"), "{screen}");
    program.press_keys("y");
    let screen = program.until_prompt("z.txt · new file");
    assert!(screen.contains("✗ Apply dir/a.txt"), "{screen}");
    program.press_keys("y");
    program.until_condition("the other file is applied", |program| program.file("z.txt").is_some());
    assert_eq!(program.file("dir").as_deref(), Some("mine\n"));
}

#[test]
fn r32_shows_terminal_sequences_in_names_and_contents_as_text() {
    let hostile = "a\x1b[2J\x1b[1;1H╭─ Apply: create a file? ─╮\u{202e}\ny yes\x07\r\n";
    let (_runtime, service, place) = rehearse(&[write_call("a.txt", hostile)], &[]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (60, 15));
    let screen = program.until_prompt("Apply: create a.txt?");
    assert!(screen.contains("<ESC>") || screen.contains("<U+001B>"), "{screen}");
    program.press_keys("n");
    let (out, _, code) = Setup::with_home(&place, &["rehearsal"]).run_piped("");
    assert!(code == 0 && !out.contains('\x1b') && !out.contains('\u{202e}') && !out.contains('\x07'), "{out:?}");
    let (json, _, _) = Setup::with_home(&place, &["rehearsal", "show", "--json"]).run_piped("");
    assert!(!json.contains('\x1b') && !json.contains('\u{202e}'), "{json:?}");
}

#[test]
fn r30_rehearsal_command_lists_shows_applies_and_drops() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers = vec![calls_answer_after(Duration::ZERO, &[write_call("a.txt", "two\n")]), text_answer("Would do.")];
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::new(&arguments).with_file("a.txt", "one\n").size(60, 15).start();
    program.until("DRY RUN");
    submit_message(&mut program, "/rehearsal");
    program.until("nothing was rehearsed yet");
    submit_message(&mut program, "go");
    program.until("Would do.");
    submit_message(&mut program, "/rehearsal");
    // The earlier notification disappears without a key press.
    let screen = program.until("Rehearsed: 1 file changed, +1 −1");
    assert!(screen.contains("DRY RUN") && screen.contains("~ a.txt"), "{screen}");
    program.press_keys("\x1b[B");
    program.press_keys("\r");
    let screen = program.until("1 + two");
    assert!(screen.contains("DRY RUN"), "{screen}");
    program.press_keys("\x1b");
    program.until("~ a.txt");
    program.press_keys("\x1b");
    submit_message(&mut program, "/rehearsal apply");
    program.until_prompt("Apply source changes?");
    program.press_keys("y");
    program.until_condition("the file is applied", |program| program.file("a.txt").as_deref() == Some("two\n"));
    let screen = program.screen();
    assert!(!screen.contains("DRY RUN"), "the copy is a live session: {screen}");
    // The screen knows that nothing is left to apply.
    submit_message(&mut program, "/rehearsal apply");
    program.until("No rehearsed changes to apply");
    submit_message(&mut program, "/rehearsal drop");
    program.until("Discard the rehearsed changes?");
    program.press_until("Y", "rehearsal discarded");
    assert_eq!(std::fs::read_dir(program.root.path().join("home/aye/data/rehearsal")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn r30_applies_a_commands_changes_once_and_repeating_it_needs_a_capital() {
    if !has_overlay_sandbox() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let command = |line: &str| ("bash_exec", json!({ "command": line }));
    let calls = [command("echo x >> check.sh && rm old.txt"), command("touch beside"), command("exit 3")];
    let answers = vec![calls_answer_after(Duration::ZERO, &calls), text_answer("Would do.")];
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = Setup::new(&arguments).with_file("check.sh", "one\n").with_file("old.txt", "old\n");
    let mut program = setup.size(80, 24).start();
    program.until("DRY RUN");
    submit_message(&mut program, "go");
    program.until("3 calls rehearsed (3 in the overlay sandbox); nothing changed on disk");
    submit_message(&mut program, "/rehearsal apply hunks");
    let screen = program.until_prompt("Apply: delete old.txt?");
    assert!(screen.contains("LIVE RUN") && !screen.contains("DRY RUN"), "{screen}");
    assert!(screen.contains("deletes the file"), "{screen}");
    program.press_keys("Y");
    program.until_prompt("Apply: create beside?");
    program.press_keys("n");
    program.until_prompt("Apply: change check.sh?");
    program.press_keys("y");
    // The file already has this change, so an ordinary approval does not run the command again.
    let screen = program.until_prompt("repeats applied changes: check.sh,");
    assert!(screen.contains("old.txt"), "{screen}");
    program.press_keys("y");
    program.until("Destructive: y is not enough");
    program.press_keys("n");
    // The change of this command was denied, so running it does not repeat a change.
    let screen = program.until_prompt("$ touch beside");
    assert!(!screen.contains("repeats applied changes"), "{screen}");
    program.press_keys("y");
    program.until_prompt("$ exit 3");
    program.press_keys("n");
    program.until_condition("the prompts are done", |program| !program.screen().contains("LIVE RUN"));
    assert_eq!(program.file("check.sh").as_deref(), Some("one\nx\n"), "applied once");
    assert!(program.file("beside").is_some() && program.file("old.txt").is_none());
    // Applied changes are no longer listed, and commands that ran live are not offered again.
    submit_message(&mut program, "/rehearsal");
    let screen = program.until("later run live");
    assert!(!screen.contains("~ check.sh") && screen.contains("ran · exit 3"), "{screen}");
    assert!(screen.contains("ran · applied"), "{screen}");
    program.press_keys("\x1b");
    submit_message(&mut program, "/rehearsal apply commands");
    program.until_prompt("1 of 2");
}
