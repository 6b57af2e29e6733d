//! Tests: the project's own folder and failed writes are reported only if something changed.

use super::*;
use crate::project::change_summary;
use crate::project::disk::Disk;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

struct RootFolderFixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    play: Rehearsal,
}

impl RootFolderFixture {
    /// Creates a project whose folder has this mode.
    fn new(mode: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        set_mode(&root, mode);
        let play = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), folder.path().join("data/session"));
        Self { _folder: folder, root, play }
    }

    fn reopen(&self) -> Rehearsal {
        Rehearsal::new(self.play.disk.clone(), self.play.overlay_folder.clone())
    }

    fn write_path(&self, path: &str, text: &str) -> Result<(), Error> {
        let at = self.play.locate(path).unwrap();
        let before = self.play.read(&at).ok();
        self.play.write(&at, before.as_deref(), text.as_bytes())
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn read_mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Returns the path and the notes of every change.
fn list_notes(play: &Rehearsal) -> Vec<(String, String)> {
    let all = change_summary::list_changes(play).unwrap();
    all.iter().map(|one| (one.path.display().to_string(), one.notes.join("; "))).collect()
}

#[test]
fn r30_mode_of_the_project_folder_is_reported_and_applied() {
    let place = RootFolderFixture::new(0o770);
    place.write_path("a", "a").unwrap();
    assert_eq!(read_mode(&place.play.upper), 0o770, "a command sees the original mode");
    assert_eq!(list_notes(&place.play), [("a".to_owned(), String::new())]);
    let before = place.play.state_digest();
    set_mode(&place.play.upper, 0o711);
    assert_ne!(place.play.state_digest(), before);
    let changed = (".".to_owned(), "mode 770 → 711".to_owned());
    assert_eq!(list_notes(&place.reopen())[0], changed);
    assert_eq!(list_notes(&place.reopen()).len(), 2);
    // Changed by the user in the meantime, it is a conflict.
    set_mode(&place.root, 0o750);
    assert!(place.play.is_conflict(Path::new(ROOT_PATH)));
    set_mode(&place.root, 0o770);
    let change = place.play.change_at(Path::new(ROOT_PATH)).unwrap().unwrap();
    place.play.apply_change(&change).unwrap();
    assert_eq!(read_mode(&place.root), 0o711);
    assert_eq!(list_notes(&place.play), [("a".to_owned(), String::new())]);
    assert_eq!(place.play.locate_live(Path::new(ROOT_PATH)).unwrap().real, place.root);
}

#[test]
fn live_mode_change_of_the_project_folder_is_no_change_of_the_rehearsal() {
    let place = RootFolderFixture::new(0o755);
    place.play.prepare_overlay().unwrap();
    place.play.prepare_overlay().unwrap();
    assert_eq!(place.play.overlay_paths().unwrap(), [Path::new(ROOT_PATH)]);
    set_mode(&place.root, 0o700);
    place.play.record_origins().unwrap();
    assert_eq!(list_notes(&place.reopen()), []);
    // An overlay of an older version has a folder of any mode.
    let older = RootFolderFixture::new(0o700);
    fs::create_dir_all(&older.play.upper).unwrap();
    set_mode(&older.play.upper, 0o755);
    older.write_path("a", "a").unwrap();
    older.play.record_origins().unwrap();
    assert_eq!(list_notes(&older.reopen()), [("a".to_owned(), String::new())]);
}

#[test]
fn failed_write_makes_no_later_write_a_conflict() {
    let place = RootFolderFixture::new(0o755);
    for path in ["by a tool", "by a command", "again"] {
        fs::write(place.root.join(path), "one").unwrap();
        place.write_path("other", path).unwrap();
        // Prevents writes from being prepared.
        fs::write(place.play.overlay_folder.join("unfinished"), "").unwrap();
        assert!(place.write_path(path, "two").is_err());
        fs::remove_file(place.play.overlay_folder.join("unfinished")).unwrap();
        // The user changes the live file.
        fs::write(place.root.join(path), "mine").unwrap();
    }
    place.write_path("by a tool", "mine and two").unwrap();
    fs::write(place.play.upper.join("by a command"), "mine and two").unwrap();
    place.play.record_origins().unwrap();
    // The same after a restart, with the record of the failed write still present.
    let again = place.reopen();
    let at = again.locate("again").unwrap();
    again.write(&at, Some(b"mine"), b"mine and two").unwrap();
    for path in ["by a tool", "by a command", "again"] {
        assert!(!again.is_conflict(Path::new(path)) && !place.reopen().is_conflict(Path::new(path)), "{path}");
    }
    // The record of a completed change is kept.
    fs::write(place.root.join("again"), "other").unwrap();
    again.write(&at, Some(b"mine and two"), b"three").unwrap();
    assert!(again.is_conflict(Path::new("again")) && place.reopen().is_conflict(Path::new("again")));
}
