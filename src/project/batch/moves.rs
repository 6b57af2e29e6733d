//! Detects moves: a deleted file and a new file with exactly the same content.

use super::{
    Access, ChangeKind, Digest, Error, ExaminedChange, FileNode, Item, NodeSummary, Operation, Rehearsal,
    digest_operations,
};
use std::collections::HashMap;
use std::path::PathBuf;

/// An examined change with the operations that apply it.
type ExaminedItem = (ExaminedChange, Vec<Operation>);

/// Returns files that an interrupted move has already created, by the hash of their content. The source of such a move
/// still exists.
pub(super) fn find_created_targets(
    rehearsal: &Rehearsal,
    touched: &[PathBuf],
    seen: &[ExaminedChange],
) -> Result<HashMap<Digest, PathBuf>, Error> {
    let mut found = HashMap::new();
    if !seen.iter().any(ExaminedChange::is_deleted_file) {
        return Ok(found);
    }
    let applied = rehearsal.applied_paths();
    for path in touched.iter().filter(|path| applied.contains(*path)) {
        let was_new = rehearsal.origin(path).is_some_and(|origin| origin.is_nothing());
        if was_new
            && rehearsal.change_at(path)?.is_none()
            && let FileNode::File { bytes, .. } = rehearsal.live_node(path)
        {
            found.insert(Digest::of_bytes(&bytes), path.clone());
        }
    }
    Ok(found)
}

/// Combines each move into one item: first the target, then the source. All other changes stay separate items.
pub(super) fn pair_moves(
    seen: Vec<(ExaminedChange, Vec<Operation>)>,
    in_place: &HashMap<Digest, PathBuf>,
) -> Vec<(Item, Vec<Operation>)> {
    let mut sources: HashMap<Digest, Vec<usize>> = HashMap::new();
    for (at, (one, _)) in seen.iter().enumerate() {
        if let (true, NodeSummary::File(Some(held))) = (one.is_deleted_file(), &one.before) {
            sources.entry(held.clone()).or_default().push(at);
        }
    }
    let mut moved: HashMap<usize, usize> = HashMap::new();
    for (at, (one, _)) in seen.iter().enumerate() {
        let (NodeSummary::Nothing, NodeSummary::File(Some(held))) = (&one.before, &one.after) else {
            continue;
        };
        let Some(all) = sources.get_mut(held) else { continue };
        let same_name = |at: &usize| seen[*at].0.item.path.file_name() == one.item.path.file_name();
        if !all.is_empty() {
            moved.insert(at, all.remove(all.iter().position(same_name).unwrap_or(0)));
        }
    }
    let mut parts: Vec<Option<ExaminedItem>> = seen.into_iter().map(Some).collect();
    let taken: Vec<(usize, Option<ExaminedItem>)> =
        moved.iter().map(|(target, source)| (*target, parts[*source].take())).collect();
    let mut taken: HashMap<usize, ExaminedItem> =
        taken.into_iter().filter_map(|(target, source)| Some((target, source?))).collect();
    let mut items = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        let Some((mut one, mut operations)) = part else { continue };
        if let Some((source, more)) = taken.remove(&at) {
            operations.extend(more);
            one.item = join_move(one.item, source.item, &operations);
        } else if let (true, NodeSummary::File(Some(held))) = (one.is_deleted_file(), &one.before)
            && let Some(target) = in_place.get(held)
        {
            one.item.notes.push(format!("moved to {}, which already exists", target.display()));
            one.item.destroys = None;
        }
        items.push((one.item, operations));
    }
    items
}

fn join_move(target: Item, source: Item, operations: &[Operation]) -> Item {
    let mut notes = vec!["moved, content unchanged".to_owned()];
    notes.extend(target.notes.iter().filter(|note| !note.starts_with("a file of ")).cloned());
    let outside = [&target, &source].into_iter().find(|item| matches!(item.access, Access::WriteOutside(_)));
    let access = outside.unwrap_or(&target).access.clone();
    Item {
        // A name that is not Unicode is shown and stored approximately.
        from: Some(source.path.to_string_lossy().into_owned().into()),
        kind: ChangeKind::Modified,
        diff: None,
        notes,
        blocked: target.blocked.or(source.blocked),
        // No content of the source is lost, unless it is outside the project or a file of git.
        destroys: target.destroys,
        access,
        sha256: digest_operations(operations),
        path: target.path,
        is_folder: false,
    }
}
