//! Applies one group of a dry run's changes, item by item.

mod ignored_note;
mod moves;

use super::checkpoints::CallRecorder;
use super::groups::GroupClassifier;
use super::operations::determine_access;
use super::path::list_parents;
use super::rehearsal::{Change, FileNode, Fingerprint, Rehearsal};
use super::{Error, FileKind, Reader, change_summary, git_state};
use crate::chat::batch::{Batch, BatchWork, Group, Item, Operation, find_repository};
use crate::chat::{Access, ChangeKind, Digest};
use std::path::{Path, PathBuf};

pub use super::operations::{describe_operation, digest_operations};

/// Result of applying one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemOutcome {
    Applied,
    /// The project already had this state.
    AlreadyApplied,
    /// Something changed since the dry run; no part of the item was applied.
    Conflict(String),
    /// Applying failed; the text says which part was applied.
    Failed(String),
}

/// Returns the changes of a group and the operations that apply them. `repository` is the `.git` folder, used
/// only for [`Group::Repository`].
///
/// # Errors
/// If the overlay's disk fails.
pub fn draft_batch(
    rehearsal: &Rehearsal,
    group: Group,
    repository: Option<&Path>,
) -> Result<(Batch, BatchWork), Error> {
    let mut groups = GroupClassifier::new(rehearsal);
    let mut notes = Vec::new();
    if group == Group::Source && !groups.has_repository() {
        notes.push("The project is not in a git repository, so no file counts as ignored.".to_owned());
    }
    let changed_paths = rehearsal.overlay_paths()?;
    let has_changes_inside = |path: &Path| changed_paths.iter().any(|other| other != path && other.starts_with(path));
    let (mut examined, mut folders, mut ignored) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_repository, mut unapplied_count) = (Vec::new(), 0);
    for path in &changed_paths {
        let (is_folder, is_deleted) = folder_state(rehearsal, path);
        let path_group = groups.classify(path, is_folder);
        if path_group == Group::Repository && group == path_group && find_repository(path).as_deref() == repository {
            in_repository.push(path.clone());
        }
        // The item of a repository has a note with the number of source changes that are not applied.
        if group == Group::Repository && path_group == Group::Source && !is_folder {
            unapplied_count += usize::from(rehearsal.change_at(path)?.is_some());
        }
        // Emptied folders of the repository state are kept, because only git knows which objects are garbage.
        let is_emptied_folder = is_folder
            && is_deleted
            && path_group != Group::Repository
            && has_changes_inside(path)
            && !is_in_replaced(rehearsal, path);
        if group == Group::Repository || path_group != group && !is_emptied_folder {
            if group == Group::Source && path_group == Group::Ignored && !is_folder {
                ignored.push(path.clone());
            }
            continue;
        }
        let Some(change) = rehearsal.change_at(path)? else { continue };
        if is_emptied_folder {
            folders.push(describe_operation(&change));
        } else if !(change.is_new_folder() && has_new_below(rehearsal, &changed_paths, path)?) {
            examined.push(examine_change(rehearsal, group, &change));
        }
    }
    if group == Group::Repository {
        let git = repository.unwrap_or(Path::new(".git"));
        return git_state::draft_state(rehearsal, git, (&in_repository, unapplied_count));
    }
    notes.extend(ignored_note::describe_ignored_files(rehearsal, &mut groups, &ignored)?);
    // Inner folders come first, so that their parents are empty when they are deleted.
    folders.reverse();
    let created_targets = moves::find_created_targets(rehearsal, &changed_paths, &examined)?;
    let paired = moves::pair_moves(combine_replaced_folders(examined), &created_targets);
    let mut work = BatchWork { folders, ..BatchWork::default() };
    let mut batch = Batch { group, notes, items: Vec::new() };
    for (item, operations) in paired {
        batch.items.push(item);
        work.items.push(operations);
    }
    Ok((batch, work))
}

/// Returns whether a path is or was a folder, and whether the dry run deleted it.
fn folder_state(rehearsal: &Rehearsal, path: &Path) -> (bool, bool) {
    let real = rehearsal.root().join(path);
    match rehearsal.file_kind(&rehearsal.locate_below(real.clone())) {
        Some(kind) => (kind == FileKind::Folder, false),
        None => (real.symlink_metadata().is_ok_and(|meta| meta.is_dir()), true),
    }
}

/// Returns whether a parent folder was replaced by another file type, which removes this path with it.
fn is_in_replaced(rehearsal: &Rehearsal, path: &Path) -> bool {
    let kind = |folder: &Path| rehearsal.file_kind(&rehearsal.locate_below(rehearsal.root().join(folder)));
    list_parents(path).into_iter().any(|folder| kind(folder).is_some_and(|kind| kind != FileKind::Folder))
}

