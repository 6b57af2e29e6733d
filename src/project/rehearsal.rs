//! The overlay of a dry run: writes go to the overlay, and later reads see them. The project itself is only read.
//!
//! The overlay has the on-disk format of the kernel's overlay file system, so that commands and file tools share it:
//! `upper` holds the changes, a device 0:0 marks a deleted path, and an attribute on a folder hides the content of the
//! project's folder.

mod change;
mod clear;
#[cfg(test)]
mod judged;
mod layer;
mod live_view;
mod lock;
mod marks;
mod merge;
#[cfg(test)]
mod nested;
#[cfg(test)]
mod odd;
mod origins;
mod outside;
#[cfg(test)]
mod own_content;
#[cfg(test)]
mod own_folder;
mod pending;
mod state;
#[cfg(test)]
mod tests;
mod walk;

pub use change::{Change, Node, node, node_in};
pub use clear::{clear, empty};
pub use layer::Trail;
pub use lock::hold;
pub use marks::Marks;
pub use origins::Fingerprint;
pub use outside::{OUTSIDE, OutsideChange, OutsideChanges, partly_written};
pub use pending::{PENDING, is_inside, prepare};

use super::disk::Disk;
use super::sensitive_files::is_packaged;
use super::{Error, Found, Kind, Located, NameCheck, Reader, Writer, path, whole};
use crate::chat::Digest;
use layer::Spot;
use rustix::fs::Access;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Folder of the overlay that holds the changes.
pub const UPPER: &str = "upper";
/// The project root as a relative path.
const ROOT: &str = ".";

/// The project with an overlay. The overlay is a folder on disk; opening it again gives the same view.
pub struct Rehearsal {
    real: Arc<Disk>,
    /// Folder of this rehearsal's files, without links in its path.
    layer: PathBuf,
    /// The changes, by path relative to the project.
    upper: PathBuf,
    origins: Mutex<Option<HashMap<PathBuf, Fingerprint>>>,
    /// Paths changed by commands since the last [`Self::take_changed`], relative to the project.
    changed: Mutex<Vec<PathBuf>>,
    /// Set when changes of a command were merged without recording the project's previous state.
    is_unnoted: AtomicBool,
    /// Set while the changes of the last command must be checked before they are merged.
    is_held_back: AtomicBool,
    /// The overlay for everything outside the project; `None` in that overlay itself.
    outside: Option<Box<Self>>,
    /// Digests of the files written with [`Writer::write_whole`], by path relative to the project. Empty after a
    /// session is resumed.
    whole: Mutex<HashMap<PathBuf, Digest>>,
}

impl Rehearsal {
    /// Opens the overlay in `layer`, a folder outside the project. The folder is created at the first write.
    pub fn new(real: Arc<Disk>, layer: PathBuf) -> Self {
        // The user's data folder may well contain links in its path.
        let layer = path::resolve(&layer, &path::on_disk).unwrap_or(layer);
        let upper = layer.join(UPPER);
        let (origins, changed, is_unnoted, is_held_back, whole) = Default::default();
        let project =
            Self { real, layer, upper, origins, changed, is_unnoted, is_held_back, whole, outside: None };
        Self { outside: Some(Box::new(project.over_system())), ..project }
    }

    /// Returns the folder of this rehearsal, which holds `upper` and all other files of the overlay.
    pub fn folder(&self) -> &Path {
        &self.layer
    }

    /// Returns the path relative to the project, if it lies inside.
    fn below(&self, at: &Located) -> Option<PathBuf> {
        at.real.strip_prefix(self.root()).ok().filter(|_| at.inside).map(Path::to_owned)
    }

    /// Locates a path that contains no links.
    pub(super) fn at(&self, real: PathBuf) -> Located {
        self.real.mark_own_below(path::at(self.root(), real))
    }

    /// Returns the source of the content at a path of the project.
    fn spot(&self, below: &Path) -> io::Result<Spot> {
        self.settle()?;
        layer::spot(&self.upper, self.root(), below)
    }

    /// Like `find_source`, with the project's error type.
    fn spot_of(&self, at: &Located, below: &Path) -> Result<Spot, Error> {
        self.spot(below).map_err(|source| Error::io(&at.shown, source))
    }

    /// Returns the metadata that the dry run shows at a path. Links are not followed.
    fn meta(&self, at: &Located) -> Option<Metadata> {
        let Some(below) = self.below(at) else {
            return match self.outside() {
                Some(outside) => outside.meta(&Located { inside: true, ..at.clone() }),
                None => at.real.symlink_metadata().ok(),
            };
        };
        let spot = self.spot(&below).ok()?;
        match spot.above {
            Some((_, meta)) => Some(meta),
            None if spot.below => at.real.symlink_metadata().ok(),
            None => None,
        }
    }

