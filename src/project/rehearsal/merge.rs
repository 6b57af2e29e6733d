//! Merges the changes of a command into the overlay by renaming files.
//!
//! Unmerged entries lie over the merged ones, so at every step both together show the result of the command, and
//! repeating an interrupted merge completes it. Only modes and times of folders cannot be recovered from the folders
//! themselves; a journal keeps them. Folders are accessed through open files instead of paths, so nesting depth is
//! unlimited.

mod journal;

pub(super) use journal::forget_journal;

use super::removal;
use journal::{Attributes, Journal, copy_folder_attributes, read_attributes, restore_attributes};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, XattrFlags, chmodat, fchmod, fgetxattr, fsetxattr, fstat,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Temporary place of a folder that is being replaced. Writes of file tools use the same name under the same lock.
const REPLACED_FOLDER: &str = "unfinished";
pub(super) const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Permissions that the owner needs to change a folder.
pub(super) const OWNER_ACCESS: RawMode = 0o700;

/// A folder that is being merged.
struct Frame {
    path: PathBuf,
    attributes: Attributes,
    names: Vec<OsString>,
    /// True if the project's folder at this path is visible through the overlay.
    shows_project: bool,
}

struct Merge<'a> {
    root: &'a Path,
    overlay_folder: &'a Path,
    journal: Journal<'a>,
}

/// Merges the folder `merging` into `upper`, both in `overlay_folder`, over the project at `root`. The caller holds the
/// overlay's lock.
///
/// # Errors
/// If the disk fails. Calling it again continues the merge.
pub(super) fn merge_changes(root: &Path, overlay_folder: &Path, merging: &Path) -> io::Result<()> {
    Merge { root, overlay_folder, journal: Journal::read_interrupted(overlay_folder) }.run_merge(merging)
}

/// Creates an empty folder with the owner, mode, attributes and times of another.
pub(super) fn create_folder_like(old: &Path, new: &Path) -> io::Result<()> {
    fs::create_dir(new)?;
    let metadata = statat(CWD, old, AtFlags::SYMLINK_NOFOLLOW)?;
    let target = openat(CWD, new, FOLDER_FLAGS, Mode::empty())?;
    // An unreadable folder has no attributes that could be copied.
    let source = openat(CWD, old, FOLDER_FLAGS, Mode::empty()).ok();
    copy_folder_attributes(source.as_ref().map(AsFd::as_fd), target.as_fd(), &metadata, read_attributes(&metadata))
}

