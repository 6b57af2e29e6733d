//! Makes one change in the live project. After it replaces or removes an entry, the entry is checked once more and put
//! back if it is not the one that was shown. If the file system cannot exchange two entries, a file is checked right
//! before it is replaced.

use crate::project::Error;
use crate::project::atomic_file::{self, ExpectedFile, ParentFolders, open_parents, temporary_names};
use crate::project::rehearsal::{Change, FileNode, read_node_in};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Makes a change in the project at `root`. The project's own folder is never created.
pub fn write_live_change(root: &Path, change: &Change) -> Result<(), Error> {
    let (real, shown) = (root.join(&change.path), &change.path);
    match (&change.before, &change.after) {
        (FileNode::File { bytes: before, mode: was }, FileNode::File { bytes: after, mode }) if before != after => {
            let (before, after) =
                (ExpectedFile { bytes: before, mode: Some(*was) }, ExpectedFile { bytes: after, mode: Some(*mode) });
            atomic_file::replace_file(&real, shown, Some(before), after, root)
        }
        (FileNode::Nothing, FileNode::File { bytes, mode }) => {
            atomic_file::replace_file(&real, shown, None, ExpectedFile { bytes, mode: Some(*mode) }, root)
        }
        (FileNode::File { mode: was, .. } | FileNode::Folder { mode: was }, after)
            if std::mem::discriminant(&change.before) == std::mem::discriminant(after) =>
        {
            set_mode(&real, shown, *was, after)
        }
        (_, FileNode::Other(words)) => {
            Err(Error::BadPath(format!("{} would become {words}, which cannot be applied", shown.display())))
        }
        (FileNode::Other(words), _) => {
            Err(Error::BadPath(format!("{} is {words}, which cannot be replaced", shown.display())))
        }
        (before, FileNode::Nothing) => remove_entry(&real, shown, before),
        (FileNode::Nothing, after) => create_entry(root, &real, shown, after),
        (before, after) => replace_entry(&real, shown, before, after),
    }
}

/// Opens the parent folder of a path without following links, and returns it with the name of the entry.
fn open_parent<'a>(real: &'a Path, shown: &Path, make: Option<&Path>) -> Result<(ParentFolders, &'a OsStr), Error> {
    let failed = |errno| atomic_file::convert_error(errno, shown);
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(failed(Errno::INVAL));
    };
    Ok((open_parents(folder, make).map_err(failed)?, name))
}

/// Sets only the mode. The file is opened without read access, so that an unreadable file can be made readable.
fn set_mode(real: &Path, shown: &Path, was: u32, after: &FileNode) -> Result<(), Error> {
    let failed = |errno| atomic_file::convert_error(errno, shown);
    let (FileNode::File { mode, .. } | FileNode::Folder { mode }) = after else {
        return Err(failed(Errno::INVAL));
    };
    let (way, name) = open_parent(real, shown, None)?;
    let flags = PATH_ONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&way.folder, name, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    let kind = FileType::from_raw_mode(stat.st_mode as RawMode);
    let is = match after {
        FileNode::Folder { .. } => kind == FileType::Directory,
        FileNode::Nothing | FileNode::File { .. } | FileNode::Link(_) | FileNode::Other(_) => {
            kind == FileType::RegularFile
        }
    };
    if !is || Mode::from_raw_mode(stat.st_mode as RawMode).as_raw_mode() != was as RawMode {
        return Err(Error::Changed(shown.to_owned()));
    }
    let mode = Mode::from_raw_mode(*mode as RawMode);
    let set = match cfg!(target_os = "linux") {
        true => rustix::fs::chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode),
        false => rustix::fs::fchmod(&file, mode),
    };
    set.map_err(failed)
}

/// Opens a path without access to its content, if the system supports it.
#[cfg(target_os = "linux")]
const PATH_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlags = OFlags::RDONLY;

