//! Decides how the patch represents each changed path, and lists the differences that remain after `git apply`.
//!
//! `git apply` first deletes, including every folder that becomes empty, and then creates. If it refuses one path it
//! refuses the whole patch, so such paths are left out and listed.

use super::git_names;
use super::item::{PatchItem, PathState};
use super::object_id::Algorithm;
use crate::project::Reader;
use crate::project::rehearsal::Rehearsal;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Size limit of one file in a patch, in bytes.
pub(super) const FILE_LIMIT: u64 = 256 << 20;
/// Size limit of a whole patch, in bytes. `git apply` refuses one of 1,023 MiB or more.
const PATCH_LIMIT: u64 = 900 << 20;

/// A change, or a part of one, that the patch does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// Path relative to the project; absolute if outside.
    pub path: PathBuf,
    /// Reason, as a text that follows the path.
    pub reason: String,
}

/// Decides for all items, which are sorted by path. Returns the changes that the patch does not contain, sorted by
/// path.
pub fn plan_items(rehearsal: &Rehearsal, items: &mut [PatchItem]) -> Vec<Omission> {
    let mut omissions = Omissions::default();
    let refused_items = omissions.refuse_names(items);
    detect_renames(items, &refused_items);
    choose_changes(items, &refused_items, &mut omissions);
    let deleted = deleted_paths(rehearsal, items);
    drop_creations(rehearsal, items, &refused_items, &deleted, &mut omissions);
    list_folders(rehearsal, items, &deleted, &mut omissions);
    list_modes(items, &mut omissions);
    omissions.by_path.into_iter().map(|(path, reason)| Omission { path, reason }).collect()
}

/// Omissions by path; the first reason for a path counts.
#[derive(Default)]
struct Omissions {
    by_path: BTreeMap<PathBuf, String>,
}

impl Omissions {
    fn add_omission(&mut self, path: &Path, reason: impl Into<String>) {
        self.by_path.entry(path.to_owned()).or_insert_with(|| reason.into());
    }

    /// Lists paths that git never writes, with one entry for each `.git` folder. Returns the indexes of these items.
    fn refuse_names(&mut self, items: &[PatchItem]) -> HashSet<usize> {
        let mut indexes = HashSet::new();
        let mut repositories: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let is_link = item.before.is_link() || item.after.is_link();
            if let Some(git) = git_names::enclosing_git_folder(&item.path) {
                *repositories.entry(git).or_default() += 1;
            } else if git_names::is_refused(&item.path, is_link) {
                self.add_omission(&item.path, "git refuses this name");
            } else if item.path == Path::new(".") {
                self.add_omission(&item.path, format!("{}: git keeps no mode of a folder", describe_modes(item)));
            } else {
                continue;
            }
            indexes.insert(index);
        }
        for (path, count) in repositories {
            let paths = if count == 1 { "1 changed path".to_owned() } else { format!("{count} changed paths") };
            self.add_omission(&path, format!("{paths} of the repository's own state, such as commits"));
        }
        indexes
    }
}

/// Detects files that were moved unchanged: a rename takes no space in a patch, however large the file.
fn detect_renames(items: &mut [PatchItem], refused_items: &HashSet<usize>) {
    let is_folder_or_nothing = |side: &PathState| side.is_folder() || side.is_nothing();
    let (mut deleted, mut created): (HashMap<_, Vec<usize>>, Vec<(_, usize)>) = (HashMap::new(), Vec::new());
    // No rename crosses a folder that replaces a file or is replaced by one.
    let mut replaced_folder: Option<&Path> = None;
    for (index, item) in items.iter().enumerate() {
        if replaced_folder.is_some_and(|replaced| item.path.starts_with(replaced)) || refused_items.contains(&index) {
            continue;
        }
        match (&item.before, &item.after) {
            (PathState::File { size, .. }, PathState::Nothing) if *size > 0 => {
                deleted.entry((*size, item.before.git_mode())).or_default().push(index);
            }
            (PathState::Nothing, PathState::File { size, .. }) if *size > 0 => {
                created.push(((*size, item.after.git_mode()), index));
            }
            (before, after)
                if (before.is_folder() || after.is_folder())
                    && !(is_folder_or_nothing(before) && is_folder_or_nothing(after)) =>
            {
                replaced_folder = Some(&item.path);
            }
            (_, _) => {}
        }
    }
    let mut hashes = HashMap::new();
    let mut hash = |index: usize, side: &PathState| {
        let read = || Algorithm::Sha256.hash_blob(side.open_content().ok()?, side.size()?).ok();
        hashes.entry(index).or_insert_with(read).clone()
    };
    let mut pairs = Vec::new();
    for (kind, target) in created {
        let Some(sources) = deleted.get_mut(&kind) else { continue };
        let Some(content_hash) = hash(target, &items[target].after) else { continue };
        let position =
            sources.iter().position(|source| hash(*source, &items[*source].before).as_ref() == Some(&content_hash));
        if let Some(position) = position {
            pairs.push((sources.remove(position), target));
        }
    }
    for (source, target) in pairs {
        items[source].is_renamed = true;
        items[source].has_old_side = true;
        items[target].has_new_side = true;
        items[target].renamed_from = Some(items[source].path.clone());
    }
}