    /// Returns the target of a link that the dry run shows.
    fn link(&self, path: &Path) -> Option<PathBuf> {
        let Ok(below) = path.strip_prefix(self.root()) else {
            // No link may redirect the project's own folder, even if a command replaced a folder above it.
            let is_above = self.root().starts_with(path);
            let outside = self.outside().filter(|_| !is_above);
            return outside.map_or_else(|| path::on_disk(path), |outside| outside.link(path));
        };
        let spot = self.spot(below).ok()?;
        match spot.above {
            Some((above, _)) => path::on_disk(&above),
            None if spot.below => path::on_disk(path),
            None => None,
        }
    }

    /// Creates the folder of the changes if needed. Waits until no other process writes in the overlay and merges the
    /// changes of the last command. Call this before another program writes in the overlay.
    pub fn begin(&self) -> io::Result<()> {
        let _lock = self.hold_settled()?;
        self.begin_held()
    }

    /// Records the mode of the project's own folder. This happens only here: in a folder created later or by an older
    /// version, a mode that was set cannot be distinguished from the initial one.
    fn begin_held(&self) -> io::Result<()> {
        if self.upper.symlink_metadata().is_ok() {
            return Ok(());
        }
        self.note_anew([Path::new(ROOT)].into_iter())?;
        if self.outside.is_some() {
            super::repository::note_baseline(self.root(), &self.layer)?;
        }
        layer::begin(&self.upper, self.root())
    }

    /// Fails if the write would fail live: a read-only file or folder stays protected.
    fn may_write(&self, below: &Path, exists: bool) -> io::Result<()> {
        let may = |path: &Path, access| -> io::Result<()> {
            let spot = self.spot(path)?;
            let stands = spot.above.map_or_else(|| self.root().join(path), |(above, _)| above);
            Ok(rustix::fs::access(&stands, access)?)
        };
        let folders = below.ancestors().skip(1);
        let is_folder =
            |path: &&Path| self.meta(&self.at(self.root().join(path))).is_some_and(|meta| meta.is_dir());
        if let Some(nearest) = folders.into_iter().find(is_folder) {
            may(nearest, Access::WRITE_OK | Access::EXEC_OK)?;
        }
        if exists { may(below, Access::WRITE_OK) } else { Ok(()) }
    }

