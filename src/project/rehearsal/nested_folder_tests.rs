//! Tests: the cost of nested folders is linear, and recording one command's changes gives the same result as recording
//! all.

use super::*;
use crate::chat::dry_run_summary::build_tree;
use crate::project::change_summary;
use crate::project::disk::Disk;
use pending_changes::MERGING_FOLDER;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const DEPTH: usize = 500;

thread_local! {
    /// Number of overlay folders that were listed.
    pub static LISTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Number of paths whose entry was looked up in an overlay.
    pub static LOOKED_UP: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn open_rehearsal(temporary: &tempfile::TempDir) -> Rehearsal {
    let root = temporary.path().canonicalize().unwrap().join("p");
    fs::create_dir_all(&root).unwrap();
    Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), temporary.path().join("l"))
}

/// Creates nested folders with this mode, each with a file.
fn create_nested(top: &Path, mode: u32) {
    let mut folder = top.to_owned();
    for _ in 0..DEPTH {
        folder.push("d");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("f"), format!("{mode}")).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn r55_nested_folders_are_recorded_and_listed() {
    let temporary = tempfile::tempdir().unwrap();
    let rehearsal = open_rehearsal(&temporary);
    for in_project in [false, true] {
        if in_project {
            create_nested(rehearsal.root(), 0o750);
        } else {
            rehearsal.prepare_overlay().unwrap();
            create_pending(rehearsal.root(), &rehearsal.overlay_folder).unwrap();
            create_nested(&rehearsal.overlay_folder.join(PENDING_FOLDER), 0o755);
            rehearsal.prepare_overlay().unwrap();
            assert_eq!(rehearsal.take_changed(), [Path::new("d")], "a new folder is listed without its content");
        }
        LOOKED_UP.set(0);
        rehearsal.record_origins().unwrap();
        let described = change_summary::list_changes(&rehearsal).unwrap();
        assert_eq!(build_tree(&described).len(), 2 * DEPTH);
        // Looking up each of the nested paths from the root of the overlay would take about DEPTH * DEPTH steps.
        assert!(LOOKED_UP.get() < DEPTH * DEPTH / 10, "{} paths were looked up", LOOKED_UP.get());
    }
}

#[test]
fn r30_changes_of_one_command_are_recorded_like_all_changes() {
    let temporary = tempfile::tempdir().unwrap();
    let (first, second) = (open_rehearsal(&temporary), open_rehearsal(&temporary));
    for path in ["kept/a", "kept/sub/b", "gone/c", "gone/deep/d", "hidden/e", "hidden/sub/f"] {
        let path = first.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    first.prepare_overlay().unwrap();
    fs::create_dir(first.upper.join("hidden")).unwrap();
    fs::create_dir(first.upper.join("hidden/sub")).unwrap();
    first.record_origins().unwrap();
    create_pending(first.root(), &first.overlay_folder).unwrap();
    let changes = first.overlay_folder.join(PENDING_FOLDER);
    let create_whiteout = |path: &str| {
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, changes.join(path), kind, 0o600.into(), 0).unwrap();
    };
    fs::create_dir(changes.join("kept")).unwrap();
    fs::write(changes.join("kept/a"), "y").unwrap();
    create_whiteout("kept/sub");
    create_whiteout("gone");
    // The folder was created again with the same mode.
    fs::create_dir(changes.join("hidden")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(changes.join("hidden"), "user.overlay.opaque", b"y", flags).unwrap();
    fs::create_dir(changes.join("hidden/sub")).unwrap();
    first.prepare_overlay().unwrap();
    assert!(!changes.exists() && !first.overlay_folder.join(MERGING_FOLDER).exists());
    // Another process that opens the same overlay reads the recorded state.
    let paths = second.collect_overlay_paths().unwrap();
    assert!(paths.contains(Path::new("hidden/sub/f")) && paths.contains(Path::new("gone/deep/d")), "{paths:?}");
    for path in paths {
        assert!(second.origin(&path).is_some(), "{} is not recorded", path.display());
    }
    assert_eq!(second.list_names(&second.locate("hidden/sub").unwrap()).unwrap(), [""; 0]);
}

#[test]
fn r30_only_the_changed_part_of_a_large_overlay_is_read() {
    let temporary = tempfile::tempdir().unwrap();
    let rehearsal = open_rehearsal(&temporary);
    let count_listed = |change: &dyn Fn(&Path)| {
        create_pending(rehearsal.root(), &rehearsal.overlay_folder).unwrap();
        change(&rehearsal.overlay_folder.join(PENDING_FOLDER));
        LISTED.set(0);
        rehearsal.prepare_overlay().unwrap();
        LISTED.get()
    };
    rehearsal.prepare_overlay().unwrap();
    let many = |changes: &Path| (0..300).for_each(|n| fs::create_dir_all(changes.join(format!("d{n}/in"))).unwrap());
    assert!(count_listed(&many) > 300);
    let none_listed = count_listed(&|_| {});
    let one_listed = count_listed(&|changes| {
        fs::create_dir(changes.join("d7")).unwrap();
        fs::write(changes.join("d7/new"), "").unwrap();
    });
    // One listing for the report and one for the record, per folder.
    assert_eq!((none_listed, one_listed), (2, 4));
    assert_eq!(rehearsal.take_changed().last().unwrap(), Path::new("d7/new"));
    // A merged overlay is not listed at all.
    LISTED.set(0);
    rehearsal.merge_pending().unwrap();
    assert_eq!(LISTED.get(), 0);
}

#[test]
fn r30_changes_of_a_command_are_exactly_the_created_deleted_and_modified_paths() {
    let temporary = tempfile::tempdir().unwrap();
    let rehearsal = open_rehearsal(&temporary);
    fs::create_dir(rehearsal.root().join("src")).unwrap();
    fs::write(rehearsal.root().join("src/a"), "one").unwrap();
    rehearsal.prepare_overlay().unwrap();
    let changes_of = |change: &dyn Fn(&Path)| -> Vec<String> {
        create_pending(rehearsal.root(), &rehearsal.overlay_folder).unwrap();
        change(&rehearsal.overlay_folder.join(PENDING_FOLDER));
        rehearsal.prepare_overlay().unwrap();
        rehearsal.take_changed().into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    };
    let create_whiteout = |path: &Path| {
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, 0o600.into(), 0).unwrap();
    };
    assert_eq!(changes_of(&|_| ()), [""; 0]);
    // The overlay has the folder only because of the file in it.
    let copy_up = |text: &'static str| {
        move |changes: &Path| {
            fs::create_dir(changes.join("src")).unwrap();
            fs::write(changes.join("src/a"), text).unwrap();
        }
    };
    assert_eq!(changes_of(&copy_up("two")), ["src/a"]);
    assert_eq!(changes_of(&copy_up("ten")), ["src/a"]);
    let create = |changes: &Path| {
        fs::create_dir_all(changes.join("new/deep")).unwrap();
        fs::write(changes.join("new/deep/x"), "").unwrap();
        fs::write(changes.join("new.txt"), "").unwrap();
    };
    assert_eq!(changes_of(&create), ["new", "new.txt"]);
    let add_inside = |changes: &Path| {
        fs::create_dir(changes.join("new")).unwrap();
        fs::write(changes.join("new/y"), "").unwrap();
        let permissions = rehearsal.upper.join("new").metadata().unwrap().permissions();
        fs::set_permissions(changes.join("new"), permissions).unwrap();
    };
    assert_eq!(changes_of(&add_inside), ["new/y"]);
    let change_mode = |changes: &Path| {
        fs::create_dir(changes.join("new")).unwrap();
        fs::set_permissions(changes.join("new"), fs::Permissions::from_mode(0o711)).unwrap();
    };
    assert_eq!(changes_of(&change_mode), ["new"]);
    let delete = |changes: &Path| {
        fs::create_dir(changes.join("src")).unwrap();
        create_whiteout(&changes.join("src/a"));
        create_whiteout(&changes.join("new"));
    };
    assert_eq!(changes_of(&delete), ["new", "src/a"]);
    assert!(!rehearsal.upper.join("new").exists() && rehearsal.upper.join("src/a").symlink_metadata().is_ok());
    let many = |changes: &Path| (0..200).for_each(|n| fs::write(changes.join(format!("m{n:03}")), "").unwrap());
    assert_eq!(changes_of(&many).len(), crate::chat::MAX_CHANGED_PATHS);
}

