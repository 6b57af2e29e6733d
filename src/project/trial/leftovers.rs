//! Folders of trials whose process was killed: they are removed, after an interrupted keeping is completed.

use super::{OWNER_FILE, lock_overlay, remove_overlay};
use crate::chat::join_first;
use crate::project::rehearsal::keep::{Baseline, Unkept, keep_changes};
use crate::text::escaped_path::escape_path;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File that exists while the changes of a trial are being kept.
const KEEP_FILE: &str = "keeping";
/// Time limit for removing a trial whose command is still being killed.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of paths that are named.
const MAX_NAMED_PATHS: usize = 4;

/// Record of a trial that is being kept, from which another process completes it.
#[derive(Serialize, Deserialize)]
pub(super) struct KeepRecord {
    #[serde(with = "crate::project::rehearsal::records::path_bytes")]
    pub(super) root: PathBuf,
    pub(super) baseline: Baseline,
}

impl KeepRecord {
    /// Writes the record: whole or not at all.
    pub(super) fn write(&self, overlay_folder: &Path) -> io::Result<()> {
        let new_file = overlay_folder.join("keeping-new");
        let mut writer = io::BufWriter::new(File::create(&new_file)?);
        serde_json::to_writer(&mut writer, self)?;
        writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        fs::rename(new_file, overlay_folder.join(KEEP_FILE))
    }

    /// Reads the record; `None` if the trial was not being kept.
    fn read(overlay_folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(overlay_folder.join(KEEP_FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A trial that another process was keeping when it was killed.
#[derive(Debug, PartialEq, Eq)]
pub struct FinishedTrial {
    /// Folder of the project.
    pub root: PathBuf,
    /// The changes that were not made.
    pub unkept: Unkept,
}

impl FinishedTrial {
    /// Describes it for the user, in one sentence.
    pub fn describe(&self) -> String {
        let folder = escape_path(&self.root);
        let text = format!("aye was stopped while it kept a trial in {folder}; the rest of its changes was made now");
        match &*self.unkept.describe_each() {
            [] => format!("{text}."),
            unmade => format!("{text}, except {}.", join_first(unmade, MAX_NAMED_PATHS)),
        }
    }
}

/// Completes the keeping of trials whose process was killed, and removes the remains of all killed trials. `folder` is
/// the folder of all trials. Blocks; one system call if there are none.
pub fn finish_interrupted_trials(folder: &Path) -> Vec<FinishedTrial> {
    let mut finished = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let overlay_folder = entry.path();
        let Ok(owner) = File::options().append(true).open(overlay_folder.join(OWNER_FILE)) else { continue };
        // A living process holds the lock of its trial.
        if flock(&owner, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        // A trial that cannot be completed now, such as that of a project on a disk that is not mounted, waits.
        match finish_keeping(&overlay_folder) {
            Ok(trial) => finished.extend(trial),
            Err(_) => continue,
        }
        remove_trial(&overlay_folder, owner);
    }
    finished
}

/// Completes the keeping of a trial. Returns `None` if it was not being kept.
fn finish_keeping(overlay_folder: &Path) -> io::Result<Option<FinishedTrial>> {
    let Some(KeepRecord { root, baseline }) = KeepRecord::read(overlay_folder)? else { return Ok(None) };
    let _lock = lock_overlay(overlay_folder)?;
    let unkept = keep_changes(&root, overlay_folder, &baseline)?;
    Ok(Some(FinishedTrial { root, unkept }))
}

/// Removes the folder of a trial. Waits until a command that was killed has ended.
pub(super) fn remove_trial(overlay_folder: &Path, owner: File) {
    let start = Instant::now();
    loop {
        match remove_overlay(overlay_folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && start.elapsed() < REMOVAL_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            // What cannot be removed now is removed by the next process.
            _ => break,
        }
    }
    drop(owner);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conflicts_are_said_to_have_changed_meanwhile() {
        let describe = |conflicts: &[&str], left_out: &[&str]| {
            let conflicts = conflicts.iter().map(PathBuf::from).collect();
            let left_out = left_out.iter().map(|path| (PathBuf::from(path), "a pipe".to_owned())).collect();
            FinishedTrial { root: "/p".into(), unkept: Unkept { conflicts, left_out } }.describe()
        };
        let start = "aye was stopped while it kept a trial in /p; the rest of its changes was made now";
        assert_eq!(describe(&[], &[]), format!("{start}."));
        assert_eq!(describe(&["a"], &[]), format!("{start}, except a (changed meanwhile)."));
        assert_eq!(describe(&[], &["p"]), format!("{start}, except p (a pipe)."));
        let names = "a (changed meanwhile), b (changed meanwhile), c (changed meanwhile), d (changed meanwhile)";
        assert_eq!(describe(&["a", "b", "c", "d"], &["p"]), format!("{start}, except {names} and 1 more."));
    }
}
