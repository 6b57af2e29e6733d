//! Applies one group of a dry run's changes, item by item.

mod examined_change;
mod ignored_note;
mod moves;

use super::groups::GroupClassifier;
use super::operations::determine_access;
use super::rehearsal::{Change, FileNode, Rehearsal};
use super::{Error, FileKind, Reader, change_summary, git_state};
use crate::chat::batch::{Batch, BatchWork, Group, Item, Operation, repository_of};
use crate::chat::{Access, ChangeKind, Digest};
use examined_change::{ExaminedChange, NodeSummary};
use std::path::{Path, PathBuf};

pub use super::operations::{describe_operation, digest_operations};

/// Result of applying one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Applied,
    /// The project already had this state.
    AlreadyApplied,
    /// Something changed since the dry run; no part of the item was applied.
    Conflict(String),
    /// Applying failed; the text says which part was applied.
    Failed(String),
}

/// Returns the changes of a group and the operations that apply them. `repository` selects the `.git` folder and is
/// used only for that group.
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
    let touched = rehearsal.overlay_paths()?;
    let has_below = |path: &Path| touched.iter().any(|other| other != path && other.starts_with(path));
    let (mut seen, mut folders, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_repository, mut unapplied) = (Vec::new(), 0);
    for path in &touched {
        let (is_folder, is_gone) = folder_state(rehearsal, path);
        let own = groups.classify(path, is_folder);
        if own == Group::Repository && group == own && repository_of(path).as_deref() == repository {
            in_repository.push(path.clone());
        }
        if group == Group::Repository && own == Group::Source && !is_folder {
            unapplied += usize::from(rehearsal.change_at(path)?.is_some());
        }
        // Below `objects` only git decides which files are garbage.
        let goes_empty =
            is_folder && is_gone && own != Group::Repository && has_below(path) && !is_in_replaced(rehearsal, path);
        if group == Group::Repository || own != group && !goes_empty {
            if group == Group::Source && own == Group::Ignored && !is_folder {
                left_out.push(path.clone());
            }
            continue;
        }
        let Some(change) = rehearsal.change_at(path)? else { continue };
        if goes_empty {
            folders.push(describe_operation(&change));
        } else if !(is_new_folder(&change) && has_new_below(rehearsal, &touched, path)?) {
            seen.push(examine_change(rehearsal, group, &change));
        }
    }
    if group == Group::Repository {
        let git = repository.unwrap_or(Path::new(".git"));
        return git_state::draft_state(rehearsal, git, (&in_repository, unapplied));
    }
    notes.extend(ignored_note::describe_ignored_files(rehearsal, &mut groups, &left_out)?);
    folders.reverse();
    let done = moves::find_created_targets(rehearsal, &touched, &seen)?;
    let seen = moves::pair_moves(combine_replaced_folders(seen), &done);
    let mut work = BatchWork { folders, ..BatchWork::default() };
    let mut batch = Batch { group, notes, items: Vec::new() };
    for (item, operations) in seen {
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
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let kind = |above: &Path| rehearsal.file_kind(&rehearsal.locate_below(rehearsal.root().join(above)));
    above.into_iter().any(|above| kind(above).is_some_and(|kind| kind != FileKind::Folder))
}

