//! Basic mount operations: cloning, attaching and restricting mounts.

use super::overlay_mounts::mount_memory;
use crate::project::sandbox::namespaces::{MountRestriction, restrict_mounts, restrict_tree};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Attaches a mount at a path.
pub fn attach(mount: &OwnedFd, target: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(mount, "", rustix::fs::CWD, target, flags)?)
}

/// Attaches a mount over an open file or folder.
pub fn attach_over(mount: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", target, "", flags)?)
}

/// Clones the mount of a file or folder, without the mounts below it.
pub fn clone_mount(path: &Path) -> io::Result<OwnedFd> {
    Ok(open_tree(rustix::fs::CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?)
}

/// Clones the mount of a file or folder with all mounts below it: read-only, without devices and without set-user-id
/// programs. A link is not followed.
pub fn clone_read_only(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(rustix::fs::CWD, path, flags)?;
    restrict_tree(tree.as_fd(), MountRestriction::ReadOnly)?;
    Ok(tree)
}

/// Restricts the mount at a path, and those below it if `is_recursive` is set.
pub fn restrict_mount(path: &Path, is_recursive: bool, restriction: MountRestriction) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    Ok(restrict_mounts(&path, is_recursive, restriction)?)
}

/// Mounts an empty in-memory folder of 1 MiB over an existing one.
pub fn mount_empty(folder: &Path, mode: u32) -> io::Result<()> {
    attach(&mount_memory(1 << 20, mode)?, folder)
}
