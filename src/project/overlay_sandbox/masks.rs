//! Masks files and folders that may hold secrets: no user, not even root, can open them.
//!
//! A file is covered by a device on a mount that forbids devices, a folder by an empty folder without permissions.
//! A mount point cannot be renamed, removed or linked, and the mount cannot be changed because it is read-only.

use super::mount_calls::{attach, attach_over, clone_mount, restrict_mount};
use super::overlay_mounts::mount_memory;
use crate::project::sandbox::namespaces::{MountRestriction, restrict_tree};
use crate::project::sandbox::rule_paths::open_without_links;
use rustix::mount::{UnmountFlags, unmount};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Maximum number of masks. If there are more, the masks in one folder become one mask of that folder.
const MAX_MASKS: usize = 4000;
/// Temporary folder for the device and the empty folder while they are cloned. It is removed afterwards.
const MASK_FOLDER: &str = "/dev/.masks";

/// Masks all of these paths that exist. `device` is a detached mount of `/dev/null`. Call this when all folders of
/// the paths are mounted and `/dev` is still writable.
pub fn mask_all(paths: &[PathBuf], device: &OwnedFd) -> io::Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let (file, folder) = (Path::new(MASK_FOLDER).join("file"), Path::new(MASK_FOLDER).join("folder"));
    fs::create_dir_all(&folder)?;
    fs::write(&file, "")?;
    restrict_tree(device.as_fd(), MountRestriction::ReadOnly)?;
    attach(device, &file)?;
    attach(&mount_memory(4096, 0o000)?, &folder)?;
    let is_recursive = false;
    restrict_mount(&folder, is_recursive, MountRestriction::ReadOnly)?;
    for path in merge_masks(paths, MAX_MASKS) {
        // A link needs no mask: its target is masked by its own path if needed.
        let (target, is_folder) = match open_without_links(&path) {
            Err(error) if is_nothing_to_open(&error) => continue,
            opened => opened?,
        };
        attach_over(&clone_mount(if is_folder { &folder } else { &file })?, &target)?;
    }
    unmount(&file, UnmountFlags::DETACH)?;
    unmount(&folder, UnmountFlags::DETACH)?;
    fs::remove_dir_all(MASK_FOLDER)
}

/// Returns whether the error means that there is nothing to open at the path.
fn is_nothing_to_open(error: &io::Error) -> bool {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_link || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns paths that cover all of these and contain no nested paths. While there are more than `limit`, the deepest
/// paths are replaced by their parent folders; a folder directly below `/` is kept.
fn merge_masks(paths: &[PathBuf], limit: usize) -> BTreeSet<PathBuf> {
    let mut merged: BTreeSet<PathBuf> = paths.iter().cloned().collect();
    while merged.len() > limit {
        let deepest = merged.iter().map(|path| path.components().count()).max().unwrap_or(0);
        let to_parent = |path: PathBuf| match path.parent() {
            Some(parent) if path.components().count() == deepest && deepest > 2 => parent.to_owned(),
            Some(_) | None => path,
        };
        if deepest <= 2 {
            break;
        }
        merged = merged.into_iter().map(to_parent).collect();
    }
    let is_nested = |path: &PathBuf| path.ancestors().skip(1).any(|ancestor| merged.contains(ancestor));
    merged.iter().filter(|path| !is_nested(path)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_masks_become_masks_of_their_folders() {
        let paths: Vec<PathBuf> =
            (0..100).map(|number| format!("/p/keys/{}/{number}.pem", number % 10).into()).collect();
        assert_eq!(merge_masks(&paths, 100).len(), 100);
        let folders = merge_masks(&paths, 99);
        assert_eq!(folders.len(), 10);
        assert!(folders.contains(Path::new("/p/keys/3")));
        assert_eq!(merge_masks(&paths, 9), [PathBuf::from("/p/keys")].into());
        let nested: Vec<PathBuf> = ["/p/a", "/p/a/b", "/p/ab"].map(PathBuf::from).to_vec();
        assert_eq!(merge_masks(&nested, 9), [PathBuf::from("/p/a"), PathBuf::from("/p/ab")].into());
    }
}