/// Returns whether the dry run created or changed something in a folder, so that the folder is created along with it.
fn has_new_below(rehearsal: &Rehearsal, changed_paths: &[PathBuf], path: &Path) -> Result<bool, Error> {
    for inner in changed_paths.iter().filter(|below| below.starts_with(path) && *below != path) {
        if rehearsal.change_at(inner)?.is_some_and(|change| change.after != FileNode::Nothing) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An examined change, without its content.
struct ExaminedChange {
    operation: Operation,
    item: Item,
    before: Fingerprint,
    after: Fingerprint,
}

fn examine_change(rehearsal: &Rehearsal, group: Group, change: &Change) -> ExaminedChange {
    let summary = change_summary::describe_change(rehearsal, change);
    let operation = describe_operation(change);
    let display_path = change.path.display();
    let (access, mut blocked) = determine_access(rehearsal, &change.path);
    for node in [&change.before, &change.after] {
        if let FileNode::Other(kind) = node {
            blocked = Some(format!("cannot be applied: {display_path} is {kind}"));
        }
    }
    if summary.has_conflict {
        blocked = Some(format!("CONFLICT: {display_path} changed since the dry run; it is not overwritten"));
    }
    let is_outside = rehearsal.locate_live(&change.path).is_ok_and(|location| !location.is_inside);
    let destroys = match (&change.before, &change.after) {
        (_, FileNode::Nothing) => Some(format!("deletes {display_path}")),
        _ if is_outside => Some(format!("changes {display_path}, which is outside the project")),
        _ if group == Group::GitSettings => Some(format!("changes {display_path}, which git runs or reads")),
        (FileNode::Nothing | FileNode::File { .. }, FileNode::File { .. })
        | (FileNode::Folder { .. }, FileNode::Folder { .. })
        | (FileNode::Nothing, _) => None,
        (_, _) => Some(format!("replaces {display_path} with another file type")),
    };
    let mut notes: Vec<String> = summary.notes.into_iter().filter(|note| note != "deleted").collect();
    let diff = match (group, summary.diff) {
        // Build output is listed without its diff.
        (Group::Ignored, Some(diff)) => {
            notes.push(format!("+{} −{}", diff.added, diff.removed));
            None
        }
        (_, diff) => diff,
    };
    if matches!(access, Access::WriteOutside(_)) && !is_outside && group != Group::GitSettings {
        notes.push("may hold secrets or configure other programs".to_owned());
    }
    // Use the state before the dry run, so that a move is recognised even if its source or target changed since.
    let origin = rehearsal.origin(&change.path).filter(|origin| origin.is_nothing() || origin.file_digest().is_some());
    let before = origin.unwrap_or_else(|| Fingerprint::from_node(&change.before));
    let item = Item {
        path: change.path.clone(),
        from: None,
        kind: summary.kind,
        is_folder: summary.is_folder,
        diff,
        notes,
        blocked,
        destroys,
        access,
        sha256: digest_operations(std::slice::from_ref(&operation)),
    };
    ExaminedChange { operation, item, before, after: Fingerprint::from_node(&change.after) }
}

/// Combines a folder that is replaced and everything that was in it into one item. The content is removed first.
fn combine_replaced_folders(examined: Vec<ExaminedChange>) -> Vec<(ExaminedChange, Vec<Operation>)> {
    let mut combined: Vec<(ExaminedChange, Vec<Operation>)> = Vec::new();
    for change in examined {
        let replaced_folder = combined.iter_mut().rev().find(|(folder, _)| {
            folder.before.is_folder()
                && !folder.after.is_folder()
                && change.operation.path.starts_with(&folder.operation.path)
        });
        match replaced_folder {
            Some((folder, operations)) => {
                operations.insert(0, change.operation);
                folder.item.blocked = folder.item.blocked.take().or(change.item.blocked);
                folder.item.notes.push(format!("includes: {}", change.item.path.display()));
                folder.item.sha256 = digest_operations(operations);
                // The strictest access of all parts is checked.
                if matches!(change.item.access, Access::WriteOutside(_)) {
                    folder.item.access = change.item.access;
                }
            }
            None => {
                let operations = vec![change.operation.clone()];
                combined.push((change, operations));
            }
        }
    }
    combined
}

/// Applies one item without the hunks that begin at the lines `rejected`. First compares every path again, so that a
/// conflict leaves the whole item unapplied. Stops at the first change that fails; the source of a move is then kept.
pub fn apply_item(
    rehearsal: &Rehearsal,
    operations: &[Operation],
    rejected: &[usize],
    recorder: &CallRecorder,
) -> ItemOutcome {
    let mut changes = Vec::new();
    let first_path = operations.first().map(|operation| operation.path.as_path()).unwrap_or(Path::new(""));
    let is_ignored = false;
    // Whether the path is a file or a folder is not known here, so both are tried.
    let is_repository_state = [false, true]
        .into_iter()
        .any(|is_folder| Group::classify(first_path, is_folder, is_ignored) == Group::Repository);
    if let (true, Some(git)) = (is_repository_state, find_repository(first_path))
        && let Some(reason) = git_state::blocked_reason(rehearsal, &git)
    {
        return ItemOutcome::Conflict(reason);
    }
    for Operation { path, sha256 } in operations {
        let has_conflict = || match is_repository_state {
            true => git_state::is_state_conflict(rehearsal, path),
            false => rehearsal.is_conflict(path),
        };
        match rehearsal.change_at(path) {
            Err(error) => return ItemOutcome::Failed(error.to_string()),
            Ok(None) => {}
            Ok(Some(_)) if has_conflict() => {
                return ItemOutcome::Conflict(format!("{} changed since the dry run", path.display()));
            }
            Ok(Some(change)) if describe_operation(&change).sha256 != *sha256 => {
                return ItemOutcome::Conflict(format!("{} differs from the preview", path.display()));
            }
            Ok(Some(change)) => changes.push(change),
        }
    }
    if changes.is_empty() {
        return ItemOutcome::AlreadyApplied;
    }
    if let Some(path) = find_unknown_entry(rehearsal, &changes) {
        return ItemOutcome::Conflict(format!("{} was added since the dry run", path.display()));
    }
    if let ([change], [_, ..]) = (changes.as_mut_slice(), rejected) {
        let edit = change_summary::diff_change(change).and_then(|edit| edit.without_hunks(rejected));
        // Only hunks can be rejected, so a change of the mode is applied.
        match (edit, &mut change.after) {
            (Some(edit), FileNode::File { bytes, .. }) => *bytes = edit.after.into_bytes(),
            _ => return ItemOutcome::Conflict(format!("{} differs from the preview", change.path.display())),
        }
    }
    for (index, change) in changes.iter().enumerate() {
        if let Err(error) =
            make_folders(rehearsal, &change.path, recorder).and_then(|()| rehearsal.apply_change(change, recorder))
        {
            return match (error, index) {
                (Error::Changed(path), 0) => {
                    ItemOutcome::Conflict(format!("{} changed since the dry run", path.display()))
                }
                (error, 0) => ItemOutcome::Failed(error.to_string()),
                (error, applied_count) => {
                    ItemOutcome::Failed(format!("{applied_count} of {} paths applied, then: {error}", changes.len()))
                }
            };
        }
    }
    ItemOutcome::Applied
}

/// Returns a path that the dry run did not delete, in a folder that is to be removed; `None` if there is none.
fn find_unknown_entry(rehearsal: &Rehearsal, changes: &[Change]) -> Option<PathBuf> {
    let removes_folder = |change: &&Change| change.before.is_folder() && !change.after.is_folder();
    changes.iter().filter(removes_folder).find_map(|folder| {
        let entries = std::fs::read_dir(rehearsal.root().join(&folder.path)).ok()?.flatten();
        let mut paths = entries.map(|entry| folder.path.join(entry.file_name()));
        paths.find(|path| !changes.iter().any(|change| change.path == *path))
    })
}

/// Creates the missing parent folders that the dry run created, each with its mode.
fn make_folders(rehearsal: &Rehearsal, path: &Path, recorder: &CallRecorder) -> Result<(), Error> {
    for folder in list_parents(path) {
        if rehearsal.root().join(folder).symlink_metadata().is_err()
            && let Some(change) = rehearsal.change_at(folder)?.filter(Change::is_new_folder)
        {
            rehearsal.apply_change(&change, recorder)?;
        }
    }
    Ok(())
}

/// Deletes the folders that the dry run deleted and that are now empty.
pub fn delete_empty(rehearsal: &Rehearsal, folders: &[Operation], recorder: &CallRecorder) {
    for folder in folders {
        let entries = std::fs::read_dir(rehearsal.root().join(&folder.path));
        let is_empty = entries.is_ok_and(|mut entries| entries.next().is_none());
        if let (true, Ok(Some(change))) = (is_empty, rehearsal.change_at(&folder.path))
            && describe_operation(&change).sha256 == folder.sha256
        {
            // If something was added to it in the meantime, this fails and the folder stays.
            let _ = rehearsal.apply_change(&change, recorder);
        }
    }
}

#[cfg(test)]
mod tests;
