//! The workspace of a session: reading, writing and deleting files.

mod locked_changes;
mod opened_copies;

use super::contents::Contents;
use super::index::{FileRecord, Index, StoredFile};
use super::index_files::{Cursor, IndexFiles};
use super::index_line::{Change, Content, IndexLine, Origin};
use super::{Error, Limits, detect_media_type};
use crate::chat::SessionId;
use crate::store::{Places, clock, private_files};
use crate::text::workspace_address::{AddressTarget, PathPrefix, ScopedPath, WorkspacePath, is_id};
pub use opened_copies::ChangedCopy;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The workspace of a session. Creates and reads nothing before the first use. All methods may block.
pub struct Workspace {
    places: Places,
    session: SessionId,
    folder: PathBuf,
    limits: Limits,
    contents: Contents,
    index_files: IndexFiles,
    loaded: Mutex<LoadedIndex>,
    #[cfg(test)]
    pub(super) faults: tests::Faults,
}

/// What was read of the index.
#[derive(Default)]
struct LoadedIndex {
    index: Index,
    cursor: Option<Cursor>,
    /// True if the index has lines of a later version.
    has_unknown: bool,
    /// True once this program has removed what killed programs left.
    is_swept: bool,
}

/// A file to store.
#[derive(Debug)]
pub struct NewFile<'a> {
    pub path: &'a WorkspacePath,
    pub bytes: &'a [u8],
    pub origin: Origin,
    pub replaces: Replaces,
    /// Media type; `None` for the one that name and content show.
    pub media_type: Option<&'a str>,
}

/// The file of the same path that a new file may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaces {
    /// None: an existing file is an error.
    Nothing,
    /// This version, for example the one that the user was shown. A later one is an error.
    Version(u64),
    Any,
}

/// Steps of a change, after each of which it may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Prepared,
    Locked,
    ContentAdded,
    LinesAppended,
}

