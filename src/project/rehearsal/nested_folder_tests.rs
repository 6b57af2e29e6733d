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
}

fn open_rehearsal(place: &tempfile::TempDir) -> Rehearsal {
    let root = place.path().canonicalize().unwrap().join("p");
    fs::create_dir_all(&root).unwrap();
    Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), place.path().join("l"))
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
    let place = tempfile::tempdir().unwrap();
    let play = open_rehearsal(&place);
    for is_real in [false, true] {
        if is_real {
            create_nested(play.root(), 0o750);
        } else {
            play.prepare_overlay().unwrap();
            create_pending(play.root(), &play.overlay_folder).unwrap();
            create_nested(&play.overlay_folder.join(PENDING_FOLDER), 0o755);
            play.prepare_overlay().unwrap();
            assert_eq!(play.take_changed(), [Path::new("d")], "a new folder is listed without its content");
        }
        // An implementation with cost proportional to the product of the depths takes minutes here.
        play.record_origins().unwrap();
        let described = change_summary::list_changes(&play).unwrap();
        assert_eq!(build_tree(&described).len(), 2 * DEPTH);
    }
}

#[test]
fn r30_changes_of_one_command_are_recorded_like_all_changes() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (open_rehearsal(&place), open_rehearsal(&place));
    for path in ["kept/a", "kept/sub/b", "gone/c", "gone/deep/d", "hidden/e", "hidden/sub/f"] {
        let path = one.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    one.prepare_overlay().unwrap();
    fs::create_dir(one.upper.join("hidden")).unwrap();
    fs::create_dir(one.upper.join("hidden/sub")).unwrap();
    one.record_origins().unwrap();
    create_pending(one.root(), &one.overlay_folder).unwrap();
    let fresh = one.overlay_folder.join(PENDING_FOLDER);
    let whiteout = |path: &str| {
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, fresh.join(path), kind, 0o600.into(), 0).unwrap();
    };
    fs::create_dir(fresh.join("kept")).unwrap();
    fs::write(fresh.join("kept/a"), "y").unwrap();
    whiteout("kept/sub");
    whiteout("gone");
    // The folder was created again with the same mode.
    fs::create_dir(fresh.join("hidden")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(fresh.join("hidden"), "user.overlay.opaque", b"y", flags).unwrap();
    fs::create_dir(fresh.join("hidden/sub")).unwrap();
    one.prepare_overlay().unwrap();
    assert!(!fresh.exists() && !one.overlay_folder.join(MERGING_FOLDER).exists());
    // Another process that opens the same overlay reads the recorded state.
    let all = other.collect_overlay_paths().unwrap();
    assert!(all.contains(Path::new("hidden/sub/f")) && all.contains(Path::new("gone/deep/d")), "{all:?}");
    for path in all {
        assert!(other.origin(&path).is_some(), "{} is not noted", path.display());
    }
    assert_eq!(other.list_names(&other.locate("hidden/sub").unwrap()).unwrap(), [""; 0]);
}

#[test]
fn r30_only_the_changed_part_of_a_large_overlay_is_read() {
    let place = tempfile::tempdir().unwrap();
    let play = open_rehearsal(&place);
    let run = |change: &dyn Fn(&Path)| {
        create_pending(play.root(), &play.overlay_folder).unwrap();
        change(&play.overlay_folder.join(PENDING_FOLDER));
        LISTED.set(0);
        play.prepare_overlay().unwrap();
        LISTED.get()
    };
    play.prepare_overlay().unwrap();
    let many = |fresh: &Path| (0..300).for_each(|n| fs::create_dir_all(fresh.join(format!("d{n}/in"))).unwrap());
    assert!(run(&many) > 300);
    let none = run(&|_| {});
    let one = run(&|fresh| {
        fs::create_dir(fresh.join("d7")).unwrap();
        fs::write(fresh.join("d7/new"), "").unwrap();
    });
    // One listing for the report and one for the record, per folder.
    assert_eq!((none, one), (2, 4));
    assert_eq!(play.take_changed().last().unwrap(), Path::new("d7/new"));
    // A merged overlay is not listed at all.
    LISTED.set(0);
    play.merge_pending().unwrap();
    assert_eq!(LISTED.get(), 0);
}

#[test]
fn r30_changes_of_a_command_are_exactly_the_created_deleted_and_modified_paths() {
    let place = tempfile::tempdir().unwrap();
    let play = open_rehearsal(&place);
    fs::create_dir(play.root().join("src")).unwrap();
    fs::write(play.root().join("src/a"), "one").unwrap();
    play.prepare_overlay().unwrap();
    let changed = |change: &dyn Fn(&Path)| -> Vec<String> {
        create_pending(play.root(), &play.overlay_folder).unwrap();
        change(&play.overlay_folder.join(PENDING_FOLDER));
        play.prepare_overlay().unwrap();
        play.take_changed().into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    };
    let whiteout = |path: &Path| {
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, 0o600.into(), 0).unwrap();
    };
    assert_eq!(changed(&|_| ()), [""; 0]);
    // The overlay has the folder only because of the file in it.
    let copied = |text: &'static str| {
        move |fresh: &Path| {
            fs::create_dir(fresh.join("src")).unwrap();
            fs::write(fresh.join("src/a"), text).unwrap();
        }
    };
    assert_eq!(changed(&copied("two")), ["src/a"]);
    assert_eq!(changed(&copied("ten")), ["src/a"]);
    let made = |fresh: &Path| {
        fs::create_dir_all(fresh.join("new/deep")).unwrap();
        fs::write(fresh.join("new/deep/x"), "").unwrap();
        fs::write(fresh.join("new.txt"), "").unwrap();
    };
    assert_eq!(changed(&made), ["new", "new.txt"]);
    let inside = |fresh: &Path| {
        fs::create_dir(fresh.join("new")).unwrap();
        fs::write(fresh.join("new/y"), "").unwrap();
        let same = play.upper.join("new").metadata().unwrap().permissions();
        fs::set_permissions(fresh.join("new"), same).unwrap();
    };
    assert_eq!(changed(&inside), ["new/y"]);
    let mode = |fresh: &Path| {
        fs::create_dir(fresh.join("new")).unwrap();
        fs::set_permissions(fresh.join("new"), fs::Permissions::from_mode(0o711)).unwrap();
    };
    assert_eq!(changed(&mode), ["new"]);
    let goes = |fresh: &Path| {
        fs::create_dir(fresh.join("src")).unwrap();
        whiteout(&fresh.join("src/a"));
        whiteout(&fresh.join("new"));
    };
    assert_eq!(changed(&goes), ["new", "src/a"]);
    assert!(!play.upper.join("new").exists() && play.upper.join("src/a").symlink_metadata().is_ok());
    let many = |fresh: &Path| (0..200).for_each(|n| fs::write(fresh.join(format!("m{n:03}")), "").unwrap());
    assert_eq!(changed(&many).len(), crate::chat::MAX_CHANGED_PATHS);
}
