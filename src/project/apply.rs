//! Applies rehearsed changes to the live project, one path at a time: only if the live path is unchanged since it was
//! shown, and atomically.

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

/// File next to the overlay that records applied changes, so that they are not conflicts afterwards.
const FILE: &str = "applied";

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Path as bytes, because it may not be Unicode.
    path: Vec<u8>,
    /// State that was applied. Older versions stored only a hash under this name.
    #[serde(flatten)]
    holds: Holds,
}

/// Applied state in the current format or in that of older versions.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Holds {
    Now { holds: Fingerprint },
    Before { holds: Option<crate::chat::Digest> },
}

impl Rehearsal {
    /// Returns whether the live path is neither in its state before the rehearsal first changed it nor in a state that
    /// was applied since. Compares content, mode, file type, and the folders on the way.
    pub fn is_conflict(&self, path: &Path) -> bool {
        let now = self.print(path);
        let as_it_was = self.origin(path).unwrap_or_default().is(&now);
        if !as_it_was && !self.applied(path).any(|holds| holds.is(&now)) {
            return true;
        }
        // Every folder on the way still exists.
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
                // If the folder did not exist before, there is nothing in it to conflict with.
                Some(origin) if origin.is_nothing() => return false,
                Some(_) | None => {}
            }
        }
        false
    }

    /// Locates a path of the project with all links in its parent folders resolved, as the policy checks it.
    pub fn place(&self, below: &Path) -> Result<Located, Error> {
        let whole = self.root().join(below);
        let (parent, name) = (whole.parent().unwrap_or(self.root()), whole.file_name().unwrap_or_default());
        // If the path itself is a link, the link is what is changed.
        let real = path::resolve(parent, &path::on_disk)?.join(name);
        Ok(self.at(real))
    }

    /// Applies a change to the live project.
    ///
    /// # Errors
    /// [`Error::Changed`] if the live path differs from the state before the change; [`Error::Full`] if the disk is
    /// full, and `Error::OverlayFull` if the record of the change cannot be written; [`Error::NoProject`] if the
    /// project's own folder is gone; [`Error::Io`] for other failures. Nothing is partly applied then.
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

    /// Returns whether something was applied at a path.
    pub fn was_applied(&self, path: &Path) -> bool {
        self.applied(path).next().is_some()
    }

    /// Returns every path at which something was applied.
    pub fn applied_paths(&self) -> HashSet<PathBuf> {
        let bytes = fs::read(self.folder().join(FILE)).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        lines.map(|line| PathBuf::from(OsString::from_vec(line.path))).collect()
    }

    /// Records the state before it is applied, so that an interruption does not leave a conflict.
    fn will_hold(&self, path: &Path, after: &Node) -> Result<(), Error> {
        let holds = Holds::Now { holds: Fingerprint::of(after) };
        let line = Line { path: path.as_os_str().as_bytes().to_vec(), holds };
        let keep = || {
            let mut text = serde_json::to_vec(&line)?;
            // Ends a truncated line.
            text.insert(0, b'\n');
            text.push(b'\n');
            let file = self.folder().join(FILE);
            fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(&text)
        };
        keep().map_err(|source: io::Error| Error::in_layer(path, source))
    }

    /// Returns the states that were applied at a path.
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