/// Returns whether the dry run created or changed something in a folder, so that the folder is created along with it.
fn has_new_below(rehearsal: &Rehearsal, touched: &[PathBuf], path: &Path) -> Result<bool, Error> {
    for below in touched.iter().filter(|below| below.starts_with(path) && *below != path) {
        if rehearsal.change_at(below)?.is_some_and(|change| change.after != FileNode::Nothing) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_new_folder(change: &Change) -> bool {
    matches!((&change.before, &change.after), (FileNode::Nothing, FileNode::Folder { .. }))
}

fn examine_change(rehearsal: &Rehearsal, group: Group, change: &Change) -> ExaminedChange {
    let summary = change_summary::describe_change(rehearsal, change);
    let operation = describe_operation(change);
    let shown = change.path.display();
    let (access, mut blocked) = determine_access(rehearsal, &change.path);
    for node in [&change.before, &change.after] {
        if let FileNode::Other(words) = node {
            blocked = Some(format!("cannot be applied: {shown} is {words}"));
        }
    }
    if summary.has_conflict {
        blocked = Some(format!("CONFLICT: {shown} changed since the dry run; it is not overwritten"));
    }
    let outside = rehearsal.locate_live(&change.path).is_ok_and(|at| !at.is_inside);
    let destroys = match (&change.before, &change.after) {
        (_, FileNode::Nothing) => Some(format!("deletes {shown}")),
        _ if outside => Some(format!("changes {shown}, which is outside the project")),
        _ if group == Group::GitSettings => Some(format!("changes {shown}, which git runs or reads")),
        (FileNode::Nothing | FileNode::File { .. }, FileNode::File { .. })
        | (FileNode::Folder { .. }, FileNode::Folder { .. })
        | (FileNode::Nothing, _) => None,
        (_, _) => Some(format!("replaces {shown} with another file type")),
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
    if matches!(access, Access::WriteOutside(_)) && !outside && group != Group::GitSettings {
        notes.push("may hold secrets or configure other programs".to_owned());
    }
    let kept = |node: &FileNode| match node {
        FileNode::Nothing => NodeSummary::Nothing,
        FileNode::File { bytes, .. } => NodeSummary::File((!bytes.is_empty()).then(|| Digest::of_bytes(bytes))),
        FileNode::Folder { .. } => NodeSummary::Folder,
        FileNode::Link(_) | FileNode::Other(_) => NodeSummary::Other,
    };
    // A move is recognised even if the source or the target changed since.
    let origin = rehearsal.origin(&change.path);
    let before = match origin.as_ref().map(|origin| (origin.is_nothing(), origin.file_digest())) {
        Some((true, _)) => NodeSummary::Nothing,
        Some((_, Some(held))) => NodeSummary::File((*held != Digest::of_bytes(b"")).then(|| held.clone())),
        Some((false, None)) | None => kept(&change.before),
    };
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
    ExaminedChange { operation, item, before, after: kept(&change.after) }
}

/// Combines a folder that is replaced and everything that was in it into one item. The content is removed first.
fn combine_replaced_folders(seen: Vec<ExaminedChange>) -> Vec<(ExaminedChange, Vec<Operation>)> {
    let mut all: Vec<(ExaminedChange, Vec<Operation>)> = Vec::new();
    for one in seen {
        let replaced = all.iter_mut().rev().find(|(above, _)| {
            above.before == NodeSummary::Folder
                && above.after != NodeSummary::Folder
                && one.operation.path.starts_with(&above.operation.path)
        });
        match replaced {
            Some((above, operations)) => {
                operations.insert(0, one.operation);
                above.item.blocked = above.item.blocked.take().or(one.item.blocked);
                above.item.notes.push(format!("includes: {}", one.item.path.display()));
                above.item.sha256 = digest_operations(operations);
                // The strictest access of all parts is checked.
                if matches!(one.item.access, Access::WriteOutside(_)) {
                    above.item.access = one.item.access;
                }
            }
            None => {
                let operations = vec![one.operation.clone()];
                all.push((one, operations));
            }
        }
    }
    all
}

/// Applies one item without the hunks that begin at these lines. First compares every path again, so that a conflict
/// leaves the whole item unapplied. Stops at the first change that fails; the source of a move is then kept.
pub fn apply_item(rehearsal: &Rehearsal, operations: &[Operation], rejected: &[usize]) -> Applied {
    let mut changes = Vec::new();
    let first = operations.first().map(|operation| operation.path.as_path()).unwrap_or(Path::new(""));
    let is_state = Group::classify(first, false, false) == Group::Repository
        || Group::classify(first, true, false) == Group::Repository;
    if let (true, Some(git)) = (is_state, repository_of(first))
        && let Some(why) = git_state::blocked_reason(rehearsal, &git)
    {
        return Applied::Conflict(why);
    }
    for Operation { path, sha256 } in operations {
        let conflict = || match is_state {
            true => git_state::is_state_conflict(rehearsal, path),
            false => rehearsal.is_conflict(path),
        };
        match rehearsal.change_at(path) {
            Err(error) => return Applied::Failed(error.to_string()),
            Ok(None) => {}
            Ok(Some(_)) if conflict() => {
                return Applied::Conflict(format!("{} changed since the dry run", path.display()));
            }
            Ok(Some(change)) if describe_operation(&change).sha256 != *sha256 => {
                return Applied::Conflict(format!("{} differs from the preview", path.display()));
            }
            Ok(Some(change)) => changes.push(change),
        }
    }
    if changes.is_empty() {
        return Applied::AlreadyApplied;
    }
    if let Some(path) = find_unknown_entry(rehearsal, &changes) {
        return Applied::Conflict(format!("{} was added since the dry run", path.display()));
    }
    if let ([change], [_, ..]) = (changes.as_mut_slice(), rejected) {
        let edit = change_summary::diff_change(change).and_then(|edit| edit.without_hunks(rejected));
        match (edit, &change.before) {
            (Some(edit), FileNode::File { mode, .. }) => {
                change.after = FileNode::File { bytes: edit.after.into_bytes(), mode: *mode };
            }
            _ => return Applied::Conflict(format!("{} differs from the preview", change.path.display())),
        }
    }
    for (at, change) in changes.iter().enumerate() {
        if let Err(error) = make_folders(rehearsal, &change.path).and_then(|()| rehearsal.apply_change(change)) {
            return match (error, at) {
                (Error::Changed(path), 0) => Applied::Conflict(format!("{} changed since the dry run", path.display())),
                (error, 0) => Applied::Failed(error.to_string()),
                (error, done) => Applied::Failed(format!("{done} of {} paths applied, then: {error}", changes.len())),
            };
        }
    }
    Applied::Applied
}

/// Returns a path in a folder to be removed that the dry run did not delete.
fn find_unknown_entry(rehearsal: &Rehearsal, changes: &[Change]) -> Option<PathBuf> {
    let goes = |change: &&Change| {
        matches!(change.before, FileNode::Folder { .. }) && !matches!(change.after, FileNode::Folder { .. })
    };
    changes.iter().filter(goes).find_map(|folder| {
        let entries = std::fs::read_dir(rehearsal.root().join(&folder.path)).ok()?.flatten();
        let mut paths = entries.map(|entry| folder.path.join(entry.file_name()));
        paths.find(|path| !changes.iter().any(|change| change.path == *path))
    })
}

/// Creates the missing parent folders that the dry run created, each with its mode.
fn make_folders(rehearsal: &Rehearsal, path: &Path) -> Result<(), Error> {
    let mut way: Vec<&Path> = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    way.reverse();
    for folder in way {
        if rehearsal.root().join(folder).symlink_metadata().is_ok() {
            continue;
        }
        match rehearsal.change_at(folder)? {
            Some(change) if is_new_folder(&change) => rehearsal.apply_change(&change)?,
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// Deletes the folders that the dry run deleted and that are now empty.
pub fn delete_empty(rehearsal: &Rehearsal, folders: &[Operation]) {
    for folder in folders {
        let empty = std::fs::read_dir(rehearsal.root().join(&folder.path));
        let empty = empty.is_ok_and(|mut entries| entries.next().is_none());
        if let (true, Ok(Some(change))) = (empty, rehearsal.change_at(&folder.path))
            && describe_operation(&change).sha256 == folder.sha256
        {
            // If something was added to it in the meantime, this fails and the folder stays.
            let _ = rehearsal.apply_change(&change);
        }
    }
}

#[cfg(test)]
mod tests;
