//! Copies a folder tree through open folder descriptors, one level at a time, so that no path is too long.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Attribute of a folder that hides the project's folder below it.
const OPAQUE: &str = "user.overlay.opaque";
/// Attribute of an empty file that marks a deleted one.
const WHITEOUT: &str = "user.overlay.whiteout";

/// Flags for reading files: does not follow a link or wait for a pipe.
const FILE_FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags for opening folders.
const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Owner permissions needed to copy a folder.
const FOLDER_PERMISSIONS: u32 = 0o500;
/// Owner permissions needed to copy a file.
const FILE_PERMISSIONS: u32 = 0o400;

/// A folder and its copy.
pub struct TreeCopier {
    old: OwnedFd,
    new: OwnedFd,
    way: Vec<PathLevel>,
}

/// One level of the path below the roots.
struct PathLevel {
    name: OsString,
    /// Metadata of the original, for the copy.
    was: Stat,
    /// True if the original was temporarily made accessible.
    opened: bool,
    /// Metadata of the parent folder.
    above: Stat,
    /// Subfolders still to copy.
    folders: Vec<OsString>,
}

impl TreeCopier {
    pub fn open(old: &Path, new: &Path) -> io::Result<Self> {
        // An overlay folder that is itself a link was set up by the user.
        let how = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &Path| rustix::fs::openat(CWD, path, how, Mode::empty());
        Ok(Self { old: open(old)?, new: open(new)?, way: Vec::new() })
    }

    /// Copies an entry with everything below it. Inaccessible files are made accessible to their owner while they are
    /// copied.
    ///
    /// # Errors
    /// Returns the path that could not be copied.
    pub fn copy(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        let done = self.copy_tree(name);
        // Restores permissions, wherever the copy stopped.
        while !self.way.is_empty() && self.leave_folder(false).is_ok() {}
        self.way.clear();
        done
    }

    fn copy_tree(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        if self.copy_entry(name)? {
            self.copy_level(name)?;
        }
        while let Some(step) = self.way.last_mut() {
            match step.folders.pop() {
                Some(folder) => self.copy_level(&folder)?,
                None => self.leave_folder(true).map_err(|errno| (self.current_path(OsStr::new("")), errno.into()))?,
            }
        }
        Ok(())
    }

    fn current_path(&self, name: &OsStr) -> PathBuf {
        self.way.iter().map(|step| step.name.as_os_str()).chain([name]).collect()
    }

