//! Undo and rewind in the real program: what the calls of a turn changed is restored after one approval, and nothing else
//! is touched.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::{find_files_with, read_session};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
use aye::chat::{Entry, Outcome};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

fn write_call(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

fn edit_call(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn calls(calls: &[(&str, Value)]) -> Answer {
    calls_answer_after(Duration::ZERO, calls)
}

/// Starts the program in a project with these files.
fn start(answers: Vec<Answer>, size: (u16, u16), files: &[(&str, &str)]) -> (Runtime, Service, Program) {
    start_prepared(answers, size, files, |_| ())
}

/// Like [`start`], in a project that is prepared once its files are there.
fn start_prepared(
    answers: Vec<Answer>,
    size: (u16, u16),
    files: &[(&str, &str)],
    prepare: impl FnOnce(&Path),
) -> (Runtime, Service, Program) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b"];
    let setup = files.iter().fold(Setup::new(&arguments), |setup, (path, text)| setup.with_file(path, text));
    prepare(&setup.root.path().join("project"));
    let mut program = setup.size(size.0, size.1).start();
    program.until("Messages go to");
    (runtime, service, program)
}

/// Sends a message and waits for the reply, approving each prompt on the way.
fn run_turn(program: &mut Program, message: &str, prompts: &[&str], reply: &str) {
    submit_message(program, message);
    for (index, prompt) in prompts.iter().enumerate() {
        if prompts.len() > 1 {
            program.until(&format!("{} of {}", index + 1, prompts.len()));
        }
        let screen = program.until_prompt(prompt);
        program.press_keys(if screen.contains("Warning: ") { "Y" } else { "y" });
    }
    program.until(reply);
    program.until_idle("ask mode");
}

/// Approves the prompt of an undo.
fn approve_restoring(program: &mut Program) -> String {
    let screen = program.until_prompt("Restore files?");
    program.press_keys(if screen.contains("Warning: ") { "Y" } else { "y" });
    screen
}

fn send_undo(program: &mut Program) {
    submit_message(program, "/undo");
}

fn last_outcome(program: &Program) -> Outcome {
    let entries = read_session(&Setup::with_home(&program.root, &[]));
    let outcome = entries.into_iter().rev().find_map(|entry| match entry {
        Entry::Settled { outcome, .. } => Some(outcome),
        _ => None,
    });
    outcome.expect("a call is settled")
}

#[test]
fn undo_restores_the_last_turn_and_then_the_one_before() {
    let answers = vec![
        calls(&[write_call("new/b.txt", "new\n"), edit_call("a.txt", "one", "two")]),
        text_answer("First done."),
        calls(&[edit_call("a.txt", "two", "three")]),
        text_answer("Second done."),
    ];
    let (_runtime, service, mut program) = start(answers, (100, 30), &[("a.txt", "one\n"), ("c.txt", "c\n")]);
    run_turn(&mut program, "first", &["Create a file?", "Change a file?"], "First done.");
    run_turn(&mut program, "second", &["Change a file?"], "Second done.");
    assert_eq!(program.file("a.txt").as_deref(), Some("three\n"));
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("a.txt") && screen.contains("+1 −1"), "{screen}");
    program.until("1 of 1 restored");
    let screen = program.until_idle("ask mode");
    assert!(screen.contains("— Undo the changes of the last turn\n") && !screen.contains("▌ Undo"), "{screen}");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("new/b.txt"), "{screen}");
    program.until("2 of 2 restored");
    program.until_idle("ask mode");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    assert!(!program.project().join("new").exists() && program.file("c.txt").as_deref() == Some("c\n"));
    send_undo(&mut program);
    program.until("Nothing to undo");
    // The model learns of it with the next message.
    submit_message(&mut program, "and now");
    program.until_condition("the message is sent", |_| service.received().len() == 5);
    let sent = service.received().last().unwrap().body.to_string();
    assert!(sent.contains("Undo the changes of the last turn") && sent.contains("2 of 2 restored"), "{sent}");
}

