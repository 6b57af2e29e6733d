//! The overlay of a dry run: writes go to the overlay, and later reads see them. The project itself is only read.
//!
//! The overlay has the on-disk format of the kernel's overlay file system, so that commands and file tools share it:
//! `upper` holds the changes, a device 0:0 marks a deleted path, and an attribute on a folder hides the content of the
//! project's folder.
//!
//! On other systems, where no kernel mounts it, the overlay is used by file tools only. Its format is the same; device nodes of
//! the project are not copied, and links in a path are found by looking at one folder after another.

mod change;
mod file_node;
mod fingerprint;
pub mod keep;
mod live_view;
mod lock;
mod merge;
#[cfg(test)]
mod model_content_tests;
#[cfg(test)]
mod nested_folder_tests;
mod origins;
mod outside_changes;
mod overlay;
mod overlay_walk;
#[cfg(test)]
mod own_files_tests;
mod pending_changes;
pub(super) mod records;
mod rehearsal_writer;
mod removal;
#[cfg(test)]
mod root_folder_tests;
mod snapshot;
mod state_digest;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unusual_overlay_tests;

pub use change::Change;
pub use file_node::{FileNode, read_node, read_node_in};
pub use fingerprint::Fingerprint;
pub use lock::{lock_existing, lock_overlay};
pub use outside_changes::{OutsideChange, OutsideChanges, partly_written};
pub use overlay::{OUTSIDE_FOLDER, OverlayEntry, Trail, UPPER, is_inside, read_entries};
pub use pending_changes::{PENDING_FOLDER, create_pending};
pub use removal::{remove_folder, remove_overlay};
pub use snapshot::Snapshot;
pub use state_digest::digest_overlay;

use super::disk::Disk;
use super::sensitive_files::is_in_package_folder;
use super::{Error, FileKind, Location, Reader, UnknownHardLinkCheck, Visit, WalkEntry, Writer, atomic_file, path};
use crate::chat::Digest;
use overlay::{ContentSource, ROOT_PATH};
use rustix::fs::Access;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// The project with an overlay. The overlay is a folder on disk; opening it again gives the same view.
pub struct Rehearsal {
    disk: Arc<Disk>,
    /// Folder of this rehearsal's files, without links in its path.
    overlay_folder: PathBuf,
    /// The changes, by path relative to the project.
    upper: PathBuf,
    /// State of the project at each path when the overlay first changed it; `None` until it is read from disk.
    origins: Mutex<Option<HashMap<PathBuf, Fingerprint>>>,
    /// Paths changed by commands since the last [`Self::take_changed`], relative to the project.
    changed_paths: Mutex<Vec<PathBuf>>,
    /// Set when changes of a command were merged without recording the project's previous state.
    has_unrecorded: AtomicBool,
    /// Set while the changes of the last command must be checked before they are merged.
    is_merge_blocked: AtomicBool,
    /// The overlay for everything outside the project; `None` in that overlay itself.
    outside: Option<Box<Self>>,
    /// Digests of the files written with [`Writer::write_whole`], by path relative to the project. Empty after a
    /// session is resumed.
    whole_writes: Mutex<HashMap<PathBuf, Digest>>,
}

impl Rehearsal {
    /// Opens the overlay in `overlay_folder`, a folder outside the project. The folder is created at the first write.
    pub fn new(disk: Arc<Disk>, overlay_folder: PathBuf) -> Self {
        // The user's data folder may well contain links in its path.
        let overlay_folder = path::resolve_links(&overlay_folder, &mut path::link_target).unwrap_or(overlay_folder);
        let project = Self::with_overlay(disk, overlay_folder);
        Self { outside: Some(Box::new(project.new_outside())), ..project }
    }

    fn with_overlay(disk: Arc<Disk>, overlay_folder: PathBuf) -> Self {
        Self {
            disk,
            upper: overlay_folder.join(UPPER),
            overlay_folder,
            origins: Mutex::default(),
            changed_paths: Mutex::default(),
            has_unrecorded: AtomicBool::default(),
            is_merge_blocked: AtomicBool::default(),
            whole_writes: Mutex::default(),
            outside: None,
        }
    }

    /// Returns the folder of this rehearsal, which holds `upper` and all other files of the overlay.
    pub fn overlay_folder(&self) -> &Path {
        &self.overlay_folder
    }

