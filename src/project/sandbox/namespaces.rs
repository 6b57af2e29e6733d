//! Syscalls without a safe wrapper: leaving the system's namespaces, making a tree of mounts read-only in
//! one step, keeping open files from child processes, and querying seccomp.
#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Restrictions of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountRestriction {
    /// Read-only, no set-user-id programs, no devices.
    ReadOnly,
    /// Read-only and no set-user-id programs, but devices are usable.
    ReadOnlyDevices,
    /// No restriction, except that later mounts of the system do not propagate into it.
    Private,
}

/// Mount attributes, with the kernel's values.
const RDONLY: u64 = 1;
const NOSUID: u64 = 2;
const NODEV: u64 = 4;

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Moves this process into new namespaces; a new process namespace applies to its children. The process must have one
/// thread.
pub fn unshare_namespaces(flags: UnshareFlags) -> Result<(), Errno> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: the flag that would give threads separate tables of open files is never set.
    unsafe { unshare_unsafe(flags) }
}

/// Restricts the mount at `path`, and those below it if `is_recursive` is set. Later mounts of the system do not
/// propagate into it. Requires Linux 5.12.
pub fn restrict_mounts(path: &CStr, is_recursive: bool, restriction: MountRestriction) -> Result<(), Errno> {
    set_mount_attributes(libc::AT_FDCWD, path, if is_recursive { libc::AT_RECURSIVE } else { 0 }, restriction)
}

/// Restricts a detached mount with all mounts below it.
pub fn restrict_tree(tree: BorrowedFd<'_>, restriction: MountRestriction) -> Result<(), Errno> {
    set_mount_attributes(tree.as_raw_fd(), c"", libc::AT_RECURSIVE | libc::AT_EMPTY_PATH, restriction)
}

fn set_mount_attributes(
    folder: libc::c_int,
    path: &CStr,
    flags: libc::c_int,
    restriction: MountRestriction,
) -> Result<(), Errno> {
    let set = match restriction {
        MountRestriction::ReadOnly => RDONLY | NOSUID | NODEV,
        MountRestriction::ReadOnlyDevices => RDONLY | NOSUID,
        MountRestriction::Private => 0,
    };
    let attributes = MountAttributes { set, clear: 0, propagation: libc::MS_PRIVATE, user_namespace: 0 };
    // SAFETY: `path` ends in NUL, and `attributes` has the specified layout and size; both outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    check_result(result)
}

/// Sets close-on-exec for all open files except the first three. Requires Linux 5.11.
pub fn close_files_on_exec() -> Result<(), Errno> {
    // SAFETY: the syscall takes only numbers, and closes nothing.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check_result(result)
}

/// Returns whether the kernel accepts seccomp filters. The query changes nothing.
pub fn has_seccomp_filters() -> bool {
    // SAFETY: the kernel first copies the filter, which fails because the address is null.
    let result =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, std::ptr::null::<libc::sock_fprog>()) };
    result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

fn check_result(result: libc::c_long) -> Result<(), Errno> {
    if result == 0 {
        return Ok(());
    }
    let code = std::io::Error::last_os_error().raw_os_error();
    Err(code.map_or(Errno::INVAL, Errno::from_raw_os_error))
}
