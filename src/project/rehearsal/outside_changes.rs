//! Changes of a rehearsal outside the project: a second overlay, over `/`, in the folder `outside` of the first one.
//!
//! The overlay sandbox mounts parts of the same tree, so commands and file tools see each other's changes. Each write
//! of a file tool is recorded with the hash of its content; content that differs from the record was written by a
//! command.

use super::overlay::{self, OUTSIDE_FOLDER};
use super::records::{append_records, path_bytes, read_records};
use super::{
    Change, Error, Location, ROOT_PATH, Reader, Rehearsal, Trail, Visit, WalkEntry, Writer, lock, overlay_walk, path,
};
use crate::chat::Digest;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File that records the writes of file tools.
const WRITES_FILE: &str = "written";
/// Folders of the kernel, in which a dry run rejects writes like the kernel does in a live run.
const KERNEL_FOLDERS: [&str; 2] = ["/proc", "/sys"];

/// One line of [`WRITES_FILE`].
#[derive(Serialize, Deserialize)]
struct ToolWrite {
    /// Absolute path.
    #[serde(with = "path_bytes")]
    path: PathBuf,
    sha256: Digest,
    /// True if no part of the content comes from a live file.
    #[serde(rename = "whole")]
    is_whole: bool,
}

/// A changed path outside the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideChange {
    /// The change, with an absolute path.
    pub change: Change,
    /// True if a file tool wrote exactly this content. Other changes cannot be applied.
    pub is_by_tool: bool,
    /// True if a file tool wrote this content and the live file has changed since then.
    pub is_conflict: bool,
}

/// All changes of a rehearsal outside the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutsideChanges {
    pub changes: Vec<OutsideChange>,
    /// Number of further files that commands changed in folders for temporary files.
    pub temporary: usize,
}

/// Reads the records of a second overlay, by absolute path. The last record for a path counts.
fn read_tool_writes(outside: &Path) -> HashMap<PathBuf, ToolWrite> {
    let records = read_records::<ToolWrite>(&outside.join(WRITES_FILE));
    records.into_iter().map(|record| (record.path.clone(), record)).collect()
}

/// Returns the files outside the project that file tools changed in part, so that they still contain live content.
/// `overlay_folder` is the folder of the first overlay.
pub fn partly_written(overlay_folder: &Path) -> Vec<PathBuf> {
    let partial_writes =
        read_tool_writes(&overlay_folder.join(OUTSIDE_FOLDER)).into_iter().filter(|(_, write)| !write.is_whole);
    partial_writes.map(|(path, _)| path).filter(|path| path.is_absolute()).collect()
}

impl Rehearsal {
    /// Creates the overlay over everything outside this project.
    pub(super) fn new_outside(&self) -> Self {
        Self::with_overlay(Arc::new(self.disk.for_system()), self.overlay_folder.join(OUTSIDE_FOLDER))
    }

    /// Returns the overlay over everything outside the project. Paths in it are relative to `/`.
    pub fn outside_overlay(&self) -> Option<&Self> {
        self.outside.as_deref()
    }

    /// Writes a file outside the project in the overlay. `is_whole` means that no part of `after` comes from the
    /// previous file.
    pub(super) fn write_outside(
        &self,
        location: &Location,
        before: Option<&[u8]>,
        after: &[u8],
        is_whole: bool,
    ) -> Result<(), Error> {
        let to_error = |source| Error::in_overlay(&location.display_path, source);
        let Some(outside) = self.outside_overlay() else {
            return Err(to_error(io::ErrorKind::Unsupported.into()));
        };
        if location.own_file.is_some() {
            let path = crate::text::escaped_path::escape_path(&location.display_path);
            return Err(Error::Invalid(format!("{path} belongs to aye's own settings, sessions and keys")));
        }
        if KERNEL_FOLDERS.iter().any(|folder| location.real.starts_with(folder)) {
            return Err(to_error(rustix::io::Errno::ACCESS.into()));
        }
        let is_whole = is_whole || before.is_none() || self.has_only_rehearsed_content(location);
        // Commands also write in this tree while they hold the lock of the whole overlay.
        let _lock = lock::lock_overlay(&self.overlay_folder).map_err(to_error)?;
        let record = || outside.record_write(&location.real, Digest::of_bytes(after), is_whole).map_err(to_error);
        if is_whole {
            outside.write(location, before, after)?;
            return record();
        }
        // Record first, so that even after a crash a file with live content is never shown to a command.
        record()?;
        outside.write(location, before, after)
    }

