//! Summary of the changes of a rehearsal: diffs of text files, notes for everything else, and conflicts with the live
//! files.

use super::rehearsal::{Change, Node, OutsideChange, OutsideChanges, Rehearsal, Trail};
use super::{Error, batch};
use crate::chat::altered::{Outside, OutsideAltered};
use crate::chat::batch::Group;
use crate::chat::{Altered, Did, Edit};

/// Maximum size of a file that is compared by lines, before and after, in bytes.
const LINES: usize = 1024 * 1024;

/// Returns all changes of a rehearsal, sorted by path.
///
/// # Errors
/// If the overlay's disk fails. A file that a command made unreadable is no error; it is described as such.
pub fn all(rehearsal: &Rehearsal) -> Result<Vec<Altered>, Error> {
    let (mut altered, mut trail) = (Vec::new(), Trail::default());
    for path in rehearsal.touched()? {
        if let Some(change) = rehearsal.change_along(&path, &mut trail)? {
            altered.push(told(rehearsal, &change));
        }
    }
    batch::assign_groups(rehearsal, &mut altered);
    Ok(altered)
}

/// Returns all changes of a rehearsal outside the project.
///
/// # Errors
/// If the overlay cannot be read.
pub fn outside(rehearsal: &Rehearsal) -> Result<Outside, Error> {
    let OutsideChanges { changes, temporary } = rehearsal.outside_changes()?;
    let told = |one: OutsideChange| {
        let altered = describe(&one.change, one.is_conflict);
        OutsideAltered { altered, is_by_tool: one.is_by_tool }
    };
    Ok(Outside { changes: changes.into_iter().map(told).collect(), temporary })
}

/// Describes one change.
pub fn told(rehearsal: &Rehearsal, change: &Change) -> Altered {
    describe(change, rehearsal.is_conflict(&change.path))
}

fn describe(change: &Change, conflict: bool) -> Altered {
    let did = match (&change.before, &change.after) {
        (_, Node::Nothing) => Did::Deleted,
        (Node::Nothing, _) => Did::Made,
        (_, _) => Did::Changed,
    };
    let folder = match did {
        Did::Deleted => is_folder(&change.before),
        Did::Made | Did::Changed => is_folder(&change.after),
    };
    Altered {
        path: change.path.clone(),
        did,
        folder,
        diff: edit(change).map(|edit| edit.diff()),
        notes: notes(change),
        conflict,
        group: Group::default(),
    }
}

/// Returns the change as lines, if both sides are text or absent and the lines differ.
pub fn edit(change: &Change) -> Option<Edit> {
    let before = lines(&change.before)?;
    let after = lines(&change.after)?;
    if before == after {
        return None;
    }
    Some(Edit { path: change.path.clone(), before, after: after.unwrap_or_default() })
}

/// Returns the text of a file: `Some(None)` if it does not exist, `None` if it is not text.
fn lines(node: &Node) -> Option<Option<String>> {
    match node {
        Node::Nothing => Some(None),
        Node::File { bytes, .. } if bytes.len() <= LINES && !bytes.contains(&0) => {
            String::from_utf8(bytes.clone()).ok().map(Some)
        }
        Node::File { .. } | Node::Folder { .. } | Node::Link(_) | Node::Other(_) => None,
    }
}

/// Describes the parts of a change that a diff does not show.
fn notes(change: &Change) -> Vec<String> {
    let mut notes = Vec::new();
    match (&change.before, &change.after) {
        (Node::File { bytes: before, mode: was }, Node::File { bytes: after, mode: is }) => {
            if edit(change).is_none() && before != after {
                notes.push(format!("{} → {}", size(before), size(after)));
            }
            notes.extend(mode(*was, *is));
        }
        (Node::Folder { mode: was }, Node::Folder { mode: is }) => notes.extend(mode(*was, *is)),
        (Node::Nothing, after) => {
            if edit(change).is_none() {
                let folder = matches!(after, Node::Folder { .. });
                notes.push(if folder { "new folder".to_owned() } else { words(after) });
            }
            if let Node::File { mode, .. } = after
                && mode & 0o111 != 0
            {
                notes.push(format!("executable (mode {mode:o})"));
            }
        }
        (before, Node::Nothing) => {
            notes.push("deleted".to_owned());
            if edit(change).is_none() {
                notes.push(words(before));
            }
        }
        (before, after) => notes.push(format!("{} becomes {}", words(before), words(after))),
    }
    notes
}

fn mode(was: u32, is: u32) -> Option<String> {
    (was != is).then(|| format!("mode {was:o} → {is:o}"))
}

/// Describes a node in a few words.
fn words(node: &Node) -> String {
    match node {
        Node::Nothing => "nothing".to_owned(),
        Node::File { bytes, .. } if bytes.is_empty() => "an empty file".to_owned(),
        Node::File { bytes, .. } => format!("a file of {}", size(bytes)),
        Node::Folder { .. } => "a folder".to_owned(),
        Node::Link(to) => format!("a link to {}", to.display()),
        Node::Other(words) => words.clone(),
    }
}

fn size(bytes: &[u8]) -> String {
    let kind = if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() { " of binary data" } else { "" };
    match bytes.len() {
        1 => format!("1 byte{kind}"),
        count => format!("{count} bytes{kind}"),
    }
}

fn is_folder(node: &Node) -> bool {
    matches!(node, Node::Folder { .. })
}
