//! The live project folder.

use super::atomic_file::{self, FileVersion};
use super::sensitive_files::{SensitiveFiles, is_in_package_folder};
use super::{
    Error, FileKind, Location, OwnFiles, Reader, UnknownHardLinkCheck, Visit, WalkEntry, Writer, file_walk, path,
};
use std::io;
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
        let sensitive_files = Some(SensitiveFiles::new(root.clone(), Vec::new()));
        Ok(Self { root, home, own_files: OwnFiles::default(), sensitive_files })
    }

    /// Sets aye's own files. The project may contain them, and a link may lead to them.
    #[must_use]
    pub fn with_own_files(self, own_files: OwnFiles) -> Self {
        let sensitive_files = Some(SensitiveFiles::new(self.root.clone(), own_files.all_paths().cloned().collect()));
        Self { own_files, sensitive_files, ..self }
    }

    /// Returns the same disk with `/` as the project.
    pub(super) fn for_system(&self) -> Self {
        Self { root: "/".into(), home: self.home.clone(), own_files: self.own_files.clone(), sensitive_files: None }
    }

    /// Marks the location if it is one of aye's own files.
    pub(super) fn mark_own(&self, location: Location) -> Location {
        let own_file = self.own_files.kind_of(&location.real);
        Location { own_file, is_sensitive: location.is_sensitive || own_file.is_some(), ..location }
    }

    /// Like [`Self::mark_own`], for an entry that a walk found below a marked location.
    pub(super) fn mark_own_below(&self, location: Location) -> Location {
        let own_file = self.own_files.kind_of_walked(&location.real);
        Location { own_file, is_sensitive: location.is_sensitive || own_file.is_some(), ..location }
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
        let location = path::locate_path(&self.root, self.home.as_deref(), path)?;
        Ok(self.mark_own(location))
    }

    fn read(&self, location: &Location) -> Result<Vec<u8>, Error> {
        atomic_file::read_file(&location.real, &location.display_path)
    }

    fn open(&self, location: &Location) -> Result<Box<dyn io::Read + Send>, Error> {
        Ok(Box::new(atomic_file::open_file(&location.real, &location.display_path)?))
    }

    fn link_count(&self, location: &Location) -> u64 {
        let metadata = std::fs::symlink_metadata(&location.real).ok().filter(std::fs::Metadata::is_file);
        metadata.map_or(1, |metadata| metadata.nlink())
    }

    fn unknown_hard_link_check(&self) -> UnknownHardLinkCheck<'_> {
        let listing = std::cell::OnceCell::new();
        Box::new(move |location| {
            if self.link_count(location) <= 1 || is_in_package_folder(&location.real) {
                return false;
            }
            // Outside the project the other names are not known and may be those of secrets.
            let sensitive_files = self.sensitive_files.as_ref().filter(|files| location.real.starts_with(files.root()));
            sensitive_files
                .is_none_or(|files| listing.get_or_init(|| files.current_listing()).reason(&location.real).is_some())
        })
    }

    fn file_kind(&self, location: &Location) -> Option<FileKind> {
        std::fs::symlink_metadata(&location.real).ok().map(|metadata| FileKind::from_metadata(&metadata))
    }

    fn list_names(&self, location: &Location) -> Result<Vec<String>, Error> {
        let to_error = |source| Error::Io { path: location.display_path.clone(), source };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&location.real).map_err(to_error)? {
            names.push(entry.map_err(to_error)?.file_name().into_string().map_err(Error::for_name)?);
        }
        names.sort();
        Ok(names)
    }

    fn walk(&self, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error> {
        file_walk::walk_disk(&self.root, under, hidden, &mut |entry| {
            visit(WalkEntry { location: self.mark_own_below(entry.location), ..entry })
        })
    }
}

impl Writer for Disk {
    fn write(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let before = before.map(FileVersion::from_bytes);
        atomic_file::replace_file(
            &location.real,
            &location.display_path,
            before,
            FileVersion::from_bytes(after),
            // Every missing parent folder is created.
            Path::new("/"),
        )
    }
}

#[cfg(test)]
mod tests;