/// A file that changed since is listed as a conflict and stays; the others are restored.
#[test]
fn a_conflict_is_shown_and_not_overwritten() {
    let answers = vec![calls(&[write_call("a.txt", "new\n"), write_call("b.txt", "new\n")]), text_answer("Done.")];
    let (_runtime, _service, mut program) = start(answers, (80, 24), &[("a.txt", "one\n"), ("b.txt", "one\n")]);
    run_turn(&mut program, "go", &["Change a file?", "Change a file?"], "Done.");
    std::fs::write(program.project().join("a.txt"), "mine\n").unwrap();
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("CONFLICT"), "{screen}");
    program.until("1 of 2 restored");
    program.until_idle("ask mode");
    assert_eq!(program.file("a.txt").as_deref(), Some("mine\n"));
    assert_eq!(program.file("b.txt").as_deref(), Some("one\n"));
    let Outcome::Done(text) = last_outcome(&program) else { panic!("it is done") };
    assert!(text.contains("Not restored: 1") && text.contains("CONFLICT"), "{text}");
}

/// Everything that a kept trial changed is restored, also after a kill right after it.
#[test]
fn a_kept_trial_can_be_undone_after_a_kill() {
    if !has_overlay_sandbox() {
        return;
    }
    let command = "echo two >> a.txt; mkdir out; echo x > out/new.txt; rm b.txt; ln -sf a.txt link; chmod 700 c.sh";
    let answers = vec![command_answer(command), text_answer("Done.")];
    let files = [("a.txt", "one\n"), ("b.txt", "b\n"), ("c.sh", "c\n")];
    let (_runtime, service, mut program) = start(answers, (100, 30), &files);
    submit_message(&mut program, "go");
    program.until("t try");
    program.until_prompt("Run a command?");
    program.press_keys("t");
    program.until_prompt("Keep what the trial did?");
    program.press_keys("K");
    program.until_idle("Done.");
    // The end of the turn is on the screen a moment before it is on disk.
    program.until_condition("the turn is saved", |program| {
        let entries = read_session(&Setup::with_home(&program.root, &[]));
        entries.iter().any(|entry| matches!(entry, Entry::Ended { .. }))
    });
    assert_eq!(program.file("b.txt"), None);
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let arguments = ["-c", "--base-url", &service.base_url, "--model", "scripted-7b"];
    let mut program = Setup::with_home(&program.root, &arguments).size(100, 30).start();
    program.until("Done.");
    send_undo(&mut program);
    approve_restoring(&mut program);
    program.until("5 of 5 restored");
    // How many lines a command changed is not known, so none are counted.
    submit_message(&mut program, "/rewind");
    let screen = program.until("5 files");
    assert!(!screen.contains("5 files +") && screen.contains("5 files undone"), "{screen}");
    assert_eq!(program.file("a.txt").as_deref(), Some("one\n"));
    assert_eq!(program.file("b.txt").as_deref(), Some("b\n"));
    assert!(!program.project().join("out").exists() && !program.project().join("link").is_symlink());
    use std::os::unix::fs::MetadataExt;
    assert_eq!(program.project().join("c.sh").metadata().unwrap().mode() & 0o777, 0o644);
}

