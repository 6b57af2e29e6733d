//! A dry run's layer over the project: what is written lands there, and later reads see it. The project is only read.

use super::{Error, Found, Located, Reader, Writer, path, whole};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The project with a layer over it. The layer is a folder of its own; opened again, it gives the same view.
pub struct Rehearsal {
    real: Arc<dyn Reader>,
    /// The layer's files, by their paths in the project.
    upper: PathBuf,
}

/// A file that the rehearsal changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the project.
    pub path: PathBuf,
    /// What the project really holds; `None` where there is no such file.
    pub before: Option<Vec<u8>>,
    /// What it would hold.
    pub after: Vec<u8>,
}

impl Rehearsal {
    /// Lays `layer`, a folder outside the project, over the project. It is made with the first write.
    pub fn new(real: Arc<dyn Reader>, layer: PathBuf) -> Self {
        Self { real, upper: layer.join("upper") }
    }

    /// What was rehearsed so far, sorted by path. Writes that made no difference are left out.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        for (shown, size) in self.layered() {
            if size.is_none() {
                continue;
            }
            let at = path::at(self.root(), self.root().join(&shown));
            let after = whole::read(&self.upper()?.join(&shown), &shown)?;
            let before = match self.real.read(&at) {
                Ok(bytes) => Some(bytes),
                Err(Error::Missing(_)) => None,
                Err(error) => return Err(error),
            };
            if before.as_deref() != Some(&after) {
                changes.push(Change { path: shown, before, after });
            }
        }
        Ok(changes)
    }

    /// Where the layer keeps a file of the project.
    fn above(&self, at: &Located) -> Option<PathBuf> {
        let below = at.real.strip_prefix(self.root()).ok().filter(|_| at.inside)?;
        Some(self.upper().ok()?.join(below))
    }

    /// The layer's folder without links, which the person's own data folder may well have on its way.
    fn upper(&self) -> Result<PathBuf, Error> {
        let written =
            self.upper.to_str().ok_or_else(|| Error::BadPath("the layer's path is no UTF-8".into()))?;
        Ok(path::locate(Path::new("/"), None, written)?.real)
    }

    /// Every file and folder of the layer, with the size of the files.
    fn layered(&self) -> BTreeMap<PathBuf, Option<u64>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.upper.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let (Ok(meta), path) = (entry.metadata(), entry.path()) else { continue };
                let Ok(shown) = path.strip_prefix(&self.upper).map(Path::to_owned) else { continue };
                // A write that was cut short left it.
                if entry.file_name().to_string_lossy().starts_with(whole::BESIDE) {
                    continue;
                }
                found.insert(shown, meta.is_file().then_some(meta.len()));
                if meta.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }

    /// Refuses a file below something that is a file itself.
    fn fits(&self, at: &Located) -> Result<(), Error> {
        for folder in at.shown.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            match self.read(&path::at(self.root(), self.root().join(folder))) {
                Err(Error::NotAFile { kind: "a folder", .. } | Error::Missing(_)) => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    let source = std::io::ErrorKind::NotADirectory.into();
                    return Err(Error::Io { path: at.shown.clone(), source });
                }
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
        self.real.locate(path)
    }

    fn read(&self, at: &Located) -> Result<Vec<u8>, Error> {
        let above = self
            .above(at)
            .map_or(Err(Error::Missing(at.shown.clone())), |path| whole::read(&path, &at.shown));
        match (above, self.real.read(at)) {
            (Ok(bytes), _) => Ok(bytes),
            // A folder of the layer that the project does not have.
            (Err(error @ Error::NotAFile { .. }), Err(Error::Missing(_))) => Err(error),
            (Err(_), real) => real,
        }
    }

    fn exists(&self, at: &Located) -> bool {
        self.above(at).is_some_and(|path| path.symlink_metadata().is_ok()) || self.real.exists(at)
    }

    fn names(&self, at: &Located) -> Result<Vec<String>, Error> {
        let mut names =
            self.real.names(at).or_else(|error| if self.exists(at) { Ok(Vec::new()) } else { Err(error) })?;
        let base = if at.shown == Path::new(".") { Path::new("") } else { &at.shown };
        let above = self.layered().into_keys().filter(|path| path.parent() == Some(base));
        names.extend(
            above.filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned())),
        );
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn walk(
        &self,
        under: &Located,
        hidden: bool,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut layered = self.layered();
        let base = if under.shown == Path::new(".") { Path::new("") } else { &under.shown };
        layered.retain(|path, size| match path.strip_prefix(base) {
            Ok(below) if below.as_os_str().is_empty() => size.is_some(),
            Ok(below) => hidden || !below.iter().any(|name| name.to_string_lossy().starts_with('.')),
            Err(_) => false,
        });
        let mut waiting = layered.clone().into_iter().peekable();
        let mut ended = ControlFlow::Continue(());
        let only_above = |path: PathBuf, size: Option<u64>| Found {
            at: path::at(self.root(), self.root().join(path)),
            folder: size.is_none(),
            size: size.unwrap_or(0),
        };
        let walked = self.real.walk(under, hidden, &mut |mut found| {
            while let Some((path, size)) = waiting.next_if(|(path, _)| *path < found.at.shown) {
                ended = visit(only_above(path, size));
                if ended.is_break() {
                    return ended;
                }
            }
            if let Some((_, size)) = waiting.next_if(|(path, _)| *path == found.at.shown) {
                found.size = size.unwrap_or(found.size);
            }
            ended = visit(found);
            ended
        });
        match walked {
            Err(Error::Missing(_)) if self.exists(under) => {}
            walked => walked?,
        }
        if ended.is_continue() {
            let _ = waiting.try_for_each(|(path, size)| visit(only_above(path, size)));
        }
        Ok(())
    }
}

impl Writer for Rehearsal {
    fn write(&self, at: &Located, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        let Some(above) = self.above(at) else {
            return Err(Error::BadPath(format!(
                "{} is outside the project; a dry run can rehearse changes only inside it. Nothing was written",
                at.shown.display()
            )));
        };
        self.fits(at)?;
        let now = match self.read(at) {
            Ok(bytes) => Some(bytes),
            Err(Error::Missing(_)) => None,
            Err(error) => return Err(error),
        };
        if now.as_deref() != before {
            return Err(Error::Changed(at.shown.clone()));
        }
        let layered = match whole::read(&above, &at.shown) {
            Ok(bytes) => Some(bytes),
            Err(Error::Missing(_)) => None,
            Err(error) => return Err(error),
        };
        whole::replace(&above, &at.shown, layered.as_deref(), after)
    }
}

#[cfg(test)]
mod tests;
