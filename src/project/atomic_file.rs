//! Reads files whole and replaces them atomically at real paths: no link is followed, and nothing blocks.

mod parent_folders;
pub mod temporary_names;

pub use parent_folders::{ParentFolders, open_parents};
pub use temporary_names::READ_FLAGS;

use super::{Error, READ_LIMIT};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Flags for creating a file.
const CREATE_FLAGS: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// State of a file.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedFile<'a> {
    /// The whole content.
    pub bytes: &'a [u8],
    /// Permissions, if relevant: the lower twelve bits of the mode.
    pub mode: Option<u32>,
}

impl<'a> ExpectedFile<'a> {
    /// Creates the state from the content, with any permissions.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes, mode: None }
    }
}

/// Reads the whole file at `real`, which errors show as `shown`.
pub fn read_file(real: &Path, shown: &Path) -> Result<Vec<u8>, Error> {
    let (parent, name) = split_parent(real, shown)?;
    let way = open_parents(parent, None).map_err(|errno| convert_error(errno, shown))?;
    Ok(read_file_in(&way.folder, name, shown)?.0)
}

/// Opens the regular file at `real`, of any size.
pub fn open_file(real: &Path, shown: &Path) -> Result<File, Error> {
    let (parent, name) = split_parent(real, shown)?;
    let way = open_parents(parent, None).map_err(|errno| convert_error(errno, shown))?;
    Ok(open_file_in(&way.folder, name, shown)?.0)
}

/// Replaces the file at `real` if its content is exactly `before`, or creates it together with its missing folders
/// below `top`. The new file is written next to the old one and moved into place atomically, so after a full disk or a
/// crash the old file remains, and no new folders. If the file system can exchange the two, the old file is checked
/// once more afterwards and put back if it changed. Remains of a crash are removed by the next write in the same
/// folder. Mode and owner are kept if no mode is given. Hard links to the old file are broken, and extended attributes
/// are not copied.
pub fn replace_file(
    real: &Path,
    shown: &Path,
    before: Option<ExpectedFile<'_>>,
    after: ExpectedFile<'_>,
    top: &Path,
) -> Result<(), Error> {
    let (parent, name) = split_parent(real, shown)?;
    let failed = |errno| convert_error(errno, shown);
    let make = before.is_none().then_some(top);
    let way = open_parents(parent, make).map_err(|errno| match errno {
        // The file was deleted together with its folder.
        Errno::NOENT => Error::Changed(shown.to_owned()),
        errno => convert_error(errno, shown),
    })?;
    let folder = &way.folder;
    temporary_names::remove_leftovers(folder);
    let write = || {
        let old = check_unchanged(folder, name, shown, before)?;
        if old.is_some() && after.mode.is_none() {
            // The exchange needs no permission on the file itself, but a read-only file must not be changed unless its
            // permissions are part of the change.
            rustix::fs::accessat(folder, name, rustix::fs::Access::WRITE_OK, AtFlags::empty()).map_err(failed)?;
        }
        let beside = temporary_names::new_file_name();
        let done = write_temporary(folder, &beside, old.as_ref(), after)
            .map_err(|source| Error::from_io(shown, source))
            .and_then(|()| check_unchanged(folder, name, shown, before))
            .and_then(|_| match before {
                Some(before) => exchange_files(folder, &beside, name, shown, (before, after)),
                None => link_new_file(folder, &beside, name, shown),
            });
        if done.is_err() {
            let _ = rustix::fs::unlinkat(folder, &*beside, AtFlags::empty());
        }
        done
    };
    if let Err(error) = write() {
        way.remove_created();
        return Err(error);
    }
    // Some file systems do not support this for a folder; the file itself is safe at this point.
    if let Ok(handle) = rustix::fs::openat(&way.folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::fs::fsync(handle);
    }
    Ok(())
}

/// Returns the folder and the name of a file.
fn split_parent<'a>(real: &'a Path, shown: &Path) -> Result<(&'a Path, &'a OsStr), Error> {
    match (real.parent(), real.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        (_, _) => Err(Error::NotAFile { path: shown.to_owned(), kind: "a folder" }),
    }
}

/// Opens a regular file of a folder. Its type is checked before opening, because opening a device may have side
/// effects.
fn open_file_in(folder: &OwnedFd, name: &OsStr, shown: &Path) -> Result<(File, Stat), Error> {
    let failed = |errno| convert_error(errno, shown);
    let seen = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    check_regular(&seen, shown)?;
    let file = rustix::fs::openat(folder, name, READ_FLAGS, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    check_regular(&stat, shown)?;
    Ok((File::from(file), stat))
}

/// Reads a regular file of a folder, up to [`READ_LIMIT`] bytes.
fn read_file_in(folder: &OwnedFd, name: &OsStr, shown: &Path) -> Result<(Vec<u8>, Stat), Error> {
    let (file, stat) = open_file_in(folder, name, shown)?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > READ_LIMIT {
        return Err(Error::TooLarge { path: shown.to_owned(), size });
    }
    let mut bytes = Vec::new();
    file.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(|source| Error::from_io(shown, source))?;
    // Files of `/proc` report no size.
    if bytes.len() as u64 > READ_LIMIT {
        return Err(Error::TooLarge { path: shown.to_owned(), size: bytes.len() as u64 });
    }
    Ok((bytes, stat))
}

/// Fails if it is not a regular file.
fn check_regular(stat: &Stat, shown: &Path) -> Result<(), Error> {
    let kind = match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something else",
    };
    Err(Error::NotAFile { path: shown.to_owned(), kind })
}

