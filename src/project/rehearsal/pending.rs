//! Changes of a command before they are part of the overlay.
//!
//! Each command writes in a separate folder, `pending`, which the kernel mounts over `upper` and the project. The cost
//! of finding and merging its changes therefore depends on the number of changes, not on the size of the overlay. The
//! merge begins by renaming `pending` to `merging`; from then on any process that opens the overlay completes it, under
//! the overlay's lock.
//!
//! When a later command changes a file, the file is copied, which breaks hard links between files of earlier commands,
//! as it does for files of the project. A folder of an earlier command cannot be renamed with rename(2), which fails
//! with EXDEV. Programs copy it instead, as they do for folders of the project.

use super::layer::{self, Above};
use super::{Rehearsal, lock, merge};
use crate::chat::PATHS_KEPT;
use crate::project::Reader;
use crate::project::disk::Disk;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Upper folder of a command that is running or whose changes are not merged yet.
pub const PENDING: &str = "pending";
/// Name of that folder once merging has begun.
pub(super) const MERGING: &str = "merging";
/// Time limit for taking the lock after a command. A process that does not end in time may hold it longer.
const SOON: Duration = Duration::from_millis(200);
/// Time limit for the check that follows a command.
const EXAMINATION: Duration = Duration::from_secs(30);

/// Returns whether the overlay lies inside the project, which happens if the project is the home. The kernel cannot
/// mount an overlay over a folder that contains its upper folder, so commands write in `upper` directly, and their
/// changes are found by comparing snapshots (`Snapshot`).
pub fn is_inside(project: &Path, layer: &Path) -> bool {
    layer.starts_with(project)
}

/// Merges the changes of an earlier command and creates the folder for the next one. `upper` must exist, and the caller
/// holds the overlay's lock.
pub fn prepare(project: &Path, layer: &Path) -> io::Result<()> {
    if is_there(&layer.join(PENDING)) || is_there(&layer.join(MERGING)) {
        let disk = Disk::new(project).map_err(io::Error::other)?;
        Rehearsal::new(Arc::new(disk), layer.to_owned()).settle_held()?;
    }
    merge::make_like(&layer.join(super::UPPER), &layer.join(PENDING))
}

/// Visible content of a path before a command.
enum Was {
    Nothing,
    Folder(u32, Sources),
    Other,
}

/// Sources of a folder's content: the overlay, the project, or both.
#[derive(Clone, Copy)]
struct Sources {
    upper: bool,
    real: bool,
}

