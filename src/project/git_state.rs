//! Git state of a dry run as one item: commits, branches, tags and index. It cannot be applied if HEAD moved since the
//! dry run began.

mod commits;

use super::git_baseline::{parse_packed_refs, read_baseline, resolve_head};
use super::operations::{describe_operation, determine_access, digest_operations};
use super::rehearsal::{Change, FileNode, Rehearsal};
use super::{Error, Reader, git_index};
use crate::chat::ChangeKind;
use crate::chat::batch::{Batch, BatchWork, Group, Item, Operation};
use commits::read_rehearsed;
use std::path::{Path, PathBuf};

/// End of the messages that say that the state cannot be applied because the live repository changed.
const REMEDY: &str =
    "Nothing in it was changed. Run the git commands of the dry run again, or take its patch: aye rehearsal diff";

/// Order in which changes are applied: referenced objects come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Objects,
    OtherFiles,
    Refs,
    Index,
    Deletions,
}

/// Reads a live file.
fn read_live(rehearsal: &Rehearsal, path: &Path) -> Option<Vec<u8>> {
    rehearsal.live_node(path).file_bytes().map(<[u8]>::to_vec)
}

/// Returns the reason why the state of the repository in `git` cannot be applied, `None` if it can.
pub(super) fn blocked_reason(rehearsal: &Rehearsal, git: &Path) -> Option<String> {
    for lock in ["index.lock", "HEAD.lock", "packed-refs.lock"] {
        if rehearsal.root().join(git).join(lock).symlink_metadata().is_ok() {
            let lock = git.join(lock);
            return Some(format!(
                "Cannot apply the commits: another git command is running ({} exists). Wait for it and apply again",
                lock.display()
            ));
        }
    }
    // The baseline describes only the project's own repository; any other one is not compared.
    let baseline = read_baseline(rehearsal.overlay_folder()).filter(|_| git == Path::new(".git"))?;
    let to_text = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let read_now = |path: &Path| read_live(rehearsal, &git.join(path));
    // Only paths that the dry run changed: for any other path, `read_rehearsed` would return the live content.
    let read_rehearsed_change = |path: &Path| {
        let path = git.join(path);
        rehearsal.origin(&path).and_then(|_| to_text(read_rehearsed(rehearsal, &path)))
    };
    let head = to_text(read_now(Path::new("HEAD")));
    let (baseline_commit, current_commit) = (baseline.commit, resolve_head(&read_now));
    let can_apply = if head == baseline.head {
        let name = head.as_deref().and_then(|head| head.trim().strip_prefix("ref: "));
        let rehearsed_commit = name.and_then(|name| {
            let loose = read_rehearsed_change(Path::new(name)).map(|id| id.trim().to_owned());
            loose.or_else(|| parse_packed_refs(&read_rehearsed_change(Path::new("packed-refs"))?).remove(name))
        });
        current_commit == baseline_commit || rehearsed_commit.is_some() && current_commit == rehearsed_commit
    } else {
        // An interrupted apply may have moved HEAD already.
        head.is_some() && head == read_rehearsed_change(Path::new("HEAD"))
    };
    if can_apply {
        return None;
    }
    let shorten = |id: Option<String>| id.map_or_else(|| "nothing".to_owned(), |id| id.chars().take(7).collect());
    Some(format!(
        "Cannot apply the commits: HEAD moved from {} to {} since the dry run began. {REMEDY}",
        shorten(baseline_commit),
        shorten(current_commit)
    ))
}

/// Returns whether a path of the repository changed live since the dry run began, so that overwriting it loses data.
pub(super) fn is_state_conflict(rehearsal: &Rehearsal, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_disposable = name.ends_with("_EDITMSG") || ["FETCH_HEAD", "gc.log", "gc.pid"].contains(&&*name);
    if is_disposable || !rehearsal.is_conflict(path) {
        return false;
    }
    // Git rewrites the index even when it only reads. Only the staged content counts.
    let is_index = path == Path::new(".git/index");
    let staged = read_live(rehearsal, path).map(|bytes| git_index::staged_digest(&bytes));
    let is_same_index =
        read_baseline(rehearsal.overlay_folder()).is_some_and(|baseline| Some(baseline.index) == staged);
    !(is_index && is_same_index)
}

/// Returns the phase in which a path in `.git` is applied, `None` if it is skipped.
fn change_phase(relative: &Path, change: &Change) -> Option<Phase> {
    let first = relative.iter().next().unwrap_or_default().to_string_lossy();
    let name = relative.file_name().unwrap_or_default().to_string_lossy();
    match (&change.before, &change.after) {
        // An unreferenced object and an empty folder do no harm.
        (FileNode::Folder { .. }, FileNode::Nothing) => None,
        (_, FileNode::Nothing) if first == "objects" => None,
        (_, FileNode::Nothing) => Some(Phase::Deletions),
        // An existing object has the same content, because its name is its hash.
        (FileNode::File { .. }, _) if first == "objects" && !relative.starts_with("objects/info") => None,
        (_, FileNode::Folder { .. }) => Some(Phase::Objects),
        _ if first == "objects" => Some(Phase::Objects),
        _ if first == "refs" || name == "HEAD" && relative.iter().count() == 1 || name == "packed-refs" => {
            Some(Phase::Refs)
        }
        _ if name == "index" => Some(Phase::Index),
        _ => Some(Phase::OtherFiles),
    }
}

