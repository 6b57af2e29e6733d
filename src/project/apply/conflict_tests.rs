//! Tests: changes of the live project since the rehearsal are conflicts if, and only if, they matter.

use super::*;
use crate::project::change_summary;
use crate::project::checkpoints::CallRecorder;
use crate::project::test_project::RehearsedProject;
use std::fs;
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
        let changes = change_summary::list_changes(&self.rehearsal).unwrap();
        changes.into_iter().map(|change| (change.path.display().to_string(), change.has_conflict)).collect()
    }

    fn apply_path(&self, path: &str) -> Result<(), Error> {
        self.rehearsal
            .apply_change(&self.rehearsal.change_at(Path::new(path)).unwrap().unwrap(), &CallRecorder::disabled())
    }
}

/// Returns the element of `list_conflicts` for a path that is a conflict.
fn expect_conflict(path: &str) -> (String, bool) {
    (path.to_owned(), true)
}

#[test]
fn r30_changed_mode_alone_is_a_conflict() {
    let project = RehearsedProject::new(&[("a", "one\n"), ("d/x", "x")]);
    project.rehearse_write("a", "two\n");
    let planned = project.rehearsal.change_at(Path::new("a")).unwrap().unwrap();
    project.set_live_mode("a", 0o600);
    assert_eq!(project.list_conflicts(), [expect_conflict("a")]);
    assert!(matches!(project.rehearsal.apply_change(&planned, &CallRecorder::disabled()), Err(Error::Changed(_))));
    assert_eq!(
        (fs::read(project.live_path("a")).unwrap(), project.live_path("a").metadata().unwrap().mode() & 0o777),
        (b"one\n".to_vec(), 0o600)
    );
    // A change between the check and the write is detected too.
    assert!(matches!(live_change::write_live_change(project.rehearsal.root(), &planned), Err(Error::Changed(_))));
    assert_eq!(fs::read(project.live_path("a")).unwrap(), b"one\n");
    project.set_live_mode("a", 0o644);
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false)]);
    // The mode of a folder conflicts only if the rehearsal set it. A folder that only received files keeps the user's
    // mode.
    project.set_live_mode("d", 0o755);
    project.rehearse_write("d/y", "y");
    project.set_live_mode("d", 0o700);
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false), ("d/y".to_owned(), false)]);
    fs::set_permissions(project.overlay_path("d"), fs::Permissions::from_mode(0o711)).unwrap();
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false), expect_conflict("d"), ("d/y".to_owned(), false)]);
}

#[test]
fn r30_link_or_folder_in_place_of_a_file_is_a_conflict() {
    let project = RehearsedProject::new(&[("a", "one\n"), ("b", "one\n")]);
    project.rehearse_write("a", "two\n");
    project.rehearse_write("b", "two\n");
    project.rehearse_write("new", "n");
    project.rehearse_write("newer", "n");
    fs::write(project.folder.path().join("outside"), "one\n").unwrap();
    for path in ["a", "b"] {
        fs::remove_file(project.live_path(path)).unwrap();
    }
    symlink("../outside", project.live_path("a")).unwrap();
    fs::create_dir(project.live_path("b")).unwrap();
    symlink("../outside", project.live_path("new")).unwrap();
    fs::create_dir(project.live_path("newer")).unwrap();
    assert_eq!(project.list_conflicts(), ["a", "b", "new", "newer"].map(expect_conflict));
    assert_eq!(fs::read(project.folder.path().join("outside")).unwrap(), b"one\n");
}

#[test]
fn r30_deleted_or_redirected_parent_folder_is_a_conflict() {
    let project = RehearsedProject::new(&[("d/old", "one\n"), ("e/old", "one\n"), ("f/old", "one\n")]);
    for folder in ["d", "e", "f"] {
        project.rehearse_write(&format!("{folder}/old"), "two\n");
        project.rehearse_write(&format!("{folder}/new"), "new\n");
    }
    let planned: Vec<Change> = project.rehearsal.list_changes().unwrap();
    let outside = project.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("old"), "a secret\n").unwrap();
    for folder in ["d", "e", "f"] {
        fs::remove_dir_all(project.live_path(folder)).unwrap();
    }
    symlink(&outside, project.live_path("e")).unwrap();
    fs::write(project.live_path("f"), "a file").unwrap();
    let paths = ["d/new", "d/old", "e/new", "e/old", "f/new", "f/old"];
    assert_eq!(project.list_conflicts(), paths.map(expect_conflict));
    // The target of the link is neither read nor written.
    let change = project.rehearsal.change_at(Path::new("e/old")).unwrap().unwrap();
    assert_eq!(change.before, FileNode::Nothing);
    for change in &planned {
        // A new file may be created again together with its deleted folder.
        assert!(
            project.rehearsal.apply_change(change, &CallRecorder::disabled()).is_err()
                || change.path == Path::new("d/new"),
            "{change:?}"
        );
        assert!(
            live_change::write_live_change(project.rehearsal.root(), change).is_err() || change.path.starts_with("d"),
            "{change:?}"
        );
    }
    assert_eq!(fs::read(outside.join("old")).unwrap(), b"a secret\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(project.live_path("f")).unwrap(), b"a file");
}

