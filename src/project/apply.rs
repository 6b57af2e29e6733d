//! Does for real what was rehearsed at one path: only where the real one is still what was shown, and whole at every moment.

mod made;

use super::rehearsal::{Change, Fingerprint, Node, Rehearsal};
use super::{Error, Located, Reader, path};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The file beside the layer that keeps what was applied, so that it is no conflict afterwards.
const FILE: &str = "applied";

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The bytes of the path: it may be no Unicode.
    path: Vec<u8>,
    /// What was to stand there afterwards. An older version called its hash so.
    #[serde(flatten)]
    holds: Holds,
}

/// What was to stand there, in this version's words or in those before.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Holds {
    Now { holds: Fingerprint },
    Before { holds: Option<crate::chat::Digest> },
}

impl Rehearsal {
    /// Whether the real one is neither what it was when the rehearsal first changed it nor what was applied there since: its
    /// bytes, its mode, what it is at all, or a folder on the way to it.
    pub fn is_conflict(&self, path: &Path) -> bool {
        let now = self.print(path);
        let as_it_was = self.origin(path).unwrap_or_default().is(&now);
        if !as_it_was && !self.applied(path).any(|holds| holds.is(&now)) {
            return true;
        }
        // Every folder on the way is still one.
        if path.parent().is_some_and(|folder| self.has_folder(folder)) {
            return false;
        }
        let mut way: Vec<&Path> =
            path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
        way.reverse();
        for folder in way {
            let there = self.root().join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir());
            match self.origin(folder).filter(|_| !there) {
                Some(origin) if origin.is_folder() && !self.was_applied(folder) => return true,
                // Where nothing was there was no folder in it either.
                Some(origin) if origin.is_nothing() => return false,
                Some(_) | None => {}
            }
        }
        false
    }

    /// A path of the project as it is judged: with every link followed.
    pub fn place(&self, below: &Path) -> Result<Located, Error> {
        let whole = self.root().join(below);
        let (parent, name) = (whole.parent().unwrap_or(self.root()), whole.file_name().unwrap_or_default());
        // What stands there itself may be a link, which is what is changed then.
        let real = path::resolve(parent, &path::on_disk)?.join(name);
        Ok(self.at(real))
    }

    /// Does this change for real.
    ///
    /// # Errors
    /// [`Error::Changed`] where the real one is not what the change says it was; [`Error::Full`] where there is no room for
    /// it, and [`Error::LayerFull`] where that it is applied cannot be kept; [`Error::NoProject`] where the project's own
    /// folder is gone; [`Error::Io`] where the system says no. Nothing is half done then.
    pub fn apply(&self, change: &Change) -> Result<(), Error> {
        if !self.root().is_dir() {
            return Err(Error::NoProject(self.root().to_owned()));
        }
        if self.real(&change.path) != change.before {
            return Err(Error::Changed(change.path.clone()));
        }
        self.will_hold(&change.path, &change.after)?;
        made::make(self.root(), change)
    }

    /// Whether something was applied at a path.
    pub fn was_applied(&self, path: &Path) -> bool {
        self.applied(path).next().is_some()
    }

    /// Every path at which something was applied.
    pub fn applied_paths(&self) -> HashSet<PathBuf> {
        let bytes = fs::read(self.folder().join(FILE)).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        lines.map(|line| PathBuf::from(OsString::from_vec(line.path))).collect()
    }

    /// Keeps what will stand there, before it does: an end in the middle is no conflict afterwards.
    fn will_hold(&self, path: &Path, after: &Node) -> Result<(), Error> {
        let holds = Holds::Now { holds: Fingerprint::of(after) };
        let line = Line { path: path.as_os_str().as_bytes().to_vec(), holds };
        let keep = || {
            let mut text = serde_json::to_vec(&line)?;
            // One that was cut short before ends here.
            text.insert(0, b'\n');
            text.push(b'\n');
            let file = self.folder().join(FILE);
            fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(&text)
        };
        keep().map_err(|source: io::Error| Error::in_layer(path, source))
    }

    /// What was applied at a path.
    fn applied(&self, path: &Path) -> impl Iterator<Item = Fingerprint> {
        let bytes = fs::read(self.folder().join(FILE)).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let here: Vec<Line> = lines.filter(|line| line.path == path.as_os_str().as_bytes()).collect();
        here.into_iter().map(|line| match line.holds {
            Holds::Now { holds } => holds,
            Holds::Before { holds } => Fingerprint::of_hash(holds),
        })
    }
}

#[cfg(test)]
mod since;
#[cfg(test)]
mod tests;
