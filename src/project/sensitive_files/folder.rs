//! One folder of a project: what in it matters, and whether it changed since it was read.

use super::Reason;
use crate::chat::sensitive::sensitive;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two changes that are less apart may carry the same time: some systems keep seconds.
const COARSE: Duration = Duration::from_millis(2100);
/// Threads that look at folders, and how many folders are worth one.
const THREADS: usize = 4;
const PART: usize = 500;
/// Names at the end of a path that decide whether it is sensitive, where nothing above is.
const DECIDING: usize = 4;

/// Something in a folder that matters. Plain files and links are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A folder to be looked through.
    Folder,
    /// A file or folder that is withheld by itself.
    Withheld(Reason),
    /// A link with a sensitive name to this file or folder of the project.
    LinkTo(PathBuf),
    /// A file with several names.
    Several {
        /// Its device and number.
        inode: (u64, u64),
        /// How many names it has.
        names: u64,
        /// Whether this name is sensitive.
        sensitive: bool,
    },
}

/// Tells a folder apart from another one, and from itself after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
        Some(Self { inode: (about.dev(), about.ino()), changed: (about.ctime(), about.ctime_nsec()) })
    }

    /// The same for a name in a folder.
    fn within(folder: &OwnedFd, name: &OsStr) -> Option<Self> {
        let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(about.st_mode) == FileType::Directory;
        // The types of these fields are not the same on every system.
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
        let (inode, changed) =
            ((about.st_dev as u64, about.st_ino as u64), (about.st_ctime as i64, about.st_ctime_nsec as i64));
        is_folder.then_some(Self { inode, changed })
    }

    /// Whether a later change must carry another time.
    fn is_settled(&self, now: SystemTime) -> bool {
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(self.changed.0), u32::try_from(self.changed.1)) else {
            return false;
        };
        let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
        now.duration_since(changed).is_ok_and(|age| age > COARSE)
    }
}

/// A folder as it was last read.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Why all of it is withheld.
    pub(super) closed: Option<Reason>,
    /// What is in it that matters, sorted by name.
    pub(super) entries: Vec<(OsString, Entry)>,
    /// Everything in it.
    pub(super) count: usize,
    /// `None` if it has to be read every time.
    stamp: Option<Stamp>,
}

impl Folder {
    /// One that is withheld as a whole, and not read.
    pub(super) fn withheld(path: PathBuf, reason: Reason) -> Self {
        let stamp = Stamp::of(&path);
        Self { path, closed: Some(reason), entries: Vec::new(), count: 0, stamp }
    }

    /// Reads it. `is_closed` says which paths are withheld whatever they are called.
    pub(super) fn read(path: PathBuf, root: &Path, is_closed: &dyn Fn(&Path) -> bool) -> Self {
        let now = SystemTime::now();
        let stamp = Stamp::of(&path);
        let settled = stamp.filter(|stamp| stamp.is_settled(now) && keeps_times(&path));
        let mut folder = Self { path, closed: None, entries: Vec::new(), count: 0, stamp: settled };
        let Ok(held) = fs::read_dir(&folder.path) else {
            // What cannot be listed cannot be known.
            folder.closed = Some(Reason::NotExamined);
            return folder;
        };
        for entry in held {
            folder.count += 1;
            match entry.and_then(|entry| Ok((entry.file_name(), fs::symlink_metadata(entry.path())?))) {
                Ok((name, about)) => {
                    if let Some(entry) = examine(&folder.path.join(&name), &about, root, is_closed) {
                        folder.entries.push((name, entry));
                    }
                }
                // It went away meanwhile; it is read again next time.
                Err(_) => folder.stamp = None,
            }
        }
        folder.entries.sort_by(|one, other| one.0.cmp(&other.0));
        folder
    }

    /// Reads it once more, whatever its time says.
    pub(super) fn read_again(&mut self, root: &Path, is_closed: &dyn Fn(&Path) -> bool) {
        if self.closed.is_none() {
            *self = Self::read(std::mem::take(&mut self.path), root, is_closed);
        }
    }

    /// Whether it is the same folder, and nothing was made, renamed, linked or removed in it since it was read.
    pub(super) fn is_unchanged(&self) -> bool {
        self.stamp.is_some() && Stamp::of(&self.path) == self.stamp
    }

    /// Whether the same matters in both.
    pub(super) fn holds_the_same(&self, other: &Self) -> bool {
        self.path == other.path && self.closed == other.closed && self.entries == other.entries
    }