    /// Returns the path relative to the project, if it lies inside.
    fn path_below<'a>(&self, location: &'a Location) -> Option<&'a Path> {
        location.real.strip_prefix(self.root()).ok()
    }

    /// Returns the overlay that holds an absolute path (this one, or the one outside the project), and the path relative
    /// to the root of that overlay.
    fn overlay_of<'a>(&self, real: &'a Path) -> (&Self, &'a Path) {
        match (real.strip_prefix(self.root()), self.outside_overlay()) {
            (Err(_), Some(outside)) => outside.overlay_of(real),
            (relative, _) => (self, relative.unwrap_or(real)),
        }
    }

    /// Locates a path that contains no links.
    pub(super) fn locate_below(&self, real: PathBuf) -> Location {
        self.disk.mark_own_below(path::locate_real(self.root(), real))
    }

    /// Returns the source of the content at a path of the project.
    fn find_source(&self, relative: &Path) -> io::Result<ContentSource> {
        self.merge_pending()?;
        overlay::find_source(&self.upper, self.root(), relative)
    }

    /// Like `find_source`, with the project's error type.
    fn locate_source(&self, location: &Location, relative: &Path) -> Result<ContentSource, Error> {
        self.find_source(relative).map_err(|source| Error::from_io(&location.display_path, source))
    }

    /// Returns the path on disk, in an overlay or live, of the content that the dry run shows at a path without links.
    /// `None` if the dry run deleted it.
    fn visible_path(&self, real: &Path) -> io::Result<Option<PathBuf>> {
        let (overlay, relative) = self.overlay_of(real);
        let content = overlay.find_source(relative)?;
        let overlay_path = content.overlay_entry.map(|(path, _)| path);
        Ok(overlay_path.or_else(|| content.shows_project.then(|| real.to_owned())))
    }

    /// Returns the path on disk from which a location is read.
    fn read_path(&self, location: &Location) -> Result<PathBuf, Error> {
        let visible = self.visible_path(&location.real);
        let visible = visible.map_err(|source| Error::from_io(&location.display_path, source))?;
        visible.ok_or_else(|| Error::Missing(location.display_path.clone()))
    }

    /// Returns the metadata that the dry run shows at a path. Links are not followed.
    fn visible_metadata(&self, location: &Location) -> Option<Metadata> {
        let (overlay, relative) = self.overlay_of(&location.real);
        let content = overlay.find_source(relative).ok()?;
        let live_metadata = || location.real.symlink_metadata().ok().filter(|_| content.shows_project);
        content.overlay_entry.map(|(_, metadata)| metadata).or_else(live_metadata)
    }

    /// Returns the target of a link that the dry run shows.
    fn visible_link(&self, path: &Path) -> Option<PathBuf> {
        // No link may redirect the project's own folder, even if a command replaced a folder above it.
        if path != self.root() && self.root().starts_with(path) {
            return path::link_target(path);
        }
        path::link_target(&self.visible_path(path).ok()??)
    }

    /// Creates the folder of the changes if needed. Waits until no other process writes in the overlay and merges the
    /// changes of the last command. Call this before another program writes in the overlay.
    pub fn prepare_overlay(&self) -> io::Result<()> {
        let _lock = self.lock_and_merge()?;
        self.prepare_overlay_locked()
    }

    /// Creates the folder of the changes if needed, and first records the git state and the mode of the project's own
    /// folder. The mode is recorded only now: once the folder of the changes exists, its initial mode cannot be
    /// distinguished from one that a command set.
    fn prepare_overlay_locked(&self) -> io::Result<()> {
        if self.upper.symlink_metadata().is_ok() {
            return Ok(());
        }
        self.record_before_change([Path::new(ROOT_PATH)].into_iter())?;
        // The overlay for everything outside the project has no repository.
        if self.outside.is_some() {
            super::git_baseline::record_baseline(self.root(), &self.overlay_folder)?;
        }
        overlay::create_upper(&self.upper, self.root())
    }

    /// Fails if the write would fail live: a read-only file or folder stays protected.
    fn check_writable(&self, relative: &Path, exists: bool) -> io::Result<()> {
        let check_access = |path: &Path, access| -> io::Result<()> {
            let visible_path = self.visible_path(&self.root().join(path))?.ok_or(io::ErrorKind::NotFound)?;
            Ok(rustix::fs::access(&visible_path, access)?)
        };
        let folders = relative.ancestors().skip(1);
        let is_folder = |path: &&Path| {
            self.visible_metadata(&self.locate_below(self.root().join(path))).is_some_and(|meta| meta.is_dir())
        };
        if let Some(nearest) = folders.into_iter().find(is_folder) {
            check_access(nearest, Access::WRITE_OK | Access::EXEC_OK)?;
        }
        if exists { check_access(relative, Access::WRITE_OK) } else { Ok(()) }
    }

    /// Fails if a parent of the path is a file.
    fn check_parents(&self, location: &Location) -> Result<(), Error> {
        let is_file = |folder: &Path| {
            let metadata = self.visible_metadata(&self.locate_below(self.root().join(folder)));
            metadata.is_some_and(|metadata| !metadata.is_dir())
        };
        match path::list_parents(&location.display_path).into_iter().any(is_file) {
            true => Err(Error::Io { path: location.display_path.clone(), source: io::ErrorKind::NotADirectory.into() }),
            false => Ok(()),
        }
    }
}

