//! Merges the changes of a command into the overlay by renaming files.
//!
//! Unmerged entries lie over the merged ones, so at every step both together show the result of the command, and
//! repeating an interrupted merge completes it. Only modes and times of folders cannot be recovered from the folders
//! themselves; a journal keeps them. Folders are accessed through open files instead of paths, so nesting depth is
//! unlimited.

mod journal;

pub(super) use journal::forget_journal;

use super::clear;
use journal::{Attributes, Journal, attributes, restore_attributes, take_over};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, XattrFlags, chmodat, fchmod, fgetxattr,
    fsetxattr, fstat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Temporary place of a folder that is being replaced. Writes of file tools use the same name under the same lock.
const REPLACED: &str = "unfinished";
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Permissions that the owner needs to change a folder.
const OPEN: RawMode = 0o700;

/// A folder that is being merged.
struct Frame {
    path: PathBuf,
    attributes: Attributes,
    names: Vec<OsString>,
    /// True if the project's folder at this path is visible through the overlay.
    is_real_seen: bool,
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
pub(super) fn merge(root: &Path, layer: &Path, merging: &Path) -> io::Result<()> {
    Merge { root, layer, journal: Journal::open(layer) }.run(merging)
}

/// Creates an empty folder with the owner, mode, attributes and times of another.
pub(super) fn make_like(old: &Path, new: &Path) -> io::Result<()> {
    fs::create_dir(new)?;
    let about = statat(CWD, old, AtFlags::SYMLINK_NOFOLLOW)?;
    let to = openat(CWD, new, FOLDER, Mode::empty())?;
    // An unreadable folder has no attributes that could be copied.
    let from = openat(CWD, old, FOLDER, Mode::empty()).ok();
    take_over(from.as_ref().map(AsFd::as_fd), to.as_fd(), &about, attributes(&about))
}

impl Merge<'_> {
    fn run(&mut self, merging: &Path) -> io::Result<()> {
        clear::empty(&self.layer.join(REPLACED))?;
        let about = statat(CWD, merging, AtFlags::SYMLINK_NOFOLLOW)?;
        let its = self.enter(CWD, merging.as_os_str(), PathBuf::new(), &about)?;
        let mut from = openat(CWD, merging, FOLDER, Mode::empty())?;
        let names = list(&from)?;
        let upper = self.layer.join(super::UPPER);
        open_up(CWD, upper.as_os_str(), &statat(CWD, &upper, AtFlags::SYMLINK_NOFOLLOW)?)?;
        let mut to = openat(CWD, &upper, FOLDER, Mode::empty())?;
        if !names.is_empty() {
            self.journal.note(&PathBuf::new(), its);
        }
        let mut frames = vec![Frame { path: PathBuf::new(), attributes: its, names, is_real_seen: true }];
        while let Some(frame) = frames.last_mut() {
            if let Some(name) = frame.names.pop() {
                if let Some((inner, is_real_seen)) = self.entry(&from, &to, frame, &name)? {
                    let path = frame.path.join(&name);
                    (from, to) = inner;
                    let its = self.journal.get(&path).unwrap_or(attributes(&fstat(&from)?));
                    frames.push(Frame { path, attributes: its, names: list(&from)?, is_real_seen });
                }
                continue;
            }
            let Some(Frame { path, attributes: its, .. }) = frames.pop() else { break };
            for name in self.journal.take_before(&path) {
                self.restore(&to, &name, &path.join(&name))?;
            }
            let above = match path.file_name() {
                // After the mode is set, even the owner may have no access.
                Some(name) => Some((
                    openat(&from, "..", FOLDER, Mode::empty())?,
                    openat(&to, "..", FOLDER, Mode::empty())?,
                    name,
                )),
                None => None,
            };
            step()?;
            take_over(Some(from.as_fd()), to.as_fd(), &fstat(&from)?, its)?;
            match above {
                Some((outer_from, outer_to, name)) => {
                    step()?;
                    unlinkat(&outer_from, name, AtFlags::REMOVEDIR)?;
                    (from, to) = (outer_from, outer_to);
                }
                None => {
                    // The owner needs no access to an empty folder. Without the journal its own mode counts.
                    step()?;
                    fchmod(&from, Mode::from_raw_mode(its.mode))?;
                    step()?;
                    forget_journal(self.layer)?;
                    step()?;
                    fs::remove_dir(merging)?;
                }
            }
        }
        Ok(())
    }

