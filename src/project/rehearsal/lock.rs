//! The lock on a layer: while somebody holds it, nobody else writes in the layer or throws it away.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file that is locked, in the layer's folder.
const LOCK: &str = "lock";

/// Makes the layer's folder where it is not there, and waits until nobody else holds its lock. It is held until the file
/// is closed.
pub fn hold(layer: &Path) -> io::Result<File> {
    loop {
        fs::create_dir_all(layer)?;
        let path = layer.join(LOCK);
        let Some(file) = opened(&path)? else { continue };
        flock(&file, FlockOperation::LockExclusive)?;
        if is_still(&file, &path) {
            return Ok(file);
        }
    }
}

/// The same without making anything.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] where there is no layer.
pub fn hold_existing(layer: &Path) -> io::Result<File> {
    let path = layer.join(LOCK);
    let Some(file) = opened(&path)? else { return Err(io::ErrorKind::NotFound.into()) };
    flock(&file, FlockOperation::LockExclusive)?;
    if is_still(&file, &path) { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// The same without waiting and without making anything.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] where somebody else holds it, and [`io::ErrorKind::NotFound`] where there is no layer.
pub fn hold_now(layer: &Path) -> io::Result<File> {
    let path = layer.join(LOCK);
    let Some(file) = opened(&path)? else { return Err(io::ErrorKind::NotFound.into()) };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if is_still(&file, &path) => Ok(file),
        Ok(()) => Err(io::ErrorKind::NotFound.into()),
        Err(Errno::WOULDBLOCK) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "a command of this dry run is still running; stop it, or wait until it ends",
        )),
        Err(errno) => Err(errno.into()),
    }
}

/// `None` where the folder was thrown away in the meantime.
fn opened(path: &Path) -> io::Result<Option<File>> {
    match File::options().create(true).append(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the file that was waited for is still the one of this name: the layer may have been thrown away since.
fn is_still(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), path.metadata()) else { return false };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}
