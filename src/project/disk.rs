//! The real folder.

use super::whole::{self, Whole};
use super::{Error, Found, Kind, Located, Reader, Writer, index, path};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The project as it is on disk.
pub struct Disk {
    root: PathBuf,
    home: Option<PathBuf>,
    /// Folders that are aye's own.
    own: Vec<PathBuf>,
}

impl Disk {
    /// The project at this folder, which must exist.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned());
        Ok(Self { root, home, own: Vec::new() })
    }

    /// Takes whatever is in these folders, aye's own, for something that other programs obey: a project may lie around
    /// them.
    #[must_use]
    pub fn keeping(self, own: Vec<PathBuf>) -> Self {
        Self { own, ..self }
    }

    /// The place, with what is known of aye's own folders.
    pub(super) fn known(&self, at: Located) -> Located {
        let sensitive = at.sensitive || self.own.iter().any(|own| at.real.starts_with(own));
        Located { sensitive, ..at }
    }

    /// The person's home, where it is known.
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
        Ok(self.known(at))
    }

    fn read(&self, at: &Located) -> Result<Vec<u8>, Error> {
        whole::read(&at.real, &at.shown)
    }

    fn open(&self, at: &Located) -> Result<Box<dyn io::Read + Send>, Error> {
        Ok(Box::new(whole::open(&at.real, &at.shown)?))
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
                Error::BadPath(format!("{} is no Unicode name", Path::new(&name).display()))
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
            visit(Found { at: self.known(found.at), ..found })
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
