//! Tests of unusual overlays: partly written, removed while in use, nested deeper than a path can be, with names that
//! are too long.

use super::*;
use crate::project::disk::Disk;
use rustix::fs::{CWD, Mode, OFlags, XattrFlags, lsetxattr, mkdirat, mknodat, openat};
use std::fs;
use std::os::unix::fs::PermissionsExt;

struct OverlayFixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    rehearsal: Rehearsal,
}

impl OverlayFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join("old")).unwrap();
        fs::write(root.join("old/a"), "a").unwrap();
        let overlay = folder.path().join("data/session");
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), overlay);
        Self { _folder: folder, root, rehearsal }
    }

    fn write_path(&self, path: &str, text: &str) -> Result<(), Error> {
        let location = self.rehearsal.locate(path).unwrap();
        let before = self.rehearsal.read(&location).ok();
        self.rehearsal.write(&location, before.as_deref(), text.as_bytes())
    }

    fn path_exists(&self, path: &str) -> bool {
        self.rehearsal.exists(&self.rehearsal.locate(path).unwrap())
    }

    fn changed_paths(&self) -> Vec<String> {
        let changes = self.rehearsal.list_changes().unwrap();
        changes.iter().map(|change| change.path.display().to_string()).collect()
    }
}

#[test]
fn r30_failed_write_leaves_no_folder_and_restores_nothing_deleted() {
    let fixture = OverlayFixture::new();
    let long = "l".repeat(300);
    let error = fixture.write_path(&format!("new/deep/{long}"), "x").unwrap_err().to_string();
    assert!(error.contains("File name too long"), "{error}");
    assert_eq!(fixture.changed_paths(), [""; 0]);
    // A whiteout: overlayfs's mark of a deleted path.
    mknodat(CWD, fixture.rehearsal.upper.join("old"), rustix::fs::FileType::CharacterDevice, 0o600.into(), 0).unwrap();
    assert!(fixture.write_path(&format!("old/{long}"), "x").is_err());
    assert!(!fixture.path_exists("old") && !fixture.path_exists("old/a"));
    // Remains of an interrupted write are harmless.
    fs::create_dir_all(fixture.rehearsal.overlay_folder.join("unfinished/0/deep")).unwrap();
    fixture.write_path("old/b/c", "x").unwrap();
    assert!(fixture.path_exists("old/b/c") && !fixture.path_exists("old/a"));
    assert!(!fixture.rehearsal.overlay_folder.join("unfinished").exists());
    assert_eq!(fixture.changed_paths(), ["old/a", "old/b", "old/b/c"]);
}

#[test]
fn truncated_record_does_not_affect_other_records() {
    let fixture = OverlayFixture::new();
    fixture.write_path("one", "1").unwrap();
    let origins = fixture.rehearsal.overlay_folder.join("origins");
    let complete = fs::read(&origins).unwrap();
    // The end of the last record is missing.
    fs::write(&origins, &complete[..complete.len() - 9]).unwrap();
    let reopened = Rehearsal::new(fixture.rehearsal.disk.clone(), fixture.rehearsal.overlay_folder.clone());
    assert_eq!(reopened.origin(Path::new("one")), None);
    let location = reopened.locate("two").unwrap();
    reopened.write(&location, None, b"2").unwrap();
    let reopened = Rehearsal::new(fixture.rehearsal.disk.clone(), fixture.rehearsal.overlay_folder.clone());
    assert!(reopened.origin(Path::new("two")).is_some());
}

/// Creates nested folders, so deep that no path reaches the last one.
fn create_deep_folders(top: &Path) {
    fs::create_dir_all(top).unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, top, flags, Mode::empty()).unwrap();
    for _ in 0..60 {
        let name = "d".repeat(200);
        mkdirat(&folder, &name, 0o755.into()).unwrap();
        folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
    }
    drop(openat(&folder, "file", OFlags::CREATE | OFlags::WRONLY, 0o644.into()).unwrap());
}

#[test]
fn folders_deeper_than_any_path_are_reported_and_removed() {
    let fixture = OverlayFixture::new();
    create_deep_folders(&fixture.rehearsal.upper.join("deep"));
    let changes = fixture.rehearsal.list_changes().unwrap();
    let FileNode::Other(kind) = &changes.last().unwrap().after else { panic!("{:?}", changes.last()) };
    assert!(kind.starts_with("something unreadable (File name too long"), "{kind}");
    remove_overlay(&fixture.rehearsal.overlay_folder).unwrap();
    assert!(!fixture.rehearsal.overlay_folder.exists());
    assert_eq!(fixture.changed_paths(), [""; 0]);
    assert_eq!(fs::read_dir(fixture.rehearsal.overlay_folder.parent().unwrap()).unwrap().count(), 0);
}

/// Removes an overlay whose lock was released. A process started by another test holds a copy of the lock file until it
/// executes its program.
fn remove_unlocked(overlay_folder: &Path) {
    let start = std::time::Instant::now();
    loop {
        match remove_overlay(overlay_folder) {
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy && start.elapsed().as_secs() < 60 => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            result => return result.unwrap(),
        }
    }
}

