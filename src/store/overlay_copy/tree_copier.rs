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
    levels: Vec<PathLevel>,
}

/// One level of the path below the roots.
struct PathLevel {
    name: OsString,
    /// Metadata of the original, for the copy.
    metadata: Stat,
    /// True if the mode of the original was changed to read it. It is restored when the copy leaves the folder.
    is_mode_changed: bool,
    /// Metadata of the parent folder.
    parent: Stat,
    /// Subfolders still to copy.
    folders: Vec<OsString>,
}

impl TreeCopier {
    /// Opens a folder, and the existing folder that becomes its copy.
    pub fn open(old: &Path, new: &Path) -> io::Result<Self> {
        // Links are followed here: an overlay folder that is itself a link was set up by the user.
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open_folder = |path: &Path| rustix::fs::openat(CWD, path, flags, Mode::empty());
        Ok(Self { old: open_folder(old)?, new: open_folder(new)?, levels: Vec::new() })
    }

    /// Copies an entry with everything below it. Inaccessible files are made accessible to their owner while they are
    /// copied.
    ///
    /// # Errors
    /// Returns the path that could not be copied.
    pub fn copy(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        let result = self.copy_tree(name);
        // Restores permissions, wherever the copy stopped.
        let is_complete = false;
        while !self.levels.is_empty() && self.leave_folder(is_complete).is_ok() {}
        self.levels.clear();
        result
    }

    fn copy_tree(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        if self.copy_entry(name)? {
            self.copy_level(name)?;
        }
        while let Some(level) = self.levels.last_mut() {
            match level.folders.pop() {
                Some(folder) => self.copy_level(&folder)?,
                None => self.leave_folder(true).map_err(|errno| (self.current_path(OsStr::new("")), errno.into()))?,
            }
        }
        Ok(())
    }

    fn current_path(&self, name: &OsStr) -> PathBuf {
        self.levels.iter().map(|level| level.name.as_os_str()).chain([name]).collect()
    }

    /// Enters a folder, and copies its entries except subfolders.
    fn copy_level(&mut self, name: &OsStr) -> Result<(), (PathBuf, io::Error)> {
        self.enter_folder(name).map_err(|errno| (self.current_path(name), errno.into()))?;
        let to_error = |errno: Errno| (self.current_path(OsStr::new("")), errno.into());
        let mut folders = Vec::new();
        for entry in Dir::read_from(&self.old).map_err(to_error)? {
            let entry = entry.map_err(to_error)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && self.copy_entry(name)? {
                folders.push(name.to_owned());
            }
        }
        if let Some(level) = self.levels.last_mut() {
            level.folders = folders;
        }
        Ok(())
    }

    fn enter_folder(&mut self, name: &OsStr) -> Result<(), Errno> {
        let parent = rustix::fs::fstat(&self.old)?;
        let (old, metadata, is_mode_changed) = open_accessible(&self.old, name, FOLDER_FLAGS, FOLDER_PERMISSIONS)?;
        let created = rustix::fs::mkdirat(&self.new, name, Mode::RWXU);
        let created = created.and_then(|()| rustix::fs::openat(&self.new, name, FOLDER_FLAGS, Mode::empty()));
        let new = created.inspect_err(|_| restore_mode(is_mode_changed, &old, &metadata))?;
        (self.old, self.new) = (old, new);
        self.levels.push(PathLevel { name: name.to_owned(), metadata, is_mode_changed, parent, folders: Vec::new() });
        copy_attribute(&self.old, &self.new, OPAQUE)
    }

    /// Returns to the parent. A complete copy gets the original's owner and mode.
    fn leave_folder(&mut self, is_complete: bool) -> Result<(), Errno> {
        let open_parent = |folder: &OwnedFd| rustix::fs::openat(folder, "..", FOLDER_FLAGS, Mode::empty());
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let (old, new) = (open_parent(&self.old), open_parent(&self.new));
        // If something was moved, this may be another folder than the one made accessible.
        if rustix::fs::fstat(&self.old).is_ok_and(|current| is_same_file(&current, &level.metadata)) {
            restore_mode(level.is_mode_changed, &self.old, &level.metadata);
        }
        if is_complete {
            set_owner_and_mode(&self.new, &level.metadata)?;
        }
        (self.old, self.new) = (old?, new?);
        // A running command may have moved the folder to another parent.
        if is_same_file(&rustix::fs::fstat(&self.old)?, &level.parent) { Ok(()) } else { Err(Errno::STALE) }
    }

    /// Copies an entry unless it is a folder. Returns true if it is one.
    fn copy_entry(&self, name: &OsStr) -> Result<bool, (PathBuf, io::Error)> {
        self.copy_non_folder(name).map_err(|error| (self.current_path(name), error))
    }

