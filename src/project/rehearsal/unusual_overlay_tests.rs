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
    play: Rehearsal,
}

impl OverlayFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join("old")).unwrap();
        fs::write(root.join("old/a"), "a").unwrap();
        let layer = folder.path().join("data/session");
        let play = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), layer);
        Self { _folder: folder, root, play }
    }

    fn write_path(&self, path: &str, text: &str) -> Result<(), Error> {
        let at = self.play.locate(path).unwrap();
        let before = self.play.read(&at).ok();
        self.play.write(&at, before.as_deref(), text.as_bytes())
    }

    fn path_exists(&self, path: &str) -> bool {
        self.play.exists(&self.play.locate(path).unwrap())
    }

    fn changed_paths(&self) -> Vec<String> {
        let changes = self.play.list_changes().unwrap();
        changes.iter().map(|change| change.path.display().to_string()).collect()
    }
}

#[test]
fn r30_failed_write_leaves_no_folder_and_restores_nothing_deleted() {
    let place = OverlayFixture::new();
    let long = "l".repeat(300);
    let error = place.write_path(&format!("new/deep/{long}"), "x").unwrap_err().to_string();
    assert!(error.contains("File name too long"), "{error}");
    assert_eq!(place.changed_paths(), [""; 0]);
    mknodat(CWD, place.play.upper.join("old"), rustix::fs::FileType::CharacterDevice, 0o600.into(), 0).unwrap();
    assert!(place.write_path(&format!("old/{long}"), "x").is_err());
    assert!(!place.path_exists("old") && !place.path_exists("old/a"));
    // Remains of an interrupted write are harmless.
    fs::create_dir_all(place.play.overlay_folder.join("unfinished/0/deep")).unwrap();
    place.write_path("old/b/c", "x").unwrap();
    assert!(place.path_exists("old/b/c") && !place.path_exists("old/a"));
    assert!(!place.play.overlay_folder.join("unfinished").exists());
    assert_eq!(place.changed_paths(), ["old/a", "old/b", "old/b/c"]);
}

#[test]
fn truncated_record_does_not_affect_other_records() {
    let place = OverlayFixture::new();
    place.write_path("one", "1").unwrap();
    let origins = place.play.overlay_folder.join("origins");
    let whole = fs::read(&origins).unwrap();
    fs::write(&origins, &whole[..whole.len() - 9]).unwrap();
    let again = Rehearsal::new(place.play.disk.clone(), place.play.overlay_folder.clone());
    assert_eq!(again.origin(Path::new("one")), None);
    let at = again.locate("two").unwrap();
    again.write(&at, None, b"2").unwrap();
    let again = Rehearsal::new(place.play.disk.clone(), place.play.overlay_folder.clone());
    assert!(again.origin(Path::new("two")).is_some());
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
    let place = OverlayFixture::new();
    create_deep_folders(&place.play.upper.join("deep"));
    let changes = place.play.list_changes().unwrap();
    let FileNode::Other(words) = &changes.last().unwrap().after else { panic!("{:?}", changes.last()) };
    assert!(words.starts_with("something unreadable (File name too long"), "{words}");
    remove_overlay(&place.play.overlay_folder).unwrap();
    assert!(!place.play.overlay_folder.exists());
    assert_eq!(place.changed_paths(), [""; 0]);
    assert_eq!(fs::read_dir(place.play.overlay_folder.parent().unwrap()).unwrap().count(), 0);
}

/// Removes an overlay whose lock was released. A process started by another test holds a copy of the lock file until it
/// executes its program.
fn remove_unlocked(layer: &Path) {
    let began = std::time::Instant::now();
    loop {
        match remove_overlay(layer) {
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy && began.elapsed().as_secs() < 60 => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            done => return done.unwrap(),
        }
    }
}

