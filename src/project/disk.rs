//! The live project folder.

use super::sensitive_files::{SensitiveFiles, is_packaged};
use super::whole::{self, Whole};
use super::{Error, Found, Kind, Located, NameCheck, OwnFiles, Reader, Writer, index, path};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The project as it is on disk.
pub struct Disk {
    root: PathBuf,
    home: Option<PathBuf>,
    own: OwnFiles,
    /// Known names of sensitive files; `None` if the root is the whole file system.
    sensitive: Option<SensitiveFiles>,
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
        Ok(Self { root, home, own: OwnFiles::default(), sensitive })
    }

    /// Sets aye's own files. The project may contain them, and a link may lead to them.
    #[must_use]
    pub fn keeping(self, own: OwnFiles) -> Self {
        let sensitive = Some(SensitiveFiles::new(self.root.clone(), own.paths().cloned().collect()));
        Self { own, sensitive, ..self }
    }

    /// Returns the same disk with `/` as the project.
    pub(super) fn of_system(&self) -> Self {
        Self { root: "/".into(), home: self.home.clone(), own: self.own.clone(), sensitive: None }
    }

    /// Marks the location if it is one of aye's own files.
    pub(super) fn mark_own(&self, at: Located) -> Located {
        let own = self.own.find(&at.real);
        Located { own, sensitive: at.sensitive || own.is_some(), ..at }
    }

    /// Like [`Self::mark_own`], for an entry that a walk found below a marked location.
    pub(super) fn mark_own_below(&self, at: Located) -> Located {
        let own = self.own.find_below(&at.real);
        Located { own, sensitive: at.sensitive || own.is_some(), ..at }
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

    fn locate(&self, path: &str) -> Result<Located, Error> {
        let at = path::locate(&self.root, self.home.as_deref(), path)?;
        Ok(self.mark_own(at))
    }

    fn read(&self, at: &Located) -> Result<Vec<u8>, Error> {
        whole::read(&at.real, &at.shown)
    }

    fn open(&self, at: &Located) -> Result<Box<dyn io::Read + Send>, Error> {
        Ok(Box::new(whole::open(&at.real, &at.shown)?))
    }

    fn link_count(&self, at: &Located) -> u64 {
        let meta = std::fs::symlink_metadata(&at.real).ok().filter(std::fs::Metadata::is_file);
        meta.map_or(1, |meta| meta.nlink())
    }

    fn name_check(&self) -> NameCheck<'_> {
        let listing = std::cell::OnceCell::new();
        Box::new(move |at| {
            if self.link_count(at) <= 1 || is_packaged(&at.real) {
                return false;
            }
            // Outside the project no names are known.
            let known = self.sensitive.as_ref().filter(|known| at.real.starts_with(known.root()));
            known.is_none_or(|known| listing.get_or_init(|| known.list()).reason(&at.real).is_some())
        })
    }

    fn exists(&self, at: &Located) -> bool {
        std::fs::symlink_metadata(&at.real).is_ok()
    }

    fn kind(&self, at: &Located) -> Option<Kind> {
        std::fs::symlink_metadata(&at.real).ok().map(|meta| Kind::of(&meta))
    }

    fn names(&self, at: &Located) -> Result<Vec<String>, Error> {
        let failed = |source| Error::Io { path: at.shown.clone(), source };
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
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        index::walk(&self.root, under, hidden, &mut |found| {
            visit(Found { at: self.mark_own_below(found.at), ..found })
        })
    }
}

impl Writer for Disk {
    fn write(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let before = before.map(Whole::of);
        whole::replace(&at.real, &at.shown, before, Whole::of(after), Path::new("/"))
    }
}

#[cfg(test)]
mod tests;
