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
const READING: OFlags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// Flags for opening folders.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Owner permissions needed to copy a folder.
const LOOK: u32 = 0o500;
/// Owner permissions needed to copy a file.
const READ: u32 = 0o400;

/// A folder and its copy.
pub struct Pair {
    old: OwnedFd,
    new: OwnedFd,
    way: Vec<Step>,
}

/// One level of the path below the roots.
struct Step {
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

impl Pair {
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
        let done = self.all(name);
        // Restores permissions, wherever the copy stopped.
        while !self.way.is_empty() && self.leave(false).is_ok() {}
        self.way.clear();
        done
    }

    fn all(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        if self.one(name)? {
            self.enter(name)?;
        }
        while let Some(step) = self.way.last_mut() {
            match step.folders.pop() {
                Some(folder) => self.enter(&folder)?,
                None => self.leave(true).map_err(|errno| (self.path(OsStr::new("")), errno.into()))?,
            }
        }
        Ok(())
    }

    fn path(&self, name: &OsStr) -> PathBuf {
        self.way.iter().map(|step| step.name.as_os_str()).chain([name]).collect()
    }

    /// Enters a folder, and copies its entries except subfolders.
    fn enter(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        self.down(name).map_err(|errno| (self.path(name), errno.into()))?;
        let listed = |errno: Errno| (self.path(OsStr::new("")), errno.into());
        let mut folders = Vec::new();
        for entry in Dir::read_from(&self.old).map_err(listed)? {
            let entry = entry.map_err(listed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && self.one(name)? {
                folders.push(name.to_owned());
            }
        }
        if let Some(step) = self.way.last_mut() {
            step.folders = folders;
        }
        Ok(())
    }

    fn down(&mut self, name: &OsStr) -> Result<(), Errno> {
        let above = rustix::fs::fstat(&self.old)?;
        let (old, was, opened) = open_up(&self.old, name, FOLDER, LOOK)?;
        let made = rustix::fs::mkdirat(&self.new, name, Mode::RWXU);
        let made = made.and_then(|()| rustix::fs::openat(&self.new, name, FOLDER, Mode::empty()));
        let new = made.inspect_err(|_| shut(opened, &old, &was))?;
        (self.old, self.new) = (old, new);
        self.way.push(Step { name: name.to_owned(), was, opened, above, folders: Vec::new() });
        mark(&self.old, &self.new, OPAQUE)
    }

    /// Returns to the parent. A complete copy gets the original's owner and mode.
    fn leave(&mut self, whole: bool) -> Result<(), Errno> {
        let up = |folder: &OwnedFd| rustix::fs::openat(folder, "..", FOLDER, Mode::empty());
        let Some(step) = self.way.pop() else { return Ok(()) };
        let (old, new) = (up(&self.old), up(&self.new));
        // If something was moved, this may be another folder than the one made accessible.
        if rustix::fs::fstat(&self.old).is_ok_and(|here| same(&here, &step.was)) {
            shut(step.opened, &self.old, &step.was);
        }
        if whole {
            finish(&self.new, &step.was)?;
        }
        (self.old, self.new) = (old?, new?);
        // A running command may have moved it.
        if same(&rustix::fs::fstat(&self.old)?, &step.above) { Ok(()) } else { Err(Errno::STALE) }
    }

    /// Copies an entry; returns true if it is a folder.
    fn one(&self, name: &OsStr) -> Result<bool, (PathBuf, io::Error)> {
        self.entry(name).map_err(|error| (self.path(name), error))
    }

    fn entry(&self, name: &OsStr) -> io::Result<bool> {
        let was = rustix::fs::statat(&self.old, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(was.st_mode as RawMode) {
            FileType::Directory => return Ok(true),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(&self.old, name, Vec::new())?;
                rustix::fs::symlinkat(&*to, &self.new, name)?;
            }
            FileType::RegularFile => return self.file(name).map(|()| false),
            kind @ (FileType::Fifo | FileType::CharacterDevice) => self.node(name, kind, &was)?,
            FileType::BlockDevice | FileType::Socket | FileType::Unknown => return Ok(false),
        }
        let (owner, group) = (Uid::from_raw(was.st_uid), Gid::from_raw(was.st_gid));
        // Only root can change the owner, and only root needs to.
        let _ = rustix::fs::chownat(&self.new, name, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW);
        Ok(false)
    }

    fn file(&self, name: &OsStr) -> io::Result<()> {
        let (old, was, opened) = open_up(&self.old, name, READING, READ)?;
        // It stays readable through the open descriptor.
        shut(opened, &old, &was);
        let making = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let new = rustix::fs::openat(&self.new, name, making, Mode::RUSR | Mode::WUSR)?;
        let (mut old, mut new) = (File::from(old), File::from(new));
        io::copy(&mut old, &mut new)?;
        mark(&old, &new, WHITEOUT)?;
        Ok(finish(&new, &was)?)
    }

    /// Creates a pipe or a whiteout device; no other device.
    #[cfg(target_os = "linux")]
    fn node(&self, name: &OsStr, kind: FileType, was: &Stat) -> io::Result<()> {
        if kind == FileType::Fifo || was.st_rdev == 0 {
            rustix::fs::mknodat(&self.new, name, kind, mode(was), rustix::fs::makedev(0, 0))?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn node(&self, _: &OsStr, _: FileType, _: &Stat) -> io::Result<()> {
        Ok(())
    }
}

/// Opens an entry and returns its metadata. If it is inaccessible to its owner, makes it accessible first.
fn open_up(folder: &OwnedFd, name: &OsStr, how: OFlags, needs: u32) -> Result<(OwnedFd, Stat, bool), Errno> {
    let was = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let needed = Mode::from_raw_mode(needs as RawMode);
    let mut opened = false;
    if !mode(&was).contains(needed) {
        opened = may_not(folder, name, needs);
        if opened {
            set_mode(folder, name, &was, mode(&was) | needed)?;
        }
    }
    let file = rustix::fs::openat(folder, name, how, Mode::empty());
    if file.is_err() && opened {
        let _ = set_mode(folder, name, &was, mode(&was));
    }
    Ok((file?, was, opened))
}

/// Restores the original mode.
fn shut(opened: bool, old: &OwnedFd, was: &Stat) {
    if opened {
        let _ = rustix::fs::fchmod(old, mode(was));
    }
}

/// Returns whether access would fail; root always has access.
fn may_not(folder: &OwnedFd, name: &OsStr, needs: u32) -> bool {
    use rustix::fs::Access;
    let access = if needs == LOOK { Access::READ_OK | Access::EXEC_OK } else { Access::READ_OK };
    rustix::fs::accessat(folder, name, access, AtFlags::empty()).is_err()
}

/// Sets the mode if the file is still the one seen; does not follow a link in its place.
#[cfg(target_os = "linux")]
fn set_mode(folder: &OwnedFd, name: &OsStr, seen: &Stat, mode: Mode) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if !same(&rustix::fs::fstat(&place)?, seen) {
        return Err(Errno::STALE);
    }
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(folder: &OwnedFd, name: &OsStr, _: &Stat, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmodat(folder, name, mode, AtFlags::SYMLINK_NOFOLLOW)
}

/// Copies an attribute, if present and supported.
fn mark(old: impl AsFd, new: impl AsFd, name: &str) -> Result<(), Errno> {
    let mut mark = [0; 8];
    match rustix::fs::fgetxattr(old, name, &mut mark[..]) {
        Ok(bytes) => rustix::fs::fsetxattr(new, name, &mark[..bytes], XattrFlags::empty()),
        Err(_) => Ok(()),
    }
}

/// Sets the original's owner, if permitted, and its mode.
fn finish(new: impl AsFd, was: &Stat) -> Result<(), Errno> {
    let _ = rustix::fs::fchown(&new, Some(Uid::from_raw(was.st_uid)), Some(Gid::from_raw(was.st_gid)));
    rustix::fs::fchmod(&new, mode(was))
}

fn mode(of: &Stat) -> Mode {
    Mode::from_raw_mode(of.st_mode as RawMode)
}

/// Returns whether both are the same file.
fn same(one: &Stat, other: &Stat) -> bool {
    one.st_dev == other.st_dev && one.st_ino == other.st_ino
}
