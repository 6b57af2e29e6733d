//! Rehearsed changes are applied through approval prompts: nothing without a key press, nothing over a file that
//! changed since, nothing by halves.

use crate::overlay_sandbox_escapes::is_there;
use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_after, say, says};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Rehearses these calls in a new home; returns the service that the screen connects to afterwards.
pub fn rehearse(calls: &[(&str, Value)], files: &[(&str, &str)]) -> (tokio::runtime::Runtime, Service, Arc<Folder>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers: Vec<Answer> = vec![calls_after(Duration::ZERO, calls), says("Would do."), says("I see.")];
    let service = runtime.block_on(Service::start(answers));
    let mut setup = Setup::new(&["-p", "--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b", "go"]);
    for (path, text) in files {
        setup = setup.has(path, text);
    }
    let place = setup.place.clone();
    // The outcome of a command must not depend on whether the system has an overlay sandbox.
    let config = place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[dry_run]\noverlay_sandbox = \"off\"\n").unwrap();
    let (out, err, code) = setup.print("");
    assert_eq!(code, 0, "{out}{err}");
    (runtime, service, place)
}

pub fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

/// Opens the screen of `aye rehearsal apply`.
pub fn open_apply_screen(
    service: &Service,
    place: &Arc<Folder>,
    more: &[&str],
    (columns, rows): (u16, u16),
) -> Program {
    let mut arguments = vec!["rehearsal", "apply", "--base-url", &service.base_url, "--model", "scripted-7b"];
    arguments.extend(more);
    Setup::again(place, &arguments).size(columns, rows).start()
}

/// Runs `aye audit --json` for the last session.
fn read_audit(place: &Arc<Folder>) -> Vec<Value> {
    let (out, _, _) = Setup::again(place, &["audit", "--json"]).print("");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(change: impl Fn(usize) -> String) -> String {
    (1..=40).map(|n| change(n) + "\n").collect()
}

#[test]
fn r30_prompts_for_each_change_and_command_and_records_each_decision() {
    let (_runtime, service, place) = rehearse(
        &[write("a.txt", "two\n"), write("b.txt", "new\n"), ("bash_exec", json!({ "command": "touch made" }))],
        &[("a.txt", "one\n")],
    );
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_asked("Apply: change a.txt?");
    // Enter alone never approves.
    program.keys("\r");
    program.wait_ms(200);
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    program.until_asked("Apply: change a.txt?");
    program.keys("y");
    program.until_asked("Apply: create b.txt?");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    program.keys("n");
    program.until_asked("$ touch made");
    assert_eq!((program.file("b.txt"), program.file("made")), (None, None));
    program.keys("y");
    program.until_that("the command ran", |program| program.file("made").is_some());
    // No request is sent until the next user message, which also tells the model what was applied.
    let requests_before = service.received().len();
    say(&mut program, "and now?");
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
    let (_runtime, service, place) =
        rehearse(&[write("a.txt", "two\n"), write("b.txt", "new\n")], &[("a.txt", "one\n"), ("gone.txt", "x\n")]);
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
        program.keys("Y");
        program.wait_ms(30);
    }
    assert_eq!(program.file("gone.txt").as_deref(), Some("x\n"));
    program.keys(&"\x7f".repeat(40));
    program.until_asked("Apply: delete gone.txt?");
    program.keys("y");
    program.wait_ms(300);
    assert_eq!(program.file("gone.txt").as_deref(), Some("x\n"), "a deletion needs a capital");
    program.until_asked("Apply: delete gone.txt?");
    program.keys("Y");
    program.until_asked("Apply: change a.txt?");
    assert_eq!(program.file("gone.txt"), None);
    // The same key, held down, does not answer the next prompt.
    program.keys("yyyyyyyy");
    program.wait_ms(300);
    assert_eq!(program.file("b.txt"), None);
}

