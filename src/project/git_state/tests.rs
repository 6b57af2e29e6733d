//! Tests of the repository state, with changes that git made in a copy of the project.

use super::super::batch::{ItemOutcome, apply_item, draft_batch};
use super::*;
use crate::project::checkpoints::CallRecorder;
use crate::project::disk::Disk;
use std::fs;
use std::io::{self, Write};
use std::process::Command;
use std::sync::Arc;

struct RepositoryFixture {
    temporary: tempfile::TempDir,
    rehearsal: Rehearsal,
}

fn run_git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=me", "-c", "user.email=me@example.org"]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commit_file(folder: &Path, text: &str, options: &[&str]) {
    fs::write(folder.join("a"), text).unwrap();
    run_git(folder, &["add", "a"]);
    run_git(folder, &[&["commit", "-qm", text.trim()], options].concat());
}

/// Returns every file below a folder, relative to it.
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(current) = pending.pop() {
        for entry in fs::read_dir(current).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => files.push(entry.path().strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    files
}

impl RepositoryFixture {
    /// Creates a project with two commits and a dry run with this change. `None` if git is not installed.
    fn new(change: impl Fn(&Path)) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            let _ = writeln!(io::stderr(), "LEFT OUT: the state of a repository: git is not installed");
            return None;
        }
        let temporary = tempfile::tempdir().unwrap();
        let (root, copy) = (temporary.path().join("project"), temporary.path().join("copy"));
        fs::create_dir(&root).unwrap();
        run_git(&root, &["init", "-q", "-b", "main"]);
        commit_file(&root, "one\n", &[]);
        commit_file(&root, "two\n", &[]);
        run_git(&root, &["branch", "topic"]);
        let status = Command::new("cp").arg("-a").args([&root, &copy]).status().unwrap();
        assert!(status.success());
        let overlay = temporary.path().join("layer");
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), overlay.clone());
        rehearsal.prepare_overlay().unwrap();
        change(&copy);
        let upper = overlay.join("upper");
        for path in list_files(&copy) {
            let after = fs::read(copy.join(&path)).unwrap();
            if fs::read(root.join(&path)).ok().as_ref() != Some(&after) {
                fs::create_dir_all(upper.join(&path).parent().unwrap()).unwrap();
                fs::write(upper.join(&path), after).unwrap();
            }
        }
        for path in list_files(&root).into_iter().filter(|path| !copy.join(path).exists()) {
            fs::create_dir_all(upper.join(&path).parent().unwrap()).unwrap();
            let kind = rustix::fs::FileType::CharacterDevice;
            rustix::fs::mknodat(rustix::fs::CWD, upper.join(&path), kind, 0o600.into(), 0).unwrap();
        }
        rehearsal.record_origins().unwrap();
        Some(Self { temporary, rehearsal })
    }

    fn root(&self) -> PathBuf {
        self.temporary.path().join("project")
    }

    /// Returns the only item of the repository's batch, with the operations that apply it.
    fn draft_item(&self) -> (Item, Vec<Operation>) {
        let (mut batch, mut work) = draft_batch(&self.rehearsal, Group::Repository, Some(Path::new(".git"))).unwrap();
        assert_eq!((batch.items.len(), work.items.len()), (1, 1), "{batch:?}");
        (batch.items.remove(0), work.items.remove(0))
    }

    fn git_log(&self, revision: &str) -> String {
        run_git(&self.root(), &["log", "--format=%s", revision])
    }
}

#[test]
fn commits_branches_and_tags_are_one_item_that_names_them() {
    let Some(fixture) = RepositoryFixture::new(|copy| {
        commit_file(copy, "three\n", &[]);
        run_git(copy, &["checkout", "-q", "-b", "fresh"]);
        commit_file(copy, "four\n", &[]);
        run_git(copy, &["tag", "v1"]);
    }) else {
        return;
    };
    let (item, operations) = fixture.draft_item();
    let notes = item.notes.join("\n");
    for expected in ["refs/heads/main: ", "refs/heads/fresh: new", " three", " four", "refs/tags/v1", "6 new objects"] {
        assert!(notes.contains(expected), "{expected}: {notes}");
    }
    assert!(notes.contains("HEAD: ref: refs/heads/main → ref: refs/heads/fresh"), "{notes}");
    assert_eq!((&item.blocked, &item.destroys), (&None, &None));
    assert_eq!(apply_item(&fixture.rehearsal, &operations, &[], &CallRecorder::disabled()), ItemOutcome::Applied);
    assert_eq!(
        (fixture.git_log("HEAD"), fixture.git_log("main")),
        ("four\nthree\ntwo\none\n".into(), "three\ntwo\none\n".into())
    );
    run_git(&fixture.root(), &["fsck", "--strict"]);
    assert_eq!(
        apply_item(&fixture.rehearsal, &operations, &[], &CallRecorder::disabled()),
        ItemOutcome::AlreadyApplied
    );
}

#[test]
fn commits_that_are_not_listed_are_counted() {
    for (count, last) in [(20, "commit 1"), (21, "and 1 more commit"), (22, "and 2 more commits")] {
        let add_commits = |copy: &Path| {
            for number in 1..=count {
                run_git(copy, &["commit", "-q", "--allow-empty", "-m", &format!("commit {number}")]);
            }
        };
        let Some(fixture) = RepositoryFixture::new(add_commits) else { return };
        let notes = fixture.draft_item().0.notes;
        let listed: Vec<&String> = notes.iter().filter(|note| note.contains("commit")).collect();
        assert!(listed.last().is_some_and(|note| note.ends_with(last)), "{notes:?}");
    }
}

