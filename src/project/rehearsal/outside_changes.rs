//! Changes of a rehearsal outside the project: a second overlay, over `/`, in the folder `outside` of the first one.
//!
//! The overlay sandbox mounts parts of the same tree, so commands and file tools see each other's changes. Each write
//! of a file tool is recorded with the hash of its content; content that differs from the record was written by a
//! command.

use super::overlay::OUTSIDE_FOLDER;
use super::{
    Change, Error, FileNode, Location, ROOT_PATH, Reader, Rehearsal, Trail, WalkEntry, Writer, lock, overlay_walk, path,
};
use crate::chat::Digest;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File that records the writes of file tools.
const WRITES_FILE: &str = "written";
/// Folders in which writes fail, as the kernel does live.
const KERNEL_FOLDERS: [&str; 2] = ["/proc", "/sys"];

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct ToolWrite {
    /// Absolute path as bytes, because it may not be Unicode.
    path: Vec<u8>,
    sha256: Digest,
    /// True if no part of the content comes from a live file.
    #[serde(rename = "whole")]
    is_whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideChange {
    /// The change, with an absolute path.
    pub change: Change,
    /// True if a file tool wrote exactly this content. Only then it can be applied.
    pub is_by_tool: bool,
    /// True if the live file changed since.
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
    let bytes = fs::read(outside.join(WRITES_FILE)).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let by_path = |line: ToolWrite| (PathBuf::from(std::ffi::OsString::from_vec(line.path.clone())), line);
    lines.map(by_path).collect()
}

/// Returns the files outside the project that file tools changed in part, so that they still contain live content.
/// `layer` is the folder of the first overlay.
pub fn partly_written(layer: &Path) -> Vec<PathBuf> {
    let partly = read_tool_writes(&layer.join(OUTSIDE_FOLDER)).into_iter().filter(|(_, note)| !note.is_whole);
    partly.map(|(path, _)| path).filter(|path| path.is_absolute()).collect()
}

/// Converts a location to one of the overlay over `/`.
fn as_system_location(at: &Location) -> Location {
    Location { is_inside: true, ..at.clone() }
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

    /// Returns the reader for a path outside the project, and the path's location for that reader.
    pub(super) fn outside_reader(&self, at: &Location) -> (&dyn Reader, Location) {
        match self.outside_overlay() {
            Some(outside) => (outside, as_system_location(at)),
            None => (&*self.disk, at.clone()),
        }
    }

    /// Writes a file outside the project in the overlay. `is_whole` means that no part of `after` comes from the
    /// previous file.
    pub(super) fn write_outside(
        &self,
        at: &Location,
        before: Option<&[u8]>,
        after: &[u8],
        is_whole: bool,
    ) -> Result<(), Error> {
        let failed = |source| Error::in_overlay(&at.display_path, source);
        let Some(outside) = self.outside_overlay() else {
            return Err(failed(io::ErrorKind::Unsupported.into()));
        };
        if at.own_file.is_some() {
            let shown = crate::text::escaped_path::escape_path(&at.display_path);
            return Err(Error::BadPath(format!("{shown} belongs to aye's own settings, sessions and keys")));
        }
        if KERNEL_FOLDERS.iter().any(|folder| at.real.starts_with(folder)) {
            return Err(failed(rustix::io::Errno::ACCESS.into()));
        }
        let whole = is_whole || before.is_none() || self.has_only_rehearsed_content(at);
        // Commands also write in this tree while they hold the lock of the whole overlay.
        let _lock = lock::lock_overlay(&self.overlay_folder).map_err(failed)?;
        let note = || outside.record_write(&at.real, Digest::of_bytes(after), whole).map_err(failed);
        if whole {
            outside.write(&as_system_location(at), before, after)?;
            return note();
        }
        // Record first, so that even after a crash a file with live content is never shown to a command.
        note()?;
        outside.write(&as_system_location(at), before, after)
    }

    fn record_write(&self, path: &Path, sha256: Digest, whole: bool) -> io::Result<()> {
        let line = ToolWrite { path: path.as_os_str().as_bytes().to_vec(), sha256, is_whole: whole };
        // Ends a line truncated by a full disk.
        let mut text = vec![b'\n'];
        serde_json::to_writer(&mut text, &line)?;
        text.push(b'\n');
        fs::create_dir_all(&self.overlay_folder)?;
        fs::OpenOptions::new().create(true).append(true).open(self.overlay_folder.join(WRITES_FILE))?.write_all(&text)
    }

    /// Returns the records of file tools' writes by absolute path.
    fn tool_writes(&self) -> HashMap<PathBuf, ToolWrite> {
        read_tool_writes(&self.overlay_folder)
    }

    /// Returns whether the overlay itself, not a link in it, holds exactly the content written by a `write_file` of
    /// this rehearsal. `at` is outside the project.
    pub(super) fn has_whole_tool_write(&self, at: &Location) -> bool {
        let Some(outside) = self.outside_overlay() else { return false };
        let Some(below) = outside.path_below(&as_system_location(at)) else { return false };
        // The visible file must be the overlay's own, with a single name.
        let is_own = outside.find_source(&below).is_ok_and(|spot| {
            spot.overlay_entry
                .is_some_and(|(_, meta)| meta.is_file() && std::os::unix::fs::MetadataExt::nlink(&meta) == 1)
        });
        is_own
            && outside.tool_writes().get(&at.real).is_some_and(|note| {
                let held = outside.read(&as_system_location(at));
                note.is_whole && held.is_ok_and(|bytes| Digest::of_bytes(&bytes) == note.sha256)
            })
    }

    /// Walks a folder outside the project as the rehearsal shows it, including the project if it lies below.
    pub(super) fn walk_outside(
        &self,
        under: &Location,
        hidden: bool,
        visit: &mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let Some(outside) = self.outside_overlay().filter(|outside| outside.upper.exists()) else {
            return self.disk.walk(under, hidden, visit);
        };
        let top = Path::new("/");
        overlay_walk::walk_overlay(outside, &as_system_location(under), hidden, &mut |found| {
            let shown = top.join(&found.location.display_path);
            if shown != self.root() && shown.starts_with(self.root()) {
                return ControlFlow::Continue(());
            }
            let at = self.locate_below(found.location.real);
            // A link is visited if it leads into the project, as in a live walk.
            if at.real != shown && !at.is_inside {
                return ControlFlow::Continue(());
            }
            let is_project = shown == self.root();
            let at =
                Location { display_path: shown, is_sensitive: at.is_sensitive || found.location.is_sensitive, ..at };
            visit(WalkEntry { location: at, ..found })?;
            if !is_project {
                return ControlFlow::Continue(());
            }
            let mut ended = ControlFlow::Continue(());
            let walked =
                overlay_walk::walk_overlay(self, &self.locate_below(self.root().to_owned()), hidden, &mut |found| {
                    let at =
                        Location { display_path: self.root().join(&found.location.display_path), ..found.location };
                    ended = visit(WalkEntry { location: at, ..found });
                    ended
                });
            // Unreadable folders are skipped, as everywhere.
            drop(walked);
            ended
        })
    }

    /// Returns all changes outside the project, by file tools and by commands.
    ///
    /// # Errors
    /// If the overlay cannot be read.
    pub fn outside_changes(&self) -> Result<OutsideChanges, Error> {
        let mut all = OutsideChanges::default();
        let Some(outside) = self.outside_overlay() else { return Ok(all) };
        let (written, temporary) = (outside.tool_writes(), temporary_folders());
        let mut trail = Trail::default();
        for below in outside.overlay_paths()? {
            let path = Path::new("/").join(&below);
            if path.starts_with(self.root()) || below == Path::new(ROOT_PATH) {
                continue;
            }
            let note = written.get(&path);
            let is_temporary = temporary.iter().any(|folder| path.starts_with(folder));
            if is_temporary && note.is_none() {
                let spot = super::overlay::find_source_along(&outside.upper, outside.root(), &below, &mut trail);
                let is_folder = spot.is_ok_and(|spot| spot.overlay_entry.is_some_and(|(_, meta)| meta.is_dir()));
                all.temporary += usize::from(!is_folder);
                continue;
            }
            let Some(change) = outside.change_at_along(&below, &mut trail)? else { continue };
            let is_by_tool = match (&change.after, note) {
                (FileNode::File { bytes, .. }, Some(note)) => Digest::of_bytes(bytes) == note.sha256,
                (_, _) => false,
            };
            let is_conflict = is_by_tool && outside.is_conflict(&below);
            all.changes.push(OutsideChange { change: Change { path, ..change }, is_by_tool, is_conflict });
        }
        // A new folder is created together with its files, so it needs no entry of its own.
        let paths: Vec<PathBuf> = all.changes.iter().map(|one| one.change.path.clone()).collect();
        all.changes.retain(|one| {
            let is_new =
                matches!((&one.change.before, &one.change.after), (FileNode::Nothing, FileNode::Folder { .. }));
            let path = &one.change.path;
            !is_new || !paths.iter().any(|other| other != path && other.starts_with(path))
        });
        Ok(all)
    }
}

/// Returns the folders for temporary files, without links.
fn temporary_folders() -> Vec<PathBuf> {
    let usual = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let all = usual.into_iter().chain([std::env::temp_dir()]);
    all.map(|folder| path::resolve_links(&folder, &path::link_target).unwrap_or(folder)).collect()
}

#[cfg(test)]
mod tests;
