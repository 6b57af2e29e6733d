//! In-memory project for tests.

use crate::project::{Error, FileKind, Location, Reader, WalkEntry, Writer};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files below `/project`, including those written later. Other paths are outside; `.git` and `.env` are sensitive.
pub(crate) struct MemoryProject {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl MemoryProject {
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Arc<Self> {
        Self::with_bytes(files.iter().map(|(path, text)| (*path, text.as_bytes().to_vec())))
    }

    pub(crate) fn with_bytes<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Arc<Self> {
        let files = files.into_iter().map(|(path, bytes)| (Path::new("/project").join(path), bytes));
        Arc::new(Self { files: Mutex::new(files.collect()) })
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let files = self.files.lock().unwrap();
        files.get(&Path::new("/project").join(path)).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn locate_path(real: PathBuf) -> Location {
        let is_inside = real.starts_with("/project");
        let display_path = real.strip_prefix("/project").unwrap_or(&real).to_owned();
        let is_sensitive =
            display_path.components().any(|part| [".git", ".env"].iter().any(|name| part.as_os_str() == *name));
        Location { real, display_path, is_inside, is_sensitive, own_file: None }
    }
}

impl Reader for Arc<MemoryProject> {
    fn root(&self) -> &Path {
        Path::new("/project")
    }

    fn locate(&self, path: &str) -> Result<Location, Error> {
        if path.contains('\0') {
            return Err(Error::Invalid("a path holds no NUL".to_owned()));
        }
        let mut real = PathBuf::new();
        for part in Path::new("/project").join(path).components() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::Normal(_) => real.push(part),
            }
        }
        Ok(MemoryProject::locate_path(real))
    }

    fn read(&self, location: &Location) -> Result<Vec<u8>, Error> {
        let files = self.files.lock().unwrap();
        if let Some(bytes) = files.get(&location.real) {
            return Ok(bytes.clone());
        }
        if location.real == Path::new("/project") || files.keys().any(|path| path.starts_with(&location.real)) {
            return Err(Error::NotAFile { path: location.display_path.clone(), kind: "a folder" });
        }
        Err(Error::Missing(location.display_path.clone()))
    }

    fn open(&self, location: &Location) -> Result<Box<dyn std::io::Read + Send>, Error> {
        Ok(Box::new(std::io::Cursor::new(self.read(location)?)))
    }

    fn link_count(&self, _: &Location) -> u64 {
        1
    }

    fn exists(&self, location: &Location) -> bool {
        !matches!(self.read(location), Err(Error::Missing(_)))
    }

    fn file_kind(&self, location: &Location) -> Option<FileKind> {
        match self.read(location) {
            Ok(bytes) => Some(FileKind::File(bytes.len() as u64)),
            Err(_) => self.exists(location).then_some(FileKind::Folder),
        }
    }

    fn list_names(&self, location: &Location) -> Result<Vec<String>, Error> {
        let files = self.files.lock().unwrap();
        let relative_paths = files.keys().filter_map(|path| path.strip_prefix(&location.real).ok());
        let names: std::collections::BTreeSet<String> =
            relative_paths.filter_map(|path| Some(path.iter().next()?.to_str()?.to_owned())).collect();
        if names.is_empty() {
            return Err(Error::Missing(location.display_path.clone()));
        }
        Ok(names.into_iter().collect())
    }

    fn walk(
        &self,
        folder: &Location,
        include_hidden: bool,
        visit: &mut dyn FnMut(WalkEntry) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut entries = BTreeMap::new();
        for (path, bytes) in self.files.lock().unwrap().iter() {
            for ancestor in
                path.ancestors().filter(|ancestor| ancestor.starts_with(&folder.real) && *ancestor != folder.real)
            {
                let location = MemoryProject::locate_path(ancestor.to_owned());
                let is_hidden =
                    location.display_path.components().any(|part| part.as_os_str().as_encoded_bytes()[0] == b'.');
                if (include_hidden || !is_hidden) && !location.display_path.starts_with(".git") {
                    let is_folder = ancestor != path;
                    let size = if is_folder { 0 } else { bytes.len() as u64 };
                    entries.insert(ancestor.to_owned(), WalkEntry { location, is_folder, size, modified: None });
                }
            }
        }
        for entry in entries.into_values() {
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Writer for Arc<MemoryProject> {
    fn write(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let mut files = self.files.lock().unwrap();
        if files.get(&location.real).map(Vec::as_slice) != before {
            return Err(Error::Changed(location.display_path.clone()));
        }
        files.insert(location.real.clone(), after.to_vec());
        Ok(())
    }
}