/// Chooses the paths that the patch contains, within the size limit. [`drop_creations`] then removes the creations
/// that git could not perform.
fn choose_changes(items: &mut [PatchItem], refused_items: &HashSet<usize>, omissions: &mut Omissions) {
    let mut total = 0u64;
    for (index, item) in items.iter_mut().enumerate() {
        if refused_items.contains(&index) || item.is_renamed || item.renamed_from.is_some() {
            continue;
        }
        match (&item.before, &item.after) {
            (_, PathState::Other(kind)) => omissions.add_omission(&item.path, format!("would be {kind}")),
            (PathState::Other(kind), _) => omissions.add_omission(&item.path, format!("is {kind}")),
            (before, after) => {
                if item.is_same_content && before.git_mode() == after.git_mode() {
                    let (old_mode, new_mode) = (before.permissions(), after.permissions());
                    let mode_change = format!("mode {old_mode:o} becomes {new_mode:o}");
                    omissions.add_omission(
                        &item.path,
                        format!("{mode_change}: git keeps only whether a file is executable"),
                    );
                    continue;
                }
                let large = [before, after].into_iter().find(|side| side.size() > Some(FILE_LIMIT));
                if let Some(large) = large.filter(|_| !item.is_same_content) {
                    let description = large.describe();
                    omissions.add_omission(
                        &item.path,
                        format!("{description}; a patch holds files of up to {} MB", FILE_LIMIT >> 20),
                    );
                    continue;
                }
                let contents = if item.is_same_content { 0 } else { before.max_patch_size() + after.max_patch_size() };
                // The path occurs in several lines; all other text around the contents is short.
                let cost = contents + 8 * item.path.as_os_str().len() as u64 + 512;
                if (before.is_stored() || after.is_stored()) && total + cost > PATCH_LIMIT {
                    omissions.add_omission(&item.path, format!("the patch has reached {} MB", PATCH_LIMIT >> 20));
                    continue;
                }
                total += cost;
                item.has_old_side = before.is_stored();
                item.has_new_side = after.is_stored();
            }
        }
    }
}

/// Returns every path that is gone after git's deletions: files and links, and folders that contained nothing else.
fn deleted_paths(rehearsal: &Rehearsal, items: &[PatchItem]) -> HashSet<PathBuf> {
    let mut deleted: HashSet<PathBuf> = HashSet::new();
    // For each folder whose old entries changed: true if all of those are deleted. A folder that was empty is not in
    // this map, and stays.
    let mut emptied: HashMap<&Path, bool> = HashMap::new();
    for item in items.iter().rev() {
        let is_deleted = match &item.before {
            PathState::Nothing => continue,
            PathState::Folder { .. } if item.after.is_folder() => continue,
            // A folder is deleted with its last entry. The user may have added one that the rehearsal does not know.
            PathState::Folder { .. } => {
                let is_deleted = |entry: std::fs::DirEntry| deleted.contains(&item.path.join(entry.file_name()));
                let entries = std::fs::read_dir(rehearsal.root().join(&item.path));
                emptied.get(item.path.as_path()).copied().unwrap_or(false)
                    && entries.is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_deleted)))
            }
            PathState::File { .. } | PathState::Link(_) => item.has_old_side,
            PathState::Other(_) => false,
        };
        if let Some(parent) = item.path.parent() {
            let all_deleted = emptied.entry(parent).or_insert(true);
            *all_deleted &= is_deleted;
        }
        if is_deleted && (!item.after.is_stored() || item.before.is_folder()) {
            deleted.insert(item.path.clone());
        }
    }
    deleted
}

/// Removes and lists the creations that git could not perform.
fn drop_creations(
    rehearsal: &Rehearsal,
    items: &mut [PatchItem],
    refused_items: &HashSet<usize>,
    deleted: &HashSet<PathBuf>,
    omissions: &mut Omissions,
) {
    // An entry that stays although a folder should replace it.
    let mut blocked_folder: Option<PathBuf> = None;
    for (index, item) in items.iter_mut().enumerate() {
        if blocked_folder.as_ref().is_some_and(|blocked| item.path.starts_with(blocked)) {
            (item.has_new_side, item.renamed_from) = (false, None);
            omissions.add_omission(&item.path, "its folder is not in this patch");
            continue;
        }
        let is_deleted = deleted.contains(&item.path);
        if item.before.is_folder() && !item.after.is_folder() && !is_deleted {
            if item.has_new_side {
                item.has_new_side = false;
                let description = item.after.describe();
                omissions.add_omission(
                    &item.path,
                    format!("would be {description}; the folder there keeps files that this patch does not delete"),
                );
            } else if !refused_items.contains(&index) {
                omissions.add_omission(&item.path, "a folder that stays: git deletes only folders that become empty");
            }
        }
        let blocks_folder = !item.before.is_folder() && !item.before.is_nothing();
        let is_broken_link = item.before.is_link() && is_broken_for_git(&rehearsal.root().join(&item.path));
        let is_behind_link = item.before.is_nothing() && is_link_on_disk(&rehearsal.root().join(&item.path));
        if item.after.is_folder()
            && ((blocks_folder && !is_deleted) || refused_items.contains(&index) || is_broken_link || is_behind_link)
        {
            blocked_folder = Some(item.path.clone());
        }
    }
}

