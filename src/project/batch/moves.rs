//! Detects moves: a deleted file and a new file with exactly the same content.

use super::{
    Access, ChangeKind, Digest, Error, ExaminedChange, FileNode, Fingerprint, Item, Operation, Rehearsal,
    digest_operations,
};
use std::collections::HashMap;
use std::path::PathBuf;

/// An examined change with the operations that apply it.
type ExaminedItem = (ExaminedChange, Vec<Operation>);

/// Returns the hash of a file's content. `None` for an empty file, because all empty files are equal.
fn content_of(state: &Fingerprint) -> Option<&Digest> {
    state.file_digest().filter(|digest| **digest != Digest::of_bytes(b""))
}

/// Returns the hash of the content if the change deletes a file that is not empty.
fn deleted_content(change: &ExaminedChange) -> Option<&Digest> {
    content_of(&change.before).filter(|_| change.item.kind == ChangeKind::Deleted)
}

/// Returns files that an interrupted move has already created, by the hash of their content. The source of such a move
/// still exists.
pub(super) fn find_created_targets(
    rehearsal: &Rehearsal,
    changed_paths: &[PathBuf],
    examined: &[ExaminedChange],
) -> Result<HashMap<Digest, PathBuf>, Error> {
    let mut targets = HashMap::new();
    if !examined.iter().any(|change| deleted_content(change).is_some()) {
        return Ok(targets);
    }
    let applied = rehearsal.applied_paths();
    for path in changed_paths.iter().filter(|path| applied.contains(*path)) {
        let is_created = rehearsal.origin(path).is_some_and(|origin| origin.is_nothing());
        if is_created
            && rehearsal.change_at(path)?.is_none()
            && let FileNode::File { bytes, .. } = rehearsal.live_node(path)
        {
            targets.insert(Digest::of_bytes(&bytes), path.clone());
        }
    }
    Ok(targets)
}

/// Combines each move into one item: first the target, then the source. All other changes stay separate items.
pub(super) fn pair_moves(
    examined: Vec<(ExaminedChange, Vec<Operation>)>,
    created_targets: &HashMap<Digest, PathBuf>,
) -> Vec<(Item, Vec<Operation>)> {
    let mut sources: HashMap<Digest, Vec<usize>> = HashMap::new();
    for (index, (change, _)) in examined.iter().enumerate() {
        if let Some(digest) = deleted_content(change) {
            sources.entry(digest.clone()).or_default().push(index);
        }
    }
    // The index of the target of each move, with the index of its source.
    let mut moved: HashMap<usize, usize> = HashMap::new();
    for (index, (change, _)) in examined.iter().enumerate() {
        let Some(digest) = content_of(&change.after).filter(|_| change.before.is_nothing()) else {
            continue;
        };
        let Some(candidates) = sources.get_mut(digest) else { continue };
        let has_same_name = |source: &usize| examined[*source].0.item.path.file_name() == change.item.path.file_name();
        if !candidates.is_empty() {
            moved.insert(index, candidates.remove(candidates.iter().position(has_same_name).unwrap_or(0)));
        }
    }
    let mut parts: Vec<Option<ExaminedItem>> = examined.into_iter().map(Some).collect();
    let moved_sources: Vec<(usize, Option<ExaminedItem>)> =
        moved.iter().map(|(target, source)| (*target, parts[*source].take())).collect();
    let mut sources_by_target: HashMap<usize, ExaminedItem> =
        moved_sources.into_iter().filter_map(|(target, source)| Some((target, source?))).collect();
    let mut items = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let Some((mut change, mut operations)) = part else { continue };
        if let Some((source, source_operations)) = sources_by_target.remove(&index) {
            operations.extend(source_operations);
            change.item = join_move(change.item, source.item, &operations);
        } else if let Some(digest) = deleted_content(&change)
            && let Some(target) = created_targets.get(digest)
        {
            change.item.notes.push(format!("moved to {}, which already exists", target.display()));
            change.item.destroys = None;
        }
        items.push((change.item, operations));
    }
    items
}

fn join_move(target: Item, source: Item, operations: &[Operation]) -> Item {
    let mut notes = vec!["moved, content unchanged".to_owned()];
    // The target's size and type need no note, because the content is unchanged.
    notes.extend(target.notes.iter().filter(|note| !note.starts_with("a file of ")).cloned());
    let outside_item = [&target, &source].into_iter().find(|item| matches!(item.access, Access::WriteOutside(_)));
    let access = outside_item.unwrap_or(&target).access.clone();
    Item {
        // A name that is not Unicode is shown and stored approximately.
        from: Some(source.path.to_string_lossy().into_owned().into()),
        kind: ChangeKind::Modified,
        diff: None,
        notes,
        blocked: target.blocked.or(source.blocked),
        // The content of the source is not lost, so only the target can be destructive.
        destroys: target.destroys,
        access,
        sha256: digest_operations(operations),
        path: target.path,
        is_folder: false,
    }
}
