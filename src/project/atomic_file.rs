//! Reads files whole and replaces them atomically at real paths: no link is followed, and nothing blocks.

mod parent_folders;
pub mod temporary_names;

use parent_folders::{ParentFolders, open_parents};
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

/// State of a file: the one expected before a change, or the new one.
#[derive(Debug, Clone, Copy)]
pub struct FileVersion<'a> {
    /// The whole content.
    pub bytes: &'a [u8],
    /// Permissions, if relevant: the lower twelve bits of the mode.
    pub mode: Option<u32>,
}

impl<'a> FileVersion<'a> {
    /// Creates the state from the content, with any permissions.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes, mode: None }
    }
}

/// Reads the whole file at `real`. Errors show `display_path` instead.
pub fn read_file(real: &Path, display_path: &Path) -> Result<Vec<u8>, Error> {
    let (parents, name) = open_parent(real, display_path, None)?;
    Ok(read_file_in(&parents.folder, name, display_path)?.0)
}

/// Opens the regular file at `real`, of any size.
pub fn open_file(real: &Path, display_path: &Path) -> Result<File, Error> {
    let (parents, name) = open_parent(real, display_path, None)?;
    Ok(open_file_in(&parents.folder, name, display_path)?.0)
}

/// Replaces the file at `real` if its state is exactly `before`. If `before` is `None`, creates the file instead,
/// together with its missing folders below `top`.
///
/// The new file is written next to the old one and moved into place atomically, so after a full disk or a crash the old
/// file remains, and no new folders. If the file system can exchange the two files, the old one is checked once more
/// after the exchange and put back if it changed. Remains of a crash are removed by the next write in the same folder.
/// The owner is kept, and also the mode unless `after` has one. Hard links to the old file are broken, and extended
/// attributes are not copied.
pub fn replace_file(
    real: &Path,
    display_path: &Path,
    before: Option<FileVersion<'_>>,
    after: FileVersion<'_>,
    top: &Path,
) -> Result<(), Error> {
    let to_error = |errno| convert_error(errno, display_path);
    let create_below = before.is_none().then_some(top);
    let (parents, name) = open_parent(real, display_path, create_below).map_err(|error| match error {
        // The file was deleted together with its folder.
        Error::Missing(path) => Error::Changed(path),
        error => error,
    })?;
    let folder = &parents.folder;
    temporary_names::remove_leftovers(folder);
    let write_and_exchange = || {
        let old = check_unchanged(folder, name, display_path, before)?;
        if old.is_some() && after.mode.is_none() {
            // The exchange needs no permission on the file itself, but a read-only file must not be changed unless its
            // permissions are part of the change.
            rustix::fs::accessat(folder, name, rustix::fs::Access::WRITE_OK, AtFlags::empty()).map_err(to_error)?;
        }
        let new_name = temporary_names::new_file_name();
        let result = write_temporary(folder, &new_name, old.as_ref(), after)
            .map_err(|source| Error::from_io(display_path, source))
            .and_then(|()| check_unchanged(folder, name, display_path, before))
            .and_then(|_| match before {
                Some(before) => exchange_files(folder, &new_name, name, display_path, (before, after)),
                None => link_new_file(folder, &new_name, name, display_path),
            });
        if result.is_err() {
            let _ = rustix::fs::unlinkat(folder, &*new_name, AtFlags::empty());
        }
        result
    };
    if let Err(error) = write_and_exchange() {
        parents.remove_created();
        return Err(error);
    }
    // Some file systems do not support this for a folder; the file itself is safe at this point.
    if let Ok(handle) = rustix::fs::openat(&parents.folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::fs::fsync(handle);
    }
    Ok(())
}

/// Opens the parent folder of a path without following links, and returns it with the name of the entry. Creates
/// missing folders below the folder `create_below`.
pub fn open_parent<'a>(
    real: &'a Path,
    display_path: &Path,
    create_below: Option<&Path>,
) -> Result<(ParentFolders, &'a OsStr), Error> {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(Error::NotAFile { path: display_path.to_owned(), kind: "a folder" });
    };
    let parents = open_parents(folder, create_below).map_err(|errno| convert_error(errno, display_path))?;
    Ok((parents, name))
}

/// Opens a regular file of a folder. Its type is checked before opening, because opening a device may have side
/// effects.
fn open_file_in(folder: &OwnedFd, name: &OsStr, display_path: &Path) -> Result<(File, Stat), Error> {
    let to_error = |errno| convert_error(errno, display_path);
    let stat_before_open = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(to_error)?;
    check_regular(&stat_before_open, display_path)?;
    let file = rustix::fs::openat(folder, name, READ_FLAGS, Mode::empty()).map_err(to_error)?;
    let stat = rustix::fs::fstat(&file).map_err(to_error)?;
    check_regular(&stat, display_path)?;
    Ok((File::from(file), stat))
}

/// Reads a regular file of a folder, up to [`READ_LIMIT`] bytes.
fn read_file_in(folder: &OwnedFd, name: &OsStr, display_path: &Path) -> Result<(Vec<u8>, Stat), Error> {
    let (file, stat) = open_file_in(folder, name, display_path)?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > READ_LIMIT {
        return Err(Error::TooLarge { path: display_path.to_owned(), size });
    }
    let mut bytes = Vec::new();
    file.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(|source| Error::from_io(display_path, source))?;
    // Files of `/proc` report no size.
    if bytes.len() as u64 > READ_LIMIT {
        return Err(Error::TooLarge { path: display_path.to_owned(), size: bytes.len() as u64 });
    }
    Ok((bytes, stat))
}

