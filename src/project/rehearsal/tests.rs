//! The rehearsal, tried out: it sees what it wrote, and the project stays as it is.

use super::*;
use crate::project::disk::Disk;

struct Play {
    _folder: tempfile::TempDir,
    root: PathBuf,
    layer: PathBuf,
}

impl Play {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.rs"), "old\r\n").unwrap();
        std::fs::write(root.join("z.txt"), "z").unwrap();
        std::fs::write(base.join("outside"), "o").unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        Self { _folder: folder, root, layer: base.join("data/session") }
    }

    fn open(&self) -> Rehearsal {
        Rehearsal::new(Arc::new(Disk::new(&self.root).unwrap()), self.layer.clone())
    }

    /// Every path of the project with its bytes, mode and time of change.
    fn picture(&self) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
        use std::os::unix::fs::MetadataExt;
        let mut picture = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    folders.push(entry.path());
                }
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                picture.push((entry.path(), meta.mode(), meta.ctime_nsec(), bytes));
            }
        }
        picture.sort();
        picture
    }
}

fn names(play: &Rehearsal, under: &str, hidden: bool) -> Vec<String> {
    let mut names = Vec::new();
    let under = play.locate(under).unwrap();
    play.walk(&under, hidden, &mut |found| {
        let size = if found.folder { "/".to_owned() } else { format!(" {}", found.size) };
        names.push(format!("{}{size}", found.at.shown.display()));
        ControlFlow::Continue(())
    })
    .unwrap();
    names
}

#[test]
fn r30_the_rehearsal_sees_its_own_writes_and_the_project_stays_as_it_is() {
    let place = Play::new();
    let before = place.picture();
    let play = place.open();
    let (old, new) = (play.locate("src/a.rs").unwrap(), play.locate("new/deep/b.rs").unwrap());
    play.write(&old, Some(b"old\r\n"), b"first").unwrap();
    play.write(&old, Some(b"first"), b"second").unwrap();
    play.write(&new, None, b"new").unwrap();
    assert_eq!(play.read(&old).unwrap(), b"second");
    assert_eq!(play.read(&new).unwrap(), b"new");
    assert!(play.exists(&new) && play.exists(&play.locate("new").unwrap()));
    assert_eq!(place.picture(), before);

    let again = place.open();
    assert_eq!(again.read(&old).unwrap(), b"second");
    let change = |path: &str, before: Option<&[u8]>, after: &[u8]| Change {
        path: path.into(),
        before: before.map(<[u8]>::to_vec),
        after: after.to_vec(),
    };
    let changes = [change("new/deep/b.rs", None, b"new"), change("src/a.rs", Some(b"old\r\n"), b"second")];
    assert_eq!(again.changes().unwrap(), changes);
    again.write(&old, Some(b"second"), b"old\r\n").unwrap();
    assert_eq!(again.changes().unwrap().len(), 1);
}

#[test]
fn a_walk_meets_what_was_rehearsed_in_its_place() {
    let place = Play::new();
    let play = place.open();
    assert_eq!(names(&play, ".", false), ["src/", "src/a.rs 5", "z.txt 1"]);
    for path in ["src/0.rs", "new/b", "zz", ".hidden", "src/z/y"] {
        play.write(&play.locate(path).unwrap(), None, b"12").unwrap();
    }
    play.write(&play.locate("z.txt").unwrap(), Some(b"z"), b"longer").unwrap();
    let all =
        ["new/", "new/b 2", "src/", "src/0.rs 2", "src/a.rs 5", "src/z/", "src/z/y 2", "z.txt 6", "zz 2"];
    assert_eq!(names(&play, ".", false), all);
    assert_eq!(names(&play, "src", false), all[3..7]);
    assert_eq!(names(&play, "new", false), ["new/b 2"]);
    assert_eq!(names(&play, ".", true)[0], ".hidden 2");
    let mut met = 0;
    play.walk(&play.locate(".").unwrap(), false, &mut |_| {
        met += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(met, 1);
}

#[test]
fn r30_nothing_outside_the_project_can_be_written() {
    let place = Play::new();
    let play = place.open();
    for path in ["../outside", "link", "/etc/hostname", "~/x"] {
        let error = play.write(&play.locate(path).unwrap(), None, b"x").unwrap_err().to_string();
        assert!(error.contains("is outside the project; a dry run"), "{error}");
    }
    assert_eq!(std::fs::read(place.root.join("../outside")).unwrap(), b"o");
    assert!(!place.layer.exists());
}

#[test]
fn what_would_be_refused_for_real_is_refused_in_rehearsal() {
    let place = Play::new();
    let play = place.open();
    let write = |path: &str, before: Option<&[u8]>| {
        play.write(&play.locate(path).unwrap(), before, b"x").unwrap_err().to_string()
    };
    assert!(write("src/a.rs", Some(b"other")).contains("has changed"));
    assert!(write("src/a.rs", None).contains("has changed"));
    assert!(write("gone", Some(b"was")).contains("has changed"));
    assert_eq!(write("src", None), "src is a folder, not a file");
    assert!(write("z.txt/below", None).starts_with("z.txt/below: "));
    play.write(&play.locate("made/file").unwrap(), None, b"x").unwrap();
    assert_eq!(write("made", None), "made is a folder, not a file");
    assert!(write("made/file/below", None).starts_with("made/file/below: "));
}