    /// Enters a folder, and copies its entries except subfolders.
    fn copy_level(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        self.enter_folder(name).map_err(|errno| (self.current_path(name), errno.into()))?;
        let listed = |errno: Errno| (self.current_path(OsStr::new("")), errno.into());
        let mut folders = Vec::new();
        for entry in Dir::read_from(&self.old).map_err(listed)? {
            let entry = entry.map_err(listed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && self.copy_entry(name)? {
                folders.push(name.to_owned());
            }
        }
        if let Some(step) = self.way.last_mut() {
            step.folders = folders;
        }
        Ok(())
    }

    fn enter_folder(&mut self, name: &OsStr) -> Result<(), Errno> {
        let above = rustix::fs::fstat(&self.old)?;
        let (old, was, opened) = open_accessible(&self.old, name, FOLDER_FLAGS, FOLDER_PERMISSIONS)?;
        let made = rustix::fs::mkdirat(&self.new, name, Mode::RWXU);
        let made = made.and_then(|()| rustix::fs::openat(&self.new, name, FOLDER_FLAGS, Mode::empty()));
        let new = made.inspect_err(|_| restore_mode(opened, &old, &was))?;
        (self.old, self.new) = (old, new);
        self.way.push(PathLevel { name: name.to_owned(), was, opened, above, folders: Vec::new() });
        copy_attribute(&self.old, &self.new, OPAQUE)
    }

    /// Returns to the parent. A complete copy gets the original's owner and mode.
    fn leave_folder(&mut self, whole: bool) -> Result<(), Errno> {
        let up = |folder: &OwnedFd| rustix::fs::openat(folder, "..", FOLDER_FLAGS, Mode::empty());
        let Some(step) = self.way.pop() else { return Ok(()) };
        let (old, new) = (up(&self.old), up(&self.new));
        // If something was moved, this may be another folder than the one made accessible.
        if rustix::fs::fstat(&self.old).is_ok_and(|here| is_same_file(&here, &step.was)) {
            restore_mode(step.opened, &self.old, &step.was);
        }
        if whole {
            set_owner_and_mode(&self.new, &step.was)?;
        }
        (self.old, self.new) = (old?, new?);
        // A running command may have moved it.
        if is_same_file(&rustix::fs::fstat(&self.old)?, &step.above) { Ok(()) } else { Err(Errno::STALE) }
    }

    /// Copies an entry; returns true if it is a folder.
    fn copy_entry(&self, name: &OsStr) -> Result<bool, (PathBuf, io::Error)> {
        self.copy_non_folder(name).map_err(|error| (self.current_path(name), error))
    }

    fn copy_non_folder(&self, name: &OsStr) -> io::Result<bool> {
        let was = rustix::fs::statat(&self.old, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(was.st_mode as RawMode) {
            FileType::Directory => return Ok(true),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(&self.old, name, Vec::new())?;
                rustix::fs::symlinkat(&*to, &self.new, name)?;
            }
            FileType::RegularFile => return self.copy_file(name).map(|()| false),
            kind @ (FileType::Fifo | FileType::CharacterDevice) => self.create_node(name, kind, &was)?,
            FileType::BlockDevice | FileType::Socket | FileType::Unknown => return Ok(false),
        }
        let (owner, group) = (Uid::from_raw(was.st_uid), Gid::from_raw(was.st_gid));
        // Only root can change the owner, and only root needs to.
        let _ = rustix::fs::chownat(&self.new, name, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW);
        Ok(false)
    }

    fn copy_file(&self, name: &OsStr) -> io::Result<()> {
        let (old, was, opened) = open_accessible(&self.old, name, FILE_FLAGS, FILE_PERMISSIONS)?;
        // It stays readable through the open descriptor.
        restore_mode(opened, &old, &was);
        let making = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let new = rustix::fs::openat(&self.new, name, making, Mode::RUSR | Mode::WUSR)?;
        let (mut old, mut new) = (File::from(old), File::from(new));
        io::copy(&mut old, &mut new)?;
        copy_attribute(&old, &new, WHITEOUT)?;
        Ok(set_owner_and_mode(&new, &was)?)
    }

    /// Creates a pipe or a whiteout device; no other device.
    #[cfg(target_os = "linux")]
    fn create_node(&self, name: &OsStr, kind: FileType, was: &Stat) -> io::Result<()> {
        if kind == FileType::Fifo || was.st_rdev == 0 {
            rustix::fs::mknodat(&self.new, name, kind, mode_of(was), rustix::fs::makedev(0, 0))?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn create_node(&self, _: &OsStr, _: FileType, _: &Stat) -> io::Result<()> {
        Ok(())
    }
}

/// Opens an entry and returns its metadata. If it is inaccessible to its owner, makes it accessible first.
fn open_accessible(folder: &OwnedFd, name: &OsStr, how: OFlags, needs: u32) -> Result<(OwnedFd, Stat, bool), Errno> {
    let was = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let needed = Mode::from_raw_mode(needs as RawMode);
    let mut opened = false;
    if !mode_of(&was).contains(needed) {
        opened = is_inaccessible(folder, name, needs);
        if opened {
            set_mode(folder, name, &was, mode_of(&was) | needed)?;
        }
    }
    let file = rustix::fs::openat(folder, name, how, Mode::empty());
    if file.is_err() && opened {
        let _ = set_mode(folder, name, &was, mode_of(&was));
    }
    Ok((file?, was, opened))
}

/// Restores the original mode.
fn restore_mode(opened: bool, old: &OwnedFd, was: &Stat) {
    if opened {
        let _ = rustix::fs::fchmod(old, mode_of(was));
    }
}

/// Returns whether access would fail; root always has access.
fn is_inaccessible(folder: &OwnedFd, name: &OsStr, needs: u32) -> bool {
    use rustix::fs::Access;
    let access = if needs == FOLDER_PERMISSIONS { Access::READ_OK | Access::EXEC_OK } else { Access::READ_OK };
    rustix::fs::accessat(folder, name, access, AtFlags::empty()).is_err()
}

/// Sets the mode if the file is still the one seen; does not follow a link in its place.
#[cfg(target_os = "linux")]
fn set_mode(folder: &OwnedFd, name: &OsStr, seen: &Stat, mode: Mode) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if !is_same_file(&rustix::fs::fstat(&place)?, seen) {
        return Err(Errno::STALE);
    }
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(folder: &OwnedFd, name: &OsStr, _: &Stat, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmodat(folder, name, mode, AtFlags::SYMLINK_NOFOLLOW)
}

/// Copies an attribute, if present and supported.
fn copy_attribute(old: impl AsFd, new: impl AsFd, name: &str) -> Result<(), Errno> {
    let mut mark = [0; 8];
    match rustix::fs::fgetxattr(old, name, &mut mark[..]) {
        Ok(bytes) => rustix::fs::fsetxattr(new, name, &mark[..bytes], XattrFlags::empty()),
        Err(_) => Ok(()),
    }
}

/// Sets the original's owner, if permitted, and its mode.
fn set_owner_and_mode(new: impl AsFd, was: &Stat) -> Result<(), Errno> {
    let _ = rustix::fs::fchown(&new, Some(Uid::from_raw(was.st_uid)), Some(Gid::from_raw(was.st_gid)));
    rustix::fs::fchmod(&new, mode_of(was))
}

fn mode_of(of: &Stat) -> Mode {
    Mode::from_raw_mode(of.st_mode as RawMode)
}

/// Returns whether both are the same file.
fn is_same_file(one: &Stat, other: &Stat) -> bool {
    one.st_dev == other.st_dev && one.st_ino == other.st_ino
}
