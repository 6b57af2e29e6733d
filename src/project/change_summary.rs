//! Summary of the changes of a rehearsal: diffs of text files, notes for everything else, and conflicts with the live
//! files.

use super::Error;
use super::groups::assign_groups;
use super::rehearsal::{Change, FileNode, OutsideChange, OutsideChanges, Rehearsal, Trail};
use crate::chat::batch::Group;
use crate::chat::dry_run_summary;
use crate::chat::{ChangeKind, DryRunChange, DryRunSummary, Edit, Entry};
use std::path::Path;

/// Maximum size of a file that is compared by lines, before and after, in bytes.
const TEXT_LIMIT: usize = 1024 * 1024;

/// Summarizes a dry run: its changes in and outside the project, and its calls from the entries of its session.
///
/// # Errors
/// If the overlay cannot be read.
pub fn summarize(rehearsal: &Rehearsal, entries: &[Entry]) -> Result<DryRunSummary, Error> {
    let mut summary = DryRunSummary::new(list_changes(rehearsal)?, entries);
    summary.outside = list_outside_changes(rehearsal)?;
    let changed_paths: Vec<String> =
        summary.changes.iter().map(|change| change.path.to_string_lossy().into_owned()).collect();
    for step in &mut summary.calls {
        // A path that a later command changed back is not listed, unless something was applied there.
        step.changed_paths.retain(|path| changed_paths.contains(path) || rehearsal.was_applied(Path::new(path)));
    }
    Ok(summary)
}

/// Returns all changes of a rehearsal, sorted by path.
///
/// # Errors
/// If the overlay's disk fails. A file that a command made unreadable is no error; it is described as such.
pub fn list_changes(rehearsal: &Rehearsal) -> Result<Vec<DryRunChange>, Error> {
    let (mut changes, mut trail) = (Vec::new(), Trail::default());
    for path in rehearsal.overlay_paths()? {
        if let Some(change) = rehearsal.change_with_trail(&path, &mut trail)? {
            changes.push(describe_change(rehearsal, &change));
        }
    }
    assign_groups(rehearsal, &mut changes);
    Ok(changes)
}

/// Returns all changes of a rehearsal outside the project.
///
/// # Errors
/// If the overlay cannot be read.
pub fn list_outside_changes(rehearsal: &Rehearsal) -> Result<dry_run_summary::OutsideChanges, Error> {
    let OutsideChanges { changes, temporary } = rehearsal.outside_changes()?;
    let convert = |change: OutsideChange| {
        let summary = describe_node_change(&change.change, change.is_conflict);
        dry_run_summary::OutsideChange { change: summary, is_by_tool: change.is_by_tool }
    };
    Ok(dry_run_summary::OutsideChanges {
        changes: changes.into_iter().map(convert).collect(),
        temporary_files: temporary,
    })
}

/// Describes one change.
pub fn describe_change(rehearsal: &Rehearsal, change: &Change) -> DryRunChange {
    describe_node_change(change, rehearsal.is_conflict(&change.path))
}

/// Describes one change whose conflict is known.
pub fn describe_node_change(change: &Change, has_conflict: bool) -> DryRunChange {
    let kind = match (&change.before, &change.after) {
        (_, FileNode::Nothing) => ChangeKind::Deleted,
        (FileNode::Nothing, _) => ChangeKind::Created,
        (_, _) => ChangeKind::Modified,
    };
    let is_folder = match kind {
        ChangeKind::Deleted => change.before.is_folder(),
        ChangeKind::Created | ChangeKind::Modified => change.after.is_folder(),
    };
    DryRunChange {
        path: change.path.clone(),
        kind,
        is_folder,
        diff: diff_change(change).map(|edit| edit.diff()),
        notes: describe_details(change),
        has_conflict,
        group: Group::default(),
    }
}

/// Returns the change as lines, if both sides are text or absent and the lines differ.
pub fn diff_change(change: &Change) -> Option<Edit> {
    let before = node_text(&change.before)?;
    let after = node_text(&change.after)?;
    if before == after {
        return None;
    }
    Some(Edit { path: change.path.clone(), before, after: after.unwrap_or_default() })
}

/// Returns the text of a file: `Some(None)` if it does not exist, `None` if it is not text.
fn node_text(node: &FileNode) -> Option<Option<String>> {
    match node {
        FileNode::Nothing => Some(None),
        FileNode::File { bytes, .. } if bytes.len() <= TEXT_LIMIT && !bytes.contains(&0) => {
            String::from_utf8(bytes.clone()).ok().map(Some)
        }
        FileNode::File { .. } | FileNode::Folder { .. } | FileNode::Link(_) | FileNode::Other(_) => None,
    }
}

/// Describes the parts of a change that a diff does not show.
fn describe_details(change: &Change) -> Vec<String> {
    let mut notes = Vec::new();
    match (&change.before, &change.after) {
        (FileNode::File { bytes: before, mode: old_mode }, FileNode::File { bytes: after, mode: new_mode }) => {
            if diff_change(change).is_none() && before != after {
                notes.push(format!("{} → {}", describe_size(before), describe_size(after)));
            }
            notes.extend(describe_mode_change(*old_mode, *new_mode));
        }
        (FileNode::Folder { mode: old_mode }, FileNode::Folder { mode: new_mode }) => {
            notes.extend(describe_mode_change(*old_mode, *new_mode))
        }
        (FileNode::Nothing, after) => {
            if diff_change(change).is_none() {
                notes.push(if after.is_folder() { "new folder".to_owned() } else { describe_node(after) });
            }
            if let FileNode::File { mode, .. } = after
                && mode & 0o111 != 0
            {
                notes.push(format!("executable (mode {mode:o})"));
            }
        }
        (before, FileNode::Nothing) => {
            notes.push("deleted".to_owned());
            if diff_change(change).is_none() {
                notes.push(describe_node(before));
            }
        }
        (before, after) => notes.push(format!("{} becomes {}", describe_node(before), describe_node(after))),
    }
    notes
}

fn describe_mode_change(old: u32, new: u32) -> Option<String> {
    (old != new).then(|| format!("mode {old:o} → {new:o}"))
}

/// Describes a node in a few words.
fn describe_node(node: &FileNode) -> String {
    match node {
        FileNode::Nothing => "nothing".to_owned(),
        FileNode::File { bytes, .. } if bytes.is_empty() => "an empty file".to_owned(),
        FileNode::File { bytes, .. } => format!("a file of {}", describe_size(bytes)),
        FileNode::Folder { .. } => "a folder".to_owned(),
        FileNode::Link(target) => format!("a link to {}", target.display()),
        FileNode::Other(kind) => kind.clone(),
    }
}

fn describe_size(bytes: &[u8]) -> String {
    let kind = if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() { " of binary data" } else { "" };
    match bytes.len() {
        1 => format!("1 byte{kind}"),
        count => format!("{count} bytes{kind}"),
    }
}
