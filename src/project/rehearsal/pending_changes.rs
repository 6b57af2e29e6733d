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

use super::overlay::{self, OverlayEntry};
use super::{Rehearsal, lock, merge};
use crate::chat::MAX_CHANGED_PATHS;
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
pub const PENDING_FOLDER: &str = "pending";
/// Name of that folder once merging has begun.
pub(super) const MERGING_FOLDER: &str = "merging";
/// Name of that folder while it is removed without being merged.
const DISCARDED_FOLDER: &str = "discarded";
/// Time limit for taking the lock after a command. A process that does not end in time may hold it longer.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);
/// Time limit for waiting until the changes of the last command have been checked for new sensitive files.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// Merges the changes of an earlier command and creates the folder for the next one. `upper` must exist, and the caller
/// holds the overlay's lock.
pub fn create_pending(project: &Path, overlay_folder: &Path) -> io::Result<()> {
    if is_existing_folder(&overlay_folder.join(PENDING_FOLDER))
        || is_existing_folder(&overlay_folder.join(MERGING_FOLDER))
    {
        let disk = Disk::new(project).map_err(io::Error::other)?;
        Rehearsal::new(Arc::new(disk), overlay_folder.to_owned()).merge_pending_locked()?;
    }
    merge::create_folder_like(&overlay_folder.join(super::UPPER), &overlay_folder.join(PENDING_FOLDER))
}

/// Visible content of a path before a command.
enum PreviousEntry {
    Nothing,
    /// A folder: its mode, and the sources of its content.
    Folder(u32, FolderSources),
    Other,
}

/// Sources of a folder's content: the overlay, the project, or both.
#[derive(Clone, Copy)]
struct FolderSources {
    in_overlay: bool,
    in_project: bool,
}

