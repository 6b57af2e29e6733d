//! What a rehearsal changed: every path that is another than the project's, with what it was and would be.

use super::layer::{self, Above, Spot, Trail};
use super::{Error, Fingerprint, ROOT, Reader, Rehearsal};
use crate::project::READ_LIMIT;
use crate::project::whole::READING;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Nothing.
    Nothing,
    /// A regular file.
    File {
        /// All of it.
        bytes: Vec<u8>,
        /// Its permissions: the lower twelve bits.
        mode: u32,
    },
    /// A folder. What is in it is a change of its own.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// A symbolic link, with where it leads, as it is written.
    Link(PathBuf),
    /// What is not held here: a file of more than [`READ_LIMIT`] bytes, one that cannot be read, a pipe, a socket; in
    /// words such as `a pipe`.
    Other(String),
}

/// Something the rehearsal changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the project.
    pub path: PathBuf,
    /// What the project really holds now.
    pub before: Node,
    /// What it would hold.
    pub after: Node,
}

impl Rehearsal {
    /// Everything that was rehearsed, sorted by path, so that a folder stands before what is in it. What made no
    /// difference is left out. Holds all the files at once; [`Self::touched`] and [`Self::change`] go one by one.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        // A command that was stopped half-way may have left what was not noted yet.
        let _ = self.note_origins();
        let mut changes = Vec::new();
        let mut trail = Trail::default();
        for path in self.touched()? {
            changes.extend(self.change_along(&path, &mut trail)?);
        }
        Ok(changes)
    }

    /// Every path that the layer has something to say of, relative to the project and sorted; the project's own folder is
    /// `.`. Some may be as they were. A folder that a command closed stands for what is in it.
    ///
    /// # Errors
    /// Where the layer's disk fails.
    pub fn touched(&self) -> Result<Vec<PathBuf>, Error> {
        let mut all: Vec<PathBuf> = self.said_of()?.into_iter().collect();
        all.sort_unstable();
        Ok(all)
    }

    /// The same in no order.
    pub(super) fn said_of(&self) -> Result<HashSet<PathBuf>, Error> {
        self.settle().map_err(|error| Error::in_layer(Path::new(ROOT), error))?;
        let mut found = HashSet::new();
        if self.origin(Path::new(ROOT)).is_some() {
            found.insert(PathBuf::from(ROOT));
        }
        self.said_below(&self.upper, vec![(PathBuf::new(), false)], &mut found)?;
        Ok(found)
    }

    /// The same of what a command changed that wrote in this folder, which is not merged yet.
    pub(super) fn said_in(&self, fresh: &Path) -> Result<HashSet<PathBuf>, Error> {
        let mut found = HashSet::new();
        self.said_below(fresh, vec![(PathBuf::new(), false)], &mut found)?;
        Ok(found)
    }

    /// What `upper`, a folder of the layer, says of everything in these folders, each with whether it hides what the project
    /// holds in it.
    fn said_below(
        &self,
        upper: &Path,
        mut folders: Vec<(PathBuf, bool)>,
        found: &mut HashSet<PathBuf>,
    ) -> Result<(), Error> {
        while let Some((folder, hidden)) = folders.pop() {
            let said = match layer::all_said(&upper.join(&folder)) {
                Ok(said) => said,
                Err(error) if !is_closed(&error) => return Err(Error::in_layer(&folder, error)),
                Err(_) => {
                    let closed = if folder.as_os_str().is_empty() { Path::new(ROOT) } else { &folder };
                    found.insert(closed.to_owned());
                    continue;
                }
            };
            let within = self.has_folder(&folder);
            if hidden && within {
                let names: HashSet<&OsString> = said.iter().map(|(name, _)| name).collect();
                for name in listed(&self.root().join(&folder)).iter().filter(|name| !names.contains(name)) {
                    self.all_below(folder.join(name), within, found);
                }
            }
            for (name, said) in said {
                let path = folder.join(name);
                match said {
                    Ok(Above::Unsaid) => {}
                    Err(error) if !is_closed(&error) => return Err(Error::in_layer(&path, error)),
                    Err(_) => drop(found.insert(path)),
                    Ok(Above::Gone | Above::Other(_)) => self.all_below(path, within, found),
                    Ok(Above::Folder { hides, .. }) => {
                        found.insert(path.clone());
                        folders.push((path, hidden || matches!(hides, Ok(true))));
                    }
                }
            }
        }
        Ok(())
    }

    /// What changed at one path, where something did.
    ///
    /// # Errors
    /// Where the layer's disk fails.
    pub fn change(&self, path: &Path) -> Result<Option<Change>, Error> {
        self.change_along(path, &mut Trail::default())
    }

    /// The same for one of many paths that are asked for in sorted order: the folders on the way to it are looked at once.
    ///
    /// # Errors
    /// Where the layer's disk fails.
    pub fn change_along(&self, path: &Path, trail: &mut Trail) -> Result<Option<Change>, Error> {
        self.settle().map_err(|error| Error::in_layer(path, error))?;
        let (stands, after) = match layer::spot_along(&self.upper, self.root(), path, trail) {
            Ok(Spot { above: Some((above, _)), .. }) => (Some(above.clone()), node(&above)),
            Ok(Spot { above: None, below: true }) => return Ok(None),
            Ok(Spot { above: None, below: false }) => (None, Node::Nothing),
            Err(error) if !is_closed(&error) => return Err(Error::in_layer(path, error)),
            Err(error) => (None, Node::Other(format!("something that cannot be looked at ({error})"))),
        };
        let before = self.real(path);
        let same = match (&before, &after, &stands) {
            (Node::Other(one), Node::Other(other), Some(above)) => {
                one == other && same_bytes(&self.root().join(path), above)
            }
            (before, after, _) => before == after || self.is_as_it_was(path, after),
        };
        Ok((!same).then(|| Change { path: path.to_owned(), before, after }))
    }

    /// Whether the layer holds what the project held at first, and nothing was applied there since: whatever became of the
    /// real one then, the rehearsal changed nothing.
    fn is_as_it_was(&self, path: &Path, after: &Node) -> bool {
        let after = Fingerprint::of(after);
        self.origin(path).is_some_and(|origin| origin == after) && !self.was_applied(path)
    }

    /// A path and whatever the project holds below it.
    fn all_below(&self, path: PathBuf, within: bool, found: &mut HashSet<PathBuf>) {
        let mut waiting = vec![path];
        while let Some(path) = waiting.pop() {
            let real = self.root().join(&path);
            if within && real.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                waiting.extend(listed(&real).into_iter().map(|name| path.join(name)));
            }
            found.insert(path);
        }
    }
}