impl Merge<'_> {
    fn run_merge(&mut self, merging: &Path) -> io::Result<()> {
        removal::remove_folder(&self.overlay_folder.join(REPLACED_FOLDER))?;
        let metadata = statat(CWD, merging, AtFlags::SYMLINK_NOFOLLOW)?;
        let attributes = self.enter_folder(CWD, merging.as_os_str(), PathBuf::new(), &metadata)?;
        let mut source = openat(CWD, merging, FOLDER_FLAGS, Mode::empty())?;
        let names = list_names(&source)?;
        let upper = self.overlay_folder.join(super::UPPER);
        grant_owner_access(CWD, upper.as_os_str(), &statat(CWD, &upper, AtFlags::SYMLINK_NOFOLLOW)?)?;
        let mut target = openat(CWD, &upper, FOLDER_FLAGS, Mode::empty())?;
        if !names.is_empty() {
            self.journal.record(&PathBuf::new(), attributes);
        }
        let mut frames = vec![Frame { path: PathBuf::new(), attributes, names, shows_project: true }];
        while let Some(frame) = frames.last_mut() {
            if let Some(name) = frame.names.pop() {
                if let Some((inner, shows_project)) = self.merge_entry(&source, &target, frame, &name)? {
                    let path = frame.path.join(&name);
                    (source, target) = inner;
                    let attributes = self.journal.get_recorded(&path).unwrap_or(read_attributes(&fstat(&source)?));
                    frames.push(Frame { path, attributes, names: list_names(&source)?, shows_project });
                }
                continue;
            }
            let Some(Frame { path, attributes, .. }) = frames.pop() else { break };
            for name in self.journal.take_interrupted_names(&path) {
                self.restore_folder(&target, &name, &path.join(&name))?;
            }
            let parents = match path.file_name() {
                // Open the parents first: after the mode is set, even the owner may have no access.
                Some(name) => Some((
                    openat(&source, "..", FOLDER_FLAGS, Mode::empty())?,
                    openat(&target, "..", FOLDER_FLAGS, Mode::empty())?,
                    name,
                )),
                None => None,
            };
            check_interruption()?;
            copy_folder_attributes(Some(source.as_fd()), target.as_fd(), &fstat(&source)?, attributes)?;
            match parents {
                Some((outer_source, outer_target, name)) => {
                    check_interruption()?;
                    unlinkat(&outer_source, name, AtFlags::REMOVEDIR)?;
                    (source, target) = (outer_source, outer_target);
                }
                None => {
                    // Once the journal is removed, a repeated merge takes the mode from this folder, so restore it
                    // first. The folder is empty now, so the owner needs no access to it.
                    check_interruption()?;
                    fchmod(&source, Mode::from_raw_mode(attributes.mode))?;
                    check_interruption()?;
                    forget_journal(self.overlay_folder)?;
                    check_interruption()?;
                    fs::remove_dir(merging)?;
                }
            }
        }
        Ok(())
    }

    /// Merges one entry of a folder. If the command's folder must be merged with a folder of the overlay, returns the
    /// two open folders, and whether the project's folder is visible through the overlay's; otherwise `None`.
    fn merge_entry(
        &mut self,
        source: &OwnedFd,
        target: &OwnedFd,
        frame: &Frame,
        name: &OsStr,
    ) -> io::Result<Option<((OwnedFd, OwnedFd), bool)>> {
        let Some(metadata) = stat_entry(source, name)? else { return Ok(None) };
        let old = stat_entry(target, name)?;
        let path = frame.path.join(name);
        let kind = file_type(&metadata);
        if kind == FileType::Directory {
            let attributes = self.enter_folder(source, name, path.clone(), &metadata)?;
            let inner = openat(source, name, FOLDER_FLAGS, Mode::empty())?;
            let is_opaque = has_opaque_attribute(&inner)?;
            match old {
                Some(old) if is_folder(&old) && !is_opaque => {
                    self.journal.record(&path, attributes);
                    grant_owner_access(target, name, &old)?;
                    let target_inner = openat(target, name, FOLDER_FLAGS, Mode::empty())?;
                    let shows_project = frame.shows_project && !has_opaque_attribute(&target_inner)?;
                    return Ok(Some(((inner, target_inner), shows_project)));
                }
                Some(old) => {
                    if !is_opaque {
                        // The folder must hide what the replaced file or whiteout hid.
                        check_interruption()?;
                        fsetxattr(&inner, super::overlay::OPAQUE_ATTRIBUTE, b"y", XattrFlags::empty())?;
                    }
                    self.remove_replaced(target, name, &old)?;
                }
                None => {}
            }
            check_interruption()?;
            renameat(source, name, target, name)?;
            if read_attributes(&stat_entry(target, name)?.unwrap_or(metadata)) != attributes {
                check_interruption()?;
                restore_attributes(target, name, attributes)?;
            }
            return Ok(None);
        }
        if let Some(old) = old.as_ref().filter(|old| is_folder(old)) {
            self.remove_replaced(target, name, old)?;
        }
        let is_whiteout = kind == FileType::CharacterDevice && metadata.st_rdev == 0;
        let is_needed = || frame.shows_project && may_exist(&self.root.join(&path));
        if is_whiteout && !is_needed() {
            if old.is_some_and(|old| !is_folder(&old)) {
                check_interruption()?;
                unlinkat(target, name, AtFlags::empty())?;
            }
            check_interruption()?;
            unlinkat(source, name, AtFlags::empty())?;
            return Ok(None);
        }
        check_interruption()?;
        renameat(source, name, target, name)?;
        Ok(None)
    }

    /// Removes an overlay entry that an entry of the command replaces. Until the new entry is moved into its place, it
    /// already hides the old one.
    fn remove_replaced(&self, target: &OwnedFd, name: &OsStr, old: &Stat) -> io::Result<()> {
        check_interruption()?;
        if !is_folder(old) {
            return Ok(unlinkat(target, name, AtFlags::empty())?);
        }
        // Moving a folder requires write permission on it.
        grant_owner_access(target, name, old)?;
        let replaced = self.overlay_folder.join(REPLACED_FOLDER);
        renameat(target, name, CWD, &replaced)?;
        check_interruption()?;
        removal::remove_folder(&replaced)
    }

    /// Gives the owner access to a folder of the command after recording its attributes, and returns these.
    fn enter_folder(
        &mut self,
        parent: impl AsFd,
        name: &OsStr,
        path: PathBuf,
        metadata: &Stat,
    ) -> io::Result<Attributes> {
        let attributes = self.journal.get_recorded(&path).unwrap_or_else(|| read_attributes(metadata));
        if metadata.st_mode & OWNER_ACCESS != OWNER_ACCESS {
            self.journal.record(&path, attributes);
            check_interruption()?;
            grant_owner_access(parent, name, metadata)?;
        }
        Ok(attributes)
    }

    /// Restores the attributes of a folder that an interrupted merge had already renamed.
    fn restore_folder(&self, target: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<()> {
        match (stat_entry(target, name)?, self.journal.get_recorded(path)) {
            (Some(metadata), Some(attributes)) if is_folder(&metadata) => restore_attributes(target, name, attributes),
            _ => Ok(()),
        }
    }
}

/// Gives the owner full access to a folder.
fn grant_owner_access(parent: impl AsFd, name: &OsStr, metadata: &Stat) -> io::Result<()> {
    if metadata.st_mode & OWNER_ACCESS == OWNER_ACCESS {
        return Ok(());
    }
    Ok(chmodat(parent, name, Mode::from_raw_mode(metadata.st_mode & 0o7777 | OWNER_ACCESS), AtFlags::empty())?)
}

pub(super) fn stat_entry(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns whether a folder hides the content below it.
pub(super) fn has_opaque_attribute(folder: &OwnedFd) -> io::Result<bool> {
    let mut value = [0u8; 8];
    match fgetxattr(folder, super::overlay::OPAQUE_ATTRIBUTE, &mut value[..]) {
        Ok(length) => Ok(length > 0 && value[0] == b'y'),
        Err(errno @ (Errno::ACCESS | Errno::IO)) => Err(errno.into()),
        Err(_) => Ok(false),
    }
}

pub(super) fn list_names(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

pub(super) fn file_type(metadata: &Stat) -> FileType {
    FileType::from_raw_mode(metadata.st_mode)
}

fn is_folder(metadata: &Stat) -> bool {
    file_type(metadata) == FileType::Directory
}

/// Returns whether anything exists at a path, or true if that is unknown.
fn may_exist(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    !path.symlink_metadata().is_err_and(|error| missing.contains(&error.kind()))
}

#[cfg(not(all(test, target_os = "linux")))]
#[expect(clippy::unnecessary_wraps)]
pub(super) fn check_interruption() -> io::Result<()> {
    Ok(())
}

/// Interrupts a merge at the step that a test chose.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn check_interruption() -> io::Result<()> {
    tests::check_interruption()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub(super) mod tests;
