//! Changes of a rehearsal outside the project: a second overlay, over `/`, in the folder `outside` of the first one.
//!
//! The overlay sandbox mounts parts of the same tree, so commands and file tools see each other's changes. Each write
//! of a file tool is recorded with the hash of its content; content that differs from the record was written by a
//! command.

use super::{Change, Error, Found, Located, Node, ROOT, Reader, Rehearsal, Trail, Writer, lock, path, walk};
use crate::chat::Digest;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folder of the second overlay inside the first.
pub const OUTSIDE: &str = "outside";
/// File that records the writes of file tools.
const WRITTEN: &str = "written";
/// Folders in which writes fail, as the kernel does live.
const KERNEL: [&str; 2] = ["/proc", "/sys"];

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Written {
    /// Absolute path as bytes, because it may not be Unicode.
    path: Vec<u8>,
    sha256: Digest,
    /// True if no part of the content comes from a live file.
    whole: bool,
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
fn notes(outside: &Path) -> HashMap<PathBuf, Written> {
    let bytes = fs::read(outside.join(WRITTEN)).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let by_path = |line: Written| (PathBuf::from(std::ffi::OsString::from_vec(line.path.clone())), line);
    lines.map(by_path).collect()
}

/// Returns the files outside the project that file tools changed in part, so that they still contain live content.
/// `layer` is the folder of the first overlay.
pub fn partly_written(layer: &Path) -> Vec<PathBuf> {
    let partly = notes(&layer.join(OUTSIDE)).into_iter().filter(|(_, note)| !note.whole);
    partly.map(|(path, _)| path).filter(|path| path.is_absolute()).collect()
}

/// Converts a location to one of the overlay over `/`.
fn in_system(at: &Located) -> Located {
    Located { inside: true, ..at.clone() }
}

impl Rehearsal {
    /// Creates the overlay over everything outside this project.
    pub(super) fn over_system(&self) -> Self {
        let layer = self.layer.join(OUTSIDE);
        let upper = layer.join(super::UPPER);
        let real = Arc::new(self.real.of_system());
        let (origins, changed, is_unnoted, is_held_back, whole) = Default::default();
        Self { real, layer, upper, origins, changed, is_unnoted, is_held_back, whole, outside: None }
    }

    /// Returns the overlay over everything outside the project. Paths in it are relative to `/`.
    pub fn outside(&self) -> Option<&Self> {
        self.outside.as_deref()
    }

    /// Returns the reader for a path outside the project, and the path's location for that reader.
    pub(super) fn beyond(&self, at: &Located) -> (&dyn Reader, Located) {
        match self.outside() {
            Some(outside) => (outside, in_system(at)),
            None => (&*self.real, at.clone()),
        }
    }

    /// Writes a file outside the project in the overlay. `is_whole` means that no part of `after` comes from the
    /// previous file.
    pub(super) fn write_outside(
        &self,
        at: &Located,
        before: Option<&[u8]>,
        after: &[u8],
        is_whole: bool,
    ) -> Result<(), Error> {
        let failed = |source| Error::in_layer(&at.shown, source);
        let Some(outside) = self.outside() else { return Err(failed(io::ErrorKind::Unsupported.into())) };
        if at.own.is_some() {
            let shown = crate::chat::escaped_path::escape(&at.shown);
            return Err(Error::BadPath(format!("{shown} belongs to aye's own settings, sessions and keys")));
        }
        if KERNEL.iter().any(|folder| at.real.starts_with(folder)) {
            return Err(failed(rustix::io::Errno::ACCESS.into()));
        }
        let whole = is_whole || before.is_none() || self.is_rehearsed_whole(at);
        // Commands also write in this tree while they hold the lock of the whole overlay.
        let _lock = lock::hold(&self.layer).map_err(failed)?;
        let note = || outside.note_written(&at.real, Digest::of(after), whole).map_err(failed);
        if whole {
            outside.write(&in_system(at), before, after)?;
            return note();
        }
        // Record first, so that even after a crash a file with live content is never shown to a command.
        note()?;
        outside.write(&in_system(at), before, after)
    }

    fn note_written(&self, path: &Path, sha256: Digest, whole: bool) -> io::Result<()> {
        let line = Written { path: path.as_os_str().as_bytes().to_vec(), sha256, whole };
        // Ends a line truncated by a full disk.
        let mut text = vec![b'\n'];
        serde_json::to_writer(&mut text, &line)?;
        text.push(b'\n');
        fs::create_dir_all(&self.layer)?;
        fs::OpenOptions::new().create(true).append(true).open(self.layer.join(WRITTEN))?.write_all(&text)
    }

    /// Returns the records of file tools' writes by absolute path.
    fn written_by_tools(&self) -> HashMap<PathBuf, Written> {
        notes(&self.layer)
    }

    /// Returns whether the overlay itself, not a link in it, holds exactly the content written by a `write_file` of
    /// this rehearsal. `at` is outside the project.
    pub(super) fn holds_whole(&self, at: &Located) -> bool {
        let Some(outside) = self.outside() else { return false };
        let Some(below) = outside.below(&in_system(at)) else { return false };
        // The visible file must be the overlay's own, with a single name.
        let is_own = outside.spot(&below).is_ok_and(|spot| {
            spot.above
                .is_some_and(|(_, meta)| meta.is_file() && std::os::unix::fs::MetadataExt::nlink(&meta) == 1)
        });
        is_own
            && outside.written_by_tools().get(&at.real).is_some_and(|note| {
                let held = outside.read(&in_system(at));
                note.whole && held.is_ok_and(|bytes| Digest::of(&bytes) == note.sha256)
            })
    }

    /// Walks a folder outside the project as the rehearsal shows it, including the project if it lies below.
    pub(super) fn walk_outside(
        &self,
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let Some(outside) = self.outside().filter(|outside| outside.upper.exists()) else {
            return self.real.walk(under, hidden, visit);
        };
        let top = Path::new("/");
        walk::walk(outside, &in_system(under), hidden, &mut |found| {
            let shown = top.join(&found.at.shown);
            if shown != self.root() && shown.starts_with(self.root()) {
                return ControlFlow::Continue(());
            }
            let at = self.at(found.at.real);
            // A link is visited if it leads into the project, as in a live walk.
            if at.real != shown && !at.inside {
                return ControlFlow::Continue(());
            }
            let is_project = shown == self.root();
            let at = Located { shown, sensitive: at.sensitive || found.at.sensitive, ..at };
            visit(Found { at, ..found })?;
            if !is_project {
                return ControlFlow::Continue(());
            }
            let mut ended = ControlFlow::Continue(());
            let walked = walk::walk(self, &self.at(self.root().to_owned()), hidden, &mut |found| {
                let at = Located { shown: self.root().join(&found.at.shown), ..found.at };
                ended = visit(Found { at, ..found });
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
        let Some(outside) = self.outside() else { return Ok(all) };
        let (written, temporary) = (outside.written_by_tools(), temporary_folders());
        let mut trail = Trail::default();
        for below in outside.touched()? {
            let path = Path::new("/").join(&below);
            if path.starts_with(self.root()) || below == Path::new(ROOT) {
                continue;
            }
            let note = written.get(&path);
            let is_temporary = temporary.iter().any(|folder| path.starts_with(folder));
            if is_temporary && note.is_none() {
                let spot = super::layer::spot_along(&outside.upper, outside.root(), &below, &mut trail);
                let is_folder = spot.is_ok_and(|spot| spot.above.is_some_and(|(_, meta)| meta.is_dir()));
                all.temporary += usize::from(!is_folder);
                continue;
            }
            let Some(change) = outside.change_along(&below, &mut trail)? else { continue };
            let is_by_tool = match (&change.after, note) {
                (Node::File { bytes, .. }, Some(note)) => Digest::of(bytes) == note.sha256,
                (_, _) => false,
            };
            let is_conflict = is_by_tool && outside.is_conflict(&below);
            all.changes.push(OutsideChange { change: Change { path, ..change }, is_by_tool, is_conflict });
        }
        // A new folder is created together with its files, so it needs no entry of its own.
        let paths: Vec<PathBuf> = all.changes.iter().map(|one| one.change.path.clone()).collect();
        all.changes.retain(|one| {
            let is_new =
                matches!((&one.change.before, &one.change.after), (Node::Nothing, Node::Folder { .. }));
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
    all.map(|folder| path::resolve(&folder, &path::on_disk).unwrap_or(folder)).collect()
}

#[cfg(test)]
mod tests;
