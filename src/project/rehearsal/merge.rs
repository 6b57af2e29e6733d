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
const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Permissions that the owner needs to change a folder.
const OWNER_ACCESS: RawMode = 0o700;

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
    layer: &'a Path,
    journal: Journal<'a>,
}

/// Merges `merging` into `upper`, both in `layer`, over the project at `root`. The caller holds the overlay's lock.
///
/// # Errors
/// If the disk fails. Calling it again continues the merge.
pub(super) fn merge_changes(root: &Path, layer: &Path, merging: &Path) -> io::Result<()> {
    Merge { root, layer, journal: Journal::read_interrupted(layer) }.run_merge(merging)
}

/// Creates an empty folder with the owner, mode, attributes and times of another.
pub(super) fn create_folder_like(old: &Path, new: &Path) -> io::Result<()> {
    fs::create_dir(new)?;
    let about = statat(CWD, old, AtFlags::SYMLINK_NOFOLLOW)?;
    let to = openat(CWD, new, FOLDER_FLAGS, Mode::empty())?;
    // An unreadable folder has no attributes that could be copied.
    let from = openat(CWD, old, FOLDER_FLAGS, Mode::empty()).ok();
    copy_folder_attributes(from.as_ref().map(AsFd::as_fd), to.as_fd(), &about, read_attributes(&about))
}

impl Merge<'_> {
    fn run_merge(&mut self, merging: &Path) -> io::Result<()> {
        removal::remove_folder(&self.layer.join(REPLACED_FOLDER))?;
        let about = statat(CWD, merging, AtFlags::SYMLINK_NOFOLLOW)?;
        let its = self.enter_folder(CWD, merging.as_os_str(), PathBuf::new(), &about)?;
        let mut from = openat(CWD, merging, FOLDER_FLAGS, Mode::empty())?;
        let names = list_names(&from)?;
        let upper = self.layer.join(super::UPPER);
        grant_owner_access(CWD, upper.as_os_str(), &statat(CWD, &upper, AtFlags::SYMLINK_NOFOLLOW)?)?;
        let mut to = openat(CWD, &upper, FOLDER_FLAGS, Mode::empty())?;
        if !names.is_empty() {
            self.journal.record(&PathBuf::new(), its);
        }
        let mut frames = vec![Frame { path: PathBuf::new(), attributes: its, names, shows_project: true }];
        while let Some(frame) = frames.last_mut() {
            if let Some(name) = frame.names.pop() {
                if let Some((inner, is_real_seen)) = self.merge_entry(&from, &to, frame, &name)? {
                    let path = frame.path.join(&name);
                    (from, to) = inner;
                    let its = self.journal.get_recorded(&path).unwrap_or(read_attributes(&fstat(&from)?));
                    frames.push(Frame {
                        path,
                        attributes: its,
                        names: list_names(&from)?,
                        shows_project: is_real_seen,
                    });
                }
                continue;
            }
            let Some(Frame { path, attributes: its, .. }) = frames.pop() else { break };
            for name in self.journal.take_recorded(&path) {
                self.restore_folder(&to, &name, &path.join(&name))?;
            }
            let above = match path.file_name() {
                // After the mode is set, even the owner may have no access.
                Some(name) => Some((
                    openat(&from, "..", FOLDER_FLAGS, Mode::empty())?,
                    openat(&to, "..", FOLDER_FLAGS, Mode::empty())?,
                    name,
                )),
                None => None,
            };
            check_interruption()?;
            copy_folder_attributes(Some(from.as_fd()), to.as_fd(), &fstat(&from)?, its)?;
            match above {
                Some((outer_from, outer_to, name)) => {
                    check_interruption()?;
                    unlinkat(&outer_from, name, AtFlags::REMOVEDIR)?;
                    (from, to) = (outer_from, outer_to);
                }
                None => {
                    // The owner needs no access to an empty folder. Without the journal its own mode counts.
                    check_interruption()?;
                    fchmod(&from, Mode::from_raw_mode(its.mode))?;
                    check_interruption()?;
                    forget_journal(self.layer)?;
                    check_interruption()?;
                    fs::remove_dir(merging)?;
                }
            }
        }
        Ok(())
    }

    /// Merges one entry of a folder. If it is a folder on both sides, returns the pair of folders to be merged and
    /// whether the project's folder is visible there.
    fn merge_entry(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        frame: &Frame,
        name: &OsStr,
    ) -> io::Result<Option<((OwnedFd, OwnedFd), bool)>> {
        let Some(about) = stat_entry(from, name)? else { return Ok(None) };
        let old = stat_entry(to, name)?;
        let path = frame.path.join(name);
        let kind = file_type(&about);
        if kind == FileType::Directory {
            let its = self.enter_folder(from, name, path.clone(), &about)?;
            let inner = openat(from, name, FOLDER_FLAGS, Mode::empty())?;
            let is_opaque = is_opaque(&inner)?;
            match old {
                Some(old) if is_folder(&old) && !is_opaque => {
                    self.journal.record(&path, its);
                    grant_owner_access(to, name, &old)?;
                    let below = openat(to, name, FOLDER_FLAGS, Mode::empty())?;
                    let is_real_seen = frame.shows_project && !self::is_opaque(&below)?;
                    return Ok(Some(((inner, below), is_real_seen)));
                }
                Some(old) => {
                    if !is_opaque {
                        // It must hide what the replaced file or whiteout hid.
                        check_interruption()?;
                        fsetxattr(&inner, super::overlay::OPAQUE_ATTRIBUTE, b"y", XattrFlags::empty())?;
                    }
                    self.remove_replaced(to, name, &old)?;
                }
                None => {}
            }
            check_interruption()?;
            renameat(from, name, to, name)?;
            if read_attributes(&stat_entry(to, name)?.unwrap_or(about)) != its {
                check_interruption()?;
                restore_attributes(to, name, its)?;
            }
            return Ok(None);
        }
        if let Some(old) = old.as_ref().filter(|old| is_folder(old)) {
            self.remove_replaced(to, name, old)?;
        }
        let is_whiteout = kind == FileType::CharacterDevice && about.st_rdev == 0;
        let is_needed = || frame.shows_project && may_exist(&self.root.join(&path));
        if is_whiteout && !is_needed() {
            if old.is_some_and(|old| !is_folder(&old)) {
                check_interruption()?;
                unlinkat(to, name, AtFlags::empty())?;
            }
            check_interruption()?;
            unlinkat(from, name, AtFlags::empty())?;
            return Ok(None);
        }
        check_interruption()?;
        renameat(from, name, to, name)?;
        Ok(None)
    }

    /// Removes an entry that is replaced by an entry of the command, which hides it until then.
    fn remove_replaced(&self, to: &OwnedFd, name: &OsStr, old: &Stat) -> io::Result<()> {
        check_interruption()?;
        if !is_folder(old) {
            return Ok(unlinkat(to, name, AtFlags::empty())?);
        }
        // Moving a folder requires write permission on it.
        grant_owner_access(to, name, old)?;
        let replaced = self.layer.join(REPLACED_FOLDER);
        renameat(to, name, CWD, &replaced)?;
        check_interruption()?;
        removal::remove_folder(&replaced)
    }

    /// Gives the owner access to a folder of the command after recording its attributes, and returns these.
    fn enter_folder(&mut self, within: impl AsFd, name: &OsStr, path: PathBuf, about: &Stat) -> io::Result<Attributes> {
        let its = self.journal.get_recorded(&path).unwrap_or_else(|| read_attributes(about));
        if about.st_mode & OWNER_ACCESS != OWNER_ACCESS {
            self.journal.record(&path, its);
            check_interruption()?;
            grant_owner_access(within, name, about)?;
        }
        Ok(its)
    }

    /// Restores the attributes of a folder that an interrupted merge had already renamed.
    fn restore_folder(&self, to: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<()> {
        match (stat_entry(to, name)?, self.journal.get_recorded(path)) {
            (Some(about), Some(its)) if is_folder(&about) => restore_attributes(to, name, its),
            _ => Ok(()),
        }
    }
}