#[test]
fn r30_shows_files_changed_since_as_conflicts_and_keeps_them() {
    let (_runtime, service, place) =
        rehearse(&[write("a.txt", "two\n"), write("b.txt", "two\n")], &[("a.txt", "one\n"), ("b.txt", "one\n")]);
    std::fs::write(place.path().join("project/a.txt"), "mine\n").unwrap();
    let (out, _, _) = Setup::again(&place, &["rehearsal"]).print("");
    assert!(out.contains("1 conflict") && out.contains("CONFLICT: the real file changed since"), "{out}");
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until("CONFLICT: a.txt changed since");
    program.until_asked("Apply: change b.txt?");
    // The second file changes while its prompt is open.
    std::fs::write(place.path().join("project/b.txt"), "mine too\n").unwrap();
    program.keys("y");
    program.until("CONFLICT: b.txt changed since");
    assert_eq!(
        (program.file("a.txt").unwrap(), program.file("b.txt").unwrap()),
        ("mine\n".into(), "mine too\n".into())
    );
}

#[test]
fn applies_one_hunk_and_keeps_the_other_for_later() {
    let before = lines(|n| n.to_string());
    let after = lines(|n| if n == 5 || n == 30 { format!("changed {n}") } else { n.to_string() });
    let (_runtime, service, place) = rehearse(&[write("a.txt", &after)], &[("a.txt", &before)]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_asked("changed 5");
    program.keys("n");
    program.until_asked("changed 30");
    program.keys("y");
    let half = lines(|n| if n == 30 { format!("changed {n}") } else { n.to_string() });
    program.until_that("one hunk is applied", |program| program.file("a.txt").as_deref() == Some(&half));
    program.until_quiet("ask mode");
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let (patch, _, _) = Setup::again(&place, &["rehearsal", "diff"]).print("");
    assert!(patch.contains("+changed 5") && !patch.contains("+changed 30"), "{patch}");
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (100, 30));
    program.until_asked("changed 5");
    program.keys("y");
    program.until_that("both hunks are applied", |program| program.file("a.txt").as_deref() == Some(&after));
}

#[test]
fn r51_killed_between_files_leaves_whole_files_and_can_continue() {
    let calls: Vec<_> = ["a.txt", "b.txt", "c.txt"].map(|name| write(name, &format!("{name}\n").repeat(3))).into();
    let (_runtime, service, place) = rehearse(&calls, &[]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until_asked("1 of 3");
    program.keys("y");
    program.until_asked("2 of 3");
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let whole = |name: &str| program.file(name).is_some_and(|text| text == format!("{name}\n").repeat(3));
    assert!(whole("a.txt") && program.file("b.txt").is_none() && program.file("c.txt").is_none());
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    program.until_asked("1 of 2");
    program.keys("y");
    program.until_asked("2 of 2");
    program.keys("y");
    program.until_that("the last file exists", |program| program.file("c.txt").is_some());
    program.until_quiet("ask mode");
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    let (out, err, code) = Setup::again(&place, &["rehearsal"]).print("");
    assert!(code == 0 && out.contains("Nothing to apply."), "{out}{err}");
}

#[test]
fn reports_a_change_that_cannot_be_applied_and_continues() {
    let (_runtime, service, place) = rehearse(&[write("dir/a.txt", "two\n"), write("z.txt", "new\n")], &[]);
    // A file now has the name of the folder to create.
    std::fs::write(place.path().join("project/dir"), "mine\n").unwrap();
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (80, 24));
    let screen = program.until_asked("dir/a.txt · new file");
    assert!(screen.contains("CONFLICT: dir changed since"), "{screen}");
    program.keys("y");
    let screen = program.until_asked("z.txt · new file");
    assert!(screen.contains("✗ apply_change dir/a.txt"), "{screen}");
    program.keys("y");
    program.until_that("the other file is applied", |program| program.file("z.txt").is_some());
    assert_eq!(program.file("dir").as_deref(), Some("mine\n"));
}

#[test]
fn r32_shows_terminal_sequences_in_names_and_contents_as_text() {
    let hostile = "a\x1b[2J\x1b[1;1H╭─ Apply: create a file? ─╮\u{202e}\ny yes\x07\r\n";
    let (_runtime, service, place) = rehearse(&[write("a.txt", hostile)], &[]);
    let mut program = open_apply_screen(&service, &place, &["--hunks"], (60, 15));
    let screen = program.until_asked("Apply: create a.txt?");
    assert!(screen.contains("<ESC>") || screen.contains("<U+001B>"), "{screen}");
    program.keys("n");
    let (out, _, code) = Setup::again(&place, &["rehearsal"]).print("");
    assert!(code == 0 && !out.contains('\x1b') && !out.contains('\u{202e}') && !out.contains('\x07'), "{out:?}");
    let (json, _, _) = Setup::again(&place, &["rehearsal", "show", "--json"]).print("");
    assert!(!json.contains('\x1b') && !json.contains('\u{202e}'), "{json:?}");
}