#[test]
fn r54_overlay_is_not_removed_while_in_use_and_then_removed_at_once() {
    let fixture = OverlayFixture::new();
    fixture.write_path("one", "1").unwrap();
    let lock = lock_overlay(&fixture.rehearsal.overlay_folder).unwrap();
    let error = remove_overlay(&fixture.rehearsal.overlay_folder).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(error.to_string().starts_with("a command of this dry run is still running"), "{error}");
    assert!(fixture.path_exists("one"));
    drop(lock);
    // Remains of another interrupted removal are removed as well.
    let parent = fixture.rehearsal.overlay_folder.parent().unwrap();
    fs::create_dir_all(parent.join(".aye-thrown-x/upper/shut")).unwrap();
    fs::set_permissions(parent.join(".aye-thrown-x/upper"), fs::Permissions::from_mode(0o000)).unwrap();
    remove_unlocked(&fixture.rehearsal.overlay_folder);
    remove_overlay(&fixture.rehearsal.overlay_folder).unwrap();
    assert!(!fixture.path_exists("one"));
    assert_eq!(fs::read_dir(parent).unwrap().count(), 0);
    // A new rehearsal starts from the project's current content.
    fs::write(fixture.root.join("one"), "mine").unwrap();
    fixture.write_path("one", "2").unwrap();
    assert!(!fixture.rehearsal.is_conflict(Path::new("one")));
    assert_eq!(
        fixture.rehearsal.origin(Path::new("one")).unwrap().digest,
        Some(crate::chat::Digest::of_bytes(b"mine"))
    );
}

#[test]
fn waiting_for_a_removed_overlay_takes_the_lock_of_the_new_one() {
    let fixture = OverlayFixture::new();
    fixture.write_path("one", "1").unwrap();
    let overlay_folder = fixture.rehearsal.overlay_folder.clone();
    let lock = lock_overlay(&overlay_folder).unwrap();
    let waiting_thread = std::thread::spawn({
        let overlay_folder = overlay_folder.clone();
        move || lock_overlay(&overlay_folder).unwrap()
    });
    let removed = overlay_folder.with_extension("thrown");
    fs::rename(&overlay_folder, &removed).unwrap();
    drop(lock);
    let new_lock = waiting_thread.join().unwrap();
    assert!(remove_overlay(&overlay_folder).is_err(), "the waiting thread holds the lock");
    drop(new_lock);
    remove_unlocked(&overlay_folder);
}

#[test]
fn hard_links_holes_and_attributes_are_handled() {
    let fixture = OverlayFixture::new();
    let upper = &fixture.rehearsal.upper;
    fs::create_dir_all(upper).unwrap();
    fs::write(upper.join("one"), "1").unwrap();
    fs::hard_link(upper.join("one"), upper.join("two")).unwrap();
    fs::File::create(upper.join("hole")).unwrap().set_len(8 << 30).unwrap();
    fs::set_permissions(upper.join("hole"), fs::Permissions::from_mode(0o644)).unwrap();
    fixture.write_path("two", "2").unwrap();
    assert_eq!(fs::read(upper.join("one")).unwrap(), b"1", "a write never goes through a hard link");
    let described: Vec<String> =
        fixture.rehearsal.list_changes().unwrap().iter().map(|change| format!("{:?}", change.after)).collect();
    assert!(described[0].contains("a file of 8589934592 bytes, mode 644"), "{described:?}");
    // The attribute has no effect on a folder of the project itself.
    let _ = lsetxattr(fixture.root.join("old"), "user.overlay.opaque", b"y", XattrFlags::empty());
    assert!(fixture.path_exists("old/a"));
    // The mode of a file too large to be read is a change too.
    fs::File::create(fixture.root.join("large")).unwrap().set_len(11 << 20).unwrap();
    fs::set_permissions(fixture.root.join("large"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::copy(fixture.root.join("large"), upper.join("large")).unwrap();
    fs::set_permissions(upper.join("large"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(fixture.changed_paths().contains(&"large".to_owned()));
    fs::set_permissions(upper.join("large"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!fixture.changed_paths().contains(&"large".to_owned()));
}

#[test]
fn r25_target_of_a_replaced_link_is_not_read() {
    let fixture = OverlayFixture::new();
    let outside = fixture.root.parent().unwrap().join("outside");
    fs::create_dir_all(outside.join("deep/er")).unwrap();
    fs::write(outside.join("deep/secret"), "s").unwrap();
    std::os::unix::fs::symlink(&outside, fixture.root.join("link")).unwrap();
    // A command replaced the link with a folder.
    let upper = fixture.rehearsal.upper.join("link");
    fs::create_dir_all(upper.join("deep")).unwrap();
    lsetxattr(&upper, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    fs::write(upper.join("deep/mine"), "m").unwrap();
    let paths: Vec<String> =
        fixture.rehearsal.overlay_paths().unwrap().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(paths, ["link", "link/deep", "link/deep/mine"]);
    assert_eq!(fixture.changed_paths(), ["link", "link/deep", "link/deep/mine"]);
    assert!(!fixture.path_exists("link/deep/secret"));
}