    /// Fails if a parent of the path is a file.
    fn fits(&self, at: &Located) -> Result<(), Error> {
        for folder in at.shown.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            match self.meta(&self.at(self.root().join(folder))) {
                Some(meta) if !meta.is_dir() => {
                    let source = std::io::ErrorKind::NotADirectory.into();
                    return Err(Error::Io { path: at.shown.clone(), source });
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

impl Reader for Rehearsal {
    fn root(&self) -> &Path {
        self.real.root()
    }

    fn locate(&self, path: &str) -> Result<Located, Error> {
        let at = path::locate_by(self.root(), self.real.home(), path, &|path| self.link(path))?;
        Ok(self.real.mark_own(at))
    }

    fn read(&self, at: &Located) -> Result<Vec<u8>, Error> {
        let Some(below) = self.below(at) else {
            let (reader, at) = self.beyond(at);
            return reader.read(&at);
        };
        let spot = self.spot_of(at, &below)?;
        match spot.above {
            Some((above, _)) => whole::read(&above, &at.shown),
            None if spot.below => self.real.read(at),
            None => Err(Error::Missing(at.shown.clone())),
        }
    }

    fn open(&self, at: &Located) -> Result<Box<dyn io::Read + Send>, Error> {
        let Some(below) = self.below(at) else {
            let (reader, at) = self.beyond(at);
            return reader.open(&at);
        };
        let spot = self.spot_of(at, &below)?;
        match spot.above {
            Some((above, _)) => Ok(Box::new(whole::open(&above, &at.shown)?)),
            None if spot.below => self.real.open(at),
            None => Err(Error::Missing(at.shown.clone())),
        }
    }

    /// A file of the overlay is a separate copy, unless a command created a hard link.
    fn link_count(&self, at: &Located) -> u64 {
        let Some(below) = self.below(at) else {
            let (reader, at) = self.beyond(at);
            return reader.link_count(&at);
        };
        match self.spot(&below) {
            Ok(Spot { above: Some((_, meta)), .. }) if meta.is_file() => meta.nlink(),
            Ok(Spot { above: None, below: true }) => self.real.link_count(at),
            Ok(_) | Err(_) => 1,
        }
    }

    fn name_check(&self) -> NameCheck<'_> {
        let real = self.real.name_check();
        Box::new(move |at| {
            let is_real = self
                .below(at)
                .is_some_and(|below| self.spot(&below).is_ok_and(|spot| spot.above.is_none() && spot.below));
            // The other names of a file in the overlay are not searched for.
            if is_real { real(at) } else { self.link_count(at) > 1 && !is_packaged(&at.real) }
        })
    }

    fn is_rehearsal(&self) -> bool {
        true
    }

    fn is_rehearsed_whole(&self, at: &Located) -> bool {
        if at.own.is_some() {
            return false;
        }
        let Some(below) = self.below(at) else { return self.holds_whole(at) };
        let Some((above, meta)) = self.spot(&below).ok().and_then(|spot| spot.above) else { return false };
        // A file with several names may have been written through another name.
        if !meta.is_file() || meta.nlink() != 1 {
            return false;
        }
        let is_new =
            matches!(at.real.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        let known = self.whole.lock().unwrap_or_else(PoisonError::into_inner).get(&below).cloned();
        let is_whole =
            |known: Digest| whole::read(&above, &at.shown).is_ok_and(|now| Digest::of(&now) == known);
        (is_new && !self.had_live_view()) || known.is_some_and(is_whole)
    }

    fn exists(&self, at: &Located) -> bool {
        self.meta(at).is_some()
    }

    fn kind(&self, at: &Located) -> Option<Kind> {
        self.meta(at).map(|meta| Kind::of(&meta))
    }

    fn names(&self, at: &Located) -> Result<Vec<String>, Error> {
        let Some(below) = self.below(at) else {
            let (reader, at) = self.beyond(at);
            return reader.names(&at);
        };
        let spot = self.spot_of(at, &below)?;
        let Some((above, _)) = spot.above else {
            return if spot.below { self.real.names(at) } else { Err(Error::Missing(at.shown.clone())) };
        };
        if !above.is_dir() {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(Error::Io { path: at.shown.clone(), source });
        }
        let (seen, unseen) = walk::entries(Some(&above), spot.below.then_some(at.real.as_path()));
        if let Some(source) = unseen {
            let source = std::io::Error::other(format!("some of its entries cannot be read: {source}"));
            return Err(Error::io(&at.shown, source));
        }
        let odd = |name: std::ffi::OsString| {
            Error::BadPath(format!("{} is not a Unicode name", Path::new(&name).display()))
        };
        seen.into_keys().map(|name| name.into_string().map_err(odd)).collect()
    }

    fn walk(
        &self,
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if self.below(under).is_none() {
            return self.walk_outside(under, hidden, visit);
        }
        walk::walk(self, under, hidden, visit)
    }
}

impl Writer for Rehearsal {
    fn write(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(below) = self.below(at) else { return self.write_outside(at, before, after, false) };
        let failed = |source| Error::in_layer(&at.shown, source);
        let now = |below: bool| {
            let now = match self.read(at) {
                Ok(bytes) => Some(bytes),
                Err(Error::Missing(_)) => None,
                Err(error) => return Err(error),
            };
            if below {
                self.fits(at)?;
            }
            if now.as_deref() == before { Ok(()) } else { Err(Error::Changed(at.shown.clone())) }
        };
        self.fits(at)?;
        now(false)?;
        // Commands cannot write in the overlay while this lock is held.
        let _lock = self.hold_settled().map_err(failed)?;
        now(true)?;
        let old = self.meta(at);
        self.may_write(&below, old.is_some()).map_err(failed)?;
        let way = || below.ancestors().filter(|path| !path.as_os_str().is_empty());
        self.begin_held().and_then(|()| self.note_anew(way())).map_err(failed)?;
        let put = layer::put(&self.layer, self.root(), &below, after, old.as_ref());
        put.map_err(|error| {
            self.forget(way());
            failed(error)
        })
    }

    fn write_whole(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(below) = self.below(at) else { return self.write_outside(at, before, after, true) };
        self.write(at, before, after)?;
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        whole.insert(below, Digest::of(after));
        Ok(())
    }

    fn state(&self) -> Digest {
        // Changes that cannot be merged belong to no state.
        let _ = self.settle();
        let own = state::of(&self.layer);
        match self.change(Path::new(ROOT)) {
            // The state depends on the project only through the mode of its own folder.
            Ok(Some(change)) => Digest::of(format!("{own} {:?}", Fingerprint::of(&change.after)).as_bytes()),
            Ok(None) | Err(_) => own,
        }
    }
}
