//! Baseline of an overlay: the project's state at each path when the overlay first changed it. Conflicts are detected
//! by comparing with it.

use super::file_node::{FileNode, read_node};
use super::fingerprint::{Fingerprint, OriginKind};
use super::overlay::{self, OverlayEntry};
use super::records::{append_records, path_bytes, read_records};
use super::{ROOT_PATH, Rehearsal};
use crate::project::Reader;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// File of the records, next to `upper`.
const ORIGINS_FILE: &str = "origins";

/// One line of [`ORIGINS_FILE`].
#[derive(Serialize, Deserialize)]
struct OriginRecord {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    #[serde(flatten)]
    fingerprint: Fingerprint,
}

impl Rehearsal {
    /// Returns the project's state at this path when the overlay first changed it, if recorded.
    pub fn origin(&self, path: &Path) -> Option<Fingerprint> {
        let mut origins = self.known_origins();
        origins.get_or_insert_with(|| read_origins(&self.overlay_folder)).get(path).cloned()
    }

    /// Returns the fingerprint of a live path.
    pub fn live_fingerprint(&self, path: &Path) -> Fingerprint {
        Fingerprint::from_disk(&self.root().join(path), &self.live_node(path))
    }

    /// Reads a live path. Links in parent folders are not followed.
    pub fn live_node(&self, path: &Path) -> FileNode {
        if path == Path::new(ROOT_PATH) {
            return read_node(self.root());
        }
        let has_parent = path.parent().is_some_and(|folder| self.has_live_folder(folder));
        if has_parent { read_node(&self.root().join(path)) } else { FileNode::Nothing }
    }

    /// Returns whether a live path is a folder without links in its path.
    pub fn has_live_folder(&self, path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
            use rustix::io::Errno;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let root_folder = rustix::fs::openat(CWD, self.root(), flags, Mode::empty());
            let path = if path.as_os_str().is_empty() { Path::new(ROOT_PATH) } else { path };
            // A single syscall checks the whole path.
            match root_folder
                .and_then(|root_folder| openat2(root_folder, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))
            {
                Ok(_) => return true,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::NAMETOOLONG) => {
                    return false;
                }
                // `openat2` is not available on older kernels and in some sandboxes.
                Err(_) => {}
            }
        }
        let mut parents = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        parents.all(|folder| self.root().join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir()))
    }

    /// Returns the records read or written so far. They are dropped if the overlay was removed.
    fn known_origins(&self) -> MutexGuard<'_, Option<HashMap<PathBuf, Fingerprint>>> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        origins.take_if(|_| !self.overlay_folder.join(ORIGINS_FILE).exists());
        origins
    }

    /// Records the project's state at every path that the overlay changed and that has no record yet. Call this
    /// whenever another program may have written in the overlay. If a path changed in the project after the overlay
    /// changed it, its original state is unknown, and the path is a conflict.
    pub fn record_origins(&self) -> io::Result<()> {
        let paths = self.collect_overlay_paths().map_err(io::Error::other)?;
        self.record_paths(&paths, &self.upper)
    }

    /// Like `record_origins`, for the unmerged changes of a command in this folder.
    pub(super) fn record_origins_in(&self, folder: &Path) -> io::Result<()> {
        let paths = self.collect_paths_in(folder).map_err(io::Error::other)?;
        self.record_paths(&paths, folder)
    }

    fn record_paths(&self, paths: &HashSet<PathBuf>, upper: &Path) -> io::Result<()> {
        let fingerprint_of = |path: &Path| match self.changed_after_overlay(path, upper) {
            true => Fingerprint { kind: Some(OriginKind::Unknown), ..Fingerprint::default() },
            false => self.live_fingerprint(path),
        };
        self.record_outdated(paths.iter().map(PathBuf::as_path), |_| false, fingerprint_of)
    }

    /// Records the project's state at paths that are about to be changed. An earlier record is kept only if the overlay
    /// still has an entry: otherwise the change failed or was reverted.
    pub(super) fn record_before_change<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> io::Result<()> {
        self.record_outdated(paths, |path| self.shows_live_content(path), |path| self.live_fingerprint(path))
    }

    /// Removes the records of paths without an entry in the overlay, because the planned change was not made. The file
    /// keeps them.
    pub(super) fn forget_origins<'a>(&self, paths: impl Iterator<Item = &'a Path>) {
        let mut origins = self.known_origins();
        let origins = origins.get_or_insert_with(|| read_origins(&self.overlay_folder));
        paths.filter(|path| self.shows_live_content(path)).for_each(|path| drop(origins.remove(path)));
    }

    /// Returns whether the project's own content is visible at this path.
    pub(super) fn shows_live_content(&self, path: &Path) -> bool {
        self.find_source(path).is_ok_and(|content| content.overlay_entry.is_none() && content.shows_project)
    }

    /// Records each path that has no record yet or for which `is_outdated` returns true.
    fn record_outdated<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
        is_outdated: impl Fn(&Path) -> bool,
        fingerprint_of: impl Fn(&Path) -> Fingerprint,
    ) -> io::Result<()> {
        let mut origins = self.known_origins();
        let origins = origins.get_or_insert_with(|| read_origins(&self.overlay_folder));
        let mut new_records = Vec::new();
        for path in paths {
            let previous = origins.get(path);
            if previous.is_some() && !is_outdated(path) {
                continue;
            }
            let fingerprint = fingerprint_of(path);
            if previous == Some(&fingerprint) {
                continue;
            }
            new_records.push(OriginRecord { path: path.to_owned(), fingerprint });
        }
        if new_records.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.overlay_folder)?;
        append_records(&self.overlay_folder.join(ORIGINS_FILE), &new_records)?;
        origins.extend(new_records.into_iter().map(|record| (record.path, record.fingerprint)));
        Ok(())
    }

    /// Returns whether the path changed in the project after it changed in `upper`, a folder of the overlay. Compares
    /// the change time of the project's file with that of the overlay's entry, or of the nearest parent entry. A folder
    /// that exists in both, and that the overlay does not hide, never counts as changed.
    fn changed_after_overlay(&self, path: &Path, upper: &Path) -> bool {
        let Ok(live_metadata) = self.root().join(path).symlink_metadata() else { return false };
        let overlay_path = |path: &Path| upper.join(path);
        if live_metadata.is_dir()
            && let Ok(OverlayEntry::Folder { hides_project, .. }) = overlay::read_entry(&overlay_path(path))
            && !matches!(hides_project, Ok(true))
        {
            return false;
        }
        let overlay_metadata = path.ancestors().find_map(|path| overlay_path(path).symlink_metadata().ok());
        let change_time = |meta: &Metadata| (meta.ctime(), meta.ctime_nsec());
        overlay_metadata.is_some_and(|overlay_metadata| change_time(&live_metadata) > change_time(&overlay_metadata))
    }
}

/// Reads the recorded states by path. The last record for a path counts.
fn read_origins(overlay_folder: &Path) -> HashMap<PathBuf, Fingerprint> {
    let records = read_records::<OriginRecord>(&overlay_folder.join(ORIGINS_FILE));
    records.into_iter().map(|record| (record.path, record.fingerprint)).collect()
}