fn remove_entry(real: &Path, shown: &Path, before: &FileNode) -> Result<(), Error> {
    let failed = |errno| atomic_file::convert_error(errno, shown);
    let (way, name) = open_parent(real, shown, None)?;
    temporary_names::remove_leftovers(&way.folder);
    let folder = &way.folder;
    if matches!(before, FileNode::Folder { .. }) {
        return unlinkat(folder, name, AtFlags::REMOVEDIR).map_err(failed);
    }
    let held = temporary_names::exchange_name(distinguishing_bytes(before).as_slice());
    rustix::fs::renameat(folder, name, folder, &*held).map_err(failed)?;
    if read_node_in(folder, Path::new(&held)) != *before {
        temporary_names::restore_name(folder, &held, name);
        return Err(Error::Changed(shown.to_owned()));
    }
    unlinkat(folder, &*held, AtFlags::empty()).map_err(|errno| {
        temporary_names::restore_name(folder, &held, name);
        failed(errno)
    })
}

/// Returns the bytes that distinguish a node from others of its type.
fn distinguishing_bytes(node: &FileNode) -> Option<&[u8]> {
    match node {
        FileNode::File { bytes, .. } => Some(bytes),
        FileNode::Link(to) => Some(to.as_os_str().as_bytes()),
        FileNode::Nothing | FileNode::Folder { .. } | FileNode::Other(_) => None,
    }
}

/// Creates a folder or a link at a path that does not exist.
fn create_entry(root: &Path, real: &Path, shown: &Path, after: &FileNode) -> Result<(), Error> {
    let (way, name) = open_parent(real, shown, Some(root))?;
    temporary_names::remove_leftovers(&way.folder);
    let built = build_entry(&way.folder, name, after).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed(shown.to_owned()),
        _ => Error::from_io(shown, source),
    });
    if built.is_err() {
        way.remove_created();
    }
    built
}

/// Replaces one entry by another atomically and removes the old one.
#[cfg(target_os = "linux")]
fn replace_entry(real: &Path, shown: &Path, before: &FileNode, after: &FileNode) -> Result<(), Error> {
    let failed = |source| Error::from_io(shown, source);
    let (way, name) = open_parent(real, shown, None)?;
    temporary_names::remove_leftovers(&way.folder);
    let folder = &way.folder;
    let kind = |node: &FileNode| match node {
        FileNode::Folder { .. } => AtFlags::REMOVEDIR,
        FileNode::Nothing | FileNode::File { .. } | FileNode::Link(_) | FileNode::Other(_) => AtFlags::empty(),
    };
    let beside = temporary_names::new_file_name();
    let held = temporary_names::exchange_name(
        &distinguishing_bytes(before).into_iter().chain(distinguishing_bytes(after)).collect::<Vec<_>>(),
    );
    let is_it = |held: &str| read_node_in(folder, Path::new(held)) == *before;
    let exchange =
        || temporary_names::exchange_entries(folder, (&beside, kind(after)), (name, kind(before)), &held, &is_it);
    let built = build_entry(folder, OsStr::new(&beside), after).and_then(|()| Ok(exchange()?));
    built.map_err(|error| {
        let _ = unlinkat(folder, &*beside, kind(after));
        match Errno::from_io_error(&error) {
            Some(Errno::STALE) => Error::Changed(shown.to_owned()),
            Some(_) | None => failed(error),
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn replace_entry(_: &Path, shown: &Path, _: &FileNode, _: &FileNode) -> Result<(), Error> {
    Err(Error::from_io(shown, io::ErrorKind::Unsupported.into()))
}

/// Creates an entry with this name. Fails if one exists, and removes a partly written one.
fn build_entry(folder: &OwnedFd, name: &OsStr, after: &FileNode) -> io::Result<()> {
    match after {
        FileNode::Link(to) => rustix::fs::symlinkat(to, folder, name)?,
        FileNode::Folder { mode } => {
            rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&made, Mode::from_raw_mode(*mode as RawMode))?;
        }
        FileNode::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = fs::File::from(file);
            let _ = file.try_lock();
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode as RawMode))?;
            file.sync_all()?;
        }
        FileNode::Nothing | FileNode::Other(_) => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok(())
}
