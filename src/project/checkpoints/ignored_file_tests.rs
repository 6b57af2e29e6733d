//! Tests: of a file that git ignores only the name is recorded, and it stays as it is.

use super::command_tests::run_git;
use super::tests::{Fixture, LIMIT};
use crate::project::Reader;
use crate::project::batch::ItemOutcome;
use crate::project::rehearsal::FileNode;
use std::fs;

/// Creates a repository in which `force.env` is tracked although a rule names it. Returns `None` without git.
fn create_repository() -> Option<Fixture> {
    let fixture = Fixture::new(LIMIT);
    for (path, text) in [
        (".gitignore", "*.env\n/target\n"),
        ("sub/.gitignore", "!kept.env\nlocal\n"),
        ("force.env", "one\n"),
        ("secret.env", "token=1\n"),
        ("sub/local", "token=2\n"),
        ("sub/kept.env", "one\n"),
        ("listed", "token=3\n"),
        ("target/out", "token=4\n"),
        ("a.txt", "one\n"),
    ] {
        fs::create_dir_all(fixture.path(path).parent().unwrap()).unwrap();
        fs::write(fixture.path(path), text).unwrap();
    }
    let is_ready = run_git(fixture.disk.root(), &["init", "-q"])
        && run_git(fixture.disk.root(), &["add", "-f", "a.txt", "force.env"]);
    if is_ready {
        fs::create_dir_all(fixture.path(".git/info")).unwrap();
        fs::write(fixture.path(".git/info/exclude"), "/listed\n").unwrap();
    }
    is_ready.then_some(fixture)
}

/// Returns everything that is stored, and the log.
fn stored_texts(fixture: &Fixture) -> Vec<String> {
    let checkpoints = &fixture.session.checkpoints;
    let (objects, _) = checkpoints.objects().list();
    let texts = objects.iter().map(|(digest, _)| checkpoints.objects().load(digest).unwrap());
    texts.chain(fs::read(checkpoints.folder().join("changes"))).map(|text| String::from_utf8(text).unwrap()).collect()
}

#[test]
fn of_an_ignored_file_only_the_name_is_recorded() {
    let Some(fixture) = create_repository() else { return };
    let ignored = ["secret.env", "sub/local", "listed", "target/out"];
    let kept = ["force.env", "sub/kept.env", "a.txt"];
    for path in ignored.iter().chain(&kept) {
        fixture.write(path, path, "two\n");
    }
    let stored = stored_texts(&fixture);
    assert!(!stored.iter().any(|text| text.contains("token=")), "{stored:?}");
    for call in fixture.session.checkpoints.read_calls() {
        let (path, summary) = (call.call.0.clone(), call.summary());
        if ignored.contains(&path.as_str()) {
            assert_eq!((summary.files.len(), &summary.not_stored[..]), (0, &[format!("{path} (ignored by git)")][..]));
        } else {
            assert_eq!((&summary.files[..], summary.not_stored.len()), (&[path][..], 0));
        }
    }
    let (plan, batch, _) = fixture.draft("");
    assert_eq!(batch.notes, ["Not restored: listed, secret.env, sub/local and 1 more (ignored by git)."]);
    assert_eq!(plan.items.len(), kept.len());
    assert_eq!(fixture.undo("", "undo"), [ItemOutcome::Applied, ItemOutcome::Applied, ItemOutcome::Applied]);
    for (paths, text) in [(&ignored[..], "two\n"), (&kept[..], "one\n")] {
        assert!(paths.iter().all(|path| fs::read_to_string(fixture.path(path)).unwrap() == text), "{paths:?}");
    }
}

/// Nothing is known of the file before, so it is not deleted either.
#[test]
fn a_created_ignored_file_is_named_and_stays() {
    let Some(fixture) = create_repository() else { return };
    fixture.write("call", "new/deep/b.env", "token=5\n");
    let (plan, batch, _) = fixture.draft("call");
    assert!(plan.is_empty(), "{plan:?}");
    assert_eq!(batch.notes, ["Not restored: new/deep/b.env (ignored by git)."]);
    fixture.undo("call", "undo");
    assert_eq!(fs::read_to_string(fixture.path("new/deep/b.env")).unwrap(), "token=5\n");
}

/// Otherwise the next undo would offer to remove the folder each time.
#[test]
fn a_new_folder_that_keeps_an_ignored_file_is_nothing_to_undo() {
    let Some(fixture) = create_repository() else { return };
    let recorder = fixture.recorder("call");
    for path in ["new", "new/inner", "new/empty"] {
        recorder.record_change(&fixture.path(path), &FileNode::Nothing, &FileNode::Folder { mode: 0o755 });
        fs::create_dir(fixture.path(path)).unwrap();
    }
    fs::write(fixture.path("new/inner/b.env"), "token=5\n").unwrap();
    let (plan, _, _) = fixture.draft("call");
    assert!(!plan.is_empty(), "the empty folder can be removed: {plan:?}");
    fixture.undo("call", "undo");
    assert!(fixture.path("new/inner/b.env").exists() && !fixture.path("new/empty").exists());
    let (plan, _, _) = fixture.draft("call");
    assert!(plan.is_empty(), "{plan:?}");
}

/// The applied changes of a dry run delete and replace whole paths.
#[test]
fn applied_changes_of_ignored_paths_are_named() {
    let Some(fixture) = create_repository() else { return };
    let recorder = fixture.recorder("call");
    let file = |text: &str| FileNode::File { bytes: text.into(), mode: 0o644 };
    recorder.record_change(&fixture.path("secret.env"), &file("token=1\n"), &FileNode::Nothing);
    recorder.record_change(&fixture.path("target/new"), &FileNode::Nothing, &FileNode::Folder { mode: 0o755 });
    recorder.record_change(&fixture.path("a.txt"), &file("one\n"), &file("two\n"));
    let summary = fixture.session.checkpoints.read_calls()[0].summary();
    assert_eq!(summary.not_stored, ["secret.env, target/new (ignored by git)"]);
    assert_eq!(summary.files, ["a.txt"]);
    assert!(!stored_texts(&fixture).concat().contains("token="));
}

/// A file that git began to ignore between two calls goes back as far as it is recorded, or not at all.
#[test]
fn a_file_that_becomes_ignored_is_not_overwritten() {
    let Some(fixture) = create_repository() else { return };
    fixture.write("call-1", "b.txt", "one\n");
    fixture.write("call-2", ".git/info/exclude", "b.txt\n");
    fixture.write("call-3", "b.txt", "two\n");
    let (_, batch, _) = fixture.draft("call-");
    assert_eq!(batch.notes, ["Not restored: b.txt (ignored by git)."]);
    let blocked: Vec<_> = batch.items.iter().filter(|item| item.blocked.is_some()).collect();
    assert!(matches!(&blocked[..], [item] if item.path.ends_with("b.txt")), "{:?}", batch.items);
    fixture.undo("call-", "undo");
    assert_eq!(fs::read_to_string(fixture.path("b.txt")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(fixture.path(".git/info/exclude")).unwrap(), "/listed\n");
}

#[test]
fn outside_a_repository_no_file_is_ignored() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path(".gitignore"), "*.env\n").unwrap();
    fs::write(fixture.path("secret.env"), "one\n").unwrap();
    fixture.write("call", "secret.env", "two\n");
    assert_eq!(fixture.undo("call", "undo"), [ItemOutcome::Applied]);
    assert_eq!(fs::read_to_string(fixture.path("secret.env")).unwrap(), "one\n");
}
