//! Masks files and folders that may hold secrets: no user, not even root, can open them.
//!
//! A file is covered by a device on a mount that forbids devices, a folder by an empty folder without permissions.
//! Neither can be renamed, removed, linked or changed, because a mount point cannot, and the mount is read-only.

use super::mounts::{clone, close, put, put_over};
use super::overlay::memory;
use crate::project::sandbox::namespaces::{Closed, close_tree};
use crate::project::sandbox::places::open_as_it_is;
use rustix::mount::{UnmountFlags, unmount};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Maximum number of masks. If there are more, the masks in one folder become one mask of that folder.
const MOST: usize = 4000;
/// Temporary folder for the device and the empty folder while they are cloned. It is removed afterwards.
const KIT: &str = "/dev/.masks";

/// Masks all of these paths that exist. `device` is a detached mount of an empty device. Call this when all folders of
/// the paths are mounted and `/dev` is still writable.
pub fn close_all(paths: &[PathBuf], device: &OwnedFd) -> io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let (file, folder) = (Path::new(KIT).join("file"), Path::new(KIT).join("folder"));
    fs::create_dir_all(&folder)?;
    fs::write(&file, "")?;
    close_tree(device.as_fd(), Closed::Still)?;
    put(device, &file)?;
    put(&memory(4096, 0o000)?, &folder)?;
    close(&folder, false, Closed::Still)?;
    for path in few(paths, MOST) {
        // A link needs no mask: its target is masked by its own path if needed.
        let (at, is_folder) = match open_as_it_is(&path) {
            Err(error) if is_absent(&error) => continue,
            opened => opened?,
        };
        put_over(&clone(if is_folder { &folder } else { &file })?, &at)?;
    }
    unmount(&file, UnmountFlags::DETACH)?;
    unmount(&folder, UnmountFlags::DETACH)?;
    fs::remove_dir_all(KIT)
}

/// Returns whether the error means that there is nothing to open at the path.
fn is_absent(error: &io::Error) -> bool {
    let link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    link || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns paths that cover all of these and contain no nested paths. If there are more than `most`, deeper paths are
/// replaced by their parent folders where possible.
fn few(paths: &[PathBuf], most: usize) -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = paths.iter().cloned().collect();
    while all.len() > most {
        let deepest = all.iter().map(|path| path.components().count()).max().unwrap_or(0);
        let raised = |path: PathBuf| match path.parent() {
            Some(parent) if path.components().count() == deepest && deepest > 2 => parent.to_owned(),
            Some(_) | None => path,
        };
        if deepest <= 2 {
            break;
        }
        all = all.into_iter().map(raised).collect();
    }
    let inside = |path: &PathBuf| path.ancestors().skip(1).any(|above| all.contains(above));
    all.iter().filter(|path| !inside(path)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_masks_become_masks_of_their_folders() {
        let paths: Vec<PathBuf> =
            (0..100).map(|number| format!("/p/keys/{}/{number}.pem", number % 10).into()).collect();
        assert_eq!(few(&paths, 100).len(), 100);
        let folders = few(&paths, 99);
        assert_eq!(folders.len(), 10);
        assert!(folders.contains(Path::new("/p/keys/3")));
        assert_eq!(few(&paths, 9), [PathBuf::from("/p/keys")].into());
        let nested: Vec<PathBuf> = ["/p/a", "/p/a/b", "/p/ab"].map(PathBuf::from).to_vec();
        assert_eq!(few(&nested, 9), [PathBuf::from("/p/a"), PathBuf::from("/p/ab")].into());
    }
}
