//! Tests of the rehearsal: it sees its own writes, and the project stays unchanged.

use super::*;
use crate::chat::Digest;
use crate::project::disk::Disk;
use std::ops::ControlFlow;

struct RehearsalFixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    overlay_folder: PathBuf,
}

impl RehearsalFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.rs"), "old\r\n").unwrap();
        std::fs::write(root.join("z.txt"), "z").unwrap();
        std::fs::write(base.join("outside"), "o").unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        Self { _folder: folder, root, overlay_folder: base.join("data/session") }
    }

    fn open_rehearsal(&self) -> Rehearsal {
        Rehearsal::new(Arc::new(Disk::new(&self.root).unwrap()), self.overlay_folder.clone())
    }

    /// Returns every path of the project with its mode, the nanoseconds of its change time, and its bytes.
    fn read_live_files(&self) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
        use std::os::unix::fs::MetadataExt;
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    folders.push(entry.path());
                }
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                files.push((entry.path(), meta.mode(), meta.ctime_nsec(), bytes));
            }
        }
        files.sort();
        files
    }
}

/// Returns the paths below `under` in the order of the walk: a file with its size, a folder with `/`. Includes hidden
/// files only if `hidden` is true.
fn walk_names(rehearsal: &Rehearsal, under: &str, hidden: bool) -> Vec<String> {
    let mut names = Vec::new();
    let under = rehearsal.locate(under).unwrap();
    rehearsal
        .walk(&under, hidden, &mut |entry| {
            let size = if entry.is_folder { "/".to_owned() } else { format!(" {}", entry.size) };
            names.push(format!("{}{size}", entry.location.display_path.display()));
            ControlFlow::Continue(())
        })
        .unwrap();
    names
}

/// Describes every change in a few words.
fn describe_changes(rehearsal: &Rehearsal) -> Vec<String> {
    let describe = |node: &FileNode| match node {
        FileNode::Nothing => "nothing".to_owned(),
        FileNode::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        FileNode::Folder { .. } => "folder".to_owned(),
        FileNode::Link(to) => format!("link to {}", to.display()),
        FileNode::Other(kind) => kind.clone(),
    };
    let changes = rehearsal.list_changes().unwrap();
    let descriptions = changes
        .iter()
        .map(|change| format!("{} {} → {}", change.path.display(), describe(&change.before), describe(&change.after)));
    descriptions.collect()
}

/// Creates the whiteout that the kernel's overlay leaves for a deleted path.
fn create_whiteout(upper: &Path) {
    std::fs::create_dir_all(upper.parent().unwrap()).unwrap();
    let device_number = rustix::fs::makedev(0, 0);
    rustix::fs::mknodat(rustix::fs::CWD, upper, rustix::fs::FileType::CharacterDevice, 0o000.into(), device_number)
        .unwrap();
}

/// Creates the opaque folder that the kernel's overlay leaves for a replaced folder.
fn create_opaque_folder(upper: &Path) {
    std::fs::create_dir_all(upper).unwrap();
    rustix::fs::lsetxattr(upper, "user.overlay.opaque", b"y", rustix::fs::XattrFlags::empty()).unwrap();
}

#[test]
fn r30_rehearsal_sees_its_own_writes_and_the_project_stays_unchanged() {
    let fixture = RehearsalFixture::new();
    let before = fixture.read_live_files();
    let rehearsal = fixture.open_rehearsal();
    let (old, new) = (rehearsal.locate("src/a.rs").unwrap(), rehearsal.locate("new/deep/b.rs").unwrap());
    rehearsal.write(&old, Some(b"old\r\n"), b"first").unwrap();
    rehearsal.write(&old, Some(b"first"), b"second").unwrap();
    rehearsal.write(&new, None, b"new").unwrap();
    assert_eq!(rehearsal.read(&old).unwrap(), b"second");
    assert_eq!(rehearsal.read(&new).unwrap(), b"new");
    assert!(rehearsal.exists(&new) && rehearsal.exists(&rehearsal.locate("new").unwrap()));
    assert_eq!(fixture.read_live_files(), before);

    let reopened = fixture.open_rehearsal();
    assert_eq!(reopened.read(&old).unwrap(), b"second");
    assert_eq!(
        describe_changes(&reopened),
        [
            "new nothing → folder",
            "new/deep nothing → folder",
            "new/deep/b.rs nothing → new",
            "src/a.rs old\r\n → second"
        ]
    );
    assert_eq!(reopened.origin(Path::new("src/a.rs")).unwrap().digest, Some(Digest::of_bytes(b"old\r\n")));
    assert_eq!(reopened.origin(Path::new("new/deep/b.rs")).unwrap().digest, None);
    reopened.write(&old, Some(b"second"), b"old\r\n").unwrap();
    assert_eq!(reopened.list_changes().unwrap().len(), 3);
}