impl Workspace {
    /// Creates a handle.
    pub fn new(places: &Places, session: SessionId, limits: Limits) -> Self {
        let folder = places.workspace(&session);
        Self {
            contents: Contents::new(folder.join("bytes")),
            index_files: IndexFiles::new(&folder),
            places: places.clone(),
            session,
            folder,
            limits,
            loaded: Mutex::default(),
            #[cfg(test)]
            faults: tests::Faults::default(),
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the workspace of another session.
    ///
    /// # Errors
    /// If there is no such session.
    pub fn of_session(&self, session: &SessionId) -> Result<Self, Error> {
        match self.places.session(session).is_file() {
            true => Ok(Self::new(&self.places, session.clone(), self.limits)),
            false => Err(Error::NoSession(session.clone())),
        }
    }

    /// Returns the other sessions that have a workspace, newest first.
    ///
    /// # Errors
    /// If the folder of the workspaces cannot be read.
    pub fn other_sessions(&self) -> Result<Vec<SessionId>, Error> {
        let folder = self.places.workspaces();
        let entries = private_files::list_folder(&folder).map_err(Error::with_path(&folder))?;
        let names = entries.iter().filter_map(|entry| entry.file_name()?.to_str());
        let ids = names.filter(|name| is_id(name)).map(|name| SessionId(name.to_owned()));
        let mut ids: Vec<SessionId> =
            ids.filter(|id| *id != self.session && self.places.session(id).is_file()).collect();
        ids.sort_by(|a, b| b.0.cmp(&a.0));
        Ok(ids)
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the files whose paths have the prefix, most recently changed first. The session of the prefix is ignored.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn list(&self, prefix: &PathPrefix) -> Result<Vec<StoredFile>, Error> {
        let loaded = self.refresh()?;
        let latest = loaded.index.files().filter(|(_, record)| prefix.matches(&record.path));
        let mut files: Vec<StoredFile> =
            latest.filter_map(|(id, record)| record.stored_file(id, record.latest()?)).collect();
        files.sort_by(|a, b| (b.time, &b.id).cmp(&(a.time, &a.id)));
        Ok(files)
    }

    /// Returns the length of the index in bytes, which changes with every change of a file; 0 without an index. Cheap, because
    /// nothing is read.
    pub fn index_length(&self) -> u64 {
        self.index_files.length()
    }

    /// Returns the latest version of a file, or the one that the target names. The session of a path is ignored.
    ///
    /// # Errors
    /// If there is no such file or version, or its content is no longer kept.
    pub fn find(&self, target: &AddressTarget) -> Result<StoredFile, Error> {
        let loaded = self.refresh()?;
        let (id, record) = find_record(&loaded.index, target)?;
        let AddressTarget::Id(_, Some(number)) = target else {
            let latest = record.latest().and_then(|latest| record.stored_file(id, latest));
            return latest.ok_or_else(|| Error::Missing(target.to_string()));
        };
        let name = record.path.to_string();
        let version = record.versions.iter().find(|version| version.number == *number);
        match version {
            None => {
                let latest = record.versions.last().map_or(0, |latest| latest.number);
                Err(Error::NoVersion { name, version: *number, latest })
            }
            Some(version) if version.is_dropped => Err(Error::Dropped { name, version: *number }),
            Some(version) => record.stored_file(id, version).ok_or(Error::Deletion { name, version: *number }),
        }
    }

    /// Returns the versions of a file that have a content, oldest first, also of a deleted file. `true` in an item means
    /// that its content is still kept.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn list_versions(&self, target: &AddressTarget) -> Result<Vec<(StoredFile, bool)>, Error> {
        let loaded = self.refresh()?;
        let (id, record) = find_record(&loaded.index, target)?;
        let describe = |version| Some((record.stored_file(id, version)?, !version.is_dropped));
        Ok(record.versions.iter().filter_map(describe).collect())
    }

    /// Returns a content.
    ///
    /// # Errors
    /// If it is damaged or cannot be read.
    pub fn read(&self, file: &StoredFile) -> Result<Vec<u8>, Error> {
        let content = self.contents.read(&file.sha256).map_err(|error| self.explain_unread(file, error))?;
        content.ok_or_else(|| Error::Damaged(file.path.to_string()))
    }

    /// Returns at most the first `max_bytes` of a content. It is checked only if that is all of it.
    ///
    /// # Errors
    /// If it is damaged or cannot be read.
    pub fn read_beginning(&self, file: &StoredFile, max_bytes: u64) -> Result<Vec<u8>, Error> {
        if file.size <= max_bytes {
            return self.read(file);
        }
        self.contents.read_beginning(&file.sha256, max_bytes).map_err(|error| self.explain_unread(file, error))
    }

    fn explain_unread(&self, file: &StoredFile, error: io::Error) -> Error {
        match error.kind() == io::ErrorKind::NotFound && !file.is_latest {
            true => Error::Dropped { name: file.path.to_string(), version: file.version },
            false => Error::with_path(&self.folder.join("bytes"))(error),
        }
    }

    /// Stores a file, or a new version of it. Nothing is added if content and media type are those it has.
    ///
    /// # Errors
    /// If the file exists and is not to be replaced, or exceeds a limit, or cannot be written. The workspace is then
    /// unchanged, unless the index cannot be read again once it has the file.
    pub fn write(&self, file: &NewFile<'_>) -> Result<StoredFile, Error> {
        let size = file.bytes.len() as u64;
        if size > self.limits.file_bytes {
            let (name, limit) = (file.path.to_string(), self.limits.file_bytes);
            return Err(Error::TooLarge { name, size, limit });
        }
        private_files::create_folder(&self.folder).map_err(self.with_path())?;
        let prepared = self.contents.prepare(file.bytes).map_err(self.with_path())?;
        self.pass(Step::Prepared)?;
        let media_type =
            file.media_type.unwrap_or_else(|| detect_media_type(file.path.file_name(), file.bytes)).to_owned();
        let content = Content { size, sha256: prepared.digest().clone(), media_type };
        let mut writer = self.start_writing()?;
        let known = writer.index.id(file.path).map(|id| (id.clone(), writer.index.file(id)));
        if let Some((id, Some(record))) = &known
            && let Some(latest) = record.latest()
        {
            match file.replaces {
                Replaces::Nothing => return Err(Error::Exists(file.path.to_string())),
                Replaces::Version(version) if version != latest.number => {
                    return Err(Error::Changed { name: file.path.to_string(), version: latest.number });
                }
                Replaces::Version(_) | Replaces::Any => {}
            }
            if latest.content.as_ref() == Some(&content)
                && let Some(stored) = record.stored_file(id, latest)
            {
                return Ok(stored);
            }
        }
        // What the new version replaces is no latest version any more, unless another file has it too.
        let used = writer.index.latest_bytes;
        if !writer.index.is_latest_content(&content.sha256) && used + size > self.limits.session_bytes {
            let replaced = known.as_ref().and_then(|(_, record)| record.as_ref()?.latest()?.content.as_ref());
            let freed = replaced.map_or(0, |replaced| writer.index.bytes_of_only_use(&replaced.sha256));
            if used - freed + size > self.limits.session_bytes {
                let (name, limit) = (file.path.to_string(), self.limits.session_bytes);
                return Err(Error::Full { name, size, used, limit });
            }
        }
        let (id, version) = match known {
            Some((id, Some(record))) => (id, record.versions.last().map_or(1, |last| last.number + 1)),
            Some(_) | None => (clock::new_ulid().to_string(), 1),
        };
        let line = IndexLine {
            id: id.clone(),
            version,
            change: Change::Stored,
            path: file.path.to_string(),
            time: now(),
            content: Some(content),
            origin: file.origin.clone(),
        };
        self.append(&mut writer, line, Some(prepared))?;
        let stored = writer.index.file(&id).and_then(|record| record.stored_file(&id, record.latest()?));
        stored.ok_or_else(|| Error::Missing(file.path.to_string()))
    }

    /// Deletes a file. Its versions stay among the earlier ones.
    ///
    /// # Errors
    /// If there is no such file, or the deletion cannot be recorded.
    pub fn delete(&self, target: &AddressTarget, origin: Origin) -> Result<StoredFile, Error> {
        // Without a folder there is no file, and none is created.
        self.find(target)?;
        let mut writer = self.start_writing()?;
        let (id, record) = find_record(&writer.index, target)?;
        let latest = record.latest().ok_or_else(|| Error::Missing(target.to_string()))?;
        let deleted = record.stored_file(id, latest).ok_or_else(|| Error::Missing(target.to_string()))?;
        let line = IndexLine {
            id: id.clone(),
            version: latest.number + 1,
            change: Change::Deleted,
            path: record.path.to_string(),
            time: now(),
            content: None,
            origin,
        };
        self.append(&mut writer, line, None)?;
        Ok(deleted)
    }

    /// Permanently removes the earlier versions and the deleted files, and the copies that were made for other programs. Returns
    /// the number of versions, and the bytes that this frees.
    ///
    /// # Errors
    /// If that cannot be recorded, or changes in such a copy cannot be stored first. The copies are then kept.
    pub fn prune(&self) -> Result<(usize, u64), Error> {
        // Without a folder there is no file, and none is created.
        if self.refresh()?.index.files().next().is_none() {
            return Ok((0, 0));
        }
        for copy in self.store_changed_copies()? {
            copy.stored?;
        }
        let mut writer = self.start_writing()?;
        let bytes_before = writer.index.old_bytes;
        let old_versions = writer.index.all_droppable_versions();
        self.drop_versions(&mut writer, &old_versions)?;
        let (count, freed) = (old_versions.len(), bytes_before - writer.index.old_bytes);
        drop(writer);
        self.remove_copies()?;
        Ok((count, freed))
    }

    /// Reads what was added to the index.
    fn refresh(&self) -> Result<MutexGuard<'_, LoadedIndex>, Error> {
        let lock = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loaded = lock();
        self.read_new_lines(&mut loaded)?;
        if self.is_index_lost(&loaded) {
            drop(loaded);
            self.start_writing()?;
            loaded = lock();
        }
        Ok(loaded)
    }

    /// Returns whether both files of the index are equal and whole.
    fn read_new_lines(&self, loaded: &mut LoadedIndex) -> Result<bool, Error> {
        let read = self.index_files.read(loaded.cursor.as_ref()).map_err(self.with_path())?;
        if read.is_whole {
            (loaded.index, loaded.cursor, loaded.has_unknown) = (Index::default(), None, false);
        }
        loaded.has_unknown |= read.has_unknown;
        read.lines.iter().for_each(|line| loaded.index.apply(line));
        let is_intact = read.cursor.is_some();
        loaded.cursor = read.cursor.or(loaded.cursor.take());
        Ok(is_intact)
    }

    fn with_path(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::with_path(&self.folder)
    }

    #[cfg(test)]
    fn pass(&self, step: Step) -> Result<(), Error> {
        self.faults.pass(step).map_err(self.with_path())
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "tests let a step fail")]
    fn pass(&self, _: Step) -> Result<(), Error> {
        Ok(())
    }
}

fn find_record<'a>(index: &'a Index, target: &AddressTarget) -> Result<(&'a String, &'a FileRecord), Error> {
    let found = match target {
        AddressTarget::Id(id, _) => index.file_with_id(id),
        AddressTarget::Path(ScopedPath { path, .. }) => index.id(path).and_then(|id| Some((id, index.file(id)?))),
    };
    found.ok_or_else(|| Error::Missing(target.to_string()))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    clock::now_ms()
}

#[cfg(test)]
mod tests;
