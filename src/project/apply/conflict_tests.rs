//! Tests: changes of the live project since the rehearsal are conflicts if, and only if, they matter.

use super::*;
use crate::project::change_summary;
use crate::project::test_project::RehearsedProject;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// Helpers of these tests.
trait ConflictHelpers {
    fn set_live_mode(&self, path: &str, mode: u32);
    /// Returns the path of each change and whether it is a conflict.
    fn list_conflicts(&self) -> Vec<(String, bool)>;
    fn apply_path(&self, path: &str) -> Result<(), Error>;
}

impl ConflictHelpers for RehearsedProject {
    fn set_live_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.live_path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn list_conflicts(&self) -> Vec<(String, bool)> {
        let all = change_summary::list_changes(&self.rehearsal).unwrap();
        all.into_iter().map(|one| (one.path.display().to_string(), one.has_conflict)).collect()
    }

    fn apply_path(&self, path: &str) -> Result<(), Error> {
        self.rehearsal.apply_change(&self.rehearsal.change_at(Path::new(path)).unwrap().unwrap())
    }
}

fn expect_conflict(path: &str) -> (String, bool) {
    (path.to_owned(), true)
}

#[test]
fn r30_changed_mode_alone_is_a_conflict() {
    let scene = RehearsedProject::new(&[("a", "one\n"), ("d/x", "x")]);
    scene.rehearse_write("a", "two\n");
    let shown = scene.rehearsal.change_at(Path::new("a")).unwrap().unwrap();
    scene.set_live_mode("a", 0o600);
    assert_eq!(scene.list_conflicts(), [expect_conflict("a")]);
    assert!(matches!(scene.rehearsal.apply_change(&shown), Err(Error::Changed(_))));
    assert_eq!(
        (fs::read(scene.live_path("a")).unwrap(), scene.live_path("a").metadata().unwrap().mode() & 0o777),
        (b"one\n".to_vec(), 0o600)
    );
    // A change between the check and the write is detected too.
    assert!(matches!(live_change::write_live_change(scene.rehearsal.root(), &shown), Err(Error::Changed(_))));
    assert_eq!(fs::read(scene.live_path("a")).unwrap(), b"one\n");
    scene.set_live_mode("a", 0o644);
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false)]);
    // The mode of a folder conflicts only if the rehearsal set it. A folder that only received files keeps the user's
    // mode.
    scene.set_live_mode("d", 0o755);
    scene.rehearse_write("d/y", "y");
    scene.set_live_mode("d", 0o700);
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false), ("d/y".to_owned(), false)]);
    fs::set_permissions(scene.overlay_path("d"), fs::Permissions::from_mode(0o711)).unwrap();
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false), expect_conflict("d"), ("d/y".to_owned(), false)]);
}

#[test]
fn r30_link_or_folder_in_place_of_a_file_is_a_conflict() {
    let scene = RehearsedProject::new(&[("a", "one\n"), ("b", "one\n")]);
    scene.rehearse_write("a", "two\n");
    scene.rehearse_write("b", "two\n");
    scene.rehearse_write("new", "n");
    scene.rehearse_write("newer", "n");
    fs::write(scene.folder.path().join("outside"), "one\n").unwrap();
    for path in ["a", "b"] {
        fs::remove_file(scene.live_path(path)).unwrap();
    }
    symlink("../outside", scene.live_path("a")).unwrap();
    fs::create_dir(scene.live_path("b")).unwrap();
    symlink("../outside", scene.live_path("new")).unwrap();
    fs::create_dir(scene.live_path("newer")).unwrap();
    assert_eq!(scene.list_conflicts(), ["a", "b", "new", "newer"].map(expect_conflict));
    assert_eq!(fs::read(scene.folder.path().join("outside")).unwrap(), b"one\n");
}

#[test]
fn r30_deleted_or_redirected_parent_folder_is_a_conflict() {
    let scene = RehearsedProject::new(&[("d/old", "one\n"), ("e/old", "one\n"), ("f/old", "one\n")]);
    for folder in ["d", "e", "f"] {
        scene.rehearse_write(&format!("{folder}/old"), "two\n");
        scene.rehearse_write(&format!("{folder}/new"), "new\n");
    }
    let shown: Vec<Change> = scene.rehearsal.list_changes().unwrap();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("old"), "a secret\n").unwrap();
    for folder in ["d", "e", "f"] {
        fs::remove_dir_all(scene.live_path(folder)).unwrap();
    }
    symlink(&outside, scene.live_path("e")).unwrap();
    fs::write(scene.live_path("f"), "a file").unwrap();
    let all = ["d/new", "d/old", "e/new", "e/old", "f/new", "f/old"];
    assert_eq!(scene.list_conflicts(), all.map(expect_conflict));
    // The target of the link is neither read nor written.
    let change = scene.rehearsal.change_at(Path::new("e/old")).unwrap().unwrap();
    assert_eq!(change.before, FileNode::Nothing);
    for change in &shown {
        assert!(scene.rehearsal.apply_change(change).is_err() || change.path == Path::new("d/new"), "{change:?}");
        assert!(
            live_change::write_live_change(scene.rehearsal.root(), change).is_err() || change.path.starts_with("d"),
            "{change:?}"
        );
    }
    assert_eq!(fs::read(outside.join("old")).unwrap(), b"a secret\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(scene.live_path("f")).unwrap(), b"a file");
}

