//! What restoring checkpoints changes: for each path its present state and the one to restore, or why it cannot be.

use super::change_log::{Checkpoints, PathChange, RecordedCall, describe_ignored};
use super::command_snapshot::read_blob;
use super::path_state::{FileContent, FileStamp, PathState};
use crate::chat::{CallId, CheckpointSpan};
use crate::project::Reader;
use crate::project::rehearsal::{Change, FileNode, Rehearsal};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Changes that restore checkpoints.
#[derive(Debug, Default)]
pub struct RestorePlan {
    /// In the order in which they are made: removals first, inner paths before outer ones.
    pub items: Vec<RestoreItem>,
    /// Folders that are created along with an entry in them, sorted.
    pub new_folders: Vec<Change>,
    /// Folders that are removed once they are empty, inner ones first.
    pub emptied_folders: Vec<Change>,
    /// What cannot be restored, each worded to follow “Not restored: ”.
    pub not_restored: Vec<String>,
    /// The calls whose changes are restored.
    pub undoes: Vec<CallId>,
}

/// One path to restore.
#[derive(Debug)]
pub struct RestoreItem {
    /// From the present state to the one to restore. The path is relative to the project, or absolute if outside it.
    pub change: Change,
    /// Reason why it cannot be restored, if so.
    pub blocked: Option<String>,
    /// Facts that the change does not show.
    pub notes: Vec<String>,
}

/// How far the recorded changes of a path lead back from its present state.
struct Rewound<'a> {
    /// State to restore; `None` if there is nothing to do, or nothing can be done.
    target: Option<&'a PathState>,
    /// True if the path has a state that no recorded change explains.
    is_foreign: bool,
}

impl Checkpoints {
    /// Plans to restore these checkpoints. `live` shows the project without an overlay. Blocks while files are read.
    ///
    /// # Errors
    /// If none of them is stored any more.
    pub fn plan_restore(&self, spans: &[CheckpointSpan], live: &Rehearsal) -> Result<RestorePlan, String> {
        let calls = select_calls(self.read_calls(), spans);
        if calls.is_empty() {
            return Err("These changes are no longer stored, so they cannot be restored.".to_owned());
        }
        let mut plan = RestorePlan::default();
        let mut by_path: BTreeMap<&Path, Vec<&PathChange>> = BTreeMap::new();
        let ignored: Vec<&String> = calls.iter().flat_map(|call| &call.ignored).collect();
        plan.not_restored.extend(describe_ignored(&ignored));
        for call in &calls {
            plan.undoes.push(call.call.clone());
            let new_texts = call.not_stored.iter().filter(|text| !plan.not_restored.contains(text));
            let new_texts: Vec<String> = new_texts.cloned().collect();
            plan.not_restored.extend(new_texts);
            for change in &call.paths {
                by_path.entry(&change.path).or_default().push(change);
            }
        }
        for (path, mut changes) in by_path {
            changes.sort_by_key(|change| change.position);
            if let Some(item) = self.plan_path(path, &changes, live) {
                plan.items.push(item);
            }
        }
        plan.sort_items();
        plan.drop_kept_folders(live);
        Ok(plan)
    }

    /// Plans to restore one path. Returns `None` if it already has the state to restore.
    fn plan_path(&self, path: &Path, changes: &[&PathChange], live: &Rehearsal) -> Option<RestoreItem> {
        let (place, relative) = live_place(live, path);
        let node = place.live_node(&relative);
        let present = present_state(&place.root().join(&relative), &node);
        let Rewound { target, is_foreign } = rewind_path(changes, &present);
        let mut notes = Vec::new();
        let conflict = (is_foreign && target.is_none()).then(|| match changes.last().map(|change| &change.after) {
            Some(PathState::Unknown) => {
                "CONFLICT: a command that is still running, or was killed together with aye, may have changed it"
                    .to_owned()
            }
            _ => "CONFLICT: it changed since; it is not overwritten".to_owned(),
        });
        if is_foreign && target.is_some() {
            notes.push("restored only to the state that something other than aye gave it in between".to_owned());
        }
        let target = match (target, &conflict) {
            (Some(target), _) => target,
            // Shows what would be restored.
            (None, Some(_)) => &changes.first()?.before,
            (None, None) => return None,
        };
        let (after, blocked) = match self.load_node(target, &node, live.root()) {
            Ok(after) => (after, conflict),
            Err(reason) => (node.clone(), Some(conflict.unwrap_or(reason))),
        };
        if after == node && blocked.is_none() {
            return None;
        }
        let unreadable = [&node, &after].into_iter().find_map(|node| match node {
            FileNode::Other(what) => Some(format!("it is {what}, which cannot be restored")),
            _ => None,
        });
        let change = Change { path: path.to_owned(), before: node, after };
        Some(RestoreItem { change, blocked: blocked.or(unreadable), notes })
    }

    /// Loads a recorded state. An unknown mode is that of the present node.
    ///
    /// # Errors
    /// The reason why it cannot be restored.
    fn load_node(&self, state: &PathState, present: &FileNode, root: &Path) -> Result<FileNode, String> {
        let present_mode = match present {
            FileNode::File { mode, .. } | FileNode::Folder { mode } => Some(*mode),
            FileNode::Nothing | FileNode::Link(_) | FileNode::Other(_) => None,
        };
        match state {
            PathState::Nothing => Ok(FileNode::Nothing),
            PathState::Folder { mode } => Ok(FileNode::Folder { mode: mode.or(present_mode).unwrap_or(0o755) }),
            PathState::Link { target } => Ok(FileNode::Link(PathState::link_target(target))),
            PathState::Other { what } => Err(format!("it was {what}, which is not stored")),
            PathState::Unknown => Err("its previous state is not known".to_owned()),
            PathState::File(file) => {
                let bytes = match (&file.content, &file.sha256) {
                    (FileContent::Object, Some(digest)) => self.objects().load(digest),
                    (FileContent::Missing(reason), _) => Err(format!("was not stored: {reason}")),
                    (FileContent::Blob(id), _) => read_blob(root, id, file.stamp.map(|stamp| stamp.size)),
                    (FileContent::Object | FileContent::Unneeded, _) => Err("is not stored".to_owned()),
                };
                let mode = file.mode.or(present_mode).unwrap_or(0o644);
                Ok(FileNode::File { bytes: bytes.map_err(|reason| format!("its content {reason}"))?, mode })
            }
        }
    }
}

