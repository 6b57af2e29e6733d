//! Does for real what was rehearsed at one path: only where the real one is still what was shown, and whole at every moment.

use super::rehearsal::{Change, Node, Rehearsal, fingerprint, node};
use super::whole::{self, BESIDE};
use super::{Error, Located, Reader, path};
use crate::chat::Digest;
use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The file beside the layer that keeps what was applied, so that it is no conflict afterwards.
const FILE: &str = "applied";

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The bytes of the path: it may be no Unicode.
    path: Vec<u8>,
    holds: Option<Digest>,
}

impl Rehearsal {
    /// Whether the real one is neither what it was when the rehearsal first changed it nor what was applied there since.
    pub fn is_conflict(&self, path: &Path) -> bool {
        let now = fingerprint(&self.root().join(path));
        now != self.origin(path) && !applied(self.folder(), path).contains(&now)
    }

    /// A path of the project as it is judged: with every link followed.
    pub fn place(&self, below: &Path) -> Result<Located, Error> {
        let whole = self.root().join(below);
        let (parent, name) = (whole.parent().unwrap_or(self.root()), whole.file_name().unwrap_or_default());
        // What stands there itself may be a link, which is what is changed then.
        let real = path::resolve(parent, &path::on_disk)?.join(name);
        Ok(path::at(self.root(), real))
    }

    /// Does this change for real.
    ///
    /// # Errors
    /// [`Error::Changed`] where the real one is not what the change says it was; [`Error::Io`] where the system says no.
    /// Nothing is half done then.
    pub fn apply(&self, change: &Change) -> Result<(), Error> {
        let real = self.root().join(&change.path);
        if node(&real) != change.before {
            return Err(Error::Changed(change.path.clone()));
        }
        self.will_hold(&change.path, &change.after)?;
        make(&real, change)
    }

    /// Keeps what will stand there, before it does: an end in the middle is no conflict afterwards.
    fn will_hold(&self, path: &Path, after: &Node) -> Result<(), Error> {
        let holds = match after {
            Node::File { bytes, .. } => Some(Digest::of(bytes)),
            Node::Link(to) => Some(Digest::of(to.as_os_str().as_bytes())),
            Node::Nothing | Node::Folder { .. } | Node::Other(_) => None,
        };
        let line = Line { path: path.as_os_str().as_bytes().to_vec(), holds };
        let keep = || {
            let mut text = serde_json::to_vec(&line)?;
            // One that was cut short before ends here.
            text.insert(0, b'\n');
            text.push(b'\n');
            let file = self.folder().join(FILE);
            fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(&text)
        };
        keep().map_err(|source: io::Error| Error::Io { path: path.to_owned(), source })
    }
}

/// What was applied at a path.
fn applied(layer: &Path, path: &Path) -> Vec<Option<Digest>> {
    let bytes = fs::read(layer.join(FILE)).unwrap_or_default();
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    let here = |line: &Line| line.path == path.as_os_str().as_bytes();
    lines.filter(here).map(|line| line.holds).collect()
}

fn make(real: &Path, change: &Change) -> Result<(), Error> {
    let shown = &change.path;
    let failed = |source: io::Error| Error::Io { path: shown.clone(), source };
    match (&change.before, &change.after) {
        (Node::File { bytes: before, mode: was }, Node::File { bytes: after, mode }) => {
            if before != after {
                whole::replace(real, shown, Some(before), after)?;
            }
            if was != mode {
                set_mode(real, *mode).map_err(failed)?;
            }
            Ok(())
        }
        (Node::Nothing, Node::File { bytes, mode }) => {
            whole::replace(real, shown, None, bytes)?;
            set_mode(real, *mode).map_err(failed)
        }
        (Node::Folder { .. }, Node::Folder { mode }) => set_mode(real, *mode).map_err(failed),
        (_, Node::Other(words)) => {
            Err(Error::BadPath(format!("{} would become {words}, which is not applied", shown.display())))
        }
        (Node::Other(words), _) => {
            Err(Error::BadPath(format!("{} is {words}, which is not replaced", shown.display())))
        }
        (before, Node::Nothing) => take_away(real, before).map_err(failed),
        (Node::Nothing, after) => put_new(real, after).map_err(failed),
        (before, after) => put_in_place(real, before, after).map_err(failed),
    }
}

/// The folder of a path, no link on the way followed, and the name in it.
fn parent(real: &Path, make: bool) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok((whole::folder(folder, make)?, name))
}

fn set_mode(real: &Path, mode: u32) -> io::Result<()> {
    let (folder, name) = parent(real, false)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as RawMode))?)
}

fn take_away(real: &Path, before: &Node) -> io::Result<()> {
    let (folder, name) = parent(real, false)?;
    let kind = if matches!(before, Node::Folder { .. }) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    Ok(rustix::fs::unlinkat(&folder, name, kind)?)
}

/// Makes a folder or a link where nothing is.
fn put_new(real: &Path, after: &Node) -> io::Result<()> {
    let (folder, name) = parent(real, true)?;
    build(&folder, name, after)
}

/// Puts one thing in the place of another in one step, and takes away what was there.
#[cfg(target_os = "linux")]
fn put_in_place(real: &Path, before: &Node, after: &Node) -> io::Result<()> {
    let (folder, name) = parent(real, false)?;
    let beside = format!("{BESIDE}{}", ulid::Ulid::new());
    let old = if matches!(before, Node::Folder { .. }) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    let new = if matches!(after, Node::Folder { .. }) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    let swap =
        || rustix::fs::renameat_with(&folder, name, &folder, &*beside, rustix::fs::RenameFlags::EXCHANGE);
    let beside_name = OsStr::new(&beside);
    let swapped = build(&folder, beside_name, after).and_then(|()| Ok(swap()?));
    if let Err(error) = swapped {
        let _ = rustix::fs::unlinkat(&folder, beside_name, new);
        return Err(error);
    }
    // A folder that is not empty is put back.
    rustix::fs::unlinkat(&folder, beside_name, old).map_err(|errno| {
        let _ = swap();
        let _ = rustix::fs::unlinkat(&folder, beside_name, new);
        errno.into()
    })
}

#[cfg(not(target_os = "linux"))]
fn put_in_place(_: &Path, _: &Node, _: &Node) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Makes something of this name; nothing may be there.
fn build(folder: &OwnedFd, name: &OsStr, after: &Node) -> io::Result<()> {
    match after {
        Node::Link(to) => rustix::fs::symlinkat(to, folder, name)?,
        Node::Folder { mode } => {
            rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&made, Mode::from_raw_mode(*mode as RawMode))?;
        }
        Node::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = fs::File::from(file);
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode as RawMode))?;
            file.sync_all()?;
        }
        Node::Nothing | Node::Other(_) => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
