//! Journal of the modes and times of folders during a merge, and functions that copy folder attributes.

use rustix::fs::{
    AtFlags, Gid, Mode, RawMode, Stat, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, chmodat, fchmod, fgetxattr,
    flistxattr, fremovexattr, fsetxattr, fstat, futimens, utimensat,
};
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// File name of the journal, next to the overlay's folders.
pub(super) const JOURNAL_FILE: &str = "merging-folders";
/// Prefix of the attributes that the kernel's overlay sets itself.
const OVERLAY_PREFIX: &[u8] = b"user.overlay.";

/// Mode and times of a folder after the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) mode: RawMode,
    modified: (i64, i64),
}

/// Attributes of folders by path relative to the project, in memory and on disk.
pub(super) struct Journal<'a> {
    layer: &'a Path,
    known: HashMap<PathBuf, Attributes>,
    /// Folders recorded by an interrupted merge, by parent folder.
    interrupted: HashMap<PathBuf, Vec<OsString>>,
}

impl<'a> Journal<'a> {
    /// Reads the journal of an interrupted merge, if any.
    pub(super) fn read_interrupted(layer: &'a Path) -> Self {
        let mut journal = Self { layer, known: HashMap::new(), interrupted: HashMap::new() };
        let bytes = fs::read(layer.join(JOURNAL_FILE)).unwrap_or_default();
        for (path, its) in bytes.split(|byte| *byte == 0).filter_map(parse_line) {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                journal.interrupted.entry(folder.to_owned()).or_default().push(name.to_owned());
            }
            journal.known.insert(path, its);
        }
        journal
    }

    pub(super) fn get_recorded(&self, path: &Path) -> Option<Attributes> {
        self.known.get(path).copied()
    }

    /// Returns the names of the subfolders that an interrupted merge recorded, once per folder.
    pub(super) fn take_recorded(&mut self, folder: &Path) -> Vec<OsString> {
        self.interrupted.remove(folder).unwrap_or_default()
    }

    /// Records the attributes of a folder. On a full disk this fails silently: the merge continues, and the attributes
    /// are lost only if it is interrupted.
    pub(super) fn record(&mut self, path: &Path, its: Attributes) {
        if self.known.insert(path.to_owned(), its).is_some() {
            return;
        }
        let (path, (seconds, part)) = (path.as_os_str().as_bytes(), its.modified);
        // A line truncated by a full disk ends at this first byte.
        let mut line = format!("\0{:o} {seconds} {part} {} ", its.mode, path.len()).into_bytes();
        line.extend(path);
        line.push(0);
        let file = File::options().create(true).append(true).open(self.layer.join(JOURNAL_FILE));
        let _ = file.and_then(|mut file| file.write_all(&line));
    }
}

/// Removes the journal of an earlier merge.
pub(in super::super) fn forget_journal(layer: &Path) -> io::Result<()> {
    match fs::remove_file(layer.join(JOURNAL_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Parses a line of the journal. `None` if it is truncated.
fn parse_line(line: &[u8]) -> Option<(PathBuf, Attributes)> {
    let mut words = line.splitn(5, |byte| *byte == b' ');
    let mut word = || std::str::from_utf8(words.next()?).ok();
    let mode = RawMode::from_str_radix(word()?, 8).ok()?;
    let mut number = || word()?.parse::<i64>().ok();
    let modified = (number()?, number()?);
    let length = usize::try_from(number()?).ok()?;
    let path = words.next()?;
    let its = Attributes { mode, modified };
    (path.len() == length).then(|| (OsString::from_vec(path.to_vec()).into(), its))
}

/// Gives `to` the owner, extended attributes, mode and times of another folder.
pub(super) fn copy_folder_attributes(
    from: Option<BorrowedFd<'_>>,
    to: BorrowedFd<'_>,
    about: &Stat,
    its: Attributes,
) -> io::Result<()> {
    let now = fstat(to)?;
    if let Some(from) = from {
        copy_extended_attributes(from, to);
    }
    if (now.st_uid, now.st_gid) != (about.st_uid, about.st_gid) {
        // An unprivileged user cannot change the owner and does not need to: the folder is already theirs.
        let (user, group) = (Uid::from_raw(about.st_uid), Gid::from_raw(about.st_gid));
        let _ = rustix::fs::fchown(to, Some(user), Some(group));
    }
    if read_attributes(&now).mode != its.mode || (now.st_uid, now.st_gid) != (about.st_uid, about.st_gid) {
        fchmod(to, Mode::from_raw_mode(its.mode))?;
    }
    Ok(futimens(to, &its.times())?)
}

/// Makes the extended attributes of two folders equal, as far as permitted, except those of the overlay.
fn copy_extended_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    let (new, old) = (list_extended_attributes(from), list_extended_attributes(to));
    for name in old.iter().filter(|name| !new.contains(name)) {
        let _ = fremovexattr(to, name.as_c_str());
    }
    for name in &new {
        let mut value = vec![0; 1 << 16];
        let Ok(length) = fgetxattr(from, name.as_c_str(), &mut value[..]) else { continue };
        let _ = fsetxattr(to, name.as_c_str(), &value[..length], XattrFlags::empty());
    }
}

fn list_extended_attributes(folder: BorrowedFd<'_>) -> Vec<CString> {
    let mut names = [0u8; 256];
    let names = match flistxattr(folder, &mut names[..]) {
        Ok(length) => names[..length].to_vec(),
        Err(_) => {
            let mut names = vec![0u8; 1 << 16];
            let length = flistxattr(folder, &mut names[..]).unwrap_or(0);
            names.truncate(length);
            names
        }
    };
    let names = names.split_inclusive(|byte| *byte == 0).filter(|name| !name.starts_with(OVERLAY_PREFIX));
    names.filter_map(|name| CStr::from_bytes_with_nul(name).ok().map(CStr::to_owned)).collect()
}

pub(super) fn read_attributes(about: &Stat) -> Attributes {
    Attributes { mode: (about.st_mode & 0o7777) as RawMode, modified: (about.st_mtime, about.st_mtime_nsec as i64) }
}

impl Attributes {
    fn times(self) -> Timestamps {
        Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: self.modified.0, tv_nsec: self.modified.1 as _ },
        }
    }
}

pub(super) fn restore_attributes(to: &OwnedFd, name: &OsStr, its: Attributes) -> io::Result<()> {
    utimensat(to, name, &its.times(), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(chmodat(to, name, Mode::from_raw_mode(its.mode), AtFlags::empty())?)
}
