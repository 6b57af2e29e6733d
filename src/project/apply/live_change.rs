//! Makes one change in the live project. After a file or link was replaced or removed, its old state is checked once
//! more and put back if it is not the one that was shown. If the file system cannot exchange two entries, a file is
//! checked right before it is replaced.
//!
//! On other systems than Linux nothing is exchanged: what would replace an entry of another kind is refused.

use crate::project::Error;
use crate::project::atomic_file::{self, FileVersion, open_parent, temporary_names};
use crate::project::path_handle::PATH_ONLY;
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
    let (real, display_path) = (root.join(&change.path), &change.path);
    match (&change.before, &change.after) {
        (FileNode::File { bytes: before, mode: old_mode }, FileNode::File { bytes: after, mode })
            if before != after =>
        {
            let (before, after) =
                (FileVersion { bytes: before, mode: Some(*old_mode) }, FileVersion { bytes: after, mode: Some(*mode) });
            atomic_file::replace_file(&real, display_path, Some(before), after, root)
        }
        (FileNode::Nothing, FileNode::File { bytes, mode }) => {
            atomic_file::replace_file(&real, display_path, None, FileVersion { bytes, mode: Some(*mode) }, root)
        }
        // Kind and content stay the same: only the mode changes.
        (FileNode::File { mode: old_mode, .. } | FileNode::Folder { mode: old_mode }, after)
            if std::mem::discriminant(&change.before) == std::mem::discriminant(after) =>
        {
            set_mode(&real, display_path, *old_mode, after)
        }
        (_, FileNode::Other(kind)) => {
            Err(Error::Invalid(format!("{} would become {kind}, which cannot be applied", display_path.display())))
        }
        (FileNode::Other(kind), _) => {
            Err(Error::Invalid(format!("{} is {kind}, which cannot be replaced", display_path.display())))
        }
        (before, FileNode::Nothing) => remove_entry(&real, display_path, before),
        (FileNode::Nothing, after) => create_entry(root, &real, display_path, after),
        (before, after) => replace_entry(&real, display_path, before, after),
    }
}

/// Sets only the mode. The file is opened without read access, so that an unreadable file can be made readable.
fn set_mode(real: &Path, display_path: &Path, expected_mode: u32, after: &FileNode) -> Result<(), Error> {
    let to_error = |errno| atomic_file::convert_error(errno, display_path);
    let (FileNode::File { mode, .. } | FileNode::Folder { mode }) = after else {
        return Err(to_error(Errno::INVAL));
    };
    let (parents, name) = open_parent(real, display_path, None)?;
    let flags = PATH_ONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&parents.folder, name, flags, Mode::empty()).map_err(to_error)?;
    let stat = rustix::fs::fstat(&file).map_err(to_error)?;
    let kind = FileType::from_raw_mode(stat.st_mode as RawMode);
    let expected_kind = if after.is_folder() { FileType::Directory } else { FileType::RegularFile };
    if kind != expected_kind || Mode::from_raw_mode(stat.st_mode as RawMode).as_raw_mode() != expected_mode as RawMode {
        return Err(Error::Changed(display_path.to_owned()));
    }
    let mode = Mode::from_raw_mode(*mode as RawMode);
    // On Linux `fchmod` refuses a file that was opened with `PATH_ONLY`.
    let result = match cfg!(target_os = "linux") {
        true => rustix::fs::chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode),
        false => rustix::fs::fchmod(&file, mode),
    };
    result.map_err(to_error)
}

