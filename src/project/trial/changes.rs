//! Lists what a trial changed. Folders that git ignores, such as build output, are one change each, and so are new folders
//! after the first [`MAX_COMPARED_CHANGES`] changes.

use super::TrialEffects;
use crate::chat::batch::{Group, find_repository};
use crate::chat::build_output::is_build_output;
use crate::chat::sensitive_paths::{is_sensitive, is_system_file};
use crate::chat::trial::{MAX_COMPARED_CHANGES, MAX_LOST_FILES};
use crate::chat::{ChangeKind, DryRunChange, TrialChange};
use crate::project::Reader;
use crate::project::change_summary::describe_node_change;
use crate::project::disk::Disk;
use crate::project::git_baseline::parse_packed_refs;
use crate::project::groups::GroupClassifier;
use crate::project::rehearsal::{Change, FileNode, OverlayEntry, Rehearsal, UPPER, digest_overlay, read_entries};
use crate::project::sensitive_files::is_in_package_folder;
use crate::project::stored_content::StoredContent;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Files of a removed folder up to which their contents are compared with what git has stored.
const MAX_CHECKED_FILES: usize = 200;

/// Lists the effects of a trial from its overlay, without reading what is below ignored folders.
///
/// # Errors
/// If the disk fails.
pub fn list_effects(rehearsal: &Rehearsal, disk: Arc<Disk>) -> io::Result<TrialEffects> {
    // A trial must not choose what counts as ignored, so the ignore files of the project apply, not those of the trial.
    let live = Rehearsal::new(disk, rehearsal.overlay_folder().join("empty"));
    let upper = rehearsal.overlay_folder().join(UPPER);
    let mut lister = Lister {
        rehearsal,
        groups: GroupClassifier::new(&live),
        stored: StoredContent::new(rehearsal),
        upper,
        effects: TrialEffects::default(),
    };
    lister.list_folder()?;
    let mut effects = lister.effects;
    effects.changes.sort_by(|one, other| one.change.path.cmp(&other.change.path));
    let outside = rehearsal.outside_changes().map_err(io::Error::other)?;
    effects.outside = outside.changes.into_iter().map(|outside| outside.change.path).collect();
    effects.temporary_files = outside.temporary;
    effects.digest = digest_overlay(rehearsal.overlay_folder());
    Ok(effects)
}

struct Lister<'a> {
    rehearsal: &'a Rehearsal,
    groups: GroupClassifier<'a>,
    stored: StoredContent<'a>,
    upper: PathBuf,
    effects: TrialEffects,
}