impl Reader for Rehearsal {
    fn root(&self) -> &Path {
        self.disk.root()
    }

    fn locate(&self, path: &str) -> Result<Location, Error> {
        let location = path::locate_with(self.root(), self.disk.home(), path, &mut |path| self.visible_link(path))?;
        Ok(self.disk.mark_own(location))
    }

    fn read(&self, location: &Location) -> Result<Vec<u8>, Error> {
        atomic_file::read_file(&self.read_path(location)?, &location.display_path)
    }

    fn open(&self, location: &Location) -> Result<Box<dyn io::Read + Send>, Error> {
        Ok(Box::new(atomic_file::open_file(&self.read_path(location)?, &location.display_path)?))
    }

    /// A file of the overlay is a separate copy, unless a command created a hard link.
    fn link_count(&self, location: &Location) -> u64 {
        self.visible_metadata(location).filter(Metadata::is_file).map_or(1, |meta| meta.nlink())
    }

    fn unknown_hard_link_check(&self) -> UnknownHardLinkCheck<'_> {
        let disk_check = self.disk.unknown_hard_link_check();
        Box::new(move |location| {
            let shows_disk = self.path_below(location).is_some_and(|relative| self.shows_live_content(relative));
            // The other names of a file in the overlay are not searched for, so any of them may be that of a secret.
            if shows_disk {
                disk_check(location)
            } else {
                self.link_count(location) > 1 && !is_in_package_folder(&location.real)
            }
        })
    }

    fn is_rehearsal(&self) -> bool {
        true
    }

    fn has_only_rehearsed_content(&self, location: &Location) -> bool {
        if location.own_file.is_some() {
            return false;
        }
        let (overlay, relative) = self.overlay_of(&location.real);
        let entry = overlay.find_source(relative).ok().and_then(|content| content.overlay_entry);
        // A file with several names may have been written through another name.
        let Some((overlay_path, _)) = entry.filter(|(_, meta)| meta.is_file() && meta.nlink() == 1) else {
            return false;
        };
        let written_digest = if self.path_below(location).is_none() {
            overlay.whole_tool_write(&location.real)
        } else {
            let live_metadata = location.real.symlink_metadata();
            let is_new = live_metadata.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            // Only a command that saw the whole disk can have copied a secret to a new file.
            if is_new && !self.had_live_view() {
                return true;
            }
            self.whole_writes.lock().unwrap_or_else(PoisonError::into_inner).get(relative).cloned()
        };
        written_digest.is_some_and(|digest| {
            let content = atomic_file::read_file(&overlay_path, &location.display_path);
            content.is_ok_and(|content| Digest::of_bytes(&content) == digest)
        })
    }

    fn file_kind(&self, location: &Location) -> Option<FileKind> {
        self.visible_metadata(location).map(|meta| FileKind::from_metadata(&meta))
    }

    fn list_names(&self, location: &Location) -> Result<Vec<String>, Error> {
        let (overlay, relative) = self.overlay_of(&location.real);
        let content = overlay.locate_source(location, relative)?;
        let Some((overlay_path, meta)) = content.overlay_entry else {
            let missing = || Err(Error::Missing(location.display_path.clone()));
            return if content.shows_project { self.disk.list_names(location) } else { missing() };
        };
        if !meta.is_dir() {
            let source = io::ErrorKind::NotADirectory.into();
            return Err(Error::Io { path: location.display_path.clone(), source });
        }
        let project_folder = content.shows_project.then_some(location.real.as_path());
        let (entries, listing_error) = overlay_walk::visible_entries(Some(&overlay_path), project_folder);
        if let Some(source) = listing_error {
            let source = io::Error::other(format!("some of its entries cannot be read: {source}"));
            return Err(Error::from_io(&location.display_path, source));
        }
        entries.into_keys().map(|name| name.into_string().map_err(Error::for_name)).collect()
    }

    fn walk(&self, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error> {
        if self.path_below(under).is_none() {
            return self.walk_outside(under, hidden, visit);
        }
        overlay_walk::walk_overlay(self, under, hidden, visit)
    }
}