/// Checks that the file is still in the state that the plan was made from. Returns its metadata, if it exists.
fn check_unchanged(
    folder: &OwnedFd,
    name: &OsStr,
    shown: &Path,
    before: Option<ExpectedFile<'_>>,
) -> Result<Option<Stat>, Error> {
    let same = |now: &[u8], stat: &Stat, before: ExpectedFile<'_>| {
        let mode = Mode::from_raw_mode(stat.st_mode as RawMode).as_raw_mode();
        now == before.bytes && before.mode.is_none_or(|mode_before| mode_before as RawMode == mode)
    };
    match (read_file_in(folder, name, shown), before) {
        (Ok((now, stat)), Some(before)) if same(&now, &stat, before) => Ok(Some(stat)),
        (Err(Error::Missing(_)), None) => Ok(None),
        (Ok(_) | Err(Error::Missing(_) | Error::TooLarge { .. }), _) => Err(Error::Changed(shown.to_owned())),
        (Err(other), _) => Err(other),
    }
}

/// Writes and syncs the new bytes to a temporary file with the old file's owner, and with its mode unless another one
/// is given.
fn write_temporary(folder: &OwnedFd, name: &str, old: Option<&Stat>, new: ExpectedFile<'_>) -> std::io::Result<()> {
    // For a new file the umask applies; otherwise no other user may read it before its mode is set.
    let mode = if old.is_some() || new.mode.is_some() { 0o600 } else { 0o666 };
    let mut file = File::from(rustix::fs::openat(folder, name, CREATE_FLAGS, Mode::from_raw_mode(mode))?);
    // The lock keeps it from being removed as a leftover. Some file systems have no locks.
    let _ = file.try_lock();
    file.write_all(new.bytes)?;
    if let Some(old) = old {
        let its = rustix::fs::fstat(&file)?;
        if (its.st_uid, its.st_gid) != (old.st_uid, old.st_gid) {
            let (owner, group) = (rustix::fs::Uid::from_raw(old.st_uid), rustix::fs::Gid::from_raw(old.st_gid));
            rustix::fs::fchown(&file, Some(owner), Some(group))?;
        }
    }
    if let Some(mode) = new.mode.map(|mode| mode as RawMode).or(old.map(|old| old.st_mode as RawMode)) {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    file.sync_all()
}

/// Gives the new file its name, unless another file has it.
fn link_new_file(folder: &OwnedFd, beside: &str, name: &OsStr, shown: &Path) -> Result<(), Error> {
    match rustix::fs::linkat(folder, beside, folder, name, AtFlags::empty()) {
        Ok(()) => {
            let _ = rustix::fs::unlinkat(folder, beside, AtFlags::empty());
            Ok(())
        }
        Err(Errno::EXIST) => Err(Error::Changed(shown.to_owned())),
        // The file system has no hard links; the preceding check must suffice.
        Err(_) => rustix::fs::renameat(folder, beside, folder, name).map_err(|errno| convert_error(errno, shown)),
    }
}

/// Replaces the old file by the new one.
fn exchange_files(
    folder: &OwnedFd,
    beside: &str,
    name: &OsStr,
    shown: &Path,
    (before, after): (ExpectedFile<'_>, ExpectedFile<'_>),
) -> Result<(), Error> {
    let file = AtFlags::empty();
    let held = temporary_names::exchange_name(&[before.bytes, after.bytes]);
    let is_it = |held: &str| check_unchanged(folder, OsStr::new(held), shown, Some(before)).is_ok();
    let done = match temporary_names::exchange_entries(folder, (beside, file), (name, file), &held, &is_it) {
        // The file system has no exchange; the preceding check must suffice.
        Err(errno) if temporary_names::is_unsupported(errno) => rustix::fs::renameat(folder, beside, folder, name),
        done => done,
    };
    done.map_err(|errno| match errno {
        Errno::STALE | Errno::NOENT => Error::Changed(shown.to_owned()),
        errno => convert_error(errno, shown),
    })
}

/// Converts a system error.
pub fn convert_error(errno: Errno, shown: &Path) -> Error {
    let path = shown.to_owned();
    match errno {
        Errno::NOENT => Error::Missing(path),
        Errno::LOOP => Error::NotAFile { path, kind: "a link" },
        other => Error::from_io(shown, other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn r24_file_changed_after_the_last_check_is_put_back() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let way = open_parents(&root, None).unwrap();
        let another_mode = ExpectedFile { mode: Some(0o7777), ..ExpectedFile::from_bytes(b"theirs") };
        for (before, done) in [
            (ExpectedFile::from_bytes(b"one"), false),
            (another_mode, false),
            (ExpectedFile::from_bytes(b"theirs"), true),
        ] {
            let (name, shown, beside) = (OsStr::new("file"), Path::new("file"), temporary_names::new_file_name());
            fs::write(root.join(name), "theirs").unwrap();
            fs::write(root.join(&beside), "two").unwrap();
            let placed = exchange_files(&way.folder, &beside, name, shown, (before, ExpectedFile::from_bytes(b"two")));
            let expected = if done { "two" } else { "theirs" };
            assert_eq!(matches!(placed, Err(Error::Changed(_))), !done, "{placed:?}");
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), expected);
            assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
        }
    }
}
