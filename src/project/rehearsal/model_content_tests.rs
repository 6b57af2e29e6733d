//! Tests: files that contain only content written in the dry run may be read, whatever their name.

use crate::project::disk::Disk;
use crate::project::rehearsal::Rehearsal;
use crate::project::{Reader, Writer};
use std::fs;
use std::sync::Arc;

#[test]
fn r30_file_without_live_content_belongs_to_the_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("project");
    fs::create_dir(&root).unwrap();
    for name in [".env", "edited.env", "replaced.env", "later.env"] {
        fs::write(root.join(name), "KEY=real\n").unwrap();
    }
    let rehearsal = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), base.join("layer"));
    let write = |name: &str, before: Option<&str>, after: &str| {
        let location = rehearsal.locate(name).unwrap();
        rehearsal.write(&location, before.map(str::as_bytes), after.as_bytes()).unwrap();
    };
    let replace = |name: &str, before: &str, after: &str| {
        let location = rehearsal.locate(name).unwrap();
        rehearsal.write_whole(&location, Some(before.as_bytes()), after.as_bytes()).unwrap();
    };
    write("new.env", None, "KEY=made\n");
    write("edited.env", Some("KEY=real\n"), "KEY=real\nB=1\n");
    replace("replaced.env", "KEY=real\n", "KEY=made\n");
    // Overwritten by `write`, whose text may contain parts of the live file.
    replace("later.env", "KEY=real\n", "KEY=made\n");
    write("later.env", Some("KEY=made\n"), "KEY=other\n");
    let upper = base.join("layer/upper");
    for (link, target) in [("a.env", ".env"), ("b.env", "../project/.env"), ("c.env", "/etc/passwd"), ("d", ".env")] {
        std::os::unix::fs::symlink(target, upper.join(link)).unwrap();
    }
    fs::write(upper.join("two.env"), "x").unwrap();
    fs::hard_link(upper.join("two.env"), upper.join("three.env")).unwrap();
    fs::create_dir(upper.join("folder.env")).unwrap();
    for (name, expected) in [
        ("new.env", true),
        ("replaced.env", true),
        (".env", false),
        ("edited.env", false),
        ("later.env", false),
        ("a.env", false),
        ("b.env", false),
        ("c.env", false),
        ("d", false),
        ("two.env", false),
        ("three.env", false),
        ("folder.env", false),
        ("missing.env", false),
        ("/etc/passwd", false),
    ] {
        assert_eq!(rehearsal.has_only_rehearsed_content(&rehearsal.locate(name).unwrap()), expected, "{name}");
    }
    // After reopening, only files that the project does not have are known.
    let reopened = Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), base.join("layer"));
    assert!(reopened.has_only_rehearsed_content(&reopened.locate("new.env").unwrap()));
    assert!(!reopened.has_only_rehearsed_content(&reopened.locate("replaced.env").unwrap()));
    // Files of the live project never count.
    let disk = Disk::new(&root).unwrap();
    assert!(!disk.has_only_rehearsed_content(&disk.locate(".env").unwrap()));
}

#[test]
fn r30_after_a_live_view_only_whole_writes_belong_to_the_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, overlay) = (base.join("project"), base.join("layer"));
    fs::create_dir(&root).unwrap();
    let open = || Rehearsal::new(Arc::new(Disk::new(&root).unwrap()), overlay.clone());
    let rehearsal = open();
    let is_own =
        |rehearsal: &Rehearsal, name: &str| rehearsal.has_only_rehearsed_content(&rehearsal.locate(name).unwrap());
    let write = |name: &str| {
        rehearsal.write_whole(&rehearsal.locate(name).unwrap(), None, b"KEY=made\n").unwrap();
    };
    write("before.env");
    rehearsal.record_live_view().unwrap();
    fs::write(overlay.join("upper/copy.env"), "KEY=real\n").unwrap();
    write("after.env");
    write("changed.env");
    fs::write(overlay.join("upper/changed.env"), "KEY=real\n").unwrap();
    for (name, expected) in [("before.env", true), ("after.env", true), ("copy.env", false), ("changed.env", false)] {
        assert_eq!(is_own(&rehearsal, name), expected, "{name}");
    }
    assert!(!is_own(&open(), "copy.env"), "opened again");
    // If the record is missing, it is not known that a command saw the whole disk (`View::Live`). An unreadable record
    // counts as present.
    fs::remove_file(overlay.join("live-view")).unwrap();
    assert!(is_own(&open(), "copy.env"));
    std::os::unix::fs::symlink("live-view", overlay.join("live-view")).unwrap();
    assert!(!is_own(&open(), "copy.env") && rehearsal.record_live_view().is_err());
}