impl Rehearsal {
    /// Merges the changes of the last command. Does nothing while a command runs: its changes become visible when it
    /// has ended.
    ///
    /// # Errors
    /// If the disk fails. Unmerged changes stay pending.
    pub fn settle(&self) -> io::Result<()> {
        if self.is_held_back.load(Ordering::Acquire) {
            return Ok(());
        }
        // The lock is held only as long as the merge takes, so wait for it.
        let held = match is_there(&self.layer.join(MERGING)) {
            true => lock::hold_existing(&self.layer),
            false if is_there(&self.layer.join(PENDING)) => lock::hold_now(&self.layer),
            false => return Ok(()),
        };
        match held {
            Ok(_lock) => self.settle_held(),
            Err(error) if [io::ErrorKind::ResourceBusy, io::ErrorKind::NotFound].contains(&error.kind()) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Sets whether merging must wait until the changes of the last command have been checked.
    pub fn hold_back(&self, is_held_back: bool) {
        self.is_held_back.store(is_held_back, Ordering::Release);
    }

    /// Removes the unmerged changes of the last command. Waits until the command has ended.
    pub fn discard_pending(&self) {
        if let Ok(_lock) = lock::hold_existing(&self.layer) {
            let _ = super::empty(&self.layer.join(PENDING));
        }
    }

    /// Merges right after a command, with retries: a process that is just starting may hold the lock for a moment.
    ///
    /// # Errors
    /// As for `merge_pending`.
    pub fn settle_soon(&self) -> io::Result<()> {
        let began = Instant::now();
        loop {
            self.settle()?;
            if !is_there(&self.layer.join(PENDING)) || began.elapsed() > SOON {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until no other process writes in the overlay, creates the overlay if needed, merges the changes of the
    /// last command after their check, and returns the lock.
    pub(super) fn hold_settled(&self) -> io::Result<File> {
        let began = Instant::now();
        loop {
            let lock = lock::hold(&self.layer)?;
            if !self.is_held_back.load(Ordering::Acquire) {
                self.settle_held()?;
                return Ok(lock);
            }
            drop(lock);
            if began.elapsed() > EXAMINATION {
                let why = "the last command of this dry run is still being checked; try again";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Merges the changes of the last command. The caller holds the lock.
    pub(super) fn settle_held(&self) -> io::Result<()> {
        let (pending, merging) = (self.layer.join(PENDING), self.layer.join(MERGING));
        if is_there(&merging) {
            self.merge(&merging)?;
        }
        if !is_there(&pending) {
            return Ok(());
        }
        merge::forget_journal(&self.layer)?;
        fs::rename(&pending, &merging)?;
        let changed = self.changed_in(&merging);
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        self.merge(&merging)
    }

    fn merge(&self, merging: &Path) -> io::Result<()> {
        // On a full disk nothing can be recorded, but the written files must become visible all the same.
        if self.note_in(merging).is_err() {
            self.is_unnoted.store(true, Ordering::Relaxed);
        }
        merge::merge(self.root(), &self.layer, merging)
    }

    /// Returns the sorted paths of the project that commands changed since the last call. For a folder that was created
    /// or deleted only the folder itself is listed. At most [`PATHS_KEPT`] per command.
    pub fn take_changed(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether changes were merged since the last call without recording the project's previous state.
    pub fn take_unnoted(&self) -> bool {
        self.is_unnoted.swap(false, Ordering::Relaxed)
    }

    /// Returns the paths changed by the command that wrote in this folder.
    fn changed_in(&self, fresh: &Path) -> Vec<PathBuf> {
        let (mut changed, mut waiting) = (Vec::new(), Vec::new());
        let enter = |waiting: &mut Vec<_>, folder: &Path, sources: Sources| {
            let mut entries = layer::all_said(&fresh.join(folder)).unwrap_or_default();
            // The last element is taken first.
            entries.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
            waiting.extend(entries.into_iter().map(|(name, entry)| (folder.join(name), entry, sources)));
        };
        enter(&mut waiting, Path::new(""), Sources { upper: true, real: true });
        while let Some((path, entry, sources)) = waiting.pop() {
            if changed.len() >= PATHS_KEPT {
                break;
            }
            let (hides, meta) = match entry {
                Ok(Above::Unsaid) => continue,
                Ok(Above::Folder { hides, meta }) => (hides.unwrap_or(true), meta),
                Ok(Above::Gone | Above::Other(_)) | Err(_) => {
                    changed.push(path);
                    continue;
                }
            };
            match self.was(&path, sources) {
                Was::Folder(mode, inner) => {
                    let inner = if hides { Sources { upper: false, real: false } } else { inner };
                    enter(&mut waiting, &path, inner);
                    if hides || mode != meta.mode() {
                        changed.push(path);
                    }
                }
                Was::Nothing | Was::Other => changed.push(path),
            }
        }
        changed
    }

    /// Returns what was visible at a path of a folder with these sources.
    fn was(&self, path: &Path, sources: Sources) -> Was {
        let real = || match self.root().join(path).symlink_metadata().ok().filter(|_| sources.real) {
            None => Was::Nothing,
            Some(meta) if meta.is_dir() => Was::Folder(meta.mode(), Sources { upper: false, real: true }),
            Some(_) => Was::Other,
        };
        if !sources.upper {
            return real();
        }
        match layer::look(&self.upper.join(path)) {
            Ok(Above::Unsaid) | Err(_) => real(),
            Ok(Above::Gone) => Was::Nothing,
            Ok(Above::Folder { hides, meta }) => Was::Folder(
                meta.mode(),
                Sources { upper: true, real: sources.real && !hides.unwrap_or(true) },
            ),
            Ok(Above::Other(_)) => Was::Other,
        }
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().as_ref().is_ok_and(Metadata::is_dir)
}