/// What git ignores is neither stored nor restored, and the undo says so.
#[test]
fn ignored_files_of_a_kept_trial_are_not_stored() {
    if !has_overlay_sandbox() || !has_git() {
        return;
    }
    let command = "echo new > a.txt; echo new > x.log; rm -r build";
    let answers = vec![command_answer(command), text_answer("Done.")];
    let files = [
        (".gitignore", "*.log\nbuild\n"),
        ("a.txt", "text of a source\n"),
        ("x.log", "text of a log\n"),
        ("build/out", "text of a build\n"),
    ];
    let make_repository = |project: &Path| run_git(project, &["init", "-q"]);
    let (_runtime, _service, mut program) = start_prepared(answers, (100, 30), &files, make_repository);
    submit_message(&mut program, "go");
    program.until("t try");
    program.until_prompt("Run a command?");
    program.press_keys("t");
    program.until_prompt("Keep what the trial did?");
    program.press_keys("K");
    program.until_idle("Done.");
    assert_eq!((program.file("x.log").as_deref(), program.file("build/out")), (Some("new\n"), None));
    let data = program.root.path().join("home/aye/data");
    let stored = |text: &str| !find_files_with(&data.join("checkpoints"), text).is_empty();
    assert!(stored("text of a source"), "{data:?}");
    assert!(!stored("text of a log") && !stored("text of a build"), "{data:?}");
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("Not restored: 2 changes ignored by git"), "{screen}");
    program.until("1 of 1 restored");
    assert_eq!(program.file("a.txt").as_deref(), Some("text of a source\n"));
    assert_eq!((program.file("x.log").as_deref(), program.file("build/out")), (Some("new\n"), None));
}

/// Of an ignored file that a file tool changes or creates, neither the undo nor the commands keep anything but its name.
#[test]
fn ignored_files_of_file_tools_are_not_stored() {
    if !has_git() {
        return;
    }
    let answers = vec![
        calls(&[edit_call("x.local", "old", "new"), write_call("y.local", "created\n"), write_call("a.txt", "two\n")]),
        text_answer("First done."),
        calls(&[edit_call("x.local", "new", "newer")]),
        text_answer("Second done."),
    ];
    let files = [(".gitignore", "*.local\n"), ("a.txt", "text of a source\n"), ("x.local", "old\ntext of a secret\n")];
    let make_repository = |project: &Path| run_git(project, &["init", "-q"]);
    let (_runtime, _service, mut program) = start_prepared(answers, (100, 30), &files, make_repository);
    run_turn(&mut program, "first", &["x.local", "y.local", "a.txt"], "First done.");
    run_turn(&mut program, "second", &["x.local"], "Second done.");
    let data = program.root.path().join("home/aye/data");
    let stored = |text: &str| !find_files_with(&data.join("checkpoints"), text).is_empty();
    assert!(stored("text of a source") && !stored("text of a secret"), "{data:?}");
    let run = |arguments: &[&str]| Setup::with_home(&program.root, arguments).run_piped("");
    let (list, _, _) = run(&["checkpoints"]);
    let rows: Vec<&str> = list.lines().map(|row| row.rsplit("  ").next().unwrap()).collect();
    let ignored = |name: &str| format!("no files · cannot restore {name} (ignored by git)");
    assert_eq!(rows, [&ignored("x.local"), "1 file: a.txt", &ignored("y.local"), &ignored("x.local")]);
    let (out, error, code) = run(&["undo"]);
    assert!(out.contains("a.txt") && !out.contains("text of a secret") && code == 2, "{out}{error}");
    let newest = list.split("  ").next().unwrap();
    let (out, _, code) = run(&["checkpoints", "restore", newest, "--yes"]);
    let sentences = "There is nothing that can be restored.\nNot restored: x.local (ignored by git).";
    assert!(out.contains(sentences) && code == 0, "{out}");
    let (out, _, _) = run(&["checkpoints", "show", newest]);
    assert!(out.contains("There is nothing that can be restored.") && out.contains("Not restored: x.local"), "{out}");
    submit_message(&mut program, "/rewind");
    program.until("1 file");
    program.press_keys("\x1b[B\r");
    program.until("Cannot be restored: x.local (ignored by git), y.local (ignored by git)");
    program.press_keys("\x1b");
    program.press_until("\x1b", "ask mode");
    // The last turn has nothing to restore, so the one before is undone too.
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("Not restored: x.local, y.local (ignored by git)."), "{screen}");
    program.until("1 of 1 restored");
    program.until_idle("ask mode");
    let left = ["a.txt", "x.local", "y.local"].map(|name| program.file(name).unwrap());
    assert_eq!(left, ["text of a source\n", "newer\ntext of a secret\n", "created\n"]);
    send_undo(&mut program);
    program.until("Nothing to undo");
}