#[test]
fn r30_rehearsal_command_lists_shows_applies_and_drops() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answers = vec![calls_after(Duration::ZERO, &[write("a.txt", "two\n")]), says("Would do.")];
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::new(&arguments).has("a.txt", "one\n").size(60, 15).start();
    program.until("DRY RUN");
    say(&mut program, "/rehearsal");
    program.until("nothing was rehearsed yet");
    say(&mut program, "go");
    program.until("Would do.");
    say(&mut program, "/rehearsal");
    // The earlier notification disappears without a key press.
    let screen = program.until("Rehearsed: 1 file changed, +1 −1");
    assert!(screen.contains("DRY RUN") && screen.contains("~ a.txt"), "{screen}");
    program.keys("\x1b[B");
    program.keys("\r");
    let screen = program.until("1 + two");
    assert!(screen.contains("DRY RUN"), "{screen}");
    program.keys("\x1b");
    program.until("~ a.txt");
    program.keys("\x1b");
    say(&mut program, "/rehearsal apply");
    program.until_asked("Apply source changes?");
    program.keys("y");
    program.until_that("the file is applied", |program| program.file("a.txt").as_deref() == Some("two\n"));
    let screen = program.screen();
    assert!(!screen.contains("DRY RUN"), "the copy is a live session: {screen}");
    // The screen knows that nothing is left to apply.
    say(&mut program, "/rehearsal apply");
    program.until("No rehearsed changes to apply");
    say(&mut program, "/rehearsal drop");
    program.until("Discard the rehearsed changes?");
    program.press_until("Y", "rehearsal discarded");
    assert_eq!(std::fs::read_dir(program.place.path().join("home/aye/data/rehearsal")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn r30_applies_a_commands_changes_once_and_repeating_it_needs_a_capital() {
    if !is_there() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let command = |line: &str| ("bash_exec", json!({ "command": line }));
    let calls = [command("echo x >> check.sh && rm old.txt"), command("touch beside"), command("exit 3")];
    let answers = vec![calls_after(Duration::ZERO, &calls), says("Would do.")];
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["--dry-run", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = Setup::new(&arguments).has("check.sh", "one\n").has("old.txt", "old\n");
    let mut program = setup.size(80, 24).start();
    program.until("DRY RUN");
    say(&mut program, "go");
    program.until("3 calls rehearsed, 3 ran in the overlay sandbox, nothing changed on disk");
    say(&mut program, "/rehearsal apply hunks");
    let screen = program.until_asked("Apply: delete old.txt?");
    assert!(screen.contains("LIVE RUN") && !screen.contains("DRY RUN"), "{screen}");
    assert!(screen.contains("deletes the file"), "{screen}");
    program.keys("Y");
    program.until_asked("Apply: create beside?");
    program.keys("n");
    program.until_asked("Apply: change check.sh?");
    program.keys("y");
    // The file already has this change, so an ordinary approval does not run the command again.
    let screen = program.until_asked("repeats applied changes: check.sh,");
    assert!(screen.contains("old.txt"), "{screen}");
    program.keys("y");
    program.until("Destructive: y is not enough");
    program.keys("n");
    // The change of this command was denied, so running it does not repeat a change.
    let screen = program.until_asked("$ touch beside");
    assert!(!screen.contains("repeats applied changes"), "{screen}");
    program.keys("y");
    program.until_asked("$ exit 3");
    program.keys("n");
    program.until_that("the prompts are done", |program| !program.screen().contains("LIVE RUN"));
    assert_eq!(program.file("check.sh").as_deref(), Some("one\nx\n"), "applied once");
    assert!(program.file("beside").is_some() && program.file("old.txt").is_none());
    // Applied changes are no longer listed, and commands that ran live are not offered again.
    say(&mut program, "/rehearsal");
    let screen = program.until("run live since");
    assert!(!screen.contains("~ check.sh") && screen.contains("ran · exit 3"), "{screen}");
    assert!(screen.contains("ran · applied"), "{screen}");
    program.keys("\x1b");
    say(&mut program, "/rehearsal apply commands");
    program.until_asked("1 of 2");
}
