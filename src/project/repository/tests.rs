//! Tests of the repository state, with changes that git made in a copy of the project.

use super::super::batch::{Applied, apply, draft};
use super::*;
use crate::project::disk::Disk;
use std::process::Command;
use std::sync::Arc;

struct Scene {
    place: tempfile::TempDir,
    rehearsal: Rehearsal,
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=me", "-c", "user.email=me@example.org"]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn commits(folder: &Path, text: &str, more: &[&str]) {
    fs::write(folder.join("a"), text).unwrap();
    git(folder, &["add", "a"]);
    git(folder, &[&["commit", "-qm", text.trim()], more].concat());
}

/// Returns every file below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut all, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(entry.path()),
                false => all.push(entry.path().strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    all
}

impl Scene {
    /// Creates a project with two commits and a dry run with this change. `None` if git is not installed.
    fn new(change: impl Fn(&Path)) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("left out: git is not installed");
            return None;
        }
        let place = tempfile::tempdir().unwrap();
        let (root, copy) = (place.path().join("project"), place.path().join("copy"));
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        commits(&root, "one\n", &[]);
        commits(&root, "two\n", &[]);
        git(&root, &["branch", "topic"]);
        let done = Command::new("cp").arg("-a").args([&root, &copy]).status().unwrap();
        assert!(done.success());
        let layer = place.path().join("layer");
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), layer.clone());
        rehearsal.begin().unwrap();
        change(&copy);
        let upper = layer.join("upper");
        for path in files(&copy) {
            let after = fs::read(copy.join(&path)).unwrap();
            if fs::read(root.join(&path)).ok().as_ref() != Some(&after) {
                fs::create_dir_all(upper.join(&path).parent().unwrap()).unwrap();
                fs::write(upper.join(&path), after).unwrap();
            }
        }
        for path in files(&root).into_iter().filter(|path| !copy.join(path).exists()) {
            fs::create_dir_all(upper.join(&path).parent().unwrap()).unwrap();
            let kind = rustix::fs::FileType::CharacterDevice;
            rustix::fs::mknodat(rustix::fs::CWD, upper.join(&path), kind, 0o600.into(), 0).unwrap();
        }
        rehearsal.note_origins().unwrap();
        Some(Self { place, rehearsal })
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("project")
    }

    fn draft(&self) -> (Item, Vec<Operation>) {
        let (mut batch, mut work) =
            draft(&self.rehearsal, Group::Repository, Some(Path::new(".git"))).unwrap();
        assert_eq!((batch.items.len(), work.items.len()), (1, 1), "{batch:?}");
        (batch.items.remove(0), work.items.remove(0))
    }

    fn log(&self, of: &str) -> String {
        git(&self.root(), &["log", "--format=%s", of])
    }
}

