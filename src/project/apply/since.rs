//! Tests: changes of the live project since the rehearsal are conflicts if, and only if, they matter.

use super::*;
use crate::project::altered;
use crate::project::scene::Scene;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// Helpers of these tests.
trait Since {
    fn mode(&self, path: &str, mode: u32);
    /// Returns the path of each change and whether it is a conflict.
    fn told(&self) -> Vec<(String, bool)>;
    fn apply(&self, path: &str) -> Result<(), Error>;
}

impl Since for Scene {
    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.real(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn told(&self) -> Vec<(String, bool)> {
        let all = altered::all(&self.rehearsal).unwrap();
        all.into_iter().map(|one| (one.path.display().to_string(), one.conflict)).collect()
    }

    fn apply(&self, path: &str) -> Result<(), Error> {
        self.rehearsal.apply(&self.rehearsal.change(Path::new(path)).unwrap().unwrap())
    }
}

fn conflict(path: &str) -> (String, bool) {
    (path.to_owned(), true)
}

#[test]
fn r30_changed_mode_alone_is_a_conflict() {
    let scene = Scene::new(&[("a", "one\n"), ("d/x", "x")]);
    scene.rehearses("a", "two\n");
    let shown = scene.rehearsal.change(Path::new("a")).unwrap().unwrap();
    scene.mode("a", 0o600);
    assert_eq!(scene.told(), [conflict("a")]);
    assert!(matches!(scene.rehearsal.apply(&shown), Err(Error::Changed(_))));
    assert_eq!(
        (fs::read(scene.real("a")).unwrap(), scene.real("a").metadata().unwrap().mode() & 0o777),
        (b"one\n".to_vec(), 0o600)
    );
    // A change between the check and the write is detected too.
    assert!(matches!(made::make(scene.rehearsal.root(), &shown), Err(Error::Changed(_))));
    assert_eq!(fs::read(scene.real("a")).unwrap(), b"one\n");
    scene.mode("a", 0o644);
    assert_eq!(scene.told(), [("a".to_owned(), false)]);
    // The mode of a folder conflicts only if the rehearsal set it. A folder that only received files keeps the user's
    // mode.
    scene.mode("d", 0o755);
    scene.rehearses("d/y", "y");
    scene.mode("d", 0o700);
    assert_eq!(scene.told(), [("a".to_owned(), false), ("d/y".to_owned(), false)]);
    fs::set_permissions(scene.upper("d"), fs::Permissions::from_mode(0o711)).unwrap();
    assert_eq!(scene.told(), [("a".to_owned(), false), conflict("d"), ("d/y".to_owned(), false)]);
}

#[test]
fn r30_link_or_folder_in_place_of_a_file_is_a_conflict() {
    let scene = Scene::new(&[("a", "one\n"), ("b", "one\n")]);
    scene.rehearses("a", "two\n");
    scene.rehearses("b", "two\n");
    scene.rehearses("new", "n");
    scene.rehearses("newer", "n");
    fs::write(scene.place.path().join("outside"), "one\n").unwrap();
    for path in ["a", "b"] {
        fs::remove_file(scene.real(path)).unwrap();
    }
    symlink("../outside", scene.real("a")).unwrap();
    fs::create_dir(scene.real("b")).unwrap();
    symlink("../outside", scene.real("new")).unwrap();
    fs::create_dir(scene.real("newer")).unwrap();
    assert_eq!(scene.told(), ["a", "b", "new", "newer"].map(conflict));
    assert_eq!(fs::read(scene.place.path().join("outside")).unwrap(), b"one\n");
}

#[test]
fn r30_deleted_or_redirected_parent_folder_is_a_conflict() {
    let scene = Scene::new(&[("d/old", "one\n"), ("e/old", "one\n"), ("f/old", "one\n")]);
    for folder in ["d", "e", "f"] {
        scene.rehearses(&format!("{folder}/old"), "two\n");
        scene.rehearses(&format!("{folder}/new"), "new\n");
    }
    let shown: Vec<Change> = scene.rehearsal.changes().unwrap();
    let outside = scene.place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("old"), "a secret\n").unwrap();
    for folder in ["d", "e", "f"] {
        fs::remove_dir_all(scene.real(folder)).unwrap();
    }
    symlink(&outside, scene.real("e")).unwrap();
    fs::write(scene.real("f"), "a file").unwrap();
    let all = ["d/new", "d/old", "e/new", "e/old", "f/new", "f/old"];
    assert_eq!(scene.told(), all.map(conflict));
    // The target of the link is neither read nor written.
    let change = scene.rehearsal.change(Path::new("e/old")).unwrap().unwrap();
    assert_eq!(change.before, Node::Nothing);
    for change in &shown {
        assert!(scene.rehearsal.apply(change).is_err() || change.path == Path::new("d/new"), "{change:?}");
        assert!(
            made::make(scene.rehearsal.root(), change).is_err() || change.path.starts_with("d"),
            "{change:?}"
        );
    }
    assert_eq!(fs::read(outside.join("old")).unwrap(), b"a secret\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(scene.real("f")).unwrap(), b"a file");
}

#[test]
fn file_changed_meanwhile_is_put_back_for_every_kind_of_change() {
    let scene = Scene::new(&[("a", "mine\n")]);
    let file = |text: &str| Node::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
    for after in [
        Node::Nothing,
        Node::Link("x".into()),
        Node::Folder { mode: 0o755 },
        file("two\n"),
        Node::File { bytes: b"one\n".to_vec(), mode: 0o600 },
    ] {
        let set_only = matches!(&after, Node::File { bytes, .. } if bytes == b"one\n");
        let before =
            if set_only { Node::File { bytes: b"one\n".to_vec(), mode: 0o755 } } else { file("one\n") };
        let change = Change { path: "a".into(), before, after };
        let error = made::make(scene.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
        assert_eq!(fs::read(scene.real("a")).unwrap(), b"mine\n", "{change:?}");
        assert_eq!(fs::read_dir(scene.rehearsal.root()).unwrap().count(), 1, "{change:?}");
    }
    for after in [Node::Folder { mode: 0o755 }, Node::Link("x".into()), file("new\n")] {
        let change = Change { path: "a".into(), before: Node::Nothing, after };
        let error = made::make(scene.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
    }
    assert_eq!(fs::read(scene.real("a")).unwrap(), b"mine\n");
}

#[test]
fn deleted_project_folder_is_not_created_again() {
    let scene = Scene::new(&[]);
    scene.rehearses("new/a", "a");
    scene.rehearses("b", "b");
    let shown = scene.rehearsal.changes().unwrap();
    fs::remove_dir_all(scene.rehearsal.root()).unwrap();
    for change in &shown {
        let error = scene.rehearsal.apply(change).unwrap_err();
        assert!(matches!(error, Error::NoProject(_)), "{error}");
        assert!(made::make(scene.rehearsal.root(), change).is_err());
    }
    assert!(!scene.rehearsal.root().exists());
}

#[test]
fn failed_change_leaves_nothing() {
    let scene = Scene::new(&[]);
    let long = PathBuf::from("new/deep").join("l".repeat(300));
    for after in [
        Node::File { bytes: b"x".to_vec(), mode: 0o644 },
        Node::Folder { mode: 0o755 },
        Node::Link("x".into()),
    ] {
        let change = Change { path: long.clone(), before: Node::Nothing, after };
        let error = made::make(scene.rehearsal.root(), &change).unwrap_err().to_string();
        assert!(error.contains("File name too long"), "{error}");
        assert_eq!(fs::read_dir(scene.rehearsal.root()).unwrap().count(), 0);
    }
}

#[test]
fn live_change_before_it_was_recorded_is_a_conflict() {
    let scene = Scene::new(&[("late", "one\n"), ("gone", "one\n"), ("same", "one\n"), ("d/x", "x")]);
    // As left by a command in the overlay sandbox that was killed together with this program.
    for path in ["late", "same"] {
        fs::write(scene.upper(path), "two\n").unwrap();
    }
    fs::create_dir(scene.upper("d")).unwrap();
    fs::write(scene.upper("d/y"), "y").unwrap();
    let kind = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, scene.upper("gone"), kind, 0o600.into(), 0).unwrap();
    let changed = |path: &PathBuf| {
        let meta = path.symlink_metadata().unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    for path in ["late", "gone"] {
        while changed(&scene.real(path)) <= changed(&scene.upper(path)) {
            fs::write(scene.real(path), "mine\n").unwrap();
        }
    }
    // Another file in the same folder does not affect the rehearsed one.
    fs::write(scene.real("d/mine"), "x").unwrap();
    scene.rehearsal.note_origins().unwrap();
    let all = [("d/y", false), ("gone", true), ("late", true), ("same", false)];
    assert_eq!(scene.told(), all.map(|(path, conflict)| (path.to_owned(), conflict)));
}

#[test]
fn reverted_rehearsal_is_no_change_even_if_the_live_file_changed() {
    let scene = Scene::new(&[("a", "one\n")]);
    scene.rehearses("a", "two\n");
    scene.rehearses("a", "one\n");
    fs::write(scene.real("a"), "mine\n").unwrap();
    assert_eq!(scene.told(), []);
    // After it was applied there is a change, because it would have to be undone.
    fs::write(scene.real("a"), "one\n").unwrap();
    scene.rehearses("a", "two\n");
    scene.apply("a").unwrap();
    scene.rehearses("a", "one\n");
    assert_eq!(scene.told(), [("a".to_owned(), false)]);
    scene.apply("a").unwrap();
    assert_eq!(fs::read(scene.real("a")).unwrap(), b"one\n");
}

#[test]
fn records_of_older_versions_are_read() {
    let scene = Scene::new(&[("a", "one\n"), ("b", "part\n")]);
    fs::write(scene.upper("a"), "two\n").unwrap();
    fs::write(scene.upper("b"), "two\n").unwrap();
    let layer = scene.place.path().join("layer");
    let held = crate::chat::Digest::of(b"one\n");
    let origins = ["a", "b"]
        .map(|path| serde_json::json!({ "path": path.as_bytes(), "held": held }).to_string() + "\n");
    fs::write(layer.join("origins"), origins.concat()).unwrap();
    assert_eq!(scene.told(), [("a".to_owned(), false), conflict("b")]);
    let holds = crate::chat::Digest::of(b"part\n");
    let line = serde_json::json!({ "path": b"b".to_vec(), "holds": holds }).to_string();
    fs::write(layer.join(FILE), line).unwrap();
    assert_eq!(scene.told(), [("a".to_owned(), false), ("b".to_owned(), false)]);
}