    fn record_write(&self, path: &Path, sha256: Digest, is_whole: bool) -> io::Result<()> {
        fs::create_dir_all(&self.overlay_folder)?;
        let record = ToolWrite { path: path.to_owned(), sha256, is_whole };
        append_records(&self.overlay_folder.join(WRITES_FILE), &[record])
    }

    /// Returns the digest of the content that the last write of a file tool gave the file at an absolute path of this
    /// overlay, if no part of it comes from a live file.
    pub(super) fn whole_tool_write(&self, path: &Path) -> Option<Digest> {
        let write = read_tool_writes(&self.overlay_folder).remove(path)?;
        write.is_whole.then_some(write.sha256)
    }

    /// Walks a folder outside the project as the rehearsal shows it, including the project if it lies below. Dot files
    /// are visited only if `hidden` is set.
    pub(super) fn walk_outside(&self, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error> {
        let Some(outside) = self.outside_overlay().filter(|outside| outside.upper.exists()) else {
            return self.disk.walk(under, hidden, visit);
        };
        let root = Path::new("/");
        overlay_walk::walk_overlay(outside, under, hidden, &mut |entry| {
            let display_path = root.join(&entry.location.display_path);
            if display_path != self.root() && display_path.starts_with(self.root()) {
                return ControlFlow::Continue(());
            }
            let location = self.locate_below(entry.location.real);
            // A link is visited if it leads into the project, as in a live walk.
            if location.real != display_path && !location.is_inside {
                return ControlFlow::Continue(());
            }
            let is_project = display_path == self.root();
            let location = Location {
                display_path,
                is_sensitive: location.is_sensitive || entry.location.is_sensitive,
                ..location
            };
            visit(WalkEntry { location, ..entry })?;
            if !is_project {
                return ControlFlow::Continue(());
            }
            let mut flow = ControlFlow::Continue(());
            let result =
                overlay_walk::walk_overlay(self, &self.locate_below(self.root().to_owned()), hidden, &mut |entry| {
                    let location =
                        Location { display_path: self.root().join(&entry.location.display_path), ..entry.location };
                    flow = visit(WalkEntry { location, ..entry });
                    flow
                });
            // Unreadable folders are skipped, as everywhere.
            drop(result);
            flow
        })
    }

    /// Returns all changes outside the project, by file tools and by commands.
    ///
    /// # Errors
    /// If the overlay cannot be read.
    pub fn outside_changes(&self) -> Result<OutsideChanges, Error> {
        let mut result = OutsideChanges::default();
        let Some(outside) = self.outside_overlay() else { return Ok(result) };
        let (tool_writes, temporary_folders) = (read_tool_writes(&outside.overlay_folder), temporary_folders());
        let mut trail = Trail::default();
        for relative in outside.overlay_paths()? {
            let path = Path::new("/").join(&relative);
            if path.starts_with(self.root()) || relative == Path::new(ROOT_PATH) {
                continue;
            }
            let tool_write = tool_writes.get(&path);
            let is_temporary = temporary_folders.iter().any(|folder| path.starts_with(folder));
            if is_temporary && tool_write.is_none() {
                let content = overlay::find_source_with_trail(&outside.upper, outside.root(), &relative, &mut trail);
                let is_folder =
                    content.is_ok_and(|content| content.overlay_entry.is_some_and(|(_, meta)| meta.is_dir()));
                result.temporary += usize::from(!is_folder);
                continue;
            }
            let Some(change) = outside.change_with_trail(&relative, &mut trail)? else { continue };
            let after = change.after.file_bytes().map(Digest::of_bytes);
            let is_by_tool = tool_write.is_some_and(|tool_write| after.as_ref() == Some(&tool_write.sha256));
            let is_conflict = is_by_tool && outside.is_conflict(&relative);
            result.changes.push(OutsideChange { change: Change { path, ..change }, is_by_tool, is_conflict });
        }
        // A new folder is created together with its files, so it needs no entry of its own.
        let paths: Vec<PathBuf> = result.changes.iter().map(|change| change.change.path.clone()).collect();
        result.changes.retain(|change| {
            let path = &change.change.path;
            !change.change.is_new_folder() || !paths.iter().any(|other| other != path && other.starts_with(path))
        });
        Ok(result)
    }
}

/// Returns the folders for temporary files, without links.
fn temporary_folders() -> Vec<PathBuf> {
    let usual = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let folders = usual.into_iter().chain([std::env::temp_dir()]);
    folders.map(|folder| path::resolve_links(&folder, &mut path::link_target).unwrap_or(folder)).collect()
}

#[cfg(test)]
mod tests;
