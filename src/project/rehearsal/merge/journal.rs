//! Journal of the modes and times of folders during a merge, and functions that copy folder attributes.

use super::super::removal::ignore_missing;
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
/// Maximum size of the value of an extended attribute, and of the list of names, in bytes. Both are limits of Linux.
const MAX_XATTR_BYTES: usize = 1 << 16;

/// Mode and modification time that a folder had after the command whose changes are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) mode: RawMode,
    /// Modification time: seconds and nanoseconds.
    modified: (i64, i64),
}

/// Attributes of folders by path relative to the project, in memory and on disk.
pub(super) struct Journal<'a> {
    overlay_folder: &'a Path,
    recorded: HashMap<PathBuf, Attributes>,
    /// Folders recorded by an interrupted merge, by parent folder.
    interrupted: HashMap<PathBuf, Vec<OsString>>,
}

impl<'a> Journal<'a> {
    /// Reads the journal of an interrupted merge, if any.
    pub(super) fn read_interrupted(overlay_folder: &'a Path) -> Self {
        let mut journal = Self { overlay_folder, recorded: HashMap::new(), interrupted: HashMap::new() };
        let bytes = fs::read(overlay_folder.join(JOURNAL_FILE)).unwrap_or_default();
        for (path, attributes) in bytes.split(|byte| *byte == 0).filter_map(parse_line) {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                journal.interrupted.entry(folder.to_owned()).or_default().push(name.to_owned());
            }
            journal.recorded.insert(path, attributes);
        }
        journal
    }

    pub(super) fn get_recorded(&self, path: &Path) -> Option<Attributes> {
        self.recorded.get(path).copied()
    }

    /// Returns the names of the subfolders of `folder` that an interrupted merge recorded. Later calls for the same
    /// folder return none.
    pub(super) fn take_interrupted_names(&mut self, folder: &Path) -> Vec<OsString> {
        self.interrupted.remove(folder).unwrap_or_default()
    }

    /// Records the attributes of a folder. On a full disk this fails silently: the merge continues, and the attributes
    /// are lost only if it is interrupted.
    pub(super) fn record(&mut self, path: &Path, attributes: Attributes) {
        if self.recorded.insert(path.to_owned(), attributes).is_some() {
            return;
        }
        let (path, (seconds, nanoseconds)) = (path.as_os_str().as_bytes(), attributes.modified);
        // The first byte ends the previous line, which a full disk may have truncated.
        let mut line = format!("\0{:o} {seconds} {nanoseconds} {} ", attributes.mode, path.len()).into_bytes();
        line.extend(path);
        line.push(0);
        let file = File::options().create(true).append(true).open(self.overlay_folder.join(JOURNAL_FILE));
        let _ = file.and_then(|mut file| file.write_all(&line));
    }
}

/// Removes the journal, if any.
pub(in super::super) fn forget_journal(overlay_folder: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_file(overlay_folder.join(JOURNAL_FILE)))
}

/// Parses a line of the journal. `None` if it is truncated.
fn parse_line(line: &[u8]) -> Option<(PathBuf, Attributes)> {
    let mut fields = line.splitn(5, |byte| *byte == b' ');
    let mut next_field = || std::str::from_utf8(fields.next()?).ok();
    let mode = RawMode::from_str_radix(next_field()?, 8).ok()?;
    let mut next_number = || next_field()?.parse::<i64>().ok();
    let modified = (next_number()?, next_number()?);
    let length = usize::try_from(next_number()?).ok()?;
    let path = fields.next()?;
    let attributes = Attributes { mode, modified };
    (path.len() == length).then(|| (OsString::from_vec(path.to_vec()).into(), attributes))
}

/// Gives `target` the extended attributes of `source`, if given, the owner in `metadata`, and the mode and times in
/// `attributes`.
pub(super) fn copy_folder_attributes(
    source: Option<BorrowedFd<'_>>,
    target: BorrowedFd<'_>,
    metadata: &Stat,
    attributes: Attributes,
) -> io::Result<()> {
    let current = fstat(target)?;
    if let Some(source) = source {
        copy_extended_attributes(source, target);
    }
    if (current.st_uid, current.st_gid) != (metadata.st_uid, metadata.st_gid) {
        // An unprivileged user cannot change the owner and does not need to: the folder is already theirs.
        let (user, group) = (Uid::from_raw(metadata.st_uid), Gid::from_raw(metadata.st_gid));
        let _ = rustix::fs::fchown(target, Some(user), Some(group));
    }
    // A change of the owner may clear bits of the mode.
    if read_attributes(&current).mode != attributes.mode
        || (current.st_uid, current.st_gid) != (metadata.st_uid, metadata.st_gid)
    {
        fchmod(target, Mode::from_raw_mode(attributes.mode))?;
    }
    Ok(futimens(target, &attributes.times())?)
}

/// Makes the extended attributes of two folders equal, as far as permitted, except those of the overlay.
fn copy_extended_attributes(source: BorrowedFd<'_>, target: BorrowedFd<'_>) {
    let (new, old) = (list_extended_attributes(source), list_extended_attributes(target));
    for name in old.iter().filter(|name| !new.contains(name)) {
        let _ = fremovexattr(target, name.as_c_str());
    }
    for name in &new {
        let mut value = vec![0; MAX_XATTR_BYTES];
        let Ok(length) = fgetxattr(source, name.as_c_str(), &mut value[..]) else { continue };
        let _ = fsetxattr(target, name.as_c_str(), &value[..length], XattrFlags::empty());
    }
}

fn list_extended_attributes(folder: BorrowedFd<'_>) -> Vec<CString> {
    let mut names = [0u8; 256];
    let names = match flistxattr(folder, &mut names[..]) {
        Ok(length) => names[..length].to_vec(),
        Err(_) => {
            let mut names = vec![0u8; MAX_XATTR_BYTES];
            let length = flistxattr(folder, &mut names[..]).unwrap_or(0);
            names.truncate(length);
            names
        }
    };
    let names = names.split_inclusive(|byte| *byte == 0).filter(|name| !name.starts_with(OVERLAY_PREFIX));
    names.filter_map(|name| CStr::from_bytes_with_nul(name).ok().map(CStr::to_owned)).collect()
}

pub(super) fn read_attributes(metadata: &Stat) -> Attributes {
    Attributes {
        mode: (metadata.st_mode & 0o7777) as RawMode,
        modified: (metadata.st_mtime, metadata.st_mtime_nsec as i64),
    }
}

impl Attributes {
    fn times(self) -> Timestamps {
        Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: self.modified.0, tv_nsec: self.modified.1 as _ },
        }
    }
}

pub(super) fn restore_attributes(folder: &OwnedFd, name: &OsStr, attributes: Attributes) -> io::Result<()> {
    utimensat(folder, name, &attributes.times(), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(chmodat(folder, name, Mode::from_raw_mode(attributes.mode), AtFlags::empty())?)
}