/// Whether something is there that may not be looked at, or that no path leads to; any other error is the disk's.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied || Errno::from_io_error(error) == Some(Errno::NAMETOOLONG)
}

fn listed(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// What stands at a path of the disk.
pub fn node(path: &Path) -> Node {
    node_in(CWD, path)
}

/// What stands at a path of a folder.
pub fn node_in(folder: impl AsFd, path: &Path) -> Node {
    let folder = folder.as_fd();
    let Ok(stat) = statat(folder, path, AtFlags::SYMLINK_NOFOLLOW) else { return Node::Nothing };
    let mode = permissions(stat.st_mode);
    match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(folder, path, flags, Mode::empty()) {
                Ok(_) => Node::Folder { mode },
                Err(errno) => {
                    let error = io::Error::from(errno);
                    Node::Other(format!("a folder that cannot be looked into ({error}), mode {mode:o}"))
                }
            }
        }
        FileType::Symlink => match readlinkat(folder, path, Vec::new()) {
            Ok(to) => Node::Link(std::ffi::OsString::from_vec(to.into_bytes()).into()),
            Err(errno) => Node::Other(format!("a link that cannot be read ({})", io::Error::from(errno))),
        },
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size <= READ_LIMIT) => {
            let read = || -> io::Result<Vec<u8>> {
                let mut bytes = Vec::new();
                let file = File::from(openat(folder, path, READING, Mode::empty())?);
                file.take(READ_LIMIT + 1).read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            match read() {
                Ok(bytes) => Node::File { bytes, mode },
                Err(error) => Node::Other(format!("a file that cannot be read ({error})")),
            }
        }
        FileType::RegularFile => Node::Other(format!("a file of {} bytes, mode {mode:o}", stat.st_size)),
        FileType::Fifo => Node::Other("a pipe".to_owned()),
        FileType::Socket => Node::Other("a socket".to_owned()),
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            Node::Other("a device".to_owned())
        }
    }
}

/// The lower twelve bits; systems count them in numbers of different widths.
fn permissions(mode: impl Into<u32>) -> u32 {
    mode.into() & 0o7777
}

/// Whether two large files hold the same.
fn same_bytes(one: &Path, other: &Path) -> bool {
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if !is_file(one) || !is_file(other) {
        return true;
    }
    let compare = || -> std::io::Result<bool> {
        let (mut one, mut other) = (File::open(one)?, File::open(other)?);
        let (mut mine, mut its) = (Vec::new(), Vec::new());
        loop {
            mine.clear();
            its.clear();
            (&mut one).take(1 << 20).read_to_end(&mut mine)?;
            (&mut other).take(1 << 20).read_to_end(&mut its)?;
            if mine != its || mine.is_empty() {
                return Ok(mine == its);
            }
        }
    };
    compare().unwrap_or(false)
}