#[test]
fn walk_visits_rehearsed_files_in_order() {
    let fixture = RehearsalFixture::new();
    let rehearsal = fixture.open_rehearsal();
    assert_eq!(walk_names(&rehearsal, ".", false), ["src/", "src/a.rs 5", "z.txt 1"]);
    for path in ["src/0.rs", "new/b", "zz", ".hidden", "src/z/y"] {
        rehearsal.write(&rehearsal.locate(path).unwrap(), None, b"12").unwrap();
    }
    rehearsal.write(&rehearsal.locate("z.txt").unwrap(), Some(b"z"), b"longer").unwrap();
    let expected = ["new/", "new/b 2", "src/", "src/0.rs 2", "src/a.rs 5", "src/z/", "src/z/y 2", "z.txt 6", "zz 2"];
    assert_eq!(walk_names(&rehearsal, ".", false), expected);
    assert_eq!(walk_names(&rehearsal, "src", false), expected[3..7]);
    assert_eq!(walk_names(&rehearsal, "new", false), ["new/b 2"]);
    assert_eq!(walk_names(&rehearsal, ".", true)[0], ".hidden 2");
    let mut count = 0;
    rehearsal
        .walk(&rehearsal.locate(".").unwrap(), false, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(count, 1);
}

#[test]
fn r30_no_live_file_outside_the_project_is_written() {
    let fixture = RehearsalFixture::new();
    let rehearsal = fixture.open_rehearsal();
    for path in ["../outside", "link"] {
        let location = rehearsal.locate(path).unwrap();
        let before = rehearsal.read(&location).unwrap();
        rehearsal.write(&location, Some(&before), path.as_bytes()).unwrap();
        assert_eq!(rehearsal.read(&rehearsal.locate("../outside").unwrap()).unwrap(), path.as_bytes());
    }
    assert_eq!(std::fs::read(fixture.root.join("../outside")).unwrap(), b"o");
    assert!(rehearsal.list_changes().unwrap().is_empty(), "the project has no changes");
}

#[test]
fn writes_that_fail_live_fail_in_a_rehearsal() {
    let fixture = RehearsalFixture::new();
    let rehearsal = fixture.open_rehearsal();
    let write = |path: &str, before: Option<&[u8]>| {
        rehearsal.write(&rehearsal.locate(path).unwrap(), before, b"x").unwrap_err().to_string()
    };
    assert!(write("src/a.rs", Some(b"other")).contains("has changed"));
    assert!(write("src/a.rs", None).contains("has changed"));
    assert!(write("gone", Some(b"was")).contains("has changed"));
    assert_eq!(write("src", None), "src is a folder, not a file");
    assert!(write("z.txt/below", None).starts_with("z.txt/below: "));
    rehearsal.write(&rehearsal.locate("made/file").unwrap(), None, b"x").unwrap();
    assert_eq!(write("made", None), "made is a folder, not a file");
    assert!(write("made/file/below", None).starts_with("made/file/below: "));
}

#[test]
fn r30_deleted_paths_are_invisible_and_can_be_created_again() {
    let fixture = RehearsalFixture::new();
    std::fs::create_dir_all(fixture.root.join("old/deep")).unwrap();
    std::fs::write(fixture.root.join("old/deep/x"), "x").unwrap();
    std::fs::write(fixture.root.join("old/y"), "y").unwrap();
    let before = fixture.read_live_files();
    let rehearsal = fixture.open_rehearsal();
    for path in ["z.txt", "old", "link"] {
        create_whiteout(&rehearsal.upper.join(path));
    }
    let locate = |path: &str| rehearsal.locate(path).unwrap();
    for path in ["z.txt", "old", "old/y", "old/deep/x"] {
        assert!(!rehearsal.exists(&locate(path)), "{path}");
        assert!(matches!(rehearsal.read(&locate(path)), Err(Error::Missing(_))), "{path}");
    }
    assert!(matches!(rehearsal.list_names(&locate("old")), Err(Error::Missing(_))));
    assert_eq!(rehearsal.list_names(&locate(".")).unwrap(), ["src"]);
    assert_eq!(walk_names(&rehearsal, ".", true), ["src/", "src/a.rs 5"]);
    assert!(locate("link").is_inside, "a deleted link has no target");
    rehearsal.record_origins().unwrap();
    assert_eq!(rehearsal.origin(Path::new("old/deep/x")).unwrap().digest, Some(Digest::of_bytes(b"x")));
    assert_eq!(
        describe_changes(&rehearsal),
        [
            "link link to ../outside → nothing",
            "old folder → nothing",
            "old/deep folder → nothing",
            "old/deep/x x → nothing",
            "old/y y → nothing",
            "z.txt z → nothing"
        ]
    );
    rehearsal.write(&locate("old/y"), None, b"new").unwrap();
    rehearsal.write(&locate("z.txt"), None, b"z").unwrap();
    assert_eq!(walk_names(&rehearsal, "old", true), ["old/y 3"]);
    assert_eq!(rehearsal.list_names(&locate("old")).unwrap(), ["y"]);
    assert!(!rehearsal.exists(&locate("old/deep")));
    assert_eq!(
        describe_changes(&rehearsal),
        ["link link to ../outside → nothing", "old/deep folder → nothing", "old/deep/x x → nothing", "old/y y → new"]
    );
    assert_eq!(fixture.read_live_files(), before);
}

#[test]
fn r30_folders_links_modes_and_special_files_are_preserved() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let fixture = RehearsalFixture::new();
    std::fs::set_permissions(fixture.root.join("z.txt"), std::fs::Permissions::from_mode(0o751)).unwrap();
    std::fs::create_dir(fixture.root.join("taken")).unwrap();
    std::fs::write(fixture.root.join("taken/in"), "in").unwrap();
    let rehearsal = fixture.open_rehearsal();
    let locate = |path: &str| rehearsal.locate(path).unwrap();
    rehearsal.write(&locate("z.txt"), Some(b"z"), b"\0\xff\r\n").unwrap();
    let upper = &rehearsal.upper;
    create_opaque_folder(&upper.join("src"));
    std::fs::write(upper.join("src/new"), "n").unwrap();
    std::fs::write(upper.join("taken"), "a file now").unwrap();
    symlink("src/new", upper.join("way")).unwrap();
    symlink("/etc/hostname", upper.join("out")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, upper.join("pipe"), 0o600.into()).unwrap();
    std::fs::create_dir(upper.join("empty")).unwrap();
    std::fs::File::create(upper.join("big")).unwrap().set_len(super::super::READ_LIMIT + 1).unwrap();
    std::fs::set_permissions(upper.join("big"), std::fs::Permissions::from_mode(0o644)).unwrap();
    // Remains of an interrupted write.
    std::fs::create_dir_all(rehearsal.overlay_folder().join("unfinished/0")).unwrap();
    std::fs::write(rehearsal.overlay_folder().join("unfinished/0/half"), "half").unwrap();

    assert_eq!(rehearsal.read(&locate("z.txt")).unwrap(), b"\0\xff\r\n");
    assert_eq!(rehearsal.read(&locate("way")).unwrap(), b"n");
    assert!(!locate("out").is_inside);
    let error = |path: &str| rehearsal.read(&locate(path)).unwrap_err().to_string();
    assert_eq!(error("pipe"), "pipe is a pipe, not a file");
    assert!(error("big").contains("the limit is"));
    assert_eq!(error("src/a.rs"), "there is no file src/a.rs");
    assert!(rehearsal.list_names(&locate("taken")).is_err() && !rehearsal.exists(&locate("taken/in")));
    let names = ["big 10485761", "empty/", "src/", "src/new 1", "taken 10", "way 1", "z.txt 4"];
    assert_eq!(walk_names(&rehearsal, ".", true), names);
    let described = describe_changes(&rehearsal);
    let expected = [
        "big nothing → a file of 10485761 bytes, mode 644",
        "empty nothing → folder",
        "out nothing → link to /etc/hostname",
        "pipe nothing → a pipe",
        "src/a.rs old\r\n → nothing",
        "src/new nothing → n",
        "taken folder → a file now",
        "taken/in in → nothing",
        "way nothing → link to src/new",
        "z.txt z → \0\u{fffd}\r\n",
    ];
    assert_eq!(described, expected);
    let change = rehearsal.change_at(Path::new("z.txt")).unwrap().unwrap();
    assert!(matches!(change.after, FileNode::File { mode: 0o751, .. }), "{change:?}");
    // A changed mode alone is a change too.
    std::fs::set_permissions(upper.join("src/new"), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::remove_file(upper.join("z.txt")).unwrap();
    std::fs::write(upper.join("z.txt"), "z").unwrap();
    std::fs::set_permissions(upper.join("z.txt"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let change = rehearsal.change_at(Path::new("z.txt")).unwrap().unwrap();
    assert!(matches!(
        (&change.before, &change.after),
        (FileNode::File { mode: 0o751, .. }, FileNode::File { mode: 0o644, .. })
    ));
}

#[test]
fn walk_respects_the_visible_ignore_files() {
    let fixture = RehearsalFixture::new();
    std::fs::write(fixture.root.join(".gitignore"), "*.log\n/target\n").unwrap();
    for path in ["a.log", "src/b.log", "target/x", "src/target/y"] {
        let path = fixture.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let rehearsal = fixture.open_rehearsal();
    let locate = |path: &str| rehearsal.locate(path).unwrap();
    rehearsal.write(&locate("target/made"), None, b"").unwrap();
    rehearsal.write(&locate("made.log"), None, b"").unwrap();
    let expected = ["src/", "src/a.rs 5", "src/target/", "src/target/y 0", "z.txt 1"];
    assert_eq!(walk_names(&rehearsal, ".", false), expected);
    assert_eq!(walk_names(&rehearsal, "src", false), expected[1..4]);
    rehearsal.write(&locate("src/.ignore"), None, b"!b.log\ntarget\n").unwrap();
    assert_eq!(walk_names(&rehearsal, ".", false), ["src/", "src/a.rs 5", "src/b.log 0", "z.txt 1"]);
    // A pipe in place of an ignore file does not block the walk, and a link to an ignore file counts as one.
    let upper_folder = rehearsal.upper.join("src/target");
    std::fs::create_dir_all(&upper_folder).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, upper_folder.join(".ignore"), 0o600.into()).unwrap();
    assert_eq!(walk_names(&rehearsal, "src/target", false), ["src/target/y 0"]);
    std::os::unix::fs::symlink("../src/.ignore", rehearsal.upper.join("src/target/.gitignore")).unwrap();
    rehearsal.write(&locate(".gitignore"), Some(b"*.log\n/target\n"), b"z*\n").unwrap();
    assert_eq!(
        walk_names(&rehearsal, ".", false),
        ["a.log 0", "made.log 0", "src/", "src/a.rs 5", "src/b.log 0", "target/", "target/made 0", "target/x 0"]
    );
}

#[test]
fn walk_without_changes_equals_the_live_walk() {
    let fixture = RehearsalFixture::new();
    std::fs::create_dir_all(fixture.root.join(".git/info")).unwrap();
    std::fs::create_dir_all(fixture.root.join("deep/er")).unwrap();
    for (path, text) in [
        (".git/info/exclude", "excluded\n"),
        ("excluded", ""),
        (".hidden", ""),
        ("deep/.gitignore", "er/x\n!er/keep.log\n"),
        ("deep/er/x", ""),
        ("deep/er/keep.log", ""),
        (".gitignore", "*.log\n"),
        ("a.log", ""),
        ("deep.txt", ""),
    ] {
        std::fs::write(fixture.root.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("deep", fixture.root.join("inward")).unwrap();
    let (rehearsal, disk) = (fixture.open_rehearsal(), Disk::new(&fixture.root).unwrap());
    for under in [".", "deep", "deep/er", "z.txt"] {
        for hidden in [false, true] {
            let mut live = Vec::new();
            disk.walk(&disk.locate(under).unwrap(), hidden, &mut |entry| {
                let size = if entry.is_folder { "/".to_owned() } else { format!(" {}", entry.size) };
                live.push(format!("{}{size}", entry.location.display_path.display()));
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(walk_names(&rehearsal, under, hidden), live, "{under} {hidden}");
        }
    }
}