fn remove_entry(real: &Path, display_path: &Path, before: &FileNode) -> Result<(), Error> {
    let to_error = |errno| atomic_file::convert_error(errno, display_path);
    let (parents, name) = open_parent(real, display_path, None)?;
    temporary_names::remove_leftovers(&parents.folder);
    let folder = &parents.folder;
    if before.is_folder() {
        return unlinkat(folder, name, AtFlags::REMOVEDIR).map_err(to_error);
    }
    let exchanged = temporary_names::exchange_name(leftover_content(before).as_slice());
    rustix::fs::renameat(folder, name, folder, &*exchanged).map_err(to_error)?;
    if read_node_in(folder, Path::new(&exchanged)) != *before {
        temporary_names::restore_name(folder, &exchanged, name);
        return Err(Error::Changed(display_path.to_owned()));
    }
    unlinkat(folder, &*exchanged, AtFlags::empty()).map_err(|errno| {
        temporary_names::restore_name(folder, &exchanged, name);
        to_error(errno)
    })
}

/// Returns the content whose hash the temporary name of an exchanged node contains. After a crash, a leftover with that
/// content may be removed.
fn leftover_content(node: &FileNode) -> Option<&[u8]> {
    match node {
        FileNode::File { bytes, .. } => Some(bytes),
        FileNode::Link(target) => Some(target.as_os_str().as_bytes()),
        _ => None,
    }
}

/// Creates a folder or a link at a path that does not exist.
fn create_entry(root: &Path, real: &Path, display_path: &Path, after: &FileNode) -> Result<(), Error> {
    let (parents, name) = open_parent(real, display_path, Some(root))?;
    temporary_names::remove_leftovers(&parents.folder);
    let result = build_entry(&parents.folder, name, after).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed(display_path.to_owned()),
        _ => Error::from_io(display_path, source),
    });
    if result.is_err() {
        parents.remove_created();
    }
    result
}

/// Replaces one entry by another atomically and removes the old one.
#[cfg(target_os = "linux")]
fn replace_entry(real: &Path, display_path: &Path, before: &FileNode, after: &FileNode) -> Result<(), Error> {
    let to_error = |source| Error::from_io(display_path, source);
    let (parents, name) = open_parent(real, display_path, None)?;
    temporary_names::remove_leftovers(&parents.folder);
    let folder = &parents.folder;
    let unlink_flags = |node: &FileNode| if node.is_folder() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    let new_name = temporary_names::new_file_name();
    let exchanged = temporary_names::exchange_name(
        &leftover_content(before).into_iter().chain(leftover_content(after)).collect::<Vec<_>>(),
    );
    let is_expected = |exchanged_name: &str| read_node_in(folder, Path::new(exchanged_name)) == *before;
    let exchange = || {
        temporary_names::exchange_entries(
            folder,
            (&new_name, unlink_flags(after)),
            (name, unlink_flags(before)),
            &exchanged,
            &is_expected,
        )
    };
    let result = build_entry(folder, OsStr::new(&new_name), after).and_then(|()| Ok(exchange()?));
    result.map_err(|error| {
        let _ = unlinkat(folder, &*new_name, unlink_flags(after));
        match Errno::from_io_error(&error) {
            // The replaced entry is not the one that was shown.
            Some(Errno::STALE) => Error::Changed(display_path.to_owned()),
            Some(_) | None => to_error(error),
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn replace_entry(_: &Path, display_path: &Path, _: &FileNode, _: &FileNode) -> Result<(), Error> {
    Err(Error::from_io(display_path, io::ErrorKind::Unsupported.into()))
}

/// Creates an entry with this name. Fails if one exists. If it fails for another reason, a partly written entry may
/// remain.
fn build_entry(folder: &OwnedFd, name: &OsStr, after: &FileNode) -> io::Result<()> {
    match after {
        FileNode::Link(target) => rustix::fs::symlinkat(target, folder, name)?,
        FileNode::Folder { mode } => {
            rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let created_folder = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&created_folder, Mode::from_raw_mode(*mode as RawMode))?;
        }
        FileNode::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = fs::File::from(file);
            // Marks the file as in use, so that `remove_leftovers` keeps it. Not every file system has locks.
            let _ = file.try_lock();
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode as RawMode))?;
            file.sync_all()?;
        }
        FileNode::Nothing | FileNode::Other(_) => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok(())
}
