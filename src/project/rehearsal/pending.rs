//! What a command changed, before it is part of the overlay.
//!
//! Each command writes in a folder of its own, `pending`, which the kernel mounts over `upper` and the project. So the cost of
//! finding and merging a command's changes depends on what it changed, not on the size of the overlay. The merge begins by
//! renaming `pending` to `merging`; from then on any process that opens the overlay finishes it, under the overlay's lock.
//!
//! A file that a later command changes is copied, so hard links between files of earlier commands are broken then, as they are
//! for files of the project; and a folder of an earlier command cannot be renamed by rename(2), which says EXDEV. Programs copy
//! it instead, as they do for folders of the project.

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

/// The upper folder of a command that is running, or of one whose changes are not merged yet.
pub const PENDING: &str = "pending";
/// The same once merging has begun.
pub(super) const MERGING: &str = "merging";
/// How long the lock is tried for after a command: one that does not end in time may hold it longer.
const SOON: Duration = Duration::from_millis(200);
/// How long an examination may take after its command has ended.
const EXAMINATION: Duration = Duration::from_secs(30);

/// Whether the overlay is kept in the project itself, as it is if that is the home. The kernel lays no folder over one that holds
/// it, so commands write in `upper` then, and what they changed is found by comparing all of it ([`super::Marks`]).
pub fn is_inside(project: &Path, layer: &Path) -> bool {
    layer.starts_with(project)
}

/// Makes the folder that the next command writes in, and merges first what an earlier one left. `upper` must be there, and the
/// caller holds the overlay's lock.
pub fn prepare(project: &Path, layer: &Path) -> io::Result<()> {
    if is_there(&layer.join(PENDING)) || is_there(&layer.join(MERGING)) {
        let disk = Disk::new(project).map_err(io::Error::other)?;
        Rehearsal::new(Arc::new(disk), layer.to_owned()).settle_held()?;
    }
    merge::make_like(&layer.join(super::UPPER), &layer.join(PENDING))
}

/// What was seen at a path before a command.
enum Was {
    Nothing,
    Folder(u32, Sources),
    Other,
}

/// Where the content of a folder comes from: the overlay, the project, or both.
#[derive(Clone, Copy)]
struct Sources {
    upper: bool,
    real: bool,
}

impl Rehearsal {
    /// Merges what the last command left. Does nothing while a command runs: its changes are not seen before it has ended.
    ///
    /// # Errors
    /// If the disk fails. What is not merged then stays pending.
    pub fn settle(&self) -> io::Result<()> {
        if self.is_held_back.load(Ordering::Acquire) {
            return Ok(());
        }
        // Of a merge that has begun the lock is held only as long as it takes.
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

    /// Sets whether what the last command wrote is kept from being merged, because it must be examined first.
    pub fn hold_back(&self, is_held_back: bool) {
        self.is_held_back.store(is_held_back, Ordering::Release);
    }

    /// Throws away what the last command wrote, as far as it is not merged. Waits until the command has ended.
    pub fn discard_pending(&self) {
        if let Ok(_lock) = lock::hold_existing(&self.layer) {
            let _ = super::empty(&self.layer.join(PENDING));
        }
    }

    /// The same right after a command: a process that is being started may hold the lock for a moment.
    ///
    /// # Errors
    /// As those of [`Self::settle`].
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

    /// Waits until nobody else writes in the layer, makes it if it is not there, merges what the last command left once that is
    /// examined, and returns the lock.
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
                let why = "the last command of this dry run is still examined; try again";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The same for a caller that holds the lock.
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
        // On a full disk nothing can be noted, but what was written must be seen all the same.
        if self.note_in(merging).is_err() {
            self.is_unnoted.store(true, Ordering::Relaxed);
        }
        merge::merge(self.root(), &self.layer, merging)
    }

    /// The paths of the project that commands changed since this was called last, sorted; of a folder that came or went the
    /// folder alone. At most [`PATHS_KEPT`] of each command.
    pub fn take_changed(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether something was merged since this was asked last without a note of what the project holds there.
    pub fn take_unnoted(&self) -> bool {
        self.is_unnoted.swap(false, Ordering::Relaxed)
    }

    /// What a command that wrote in this folder changed.
    fn changed_in(&self, fresh: &Path) -> Vec<PathBuf> {
        let (mut changed, mut waiting) = (Vec::new(), Vec::new());
        let enter = |waiting: &mut Vec<_>, folder: &Path, sources: Sources| {
            let mut said = layer::all_said(&fresh.join(folder)).unwrap_or_default();
            // The last one is taken first.
            said.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
            waiting.extend(said.into_iter().map(|(name, said)| (folder.join(name), said, sources)));
        };
        enter(&mut waiting, Path::new(""), Sources { upper: true, real: true });
        while let Some((path, said, sources)) = waiting.pop() {
            if changed.len() >= PATHS_KEPT {
                break;
            }
            let (hides, meta) = match said {
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

    /// What was seen at a path of a folder that has these sources.
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
