//! Tests: whatever was recorded can be restored, and nothing else is overwritten.

use super::*;
use crate::chat::batch::Rejected;
use crate::chat::checkpoint::join_spans;
use crate::chat::{Batch, BatchWork, CheckpointSpan, SessionId};
use crate::project::batch::ItemOutcome;
use crate::project::disk::Disk;
use crate::project::rehearsal::{Change, FileNode, Rehearsal, read_node};
use crate::project::{Reader, Writer};
use crate::test_folder::Folder;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Limit of the checkpoints in most tests, in bytes.
pub(super) const LIMIT: u64 = 500 << 20;

pub(super) struct Fixture {
    _folder: Folder,
    pub(super) disk: Arc<Disk>,
    live: Rehearsal,
    pub(super) session: SessionCheckpoints,
}

impl Fixture {
    pub(super) fn new(limit: u64) -> Self {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("project")).unwrap();
        let disk = Arc::new(Disk::new(&folder.path().join("project")).unwrap());
        let live = Rehearsal::new(disk.clone(), folder.path().join("none"));
        let session = Self::open_session(&folder.path().join("checkpoints"), disk.root(), limit);
        Self { _folder: folder, disk, live, session }
    }

    pub(super) fn open_session(folder: &Path, root: &Path, limit: u64) -> SessionCheckpoints {
        let checkpoints = Arc::new(Checkpoints::new(folder.to_owned(), limit));
        SessionCheckpoints { checkpoints, session: SessionId("01S".into()), root: root.to_owned() }
    }

    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.disk.root().join(path)
    }

    pub(super) fn recorder(&self, call: &str) -> CallRecorder {
        self.session.recorder(&call.into(), "write_file")
    }

    /// Writes a file like the file tools do.
    pub(super) fn write(&self, call: &str, path: &str, text: &str) {
        let project = RecordedProject::new(self.disk.clone(), Arc::new(self.recorder(call)));
        let location = project.locate(path).unwrap();
        let before = project.read(&location).ok();
        project.write(&location, before.as_deref(), text.as_bytes()).unwrap();
    }

    /// Gives a path this state, and removes what is in the way, as if a call had done so. If `is_killed`, the last step is
    /// recorded and not made.
    fn set(&self, call: &str, path: &Path, after: FileNode, is_killed: bool) {
        let recorder = self.recorder(call);
        for parent in crate::project::path::list_parents(path) {
            if !matches!(read_node(&self.path(parent)), FileNode::Nothing | FileNode::Folder { .. }) {
                return;
            }
        }
        let mut inner: Vec<PathBuf> = self.tree().into_keys().filter(|inner| inner.starts_with(path)).collect();
        inner.retain(|inner| inner != path);
        if !after.is_folder() {
            for inner in inner.iter().rev() {
                self.change(&recorder, inner, FileNode::Nothing);
            }
        }
        match is_killed {
            true => recorder.record_change(&self.path(path), &self.live.live_node(path), &after),
            false => self.change(&recorder, path, after),
        }
    }

    fn change(&self, recorder: &CallRecorder, path: &Path, after: FileNode) {
        let change = Change { path: path.to_owned(), before: self.live.live_node(path), after };
        if change.before != change.after {
            self.live.change_live(&change, recorder).unwrap();
        }
    }

    /// Every path of the project with its state.
    fn tree(&self) -> BTreeMap<PathBuf, FileNode> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.disk.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let node = read_node(&path);
                if node.is_folder() {
                    folders.push(path.clone());
                }
                tree.insert(path.strip_prefix(self.disk.root()).unwrap().to_owned(), node);
            }
        }
        tree
    }

    fn restoration(&self) -> Restoration {
        Restoration::new(self.session.checkpoints.clone(), self.disk.clone())
    }

    /// Returns everything recorded for calls whose names begin with this prefix.
    fn spans(&self, prefix: &str) -> Vec<CheckpointSpan> {
        let calls = self.session.checkpoints.read_calls();
        let selected = calls.iter().filter(|call| call.call.0.starts_with(prefix)).map(RecordedCall::summary);
        join_spans(&selected.collect::<Vec<_>>())
    }

    pub(super) fn draft(&self, prefix: &str) -> (RestorePlan, Batch, BatchWork) {
        let plan = self.restoration().plan(&self.spans(prefix)).unwrap();
        let (batch, work) = self.restoration().draft_batch(&plan);
        (plan, batch, work)
    }

    /// Restores calls as another call. Returns the outcome of each item.
    pub(super) fn undo(&self, prefix: &str, as_call: &str) -> Vec<ItemOutcome> {
        let (plan, batch, work) = self.draft(prefix);
        let recorder = self.recorder(as_call).with_undone(plan.undoes.clone());
        let restore = |(item, operations): (&crate::chat::Item, _)| match &item.blocked {
            Some(reason) => ItemOutcome::Conflict(reason.clone()),
            None => self.restoration().restore_item(&plan, operations, &[], &recorder),
        };
        let outcomes = batch.items.iter().zip(work.items.iter().map(Vec::as_slice)).map(restore).collect();
        self.restoration().remove_emptied(&plan, &recorder);
        outcomes
    }
}