/// Fails unless `stat` is that of a regular file.
fn check_regular(stat: &Stat, display_path: &Path) -> Result<(), Error> {
    let kind = match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something else",
    };
    Err(Error::NotAFile { path: display_path.to_owned(), kind })
}

/// Checks that the file is still in the state that the plan was made from. Returns its metadata, if it exists.
fn check_unchanged(
    folder: &OwnedFd,
    name: &OsStr,
    display_path: &Path,
    before: Option<FileVersion<'_>>,
) -> Result<Option<Stat>, Error> {
    let is_unchanged = |content: &[u8], stat: &Stat, before: FileVersion<'_>| {
        let mode = Mode::from_raw_mode(stat.st_mode as RawMode).as_raw_mode();
        content == before.bytes && before.mode.is_none_or(|mode_before| mode_before as RawMode == mode)
    };
    match (read_file_in(folder, name, display_path), before) {
        (Ok((content, stat)), Some(before)) if is_unchanged(&content, &stat, before) => Ok(Some(stat)),
        (Err(Error::Missing(_)), None) => Ok(None),
        (Ok(_) | Err(Error::Missing(_) | Error::TooLarge { .. }), _) => Err(Error::Changed(display_path.to_owned())),
        (Err(error), _) => Err(error),
    }
}

/// Writes and syncs the new bytes to a temporary file with the old file's owner, and with its mode unless another one
/// is given.
fn write_temporary(folder: &OwnedFd, name: &str, old: Option<&Stat>, new: FileVersion<'_>) -> std::io::Result<()> {
    // For a new file the umask applies; otherwise no other user may read it before its mode is set.
    let mode = if old.is_some() || new.mode.is_some() { 0o600 } else { 0o666 };
    let mut file = File::from(rustix::fs::openat(folder, name, CREATE_FLAGS, Mode::from_raw_mode(mode))?);
    // The lock keeps it from being removed as a leftover. Some file systems have no locks.
    let _ = file.try_lock();
    file.write_all(new.bytes)?;
    if let Some(old) = old {
        let new_stat = rustix::fs::fstat(&file)?;
        if (new_stat.st_uid, new_stat.st_gid) != (old.st_uid, old.st_gid) {
            let (owner, group) = (rustix::fs::Uid::from_raw(old.st_uid), rustix::fs::Gid::from_raw(old.st_gid));
            rustix::fs::fchown(&file, Some(owner), Some(group))?;
        }
    }
    if let Some(mode) = new.mode.map(|mode| mode as RawMode).or(old.map(|old| old.st_mode as RawMode)) {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    file.sync_all()
}

/// Moves the temporary file `new_name` to `name`, unless another file has that name.
fn link_new_file(folder: &OwnedFd, new_name: &str, name: &OsStr, display_path: &Path) -> Result<(), Error> {
    match rustix::fs::linkat(folder, new_name, folder, name, AtFlags::empty()) {
        Ok(()) => {
            let _ = rustix::fs::unlinkat(folder, new_name, AtFlags::empty());
            Ok(())
        }
        Err(Errno::EXIST) => Err(Error::Changed(display_path.to_owned())),
        // The file system has no hard links; the preceding check must suffice.
        Err(_) => {
            rustix::fs::renameat(folder, new_name, folder, name).map_err(|errno| convert_error(errno, display_path))
        }
    }
}

/// Replaces the old file by the new one.
fn exchange_files(
    folder: &OwnedFd,
    new_name: &str,
    name: &OsStr,
    display_path: &Path,
    (before, after): (FileVersion<'_>, FileVersion<'_>),
) -> Result<(), Error> {
    let no_flags = AtFlags::empty();
    // The name of the new file before the exchange, and of the old one after it.
    let exchanged = temporary_names::exchange_name(&[before.bytes, after.bytes]);
    let is_expected =
        |exchanged_name: &str| check_unchanged(folder, OsStr::new(exchanged_name), display_path, Some(before)).is_ok();
    let result = match temporary_names::exchange_entries(
        folder,
        (new_name, no_flags),
        (name, no_flags),
        &exchanged,
        &is_expected,
    ) {
        // The file system has no exchange; the preceding check must suffice.
        Err(errno) if temporary_names::is_unsupported(errno) => rustix::fs::renameat(folder, new_name, folder, name),
        result => result,
    };
    result.map_err(|errno| match errno {
        Errno::STALE | Errno::NOENT => Error::Changed(display_path.to_owned()),
        errno => convert_error(errno, display_path),
    })
}

/// Converts a system error.
pub fn convert_error(errno: Errno, display_path: &Path) -> Error {
    let path = display_path.to_owned();
    match errno {
        Errno::NOENT => Error::Missing(path),
        Errno::LOOP => Error::NotAFile { path, kind: "a link" },
        other => Error::from_io(display_path, other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn r24_file_changed_after_the_last_check_is_put_back() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        let parents = open_parents(&root, None).unwrap();
        let another_mode = FileVersion { mode: Some(0o7777), ..FileVersion::from_bytes(b"theirs") };
        for (before, is_replaced) in [
            (FileVersion::from_bytes(b"one"), false),
            (another_mode, false),
            (FileVersion::from_bytes(b"theirs"), true),
        ] {
            let (name, display_path, new_name) =
                (OsStr::new("file"), Path::new("file"), temporary_names::new_file_name());
            fs::write(root.join(name), "theirs").unwrap();
            fs::write(root.join(&new_name), "two").unwrap();
            let result = exchange_files(
                &parents.folder,
                &new_name,
                name,
                display_path,
                (before, FileVersion::from_bytes(b"two")),
            );
            let expected = if is_replaced { "two" } else { "theirs" };
            assert_eq!(matches!(result, Err(Error::Changed(_))), !is_replaced, "{result:?}");
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), expected);
            assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
        }
    }
}
