//! Makes one change in the live project. After it replaces or removes an entry, the entry is checked once more and put
//! back if it is not the one that was shown. If the file system cannot exchange two entries, a file is checked right
//! before it is replaced.

use crate::project::Error;
use crate::project::rehearsal::{Change, Node, node_in};
use crate::project::whole::{self, Way, Whole, held, way};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Makes a change in the project at `root`. The project's own folder is never created.
pub fn make(root: &Path, change: &Change) -> Result<(), Error> {
    let (real, shown) = (root.join(&change.path), &change.path);
    match (&change.before, &change.after) {
        (Node::File { bytes: before, mode: was }, Node::File { bytes: after, mode }) if before != after => {
            let (before, after) =
                (Whole { bytes: before, mode: Some(*was) }, Whole { bytes: after, mode: Some(*mode) });
            whole::replace(&real, shown, Some(before), after, root)
        }
        (Node::Nothing, Node::File { bytes, mode }) => {
            whole::replace(&real, shown, None, Whole { bytes, mode: Some(*mode) }, root)
        }
        (Node::File { mode: was, .. } | Node::Folder { mode: was }, after)
            if std::mem::discriminant(&change.before) == std::mem::discriminant(after) =>
        {
            set_mode(&real, shown, *was, after)
        }
        (_, Node::Other(words)) => {
            Err(Error::BadPath(format!("{} would become {words}, which cannot be applied", shown.display())))
        }
        (Node::Other(words), _) => {
            Err(Error::BadPath(format!("{} is {words}, which cannot be replaced", shown.display())))
        }
        (before, Node::Nothing) => take_away(&real, shown, before),
        (Node::Nothing, after) => put_new(root, &real, shown, after),
        (before, after) => put_in_place(&real, shown, before, after),
    }
}

/// Opens the parent folder of a path without following links, and returns it with the name of the entry.
fn parent<'a>(real: &'a Path, shown: &Path, make: Option<&Path>) -> Result<(Way, &'a OsStr), Error> {
    let failed = |errno| whole::error(errno, shown);
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(failed(Errno::INVAL));
    };
    Ok((way(folder, make).map_err(failed)?, name))
}

/// Sets only the mode. The file is opened without read access, so that an unreadable file can be made readable.
fn set_mode(real: &Path, shown: &Path, was: u32, after: &Node) -> Result<(), Error> {
    let failed = |errno| whole::error(errno, shown);
    let (Node::File { mode, .. } | Node::Folder { mode }) = after else { return Err(failed(Errno::INVAL)) };
    let (way, name) = parent(real, shown, None)?;
    let flags = PLACE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&way.folder, name, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    let kind = FileType::from_raw_mode(stat.st_mode as RawMode);
    let is = match after {
        Node::Folder { .. } => kind == FileType::Directory,
        Node::Nothing | Node::File { .. } | Node::Link(_) | Node::Other(_) => kind == FileType::RegularFile,
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
const PLACE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PLACE: OFlags = OFlags::RDONLY;

fn take_away(real: &Path, shown: &Path, before: &Node) -> Result<(), Error> {
    let failed = |errno| whole::error(errno, shown);
    let (way, name) = parent(real, shown, None)?;
    held::sweep(&way.folder);
    let folder = &way.folder;
    if matches!(before, Node::Folder { .. }) {
        return unlinkat(folder, name, AtFlags::REMOVEDIR).map_err(failed);
    }
    let held = held::held(marks(before).as_slice());
    rustix::fs::renameat(folder, name, folder, &*held).map_err(failed)?;
    if node_in(folder, Path::new(&held)) != *before {
        held::put_back(folder, &held, name);
        return Err(Error::Changed(shown.to_owned()));
    }
    unlinkat(folder, &*held, AtFlags::empty()).map_err(|errno| {
        held::put_back(folder, &held, name);
        failed(errno)
    })
}

/// Returns the bytes that distinguish a node from others of its type.
fn marks(node: &Node) -> Option<&[u8]> {
    match node {
        Node::File { bytes, .. } => Some(bytes),
        Node::Link(to) => Some(to.as_os_str().as_bytes()),
        Node::Nothing | Node::Folder { .. } | Node::Other(_) => None,
    }
}

/// Creates a folder or a link at a path that does not exist.
fn put_new(root: &Path, real: &Path, shown: &Path, after: &Node) -> Result<(), Error> {
    let (way, name) = parent(real, shown, Some(root))?;
    held::sweep(&way.folder);
    let built = build(&way.folder, name, after).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed(shown.to_owned()),
        _ => Error::io(shown, source),
    });
    if built.is_err() {
        way.undo();
    }
    built
}

/// Replaces one entry by another atomically and removes the old one.
#[cfg(target_os = "linux")]
fn put_in_place(real: &Path, shown: &Path, before: &Node, after: &Node) -> Result<(), Error> {
    let failed = |source| Error::io(shown, source);
    let (way, name) = parent(real, shown, None)?;
    held::sweep(&way.folder);
    let folder = &way.folder;
    let kind = |node: &Node| match node {
        Node::Folder { .. } => AtFlags::REMOVEDIR,
        Node::Nothing | Node::File { .. } | Node::Link(_) | Node::Other(_) => AtFlags::empty(),
    };
    let beside = held::writing();
    let held = held::held(&marks(before).into_iter().chain(marks(after)).collect::<Vec<_>>());
    let is_it = |held: &str| node_in(folder, Path::new(held)) == *before;
    let exchange = || held::exchange(folder, (&beside, kind(after)), (name, kind(before)), &held, &is_it);
    let built = build(folder, OsStr::new(&beside), after).and_then(|()| Ok(exchange()?));
    built.map_err(|error| {
        let _ = unlinkat(folder, &*beside, kind(after));
        match Errno::from_io_error(&error) {
            Some(Errno::STALE) => Error::Changed(shown.to_owned()),
            Some(_) | None => failed(error),
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn put_in_place(_: &Path, shown: &Path, _: &Node, _: &Node) -> Result<(), Error> {
    Err(Error::io(shown, io::ErrorKind::Unsupported.into()))
}

/// Creates an entry with this name. Fails if one exists, and removes a partly written one.
fn build(folder: &OwnedFd, name: &OsStr, after: &Node) -> io::Result<()> {
    match after {
        Node::Link(to) => rustix::fs::symlinkat(to, folder, name)?,
        Node::Folder { mode } => {
            rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&made, Mode::from_raw_mode(*mode as RawMode))?;
        }
        Node::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = fs::File::from(file);
            let _ = file.try_lock();
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode as RawMode))?;
            file.sync_all()?;
        }
        Node::Nothing | Node::Other(_) => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok(())
}