fn file(text: &str, mode: u32) -> FileNode {
    FileNode::File { bytes: text.into(), mode }
}

fn any_node() -> impl Strategy<Value = FileNode> {
    prop_oneof![
        Just(FileNode::Nothing),
        (
            prop_oneof![Just(""), Just("one\n"), Just("two\nlines\n"), Just("\0binary")],
            prop_oneof![Just(0o644), Just(0o755)]
        )
            .prop_map(|(text, mode)| file(text, mode)),
        prop_oneof![Just(0o755), Just(0o700)].prop_map(|mode| FileNode::Folder { mode }),
        prop_oneof![Just("a"), Just("/nowhere")].prop_map(|target| FileNode::Link(target.into())),
    ]
}

fn any_path() -> impl Strategy<Value = PathBuf> {
    let name = |bytes: &'static [u8]| PathBuf::from(OsStr::from_bytes(bytes));
    prop_oneof![
        Just(name(b"a")),
        Just(name(b"b\nc")),
        Just(name(b"d")),
        Just(name(b"d/x")),
        Just(name(b"d/\xff\x1b[31m")),
        Just(name(b"d/e/f")),
    ]
}

proptest! {
    /// However a project is changed and wherever a kill strikes, an undo restores it, and an undo of the undo too.
    #[test]
    fn every_recorded_change_can_be_undone(
        start in prop::collection::vec((any_path(), any_node()), 0..6),
        changes in prop::collection::vec((any_path(), any_node(), prop::bool::weighted(0.2), 0..3_u8), 1..12),
    ) {
        let fixture = Fixture::new(LIMIT);
        for (path, node) in start {
            fixture.set("start", &path, node, false);
        }
        let before = fixture.tree();
        for (path, node, is_killed, call) in changes {
            fixture.set(&format!("change-{call}"), &path, node, is_killed);
        }
        let after = fixture.tree();
        if fixture.spans("change").is_empty() {
            return Ok(());
        }
        let outcomes = fixture.undo("change", "undo-1");
        prop_assert!(outcomes.iter().all(|outcome| *outcome == ItemOutcome::Applied), "{:?}", outcomes);
        prop_assert_eq!(&fixture.tree(), &before);
        if !fixture.spans("undo-1").is_empty() {
            let outcomes = fixture.undo("undo-1", "undo-2");
            prop_assert!(outcomes.iter().all(|outcome| *outcome == ItemOutcome::Applied), "{:?}", outcomes);
            prop_assert_eq!(&fixture.tree(), &after);
        }
    }
}

#[test]
fn what_changed_since_is_a_conflict_and_stays() {
    let fixture = Fixture::new(LIMIT);
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(fixture.path(name), "one\n").unwrap();
    }
    for name in ["a", "b", "c", "d", "e"] {
        fixture.write("call", name, "two\n");
    }
    fs::write(fixture.path("a"), "mine\n").unwrap();
    fs::remove_file(fixture.path("b")).unwrap();
    fs::create_dir(fixture.path("b")).unwrap();
    fs::remove_file(fixture.path("c")).unwrap();
    std::os::unix::fs::symlink("e", fixture.path("c")).unwrap();
    fs::remove_file(fixture.path("d")).unwrap();
    let before = fixture.tree();
    let outcomes = fixture.undo("call", "undo");
    assert_eq!(
        outcomes.iter().filter(|outcome| matches!(outcome, ItemOutcome::Conflict(_))).count(),
        4,
        "{outcomes:?}"
    );
    assert_eq!(fs::read_to_string(fixture.path("e")).unwrap(), "one\n");
    let changed: Vec<PathBuf> = fixture
        .tree()
        .into_iter()
        .filter(|(path, node)| before.get(path) != Some(node))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(changed, [PathBuf::from("e")], "only the file without a conflict");
}