/// Esc twice on an empty draft lists the messages; both conversation and files go back, as a copy.
#[test]
fn rewind_restores_conversation_and_files_in_a_copy() {
    let answers = vec![
        calls(&[write_call("a.txt", "two\n")]),
        text_answer("First done."),
        calls(&[write_call("a.txt", "three\n"), write_call("b.txt", "new\n")]),
        text_answer("Second done."),
    ];
    let (_runtime, _service, mut program) = start(answers, (100, 30), &[("a.txt", "one\n")]);
    run_turn(&mut program, "first message", &["Change a file?"], "First done.");
    run_turn(&mut program, "second message", &["Change a file?", "Create a file?"], "Second done.");
    program.press_until("\x1b", "Rewind to before");
    let screen = program.until("2 files +2 −1");
    assert!(screen.contains("Rewind to before") && screen.contains("1 file +1 −1"), "{screen}");
    program.press_keys("\r");
    let screen = program.until("Conversation and files");
    assert!(screen.contains("“second message”") && screen.contains("Files only"), "{screen}");
    program.press_keys("\r");
    // The draft has the keyboard.
    program.until("tab to answer");
    program.press_keys("\t");
    approve_restoring(&mut program);
    let screen = program.until("2 of 2 restored");
    assert!(!screen.contains("Second done.") && screen.contains("First done."), "{screen}");
    program.until("❯ second message");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("two\n"), None));
    // The undo can be undone itself: its own message is in the list.
    program.press_keys("\x15");
    submit_message(&mut program, "/rewind");
    program.until("2 files undo");
    program.press_keys("\r");
    program.until("Files only");
    program.press_keys("\x1b[F\r");
    approve_restoring(&mut program);
    program.until_condition("the files are back", |program| program.file("a.txt").as_deref() == Some("three\n"));
    program.until_condition("the files are back", |program| program.file("b.txt").as_deref() == Some("new\n"));
}

#[test]
fn rewind_of_the_conversation_alone_leaves_the_files() {
    let answers = vec![calls(&[write_call("a.txt", "two\n")]), text_answer("Done.")];
    let (_runtime, _service, mut program) = start(answers, (80, 24), &[("a.txt", "one\n")]);
    run_turn(&mut program, "first message", &["Change a file?"], "Done.");
    submit_message(&mut program, "/rewind");
    program.until("1 file +1 −1");
    program.press_keys("\r");
    program.until("Conversation only");
    program.press_keys("\x1b[B\r");
    program.until("❯ first message");
    program.until_gone("Done.");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
}

/// A message that begins with `!` would be a command of the user if it came back as it was.
#[test]
fn a_message_that_looks_like_a_command_stays_a_message() {
    let answers = vec![calls(&[write_call("a.txt", "two\n")]), text_answer("Done.")];
    let (_runtime, _service, mut program) = start(answers, (80, 24), &[("a.txt", "one\n")]);
    run_turn(&mut program, "\\!touch ran", &["Change a file?"], "Done.");
    submit_message(&mut program, "/rewind");
    program.until("1 file +1 −1");
    program.press_keys("\r");
    program.until("Conversation only");
    program.press_keys("\x1b[B\r");
    program.until("❯ \\!touch ran");
    assert_eq!(program.file("ran"), None);
}

