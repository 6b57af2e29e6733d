//! Tests: the project's own folder and failed writes are reported only if something changed.

use super::*;
use crate::project::change_summary;
use crate::project::checkpoints::CallRecorder;
use crate::project::disk::Disk;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

struct RootFolderFixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    rehearsal: Rehearsal,
}

impl RootFolderFixture {
    /// Creates a project whose folder has this mode.
    fn new(mode: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        set_mode(&root, mode);
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), folder.path().join("data/session"));
        Self { _folder: folder, root, rehearsal }
    }

    fn reopen(&self) -> Rehearsal {
        Rehearsal::new(self.rehearsal.disk.clone(), self.rehearsal.overlay_folder.clone())
    }

    fn write_path(&self, path: &str, text: &str) -> Result<(), Error> {
        let location = self.rehearsal.locate(path).unwrap();
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), text.as_bytes())
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn read_mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Returns the path and the notes of every change.
fn list_notes(rehearsal: &Rehearsal) -> Vec<(String, String)> {
    let changes = change_summary::list_changes(rehearsal).unwrap();
    changes.iter().map(|change| (change.path.display().to_string(), change.notes.join("; "))).collect()
}

#[test]
fn r30_mode_of_the_project_folder_is_reported_and_applied() {
    let fixture = RootFolderFixture::new(0o770);
    fixture.write_path("a", "a").unwrap();
    assert_eq!(read_mode(&fixture.rehearsal.upper), 0o770, "a command sees the original mode");
    assert_eq!(list_notes(&fixture.rehearsal), [("a".to_owned(), String::new())]);
    let before = fixture.rehearsal.state_digest();
    set_mode(&fixture.rehearsal.upper, 0o711);
    assert_ne!(fixture.rehearsal.state_digest(), before);
    let expected = (".".to_owned(), "mode 770 → 711".to_owned());
    assert_eq!(list_notes(&fixture.reopen())[0], expected);
    assert_eq!(list_notes(&fixture.reopen()).len(), 2);
    // If the user changed the mode in the meantime, the folder is a conflict.
    set_mode(&fixture.root, 0o750);
    assert!(fixture.rehearsal.is_conflict(Path::new(ROOT_PATH)));
    set_mode(&fixture.root, 0o770);
    let change = fixture.rehearsal.change_at(Path::new(ROOT_PATH)).unwrap().unwrap();
    fixture.rehearsal.apply_change(&change, &CallRecorder::disabled()).unwrap();
    assert_eq!(read_mode(&fixture.root), 0o711);
    assert_eq!(list_notes(&fixture.rehearsal), [("a".to_owned(), String::new())]);
    assert_eq!(fixture.rehearsal.locate_live(Path::new(ROOT_PATH)).unwrap().real, fixture.root);
}

#[test]
fn live_mode_change_of_the_project_folder_is_no_change_of_the_rehearsal() {
    let fixture = RootFolderFixture::new(0o755);
    fixture.rehearsal.prepare_overlay().unwrap();
    fixture.rehearsal.prepare_overlay().unwrap();
    assert_eq!(fixture.rehearsal.overlay_paths().unwrap(), [Path::new(ROOT_PATH)]);
    set_mode(&fixture.root, 0o700);
    fixture.rehearsal.record_origins().unwrap();
    assert_eq!(list_notes(&fixture.reopen()), []);
    // An overlay of an older version has a folder of any mode.
    let older_fixture = RootFolderFixture::new(0o700);
    fs::create_dir_all(&older_fixture.rehearsal.upper).unwrap();
    set_mode(&older_fixture.rehearsal.upper, 0o755);
    older_fixture.write_path("a", "a").unwrap();
    older_fixture.rehearsal.record_origins().unwrap();
    assert_eq!(list_notes(&older_fixture.reopen()), [("a".to_owned(), String::new())]);
}

#[test]
fn failed_write_makes_no_later_write_a_conflict() {
    let fixture = RootFolderFixture::new(0o755);
    for path in ["by a tool", "by a command", "again"] {
        fs::write(fixture.root.join(path), "one").unwrap();
        fixture.write_path("other", path).unwrap();
        // Prevents writes from being prepared.
        fs::write(fixture.rehearsal.overlay_folder.join("unfinished"), "").unwrap();
        assert!(fixture.write_path(path, "two").is_err());
        fs::remove_file(fixture.rehearsal.overlay_folder.join("unfinished")).unwrap();
        // The user changes the live file.
        fs::write(fixture.root.join(path), "mine").unwrap();
    }
    fixture.write_path("by a tool", "mine and two").unwrap();
    fs::write(fixture.rehearsal.upper.join("by a command"), "mine and two").unwrap();
    fixture.rehearsal.record_origins().unwrap();
    // The same after a restart, with the record of the failed write still present.
    let reopened = fixture.reopen();
    let location = reopened.locate("again").unwrap();
    reopened.write(&location, Some(b"mine"), b"mine and two").unwrap();
    for path in ["by a tool", "by a command", "again"] {
        assert!(!reopened.is_conflict(Path::new(path)) && !fixture.reopen().is_conflict(Path::new(path)), "{path}");
    }
    // The record of a completed change is kept.
    fs::write(fixture.root.join("again"), "other").unwrap();
    reopened.write(&location, Some(b"mine and two"), b"three").unwrap();
    assert!(reopened.is_conflict(Path::new("again")) && fixture.reopen().is_conflict(Path::new("again")));
}
