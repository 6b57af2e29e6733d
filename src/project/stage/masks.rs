//! Closes files and folders that may hold secrets: opening one is refused to every user, root included.
//!
//! A file has a device over it, on a mount without devices; a folder has an empty one. Neither can be renamed, removed, linked or
//! changed: a path that something is mounted at cannot, and the mount is read-only.

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

/// Masks; of more, those in one folder become one of that folder.
const MOST: usize = 4000;
/// Where the device and the empty folder are while they are cloned, and nothing of theirs stays.
const KIT: &str = "/dev/.masks";

/// Closes all of these that are there. `device` is one that holds nothing, without a place yet. To be called when everything that
/// they lie in is in its place, and `/dev` is still writable.
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
        // A link leads to what is closed by itself, or is not.
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

/// Whether there is nothing at a path that could be opened.
fn is_absent(error: &io::Error) -> bool {
    let link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    link || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The same or more, in at most so many paths if they have common folders; none within another.
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
