//! Changes of a rehearsal: every path that differs from the project, with its content before and after.

use super::file_node::{FileNode, read_node};
use super::overlay::{self, ContentSource, OverlayEntry, Trail};
use super::{Error, Fingerprint, ROOT_PATH, Reader, Rehearsal};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: PathBuf,
    /// Current content in the project.
    pub before: FileNode,
    /// Content in the dry run.
    pub after: FileNode,
}

impl Change {
    /// Returns whether the dry run creates a folder here, where nothing existed.
    pub fn is_new_folder(&self) -> bool {
        self.before == FileNode::Nothing && self.after.is_folder()
    }
}

impl Rehearsal {
    /// Returns all changes sorted by path, so that a folder comes before its entries. Changes without effect are
    /// omitted. This loads all files at once; use `overlay_paths` and `change_at` to go one by one.
    pub fn list_changes(&self) -> Result<Vec<Change>, Error> {
        // A command that was killed may have left unrecorded changes.
        let _ = self.record_origins();
        let mut changes = Vec::new();
        let mut trail = Trail::default();
        for path in self.overlay_paths()? {
            changes.extend(self.change_with_trail(&path, &mut trail)?);
        }
        Ok(changes)
    }

    /// Returns every path that has an entry in the overlay, relative to the project and sorted. The project's own
    /// folder is `.`. Some of these paths may be unchanged. If a command made a folder unreadable, the folder is
    /// listed instead of its content.
    ///
    /// # Errors
    /// If the overlay's disk fails.
    pub fn overlay_paths(&self) -> Result<Vec<PathBuf>, Error> {
        let mut paths: Vec<PathBuf> = self.collect_overlay_paths()?.into_iter().collect();
        paths.sort_unstable();
        Ok(paths)
    }

    /// Like `overlay_paths`, unsorted.
    pub(super) fn collect_overlay_paths(&self) -> Result<HashSet<PathBuf>, Error> {
        self.merge_pending().map_err(|error| Error::in_overlay(Path::new(ROOT_PATH), error))?;
        let mut paths = self.collect_paths_in(&self.upper)?;
        if self.origin(Path::new(ROOT_PATH)).is_some() {
            paths.insert(PathBuf::from(ROOT_PATH));
        }
        Ok(paths)
    }

    /// Collects the paths of all entries in `upper`: the folder of all changes, or that of a command's unmerged
    /// changes.
    pub(super) fn collect_paths_in(&self, upper: &Path) -> Result<HashSet<PathBuf>, Error> {
        let mut paths = HashSet::new();
        // Folders still to be read, each with true if the overlay hides the project's content of it.
        let mut folders = vec![(PathBuf::new(), false)];
        while let Some((folder, is_hidden)) = folders.pop() {
            let entries = match overlay::read_entries(&upper.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if !is_inaccessible(&error) => return Err(Error::in_overlay(&folder, error)),
                Err(_) => {
                    let unreadable = if folder.as_os_str().is_empty() { Path::new(ROOT_PATH) } else { &folder };
                    paths.insert(unreadable.to_owned());
                    continue;
                }
            };
            let is_in_project = self.has_live_folder(&folder);
            if is_hidden && is_in_project {
                let names: HashSet<&OsString> = entries.iter().map(|(name, _)| name).collect();
                for name in list_entries(&self.root().join(&folder)).iter().filter(|name| !names.contains(name)) {
                    self.add_paths_below(folder.join(name), is_in_project, &mut paths);
                }
            }
            for (name, entry) in entries {
                let path = folder.join(name);
                match entry {
                    Ok(OverlayEntry::Absent) => {}
                    Err(error) if !is_inaccessible(&error) => return Err(Error::in_overlay(&path, error)),
                    Err(_) => drop(paths.insert(path)),
                    Ok(OverlayEntry::Deleted | OverlayEntry::Other(_)) => {
                        self.add_paths_below(path, is_in_project, &mut paths)
                    }
                    Ok(OverlayEntry::Folder { hides_project, .. }) => {
                        paths.insert(path.clone());
                        folders.push((path, is_hidden || matches!(hides_project, Ok(true))));
                    }
                }
            }
        }
        Ok(paths)
    }