/// Gives the owner full access to a folder.
fn grant_owner_access(within: impl AsFd, name: &OsStr, about: &Stat) -> io::Result<()> {
    if about.st_mode & OWNER_ACCESS == OWNER_ACCESS {
        return Ok(());
    }
    Ok(chmodat(within, name, Mode::from_raw_mode(about.st_mode & 0o7777 | OWNER_ACCESS), AtFlags::empty())?)
}

fn stat_entry(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(about)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns whether a folder hides the content below it.
fn is_opaque(folder: &OwnedFd) -> io::Result<bool> {
    let mut value = [0u8; 8];
    match fgetxattr(folder, super::overlay::OPAQUE_ATTRIBUTE, &mut value[..]) {
        Ok(length) => Ok(length > 0 && value[0] == b'y'),
        Err(errno @ (Errno::ACCESS | Errno::IO)) => Err(errno.into()),
        Err(_) => Ok(false),
    }
}

fn list_names(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
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

fn file_type(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

fn is_folder(about: &Stat) -> bool {
    file_type(about) == FileType::Directory
}

/// Returns whether anything exists at a path, or true if that is unknown.
fn may_exist(path: &Path) -> bool {
    let gone = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    !path.symlink_metadata().is_err_and(|error| gone.contains(&error.kind()))
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps)]
fn check_interruption() -> io::Result<()> {
    Ok(())
}

/// Interrupts a merge at the step that a test chose.
#[cfg(test)]
fn check_interruption() -> io::Result<()> {
    tests::check_interruption()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
