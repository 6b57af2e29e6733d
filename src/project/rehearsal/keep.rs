//! Makes the changes of an overlay real by renaming: each of its entries moves into the project in one step, a new folder
//! with everything in it.
//!
//! What the project has at a path is compared with what the overlay was made over, and once more after it was moved out
//! of its place; if it differs, it is put back, and the change stays in the overlay. Otherwise it is kept in the folder
//! `replaced`. An entry that was moved is gone from the overlay, so repeating an interrupted run continues it. A note on
//! disk names the entry that is being moved.

mod baseline;
mod overlay_attributes;

pub use baseline::{Baseline, FileTime};

use super::merge::{
    FOLDER_FLAGS, OWNER_ACCESS, check_interruption, file_type, has_opaque_attribute, list_names, stat_entry,
};
use super::records::path_bytes;
use super::removal::ignore_missing;
use crate::text::escaped_path::escape_path;
use baseline::{LiveState, inode_of};
use overlay_attributes::strip_overlay_attributes;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, RawMode, RenameFlags, Stat, chmodat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Folder next to `upper` for what the kept changes replaced or removed, under numbers.
pub const REPLACED_FOLDER: &str = "replaced";
/// File with the note about the entry that is being moved.
const NOTE_FILE: &str = "moving";
/// Maximum depth of folders that exist both in the project and in the overlay. Each needs two open files.
const MAX_DEPTH: usize = 200;

/// Changes that were not made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unkept {
    /// Paths at which the project is no longer what the overlay was made over. Nothing was overwritten there.
    pub conflicts: Vec<PathBuf>,
    /// Changes that cannot be made, with the reason.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Unkept {
    /// Names each change that was not made, with the reason.
    pub fn describe_each(&self) -> Vec<String> {
        let conflicts = self.conflicts.iter().map(|path| format!("{} (changed meanwhile)", escape_path(path)));
        let left_out = self.left_out.iter().map(|(path, reason)| format!("{} ({reason})", escape_path(path)));
        conflicts.chain(left_out).collect()
    }
}

/// The entry that is being moved.
#[derive(Clone, Serialize, Deserialize)]
struct Note {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    /// Inode of the overlay's entry; that of a whiteout if the project's entry is only removed.
    inode: u64,
    /// Mode that the entry must have in the end.
    mode: RawMode,
    /// Number of the project's old entry in `replaced`.
    number: u64,
}

/// A folder that exists in the project and in the overlay.
struct Frame {
    path: PathBuf,
    /// The overlay's folder.
    source: OwnedFd,
    /// The project's folder.
    target: OwnedFd,
    /// Entries that are not moved yet; the last one is next.
    names: Vec<OsString>,
}

struct Keep<'a> {
    root: &'a Path,
    overlay_folder: &'a Path,
    baseline: &'a Baseline,
    replaced: OwnedFd,
    /// Number of the next entry in `replaced`.
    next_number: u64,
    /// Note of an interrupted run. The entry may have had another mode than it has now.
    interrupted: Option<Note>,
    unkept: Unkept,
}

/// Moves all changes in the overlay's folder `upper` into the project at `root`. Blocks. The caller holds the overlay's
/// lock.
///
/// # Errors
/// If the disk fails, or if the overlay is on another file system than the project. Calling it again continues.
pub fn keep_changes(root: &Path, overlay_folder: &Path, baseline: &Baseline) -> io::Result<Unkept> {
    let replaced = overlay_folder.join(REPLACED_FOLDER);
    fs::create_dir_all(&replaced)?;
    let numbers = fs::read_dir(&replaced)?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let next_number = numbers.max().map_or(0, |number: u64| number + 1);
    let replaced = openat(CWD, &replaced, FOLDER_FLAGS, Mode::empty())?;
    let note = fs::read(overlay_folder.join(NOTE_FILE)).ok();
    let interrupted = note.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let unkept = Unkept::default();
    let mut keep = Keep { root, overlay_folder, baseline, replaced, next_number, interrupted, unkept };
    let source = openat(CWD, overlay_folder.join(super::UPPER), FOLDER_FLAGS, Mode::empty())?;
    let target = openat(CWD, root, FOLDER_FLAGS, Mode::empty())?;
    keep.keep_tree(source, target)?;
    keep.unkept.conflicts.sort_unstable();
    Ok(keep.unkept)
}

