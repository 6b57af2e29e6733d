//! Tests of recording what a live command changes.

use super::command_snapshot::MAX_IGNORED;
use super::tests::{Fixture, LIMIT};
use super::*;
use crate::chat::{CommandLine, CommandSandbox, SandboxAccess};
use crate::project::Reader;
use crate::project::batch::ItemOutcome;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(super) fn run_git(folder: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=me", "-c", "user.email=me@example.org"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .is_ok_and(|git| git.status.success())
}

/// Creates and commits files, older than git's index. Returns `None` without git.
fn commit_files(files: usize) -> Option<Fixture> {
    let fixture = Fixture::new(LIMIT);
    let old = SystemTime::now() - Duration::from_secs(60);
    for number in 0..files {
        let path = fixture.path(format!("{}/{number}.txt", number / 100));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{number}\n")).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }
    fs::write(fixture.path(".gitignore"), "*.log\n/target\n").unwrap();
    let is_committed = run_git(fixture.disk.root(), &["init", "-q"])
        && run_git(fixture.disk.root(), &["add", "-A"])
        && run_git(fixture.disk.root(), &["commit", "-qm", "first"]);
    is_committed.then_some(fixture)
}

fn take_snapshot(fixture: &Fixture, call: &str, line: &CommandLine) -> CommandSnapshot {
    CommandSnapshot::take(Arc::new(fixture.recorder(call)), line).expect("it is recorded")
}

fn command_line() -> CommandLine {
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    CommandLine { command: "x".into(), sandbox, ..CommandLine::default() }
}

#[test]
fn only_changed_files_are_recorded_and_only_unsaved_ones_copied() {
    let Some(fixture) = commit_files(1_000) else { return };
    fs::write(fixture.path("0/1.txt"), "mine\n").unwrap();
    fs::create_dir(fixture.path("target")).unwrap();
    let snapshot = take_snapshot(&fixture, "call", &command_line());
    fs::write(fixture.path("0/1.txt"), "theirs\n").unwrap();
    fs::write(fixture.path("0/2.txt"), "theirs\n").unwrap();
    fs::remove_file(fixture.path("1/100.txt")).unwrap();
    fs::write(fixture.path("target/x"), "ignored").unwrap();
    fs::write(fixture.path("a.log"), "ignored").unwrap();
    snapshot.finish();
    let calls = fixture.session.checkpoints.read_calls();
    assert_eq!(calls[0].summary().files, ["0/1.txt", "0/2.txt", "1/100.txt"]);
    assert_eq!(calls[0].not_stored, [""; 0]);
    assert_eq!(calls[0].ignored, ["a.log", "target/"]);
    let (objects, _) = fixture.session.checkpoints.objects().list();
    // The ignore file is newer than the index.
    assert!(objects.len() <= 2, "{objects:?}");
    assert_eq!(fixture.undo("call", "undo"), [ItemOutcome::Applied, ItemOutcome::Applied, ItemOutcome::Applied]);
    let read = |path: &str| fs::read_to_string(fixture.path(path)).unwrap();
    assert_eq!(["0/1.txt", "0/2.txt", "1/100.txt"].map(read), ["mine\n", "2\n", "100\n"]);
}

#[test]
fn changed_ignored_files_are_named_and_not_copied() {
    let Some(fixture) = commit_files(1) else { return };
    fs::create_dir_all(fixture.path("target/deep")).unwrap();
    for path in ["a.log", "b.log", "target/one", "target/deep/two"] {
        fs::write(fixture.path(path), "token=1").unwrap();
    }
    let changed_by = |call: &str, change: &dyn Fn()| {
        let snapshot = take_snapshot(&fixture, call, &command_line());
        change();
        snapshot.finish();
        let calls = fixture.session.checkpoints.read_calls();
        calls.into_iter().find(|recorded| recorded.call.0 == call).map(|recorded| recorded.ignored).unwrap_or_default()
    };
    assert_eq!(changed_by("none", &|| ()), [""; 0]);
    assert_eq!(changed_by("removed", &|| fs::remove_file(fixture.path("a.log")).unwrap()), ["a.log"]);
    assert_eq!(changed_by("inside", &|| fs::write(fixture.path("target/deep/two"), "other 2").unwrap()), ["target/"]);
    let (objects, _) = fixture.session.checkpoints.objects().list();
    let texts = objects.iter().map(|(digest, _)| fixture.session.checkpoints.objects().load(digest).unwrap());
    assert!(texts.into_iter().all(|text| !String::from_utf8_lossy(&text).contains("token")));
    let (_, batch, _) = fixture.draft("inside");
    assert_eq!(batch.notes, ["Not restored: target/ (ignored by git)."]);
    // Of very many only the first are compared.
    for number in 0..=MAX_IGNORED {
        fs::write(fixture.path(format!("target/{number}")), "").unwrap();
    }
    let snapshot = take_snapshot(&fixture, "many", &command_line());
    fs::write(fixture.path("b.log"), "changed").unwrap();
    fs::write(fixture.path("0/0.txt"), "changed").unwrap();
    snapshot.finish();
    let (_, batch, _) = fixture.draft("many");
    let notes = batch.notes.join(" ");
    assert!(notes.contains("b.log (ignored by git)") && notes.contains("other files that git ignores"), "{notes}");
}

#[test]
fn effects_that_git_cannot_restore_are_named() {
    let Some(fixture) = commit_files(1) else { return };
    let line = CommandLine { network: Some("to ask".into()), ..command_line() };
    let snapshot = take_snapshot(&fixture, "call", &line);
    fs::write(fixture.path("big"), "x".repeat(300 << 10)).unwrap();
    assert!(run_git(fixture.disk.root(), &["commit", "-q", "--allow-empty", "-m", "second"]));
    snapshot.finish();
    let named = fixture.session.checkpoints.read_calls()[0].not_stored.clone();
    assert_eq!(named, ["network effects of “x”", "commits and other changes in .git of “x”"]);
    // A large file that git does not have is named, and stays if it is changed.
    let snapshot = take_snapshot(&fixture, "later", &command_line());
    fs::write(fixture.path("big"), "y").unwrap();
    snapshot.finish();
    let outcomes = fixture.undo("later", "undo");
    assert!(
        matches!(&outcomes[..], [ItemOutcome::Conflict(reason)] if reason.contains("too large to copy")),
        "{outcomes:?}"
    );
}

/// The possible effects outside the project follow from the sandbox of the command.
#[test]
fn effects_outside_the_project_are_named() {
    let Some(fixture) = commit_files(1) else { return };
    let temporary = std::env::temp_dir().canonicalize().unwrap();
    let access = SandboxAccess { write: vec![temporary, "/home/ada/.cargo".into()], network: true, sockets: true };
    let without = CommandSandbox::Unavailable("old kernel".into());
    for (call, sandbox, expected) in [
        (
            "all",
            CommandSandbox::enforced(access),
            &[
                "network effects of “x”",
                "what other programs did for “x”, because it may use their sockets",
                "changes of “x” in /home/ada/.cargo, which it may write",
            ][..],
        ),
        ("none", without, &["effects of “x” outside the project, because it ran without a sandbox"][..]),
    ] {
        take_snapshot(&fixture, call, &CommandLine { sandbox, ..command_line() }).finish();
        let calls = fixture.session.checkpoints.read_calls();
        assert_eq!(calls.last().unwrap().not_stored, expected, "{call}");
    }
}

#[test]
fn a_file_that_git_stores_in_another_form_is_not_restored() {
    let Some(fixture) = commit_files(1) else { return };
    fs::write(fixture.path(".gitattributes"), "*.crlf text eol=crlf\n").unwrap();
    let path = fixture.path("a.crlf");
    fs::write(&path, "one\r\n").unwrap();
    let old = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert!(run_git(fixture.disk.root(), &["add", "-A"]));
    let snapshot = take_snapshot(&fixture, "call", &command_line());
    fs::remove_file(&path).unwrap();
    snapshot.finish();
    let outcomes = fixture.undo("call", "undo");
    assert!(
        matches!(&outcomes[..], [ItemOutcome::Conflict(reason)] if reason.contains("another form")),
        "{outcomes:?}"
    );
    assert!(!path.exists());
}
