//! Applies one group of a dry run's changes, item by item.

mod left_out;
mod moves;

use super::groups::Groups;
use super::rehearsal::{Change, Node, Rehearsal};
use super::{Error, Kind, Reader, altered, repository};
use crate::chat::altered::Did;
use crate::chat::batch::{Batch, BatchWork, Group, Item, Operation, repository_of};
use crate::chat::{Access, Digest};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Result of applying one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// The project already had this state.
    Already,
    /// Something changed since the dry run; no part of the item was applied.
    Conflict(String),
    /// Applying failed; the text says which part was applied.
    Failed(String),
}

/// An examined change, without its content.
struct Seen {
    operation: Operation,
    item: Item,
    before: Kept,
    after: Kept,
}

/// Content of a node, reduced to what detecting moves needs.
#[derive(Clone, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// Hash of the content; `None` for an empty file, because all empty files are equal.
    File(Option<Digest>),
    Folder,
    Other,
}

/// Returns the changes of a group and the operations that apply them. `repository` selects the `.git` folder and is
/// used only for that group.
///
/// # Errors
/// If the overlay's disk fails.
pub fn draft(
    rehearsal: &Rehearsal,
    group: Group,
    repository: Option<&Path>,
) -> Result<(Batch, BatchWork), Error> {
    let mut groups = Groups::new(rehearsal);
    let mut notes = Vec::new();
    if group == Group::Source && !groups.has_repository() {
        notes.push("The project is not in a git repository, so no file counts as ignored.".to_owned());
    }
    let touched = rehearsal.touched()?;
    let has_below = |path: &Path| touched.iter().any(|other| other != path && other.starts_with(path));
    let (mut seen, mut folders, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_repository, mut unapplied) = (Vec::new(), 0);
    for path in &touched {
        let (is_folder, is_gone) = kind(rehearsal, path);
        let own = groups.of(path, is_folder);
        if own == Group::Repository && group == own && repository_of(path).as_deref() == repository {
            in_repository.push(path.clone());
        }
        if group == Group::Repository && own == Group::Source && !is_folder {
            unapplied += usize::from(rehearsal.change(path)?.is_some());
        }
        // Below `objects` only git decides which files are garbage.
        let goes_empty = is_folder
            && is_gone
            && own != Group::Repository
            && has_below(path)
            && !is_in_replaced(rehearsal, path);
        if group == Group::Repository || own != group && !goes_empty {
            if group == Group::Source && own == Group::Ignored && !is_folder {
                left_out.push(path.clone());
            }
            continue;
        }
        let Some(change) = rehearsal.change(path)? else { continue };
        if goes_empty {
            folders.push(operation(&change));
        } else if !(is_new_folder(&change) && has_new_below(rehearsal, &touched, path)?) {
            seen.push(see(rehearsal, group, &change));
        }
    }
    if group == Group::Repository {
        let git = repository.unwrap_or(Path::new(".git"));
        return repository::draft(rehearsal, git, (&in_repository, unapplied));
    }
    notes.extend(left_out::note(rehearsal, &mut groups, &left_out)?);
    folders.reverse();
    let done = moves::in_place(rehearsal, &touched, &seen)?;
    let seen = moves::pair(with_what_is_below(seen), &done);
    let mut work = BatchWork { folders, ..BatchWork::default() };
    let mut batch = Batch { group, notes, items: Vec::new() };
    for (item, operations) in seen {
        batch.items.push(item);
        work.items.push(operations);
    }
    Ok((batch, work))
}

/// Returns whether a path is or was a folder, and whether the dry run deleted it.
fn kind(rehearsal: &Rehearsal, path: &Path) -> (bool, bool) {
    let real = rehearsal.root().join(path);
    match rehearsal.kind(&rehearsal.at(real.clone())) {
        Some(kind) => (kind == Kind::Folder, false),
        None => (real.symlink_metadata().is_ok_and(|meta| meta.is_dir()), true),
    }
}

/// Returns whether a parent folder was replaced by another file type, which removes this path with it.
fn is_in_replaced(rehearsal: &Rehearsal, path: &Path) -> bool {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let kind = |above: &Path| rehearsal.kind(&rehearsal.at(rehearsal.root().join(above)));
    above.into_iter().any(|above| kind(above).is_some_and(|kind| kind != Kind::Folder))
}