#[test]
fn file_changed_meanwhile_is_put_back_for_every_kind_of_change() {
    let scene = RehearsedProject::new(&[("a", "mine\n")]);
    let file = |text: &str| FileNode::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
    for after in [
        FileNode::Nothing,
        FileNode::Link("x".into()),
        FileNode::Folder { mode: 0o755 },
        file("two\n"),
        FileNode::File { bytes: b"one\n".to_vec(), mode: 0o600 },
    ] {
        let set_only = matches!(&after, FileNode::File { bytes, .. } if bytes == b"one\n");
        let before = if set_only { FileNode::File { bytes: b"one\n".to_vec(), mode: 0o755 } } else { file("one\n") };
        let change = Change { path: "a".into(), before, after };
        let error = live_change::write_live_change(scene.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
        assert_eq!(fs::read(scene.live_path("a")).unwrap(), b"mine\n", "{change:?}");
        assert_eq!(fs::read_dir(scene.rehearsal.root()).unwrap().count(), 1, "{change:?}");
    }
    for after in [FileNode::Folder { mode: 0o755 }, FileNode::Link("x".into()), file("new\n")] {
        let change = Change { path: "a".into(), before: FileNode::Nothing, after };
        let error = live_change::write_live_change(scene.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
    }
    assert_eq!(fs::read(scene.live_path("a")).unwrap(), b"mine\n");
}

#[test]
fn deleted_project_folder_is_not_created_again() {
    let scene = RehearsedProject::new(&[]);
    scene.rehearse_write("new/a", "a");
    scene.rehearse_write("b", "b");
    let shown = scene.rehearsal.list_changes().unwrap();
    fs::remove_dir_all(scene.rehearsal.root()).unwrap();
    for change in &shown {
        let error = scene.rehearsal.apply_change(change).unwrap_err();
        assert!(matches!(error, Error::NoProject(_)), "{error}");
        assert!(live_change::write_live_change(scene.rehearsal.root(), change).is_err());
    }
    assert!(!scene.rehearsal.root().exists());
}

#[test]
fn failed_change_leaves_nothing() {
    let scene = RehearsedProject::new(&[]);
    let long = PathBuf::from("new/deep").join("l".repeat(300));
    for after in [
        FileNode::File { bytes: b"x".to_vec(), mode: 0o644 },
        FileNode::Folder { mode: 0o755 },
        FileNode::Link("x".into()),
    ] {
        let change = Change { path: long.clone(), before: FileNode::Nothing, after };
        let error = live_change::write_live_change(scene.rehearsal.root(), &change).unwrap_err().to_string();
        assert!(error.contains("File name too long"), "{error}");
        assert_eq!(fs::read_dir(scene.rehearsal.root()).unwrap().count(), 0);
    }
}

#[test]
fn live_change_before_it_was_recorded_is_a_conflict() {
    let scene = RehearsedProject::new(&[("late", "one\n"), ("gone", "one\n"), ("same", "one\n"), ("d/x", "x")]);
    // As left by a command in the overlay sandbox that was killed together with this program.
    for path in ["late", "same"] {
        fs::write(scene.overlay_path(path), "two\n").unwrap();
    }
    fs::create_dir(scene.overlay_path("d")).unwrap();
    fs::write(scene.overlay_path("d/y"), "y").unwrap();
    let kind = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, scene.overlay_path("gone"), kind, 0o600.into(), 0).unwrap();
    let changed = |path: &PathBuf| {
        let meta = path.symlink_metadata().unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    for path in ["late", "gone"] {
        while changed(&scene.live_path(path)) <= changed(&scene.overlay_path(path)) {
            fs::write(scene.live_path(path), "mine\n").unwrap();
        }
    }
    // Another file in the same folder does not affect the rehearsed one.
    fs::write(scene.live_path("d/mine"), "x").unwrap();
    scene.rehearsal.record_origins().unwrap();
    let all = [("d/y", false), ("gone", true), ("late", true), ("same", false)];
    assert_eq!(scene.list_conflicts(), all.map(|(path, conflict)| (path.to_owned(), conflict)));
}

#[test]
fn reverted_rehearsal_is_no_change_even_if_the_live_file_changed() {
    let scene = RehearsedProject::new(&[("a", "one\n")]);
    scene.rehearse_write("a", "two\n");
    scene.rehearse_write("a", "one\n");
    fs::write(scene.live_path("a"), "mine\n").unwrap();
    assert_eq!(scene.list_conflicts(), []);
    // After it was applied there is a change, because it would have to be undone.
    fs::write(scene.live_path("a"), "one\n").unwrap();
    scene.rehearse_write("a", "two\n");
    scene.apply_path("a").unwrap();
    scene.rehearse_write("a", "one\n");
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false)]);
    scene.apply_path("a").unwrap();
    assert_eq!(fs::read(scene.live_path("a")).unwrap(), b"one\n");
}

#[test]
fn records_of_older_versions_are_read() {
    let scene = RehearsedProject::new(&[("a", "one\n"), ("b", "part\n")]);
    fs::write(scene.overlay_path("a"), "two\n").unwrap();
    fs::write(scene.overlay_path("b"), "two\n").unwrap();
    let layer = scene.folder.path().join("layer");
    let held = crate::chat::Digest::of_bytes(b"one\n");
    let origins =
        ["a", "b"].map(|path| serde_json::json!({ "path": path.as_bytes(), "held": held }).to_string() + "\n");
    fs::write(layer.join("origins"), origins.concat()).unwrap();
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false), expect_conflict("b")]);
    let holds = crate::chat::Digest::of_bytes(b"part\n");
    let line = serde_json::json!({ "path": b"b".to_vec(), "holds": holds }).to_string();
    fs::write(layer.join(APPLIED_FILE), line).unwrap();
    assert_eq!(scene.list_conflicts(), [("a".to_owned(), false), ("b".to_owned(), false)]);
}