impl Lister<'_> {
    fn list_folder(&mut self) -> io::Result<()> {
        // Folders still to be listed, each with true if the project's folder is visible through it.
        let mut folders = vec![(PathBuf::new(), true)];
        while let Some((folder, shows_project)) = folders.pop() {
            let mut is_empty = true;
            for (name, entry) in read_entries(&self.upper.join(&folder))? {
                is_empty = false;
                let path = folder.join(name);
                let live = self.rehearsal.root().join(&path).symlink_metadata().ok().filter(|_| shows_project);
                let is_live_folder = live.as_ref().is_some_and(fs::Metadata::is_dir);
                match entry {
                    Ok(OverlayEntry::Absent) => {}
                    Err(error) => self.effects.unkeepable.push((path, error.to_string())),
                    Ok(OverlayEntry::Deleted) if live.is_some() => {
                        self.list_removed(path, is_live_folder, ChangeKind::Deleted)?
                    }
                    Ok(OverlayEntry::Deleted) => {}
                    Ok(OverlayEntry::Other(meta)) if !meta.is_file() && !meta.is_symlink() => {
                        let reason = "neither a file nor a folder nor a link".to_owned();
                        self.effects.unkeepable.push((path, reason));
                    }
                    Ok(OverlayEntry::Other(meta)) if gains_rights(&meta, live.as_ref()) => {
                        let reason = "a program that runs with the rights of its owner".to_owned();
                        self.effects.unkeepable.push((path, reason));
                    }
                    Ok(OverlayEntry::Other(_)) if is_live_folder => {
                        self.list_removed(path, true, ChangeKind::Modified)?;
                    }
                    Ok(OverlayEntry::Other(_)) => self.list_file(&path)?,
                    Ok(OverlayEntry::Folder { hides_project, .. }) if is_live_folder => {
                        if hides_project? {
                            self.list_removed(path, true, ChangeKind::Modified)?;
                        } else {
                            self.list_file(&path)?;
                            folders.push((path, true));
                        }
                    }
                    Ok(OverlayEntry::Folder { .. }) => {
                        if live.is_some() {
                            self.list_file_removal(path.clone(), ChangeKind::Deleted)?;
                        }
                        let group = self.groups.classify(&path, true);
                        if group == Group::Ignored || !self.compares_next() {
                            self.list_new_folder(path, group)?;
                        } else {
                            folders.push((path, false));
                        }
                    }
                }
            }
            // A new folder is listed only if none of its entries is, and nothing that it replaced.
            let is_listed = || self.effects.changes.iter().any(|change| change.change.path == folder);
            if is_empty && !shows_project && !is_listed() {
                self.list_file(&folder)?;
            }
        }
        Ok(())
    }

    /// Lists a file, a link, or a folder whose mode may have changed.
    fn list_file(&mut self, path: &Path) -> io::Result<()> {
        let Some(mut change) = self.rehearsal.change_at(path).map_err(io::Error::other)? else { return Ok(()) };
        let group = self.groups.classify(path, change.after.is_folder());
        if group == Group::Repository && change.before == FileNode::Nothing {
            change.before = self.packed_branch(path).unwrap_or(FileNode::Nothing);
        }
        let loses_unsaved = group == Group::Source && !change.after.is_folder() && self.stored.loses_content(&change);
        let mut described = self.describe_change(&change);
        described.group = group;
        let leads_outside = match &change.after {
            FileNode::Link(target) => self.leads_outside(path, target),
            FileNode::Nothing | FileNode::File { .. } | FileNode::Folder { .. } | FileNode::Other(_) => false,
        };
        self.push_change(described, 0, loses_unsaved, is_marked(path, group));
        if let Some(listed) = self.effects.changes.last_mut() {
            listed.leads_outside = leads_outside;
        }
        Ok(())
    }

    /// Returns whether the link at `path` leads to something that is neither in the project nor part of the system.
    fn leads_outside(&self, path: &Path, target: &Path) -> bool {
        let link = self.rehearsal.root().join(path);
        let place = normalize(&link.parent().unwrap_or(&link).join(target));
        !place.starts_with(self.rehearsal.root()) && !is_system_file(&place)
    }

    /// Returns a branch that git keeps with others in one file, as the file that takes precedence over it.
    fn packed_branch(&self, path: &Path) -> Option<FileNode> {
        let root = self.rehearsal.root();
        let repository = root.join(find_repository(path)?);
        let name = root.join(path).strip_prefix(&repository).ok()?.to_str()?.to_owned();
        let packed = fs::read_to_string(repository.join("packed-refs")).ok()?;
        let id = parse_packed_refs(&packed).remove(&name)?;
        Some(FileNode::File { bytes: format!("{id}\n").into_bytes(), mode: 0o644 })
    }

    /// Returns whether the contents of the next change are compared.
    fn compares_next(&self) -> bool {
        self.effects.changes.len() < MAX_COMPARED_CHANGES
    }

    fn describe_change(&self, change: &Change) -> DryRunChange {
        if self.compares_next() {
            return describe_node_change(change, false);
        }
        let kind = if change.before == FileNode::Nothing { ChangeKind::Created } else { ChangeKind::Modified };
        plain_change(change.path.clone(), kind, change.after.is_folder(), String::new())
    }

    /// Lists something of the project that is removed with everything below it, possibly replaced by something else.
    fn list_removed(&mut self, path: PathBuf, is_folder: bool, kind: ChangeKind) -> io::Result<()> {
        let group = self.groups.classify(&path, is_folder);
        if !is_folder {
            return self.list_file_removal(path, kind);
        }
        let (files, mut has_sensitive) = count_below(&self.rehearsal.root().join(&path), &path)?;
        let replacement = self.upper.join(&path);
        if replacement.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            has_sensitive |= count_below(&replacement, &path)?.1;
        }
        let note = match kind {
            ChangeKind::Modified => format!("folder with {} replaced", crate::chat::pluralize(files, "file")),
            ChangeKind::Created | ChangeKind::Deleted => {
                format!("folder with {} deleted", crate::chat::pluralize(files, "file"))
            }
        };
        let is_sensitive = has_sensitive || is_marked(&path, group);
        let is_ignored = group == Group::Ignored;
        let is_checked = files <= MAX_CHECKED_FILES && !(is_ignored && is_build_output(&path));
        let lost_files = if is_checked { self.lost_files_below(&path)? } else { Vec::new() };
        let loses_unsaved = !is_ignored && (!is_checked || !lost_files.is_empty());
        let change = DryRunChange { group, ..plain_change(path, kind, true, note) };
        self.push_change(change, files, loses_unsaved, is_sensitive);
        if let Some(listed) = self.effects.changes.last_mut() {
            listed.lost_files = lost_files;
        }
        Ok(())
    }

    /// Returns the first files of a removed folder whose content git has not stored, at most [`MAX_LOST_FILES`]; empty if
    /// there are none.
    fn lost_files_below(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut lost_files = Vec::new();
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.rehearsal.root().join(&folder))? {
                let entry = entry?;
                let inner = folder.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    folders.push(inner);
                    continue;
                }
                let change = self.rehearsal.change_at(&inner).map_err(io::Error::other)?;
                if change.is_none_or(|change| self.stored.loses_content(&change)) {
                    lost_files.push(inner);
                }
                if lost_files.len() == MAX_LOST_FILES {
                    return Ok(lost_files);
                }
            }
        }
        lost_files.sort();
        Ok(lost_files)
    }

    /// Lists a file or link of the project that is deleted, or replaced by a folder.
    fn list_file_removal(&mut self, path: PathBuf, kind: ChangeKind) -> io::Result<()> {
        let Some(change) = self.rehearsal.change_at(&path).map_err(io::Error::other)? else { return Ok(()) };
        let group = self.groups.classify(&path, false);
        let loses_unsaved = group == Group::Source && self.stored.loses_content(&change);
        let described = DryRunChange { group, kind, is_folder: false, ..self.describe_removal(&change) };
        self.push_change(described, 0, loses_unsaved, is_marked(&path, group));
        Ok(())
    }

    fn describe_removal(&self, change: &Change) -> DryRunChange {
        if self.compares_next() {
            return describe_node_change(change, false);
        }
        plain_change(change.path.clone(), ChangeKind::Deleted, false, "deleted".to_owned())
    }

    /// Lists a new folder with everything in it as one change.
    fn list_new_folder(&mut self, path: PathBuf, group: Group) -> io::Result<()> {
        let (files, has_sensitive) = count_below(&self.upper.join(&path), &path)?;
        let note = format!("new folder with {}", crate::chat::pluralize(files, "file"));
        let is_sensitive = has_sensitive || is_marked(&path, group);
        let change = DryRunChange { group, ..plain_change(path, ChangeKind::Created, true, note) };
        self.push_change(change, files, false, is_sensitive);
        Ok(())
    }

    fn push_change(&mut self, change: DryRunChange, files_below: usize, loses_unsaved: bool, is_sensitive: bool) {
        let (leads_outside, is_compared) = (false, self.compares_next());
        let lost_files = Vec::new();
        let change =
            TrialChange { change, files_below, lost_files, loses_unsaved, is_sensitive, leads_outside, is_compared };
        self.effects.changes.push(change);
    }
}