/// Returns whether the dry run created or changed something in a folder, so that the folder is created along with it.
fn has_new_below(rehearsal: &Rehearsal, touched: &[PathBuf], path: &Path) -> Result<bool, Error> {
    for below in touched.iter().filter(|below| below.starts_with(path) && *below != path) {
        if rehearsal.change(below)?.is_some_and(|change| change.after != Node::Nothing) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_new_folder(change: &Change) -> bool {
    matches!((&change.before, &change.after), (Node::Nothing, Node::Folder { .. }))
}

/// Returns the operation for one change, with a hash of its state before and after.
pub fn operation(change: &Change) -> Operation {
    let node = |node: &Node| match node {
        Node::Nothing => "nothing".to_owned(),
        Node::File { bytes, mode } => format!("file {mode:o} {}", Digest::of(bytes)),
        Node::Folder { mode } => format!("folder {mode:o}"),
        Node::Link(to) => format!("link {}", Digest::of(to.as_os_str().as_bytes())),
        Node::Other(words) => format!("other {}", Digest::of(words.as_bytes())),
    };
    let path = Digest::of(change.path.as_os_str().as_bytes());
    let text = format!("{path} {} {}", node(&change.before), node(&change.after));
    Operation { path: change.path.clone(), sha256: Digest::of(text.as_bytes()) }
}

/// Returns the hash of several operations.
pub fn digest(operations: &[Operation]) -> Digest {
    let all: Vec<&str> = operations.iter().map(|operation| operation.sha256.as_str()).collect();
    Digest::of(all.join("\n").as_bytes())
}

/// Returns the access that the policy checks for a path, and the reason if it cannot be applied.
pub(super) fn access(rehearsal: &Rehearsal, path: &Path) -> (Access, Option<String>) {
    match rehearsal.place(path) {
        Ok(at) if at.inside && !at.sensitive => (Access::Write(at.shown), None),
        Ok(at) => (Access::WriteOutside(at.shown), None),
        Err(error) => (Access::WriteOutside(path.to_owned()), Some(error.to_string())),
    }
}

fn see(rehearsal: &Rehearsal, group: Group, change: &Change) -> Seen {
    let summary = altered::told(rehearsal, change);
    let operation = operation(change);
    let shown = change.path.display();
    let (access, mut blocked) = access(rehearsal, &change.path);
    for node in [&change.before, &change.after] {
        if let Node::Other(words) = node {
            blocked = Some(format!("cannot be applied: {shown} is {words}"));
        }
    }
    if summary.conflict {
        blocked = Some(format!("CONFLICT: {shown} changed since the dry run; it is not overwritten"));
    }
    let outside = rehearsal.place(&change.path).is_ok_and(|at| !at.inside);
    let destroys = match (&change.before, &change.after) {
        (_, Node::Nothing) => Some(format!("deletes {shown}")),
        _ if outside => Some(format!("changes {shown}, which is outside the project")),
        _ if group == Group::GitSettings => Some(format!("changes {shown}, which git runs or reads")),
        (Node::Nothing | Node::File { .. }, Node::File { .. })
        | (Node::Folder { .. }, Node::Folder { .. })
        | (Node::Nothing, _) => None,
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
    let kept = |node: &Node| match node {
        Node::Nothing => Kept::Nothing,
        Node::File { bytes, .. } => Kept::File((!bytes.is_empty()).then(|| Digest::of(bytes))),
        Node::Folder { .. } => Kept::Folder,
        Node::Link(_) | Node::Other(_) => Kept::Other,
    };
    // A move is recognised even if the source or the target changed since.
    let origin = rehearsal.origin(&change.path);
    let before = match origin.as_ref().map(|origin| (origin.is_nothing(), origin.file())) {
        Some((true, _)) => Kept::Nothing,
        Some((_, Some(held))) => Kept::File((*held != Digest::of(b"")).then(|| held.clone())),
        Some((false, None)) | None => kept(&change.before),
    };
    let item = Item {
        path: change.path.clone(),
        from: None,
        did: summary.did,
        folder: summary.folder,
        diff,
        notes,
        blocked,
        destroys,
        access,
        sha256: digest(std::slice::from_ref(&operation)),
    };
    Seen { operation, item, before, after: kept(&change.after) }
}

/// Combines a folder that is replaced and everything that was in it into one item. The content is removed first.
fn with_what_is_below(seen: Vec<Seen>) -> Vec<(Seen, Vec<Operation>)> {
    let mut all: Vec<(Seen, Vec<Operation>)> = Vec::new();
    for one in seen {
        let replaced = all.iter_mut().rev().find(|(above, _)| {
            above.before == Kept::Folder
                && above.after != Kept::Folder
                && one.operation.path.starts_with(&above.operation.path)
        });
        match replaced {
            Some((above, operations)) => {
                operations.insert(0, one.operation);
                above.item.blocked = above.item.blocked.take().or(one.item.blocked);
                above.item.notes.push(format!("includes: {}", one.item.path.display()));
                above.item.sha256 = digest(operations);
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
pub fn apply(rehearsal: &Rehearsal, operations: &[Operation], rejected: &[usize]) -> Applied {
    let mut changes = Vec::new();
    let first = operations.first().map(|operation| operation.path.as_path()).unwrap_or(Path::new(""));
    let is_state = Group::of(first, false, false) == Group::Repository
        || Group::of(first, true, false) == Group::Repository;
    if let (true, Some(git)) = (is_state, repository_of(first))
        && let Some(why) = repository::blocked(rehearsal, &git)
    {
        return Applied::Conflict(why);
    }
    for Operation { path, sha256 } in operations {
        let conflict = || match is_state {
            true => repository::is_conflict(rehearsal, path),
            false => rehearsal.is_conflict(path),
        };
        match rehearsal.change(path) {
            Err(error) => return Applied::Failed(error.to_string()),
            Ok(None) => {}
            Ok(Some(_)) if conflict() => {
                return Applied::Conflict(format!("{} changed since the dry run", path.display()));
            }
            Ok(Some(change)) if operation(&change).sha256 != *sha256 => {
                return Applied::Conflict(format!("{} differs from the preview", path.display()));
            }
            Ok(Some(change)) => changes.push(change),
        }
    }
    if changes.is_empty() {
        return Applied::Already;
    }
    if let Some(path) = unknown_in_replaced(rehearsal, &changes) {
        return Applied::Conflict(format!("{} was added since the dry run", path.display()));
    }
    if let ([change], [_, ..]) = (changes.as_mut_slice(), rejected) {
        let edit = altered::edit(change).and_then(|edit| edit.without(rejected));
        match (edit, &change.before) {
            (Some(edit), Node::File { mode, .. }) => {
                change.after = Node::File { bytes: edit.after.into_bytes(), mode: *mode };
            }
            _ => return Applied::Conflict(format!("{} differs from the preview", change.path.display())),
        }
    }
    for (at, change) in changes.iter().enumerate() {
        if let Err(error) = make_folders(rehearsal, &change.path).and_then(|()| rehearsal.apply(change)) {
            return match (error, at) {
                (Error::Changed(path), 0) => {
                    Applied::Conflict(format!("{} changed since the dry run", path.display()))
                }
                (error, 0) => Applied::Failed(error.to_string()),
                (error, done) => {
                    Applied::Failed(format!("{done} of {} paths applied, then: {error}", changes.len()))
                }
            };
        }
    }
    Applied::Done
}

/// Returns a path in a folder to be removed that the dry run did not delete.
fn unknown_in_replaced(rehearsal: &Rehearsal, changes: &[Change]) -> Option<PathBuf> {
    let goes = |change: &&Change| {
        matches!(change.before, Node::Folder { .. }) && !matches!(change.after, Node::Folder { .. })
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
        match rehearsal.change(folder)? {
            Some(change) if is_new_folder(&change) => rehearsal.apply(&change)?,
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
        if let (true, Ok(Some(change))) = (empty, rehearsal.change(&folder.path))
            && operation(&change).sha256 == folder.sha256
        {
            // If something was added to it in the meantime, this fails and the folder stays.
            let _ = rehearsal.apply(&change);
        }
    }
}

/// Sets the group of each change.
pub fn assign_groups(rehearsal: &Rehearsal, all: &mut [crate::chat::Altered]) {
    let mut groups = Groups::new(rehearsal);
    for altered in all {
        altered.group = groups.of(&altered.path, altered.folder);
    }
}

impl Seen {
    fn is_deleted_file(&self) -> bool {
        self.item.did == Did::Deleted && matches!(self.before, Kept::File(_))
    }
}

#[cfg(test)]
mod tests;
