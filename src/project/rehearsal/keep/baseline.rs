//! State of the project at every path that a trial changed, as the trial saw it. Nothing is read but metadata.

use crate::project::rehearsal::overlay::{OverlayEntry, read_entries};
use rustix::fs::{AtFlags, CWD, FileType, RawMode, Stat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Time in seconds and nanoseconds since 1970, by the clock of a file system.
pub type FileTime = (i64, i64);

/// What the project has at one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LiveState {
    Nothing,
    /// A folder and its mode. Its entries have states of their own.
    Folder(u32),
    /// Anything else.
    Entry(EntryStamp),
    /// It changed while the trial ran, so the trial may have seen another state.
    Unknown,
}

/// Identity of an entry and of its content: writing, replacing or renaming it changes the stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryStamp {
    device: u64,
    inode: u64,
    mode: u32,
    size: i64,
    modified: FileTime,
    changed: FileTime,
}

impl EntryStamp {
    // The integer types differ between systems.
    #[allow(clippy::unnecessary_cast)]
    fn new(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            size: stat.st_size as i64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Returns whether this is the same entry with the same content, although it may have been renamed, which changes
    /// only the time of the last change.
    fn is_same_renamed(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

impl LiveState {
    /// Returns the state of a path relative to an open folder. Links are not followed.
    ///
    /// # Errors
    /// If the metadata cannot be read for another reason than that nothing exists.
    #[allow(clippy::unnecessary_cast)]
    pub fn read(folder: impl AsFd, path: &Path) -> io::Result<Self> {
        match statat(folder, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_folder(&stat) => Ok(Self::Folder(stat.st_mode as u32 & 0o7777)),
            Ok(stat) => Ok(Self::Entry(EntryStamp::new(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Self::Nothing),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns whether an entry that was renamed into its current place had this state before.
    pub fn is_same_renamed(&self, current: &Self) -> bool {
        match (self, current) {
            (Self::Entry(before), Self::Entry(current)) => before.is_same_renamed(current),
            (Self::Unknown, _) => false,
            (before, current) => before == current,
        }
    }
}

/// Returns the inode. Its integer type differs between systems.
#[allow(clippy::unnecessary_cast)]
pub fn inode_of(stat: &Stat) -> u64 {
    stat.st_ino as u64
}

pub fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode as RawMode) == FileType::Directory
}

/// States of the project by path relative to it: of every path with an entry in the overlay, except below a folder that
/// is new, and of everything that the overlay hides.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline(#[serde(with = "state_list")] HashMap<PathBuf, LiveState>);

/// Serializes the states as a list: JSON has no map by paths, which need not be Unicode.
mod state_list {
    use super::LiveState;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::HashMap;
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(states: &HashMap<PathBuf, LiveState>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(states.iter().map(|(path, state)| (path.as_os_str().as_bytes(), state)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashMap<PathBuf, LiveState>, D::Error> {
        let states = Vec::<(Vec<u8>, LiveState)>::deserialize(deserializer)?;
        Ok(states.into_iter().map(|(path, state)| (OsString::from_vec(path).into(), state)).collect())
    }
}

impl Baseline {
    /// Reads the states. What changed after `started` is unknown. Blocks; about a microsecond per path.
    ///
    /// # Errors
    /// If a folder of the overlay or of the project cannot be read.
    pub fn read(root: &Path, upper: &Path, started: FileTime) -> io::Result<Self> {
        let mut baseline = Self::default();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for (name, entry) in read_entries(&upper.join(&folder))? {
                let path = folder.join(name);
                let hides_live = match entry? {
                    OverlayEntry::Absent => continue,
                    OverlayEntry::Deleted | OverlayEntry::Other(_) => true,
                    OverlayEntry::Folder { hides_project, .. } => hides_project?,
                };
                let state = baseline.insert(root, &path, started)?;
                match state {
                    LiveState::Folder(_) if hides_live => baseline.insert_below(root, path, started)?,
                    LiveState::Folder(_) => folders.push(path),
                    LiveState::Nothing | LiveState::Entry(_) | LiveState::Unknown => {}
                }
            }
        }
        Ok(baseline)
    }

    fn insert(&mut self, root: &Path, path: &Path, started: FileTime) -> io::Result<LiveState> {
        let state = match LiveState::read(CWD, &root.join(path))? {
            LiveState::Entry(stamp) if stamp.changed > started => LiveState::Unknown,
            state => state,
        };
        self.0.insert(path.to_owned(), state);
        Ok(state)
    }

    fn insert_below(&mut self, root: &Path, folder: PathBuf, started: FileTime) -> io::Result<()> {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder))? {
                let path = folder.join(entry?.file_name());
                if let LiveState::Folder(_) = self.insert(root, &path, started)? {
                    folders.push(path);
                }
            }
        }
        Ok(())
    }

    /// Returns the state at a path. A path that was not read is unknown.
    pub fn state(&self, path: &Path) -> LiveState {
        self.0.get(path).copied().unwrap_or(LiveState::Unknown)
    }

    /// Returns the paths at which `current` differs, and those that are unknown, sorted.
    pub fn conflicts(&self, current: &Self) -> Vec<PathBuf> {
        let is_conflict = |path: &&PathBuf| {
            let state = self.state(path);
            state == LiveState::Unknown || state != current.0.get(*path).copied().unwrap_or(LiveState::Nothing)
        };
        let mut paths: Vec<PathBuf> = self.0.keys().chain(current.0.keys()).filter(is_conflict).cloned().collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}