#[test]
fn a_change_between_two_calls_is_restored_and_not_skipped() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path("a"), "one\n").unwrap();
    fixture.write("call-1", "a", "two\n");
    fs::write(fixture.path("a"), "mine\n").unwrap();
    fixture.write("call-2", "a", "three\n");
    let (_, batch, _) = fixture.draft("call");
    assert!(batch.items[0].notes[0].contains("other than aye"), "{:?}", batch.items);
    fixture.undo("call", "undo");
    assert_eq!(fs::read_to_string(fixture.path("a")).unwrap(), "mine\n");
}

#[test]
fn a_file_that_changes_after_the_preview_is_not_overwritten() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path("a"), "one\n").unwrap();
    fixture.write("call", "a", "two\n");
    let (plan, _, work) = fixture.draft("call");
    fs::write(fixture.path("a"), "mine\n").unwrap();
    let outcome = fixture.restoration().restore_item(&plan, &work.items[0], &[], &fixture.recorder("undo"));
    assert!(matches!(outcome, ItemOutcome::Conflict(_)), "{outcome:?}");
    let newer_plan = fixture.restoration().plan(&fixture.spans("call")).unwrap();
    let outcome = fixture.restoration().restore_item(&newer_plan, &work.items[0], &[], &fixture.recorder("undo"));
    assert!(matches!(outcome, ItemOutcome::Conflict(_)), "{outcome:?}");
    assert_eq!(fs::read_to_string(fixture.path("a")).unwrap(), "mine\n");
}

#[test]
fn hunks_can_be_rejected() {
    let fixture = Fixture::new(LIMIT);
    let lines: Vec<String> = (0..40).map(|line| format!("{line}\n")).collect();
    fs::write(fixture.path("a"), lines.concat()).unwrap();
    fixture.write("call", "a", &lines.concat().replace("1\n2\n", "one\n2\n").replace("37\n38\n", "thirty\n38\n"));
    let (plan, batch, work) = fixture.draft("call");
    let hunks = &batch.items[0].diff.as_ref().unwrap().hunks;
    assert_eq!(hunks.len(), 2);
    let rejected = Rejected { item: 0, hunks: vec![hunks[1].after] };
    let outcome = fixture.restoration().restore_item(&plan, &work.items[0], &rejected.hunks, &fixture.recorder("undo"));
    assert_eq!(outcome, ItemOutcome::Applied);
    assert_eq!(fs::read_to_string(fixture.path("a")).unwrap(), lines.concat().replace("37\n38\n", "thirty\n38\n"));
}

#[test]
fn files_outside_the_project_are_restored_too() {
    let fixture = Fixture::new(LIMIT);
    let outside = fixture.path("../outside").parent().unwrap().canonicalize().unwrap().join("outside");
    fs::write(&outside, "one\n").unwrap();
    fixture.write("call", outside.to_str().unwrap(), "two\n");
    let (_, batch, _) = fixture.draft("call");
    assert!(batch.items[0].destroys.as_ref().unwrap().contains("outside the project"));
    assert!(matches!(batch.items[0].access, crate::chat::Access::WriteOutside(_)));
    assert_eq!(fixture.undo("call", "undo"), [ItemOutcome::Applied]);
    assert_eq!(fs::read_to_string(outside).unwrap(), "one\n");
}

#[test]
fn modes_and_folders_that_a_write_created_are_restored() {
    let fixture = Fixture::new(LIMIT);
    fs::write(fixture.path("a"), "one\n").unwrap();
    fs::set_permissions(fixture.path("a"), fs::Permissions::from_mode(0o750)).unwrap();
    fixture.write("call", "a", "two\n");
    fixture.write("call", "new/deep/b", "two\n");
    fs::write(fixture.path("new/mine"), "").unwrap();
    fixture.undo("call", "undo");
    assert_eq!(fs::metadata(fixture.path("a")).unwrap().mode() & 0o777, 0o750);
    assert!(!fixture.path("new/deep").exists() && fixture.path("new/mine").exists());
}