/// Without a screen: listed, shown, refused without a terminal, and restored with --yes.
#[test]
fn commands_list_show_and_restore() {
    let answers = vec![calls(&[write_call("a.txt", "two\n"), write_call("b.txt", "new\n")]), text_answer("Done.")];
    let (_runtime, _service, mut program) = start(answers, (80, 24), &[("a.txt", "one\n")]);
    run_turn(&mut program, "go", &["Change a file?", "Create a file?"], "Done.");
    let run = |program: &Program, arguments: &[&str]| Setup::with_home(&program.root, arguments).run_piped("");
    let (list, _, code) = run(&program, &["checkpoints", "--json"]);
    assert_eq!((list.lines().count(), code), (2, 0), "{list}");
    let newest: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!((newest["files"][0].as_str(), newest["tool"].as_str()), (Some("b.txt"), Some("write_file")));
    let (shown, _, _) = run(&program, &["checkpoints", "show", newest["id"].as_str().unwrap()]);
    assert!(shown.contains("b.txt") && shown.contains("new"), "{shown}");
    let (out, error, code) = run(&program, &["undo"]);
    assert!(out.contains("a.txt") && error.contains("not a terminal") && code == 2, "{out}{error}");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    let (_, error, code) = run(&program, &["checkpoints", "show", "nothing"]);
    assert!(
        error.contains("Cannot find the checkpoint \"nothing\": there is none in this folder") && code == 2,
        "{error}"
    );
    let (out, error, code) = run(&program, &["undo", "--yes"]);
    assert!(out.contains("2 of 2 restored") && code == 0, "{out}{error}");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("one\n"), None));
    let (out, _, code) = run(&program, &["undo", "--yes"]);
    assert!(out.contains("Nothing to undo") && code == 0, "{out}");
    // Restored by the command line, so the screen has nothing left to undo.
    send_undo(&mut program);
    program.until("Nothing to undo");
    let (list, _, _) = run(&program, &["checkpoints", "--json"]);
    let undo: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let (out, error, code) = run(&program, &["checkpoints", "restore", undo["id"].as_str().unwrap(), "--yes"]);
    assert!(out.contains("2 of 2 restored") && code == 0, "{out}{error}");
    assert_eq!(program.file("a.txt").as_deref(), Some("two\n"));
    std::fs::write(program.project().join("a.txt"), "mine\n").unwrap();
    std::fs::write(program.project().join("b.txt"), "mine\n").unwrap();
    let first: Value = serde_json::from_str(list.lines().last().unwrap()).unwrap();
    let (out, _, code) = run(&program, &["checkpoints", "restore", first["id"].as_str().unwrap(), "--yes"]);
    assert!(out.contains("CONFLICT") && code == 1, "{out}");
    assert_eq!(program.file("a.txt").as_deref(), Some("mine\n"));
}

#[test]
fn nothing_is_kept_if_it_is_turned_off() {
    let answers = vec![calls(&[write_call("a.txt", "two\n")]), text_answer("Done.")];
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]);
    crate::support::stored_files::write_settings(&setup, "[undo]\nmax_mb = 0\n");
    let mut program = setup.with_file("a.txt", "one\n").size(100, 30).start();
    program.until("Messages go to");
    run_turn(&mut program, "go", &["Change a file?"], "Done.");
    send_undo(&mut program);
    program.until("undo.max_mb is 0");
    assert!(!program.root.path().join("data/checkpoints").exists());
}

