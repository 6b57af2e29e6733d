//! One scanned folder: its relevant entries, and detection of changes since it was read.

use super::Reason;
use crate::chat::sensitive_paths::is_sensitive;
use crate::project::change_times;
use crate::project::path_handle::PATH_ONLY;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two changes within this interval may have the same time: some file systems store whole seconds.
const TIME_RESOLUTION: Duration = Duration::from_millis(2100);
/// Maximum number of threads that check folders.
const MAX_THREADS: usize = 4;
/// Minimum number of folders that each thread checks.
const FOLDERS_PER_THREAD: usize = 500;
/// If the parent folder of a path is not sensitive, this many last components determine whether the path is.
const DECIDING_COMPONENTS: usize = 4;

/// A relevant entry of a folder. Plain files and links are not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScannedEntry {
    /// A folder to be scanned.
    Folder,
    /// A file or folder that is withheld by itself.
    Withheld(Reason),
    /// A link with a sensitive name to this file or folder of the project.
    LinkTo(PathBuf),
    /// A file with several names.
    Several {
        /// Device and inode.
        inode: (u64, u64),
        /// Number of names.
        name_count: u64,
        /// True if this name is sensitive.
        is_sensitive: bool,
    },
}

/// Identity and change time of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderStamp {
    /// Device and inode.
    pub(super) inode: (u64, u64),
    /// Change time: seconds and nanoseconds.
    changed: (i64, i64),
}

impl FolderStamp {
    pub(super) fn from_path(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
        Some(Self { inode: (metadata.dev(), metadata.ino()), changed: (metadata.ctime(), metadata.ctime_nsec()) })
    }

    /// Reads the stamp of an entry of an open folder.
    fn from_entry(folder: &OwnedFd, name: &OsStr) -> Option<Self> {
        let metadata = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(metadata.st_mode) == FileType::Directory;
        // The types of these fields differ between systems.
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        let (inode, changed) = (
            (metadata.st_dev as u64, metadata.st_ino as u64),
            (metadata.st_ctime as i64, metadata.st_ctime_nsec as i64),
        );
        is_folder.then_some(Self { inode, changed })
    }

    /// Returns whether any later change must have a different time.
    fn is_settled(&self, now: SystemTime) -> bool {
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(self.changed.0), u32::try_from(self.changed.1)) else {
            return false;
        };
        let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
        now.duration_since(changed).is_ok_and(|age| age > TIME_RESOLUTION)
    }
}

/// A folder as it was last read.
#[derive(Debug)]
pub(super) struct ScannedFolder {
    pub(super) path: PathBuf,
    /// Reason why the whole folder is withheld.
    pub(super) withheld_reason: Option<Reason>,
    /// Relevant entries, sorted by name.
    pub(super) entries: Vec<(OsString, ScannedEntry)>,
    /// Number of all entries.
    pub(super) count: usize,
    /// `None` if the folder must be read every time.
    stamp: Option<FolderStamp>,
}

impl ScannedFolder {
    /// Creates a folder that is withheld as a whole and not read.
    pub(super) fn new_withheld(path: PathBuf, reason: Reason) -> Self {
        let stamp = FolderStamp::from_path(&path);
        Self { path, withheld_reason: Some(reason), entries: Vec::new(), count: 0, stamp }
    }

    /// Reads a folder. `is_closed` returns true for paths that are withheld whatever their name.
    pub(super) fn scan(path: PathBuf, root: &Path, is_closed: &dyn Fn(&Path) -> bool) -> Self {
        let now = SystemTime::now();
        let stamp = FolderStamp::from_path(&path);
        let settled_stamp = stamp.filter(|stamp| stamp.is_settled(now) && change_times::tells_names(&path));
        let mut folder = Self { path, withheld_reason: None, entries: Vec::new(), count: 0, stamp: settled_stamp };
        let Ok(entries) = fs::read_dir(&folder.path) else {
            // The content of an unreadable folder is unknown.
            folder.withheld_reason = Some(Reason::NotExamined);
            return folder;
        };
        for entry in entries {
            folder.count += 1;
            match entry.and_then(|entry| Ok((entry.file_name(), fs::symlink_metadata(entry.path())?))) {
                Ok((name, metadata)) => {
                    if let Some(entry) = examine_entry(&folder.path.join(&name), &metadata, root, is_closed) {
                        folder.entries.push((name, entry));
                    }
                }
                // The entry disappeared; read the folder again next time.
                Err(_) => folder.stamp = None,
            }
        }
        folder.entries.sort_by(|one, other| one.0.cmp(&other.0));
        folder
    }

    /// Reads the folder again, whatever its time.
    pub(super) fn rescan(&mut self, root: &Path, is_closed: &dyn Fn(&Path) -> bool) {
        if self.withheld_reason.is_none() {
            *self = Self::scan(std::mem::take(&mut self.path), root, is_closed);
        }
    }

