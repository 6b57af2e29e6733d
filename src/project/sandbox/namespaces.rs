//! System calls that have no safe form elsewhere: leaving the system's namespaces, making a whole tree of mounts
//! read-only in one step, keeping open files from what is started, and asking for seccomp.
#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Read-only, and without programs that give rights or devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// All three.
    Still,
    /// Read-only alone: its devices are meant to be used.
    Devices,
    /// None of it: only later mounts of the system's are kept from coming through.
    Apart,
}

const RDONLY: u64 = 1;
const NOSUID: u64 = 2;
const NODEV: u64 = 4;

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Gives this process namespaces of its own; those of processes are for its children. It must have one thread.
pub fn leave(flags: UnshareFlags) -> Result<(), Errno> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: the flag that would give threads different tables of open files is never among them.
    unsafe { unshare_unsafe(flags) }
}

/// Closes the mount at `path`, and where `all` those below it: no later mount of the system's comes through. Linux 5.12.
pub fn close_mounts(path: &CStr, all: bool, how: Closed) -> Result<(), Errno> {
    set_attributes(libc::AT_FDCWD, path, if all { libc::AT_RECURSIVE } else { 0 }, how)
}

/// The same for a mount that has no place yet, with all below it.
pub fn close_tree(tree: BorrowedFd<'_>, how: Closed) -> Result<(), Errno> {
    set_attributes(tree.as_raw_fd(), c"", libc::AT_RECURSIVE | libc::AT_EMPTY_PATH, how)
}

fn set_attributes(folder: libc::c_int, path: &CStr, flags: libc::c_int, how: Closed) -> Result<(), Errno> {
    let set = match how {
        Closed::Still => RDONLY | NOSUID | NODEV,
        Closed::Devices => RDONLY | NOSUID,
        Closed::Apart => 0,
    };
    let attributes = Attributes { set, clear: 0, propagation: libc::MS_PRIVATE, user_namespace: 0 };
    // SAFETY: `path` ends in NUL and `attributes` has the layout and the size that are given; both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    answer(done)
}

/// Keeps every open file but the first three from programs that are started from now on. Linux 5.11.
pub fn keep_files_to_oneself() -> Result<(), Errno> {
    // SAFETY: it takes numbers alone, and closes nothing.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    answer(done)
}

/// Whether the kernel takes lists of system calls. Nothing changes by asking.
pub fn takes_filters() -> bool {
    // SAFETY: the kernel copies the list before it does anything else, and there is none at that address.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, std::ptr::null::<libc::sock_fprog>())
    };
    done != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

fn answer(done: libc::c_long) -> Result<(), Errno> {
    if done == 0 {
        return Ok(());
    }
    let code = std::io::Error::last_os_error().raw_os_error();
    Err(code.map_or(Errno::INVAL, Errno::from_raw_os_error))
}