#[test]
fn commits_branches_and_tags_are_one_item_that_names_them() {
    let Some(scene) = Scene::new(|copy| {
        commits(copy, "three\n", &[]);
        git(copy, &["checkout", "-q", "-b", "fresh"]);
        commits(copy, "four\n", &[]);
        git(copy, &["tag", "v1"]);
    }) else {
        return;
    };
    let (item, operations) = scene.draft();
    let notes = item.notes.join("\n");
    for words in
        ["refs/heads/main: ", "refs/heads/fresh: new", " three", " four", "refs/tags/v1", "6 new objects"]
    {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert!(notes.contains("HEAD: ref: refs/heads/main → ref: refs/heads/fresh"), "{notes}");
    assert_eq!((&item.blocked, &item.destroys), (&None, &None));
    assert_eq!(apply(&scene.rehearsal, &operations, &[]), Applied::Done);
    assert_eq!(
        (scene.log("HEAD"), scene.log("main")),
        ("four\nthree\ntwo\none\n".into(), "three\ntwo\none\n".into())
    );
    git(&scene.root(), &["fsck", "--strict"]);
    assert_eq!(apply(&scene.rehearsal, &operations, &[]), Applied::Already);
}

#[test]
fn changes_that_may_lose_commits_are_destructive() {
    for (change, words) in [
        (
            (|copy: &Path| commits(copy, "other\n", &["--amend"])) as fn(&Path),
            "moves refs/heads/main to a history without",
        ),
        (
            |copy| drop(git(copy, &["reset", "-q", "--hard", "HEAD~1"])),
            "moves refs/heads/main to a history without",
        ),
        (|copy| drop(git(copy, &["branch", "-qD", "topic"])), "deletes refs/heads/topic"),
    ] {
        let Some(scene) = Scene::new(change) else { return };
        let (item, operations) = scene.draft();
        assert!(item.destroys.as_ref().is_some_and(|destroys| destroys.contains(words)), "{item:?}");
        assert_eq!(apply(&scene.rehearsal, &operations, &[]), Applied::Done);
        git(&scene.root(), &["fsck", "--strict"]);
    }
}

#[test]
fn state_is_refused_if_head_a_ref_or_the_index_changed() {
    for change in [
        (|root: &Path| commits(root, "mine\n", &[])) as fn(&Path),
        |root| drop(git(root, &["checkout", "-q", "topic"])),
        |root| fs::write(root.join(".git/HEAD"), "ref: refs/heads/topic\n").unwrap(),
        |root| drop(git(root, &["reset", "-q", "--soft", "HEAD~1"])),
        |root| {
            fs::write(root.join("mine"), "mine\n").unwrap();
            git(root, &["add", "mine"]);
        },
        |root| fs::write(root.join(".git/index.lock"), "").unwrap(),
    ] {
        let Some(scene) = Scene::new(|copy| commits(copy, "three\n", &[])) else { return };
        let (before, operations) = scene.draft();
        assert_eq!(before.blocked, None);
        change(&scene.root());
        let all = || -> Vec<_> {
            let git = scene.root().join(".git");
            files(&git).into_iter().map(|path| (fs::read(git.join(&path)).unwrap(), path)).collect()
        };
        let was = all();
        let (item, _) = scene.draft();
        let why = item.blocked.expect("it is refused");
        assert!(why.starts_with("Cannot apply the commits: "), "{why}");
        // The same if it moved after the preview.
        assert!(matches!(apply(&scene.rehearsal, &operations, &[]), Applied::Conflict(_)));
        assert_eq!(all(), was);
    }
}

#[test]
fn applying_continues_after_any_interruption() {
    let rehearsed = |copy: &Path| {
        commits(copy, "three\n", &[]);
        git(copy, &["checkout", "-q", "-b", "fresh"]);
        commits(copy, "four\n", &[]);
    };
    let Some(scene) = Scene::new(rehearsed) else { return };
    let (_, operations) = scene.draft();
    let count = operations.len();
    assert!(count > 8, "{operations:?}");
    for cut in 1..count {
        let Some(scene) = Scene::new(rehearsed) else { return };
        let (_, operations) = scene.draft();
        // Ids depend on the time, and two objects may share a folder.
        if cut >= operations.len() {
            continue;
        }
        assert_eq!(apply(&scene.rehearsal, &operations[..cut], &[]), Applied::Done);
        // At every point all refs lead to existing objects.
        git(&scene.root(), &["fsck", "--strict"]);
        let (item, rest) = scene.draft();
        assert_eq!(item.blocked, None, "{cut}");
        assert_eq!(apply(&scene.rehearsal, &rest, &[]), Applied::Done);
        assert_eq!(scene.log("HEAD"), "four\nthree\ntwo\none\n");
    }
}

#[test]
fn objects_are_never_deleted_and_packed_refs_are_described() {
    let Some(scene) = Scene::new(|copy| {
        commits(copy, "three\n", &[]);
        git(copy, &["gc", "-q", "--prune=now"]);
    }) else {
        return;
    };
    let before = files(&scene.root().join(".git/objects"));
    let (item, operations) = scene.draft();
    assert_eq!(item.blocked, None);
    assert!(item.notes.iter().any(|note| note.starts_with("refs/heads/main: ")), "{item:?}");
    assert!(matches!(apply(&scene.rehearsal, &operations, &[]), Applied::Done));
    let after = files(&scene.root().join(".git/objects"));
    assert!(before.iter().all(|path| after.contains(path)));
    assert_eq!(scene.log("HEAD"), "three\ntwo\none\n");
    git(&scene.root(), &["fsck", "--strict"]);
}
