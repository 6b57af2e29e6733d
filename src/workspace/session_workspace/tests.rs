//! Tests of a workspace: what a change leaves after any failure.

mod damage;
mod opened_copies;

use super::*;
use crate::chat::Digest;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// The step after which the next change fails.
#[derive(Default)]
pub(in crate::workspace) struct Faults(Mutex<Option<Step>>);

impl Faults {
    pub fn pass(&self, step: Step) -> io::Result<()> {
        match *self.0.lock().unwrap() == Some(step) {
            true => Err(io::Error::other("injected")),
            false => Ok(()),
        }
    }
}

struct Scene {
    home: tempfile::TempDir,
    workspace: Workspace,
}

impl Scene {
    fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let home = tempfile::tempdir().unwrap();
        let workspace = open(home.path(), limits);
        Self { home, workspace }
    }

    /// Another program that has the workspace open.
    fn open_again(&self) -> Workspace {
        open(self.home.path(), Limits::default())
    }

    fn folder(&self) -> &Path {
        &self.workspace.folder
    }

    /// Names of the contents.
    fn contents(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder().join("bytes")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn open(home: &Path, limits: Limits) -> Workspace {
    Workspace::new(&Places::within(home), SessionId("01JDXA0000000000000000000Z".into()), limits)
}

fn write(workspace: &Workspace, path: &str, bytes: &[u8]) -> Result<StoredFile, Error> {
    let path = WorkspacePath::parse(path).unwrap();
    workspace.write(&NewFile {
        path: &path,
        bytes,
        origin: Origin::default(),
        replaces: Replaces::Any,
        media_type: None,
    })
}

fn target(path: &str) -> AddressTarget {
    AddressTarget::Path(ScopedPath::parse(path).unwrap())
}

fn read(workspace: &Workspace, path: &str) -> Result<Vec<u8>, Error> {
    workspace.read(&workspace.find(&target(path))?)
}

fn list(workspace: &Workspace) -> Vec<String> {
    let files = workspace.list(&PathPrefix::parse("").unwrap()).unwrap();
    let mut paths: Vec<String> = files.iter().map(|file| format!("{}@{}", file.path, file.version)).collect();
    paths.sort();
    paths
}

#[test]
fn reading_creates_nothing() {
    let scene = Scene::new();
    assert_eq!(list(&scene.workspace), [""; 0]);
    assert!(matches!(scene.workspace.find(&target("a")), Err(Error::Missing(_))));
    assert!(matches!(scene.workspace.delete(&target("a"), Origin::default()), Err(Error::Missing(_))));
    assert!(!scene.folder().exists());
}

#[test]
fn a_file_keeps_its_id_and_its_versions() {
    let scene = Scene::new();
    let first = write(&scene.workspace, "reports/q1.md", b"one").unwrap();
    let second = write(&scene.workspace, "reports/q1.md", b"two").unwrap();
    let unchanged = write(&scene.workspace, "reports/q1.md", b"two").unwrap();
    assert_eq!((&second.id, second.version, unchanged.version), (&first.id, 2, 2));
    assert_eq!(first.media_type, "text/markdown");
    let other = scene.open_again();
    assert_eq!(read(&other, "reports/q1.md").unwrap(), b"two");
    let pinned = other.find(&AddressTarget::Id(first.id.clone(), Some(1))).unwrap();
    assert_eq!(other.read(&pinned).unwrap(), b"one");
    other.delete(&target("reports/q1.md"), Origin::default()).unwrap();
    assert!(matches!(read(&scene.workspace, "reports/q1.md"), Err(Error::Missing(_))));
    let by_id = scene.workspace.find(&AddressTarget::Id(first.id.clone(), None));
    assert!(matches!(by_id, Err(Error::Missing(_))), "{by_id:?}");
    let deletion = scene.workspace.find(&AddressTarget::Id(first.id.clone(), Some(3)));
    assert!(matches!(deletion, Err(Error::Deletion { .. })), "{deletion:?}");
    let none = scene.workspace.find(&AddressTarget::Id(first.id.clone(), Some(4)));
    assert!(matches!(none, Err(Error::NoVersion { latest: 3, .. })), "{none:?}");
    assert_eq!(scene.workspace.read(&pinned).unwrap(), b"one", "a deletion can be taken back");
    let again = write(&scene.workspace, "reports/q1.md", b"three").unwrap();
    assert_eq!((again.id, again.version), (first.id, 4));
}

#[test]
fn an_existing_file_is_replaced_only_on_request() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    let path = WorkspacePath::parse("a").unwrap();
    let new_file = NewFile {
        path: &path,
        bytes: b"two",
        origin: Origin::default(),
        replaces: Replaces::Nothing,
        media_type: None,
    };
    assert!(matches!(scene.workspace.write(&new_file), Err(Error::Exists(_))));
    assert_eq!(read(&scene.workspace, "a").unwrap(), b"one");
    assert_eq!(scene.contents().len(), 1, "the rejected content is removed");
    scene.workspace.delete(&target("a"), Origin::default()).unwrap();
    assert_eq!(scene.workspace.write(&new_file).unwrap().version, 3);
}