#[test]
fn file_changed_meanwhile_is_put_back_for_every_kind_of_change() {
    let project = RehearsedProject::new(&[("a", "mine\n")]);
    let file_node = |text: &str| FileNode::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
    for after in [
        FileNode::Nothing,
        FileNode::Link("x".into()),
        FileNode::Folder { mode: 0o755 },
        file_node("two\n"),
        FileNode::File { bytes: b"one\n".to_vec(), mode: 0o600 },
    ] {
        let is_mode_change = matches!(&after, FileNode::File { bytes, .. } if bytes == b"one\n");
        let before =
            if is_mode_change { FileNode::File { bytes: b"one\n".to_vec(), mode: 0o755 } } else { file_node("one\n") };
        let change = Change { path: "a".into(), before, after };
        let error = live_change::write_live_change(project.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
        assert_eq!(fs::read(project.live_path("a")).unwrap(), b"mine\n", "{change:?}");
        assert_eq!(fs::read_dir(project.rehearsal.root()).unwrap().count(), 1, "{change:?}");
    }
    for after in [FileNode::Folder { mode: 0o755 }, FileNode::Link("x".into()), file_node("new\n")] {
        let change = Change { path: "a".into(), before: FileNode::Nothing, after };
        let error = live_change::write_live_change(project.rehearsal.root(), &change).unwrap_err();
        assert!(matches!(error, Error::Changed(_)), "{change:?}: {error}");
    }
    assert_eq!(fs::read(project.live_path("a")).unwrap(), b"mine\n");
}

#[test]
fn deleted_project_folder_is_not_created_again() {
    let project = RehearsedProject::new(&[]);
    project.rehearse_write("new/a", "a");
    project.rehearse_write("b", "b");
    let planned = project.rehearsal.list_changes().unwrap();
    fs::remove_dir_all(project.rehearsal.root()).unwrap();
    for change in &planned {
        let error = project.rehearsal.apply_change(change, &CallRecorder::disabled()).unwrap_err();
        assert!(matches!(error, Error::NoProject(_)), "{error}");
        assert!(live_change::write_live_change(project.rehearsal.root(), change).is_err());
    }
    assert!(!project.rehearsal.root().exists());
}

#[test]
fn failed_change_leaves_nothing() {
    let project = RehearsedProject::new(&[]);
    let long_path = PathBuf::from("new/deep").join("l".repeat(300));
    for after in [
        FileNode::File { bytes: b"x".to_vec(), mode: 0o644 },
        FileNode::Folder { mode: 0o755 },
        FileNode::Link("x".into()),
    ] {
        let change = Change { path: long_path.clone(), before: FileNode::Nothing, after };
        let error = live_change::write_live_change(project.rehearsal.root(), &change).unwrap_err().to_string();
        assert!(error.contains("File name too long"), "{error}");
        assert_eq!(fs::read_dir(project.rehearsal.root()).unwrap().count(), 0);
    }
}

#[test]
fn live_change_before_the_original_was_recorded_is_a_conflict() {
    let project = RehearsedProject::new(&[("late", "one\n"), ("gone", "one\n"), ("same", "one\n"), ("d/x", "x")]);
    // A command in the overlay sandbox was killed together with this program: its changes are in the overlay, but the
    // original states are not recorded.
    for path in ["late", "same"] {
        fs::write(project.overlay_path(path), "two\n").unwrap();
    }
    fs::create_dir(project.overlay_path("d")).unwrap();
    fs::write(project.overlay_path("d/y"), "y").unwrap();
    let kind = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, project.overlay_path("gone"), kind, 0o600.into(), 0).unwrap();
    let change_time = |path: &PathBuf| {
        let meta = path.symlink_metadata().unwrap();
        (meta.ctime(), meta.ctime_nsec())
    };
    for path in ["late", "gone"] {
        while change_time(&project.live_path(path)) <= change_time(&project.overlay_path(path)) {
            fs::write(project.live_path(path), "mine\n").unwrap();
        }
    }
    // Another file in the same folder does not affect the rehearsed one.
    fs::write(project.live_path("d/mine"), "x").unwrap();
    project.rehearsal.record_origins().unwrap();
    let expected = [("d/y", false), ("gone", true), ("late", true), ("same", false)];
    assert_eq!(project.list_conflicts(), expected.map(|(path, conflict)| (path.to_owned(), conflict)));
}

#[test]
fn reverted_rehearsal_is_no_change_even_if_the_live_file_changed() {
    let project = RehearsedProject::new(&[("a", "one\n")]);
    project.rehearse_write("a", "two\n");
    project.rehearse_write("a", "one\n");
    fs::write(project.live_path("a"), "mine\n").unwrap();
    assert_eq!(project.list_conflicts(), []);
    // Once the rehearsed content was applied, the original content is a change again: it undoes the applied one.
    fs::write(project.live_path("a"), "one\n").unwrap();
    project.rehearse_write("a", "two\n");
    project.apply_path("a").unwrap();
    project.rehearse_write("a", "one\n");
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false)]);
    project.apply_path("a").unwrap();
    assert_eq!(fs::read(project.live_path("a")).unwrap(), b"one\n");
}

#[test]
fn records_of_older_versions_are_read() {
    let project = RehearsedProject::new(&[("a", "one\n"), ("b", "part\n")]);
    fs::write(project.overlay_path("a"), "two\n").unwrap();
    fs::write(project.overlay_path("b"), "two\n").unwrap();
    let overlay = project.folder.path().join("layer");
    let digest = crate::chat::Digest::of_bytes(b"one\n");
    let origins =
        ["a", "b"].map(|path| serde_json::json!({ "path": path.as_bytes(), "held": digest }).to_string() + "\n");
    fs::write(overlay.join("origins"), origins.concat()).unwrap();
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false), expect_conflict("b")]);
    let digest = crate::chat::Digest::of_bytes(b"part\n");
    let line = serde_json::json!({ "path": b"b".to_vec(), "holds": digest }).to_string();
    fs::write(overlay.join(APPLIED_FILE), line).unwrap();
    assert_eq!(project.list_conflicts(), [("a".to_owned(), false), ("b".to_owned(), false)]);
}