#[test]
fn changes_that_may_lose_commits_are_destructive() {
    for (change, expected) in [
        (
            (|copy: &Path| commit_file(copy, "other\n", &["--amend"])) as fn(&Path),
            "moves refs/heads/main to a history without",
        ),
        (
            |copy| drop(run_git(copy, &["reset", "-q", "--hard", "HEAD~1"])),
            "moves refs/heads/main to a history without",
        ),
        (|copy| drop(run_git(copy, &["branch", "-qD", "topic"])), "deletes refs/heads/topic"),
    ] {
        let Some(fixture) = RepositoryFixture::new(change) else { return };
        let (item, operations) = fixture.draft_item();
        assert!(item.destroys.as_ref().is_some_and(|destroys| destroys.contains(expected)), "{item:?}");
        assert_eq!(apply_item(&fixture.rehearsal, &operations, &[], &CallRecorder::disabled()), ItemOutcome::Applied);
        run_git(&fixture.root(), &["fsck", "--strict"]);
    }
}

#[test]
fn state_is_refused_if_head_a_ref_or_the_index_changed() {
    for change in [
        (|root: &Path| commit_file(root, "mine\n", &[])) as fn(&Path),
        |root| drop(run_git(root, &["checkout", "-q", "topic"])),
        |root| fs::write(root.join(".git/HEAD"), "ref: refs/heads/topic\n").unwrap(),
        |root| drop(run_git(root, &["reset", "-q", "--soft", "HEAD~1"])),
        |root| {
            fs::write(root.join("mine"), "mine\n").unwrap();
            run_git(root, &["add", "mine"]);
        },
        |root| fs::write(root.join(".git/index.lock"), "").unwrap(),
    ] {
        let Some(fixture) = RepositoryFixture::new(|copy| commit_file(copy, "three\n", &[])) else { return };
        let (before, operations) = fixture.draft_item();
        assert_eq!(before.blocked, None);
        change(&fixture.root());
        let read_repository = || -> Vec<_> {
            let git = fixture.root().join(".git");
            list_files(&git).into_iter().map(|path| (fs::read(git.join(&path)).unwrap(), path)).collect()
        };
        let files_before = read_repository();
        let (item, _) = fixture.draft_item();
        let reason = item.blocked.expect("it is refused");
        assert!(reason.starts_with("Cannot apply the commits: "), "{reason}");
        // Applying is refused too if the repository changed after the preview.
        assert!(matches!(
            apply_item(&fixture.rehearsal, &operations, &[], &CallRecorder::disabled()),
            ItemOutcome::Conflict(_)
        ));
        assert_eq!(read_repository(), files_before);
    }
}

#[test]
fn applying_continues_after_any_interruption() {
    let add_commits = |copy: &Path| {
        commit_file(copy, "three\n", &[]);
        run_git(copy, &["checkout", "-q", "-b", "fresh"]);
        commit_file(copy, "four\n", &[]);
    };
    let Some(fixture) = RepositoryFixture::new(add_commits) else { return };
    let (_, operations) = fixture.draft_item();
    let count = operations.len();
    assert!(count > 8, "{operations:?}");
    for cut in 1..count {
        let Some(fixture) = RepositoryFixture::new(add_commits) else { return };
        let (_, operations) = fixture.draft_item();
        // The number of operations varies: ids depend on the time, and two objects may share a folder.
        if cut >= operations.len() {
            continue;
        }
        assert_eq!(
            apply_item(&fixture.rehearsal, &operations[..cut], &[], &CallRecorder::disabled()),
            ItemOutcome::Applied
        );
        // At every point all refs lead to existing objects.
        run_git(&fixture.root(), &["fsck", "--strict"]);
        let (item, remaining) = fixture.draft_item();
        assert_eq!(item.blocked, None, "{cut}");
        assert_eq!(apply_item(&fixture.rehearsal, &remaining, &[], &CallRecorder::disabled()), ItemOutcome::Applied);
        assert_eq!(fixture.git_log("HEAD"), "four\nthree\ntwo\none\n");
    }
}

#[test]
fn objects_are_never_deleted_and_packed_refs_are_described() {
    let Some(fixture) = RepositoryFixture::new(|copy| {
        commit_file(copy, "three\n", &[]);
        run_git(copy, &["gc", "-q", "--prune=now"]);
    }) else {
        return;
    };
    let before = list_files(&fixture.root().join(".git/objects"));
    let (item, operations) = fixture.draft_item();
    assert_eq!(item.blocked, None);
    assert!(item.notes.iter().any(|note| note.starts_with("refs/heads/main: ")), "{item:?}");
    assert!(matches!(
        apply_item(&fixture.rehearsal, &operations, &[], &CallRecorder::disabled()),
        ItemOutcome::Applied
    ));
    let after = list_files(&fixture.root().join(".git/objects"));
    assert!(before.iter().all(|path| after.contains(path)));
    assert_eq!(fixture.git_log("HEAD"), "three\ntwo\none\n");
    run_git(&fixture.root(), &["fsck", "--strict"]);
}
