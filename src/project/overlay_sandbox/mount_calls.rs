//! Basic mount operations: cloning, attaching and restricting mounts, and listing mount points.

use super::overlay_mounts::mount_memory;
use crate::project::sandbox::namespaces::{MountRestriction, restrict_mounts, restrict_tree};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the paths of all mount points.
pub fn mount_points() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let field = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(decode_path);
    Ok(table.split(|byte| *byte == b'\n').filter_map(field).collect())
}

/// Decodes a path of the mount table, in which the kernel writes spaces, tabs, line feeds and backslashes as octal
/// escapes such as `\040`.
fn decode_path(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut remaining = field;
    while let [first, tail @ ..] = remaining {
        let code = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                path.push(byte);
                remaining = &tail[3..];
            }
            None => {
                path.push(*first);
                remaining = tail;
            }
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&path))
}

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

/// Mounts an empty in-memory folder over an existing one.
pub fn mount_empty(folder: &Path, mode: u32) -> io::Result<()> {
    attach(&mount_memory(1 << 20, mode)?, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_mount_paths_are_decoded() {
        assert_eq!(
            decode_path(b"/a\\040b\\012\\134c\\\xff"),
            Path::new(std::ffi::OsStr::from_bytes(b"/a b\n\\c\\\xff"))
        );
        assert_eq!(decode_path(b"/a\\04"), Path::new("/a\\04"));
    }
}
