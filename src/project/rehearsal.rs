//! The overlay of a dry run: writes go to the overlay, and later reads see them. The project itself is only read.
//!
//! The overlay has the on-disk format of the kernel's overlay file system, so that commands and file tools share it:
//! `upper` holds the changes, a device 0:0 marks a deleted path, and an attribute on a folder hides the content of the
//! project's folder.

mod change;
mod file_node;
mod fingerprint;
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
pub use lock::lock_overlay;
pub use outside_changes::{OutsideChange, OutsideChanges, partly_written};
pub use overlay::{OUTSIDE_FOLDER, Trail, UPPER, is_inside};
pub use pending_changes::{PENDING_FOLDER, create_pending};
pub use removal::{remove_folder, remove_overlay};
pub use snapshot::Snapshot;

use super::disk::Disk;
use super::sensitive_files::is_in_package_folder;
use super::{Error, FileKind, Location, NameCheck, Reader, WalkEntry, Writer, atomic_file, path};
use crate::chat::Digest;
use overlay::{ContentSource, ROOT_PATH};
use rustix::fs::Access;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
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
    /// Opens the overlay in `layer`, a folder outside the project. The folder is created at the first write.
    pub fn new(real: Arc<Disk>, layer: PathBuf) -> Self {
        // The user's data folder may well contain links in its path.
        let layer = path::resolve_links(&layer, &path::link_target).unwrap_or(layer);
        let project = Self::with_overlay(real, layer);
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
    fn path_below(&self, at: &Location) -> Option<PathBuf> {
        at.real.strip_prefix(self.root()).ok().filter(|_| at.is_inside).map(Path::to_owned)
    }

    /// Locates a path that contains no links.
    pub(super) fn locate_below(&self, real: PathBuf) -> Location {
        self.disk.mark_own_below(path::locate_real(self.root(), real))
    }

    /// Returns the source of the content at a path of the project.
    fn find_source(&self, below: &Path) -> io::Result<ContentSource> {
        self.merge_pending()?;
        overlay::find_source(&self.upper, self.root(), below)
    }

    /// Like `find_source`, with the project's error type.
    fn locate_source(&self, at: &Location, below: &Path) -> Result<ContentSource, Error> {
        self.find_source(below).map_err(|source| Error::from_io(&at.display_path, source))
    }

    /// Returns the metadata that the dry run shows at a path. Links are not followed.
    fn visible_metadata(&self, at: &Location) -> Option<Metadata> {
        let Some(below) = self.path_below(at) else {
            return match self.outside_overlay() {
                Some(outside) => outside.visible_metadata(&Location { is_inside: true, ..at.clone() }),
                None => at.real.symlink_metadata().ok(),
            };
        };
        let spot = self.find_source(&below).ok()?;
        match spot.overlay_entry {
            Some((_, meta)) => Some(meta),
            None if spot.shows_project => at.real.symlink_metadata().ok(),
            None => None,
        }
    }

    /// Returns the target of a link that the dry run shows.
    fn visible_link(&self, path: &Path) -> Option<PathBuf> {
        let Ok(below) = path.strip_prefix(self.root()) else {
            // No link may redirect the project's own folder, even if a command replaced a folder above it.
            let is_above = self.root().starts_with(path);
            let outside = self.outside_overlay().filter(|_| !is_above);
            return outside.map_or_else(|| path::link_target(path), |outside| outside.visible_link(path));
        };
        let spot = self.find_source(below).ok()?;
        match spot.overlay_entry {
            Some((above, _)) => path::link_target(&above),
            None if spot.shows_project => path::link_target(path),
            None => None,
        }
    }

    /// Creates the folder of the changes if needed. Waits until no other process writes in the overlay and merges the
    /// changes of the last command. Call this before another program writes in the overlay.
    pub fn prepare_overlay(&self) -> io::Result<()> {
        let _lock = self.lock_and_merge()?;
        self.prepare_overlay_locked()
    }

    /// Records the mode of the project's own folder. This happens only here: in a folder created later or by an older
    /// version, a mode that was set cannot be distinguished from the initial one.
    fn prepare_overlay_locked(&self) -> io::Result<()> {
        if self.upper.symlink_metadata().is_ok() {
            return Ok(());
        }
        self.record_before_change([Path::new(ROOT_PATH)].into_iter())?;
        if self.outside.is_some() {
            super::git_baseline::record_baseline(self.root(), &self.overlay_folder)?;
        }
        overlay::create_upper(&self.upper, self.root())
    }

    /// Fails if the write would fail live: a read-only file or folder stays protected.
    fn check_writable(&self, below: &Path, exists: bool) -> io::Result<()> {
        let may = |path: &Path, access| -> io::Result<()> {
            let spot = self.find_source(path)?;
            let stands = spot.overlay_entry.map_or_else(|| self.root().join(path), |(above, _)| above);
            Ok(rustix::fs::access(&stands, access)?)
        };
        let folders = below.ancestors().skip(1);
        let is_folder = |path: &&Path| {
            self.visible_metadata(&self.locate_below(self.root().join(path))).is_some_and(|meta| meta.is_dir())
        };
        if let Some(nearest) = folders.into_iter().find(is_folder) {
            may(nearest, Access::WRITE_OK | Access::EXEC_OK)?;
        }
        if exists { may(below, Access::WRITE_OK) } else { Ok(()) }
    }

    /// Fails if a parent of the path is a file.
    fn check_parents(&self, at: &Location) -> Result<(), Error> {
        for folder in at.display_path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            match self.visible_metadata(&self.locate_below(self.root().join(folder))) {
                Some(meta) if !meta.is_dir() => {
                    let source = std::io::ErrorKind::NotADirectory.into();
                    return Err(Error::Io { path: at.display_path.clone(), source });
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

impl Reader for Rehearsal {
    fn root(&self) -> &Path {
        self.disk.root()
    }

    fn locate(&self, path: &str) -> Result<Location, Error> {
        let at = path::locate_with(self.root(), self.disk.home(), path, &|path| self.visible_link(path))?;
        Ok(self.disk.mark_own(at))
    }

    fn read(&self, at: &Location) -> Result<Vec<u8>, Error> {
        let Some(below) = self.path_below(at) else {
            let (reader, at) = self.outside_reader(at);
            return reader.read(&at);
        };
        let spot = self.locate_source(at, &below)?;
        match spot.overlay_entry {
            Some((above, _)) => atomic_file::read_file(&above, &at.display_path),
            None if spot.shows_project => self.disk.read(at),
            None => Err(Error::Missing(at.display_path.clone())),
        }
    }

    fn open(&self, at: &Location) -> Result<Box<dyn io::Read + Send>, Error> {
        let Some(below) = self.path_below(at) else {
            let (reader, at) = self.outside_reader(at);
            return reader.open(&at);
        };
        let spot = self.locate_source(at, &below)?;
        match spot.overlay_entry {
            Some((above, _)) => Ok(Box::new(atomic_file::open_file(&above, &at.display_path)?)),
            None if spot.shows_project => self.disk.open(at),
            None => Err(Error::Missing(at.display_path.clone())),
        }
    }

    /// A file of the overlay is a separate copy, unless a command created a hard link.
    fn link_count(&self, at: &Location) -> u64 {
        let Some(below) = self.path_below(at) else {
            let (reader, at) = self.outside_reader(at);
            return reader.link_count(&at);
        };
        match self.find_source(&below) {
            Ok(ContentSource { overlay_entry: Some((_, meta)), .. }) if meta.is_file() => meta.nlink(),
            Ok(ContentSource { overlay_entry: None, shows_project: true }) => self.disk.link_count(at),
            Ok(_) | Err(_) => 1,
        }
    }

    fn name_check(&self) -> NameCheck<'_> {
        let real = self.disk.name_check();
        Box::new(move |at| {
            let is_real = self.path_below(at).is_some_and(|below| {
                self.find_source(&below).is_ok_and(|spot| spot.overlay_entry.is_none() && spot.shows_project)
            });
            // The other names of a file in the overlay are not searched for.
            if is_real { real(at) } else { self.link_count(at) > 1 && !is_in_package_folder(&at.real) }
        })
    }

    fn is_rehearsal(&self) -> bool {
        true
    }

    fn has_only_rehearsed_content(&self, at: &Location) -> bool {
        if at.own_file.is_some() {
            return false;
        }
        let Some(below) = self.path_below(at) else { return self.has_whole_tool_write(at) };
        let Some((above, meta)) = self.find_source(&below).ok().and_then(|spot| spot.overlay_entry) else {
            return false;
        };
        // A file with several names may have been written through another name.
        if !meta.is_file() || meta.nlink() != 1 {
            return false;
        }
        let is_new = matches!(at.real.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        let known = self.whole_writes.lock().unwrap_or_else(PoisonError::into_inner).get(&below).cloned();
        let is_whole = |known: Digest| {
            atomic_file::read_file(&above, &at.display_path).is_ok_and(|now| Digest::of_bytes(&now) == known)
        };
        (is_new && !self.had_live_view()) || known.is_some_and(is_whole)
    }

    fn exists(&self, at: &Location) -> bool {
        self.visible_metadata(at).is_some()
    }

    fn file_kind(&self, at: &Location) -> Option<FileKind> {
        self.visible_metadata(at).map(|meta| FileKind::from_metadata(&meta))
    }

    fn list_names(&self, at: &Location) -> Result<Vec<String>, Error> {
        let Some(below) = self.path_below(at) else {
            let (reader, at) = self.outside_reader(at);
            return reader.list_names(&at);
        };
        let spot = self.locate_source(at, &below)?;
        let Some((above, _)) = spot.overlay_entry else {
            return if spot.shows_project {
                self.disk.list_names(at)
            } else {
                Err(Error::Missing(at.display_path.clone()))
            };
        };
        if !above.is_dir() {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(Error::Io { path: at.display_path.clone(), source });
        }
        let (seen, unseen) =
            overlay_walk::visible_entries(Some(&above), spot.shows_project.then_some(at.real.as_path()));
        if let Some(source) = unseen {
            let source = std::io::Error::other(format!("some of its entries cannot be read: {source}"));
            return Err(Error::from_io(&at.display_path, source));
        }
        let odd =
            |name: std::ffi::OsString| Error::BadPath(format!("{} is not a Unicode name", Path::new(&name).display()));
        seen.into_keys().map(|name| name.into_string().map_err(odd)).collect()
    }

    fn walk(
        &self,
        under: &Location,
        hidden: bool,
        visit: &mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if self.path_below(under).is_none() {
            return self.walk_outside(under, hidden, visit);
        }
        overlay_walk::walk_overlay(self, under, hidden, visit)
    }
}

impl Writer for Rehearsal {
    fn write(&self, at: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(below) = self.path_below(at) else { return self.write_outside(at, before, after, false) };
        let failed = |source| Error::in_overlay(&at.display_path, source);
        let now = |below: bool| {
            let now = match self.read(at) {
                Ok(bytes) => Some(bytes),
                Err(Error::Missing(_)) => None,
                Err(error) => return Err(error),
            };
            if below {
                self.check_parents(at)?;
            }
            if now.as_deref() == before { Ok(()) } else { Err(Error::Changed(at.display_path.clone())) }
        };
        self.check_parents(at)?;
        now(false)?;
        // Commands cannot write in the overlay while this lock is held.
        let _lock = self.lock_and_merge().map_err(failed)?;
        now(true)?;
        let old = self.visible_metadata(at);
        self.check_writable(&below, old.is_some()).map_err(failed)?;
        let way = || below.ancestors().filter(|path| !path.as_os_str().is_empty());
        self.prepare_overlay_locked().and_then(|()| self.record_before_change(way())).map_err(failed)?;
        let put = overlay::write_file(&self.overlay_folder, self.root(), &below, after, old.as_ref());
        put.map_err(|error| {
            self.forget_origins(way());
            failed(error)
        })
    }

    fn write_whole(&self, at: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(below) = self.path_below(at) else { return self.write_outside(at, before, after, true) };
        self.write(at, before, after)?;
        let mut whole = self.whole_writes.lock().unwrap_or_else(PoisonError::into_inner);
        whole.insert(below, Digest::of_bytes(after));
        Ok(())
    }

    fn state_digest(&self) -> Digest {
        // Changes that cannot be merged belong to no state.
        let _ = self.merge_pending();
        let own = state_digest::digest_overlay(&self.overlay_folder);
        match self.change_at(Path::new(ROOT_PATH)) {
            // The state depends on the project only through the mode of its own folder.
            Ok(Some(change)) => {
                Digest::of_bytes(format!("{own} {:?}", Fingerprint::from_node(&change.after)).as_bytes())
            }
            Ok(None) | Err(_) => own,
        }
    }
}