#[test]
fn r54_overlay_is_not_removed_while_in_use_and_then_removed_at_once() {
    let place = OverlayFixture::new();
    place.write_path("one", "1").unwrap();
    let held = lock_overlay(&place.play.overlay_folder).unwrap();
    let error = remove_overlay(&place.play.overlay_folder).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(error.to_string().starts_with("a command of this dry run is still running"), "{error}");
    assert!(place.path_exists("one"));
    drop(held);
    // Remains of another interrupted removal are removed as well.
    let beside = place.play.overlay_folder.parent().unwrap();
    fs::create_dir_all(beside.join(".aye-thrown-x/upper/shut")).unwrap();
    fs::set_permissions(beside.join(".aye-thrown-x/upper"), fs::Permissions::from_mode(0o000)).unwrap();
    remove_unlocked(&place.play.overlay_folder);
    remove_overlay(&place.play.overlay_folder).unwrap();
    assert!(!place.path_exists("one"));
    assert_eq!(fs::read_dir(beside).unwrap().count(), 0);
    // A new rehearsal starts from the project's current content.
    fs::write(place.root.join("one"), "mine").unwrap();
    place.write_path("one", "2").unwrap();
    assert!(!place.play.is_conflict(Path::new("one")));
    assert_eq!(place.play.origin(Path::new("one")).unwrap().digest, Some(crate::chat::Digest::of_bytes(b"mine")));
}

#[test]
fn waiting_for_a_removed_overlay_takes_the_lock_of_the_new_one() {
    let place = OverlayFixture::new();
    place.write_path("one", "1").unwrap();
    let layer = place.play.overlay_folder.clone();
    let held = lock_overlay(&layer).unwrap();
    let waits = std::thread::spawn({
        let layer = layer.clone();
        move || lock_overlay(&layer).unwrap()
    });
    let thrown = layer.with_extension("thrown");
    fs::rename(&layer, &thrown).unwrap();
    drop(held);
    let got = waits.join().unwrap();
    assert!(remove_overlay(&layer).is_err(), "the waiting thread holds the lock");
    drop(got);
    remove_unlocked(&layer);
}

#[test]
fn hard_links_holes_and_attributes_are_handled() {
    let place = OverlayFixture::new();
    let upper = &place.play.upper;
    fs::create_dir_all(upper).unwrap();
    fs::write(upper.join("one"), "1").unwrap();
    fs::hard_link(upper.join("one"), upper.join("two")).unwrap();
    fs::File::create(upper.join("hole")).unwrap().set_len(8 << 30).unwrap();
    fs::set_permissions(upper.join("hole"), fs::Permissions::from_mode(0o644)).unwrap();
    place.write_path("two", "2").unwrap();
    assert_eq!(fs::read(upper.join("one")).unwrap(), b"1", "a write never goes through a hard link");
    let described: Vec<String> =
        place.play.list_changes().unwrap().iter().map(|change| format!("{:?}", change.after)).collect();
    assert!(described[0].contains("a file of 8589934592 bytes, mode 644"), "{described:?}");
    // The attribute has no effect on a folder of the project itself.
    let _ = lsetxattr(place.root.join("old"), "user.overlay.opaque", b"y", XattrFlags::empty());
    assert!(place.path_exists("old/a"));
    // The mode of a file too large to be read is a change too.
    fs::File::create(place.root.join("large")).unwrap().set_len(11 << 20).unwrap();
    fs::set_permissions(place.root.join("large"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::copy(place.root.join("large"), upper.join("large")).unwrap();
    fs::set_permissions(upper.join("large"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(place.changed_paths().contains(&"large".to_owned()));
    fs::set_permissions(upper.join("large"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!place.changed_paths().contains(&"large".to_owned()));
}

#[test]
fn r25_target_of_a_replaced_link_is_not_read() {
    let place = OverlayFixture::new();
    let outside = place.root.parent().unwrap().join("outside");
    fs::create_dir_all(outside.join("deep/er")).unwrap();
    fs::write(outside.join("deep/secret"), "s").unwrap();
    std::os::unix::fs::symlink(&outside, place.root.join("link")).unwrap();
    // A command replaced the link with a folder.
    let upper = place.play.upper.join("link");
    fs::create_dir_all(upper.join("deep")).unwrap();
    lsetxattr(&upper, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    fs::write(upper.join("deep/mine"), "m").unwrap();
    let touched: Vec<String> =
        place.play.overlay_paths().unwrap().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(touched, ["link", "link/deep", "link/deep/mine"]);
    assert_eq!(place.changed_paths(), ["link", "link/deep", "link/deep/mine"]);
    assert!(!place.path_exists("link/deep/secret"));
}
