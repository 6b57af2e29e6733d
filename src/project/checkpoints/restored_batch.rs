//! Restoring as a batch: one item per path, which the user can reject, and the changes that restore it.

use super::call_recorder::CallRecorder;
use super::change_log::Checkpoints;
use super::restore_plan::{RestoreItem, RestorePlan, live_place};
use crate::chat::batch::{Batch, BatchWork, Group, Item, Operation};
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{Access, CheckpointSpan};
use crate::project::batch::{ItemOutcome, describe_operation, digest_operations};
use crate::project::disk::Disk;
use crate::project::operations::determine_access;
use crate::project::rehearsal::{Change, FileNode, Rehearsal};
use crate::project::{Error, Reader, change_summary};
use crate::text::escaped_path::escape_path;
use std::path::Path;
use std::sync::Arc;

/// Restores checkpoints of a project.
pub struct Restoration {
    checkpoints: Arc<Checkpoints>,
    /// The project without changes in an overlay.
    live: Rehearsal,
}

impl Restoration {
    pub fn new(checkpoints: Arc<Checkpoints>, disk: Arc<Disk>) -> Self {
        let live = Rehearsal::new(disk, checkpoints.no_overlay());
        Self { checkpoints, live }
    }

    /// Plans to restore these checkpoints.
    ///
    /// # Errors
    /// If none of them is stored any more.
    pub fn plan(&self, spans: &[CheckpointSpan]) -> Result<RestorePlan, String> {
        self.checkpoints.plan_restore(spans, &self.live)
    }

    /// Returns the plan as a batch, and the work that restores it.
    pub fn draft_batch(&self, plan: &RestorePlan) -> (Batch, BatchWork) {
        let operations = |item: &RestoreItem| vec![describe_operation(&item.change)];
        let items = plan.items.iter().map(|item| self.draft_item(plan, item)).collect();
        let notes = plan.not_restored.iter().map(|text| format!("Not restored: {text}.")).collect();
        let work = BatchWork {
            items: plan.items.iter().map(operations).collect(),
            folders: plan.emptied_folders.iter().map(describe_operation).collect(),
            ..BatchWork::default()
        };
        (Batch { group: Group::Source, notes, items }, work)
    }

    fn draft_item(&self, plan: &RestorePlan, item: &RestoreItem) -> Item {
        let change = &item.change;
        let summary = change_summary::describe_node_change(change, false);
        let (access, unreachable) = self.find_access(plan, &change.path);
        let display_path = escape_path(&change.path);
        let destroys = match (&change.before, &change.after) {
            (_, FileNode::Nothing) => Some(format!("deletes {display_path}")),
            _ if change.path.is_absolute() => Some(format!("changes {display_path}, which is outside the project")),
            (FileNode::Nothing, _) | (FileNode::File { .. }, FileNode::File { .. }) => None,
            (FileNode::Folder { .. }, FileNode::Folder { .. }) => None,
            (_, _) => Some(format!("replaces {display_path} with another file type")),
        };
        let mut notes: Vec<String> = summary.notes.into_iter().filter(|note| note != "deleted").collect();
        notes.extend(item.notes.iter().cloned());
        if matches!(access, Access::WriteOutside(_)) && !change.path.is_absolute() {
            notes.push("may hold secrets or configure other programs".to_owned());
        }
        let reason = item.blocked.clone().or(unreachable);
        Item {
            path: change.path.clone(),
            from: None,
            kind: summary.kind,
            is_folder: summary.is_folder,
            diff: summary.diff,
            notes,
            blocked: reason.map(|reason| format!("{display_path}: {reason}")),
            destroys,
            access,
            sha256: digest_operations(&[describe_operation(change)]),
        }
    }

    /// Returns the access of restoring a path, and the reason if it cannot be reached. Below a link or file that becomes
    /// a folder again, what the link leads to does not matter.
    fn find_access(&self, plan: &RestorePlan, path: &Path) -> (Access, Option<String>) {
        let becomes_folder = |change: &Change| change.after.is_folder() && !change.before.is_folder();
        let is_outer = |item: &&RestoreItem| {
            item.blocked.is_none()
                && becomes_folder(&item.change)
                && path != item.change.path
                && path.starts_with(&item.change.path)
        };
        let Some(outer) = plan.items.iter().find(is_outer) else { return determine_access(&self.live, path) };
        match determine_access(&self.live, &outer.change.path) {
            (Access::Write(_), reason) if !is_sensitive(path) => (Access::Write(path.to_owned()), reason),
            (_, reason) => (Access::WriteOutside(path.to_owned()), reason),
        }
    }

    /// Restores one path without the hunks that begin at the lines `rejected`. `plan` is made from the present state:
    /// if that differs from the one that was approved, nothing is changed.
    pub fn restore_item(
        &self,
        plan: &RestorePlan,
        operations: &[Operation],
        rejected: &[usize],
        recorder: &CallRecorder,
    ) -> ItemOutcome {
        let [operation] = operations else { return ItemOutcome::Failed("it has no change".to_owned()) };
        let path = &operation.path;
        let differs = || ItemOutcome::Conflict(format!("{} differs from the preview", escape_path(path)));
        let Some(item) = plan.find_item(path) else { return ItemOutcome::AlreadyApplied };
        if item.blocked.is_some() || describe_operation(&item.change).sha256 != operation.sha256 {
            return differs();
        }
        let mut change = item.change.clone();
        if !rejected.is_empty() {
            let edit = change_summary::diff_change(&change).and_then(|edit| edit.without_hunks(rejected));
            match (edit, &mut change.after) {
                (Some(edit), FileNode::File { bytes, .. }) => *bytes = edit.after.into_bytes(),
                _ => return differs(),
            }
        }
        let parents = plan.new_folders.iter().filter(|folder| path.starts_with(&folder.path));
        let missing = parents.filter(|folder| !self.exists(&folder.path));
        let made = missing.into_iter().try_for_each(|folder| self.write(folder, recorder));
        match made.and_then(|()| self.write(&change, recorder)) {
            Ok(()) => ItemOutcome::Applied,
            Err(Error::Changed(_)) => ItemOutcome::Conflict(format!("{} changed meanwhile", escape_path(path))),
            Err(error) => ItemOutcome::Failed(error.to_string()),
        }
    }

    /// Removes folders that did not exist before, as far as they are empty now.
    pub fn remove_emptied(&self, plan: &RestorePlan, recorder: &CallRecorder) {
        for folder in &plan.emptied_folders {
            let (place, relative) = live_place(&self.live, &folder.path);
            let entries = std::fs::read_dir(place.root().join(relative));
            if entries.is_ok_and(|mut entries| entries.next().is_none()) {
                // If something is added meanwhile, this fails and the folder stays.
                let _ = self.write(folder, recorder);
            }
        }
    }

    fn exists(&self, path: &Path) -> bool {
        let (place, relative) = live_place(&self.live, path);
        place.root().join(relative).symlink_metadata().is_ok()
    }

    fn write(&self, change: &Change, recorder: &CallRecorder) -> Result<(), Error> {
        let (place, path) = live_place(&self.live, &change.path);
        place.change_live(&Change { path, ..change.clone() }, recorder)
    }
}
