//! Lock of an overlay. Its holder is the only process that writes in the overlay or removes it.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Lock file in the overlay's folder.
const LOCK_FILE: &str = "lock";

/// Attempts of [`lock_patiently`], and the pause between two of them.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Creates the overlay's folder if needed and waits for its lock. The lock is held until the returned file is closed.
pub fn lock_overlay(overlay_folder: &Path) -> io::Result<File> {
    loop {
        fs::create_dir_all(overlay_folder)?;
        match lock_existing(overlay_folder) {
            // Another process has just removed the overlay.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
    }
}

/// Waits for the lock without creating the overlay's folder.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if there is no overlay.
pub fn lock_existing(overlay_folder: &Path) -> io::Result<File> {
    take_lock(overlay_folder, FlockOperation::LockExclusive)
}

/// Takes the lock without waiting and without creating the overlay's folder.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] if another process holds the lock, and [`io::ErrorKind::NotFound`] if there is no
/// overlay.
pub fn try_lock(overlay_folder: &Path) -> io::Result<File> {
    take_lock(overlay_folder, FlockOperation::NonBlockingLockExclusive)
}

/// Like [`try_lock`], but waits at most 0.2 s. A process that another thread starts holds a copy of each open file until
/// it executes its program, and with it a lock that was released meanwhile.
///
/// # Errors
/// Those of [`try_lock`].
pub fn lock_patiently(overlay_folder: &Path) -> io::Result<File> {
    for _ in 1..ATTEMPTS {
        match try_lock(overlay_folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(PAUSE),
            result => return result,
        }
    }
    try_lock(overlay_folder)
}

/// Takes the lock of an existing overlay. [`io::ErrorKind::NotFound`] means that there is none.
fn take_lock(overlay_folder: &Path, operation: FlockOperation) -> io::Result<File> {
    let path = overlay_folder.join(LOCK_FILE);
    let file = File::options().create(true).append(true).open(&path)?;
    match flock(&file, operation) {
        Ok(()) if is_current_lock(&file, &path) => Ok(file),
        Ok(()) => Err(io::ErrorKind::NotFound.into()),
        Err(Errno::WOULDBLOCK) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "a command of this dry run is still running; stop it, or wait until it ends",
        )),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns whether the locked file is still the current lock file. The overlay may have been removed while this process
/// waited.
fn is_current_lock(file: &File, path: &Path) -> bool {
    let (Ok(locked), Ok(current)) = (file.metadata(), path.metadata()) else { return false };
    (locked.dev(), locked.ino()) == (current.dev(), current.ino())
}