    /// The names of its folders.
    pub(super) fn folders(&self) -> impl Iterator<Item = &OsStr> {
        self.entries.iter().filter(|(_, entry)| *entry == Entry::Folder).map(|(name, _)| name.as_os_str())
    }
}

/// Whether all of these are unchanged. Looks at them from several threads, and opens a folder once for all that are in it.
pub(super) fn are_unchanged(folders: &[Folder]) -> bool {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let part = folders.len().div_ceil(threads).max(PART);
    let has_changed = AtomicBool::new(false);
    let look = &|folders: &[Folder]| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut opened: Option<(&Path, OwnedFd)> = None;
        for folder in folders {
            if has_changed.load(Ordering::Relaxed) {
                return;
            }
            let (Some(above), Some(name)) = (folder.path.parent(), folder.path.file_name()) else {
                has_changed.fetch_or(!folder.is_unchanged(), Ordering::Relaxed);
                continue;
            };
            if opened.as_ref().is_none_or(|(path, _)| *path != above) {
                opened = openat(CWD, above, flags, Mode::empty()).ok().map(|file| (above, file));
            }
            let stamp = opened.as_ref().and_then(|(_, file)| Stamp::within(file, name));
            if stamp.is_none() || stamp != folder.stamp {
                has_changed.store(true, Ordering::Relaxed);
            }
        }
    };
    let mut parts = folders.chunks(part);
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        // Where no thread can be made this one looks at all.
        for part in parts {
            let other = std::thread::Builder::new().spawn_scoped(scope, move || look(part));
            if other.is_err() {
                look(part);
            }
        }
        look(first);
    });
    !has_changed.into_inner()
}

/// What is to be known of one entry.
fn examine(
    path: &Path,
    about: &fs::Metadata,
    root: &Path,
    is_closed: &dyn Fn(&Path) -> bool,
) -> Option<Entry> {
    let kind = about.file_type();
    let is_sensitive = is_closed(path) || is_sensitive(path);
    if kind.is_symlink() {
        let to = is_sensitive.then(|| path.canonicalize().ok()).flatten();
        return to.filter(|to| to.starts_with(root)).map(Entry::LinkTo);
    }
    if kind.is_dir() {
        return match is_sensitive {
            // Only git opens it, and only what git needs of it.
            true if path.parent() == Some(root) && path.file_name() == Some(OsStr::new(".git")) => None,
            true => Some(Entry::Withheld(Reason::Sensitive)),
            false => Some(Entry::Folder),
        };
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
        return Some(Entry::Withheld(Reason::NotAFile));
    }
    if about.nlink() > 1 {
        let inode = (about.dev(), about.ino());
        return Some(Entry::Several { inode, names: about.nlink(), sensitive: is_sensitive });
    }
    is_sensitive.then_some(Entry::Withheld(Reason::Sensitive))
}

/// Whether a path is sensitive, of which the folder above is not.
fn is_sensitive(path: &Path) -> bool {
    let from = path.components().count().saturating_sub(DECIDING);
    sensitive(path.components().skip(from).collect::<PathBuf>().as_path())
}

/// Whether the file system sets the time of a folder's last change by itself, at every change of its names.
#[cfg(target_os = "linux")]
fn keeps_times(path: &Path) -> bool {
    /// ext, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS and bcachefs. Others may be changed from another machine, or keep no such
    /// time.
    const KNOWN: [u64; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];
    let Ok(about) = rustix::fs::statfs(path) else { return false };
    u64::try_from(about.f_type).is_ok_and(|kind| KNOWN.contains(&(kind & 0xFFFF_FFFF)))
}

#[cfg(not(target_os = "linux"))]
fn keeps_times(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_names_of_a_path_decide_as_all_of_it_does() {
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
            assert!(!sensitive(path.parent().unwrap()), "{}", path.display());
            assert_eq!(is_sensitive(path), sensitive(path), "{}", path.display());
        }
    }

    #[test]
    fn trusts_a_time_only_once_a_later_change_must_differ() {
        let now = SystemTime::now();
        let stamp = |age: i64| {
            let seconds = now.duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 - age;
            Stamp { inode: (1, 1), changed: (seconds, 0) }
        };
        assert!(stamp(10).is_settled(now));
        for age in [0, 1, -10, -100_000] {
            assert!(!stamp(age).is_settled(now), "{age}");
        }
    }
}
