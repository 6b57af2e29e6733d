//! Records what keeping a trial changes, before it is kept.

use super::call_recorder::{CallRecorder, StoreContent, new_id};
use super::change_log::PathChange;
use super::path_state::{FileContent, FileState, PathState};
use crate::chat::{Digest, pluralize};
use crate::project::rehearsal::{FileNode, OverlayEntry, UPPER, read_entries, read_node};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Number of new files whose content is read, so that the same content written again later is recognised.
const MAX_HASHED: usize = 64;
/// Size of the largest such file in bytes.
const MAX_HASHED_BYTES: u64 = 256 << 10;

/// Records what keeping the trial in `overlay_folder` changes. `is_ignored` tells whether git ignores a path that is a
/// folder or not; such files are counted only. Blocks while the previous contents are read.
pub fn record_kept(recorder: &CallRecorder, overlay_folder: &Path, is_ignored: &mut dyn FnMut(&Path, bool) -> bool) {
    let Some((checkpoints, root)) = recorder.target() else { return };
    let result = checkpoints.append(root, |store| {
        let mut lister = KeptLister {
            root,
            upper: overlay_folder.join(UPPER),
            is_ignored,
            store,
            bytes_left: checkpoints.limit(),
            paths: Vec::new(),
            hashed: 0,
            ignored: 0,
            has_repository: false,
        };
        lister.list_upper()?;
        let KeptLister { paths, ignored, has_repository, .. } = lister;
        let ignored = (ignored > 0).then(|| format!("{} ignored by git", pluralize(ignored, "change")));
        let repository = has_repository.then(|| "commits and other changes in .git".to_owned());
        let line = recorder.new_line(new_id(), paths, ignored.into_iter().chain(repository).collect());
        line.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    });
    if let Err(error) = result {
        recorder.keep_failure(&error);
    }
}

struct KeptLister<'a> {
    root: &'a Path,
    upper: PathBuf,
    is_ignored: &'a mut dyn FnMut(&Path, bool) -> bool,
    store: StoreContent<'a>,
    /// Bytes that may still be stored.
    bytes_left: u64,
    paths: Vec<PathChange>,
    hashed: usize,
    ignored: usize,
    has_repository: bool,
}

impl KeptLister<'_> {
    fn list_upper(&mut self) -> io::Result<()> {
        // Each folder with true if the project's content is visible through it.
        let mut folders = vec![(PathBuf::new(), true)];
        while let Some((folder, shows_project)) = folders.pop() {
            for (name, entry) in read_entries(&self.upper.join(&folder))? {
                let path = folder.join(&name);
                let live = self.root.join(&path).symlink_metadata().ok().filter(|_| shows_project);
                let is_live_folder = live.as_ref().is_some_and(Metadata::is_dir);
                let entry = entry?;
                let is_folder = is_live_folder || matches!(entry, OverlayEntry::Folder { .. });
                if self.is_left_out(&path, &name, is_folder) {
                    continue;
                }
                let after = match &entry {
                    OverlayEntry::Absent => continue,
                    OverlayEntry::Deleted => PathState::Nothing,
                    OverlayEntry::Folder { meta, .. } | OverlayEntry::Other(meta) => self.new_state(&path, meta),
                };
                let is_merged = match entry {
                    OverlayEntry::Folder { hides_project, .. } if is_live_folder => !hides_project?,
                    _ => false,
                };
                match live {
                    Some(_) if is_live_folder && !is_merged => {
                        self.list_removed(path.clone())?;
                        self.push(path.clone(), PathState::Nothing, after.clone());
                    }
                    Some(live) => {
                        let before = self.old_state(&path, &live)?;
                        self.push(path.clone(), before, after.clone());
                    }
                    None => self.push(path.clone(), PathState::Nothing, after.clone()),
                }
                if after.is_folder() {
                    folders.push((path, is_merged));
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, path: PathBuf, before: PathState, after: PathState) {
        if before != after {
            self.paths.push(PathChange::new(path, before, after));
        }
    }

    /// Counts a path that is not recorded: one that git ignores, or in a repository's own folder.
    fn is_left_out(&mut self, path: &Path, name: &OsStr, is_folder: bool) -> bool {
        if name == OsStr::new(".git") {
            self.has_repository = true;
            return true;
        }
        let is_ignored = (self.is_ignored)(path, is_folder);
        self.ignored += usize::from(is_ignored);
        is_ignored
    }

    /// Lists a folder of the project that is removed with everything in it.
    fn list_removed(&mut self, folder: PathBuf) -> io::Result<()> {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            let real = self.root.join(&folder);
            let before = self.old_state(&folder, &real.symlink_metadata()?)?;
            self.push(folder.clone(), before, PathState::Nothing);
            for entry in fs::read_dir(&real)? {
                let entry = entry?;
                let (path, metadata) = (folder.join(entry.file_name()), entry.metadata()?);
                if self.is_left_out(&path, &entry.file_name(), metadata.is_dir()) {
                    continue;
                }
                if metadata.is_dir() {
                    folders.push(path);
                } else {
                    let before = self.old_state(&path, &metadata)?;
                    self.push(path, before, PathState::Nothing);
                }
            }
        }
        Ok(())
    }

    /// Returns the state of a path of the project, and stores the content of a file.
    fn old_state(&mut self, path: &Path, metadata: &Metadata) -> io::Result<PathState> {
        let real = self.root.join(path);
        let state = PathState::from_metadata(&real, metadata);
        let PathState::File(file) = state else { return Ok(state) };
        store_file(&real, metadata, file, &mut self.bytes_left, self.store)
    }

    /// Returns the state that a path gets. The content of a file is read only if that is cheap.
    fn new_state(&mut self, path: &Path, metadata: &Metadata) -> PathState {
        let real = self.upper.join(path);
        let PathState::File(file) = PathState::from_metadata(&real, metadata) else {
            return PathState::from_metadata(&real, metadata);
        };
        let is_cheap = self.hashed < MAX_HASHED && metadata.len() <= MAX_HASHED_BYTES;
        self.hashed += usize::from(is_cheap);
        let bytes = if is_cheap { fs::read(&real).ok() } else { None };
        PathState::File(FileState { sha256: bytes.map(|bytes| Digest::of_bytes(&bytes)), ..file })
    }
}

/// Stores the content of a file. Returns its state: with the reason if the content cannot be stored.
pub(super) fn store_file(
    real: &Path,
    metadata: &Metadata,
    file: FileState,
    bytes_left: &mut u64,
    store: StoreContent<'_>,
) -> io::Result<PathState> {
    let missing = |reason: String| PathState::File(FileState { content: FileContent::Missing(reason), ..file.clone() });
    if let Some(reason) = PathState::size_problem(metadata) {
        return Ok(missing(reason));
    }
    let Some(left) = bytes_left.checked_sub(metadata.len()) else {
        return Ok(missing("the files of its call exceed undo.max_mb".to_owned()));
    };
    *bytes_left = left;
    match read_node(real) {
        FileNode::File { bytes, .. } => {
            Ok(PathState::File(FileState { sha256: Some(store(&bytes)?), content: FileContent::Object, ..file }))
        }
        FileNode::Other(what) => Ok(missing(format!("it was {what}"))),
        FileNode::Nothing | FileNode::Folder { .. } | FileNode::Link(_) => {
            Ok(missing("it changed while it was read".to_owned()))
        }
    }
}
