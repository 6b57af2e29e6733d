//! Tests: rehearsed changes of every kind are applied, and nothing that changed since is touched.

use super::*;
use crate::project::checkpoints::CallRecorder;
use crate::project::disk::Disk;
use crate::project::rehearsal::read_node;
use crate::project::{Writer, change_summary, unprivileged};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

struct ApplyFixture {
    temporary: tempfile::TempDir,
}

impl ApplyFixture {
    fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(folder: &Path) -> Self {
        let temporary = tempfile::tempdir_in(folder).unwrap();
        fs::create_dir(temporary.path().join("project")).unwrap();
        Self { temporary }
    }

    fn root(&self) -> PathBuf {
        self.temporary.path().canonicalize().unwrap().join("project")
    }

    fn upper(&self) -> PathBuf {
        let upper = self.temporary.path().join("layer/upper");
        fs::create_dir_all(&upper).unwrap();
        upper
    }

    fn open_rehearsal(&self) -> Rehearsal {
        let rehearsal = Rehearsal::new(Arc::new(Disk::new(&self.root()).unwrap()), self.temporary.path().join("layer"));
        rehearsal.record_origins().unwrap();
        rehearsal
    }

    /// Applies everything in the offered order: deletions first, in reverse order. Returns the errors.
    fn apply_all(&self, rehearsal: &Rehearsal) -> Vec<String> {
        let changes = rehearsal.list_changes().unwrap();
        let (deletions, others): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| change.after == FileNode::Nothing);
        let ordered = deletions.into_iter().rev().chain(others);
        ordered
            .filter_map(|change| rehearsal.apply_change(&change, &CallRecorder::disabled()).err())
            .map(|error| error.to_string())
            .collect()
    }
}

/// Creates a whiteout: overlayfs's mark of a deleted path. It is a device that an unprivileged user may create.
fn create_whiteout(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0).unwrap();
}