/// Returns the state of the repository in `git` as a batch of one item. The batch is empty if nothing changes. `paths`
/// are the changed paths of the repository, `unapplied_count` is the number of source changes not yet applied.
pub(super) fn draft_state(
    rehearsal: &Rehearsal,
    git: &Path,
    (paths, unapplied_count): (&[PathBuf], usize),
) -> Result<(Batch, BatchWork), Error> {
    let mut operations: Vec<(Phase, Operation)> = Vec::new();
    let mut description = StateDescription { rehearsal, git, notes: Vec::new(), destroys: Vec::new() };
    let (mut object_count, mut conflict) = (0, None);
    for path in paths {
        let Some(change) = rehearsal.change_at(path)? else { continue };
        let relative = path.strip_prefix(git).unwrap_or(path);
        let Some(phase) = change_phase(relative, &change) else { continue };
        if phase == Phase::Objects {
            object_count += usize::from(matches!(change.after, FileNode::File { .. }));
        } else if is_state_conflict(rehearsal, path) {
            conflict.get_or_insert_with(|| path.clone());
        }
        if let FileNode::Other(kind) = &change.after {
            description.notes.push(format!("{}: {kind}", relative.display()));
        }
        description.describe_change(relative, &change);
        operations.push((phase, describe_operation(&change)));
    }
    operations.sort_by_key(|(phase, _)| *phase);
    let operations: Vec<Operation> = operations.into_iter().map(|(_, operation)| operation).collect();
    let StateDescription { mut notes, destroys, .. } = description;
    if object_count > 0 {
        notes.push(if object_count == 1 { "1 new object".to_owned() } else { format!("{object_count} new objects") });
    }
    let mut batch = Batch { group: Group::Repository, notes: Vec::new(), items: Vec::new() };
    if operations.is_empty() {
        return Ok((batch, BatchWork::default()));
    }
    if unapplied_count > 0 {
        batch.notes.push(format!(
            "Not applied: {unapplied_count} source {} of the dry run. `git status` shows the difference.",
            if unapplied_count == 1 { "change" } else { "changes" }
        ));
    }
    let (access, location_error) = determine_access(rehearsal, git);
    let conflict = conflict
        .map(|path| format!("Cannot apply the commits: {} changed since the dry run began. {REMEDY}", path.display()));
    batch.items.push(Item {
        path: git.to_owned(),
        from: None,
        kind: ChangeKind::Modified,
        is_folder: true,
        diff: None,
        notes,
        blocked: blocked_reason(rehearsal, git).or(conflict).or(location_error),
        destroys: (!destroys.is_empty()).then(|| destroys.join(", ")),
        access,
        sha256: digest_operations(&operations),
    });
    Ok((batch, BatchWork { items: vec![operations], ..BatchWork::default() }))
}

/// Description of the changes of the repository in `git`: in `notes`, and in `destroys` what is lost.
struct StateDescription<'a> {
    rehearsal: &'a Rehearsal,
    git: &'a Path,
    notes: Vec<String>,
    destroys: Vec<String>,
}

impl StateDescription<'_> {
    /// Describes one change.
    fn describe_change(&mut self, relative: &Path, change: &Change) {
        let node_text = |node: &FileNode| Some(String::from_utf8_lossy(node.file_bytes()?).trim().to_owned());
        let (before, after) = (node_text(&change.before), node_text(&change.after));
        let name = relative.display().to_string();
        if relative.starts_with("refs") || name == "HEAD" {
            if before.is_some() || after.is_some() {
                self.describe_ref_change(&name, before.as_deref(), after.as_deref());
            }
        } else if name == "packed-refs" {
            let (old_refs, new_refs) =
                (parse_packed_refs(&before.unwrap_or_default()), parse_packed_refs(&after.unwrap_or_default()));
            for name in old_refs.keys().chain(new_refs.keys().filter(|name| !old_refs.contains_key(*name))) {
                let (old_id, new_id) = (old_refs.get(name), new_refs.get(name));
                // A ref with its own file is described by that file.
                if old_id != new_id && read_rehearsed(self.rehearsal, &self.git.join(name)).is_none() {
                    self.describe_ref_change(name, old_id.map(String::as_str), new_id.map(String::as_str));
                }
            }
        } else if name == "index" {
            let index_digest = |node: &FileNode| node.file_bytes().map(git_index::staged_digest);
            if index_digest(&change.before) != index_digest(&change.after) {
                self.notes.push("index: staged content changes with the commits".to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests;