/// Returns the project that a recorded path lies in, and the path in it: everything outside the project lies in the root
/// of the disk.
pub(super) fn live_place<'a>(live: &'a Rehearsal, path: &Path) -> (&'a Rehearsal, PathBuf) {
    match (path.strip_prefix("/"), live.outside_overlay()) {
        (Ok(below_root), Some(outside)) => (outside, below_root.to_owned()),
        (_, _) => (live, path.to_owned()),
    }
}

fn present_state(real: &Path, node: &FileNode) -> PathState {
    let metadata = real.symlink_metadata().ok();
    match (PathState::from_node(node), metadata) {
        (PathState::File(file), Some(metadata)) => {
            PathState::File(super::path_state::FileState { stamp: Some(FileStamp::from_metadata(&metadata)), ..file })
        }
        // A file that is too large to be read can still be recognised.
        (PathState::Other { .. }, Some(metadata)) if metadata.is_file() => PathState::from_metadata(real, &metadata),
        (state, _) => state,
    }
}

/// Follows the changes of a path back from its present state. A change that was recorded but not made is skipped, and
/// so is one that was already undone.
fn rewind_path<'a>(changes: &[&'a PathChange], present: &'a PathState) -> Rewound<'a> {
    let mut rewound = Rewound { target: None, is_foreign: false };
    let mut current = present;
    for change in changes.iter().rev() {
        if change.after.is_same(current) {
            current = &change.before;
            rewound.target = Some(current);
        } else if !change.before.is_same(current) {
            rewound.is_foreign = true;
            break;
        }
    }
    rewound
}

/// Returns the calls of these spans, in the order of the log.
fn select_calls(calls: Vec<RecordedCall>, spans: &[CheckpointSpan]) -> Vec<RecordedCall> {
    let position = |id: &str| calls.iter().position(|call| call.id == id);
    let ranges: Vec<(&CheckpointSpan, usize, usize)> = spans
        .iter()
        // The oldest checkpoints are removed first.
        .filter_map(|span| Some((span, position(&span.first).unwrap_or(0), position(&span.last)?)))
        .collect();
    let is_selected = |index: usize, call: &RecordedCall| {
        ranges.iter().any(|(span, first, last)| span.session == call.session && (*first..=*last).contains(&index))
    };
    let selected: Vec<bool> = calls.iter().enumerate().map(|(index, call)| is_selected(index, call)).collect();
    calls.into_iter().zip(selected).filter_map(|(call, is_selected)| is_selected.then_some(call)).collect()
}

impl RestorePlan {
    /// Sorts the items, and takes out the folders that follow from what is in them.
    fn sort_items(&mut self) {
        let (removals, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.items).into_iter().partition(|item| item.change.after == FileNode::Nothing);
        let is_replaced = |item: &RestoreItem| item.change.before.is_folder() && !item.change.after.is_folder();
        let replaced: Vec<PathBuf> =
            others.iter().filter(|item| is_replaced(item)).map(|item| item.change.path.clone()).collect();
        for item in removals.into_iter().rev() {
            // A folder that is replaced must be empty by then.
            let is_in_replaced = replaced.iter().any(|folder| item.change.path.starts_with(folder));
            match item.blocked.is_none() && item.change.before.is_folder() && !is_in_replaced {
                true => self.emptied_folders.push(item.change),
                false => self.items.push(item),
            }
        }
        let paths: Vec<PathBuf> = others.iter().map(|item| item.change.path.clone()).collect();
        for item in others {
            let has_entries = paths.iter().any(|path| *path != item.change.path && path.starts_with(&item.change.path));
            match item.blocked.is_none() && item.change.is_new_folder() && has_entries {
                true => self.new_folders.push(item.change),
                false => self.items.push(item),
            }
        }
    }

    /// Drops the folders that keep an entry, such as a file that git ignores: they stay.
    fn drop_kept_folders(&mut self, live: &Rehearsal) {
        let is_removed = |item: &&RestoreItem| item.blocked.is_none() && item.change.after == FileNode::Nothing;
        let removed_items = self.items.iter().filter(is_removed);
        let mut removed: HashSet<PathBuf> = removed_items.map(|item| item.change.path.clone()).collect();
        // Inner folders come first.
        self.emptied_folders.retain(|folder| {
            let (place, relative) = live_place(live, &folder.path);
            let entries = fs::read_dir(place.root().join(relative)).into_iter().flatten().flatten();
            let is_emptied =
                entries.map(|entry| folder.path.join(entry.file_name())).all(|path| removed.contains(&path));
            is_emptied && removed.insert(folder.path.clone())
        });
    }

    /// Returns the change of a path, if any.
    pub fn find_item(&self, path: &Path) -> Option<&RestoreItem> {
        self.items.iter().find(|item| item.change.path == path)
    }

    /// Returns whether anything would change.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.emptied_folders.is_empty()
    }
}
