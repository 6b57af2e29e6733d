//! The live project folder.

use super::atomic_file::{self, ExpectedFile};
use super::sensitive_files::{SensitiveFiles, is_in_package_folder};
use super::{Error, FileKind, Location, NameCheck, OwnFiles, Reader, WalkEntry, Writer, file_walk, path};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The project as it is on disk.
pub struct Disk {
    root: PathBuf,
    home: Option<PathBuf>,
    own_files: OwnFiles,
    /// Known names of sensitive files; `None` if the root is the whole file system.
    sensitive_files: Option<SensitiveFiles>,
}

impl Disk {
    /// Opens the project at this folder, which must exist.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned());
        let sensitive = Some(SensitiveFiles::new(root.clone(), Vec::new()));
        Ok(Self { root, home, own_files: OwnFiles::default(), sensitive_files: sensitive })
    }

    /// Sets aye's own files. The project may contain them, and a link may lead to them.
    #[must_use]
    pub fn with_own_files(self, own: OwnFiles) -> Self {
        let sensitive = Some(SensitiveFiles::new(self.root.clone(), own.all_paths().cloned().collect()));
        Self { own_files: own, sensitive_files: sensitive, ..self }
    }

    /// Returns the same disk with `/` as the project.
    pub(super) fn for_system(&self) -> Self {
        Self { root: "/".into(), home: self.home.clone(), own_files: self.own_files.clone(), sensitive_files: None }
    }

    /// Marks the location if it is one of aye's own files.
    pub(super) fn mark_own(&self, at: Location) -> Location {
        let own = self.own_files.kind_of(&at.real);
        Location { own_file: own, is_sensitive: at.is_sensitive || own.is_some(), ..at }
    }

    /// Like [`Self::mark_own`], for an entry that a walk found below a marked location.
    pub(super) fn mark_own_below(&self, at: Location) -> Location {
        let own = self.own_files.kind_of_walked(&at.real);
        Location { own_file: own, is_sensitive: at.is_sensitive || own.is_some(), ..at }
    }

    /// Returns the user's home, if known.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }
}

impl Reader for Disk {
    fn root(&self) -> &Path {
        &self.root
    }

    fn locate(&self, path: &str) -> Result<Location, Error> {
        let at = path::locate_path(&self.root, self.home.as_deref(), path)?;
        Ok(self.mark_own(at))
    }

    fn read(&self, at: &Location) -> Result<Vec<u8>, Error> {
        atomic_file::read_file(&at.real, &at.display_path)
    }

    fn open(&self, at: &Location) -> Result<Box<dyn io::Read + Send>, Error> {
        Ok(Box::new(atomic_file::open_file(&at.real, &at.display_path)?))
    }

    fn link_count(&self, at: &Location) -> u64 {
        let meta = std::fs::symlink_metadata(&at.real).ok().filter(std::fs::Metadata::is_file);
        meta.map_or(1, |meta| meta.nlink())
    }

    fn name_check(&self) -> NameCheck<'_> {
        let listing = std::cell::OnceCell::new();
        Box::new(move |at| {
            if self.link_count(at) <= 1 || is_in_package_folder(&at.real) {
                return false;
            }
            // Outside the project no names are known.
            let known = self.sensitive_files.as_ref().filter(|known| at.real.starts_with(known.root()));
            known.is_none_or(|known| listing.get_or_init(|| known.current_listing()).reason(&at.real).is_some())
        })
    }

    fn exists(&self, at: &Location) -> bool {
        std::fs::symlink_metadata(&at.real).is_ok()
    }

    fn file_kind(&self, at: &Location) -> Option<FileKind> {
        std::fs::symlink_metadata(&at.real).ok().map(|meta| FileKind::from_metadata(&meta))
    }

    fn list_names(&self, at: &Location) -> Result<Vec<String>, Error> {
        let failed = |source| Error::Io { path: at.display_path.clone(), source };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&at.real).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().into_string();
            let odd = |name: std::ffi::OsString| {
                Error::BadPath(format!("{} is not a Unicode name", Path::new(&name).display()))
            };
            names.push(name.map_err(odd)?);
        }
        names.sort();
        Ok(names)
    }

    fn walk(
        &self,
        under: &Location,
        hidden: bool,
        visit: &mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        file_walk::walk_disk(&self.root, under, hidden, &mut |found| {
            visit(WalkEntry { location: self.mark_own_below(found.location), ..found })
        })
    }
}

impl Writer for Disk {
    fn write(&self, at: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let before = before.map(ExpectedFile::from_bytes);
        atomic_file::replace_file(&at.real, &at.display_path, before, ExpectedFile::from_bytes(after), Path::new("/"))
    }
}

#[cfg(test)]
mod tests;