    /// Returns whether it is the same folder and no entry was created, renamed, linked or removed since it was read.
    pub(super) fn is_unchanged(&self) -> bool {
        self.stamp.is_some() && FolderStamp::from_path(&self.path) == self.stamp
    }

    /// Returns whether both have the same relevant entries.
    pub(super) fn has_same_entries(&self, other: &Self) -> bool {
        self.path == other.path && self.withheld_reason == other.withheld_reason && self.entries == other.entries
    }

    /// Returns the names of its subfolders.
    pub(super) fn subfolder_names(&self) -> impl Iterator<Item = &OsStr> {
        self.entries.iter().filter(|(_, entry)| *entry == ScannedEntry::Folder).map(|(name, _)| name.as_os_str())
    }
}

/// Returns whether all of these folders are unchanged. Uses several threads, and opens each parent folder once.
pub(super) fn are_unchanged(folders: &[ScannedFolder]) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let chunk_size = folders.len().div_ceil(threads).max(FOLDERS_PER_THREAD);
    let has_changed = AtomicBool::new(false);
    let check_folders = &|folders: &[ScannedFolder]| {
        let flags = PATH_ONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut opened: Option<(&Path, OwnedFd)> = None;
        for folder in folders {
            if has_changed.load(Ordering::Relaxed) {
                return;
            }
            let (Some(parent), Some(name)) = (folder.path.parent(), folder.path.file_name()) else {
                has_changed.fetch_or(!folder.is_unchanged(), Ordering::Relaxed);
                continue;
            };
            if opened.as_ref().is_none_or(|(path, _)| *path != parent) {
                opened = openat(CWD, parent, flags, Mode::empty()).ok().map(|file| (parent, file));
            }
            let stamp = opened.as_ref().and_then(|(_, file)| FolderStamp::from_entry(file, name));
            if stamp.is_none() || stamp != folder.stamp {
                has_changed.store(true, Ordering::Relaxed);
            }
        }
    };
    let mut chunks = folders.chunks(chunk_size);
    let first = chunks.next().unwrap_or_default();
    std::thread::scope(|scope| {
        // If no thread can be started, this thread checks everything.
        for chunk in chunks {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || check_folders(chunk));
            if thread.is_err() {
                check_folders(chunk);
            }
        }
        check_folders(first);
    });
    !has_changed.into_inner()
}

/// Returns what is stored about one entry; `None` for a plain file or link.
fn examine_entry(
    path: &Path,
    metadata: &fs::Metadata,
    root: &Path,
    is_closed: &dyn Fn(&Path) -> bool,
) -> Option<ScannedEntry> {
    let kind = metadata.file_type();
    let is_sensitive = is_closed(path) || has_sensitive_end(path);
    if kind.is_symlink() {
        let target = is_sensitive.then(|| path.canonicalize().ok()).flatten();
        return target.filter(|target| target.starts_with(root)).map(ScannedEntry::LinkTo);
    }
    if kind.is_dir() {
        return match is_sensitive {
            // Open only for git, and only in part: see `open_git_paths`.
            true if path.parent() == Some(root) && path.file_name() == Some(OsStr::new(".git")) => None,
            true => Some(ScannedEntry::Withheld(Reason::Sensitive)),
            false => Some(ScannedEntry::Folder),
        };
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
        return Some(ScannedEntry::Withheld(Reason::NotAFile));
    }
    if metadata.nlink() > 1 {
        let inode = (metadata.dev(), metadata.ino());
        return Some(ScannedEntry::Several { inode, name_count: metadata.nlink(), is_sensitive });
    }
    is_sensitive.then_some(ScannedEntry::Withheld(Reason::Sensitive))
}

/// Returns whether a path is sensitive, given that its parent folder is not.
fn has_sensitive_end(path: &Path) -> bool {
    let start = path.components().count().saturating_sub(DECIDING_COMPONENTS);
    is_sensitive(path.components().skip(start).collect::<PathBuf>().as_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_components_decide_like_the_whole_path() {
        for path in [
            "/p/a/b/c/d/.env",
            "/p/a/.local/share/keyrings",
            "/p/a/b/.config/gh",
            "/p/x/.cargo/config.toml",
            "/p/a/b/c/d/main.rs",
            "/p/.cargo/other",
            "/p/a/Library/Keychains",
            "/p/a/b/c/d/e/server.PEM",
        ] {
            let path = Path::new(path);
            assert!(!is_sensitive(path.parent().unwrap()), "{}", path.display());
            assert_eq!(has_sensitive_end(path), is_sensitive(path), "{}", path.display());
        }
    }

    #[test]
    fn trusts_a_time_only_once_a_later_change_must_differ() {
        let now = SystemTime::now();
        let stamp = |age: i64| {
            let seconds = now.duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 - age;
            FolderStamp { inode: (1, 1), changed: (seconds, 0) }
        };
        assert!(stamp(10).is_settled(now));
        for age in [0, 1, -10, -100_000] {
            assert!(!stamp(age).is_settled(now), "{age}");
        }
    }
}