    /// Merges one entry of a folder. If it is a folder on both sides, returns the pair of folders to be merged and
    /// whether the project's folder is visible there.
    fn entry(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        frame: &Frame,
        name: &OsStr,
    ) -> io::Result<Option<((OwnedFd, OwnedFd), bool)>> {
        let Some(about) = look(from, name)? else { return Ok(None) };
        let old = look(to, name)?;
        let path = frame.path.join(name);
        let kind = kind(&about);
        if kind == FileType::Directory {
            let its = self.enter(from, name, path.clone(), &about)?;
            let inner = openat(from, name, FOLDER, Mode::empty())?;
            let is_opaque = is_opaque(&inner)?;
            match old {
                Some(old) if is_folder(&old) && !is_opaque => {
                    self.journal.note(&path, its);
                    open_up(to, name, &old)?;
                    let below = openat(to, name, FOLDER, Mode::empty())?;
                    let is_real_seen = frame.is_real_seen && !self::is_opaque(&below)?;
                    return Ok(Some(((inner, below), is_real_seen)));
                }
                Some(old) => {
                    if !is_opaque {
                        // It must hide what the replaced file or whiteout hid.
                        step()?;
                        fsetxattr(&inner, super::layer::OPAQUE, b"y", XattrFlags::empty())?;
                    }
                    self.remove(to, name, &old)?;
                }
                None => {}
            }
            step()?;
            renameat(from, name, to, name)?;
            if attributes(&look(to, name)?.unwrap_or(about)) != its {
                step()?;
                restore_attributes(to, name, its)?;
            }
            return Ok(None);
        }
        if let Some(old) = old.as_ref().filter(|old| is_folder(old)) {
            self.remove(to, name, old)?;
        }
        let is_whiteout = kind == FileType::CharacterDevice && about.st_rdev == 0;
        let is_needed = || frame.is_real_seen && may_be_there(&self.root.join(&path));
        if is_whiteout && !is_needed() {
            if old.is_some_and(|old| !is_folder(&old)) {
                step()?;
                unlinkat(to, name, AtFlags::empty())?;
            }
            step()?;
            unlinkat(from, name, AtFlags::empty())?;
            return Ok(None);
        }
        step()?;
        renameat(from, name, to, name)?;
        Ok(None)
    }

    /// Removes an entry that is replaced by an entry of the command, which hides it until then.
    fn remove(&self, to: &OwnedFd, name: &OsStr, old: &Stat) -> io::Result<()> {
        step()?;
        if !is_folder(old) {
            return Ok(unlinkat(to, name, AtFlags::empty())?);
        }
        // Moving a folder requires write permission on it.
        open_up(to, name, old)?;
        let replaced = self.layer.join(REPLACED);
        renameat(to, name, CWD, &replaced)?;
        step()?;
        clear::empty(&replaced)
    }

    /// Gives the owner access to a folder of the command after recording its attributes, and returns these.
    fn enter(
        &mut self,
        within: impl AsFd,
        name: &OsStr,
        path: PathBuf,
        about: &Stat,
    ) -> io::Result<Attributes> {
        let its = self.journal.get(&path).unwrap_or_else(|| attributes(about));
        if about.st_mode & OPEN != OPEN {
            self.journal.note(&path, its);
            step()?;
            open_up(within, name, about)?;
        }
        Ok(its)
    }

    /// Restores the attributes of a folder that an interrupted merge had already renamed.
    fn restore(&self, to: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<()> {
        match (look(to, name)?, self.journal.get(path)) {
            (Some(about), Some(its)) if is_folder(&about) => restore_attributes(to, name, its),
            _ => Ok(()),
        }
    }
}

/// Gives the owner full access to a folder.
fn open_up(within: impl AsFd, name: &OsStr, about: &Stat) -> io::Result<()> {
    if about.st_mode & OPEN == OPEN {
        return Ok(());
    }
    Ok(chmodat(within, name, Mode::from_raw_mode(about.st_mode & 0o7777 | OPEN), AtFlags::empty())?)
}

fn look(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(about)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns whether a folder hides the content below it.
fn is_opaque(folder: &OwnedFd) -> io::Result<bool> {
    let mut value = [0u8; 8];
    match fgetxattr(folder, super::layer::OPAQUE, &mut value[..]) {
        Ok(length) => Ok(length > 0 && value[0] == b'y'),
        Err(errno @ (Errno::ACCESS | Errno::IO)) => Err(errno.into()),
        Err(_) => Ok(false),
    }
}

fn list(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
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

fn kind(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

fn is_folder(about: &Stat) -> bool {
    kind(about) == FileType::Directory
}

/// Returns whether anything exists at a path, or true if that is unknown.
fn may_be_there(path: &Path) -> bool {
    let gone = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    !path.symlink_metadata().is_err_and(|error| gone.contains(&error.kind()))
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps)]
fn step() -> io::Result<()> {
    Ok(())
}

/// Interrupts a merge at the step that a test chose.
#[cfg(test)]
fn step() -> io::Result<()> {
    tests::step()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