/// Returns whether git fails at this link, for example because it leads to itself: git looks below a link before it
/// deletes it.
fn is_broken_for_git(link: &Path) -> bool {
    let is_unexpected = |error: std::io::Error| !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    link.join("x").symlink_metadata().is_err_and(is_unexpected)
}

/// Returns whether git takes a new folder for a link: below a link that becomes a folder, it still looks at what the
/// link leads to.
fn is_link_on_disk(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

/// Lists folders that git creates differently, or not at all.
fn list_folders(rehearsal: &Rehearsal, items: &[PatchItem], deleted: &HashSet<PathBuf>, omissions: &mut Omissions) {
    // Every folder in which the patch creates something.
    let mut filled: HashSet<&Path> = HashSet::new();
    for item in items.iter().filter(|item| item.has_new_side) {
        for folder in item.path.ancestors().skip(1) {
            if !filled.insert(folder) {
                break;
            }
        }
    }
    let default_mode = 0o777 & !git_names::current_umask();
    for item in items {
        match (&item.before, &item.after) {
            (PathState::Folder { .. }, PathState::Folder { .. }) => {
                omissions.add_omission(&item.path, format!("{}: git keeps no mode of a folder", describe_modes(item)));
            }
            (_, PathState::Folder { .. }) if !filled.contains(item.path.as_path()) => {
                omissions.add_omission(&item.path, "an empty folder, which git does not store");
            }
            (_, PathState::Folder { mode }) if *mode != default_mode => {
                omissions
                    .add_omission(&item.path, format!("mode {mode:o}: git makes folders of mode {default_mode:o}"));
            }
            (_, _) => {}
        }
    }
    // Git deletes a folder with its last file, even if the rehearsal kept the folder.
    let items_by_path: HashMap<&Path, &PatchItem> = items.iter().map(|item| (item.path.as_path(), item)).collect();
    let is_deleted = |item: &&PatchItem| item.has_old_side && (item.is_renamed || !item.has_new_side);
    let mut pending: BTreeSet<PathBuf> =
        items.iter().filter(is_deleted).filter_map(|item| item.path.parent()).map(Path::to_owned).collect();
    let mut vanished: HashSet<PathBuf> = HashSet::new();
    // Deepest folders first: they sort after their parents.
    while let Some(folder) = pending.pop_last().filter(|folder| !folder.as_os_str().is_empty()) {
        if deleted.contains(&folder) {
            pending.extend(folder.parent().map(Path::to_owned));
            continue;
        }
        if items_by_path.get(folder.as_path()).is_some_and(|item| !item.after.is_folder()) {
            continue;
        }
        let real = rehearsal.root().join(&folder);
        let remains = |entry: std::fs::DirEntry| {
            let path = folder.join(entry.file_name());
            let item = items_by_path.get(path.as_path());
            let is_rewritten = item.is_some_and(|item| item.has_old_side && item.has_new_side);
            !deleted.contains(&path) && !vanished.contains(&path) && !is_rewritten
        };
        if std::fs::read_dir(&real).into_iter().flatten().flatten().any(remains) {
            continue;
        }
        let mode = real.symlink_metadata().map_or(default_mode, |meta| meta.mode() & 0o7777);
        if !filled.contains(folder.as_path()) {
            omissions.add_omission(&folder, "an empty folder: git deletes it with its last file");
        } else if mode != default_mode {
            omissions.add_omission(
                &folder,
                format!("mode {mode:o}: git may make this folder again with mode {default_mode:o}"),
            );
        }
        pending.extend(folder.parent().map(Path::to_owned));
        vanished.insert(folder);
    }
}

/// Lists files that get another mode, because git keeps only whether a file is executable.
fn list_modes(items: &[PatchItem], omissions: &mut Omissions) {
    let umask = git_names::current_umask();
    for item in items {
        let PathState::File { mode, .. } = &item.after else { continue };
        let created_mode = if mode & 0o100 == 0 { 0o666 & !umask } else { 0o777 & !umask };
        // Git writes every changed file as a new one, whose mode follows the umask.
        if item.has_new_side && *mode != created_mode {
            omissions.add_omission(&item.path, format!("mode {mode:o}: git keeps only whether a file is executable"));
        }
    }
}

fn describe_modes(item: &PatchItem) -> String {
    match (&item.before, &item.after) {
        (PathState::Folder { mode: old_mode }, PathState::Folder { mode: new_mode }) => {
            format!("mode {old_mode:o} becomes {new_mode:o}")
        }
        (before, after) => format!("{} becomes {}", before.describe(), after.describe()),
    }
}