impl Keep<'_> {
    fn keep_tree(&mut self, source: OwnedFd, target: OwnedFd) -> io::Result<()> {
        self.finish_interrupted(&source, &target)?;
        let mut frames = vec![Frame { path: PathBuf::new(), names: sorted_names(&source, None)?, source, target }];
        while let Some(frame) = frames.last_mut() {
            if let Some(name) = frame.names.pop() {
                match self.keep_entry(frame, &name)? {
                    Some(inner) if frames.len() < MAX_DEPTH => frames.push(inner),
                    Some(inner) => self.leave_out(inner.path, "it is nested too deeply"),
                    None => {}
                }
                continue;
            }
            let Some(frame) = frames.pop() else { break };
            if let (Some(parent), Some(name)) = (frames.last(), frame.path.file_name()) {
                self.finish_folder(parent, name, &frame)?;
            }
        }
        check_interruption()?;
        ignore_missing(fs::remove_file(self.overlay_folder.join(NOTE_FILE)))
    }

    /// Moves one entry. Returns the folder if it exists on both sides, so that its entries move one by one.
    fn keep_entry(&mut self, frame: &Frame, name: &OsStr) -> io::Result<Option<Frame>> {
        let Some(new) = stat_entry(&frame.source, name)? else { return Ok(None) };
        let path = frame.path.join(name);
        let expected = self.baseline.state(&path);
        let live = LiveState::read(&frame.target, Path::new(name))?;
        let is_whiteout = file_type(&new) == FileType::CharacterDevice && new.st_rdev == 0;
        match file_type(&new) {
            FileType::Directory if matches!(live, LiveState::Folder(_)) => {
                let source = openat(&frame.source, name, FOLDER_FLAGS, Mode::empty())?;
                if !has_opaque_attribute(&source)? {
                    if !matches!(expected, LiveState::Folder(_)) {
                        self.unkept.conflicts.push(path);
                        return Ok(None);
                    }
                    let target = openat(&frame.target, name, FOLDER_FLAGS, Mode::empty())?;
                    return Ok(Some(Frame { names: sorted_names(&source, Some(name))?, path, source, target }));
                }
            }
            FileType::Directory | FileType::RegularFile | FileType::Symlink => {}
            _ if is_whiteout => {}
            _ => {
                self.leave_out(path, "it is neither a file nor a folder nor a link");
                return Ok(None);
            }
        }
        if live != expected || !self.is_tree_unchanged(&path, &self.root.join(&path), live)? {
            self.unkept.conflicts.push(path);
            return Ok(None);
        }
        let moved = match live {
            _ if is_whiteout => self.remove_live(frame, name, path.clone(), live),
            LiveState::Nothing => self.move_new(frame, name, path.clone(), &new),
            LiveState::Folder(_) | LiveState::Entry(_) | LiveState::Unknown => {
                self.exchange(frame, name, path.clone(), &new)
            }
        };
        match moved.as_ref().map_err(Errno::from_io_error) {
            // The project changed in the meantime.
            Err(Some(Errno::EXIST | Errno::NOENT | Errno::STALE)) => self.unkept.conflicts.push(path),
            Err(Some(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS))) => {
                self.leave_out(path, &io::Error::from(errno).to_string());
            }
            Ok(()) | Err(_) => moved?,
        }
        Ok(None)
    }

    fn leave_out(&mut self, path: PathBuf, reason: &str) {
        self.unkept.left_out.push((path, reason.to_owned()));
    }

    /// Returns whether a folder of the project at `actual`, which was at `path` before, holds nothing but what the
    /// overlay was made over. True if `state` is not that of a folder.
    fn is_tree_unchanged(&self, path: &Path, actual: &Path, state: LiveState) -> io::Result<bool> {
        let mut folders = match state {
            LiveState::Folder(_) => vec![PathBuf::new()],
            LiveState::Nothing | LiveState::Entry(_) | LiveState::Unknown => Vec::new(),
        };
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(actual.join(&folder))? {
                let inner = folder.join(entry?.file_name());
                let state = LiveState::read(CWD, &actual.join(&inner))?;
                if state != self.baseline.state(&path.join(&inner)) {
                    return Ok(false);
                }
                if matches!(state, LiveState::Folder(_)) {
                    folders.push(inner);
                }
            }
        }
        Ok(true)
    }

    /// Moves an entry to a path at which the project has nothing.
    fn move_new(&mut self, frame: &Frame, name: &OsStr, path: PathBuf, new: &Stat) -> io::Result<()> {
        let note = self.prepare_move(frame, name, path, new)?;
        check_interruption()?;
        rename_new((&frame.source, name), (&frame.target, name))?;
        self.clean_moved(&frame.target, name, &note)
    }

    /// Moves an entry to a path at which the project has one.
    fn exchange(&mut self, frame: &Frame, name: &OsStr, path: PathBuf, new: &Stat) -> io::Result<()> {
        let note = self.prepare_move(frame, name, path, new)?;
        check_interruption()?;
        renameat_with(&frame.source, name, &frame.target, name, RenameFlags::EXCHANGE)?;
        self.clean_moved(&frame.target, name, &note)?;
        self.finish_exchange(&frame.source, &frame.target, name, &note)
    }

    /// Checks the project's old entry, which was exchanged with that of the overlay, and keeps it. If it changed, the
    /// two are exchanged again.
    fn finish_exchange(&mut self, source: &OwnedFd, target: &OwnedFd, name: &OsStr, note: &Note) -> io::Result<()> {
        let old = LiveState::read(source, Path::new(name))?;
        let actual = self.overlay_folder.join(super::UPPER).join(&note.path);
        let is_unchanged = self.baseline.state(&note.path).is_same_renamed(&old)
            && self.is_tree_unchanged(&note.path, &actual, old)?;
        check_interruption()?;
        if !is_unchanged {
            renameat_with(source, name, target, name, RenameFlags::EXCHANGE)?;
            return Err(Errno::STALE.into());
        }
        self.next_number = self.next_number.max(note.number + 1);
        Ok(renameat(source, name, &self.replaced, note.number.to_string())?)
    }

    /// Removes what the project has at a path, as a whiteout of the overlay demands, and the whiteout.
    fn remove_live(&mut self, frame: &Frame, name: &OsStr, path: PathBuf, live: LiveState) -> io::Result<()> {
        if live != LiveState::Nothing {
            let note = Note { path, inode: 0, mode: 0, number: self.next_number };
            self.write_note(&note)?;
            check_interruption()?;
            rename_new((&frame.target, name), (&self.replaced, OsStr::new(&note.number.to_string())))?;
            return self.finish_removal(&frame.source, &frame.target, name, &note);
        }
        check_interruption()?;
        Ok(unlinkat(&frame.source, name, AtFlags::empty())?)
    }

    /// Checks an entry that was moved out of the project, and removes the whiteout. If the entry changed, it is put back.
    fn finish_removal(&mut self, source: &OwnedFd, target: &OwnedFd, name: &OsStr, note: &Note) -> io::Result<()> {
        let number = note.number.to_string();
        let removed = LiveState::read(&self.replaced, Path::new(&number))?;
        let actual = self.overlay_folder.join(REPLACED_FOLDER).join(&number);
        let is_unchanged = self.baseline.state(&note.path).is_same_renamed(&removed)
            && self.is_tree_unchanged(&note.path, &actual, removed)?;
        check_interruption()?;
        if !is_unchanged {
            rename_new((&self.replaced, OsStr::new(&number)), (target, name))?;
            return Err(Errno::STALE.into());
        }
        self.next_number = self.next_number.max(note.number + 1);
        Ok(unlinkat(source, name, AtFlags::empty())?)
    }

    /// Sets the mode that a folder of the overlay has, and removes that folder if nothing is left in it.
    fn finish_folder(&mut self, parent: &Frame, name: &OsStr, frame: &Frame) -> io::Result<()> {
        let new = rustix::fs::fstat(&frame.source)?.st_mode & 0o7777;
        let live = rustix::fs::fstat(&frame.target)?.st_mode & 0o7777;
        if new != live && self.baseline.state(&frame.path) == LiveState::Folder(live as u32) {
            check_interruption()?;
            rustix::fs::fchmod(&frame.target, Mode::from_raw_mode(new))?;
        }
        check_interruption()?;
        match unlinkat(&parent.source, name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Notes that an entry is moved, and gives the owner access to a folder.
    fn prepare_move(&mut self, frame: &Frame, name: &OsStr, path: PathBuf, new: &Stat) -> io::Result<Note> {
        let inode = inode_of(new);
        let earlier = self.interrupted.take_if(|note| note.path == path && note.inode == inode);
        let mode = earlier.map_or(new.st_mode & 0o7777, |note| note.mode);
        let note = Note { path, inode, mode, number: self.next_number };
        self.write_note(&note)?;
        if file_type(new) == FileType::Directory && new.st_mode & OWNER_ACCESS != OWNER_ACCESS {
            check_interruption()?;
            chmodat(&frame.source, name, Mode::from_raw_mode(note.mode | OWNER_ACCESS), AtFlags::empty())?;
        }
        Ok(note)
    }

    /// Removes the overlay's attributes from an entry that was moved into the project, and restores its mode.
    fn clean_moved(&self, target: &OwnedFd, name: &OsStr, note: &Note) -> io::Result<()> {
        check_interruption()?;
        strip_overlay_attributes(&self.root.join(&note.path))?;
        let Some(moved) = stat_entry(target, name)? else { return Ok(()) };
        if file_type(&moved) != FileType::Directory || moved.st_mode & 0o7777 == note.mode {
            return Ok(());
        }
        check_interruption()?;
        Ok(chmodat(target, name, Mode::from_raw_mode(note.mode), AtFlags::empty())?)
    }

    fn write_note(&self, note: &Note) -> io::Result<()> {
        check_interruption()?;
        let (file, new_file) = (self.overlay_folder.join(NOTE_FILE), self.overlay_folder.join("moving-new"));
        fs::write(&new_file, serde_json::to_vec(note)?)?;
        fs::rename(new_file, file)
    }

    /// Finishes the move that an interrupted run had begun.
    fn finish_interrupted(&mut self, source: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
        let Some(note) = self.interrupted.clone() else { return Ok(()) };
        let (Some(folder), Some(name)) = (note.path.parent(), note.path.file_name()) else { return Ok(()) };
        let (Ok(source), Ok(target)) = (open_below(source, folder), open_below(target, folder)) else {
            return Ok(());
        };
        let (old, new) = (stat_entry(&source, name)?, stat_entry(&target, name)?);
        let has_removed = stat_entry(&self.replaced, OsStr::new(&note.number.to_string()))?.is_some();
        let finished = match new {
            None if note.inode == 0 && has_removed && old.is_some() => {
                self.finish_removal(&source, &target, name, &note)
            }
            Some(new) if note.inode != 0 && inode_of(&new) == note.inode => {
                self.clean_moved(&target, name, &note)?;
                if old.is_some() { self.finish_exchange(&source, &target, name, &note) } else { Ok(()) }
            }
            Some(_) | None => Ok(()),
        };
        match finished {
            // The walk over the overlay reports the conflict.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::STALE) => Ok(()),
            finished => finished,
        }
    }
}

/// Opens a folder below an open one without following links.
fn open_below(folder: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut opened = openat(folder, ".", FOLDER_FLAGS, Mode::empty())?;
    for name in path {
        opened = openat(&opened, name, FOLDER_FLAGS, Mode::empty())?;
    }
    Ok(opened)
}

/// Renames an entry to a name that nothing has.
fn rename_new(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> io::Result<()> {
    Ok(renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)?)
}

/// Lists the entries of a folder, the first one to move last. In git's folder, what refers to objects comes after them,
/// so that an interrupted run leaves no reference to a missing object.
fn sorted_names(folder: &OwnedFd, folder_name: Option<&OsStr>) -> io::Result<Vec<OsString>> {
    let mut names = list_names(folder)?;
    let is_git = folder_name.is_some_and(|name| name == ".git");
    let order = |name: &OsString| match name.to_str() {
        Some("objects") if is_git => 0,
        Some("refs" | "packed-refs") if is_git => 2,
        Some("HEAD" | "index") if is_git => 3,
        _ => 1,
    };
    names.sort_unstable_by(|one, other| (order(other), other).cmp(&(order(one), one)));
    Ok(names)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