    fn copy_non_folder(&self, name: &OsStr) -> io::Result<bool> {
        let metadata = rustix::fs::statat(&self.old, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(metadata.st_mode as RawMode) {
            FileType::Directory => return Ok(true),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&self.old, name, Vec::new())?;
                rustix::fs::symlinkat(&*target, &self.new, name)?;
            }
            FileType::RegularFile => return self.copy_file(name).map(|()| false),
            kind @ (FileType::Fifo | FileType::CharacterDevice) => self.create_node(name, kind, &metadata)?,
            FileType::BlockDevice | FileType::Socket | FileType::Unknown => return Ok(false),
        }
        let (owner, group) = (Uid::from_raw(metadata.st_uid), Gid::from_raw(metadata.st_gid));
        // Only root can change the owner, and only root needs to.
        let _ = rustix::fs::chownat(&self.new, name, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW);
        Ok(false)
    }

    fn copy_file(&self, name: &OsStr) -> io::Result<()> {
        let (old, metadata, is_mode_changed) = open_accessible(&self.old, name, FILE_FLAGS, FILE_PERMISSIONS)?;
        // The file stays readable through the open descriptor.
        restore_mode(is_mode_changed, &old, &metadata);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let new = rustix::fs::openat(&self.new, name, flags, Mode::RUSR | Mode::WUSR)?;
        let (mut old, mut new) = (File::from(old), File::from(new));
        io::copy(&mut old, &mut new)?;
        copy_attribute(&old, &new, WHITEOUT)?;
        Ok(set_owner_and_mode(&new, &metadata)?)
    }

    /// Creates a pipe or a whiteout device; no other device.
    #[cfg(target_os = "linux")]
    fn create_node(&self, name: &OsStr, kind: FileType, metadata: &Stat) -> io::Result<()> {
        if kind == FileType::Fifo || metadata.st_rdev == 0 {
            rustix::fs::mknodat(&self.new, name, kind, mode_of(metadata), rustix::fs::makedev(0, 0))?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn create_node(&self, _: &OsStr, _: FileType, _: &Stat) -> io::Result<()> {
        Ok(())
    }
}

/// Opens an entry, after making it accessible to its owner if necessary. Returns the file, its original metadata, and
/// whether its mode was changed.
fn open_accessible(
    folder: &OwnedFd,
    name: &OsStr,
    flags: OFlags,
    permissions: u32,
) -> Result<(OwnedFd, Stat, bool), Errno> {
    let metadata = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let needed_mode = Mode::from_raw_mode(permissions as RawMode);
    let mut is_mode_changed = false;
    if !mode_of(&metadata).contains(needed_mode) {
        is_mode_changed = is_inaccessible(folder, name, permissions);
        if is_mode_changed {
            set_mode(folder, name, &metadata, mode_of(&metadata) | needed_mode)?;
        }
    }
    let file = rustix::fs::openat(folder, name, flags, Mode::empty());
    if file.is_err() && is_mode_changed {
        let _ = set_mode(folder, name, &metadata, mode_of(&metadata));
    }
    Ok((file?, metadata, is_mode_changed))
}

/// Restores the original mode if it was changed to open the file.
fn restore_mode(is_mode_changed: bool, file: &OwnedFd, metadata: &Stat) {
    if is_mode_changed {
        let _ = rustix::fs::fchmod(file, mode_of(metadata));
    }
}

/// Returns whether access would fail; root always has access.
fn is_inaccessible(folder: &OwnedFd, name: &OsStr, permissions: u32) -> bool {
    use rustix::fs::Access;
    let access = if permissions == FOLDER_PERMISSIONS { Access::READ_OK | Access::EXEC_OK } else { Access::READ_OK };
    rustix::fs::accessat(folder, name, access, AtFlags::empty()).is_err()
}

/// Sets the mode if the file is still the one seen; does not follow a link in its place.
#[cfg(target_os = "linux")]
fn set_mode(folder: &OwnedFd, name: &OsStr, expected: &Stat, mode: Mode) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if !is_same_file(&rustix::fs::fstat(&file)?, expected) {
        return Err(Errno::STALE);
    }
    rustix::fs::chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(folder: &OwnedFd, name: &OsStr, _: &Stat, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmodat(folder, name, mode, AtFlags::SYMLINK_NOFOLLOW)
}

/// Copies an attribute, if present and supported.
fn copy_attribute(old: impl AsFd, new: impl AsFd, name: &str) -> Result<(), Errno> {
    let mut value = [0; 8];
    let Ok(bytes) = rustix::fs::fgetxattr(old, name, &mut value[..]) else { return Ok(()) };
    rustix::fs::fsetxattr(new, name, &value[..bytes], XattrFlags::empty())
}

/// Sets the original's owner, if permitted, and its mode.
fn set_owner_and_mode(new: impl AsFd, metadata: &Stat) -> Result<(), Errno> {
    let _ = rustix::fs::fchown(&new, Some(Uid::from_raw(metadata.st_uid)), Some(Gid::from_raw(metadata.st_gid)));
    rustix::fs::fchmod(&new, mode_of(metadata))
}

fn mode_of(metadata: &Stat) -> Mode {
    Mode::from_raw_mode(metadata.st_mode as RawMode)
}

/// Returns whether both are the same file.
fn is_same_file(one: &Stat, other: &Stat) -> bool {
    one.st_dev == other.st_dev && one.st_ino == other.st_ino
}