#[test]
fn only_the_owner_can_read() {
    use std::os::unix::fs::MetadataExt;
    let scene = Scene::new();
    write(&scene.workspace, "a", b"x").unwrap();
    let content = scene.folder().join("bytes").join(&scene.contents()[0]);
    for file in [content, scene.folder().join("index.jsonl"), scene.folder().join("index.copy.jsonl")] {
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(fs::metadata(scene.folder()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn limits_are_kept_and_named() {
    let limits = Limits { file_bytes: 100, session_bytes: 150, old_versions: 2, old_bytes: 120 };
    let scene = Scene::with_limits(limits);
    let error = write(&scene.workspace, "a", &[1; 101]).unwrap_err().to_string();
    assert!(error.contains("it has 101 bytes, and the limit is 100 bytes. Split it"), "{error}");
    write(&scene.workspace, "a", &[1; 100]).unwrap();
    write(&scene.workspace, "same", &[1; 100]).unwrap();
    let error = write(&scene.workspace, "b", &[2; 51]).unwrap_err().to_string();
    assert!(error.contains("holds 100 bytes of at most 150 bytes. Delete files"), "{error}");
    write(&scene.workspace, "b", &[2; 50]).unwrap();
    scene.workspace.delete(&target("same"), Origin::default()).unwrap();
    // Replacing a file frees what it had.
    for byte in 3..8 {
        write(&scene.workspace, "a", &[byte; 60]).unwrap();
    }
    let versions = scene.workspace.list_versions(&target("a")).unwrap();
    let kept: Vec<u64> = versions.iter().filter(|(_, kept)| *kept).map(|(file, _)| file.version).collect();
    assert_eq!(kept, [4, 5, 6], "two earlier versions of 60 bytes each");
    let dropped = scene.workspace.find(&AddressTarget::Id(versions[0].0.id.clone(), Some(1)));
    assert!(matches!(dropped, Err(Error::Dropped { .. })), "{dropped:?}");
    // The content of the deleted file was the oldest of the earlier versions.
    assert_eq!(scene.contents().len(), 4, "{:?}", scene.contents());
    assert_eq!(scene.open_again().list_versions(&target("a")).unwrap(), versions);
}

/// Each failure leaves the workspace as it was, or, once the line is on disk, as it was to become.
#[test]
fn a_failure_after_any_step_loses_nothing() {
    for (step, is_stored) in
        [(Step::Prepared, false), (Step::Locked, false), (Step::ContentAdded, false), (Step::LinesAppended, true)]
    {
        let scene = Scene::new();
        write(&scene.workspace, "a", b"one").unwrap();
        *scene.workspace.faults.0.lock().unwrap() = Some(step);
        write(&scene.workspace, "a", b"two").unwrap_err();
        write(&scene.workspace, "b", b"three").unwrap_err();
        for workspace in [&scene.workspace, &scene.open_again()] {
            let expected: &[u8] = if is_stored { b"two" } else { b"one" };
            assert_eq!(read(workspace, "a").unwrap(), expected, "{step:?}");
            assert_eq!(read(workspace, "b").is_ok(), is_stored, "{step:?}");
        }
        assert_eq!(scene.contents().len(), if is_stored { 3 } else { 1 }, "{step:?}: nothing is left over");
        *scene.workspace.faults.0.lock().unwrap() = None;
        let version = write(&scene.workspace, "a", b"four").unwrap().version;
        assert_eq!(version, if is_stored { 3 } else { 2 });
    }
}

#[test]
fn a_line_that_names_a_file_elsewhere_is_ignored() {
    let scene = Scene::new();
    let stored = write(&scene.workspace, "a", b"one").unwrap();
    let outside = scene.home.path().join("outside");
    fs::write(&outside, "x").unwrap();
    let path = scene.folder().join("index.jsonl");
    let line = fs::read_to_string(&path).unwrap();
    let hostile = [
        line.replace(stored.sha256.as_str(), outside.to_str().unwrap())
            .replace(&stored.id, "01JDXA0000000000000000000Y"),
        line.replace(&stored.id, "../../../../../outside"),
        line.replace("\"a\"", "\"../a\"").replace(&stored.id, "01JDXA0000000000000000000X"),
    ];
    for name in ["index.jsonl", "index.copy.jsonl"] {
        fs::write(scene.folder().join(name), format!("{line}{}", hostile.concat())).unwrap();
    }
    let workspace = scene.open_again();
    assert_eq!(list(&workspace), ["a@1"]);
    write(&workspace, "a", b"two").unwrap();
    workspace.prune().unwrap();
    assert!(outside.exists());
}

#[test]
fn pruning_keeps_only_the_latest_versions() {
    let scene = Scene::new();
    assert_eq!(scene.workspace.prune().unwrap(), (0, 0));
    assert!(!scene.folder().exists());
    for bytes in [&b"one"[..], b"three", b"same"] {
        write(&scene.workspace, "a", bytes).unwrap();
    }
    write(&scene.workspace, "gone", b"deleted").unwrap();
    write(&scene.workspace, "b", b"one").unwrap();
    scene.workspace.delete(&target("gone"), Origin::default()).unwrap();
    // The content of the first version is also that of another file.
    assert_eq!(scene.workspace.prune().unwrap(), (3, 12));
    assert_eq!(scene.workspace.prune().unwrap(), (0, 0));
    assert_eq!(scene.contents().len(), 2);
    let other = scene.open_again();
    assert_eq!(list(&other), ["a@3", "b@1"]);
    assert_eq!((read(&other, "a").unwrap(), read(&other, "b").unwrap()), (b"same".to_vec(), b"one".to_vec()));
    assert!(matches!(
        other.find(&AddressTarget::Id(other.find(&target("a")).unwrap().id, Some(1))),
        Err(Error::Dropped { .. })
    ));
    assert_eq!(write(&other, "gone", b"again").unwrap().version, 3);
}

/// It would be missing in a live copy, which does not have the rehearsed ones.
#[test]
fn the_last_version_before_rehearsed_ones_is_not_dropped() {
    let scene = Scene::with_limits(Limits { old_versions: 0, ..Limits::default() });
    let rehearse = |path: &str, bytes: &[u8]| {
        let path = WorkspacePath::parse(path).unwrap();
        let origin = Origin { rehearsed: true, ..Origin::default() };
        scene
            .workspace
            .write(&NewFile { path: &path, bytes, origin, replaces: Replaces::Any, media_type: None })
            .unwrap()
    };
    write(&scene.workspace, "a", b"one").unwrap();
    write(&scene.workspace, "a", b"two").unwrap();
    for bytes in [b"three", b"fours", b"fives"] {
        rehearse("a", bytes);
    }
    scene.workspace.prune().unwrap();
    let id = scene.workspace.find(&target("a")).unwrap().id;
    let find = |number| scene.workspace.find(&AddressTarget::Id(id.clone(), Some(number)));
    assert_eq!(scene.workspace.read(&find(2).unwrap()).unwrap(), b"two");
    for number in [1, 3, 4] {
        assert!(matches!(find(number), Err(Error::Dropped { .. })), "{number}");
    }
}

#[test]
fn a_damaged_content_is_reported_and_can_be_written_again() {
    let scene = Scene::new();
    write(&scene.workspace, "a", b"one").unwrap();
    fs::write(scene.folder().join("bytes").join(&scene.contents()[0]), "oNe").unwrap();
    assert!(matches!(read(&scene.workspace, "a"), Err(Error::Damaged(_))));
    scene.workspace.delete(&target("a"), Origin::default()).unwrap();
    write(&scene.workspace, "a", b"one").unwrap();
    assert_eq!(read(&scene.workspace, "a").unwrap(), b"one");
}

#[test]
fn programs_that_write_the_same_path_lose_no_version() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let workspace = scene.open_again();
            scope.spawn(move || {
                for number in 0..25 {
                    write(&workspace, "shared", format!("{thread} {number}").as_bytes()).unwrap();
                    write(&workspace, &format!("own/{thread}"), format!("{number}").as_bytes()).unwrap();
                }
            });
        }
    });
    let versions = scene.workspace.list_versions(&target("shared")).unwrap();
    let numbers: Vec<u64> = versions.iter().map(|(file, _)| file.version).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<u64>>());
    let contents: std::collections::HashSet<&Digest> = versions.iter().map(|(file, _)| &file.sha256).collect();
    assert_eq!(contents.len(), 100, "each version has its own content");
    assert!(versions.iter().all(|(file, _)| file.id == versions[0].0.id));
    assert_eq!(versions.iter().filter(|(_, kept)| *kept).count(), 21);
    assert_eq!(list(&scene.workspace).len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// The counts of an index that grew line by line are those of one that was read at once, and the contents on disk are
    /// those that it keeps.
    #[test]
    fn counts_and_contents_agree_with_the_index(changes in proptest::collection::vec((0..3_u8, 0..5_u8, 0..3_u8), 1..25)) {
        let limits = Limits { file_bytes: 1000, session_bytes: 1000, old_versions: 3, old_bytes: 60 };
        let scene = Scene::with_limits(limits);
        for (path, content, action) in changes {
            let name = format!("f{path}");
            if action == 0 {
                let _ = scene.workspace.delete(&target(&name), Origin::default());
            } else {
                write(&scene.workspace, &name, &vec![content; usize::from(content) * 10]).unwrap();
            }
        }
        let grown = scene.workspace.refresh().unwrap();
        let other = scene.open_again();
        let read = other.refresh().unwrap();
        prop_assert_eq!((grown.index.latest_bytes, grown.index.old_bytes), (read.index.latest_bytes, read.index.old_bytes));
        prop_assert!(read.index.old_bytes <= limits.old_bytes);
        let mut kept: Vec<&str> = read.index.kept_contents().into_iter().map(Digest::as_str).collect();
        let mut stored = scene.contents();
        kept.sort_unstable();
        stored.sort();
        prop_assert_eq!(stored, kept);
    }
}
