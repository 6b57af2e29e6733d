//! In-memory project for tests.

use crate::project::{Error, Found, Kind, Located, Reader, Writer};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files below `/project`, including those written later. Other paths are outside; `.git` and `.env` are sensitive.
pub(crate) struct Memory {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Memory {
    pub(crate) fn with(files: &[(&str, &str)]) -> Arc<Self> {
        Self::bytes(files.iter().map(|(path, text)| (*path, text.as_bytes().to_vec())))
    }

    pub(crate) fn bytes<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Arc<Self> {
        let files = files.into_iter().map(|(path, bytes)| (Path::new("/project").join(path), bytes));
        Arc::new(Self { files: Mutex::new(files.collect()) })
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let files = self.files.lock().unwrap();
        files.get(&Path::new("/project").join(path)).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn located(real: PathBuf) -> Located {
        let inside = real.starts_with("/project");
        let shown = real.strip_prefix("/project").unwrap_or(&real).to_owned();
        let sensitive =
            shown.components().any(|part| [".git", ".env"].iter().any(|name| part.as_os_str() == *name));
        Located { real, shown, inside, sensitive, own: None }
    }
}

impl Reader for Arc<Memory> {
    fn root(&self) -> &Path {
        Path::new("/project")
    }

    fn locate(&self, path: &str) -> Result<Located, Error> {
        if path.contains('\0') {
            return Err(Error::BadPath("a path holds no NUL".to_owned()));
        }
        let mut real = PathBuf::new();
        for part in Path::new("/project").join(path).components() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::Normal(_) => real.push(part),
            }
        }
        Ok(Memory::located(real))
    }

    fn read(&self, at: &Located) -> Result<Vec<u8>, Error> {
        let files = self.files.lock().unwrap();
        if let Some(bytes) = files.get(&at.real) {
            return Ok(bytes.clone());
        }
        if at.real == Path::new("/project") || files.keys().any(|path| path.starts_with(&at.real)) {
            return Err(Error::NotAFile { path: at.shown.clone(), kind: "a folder" });
        }
        Err(Error::Missing(at.shown.clone()))
    }

    fn open(&self, at: &Located) -> Result<Box<dyn std::io::Read + Send>, Error> {
        Ok(Box::new(std::io::Cursor::new(self.read(at)?)))
    }

    fn link_count(&self, _: &Located) -> u64 {
        1
    }

    fn exists(&self, at: &Located) -> bool {
        !matches!(self.read(at), Err(Error::Missing(_)))
    }

    fn kind(&self, at: &Located) -> Option<Kind> {
        match self.read(at) {
            Ok(bytes) => Some(Kind::File(bytes.len() as u64)),
            Err(_) => self.exists(at).then_some(Kind::Folder),
        }
    }

    fn names(&self, at: &Located) -> Result<Vec<String>, Error> {
        let files = self.files.lock().unwrap();
        let below = files.keys().filter_map(|path| path.strip_prefix(&at.real).ok());
        let names: std::collections::BTreeSet<String> =
            below.filter_map(|path| Some(path.iter().next()?.to_str()?.to_owned())).collect();
        if names.is_empty() {
            return Err(Error::Missing(at.shown.clone()));
        }
        Ok(names.into_iter().collect())
    }

    fn walk(
        &self,
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut found = BTreeMap::new();
        for (path, bytes) in self.files.lock().unwrap().iter() {
            for step in path.ancestors().filter(|step| step.starts_with(&under.real) && *step != under.real) {
                let shown = Memory::located(step.to_owned());
                let dotted =
                    shown.shown.components().any(|part| part.as_os_str().as_encoded_bytes()[0] == b'.');
                if (hidden || !dotted) && !shown.shown.starts_with(".git") {
                    let folder = step != path;
                    let size = if folder { 0 } else { bytes.len() as u64 };
                    found.insert(step.to_owned(), Found { at: shown, folder, size });
                }
            }
        }
        for found in found.into_values() {
            if visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Writer for Arc<Memory> {
    fn write(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let mut files = self.files.lock().unwrap();
        if files.get(&at.real).map(Vec::as_slice) != before {
            return Err(Error::Changed(at.shown.clone()));
        }
        files.insert(at.real.clone(), after.to_vec());
        Ok(())
    }
}
