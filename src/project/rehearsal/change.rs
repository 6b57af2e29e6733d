//! What a rehearsal changed: every path that is another than the project's, with what it was and would be.

use super::layer::{self, Above};
use super::{Error, Reader, Rehearsal};
use crate::project::READ_LIMIT;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
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
        for path in self.touched() {
            changes.extend(self.change(&path)?);
        }
        Ok(changes)
    }

    /// Every path that the layer has something to say of, relative to the project and sorted. Some may be as they were.
    pub fn touched(&self) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![(PathBuf::new(), false)];
        while let Some((folder, hidden)) = folders.pop() {
            let names = layer::names(&self.upper.join(&folder));
            if hidden {
                for name in listed(&self.root().join(&folder)) {
                    if !names.contains(&name) {
                        self.all_below(folder.join(name), &mut found);
                    }
                }
            }
            for name in names {
                let path = folder.join(name);
                match layer::look(&self.upper.join(&path)) {
                    Above::Unsaid => continue,
                    Above::Gone | Above::Other(_) => self.all_below(path, &mut found),
                    Above::Folder { hides, .. } => {
                        found.insert(path.clone());
                        folders.push((path, hidden || hides));
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// What changed at one path, where something did.
    pub fn change(&self, path: &Path) -> Result<Option<Change>, Error> {
        let real = self.root().join(path);
        let spot = self.spot(path);
        let stands = match (&spot.above, spot.below) {
            (Some((above, _)), _) => Some(above.clone()),
            (None, true) => return Ok(None),
            (None, false) => None,
        };
        let before = node(&real);
        let after = stands.as_deref().map_or(Node::Nothing, node);
        let same = match (&before, &after, &stands) {
            (Node::Other(one), Node::Other(other), Some(above)) => one == other && same_bytes(&real, above),
            (before, after, _) => before == after,
        };
        Ok((!same).then(|| Change { path: path.to_owned(), before, after }))
    }

    /// A path and whatever the project holds below it.
    fn all_below(&self, path: PathBuf, found: &mut BTreeSet<PathBuf>) {
        let mut waiting = vec![path];
        while let Some(path) = waiting.pop() {
            let real = self.root().join(&path);
            if real.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                waiting.extend(listed(&real).into_iter().map(|name| path.join(name)));
            }
            found.insert(path);
        }
    }
}

fn listed(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// What stands at a path of the disk.
pub fn node(path: &Path) -> Node {
    let Ok(meta) = path.symlink_metadata() else { return Node::Nothing };
    let (kind, mode) = (meta.file_type(), meta.mode() & 0o7777);
    if kind.is_dir() {
        return Node::Folder { mode };
    }
    if kind.is_symlink() {
        let unread = |error| Node::Other(format!("a link that cannot be read ({error})"));
        return fs::read_link(path).map_or_else(unread, Node::Link);
    }
    if !kind.is_file() {
        return Node::Other(odd(&meta).to_owned());
    }
    if meta.len() > READ_LIMIT {
        return Node::Other(format!("a file of {} bytes", meta.len()));
    }
    let unread = |error| Node::Other(format!("a file that cannot be read ({error})"));
    fs::read(path).map_or_else(unread, |bytes| Node::File { bytes, mode })
}

fn odd(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
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