    /// Returns the change at one path, if any.
    ///
    /// # Errors
    /// If the overlay's disk fails.
    pub fn change_at(&self, path: &Path) -> Result<Option<Change>, Error> {
        self.change_with_trail(path, &mut Trail::default())
    }

    /// Like `change_at`, for one of many paths in sorted order: each folder on the way is read only once.
    ///
    /// # Errors
    /// If the overlay's disk fails.
    pub fn change_with_trail(&self, path: &Path, trail: &mut Trail) -> Result<Option<Change>, Error> {
        self.merge_pending().map_err(|error| Error::in_overlay(path, error))?;
        let (overlay_path, after) = match overlay::find_source_with_trail(&self.upper, self.root(), path, trail) {
            Ok(ContentSource { overlay_entry: Some((entry_path, _)), .. }) => {
                (Some(entry_path.clone()), read_node(&entry_path))
            }
            Ok(ContentSource { overlay_entry: None, shows_project: true }) => return Ok(None),
            Ok(ContentSource { overlay_entry: None, shows_project: false }) => (None, FileNode::Nothing),
            Err(error) if !is_inaccessible(&error) => return Err(Error::in_overlay(path, error)),
            Err(error) => (None, FileNode::Other(format!("something unreadable ({error})"))),
        };
        let before = self.live_node(path);
        let is_unchanged = match (&before, &after, &overlay_path) {
            (FileNode::Other(old_kind), FileNode::Other(new_kind), Some(overlay_file)) => {
                old_kind == new_kind && same_bytes(&self.root().join(path), overlay_file)
            }
            (before, after, _) => before == after || self.is_original(path, after),
        };
        Ok((!is_unchanged).then(|| Change { path: path.to_owned(), before, after }))
    }

    /// Returns whether the overlay holds the project's original content and nothing was applied at this path since. In
    /// that case the rehearsal changed nothing, even if the project changed meanwhile.
    fn is_original(&self, path: &Path, after: &FileNode) -> bool {
        let after = Fingerprint::from_node(after);
        self.origin(path).is_some_and(|origin| origin == after) && !self.was_applied(path)
    }

    /// Adds a path and, if its folder exists in the project (`is_in_project`), all paths that the project has below it.
    fn add_paths_below(&self, path: PathBuf, is_in_project: bool, paths: &mut HashSet<PathBuf>) {
        let mut pending = vec![path];
        while let Some(path) = pending.pop() {
            let real = self.root().join(&path);
            if is_in_project && real.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                pending.extend(list_entries(&real).into_iter().map(|name| path.join(name)));
            }
            paths.insert(path);
        }
    }
}

/// Returns whether the error concerns this path only (no permission, or path too long). Any other error is a failure of
/// the disk.
fn is_inaccessible(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied || Errno::from_io_error(error) == Some(Errno::NAMETOOLONG)
}

fn list_entries(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// Returns whether two files that are too large to be read whole have the same content. True if one of them is not a
/// regular file: the caller has already compared their descriptions.
fn same_bytes(first: &Path, second: &Path) -> bool {
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if !is_file(first) || !is_file(second) {
        return true;
    }
    let compare = || -> std::io::Result<bool> {
        let (mut first_file, mut second_file) = (File::open(first)?, File::open(second)?);
        let (mut first_part, mut second_part) = (Vec::new(), Vec::new());
        loop {
            first_part.clear();
            second_part.clear();
            (&mut first_file).take(1 << 20).read_to_end(&mut first_part)?;
            (&mut second_file).take(1 << 20).read_to_end(&mut second_part)?;
            if first_part != second_part || first_part.is_empty() {
                return Ok(first_part == second_part);
            }
        }
    };
    compare().unwrap_or(false)
}