/// Runs git in the project.
fn run_git(project: &std::path::Path, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(project).args(["-c", "user.name=me", "-c", "user.email=me@example.org"]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn has_git() -> bool {
    let has_git = std::process::Command::new("git").arg("--version").output().is_ok();
    if !has_git {
        crate::support::report_skipped("no git here");
    }
    has_git
}

/// A live command: tracked files come back from git's objects, changed and new ones from copies; ignored files, commits
/// and the network are named.
#[test]
fn a_live_command_is_undone_as_far_as_git_can_restore() {
    if !has_git() {
        return;
    }
    let command = "rm clean.txt; echo new > changed.txt; echo new > untracked.txt; mkdir -p more/deep; echo x > more/deep/new; \
                   echo x > ignored.log; mv moved.txt more/; chmod +x mode.sh; git -c user.name=me -c user.email=m@e commit -qam now";
    let answers = vec![command_answer(command), text_answer("Done.")];
    let files = [
        ("clean.txt", "clean\n"),
        ("changed.txt", "committed\n"),
        ("moved.txt", "moved\n"),
        ("mode.sh", "x\n"),
        (".gitignore", "*.log\n"),
        ("ignored.log", "old\n"),
    ];
    let commit_files = |project: &Path| {
        run_git(project, &["init", "-q", "-b", "main"]);
        // Git trusts its cached times only of files that are older than its index.
        for (path, _) in files {
            let old = std::time::SystemTime::now() - Duration::from_secs(60);
            std::fs::File::options().write(true).open(project.join(path)).unwrap().set_modified(old).unwrap();
        }
        run_git(project, &["add", "-A"]);
        run_git(project, &["commit", "-qm", "first"]);
        std::fs::write(project.join("changed.txt"), "mine, not committed\n").unwrap();
        std::fs::write(project.join("untracked.txt"), "mine, not in git\n").unwrap();
    };
    let (_runtime, _service, mut program) = start_prepared(answers, (100, 40), &files, commit_files);
    run_turn(&mut program, "go", &["Run a command?"], "Done.");
    assert_eq!(program.file("clean.txt"), None);
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("Not restored: commits and other changes in .git"), "{screen}");
    program.until("7 of 7 restored");
    program.until_idle("ask mode");
    let restored = ["clean.txt", "changed.txt", "untracked.txt", "moved.txt"].map(|name| program.file(name).unwrap());
    assert_eq!(restored, ["clean\n", "mine, not committed\n", "mine, not in git\n", "moved\n"]);
    assert!(!program.project().join("more").exists());
    use std::os::unix::fs::MetadataExt;
    assert_eq!(program.project().join("mode.sh").metadata().unwrap().mode() & 0o111, 0);
    assert_eq!(program.file("ignored.log").as_deref(), Some("x\n"), "git ignores it");
}

/// A kill of aye while a command runs: what the command did is not known, and nothing is overwritten.
#[test]
fn changes_of_a_command_that_was_killed_with_aye_are_named() {
    if !has_git() {
        return;
    }
    let answers = vec![command_answer("echo new > mine.txt; echo started; sleep 50"), text_answer("Done.")];
    let make_repository = |project: &Path| run_git(project, &["init", "-q"]);
    let (_runtime, _service, mut program) =
        start_prepared(answers, (100, 30), &[("mine.txt", "mine\n")], make_repository);
    submit_message(&mut program, "go");
    program.until_prompt("Run a command?");
    program.press_keys("Y");
    program.until("started");
    program.until_condition("the command has written", |program| program.file("mine.txt").as_deref() == Some("new\n"));
    program.signal(Signal::KILL);
    program.wait_for_exit();
    let run = |arguments: &[&str]| Setup::with_home(&program.root, arguments).run_piped("");
    let (out, error, code) = run(&["undo", "--yes"]);
    assert!(
        out.contains("CONFLICT: a command that is still running, or was killed together with aye,"),
        "{out}{error}"
    );
    assert!(out.contains("Not restored: changes of “echo new") && code == 1, "{out}{error}");
    assert_eq!(program.file("mine.txt").as_deref(), Some("new\n"));
}

#[test]
fn a_command_outside_git_is_named() {
    let answers = vec![
        calls(&[write_call("b.txt", "b\n"), ("bash_exec", json!({ "command": "echo x > a.txt" }))]),
        text_answer("Done."),
    ];
    let (_runtime, _service, mut program) = start(answers, (100, 30), &[]);
    run_turn(&mut program, "go", &["Create a file?", "Run a command?"], "Done.");
    send_undo(&mut program);
    let screen = approve_restoring(&mut program);
    assert!(screen.contains("Not restored: changes of “echo x > a.txt”: the project is not under git"), "{screen}");
    program.until("1 of 1 restored");
    assert_eq!((program.file("a.txt").as_deref(), program.file("b.txt")), (Some("x\n"), None));
}
