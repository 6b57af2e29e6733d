//! Folders in folders cost what they are, not the product of their depths; and a look that is remembered between two
//! commands is the look that would be taken anew.

use super::*;
use crate::chat::altered::tree;
use crate::project::altered;
use crate::project::disk::Disk;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const DEPTH: usize = 500;

fn play(place: &tempfile::TempDir) -> Rehearsal {
    let root = place.path().canonicalize().unwrap().join("p");
    fs::create_dir_all(&root).unwrap();
    Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), place.path().join("l"))
}

/// Makes folders in each other, each with a file and of this mode.
fn nest(top: &Path, mode: u32) {
    let mut folder = top.to_owned();
    for _ in 0..DEPTH {
        folder.push("d");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("f"), format!("{mode}")).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn r55_nested_folders_are_noted_and_listed() {
    let place = tempfile::tempdir().unwrap();
    let play = play(&place);
    for is_real in [false, true] {
        if is_real {
            nest(play.root(), 0o750);
        } else {
            play.begin().unwrap();
            nest(&play.upper, 0o755);
        }
        // What costs the product of the depths takes minutes here.
        play.note_origins().unwrap();
        let told = altered::all(&play).unwrap();
        assert_eq!(tree(&told).len(), 2 * DEPTH);
        if !is_real {
            let changed = play.changed_between(&Marks::default(), &play.marks());
            assert_eq!(changed, [Path::new("d")], "of a folder that is new it is told alone");
        }
    }
}

#[test]
fn r30_a_remembered_look_is_brought_up_to_date_by_what_file_tools_wrote() {
    let place = tempfile::tempdir().unwrap();
    let play = play(&place);
    fs::create_dir_all(play.root().join("gone/in")).unwrap();
    fs::write(play.root().join("gone/in/a"), "a").unwrap();
    play.begin().unwrap();
    let whiteout = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, play.upper.join("gone"), whiteout, 0o600.into(), 0).unwrap();
    let mut marks = play.marks();
    for (path, text) in [("new/deep/file", "1"), ("gone/in/b", "2"), ("top", "3"), ("top", "4")] {
        let at = play.locate(path).unwrap();
        let before = play.read(&at).ok();
        play.write(&at, before.as_deref(), text.as_bytes()).unwrap();
    }
    assert_ne!(marks, play.marks());
    play.refresh_marks(&mut marks, &play.take_written());
    assert_eq!(marks, play.marks());
    assert_eq!(play.take_written(), [""; 0].map(PathBuf::from));
}

#[test]
fn r30_what_a_command_changed_is_noted_as_well_as_all_is() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (play(&place), play(&place));
    for path in ["kept/a", "kept/sub/b", "gone/c", "gone/deep/d", "hidden/e", "hidden/sub/f"] {
        let path = one.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    one.begin().unwrap();
    fs::create_dir(one.upper.join("hidden")).unwrap();
    fs::create_dir(one.upper.join("hidden/sub")).unwrap();
    one.note_origins().unwrap();
    let before = one.marks();
    let whiteout = |path: &str| {
        let kind = rustix::fs::FileType::CharacterDevice;
        rustix::fs::mknodat(rustix::fs::CWD, one.upper.join(path), kind, 0o600.into(), 0).unwrap();
    };
    fs::create_dir(one.upper.join("kept")).unwrap();
    fs::write(one.upper.join("kept/a"), "y").unwrap();
    whiteout("kept/sub");
    whiteout("gone");
    // The folder in it was made again too, with the same mode.
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(one.upper.join("hidden"), "user.overlay.opaque", b"y", flags).unwrap();
    one.note_changed(&before, &one.marks()).unwrap();
    // Another that opens the same layer knows what was written down.
    let all = other.said_of().unwrap();
    assert!(all.contains(Path::new("hidden/sub/f")) && all.contains(Path::new("gone/deep/d")), "{all:?}");
    for path in all {
        assert!(other.origin(&path).is_some(), "{} is not noted", path.display());
    }
}