/// Removes `.` and `..` from an absolute path by its names alone.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}

/// Returns whether a changed path may hold secrets or configures other programs. The state of a repository does not.
fn is_marked(path: &Path, group: Group) -> bool {
    group != Group::Repository && is_sensitive(path)
}

/// Returns a change that is described by a note alone.
fn plain_change(path: PathBuf, kind: ChangeKind, is_folder: bool, note: String) -> DryRunChange {
    let notes = if note.is_empty() { Vec::new() } else { vec![note] };
    DryRunChange { path, kind, is_folder, diff: None, notes, has_conflict: false, group: Group::default() }
}

/// Returns whether a file now runs with the rights of its owner or group (set-user-ID, set-group-ID) and did not before.
fn gains_rights(meta: &fs::Metadata, before: Option<&fs::Metadata>) -> bool {
    const SET_ID: u32 = 0o6000;
    let old_bits = before.filter(|before| before.is_file()).map_or(0, |before| before.mode() & SET_ID);
    meta.is_file() && meta.mode() & SET_ID & !old_bits != 0
}

/// Counts the files below a folder on disk. Also returns whether one of them has a sensitive name or runs with the rights
/// of its owner; in folders of installed packages such names are common and mean nothing. `path` is the path of the
/// folder in the project.
fn count_below(folder: &Path, path: &Path) -> io::Result<(usize, bool)> {
    let (mut files, mut has_sensitive) = (0, false);
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let inner = inner.join(entry.file_name());
            let shown = path.join(&inner);
            has_sensitive |= is_sensitive(&shown) && !is_in_package_folder(&shown);
            has_sensitive |= gains_rights(&entry.metadata()?, None);
            if entry.file_type()?.is_dir() {
                folders.push(inner);
            } else {
                files += 1;
            }
        }
    }
    Ok((files, has_sensitive))
}