#[test]
fn discarded_changes_are_dropped_or_still_complete() {
    let temporary = tempfile::tempdir().unwrap();
    let rehearsal = open_rehearsal(&temporary);
    rehearsal.prepare_overlay().unwrap();
    create_pending(rehearsal.root(), &rehearsal.overlay_folder).unwrap();
    let pending = rehearsal.overlay_folder.join(PENDING_FOLDER);
    create_nested(&pending, 0o755);
    // A file at this place stands for a disk on which the changes cannot be removed.
    let obstacle = rehearsal.overlay_folder.join("discarded");
    fs::write(&obstacle, "").unwrap();
    assert!(rehearsal.discard_pending().is_err());
    assert!(pending.join("d/d/f").exists());
    fs::remove_file(&obstacle).unwrap();
    rehearsal.discard_pending().unwrap();
    rehearsal.prepare_overlay().unwrap();
    assert!(!pending.exists() && !obstacle.exists());
    assert!(!rehearsal.collect_overlay_paths().unwrap().contains(Path::new("d")));
    // Without the whole overlay there is nothing to discard, and it is not created again.
    remove_overlay(&rehearsal.overlay_folder).unwrap();
    rehearsal.discard_pending().unwrap();
    assert!(!rehearsal.overlay_folder.exists());
}