#[test]
fn every_kind_of_change_is_applied_with_its_mode_and_any_name() {
    let fixture = ApplyFixture::new();
    let (root, upper) = (fixture.root(), fixture.upper());
    let odd_name = OsStr::from_bytes(b"odd \xff\nname");
    fs::write(root.join("text"), "one\n").unwrap();
    fs::write(root.join("mode"), "same\n").unwrap();
    fs::set_permissions(root.join("mode"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(root.join("gone"), "x").unwrap();
    fs::write(root.join("to-link"), "x").unwrap();
    symlink("a", root.join("link")).unwrap();
    fs::create_dir_all(root.join("old/deep")).unwrap();
    fs::write(root.join("old/deep/x"), "x").unwrap();

    fs::write(upper.join("text"), "two\r\n").unwrap();
    fs::write(upper.join("mode"), "same\n").unwrap();
    fs::set_permissions(upper.join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    create_whiteout(&upper.join("gone"));
    create_whiteout(&upper.join("old"));
    symlink("elsewhere", upper.join("to-link")).unwrap();
    symlink("b", upper.join("link")).unwrap();
    fs::create_dir(upper.join("new")).unwrap();
    fs::set_permissions(upper.join("new"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(upper.join("new/binary"), b"a\0\xff").unwrap();
    fs::set_permissions(upper.join("new/binary"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("binary", upper.join("new/l")).unwrap();
    fs::write(upper.join(odd_name), "odd\n").unwrap();

    let rehearsal = fixture.open_rehearsal();
    let changes_shown = change_summary::list_changes(&rehearsal).unwrap();
    assert!(changes_shown.iter().all(|change| !change.has_conflict), "{changes_shown:?}");
    let notes =
        |path: &str| changes_shown.iter().find(|change| change.path == Path::new(path)).unwrap().notes.join("; ");
    assert_eq!(notes("mode"), "mode 644 → 755");
    assert_eq!(notes("link"), "a link to a becomes a link to b");
    assert_eq!(notes("to-link"), "a file of 1 byte becomes a link to elsewhere");
    assert_eq!(notes("new/binary"), "a file of 3 bytes of binary data");
    assert_eq!(fixture.apply_all(&rehearsal), Vec::<String>::new());
    assert_eq!(rehearsal.list_changes().unwrap(), []);
    assert_eq!(fs::read(root.join("text")).unwrap(), b"two\r\n");
    assert_eq!(root.join("mode").metadata().unwrap().mode() & 0o777, 0o755);
    assert!(!root.join("gone").exists() && !root.join("old").exists());
    assert_eq!(fs::read_link(root.join("link")).unwrap(), Path::new("b"));
    assert_eq!(fs::read_link(root.join("to-link")).unwrap(), Path::new("elsewhere"));
    assert_eq!(root.join("new").metadata().unwrap().mode() & 0o777, 0o750);
    assert_eq!(root.join("new/binary").metadata().unwrap().mode() & 0o777, 0o640);
    assert_eq!(fs::read(root.join("new/binary")).unwrap(), b"a\0\xff");
    assert_eq!(fs::read(root.join(odd_name)).unwrap(), b"odd\n");
    let leftovers = fs::read_dir(&root)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes().starts_with(b".aye-"));
    assert_eq!(leftovers.count(), 0);
}

#[test]
fn live_changes_are_conflicts_and_never_overwritten() {
    let fixture = ApplyFixture::new();
    let root = fixture.root();
    for name in ["text", "deleted", "goes"] {
        fs::write(root.join(name), "one\n").unwrap();
    }
    let rehearsal = fixture.open_rehearsal();
    for (path, before) in [("text", Some("one\n")), ("deleted", Some("one\n")), ("new", None)] {
        let location = rehearsal.locate(path).unwrap();
        rehearsal.write(&location, before.map(str::as_bytes), b"two\n").unwrap();
    }
    create_whiteout(&fixture.upper().join("goes"));
    rehearsal.record_origins().unwrap();
    let planned = rehearsal.list_changes().unwrap();
    assert_eq!(planned.len(), 4);
    fs::write(root.join("text"), "mine\n").unwrap();
    fs::remove_file(root.join("deleted")).unwrap();
    fs::write(root.join("new"), "mine\n").unwrap();
    fs::write(root.join("goes"), "mine\n").unwrap();
    assert!(change_summary::list_changes(&rehearsal).unwrap().iter().all(|change| change.has_conflict));
    for change in planned {
        assert!(
            matches!(rehearsal.apply_change(&change, &CallRecorder::disabled()), Err(Error::Changed(_))),
            "{change:?}"
        );
    }
    let text = |name: &str| fs::read_to_string(root.join(name)).ok();
    assert_eq!([text("text"), text("new"), text("goes")], [(); 3].map(|()| Some("mine\n".to_owned())));
    assert_eq!(text("deleted"), None);
}

#[test]
fn partial_and_interrupted_application_is_no_conflict() {
    let fixture = ApplyFixture::new();
    let root = fixture.root();
    fs::write(root.join("a"), "1\n2\n").unwrap();
    let rehearsal = fixture.open_rehearsal();
    let location = rehearsal.locate("a").unwrap();
    rehearsal.write(&location, Some(b"1\n2\n"), b"one\ntwo\n").unwrap();
    let mut change = rehearsal.change_at(Path::new("a")).unwrap().unwrap();
    let FileNode::File { mode, .. } = change.after else { panic!("a file") };
    change.after = FileNode::File { bytes: b"one\n2\n".to_vec(), mode };
    rehearsal.apply_change(&change, &CallRecorder::disabled()).unwrap();
    assert_eq!(fs::read(root.join("a")).unwrap(), b"one\n2\n");
    assert!(!rehearsal.is_conflict(Path::new("a")));
    // Applying the rest was interrupted: it was recorded, but the file was not changed.
    rehearsal.record_applied(Path::new("a"), &FileNode::File { bytes: b"one\ntwo\n".to_vec(), mode }).unwrap();
    assert!(!rehearsal.is_conflict(Path::new("a")));
    let remaining = rehearsal.change_at(Path::new("a")).unwrap().unwrap();
    rehearsal.apply_change(&remaining, &CallRecorder::disabled()).unwrap();
    assert_eq!(rehearsal.list_changes().unwrap(), []);
    // A truncated record does not affect the following one.
    fs::OpenOptions::new()
        .append(true)
        .open(fixture.temporary.path().join("layer").join(APPLIED_FILE))
        .unwrap()
        .write_all(b"{\"pa")
        .unwrap();
    fs::write(root.join("a"), "x\n").unwrap();
    assert!(rehearsal.is_conflict(Path::new("a")));
    rehearsal.record_applied(Path::new("a"), &FileNode::File { bytes: b"x\n".to_vec(), mode }).unwrap();
    assert!(!rehearsal.is_conflict(Path::new("a")));
}

#[test]
fn no_parent_link_is_followed_and_failure_leaves_nothing() {
    let fixture = ApplyFixture::new();
    let (root, outside) = (fixture.root(), fixture.temporary.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    let rehearsal = fixture.open_rehearsal();
    rehearsal.write(&rehearsal.locate("d/x").unwrap(), None, b"x").unwrap();
    let change = rehearsal.change_at(Path::new("d/x")).unwrap().unwrap();
    fs::remove_dir(root.join("d")).unwrap();
    symlink(&outside, root.join("d")).unwrap();
    assert!(rehearsal.apply_change(&change, &CallRecorder::disabled()).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!rehearsal.locate_live(Path::new("d/x")).unwrap().is_inside);
    // A folder that contains an unrehearsed file is not replaced by a file.
    fs::create_dir(root.join("full")).unwrap();
    fs::write(root.join("full/mine"), "x").unwrap();
    let file = FileNode::File { bytes: b"x".to_vec(), mode: 0o644 };
    let before = read_node(&root.join("full"));
    let change = Change { path: "full".into(), before, after: file };
    assert!(rehearsal.apply_change(&change, &CallRecorder::disabled()).is_err());
    assert_eq!(fs::read(root.join("full/mine")).unwrap(), b"x");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
}

#[test]
fn r30_read_only_file_gets_the_content_and_mode_of_the_rehearsal() {
    unprivileged::run_unprivileged(|folder| {
        let fixture = ApplyFixture::new_in(folder);
        let (root, upper) = (fixture.root(), fixture.upper());
        let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        // The results of `chmod u+w` and `>>`, of `sed -i`, which replaces the file, and of `rm`.
        for (name, after) in [("opened", Some(0o644)), ("stays shut", Some(0o444)), ("goes", None)] {
            fs::write(root.join(name), "one\n").unwrap();
            set_mode(&root.join(name), 0o444);
            match after {
                Some(after) => {
                    fs::write(upper.join(name), "one\ntwo\n").unwrap();
                    set_mode(&upper.join(name), after);
                }
                None => create_whiteout(&upper.join(name)),
            }
        }
        let rehearsal = fixture.open_rehearsal();
        let changes_shown = change_summary::list_changes(&rehearsal).unwrap();
        assert_eq!(
            (changes_shown.len(), changes_shown.iter().any(|change| change.has_conflict)),
            (3, false),
            "{changes_shown:?}"
        );
        assert_eq!(fixture.apply_all(&rehearsal), Vec::<String>::new());
        for (name, after) in [("opened", 0o644), ("stays shut", 0o444)] {
            assert_eq!(fs::read(root.join(name)).unwrap(), b"one\ntwo\n", "{name}");
            assert_eq!(root.join(name).metadata().unwrap().mode() & 0o777, after, "{name}");
        }
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
        assert_eq!(rehearsal.list_changes().unwrap(), []);
        // A file tool still refuses to write a read-only file.
        let location = rehearsal.locate("stays shut").unwrap();
        assert!(rehearsal.write(&location, Some(b"one\ntwo\n"), b"three\n").is_err());
        assert!(Disk::new(&root).unwrap().write(&location, Some(b"one\ntwo\n"), b"three\n").is_err());
    });
}

#[test]
fn remains_of_an_interruption_are_removed_by_the_next_change() {
    use crate::project::atomic_file::temporary_names::{EXCHANGE_PREFIX, NEW_PREFIX};
    let old = ulid::Ulid::from_datetime(std::time::SystemTime::now() - std::time::Duration::from_secs(3600));
    let hash_of = |text: &str| crate::chat::Digest::of_bytes(text.as_bytes()).short_hex().to_owned();
    for (before, after) in [(Some("one"), Some("two")), (Some("one"), None), (None, Some("one"))] {
        let fixture = ApplyFixture::new();
        let root = fixture.root();
        if let Some(text) = before {
            fs::write(root.join("a"), text).unwrap();
        }
        fs::write(root.join(format!("{NEW_PREFIX}{old}")), "half").unwrap();
        // The name holds the hash of the content that may be deleted. The hash in the name of the second entry is not
        // that of its content.
        fs::write(root.join(format!("{EXCHANGE_PREFIX}{old}-{}", hash_of("a secret"))), "a secret").unwrap();
        let other_entry = root.join(format!("{EXCHANGE_PREFIX}{old}-{}", hash_of("another")));
        fs::write(&other_entry, "theirs").unwrap();
        let node_with = |text: Option<&str>| {
            text.map_or(FileNode::Nothing, |text| FileNode::File { bytes: text.into(), mode: 0o600 })
        };
        let before = if before.is_some() { read_node(&root.join("a")) } else { FileNode::Nothing };
        live_change::write_live_change(&root, &Change { path: "a".into(), before, after: node_with(after) }).unwrap();
        assert_eq!(fs::read_to_string(root.join("a")).ok().as_deref(), after);
        assert!(other_entry.exists());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1 + usize::from(after.is_some()));
    }
}

#[test]
fn a_change_that_fails_is_not_recorded_as_applied() {
    let fixture = ApplyFixture::new();
    let rehearsal = fixture.open_rehearsal();
    fixture.upper();
    let file = FileNode::File { bytes: b"x".to_vec(), mode: 0o644 };
    let apply = |after: FileNode| {
        rehearsal
            .apply_change(&Change { path: "a".into(), before: FileNode::Nothing, after }, &CallRecorder::disabled())
    };
    let pipe = FileNode::Other("a pipe".to_owned());
    assert!(matches!(apply(pipe.clone()), Err(Error::Invalid(_))));
    assert!(!rehearsal.was_applied(Path::new("a")));
    apply(file.clone()).unwrap();
    let change = Change { path: "a".into(), before: file.clone(), after: pipe };
    assert!(rehearsal.apply_change(&change, &CallRecorder::disabled()).is_err());
    assert_eq!(rehearsal.applied_states(Path::new("a")).collect::<Vec<_>>(), [Fingerprint::from_node(&file)]);
}
