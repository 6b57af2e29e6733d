//! Applies rehearsed changes to the live project, one path at a time: only if the live path is unchanged since it was
//! shown, and atomically.

mod live_change;

use super::checkpoints::CallRecorder;
use super::rehearsal::records::{append_records, path_bytes, read_records, truncate_records};
use super::rehearsal::{Change, FileNode, Fingerprint, Rehearsal};
use super::{Error, Location, Reader, path};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// File next to the overlay that records applied changes, so that they are not conflicts afterwards.
const APPLIED_FILE: &str = "applied";

/// One line of [`APPLIED_FILE`].
#[derive(Serialize, Deserialize)]
struct AppliedRecord {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    /// State that was applied: the key `holds`. Older versions stored only a hash there.
    #[serde(flatten)]
    state: AppliedState,
}

/// Applied state in the current format or in that of older versions.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AppliedState {
    Current { holds: Fingerprint },
    Legacy { holds: Option<crate::chat::Digest> },
}

impl Rehearsal {
    /// Returns whether the live path changed outside the rehearsal: its state is neither the one before the rehearsal
    /// first changed it nor one that was applied since. Compares content, mode, file type, and the folders on the way.
    pub fn is_conflict(&self, path: &Path) -> bool {
        let live = self.live_fingerprint(path);
        let is_original = self.origin(path).unwrap_or_default().matches(&live);
        if !is_original && !self.applied_states(path).any(|state| state.matches(&live)) {
            return true;
        }
        // Every folder on the way still exists.
        if path.parent().is_some_and(|folder| self.has_live_folder(folder)) {
            return false;
        }
        for folder in path::list_parents(path) {
            let exists = self.root().join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir());
            match self.origin(folder).filter(|_| !exists) {
                Some(origin) if origin.is_folder() && !self.was_applied(folder) => return true,
                // If the folder did not exist before, there is nothing in it to conflict with.
                Some(origin) if origin.is_nothing() => return false,
                Some(_) | None => {}
            }
        }
        false
    }

    /// Locates a path of the project with all links in its parent folders resolved, as the policy checks it.
    pub fn locate_live(&self, relative: &Path) -> Result<Location, Error> {
        let full_path = self.root().join(relative);
        let (parent, name) = (full_path.parent().unwrap_or(self.root()), full_path.file_name().unwrap_or_default());
        // If the path itself is a link, the link is what is changed.
        let real = path::resolve_links(parent, &mut path::link_target)?.join(name);
        Ok(self.locate_below(real))
    }

    /// Applies a change to the live project, and records it before.
    ///
    /// # Errors
    /// [`Error::Changed`] if the live path differs from the state before the change; [`Error::Full`] if the disk is
    /// full, and `Error::OverlayFull` if the record of the change cannot be written; [`Error::NoProject`] if the
    /// project's own folder is gone; [`Error::Io`] for other failures. Nothing is partly applied then.
    pub fn apply_change(&self, change: &Change, recorder: &CallRecorder) -> Result<(), Error> {
        self.record_change(change, recorder)?;
        let records = self.overlay_folder().join(APPLIED_FILE);
        let length = records.metadata().map_or(0, |metadata| metadata.len());
        self.record_applied(&change.path, &change.after)?;
        live_change::write_live_change(self.root(), change).inspect_err(|_| {
            if self.live_node(&change.path) != change.after {
                truncate_records(&records, length);
            }
        })
    }

    /// Makes a change in the live project that does not come from the overlay, and records it before.
    ///
    /// # Errors
    /// Those of [`Self::apply_change`].
    pub fn change_live(&self, change: &Change, recorder: &CallRecorder) -> Result<(), Error> {
        self.record_change(change, recorder)?;
        live_change::write_live_change(self.root(), change)
    }

    /// Records a change that is about to be made, unless the live path differs from the state before it.
    fn record_change(&self, change: &Change, recorder: &CallRecorder) -> Result<(), Error> {
        if !self.root().is_dir() {
            return Err(Error::NoProject(self.root().to_owned()));
        }
        if self.live_node(&change.path) != change.before {
            return Err(Error::Changed(change.path.clone()));
        }
        recorder.record_change(&self.root().join(&change.path), &change.before, &change.after);
        Ok(())
    }

    /// Returns whether something was applied at a path.
    pub fn was_applied(&self, path: &Path) -> bool {
        self.applied_states(path).next().is_some()
    }

    /// Returns every path at which something was applied.
    pub fn applied_paths(&self) -> HashSet<PathBuf> {
        self.applied_records().map(|record| record.path).collect()
    }

    /// Records the new state before it is applied, so that an interruption does not leave a conflict.
    fn record_applied(&self, path: &Path, after: &FileNode) -> Result<(), Error> {
        let state = AppliedState::Current { holds: Fingerprint::from_node(after) };
        let record = AppliedRecord { path: path.to_owned(), state };
        append_records(&self.overlay_folder().join(APPLIED_FILE), &[record])
            .map_err(|source| Error::in_overlay(path, source))
    }

    /// Returns the states that were applied at a path.
    fn applied_states(&self, path: &Path) -> impl Iterator<Item = Fingerprint> {
        self.applied_records().filter(move |record| record.path == path).map(|record| match record.state {
            AppliedState::Current { holds } => holds,
            AppliedState::Legacy { holds } => Fingerprint::from_hash(holds),
        })
    }

    fn applied_records(&self) -> impl Iterator<Item = AppliedRecord> {
        read_records(&self.overlay_folder().join(APPLIED_FILE)).into_iter()
    }
}

#[cfg(test)]
mod conflict_tests;
#[cfg(test)]
mod tests;