impl Rehearsal {
    /// Merges the changes of the last command. Does nothing while a command runs: its changes become visible when it
    /// has ended.
    ///
    /// # Errors
    /// If the disk fails. Unmerged changes stay pending.
    pub fn merge_pending(&self) -> io::Result<()> {
        if self.is_merge_blocked.load(Ordering::Acquire) {
            return Ok(());
        }
        // During a merge the lock is held only briefly, so wait for it. A running command holds it until it ends.
        let lock_result = match is_existing_folder(&self.overlay_folder.join(MERGING_FOLDER)) {
            true => lock::lock_existing(&self.overlay_folder),
            false if is_existing_folder(&self.overlay_folder.join(PENDING_FOLDER)) => {
                lock::try_lock(&self.overlay_folder)
            }
            false => return Ok(()),
        };
        match lock_result {
            Ok(_lock) => self.merge_pending_locked(),
            Err(error) if [io::ErrorKind::ResourceBusy, io::ErrorKind::NotFound].contains(&error.kind()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sets whether merging must wait until the changes of the last command have been checked for new sensitive files.
    pub fn set_merge_blocked(&self, is_blocked: bool) {
        self.is_merge_blocked.store(is_blocked, Ordering::Release);
    }

    /// Removes the unmerged changes of the last command. Waits until the command has ended. Does nothing if the whole
    /// overlay was removed meanwhile.
    ///
    /// # Errors
    /// If the disk fails, the changes are complete and still pending. `NotFound` if another process merged them.
    pub fn discard_pending(&self) -> io::Result<()> {
        let _lock = match lock::lock_existing(&self.overlay_folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            lock => lock?,
        };
        let discarded = self.overlay_folder.join(DISCARDED_FOLDER);
        super::remove_folder(&discarded)?;
        fs::rename(self.overlay_folder.join(PENDING_FOLDER), &discarded)?;
        // Under this name they are not merged. What cannot be removed now is removed with the overlay.
        let _ = super::remove_folder(&discarded);
        Ok(())
    }

    /// Merges right after a command, with retries: a process that is just starting may hold the lock for a moment.
    ///
    /// # Errors
    /// As for `merge_pending`.
    pub fn merge_pending_soon(&self) -> io::Result<()> {
        let start = Instant::now();
        loop {
            self.merge_pending()?;
            if !is_existing_folder(&self.overlay_folder.join(PENDING_FOLDER)) || start.elapsed() > LOCK_TIMEOUT {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until no other process writes in the overlay, creates the overlay if needed, merges the changes of the
    /// last command after their check, and returns the lock.
    pub(super) fn lock_and_merge(&self) -> io::Result<File> {
        let start = Instant::now();
        loop {
            let lock = lock::lock_overlay(&self.overlay_folder)?;
            if !self.is_merge_blocked.load(Ordering::Acquire) {
                self.merge_pending_locked()?;
                return Ok(lock);
            }
            drop(lock);
            if start.elapsed() > CHECK_TIMEOUT {
                let message = "the last command of this dry run is still being checked; try again";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Merges the changes of the last command. The caller holds the lock.
    pub(super) fn merge_pending_locked(&self) -> io::Result<()> {
        let (pending, merging) = (self.overlay_folder.join(PENDING_FOLDER), self.overlay_folder.join(MERGING_FOLDER));
        if is_existing_folder(&merging) {
            self.finish_merge(&merging)?;
        }
        if !is_existing_folder(&pending) {
            return Ok(());
        }
        merge::forget_journal(&self.overlay_folder)?;
        fs::rename(&pending, &merging)?;
        let changed = self.changed_paths_in(&merging);
        self.changed_paths.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        self.finish_merge(&merging)
    }

    fn finish_merge(&self, merging: &Path) -> io::Result<()> {
        // On a full disk nothing can be recorded, but the written files must become visible all the same.
        if self.record_origins_in(merging).is_err() {
            self.has_unrecorded.store(true, Ordering::Relaxed);
        }
        merge::merge_changes(self.root(), &self.overlay_folder, merging)
    }

    /// Returns the paths of the project that commands changed since the last call, sorted for each command. For a
    /// folder that was created or deleted only the folder itself is listed. At most [`MAX_CHANGED_PATHS`] per command.
    pub fn take_changed(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.changed_paths.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether changes were merged since the last call without recording the project's previous state.
    pub fn take_unrecorded(&self) -> bool {
        self.has_unrecorded.swap(false, Ordering::Relaxed)
    }

    /// Returns the paths changed by the command that wrote in this folder.
    fn changed_paths_in(&self, changes_folder: &Path) -> Vec<PathBuf> {
        let (mut changed, mut queue) = (Vec::new(), Vec::new());
        let enter = |queue: &mut Vec<_>, folder: &Path, sources: FolderSources| {
            let mut entries = overlay::read_entries(&changes_folder.join(folder)).unwrap_or_default();
            // The last element is taken first.
            entries.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
            queue.extend(entries.into_iter().map(|(name, entry)| (folder.join(name), entry, sources)));
        };
        enter(&mut queue, Path::new(""), FolderSources { in_overlay: true, in_project: true });
        while let Some((path, entry, sources)) = queue.pop() {
            if changed.len() >= MAX_CHANGED_PATHS {
                break;
            }
            let (hides_project, meta) = match entry {
                Ok(OverlayEntry::Absent) => continue,
                Ok(OverlayEntry::Folder { hides_project, meta }) => (hides_project.unwrap_or(true), meta),
                Ok(OverlayEntry::Deleted | OverlayEntry::Other(_)) | Err(_) => {
                    changed.push(path);
                    continue;
                }
            };
            match self.previous_entry(&path, sources) {
                PreviousEntry::Folder(mode, inner) => {
                    let inner =
                        if hides_project { FolderSources { in_overlay: false, in_project: false } } else { inner };
                    enter(&mut queue, &path, inner);
                    if hides_project || mode != meta.mode() {
                        changed.push(path);
                    }
                }
                PreviousEntry::Nothing | PreviousEntry::Other => changed.push(path),
            }
        }
        changed
    }

    /// Returns what was visible at a path before the command. `sources` are those of its parent folder.
    fn previous_entry(&self, path: &Path, sources: FolderSources) -> PreviousEntry {
        let live_entry = || match self.root().join(path).symlink_metadata().ok().filter(|_| sources.in_project) {
            None => PreviousEntry::Nothing,
            Some(meta) if meta.is_dir() => {
                PreviousEntry::Folder(meta.mode(), FolderSources { in_overlay: false, in_project: true })
            }
            Some(_) => PreviousEntry::Other,
        };
        if !sources.in_overlay {
            return live_entry();
        }
        match overlay::read_entry(&self.upper.join(path)) {
            Ok(OverlayEntry::Absent) | Err(_) => live_entry(),
            Ok(OverlayEntry::Deleted) => PreviousEntry::Nothing,
            Ok(OverlayEntry::Folder { hides_project, meta }) => PreviousEntry::Folder(
                meta.mode(),
                FolderSources { in_overlay: true, in_project: sources.in_project && !hides_project.unwrap_or(true) },
            ),
            Ok(OverlayEntry::Other(_)) => PreviousEntry::Other,
        }
    }
}

fn is_existing_folder(path: &Path) -> bool {
    path.symlink_metadata().as_ref().is_ok_and(Metadata::is_dir)
}
