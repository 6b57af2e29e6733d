//! Changes of a workspace, made while it is locked.

use super::{LoadedIndex, Step, Workspace, now};
use crate::chat::Digest;
use crate::store::{clock, private_files};
use crate::workspace::Error;
use crate::workspace::contents::PreparedContent;
use crate::workspace::index::{Index, Version};
use crate::workspace::index_line::{Change, Content, IndexLine, Origin};
use crate::workspace::media_type::{detect_media_type, extension_for};
use std::fs::{File, TryLockError};
use std::io;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for another program that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait between two attempts to lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// Folder of the files whose names are lost.
const RECOVERED: &str = "recovered";
/// Digits of the digest in the name of such a file.
const DIGEST_DIGITS: usize = 16;
/// Source of such a file.
const LOST_SOURCE: &str = "a file of unknown origin";

/// The index while the workspace is locked.
pub(super) struct Writer<'a> {
    loaded: MutexGuard<'a, LoadedIndex>,
    _lock: File,
}

impl std::ops::Deref for Writer<'_> {
    type Target = LoadedIndex;

    fn deref(&self) -> &LoadedIndex {
        &self.loaded
    }
}

impl std::ops::DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut LoadedIndex {
        &mut self.loaded
    }
}

impl Workspace {
    /// Locks the workspace for a change, and reads what others wrote.
    pub(super) fn start_writing(&self) -> Result<Writer<'_>, Error> {
        let lock = self.lock()?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_lost_lines = false;
        if !self.read_new_lines(&mut loaded)? {
            has_lost_lines = self.index_files.repair().map_err(self.with_path())?;
            self.read_new_lines(&mut loaded)?;
        }
        if has_lost_lines || self.is_index_lost(&loaded) {
            self.recover_contents(&loaded.index)?;
            self.read_new_lines(&mut loaded)?;
        }
        // A content is only removed if the index surely does not name it.
        let is_certain = !loaded.has_unknown && !loaded.index.has_conflict && loaded.index.files().next().is_some();
        if !loaded.is_swept && is_certain {
            self.contents.keep_only(&loaded.index.kept_contents());
            loaded.is_swept = true;
        }
        self.pass(Step::Locked)?;
        Ok(Writer { loaded, _lock: lock })
    }

    /// Returns whether there are contents, and no line of the index is left.
    pub(super) fn is_index_lost(&self, loaded: &LoadedIndex) -> bool {
        loaded.index.files().next().is_none() && !self.contents.list().is_empty()
    }

    /// Adds a file to the index for each content that it does not name. Their origin is unknown, so they count as texts
    /// from outside.
    fn recover_contents(&self, index: &Index) -> Result<(), Error> {
        let describe = |digest: Digest| {
            let bytes = self.contents.read(&digest).ok()??;
            let media_type = detect_media_type("", &bytes);
            let path = format!("{RECOVERED}/{}.{}", &digest.as_str()[..DIGEST_DIGITS], extension_for(media_type));
            let content = Content { size: bytes.len() as u64, sha256: digest, media_type: media_type.to_owned() };
            let origin = Origin { untrusted_source: Some(LOST_SOURCE.to_owned()), ..Origin::default() };
            let (id, change, time) = (clock::new_ulid().to_string(), Change::Stored, now());
            Some(IndexLine { id, version: 1, change, path, time, content: Some(content), origin })
        };
        let unnamed = self.contents.list().into_iter().filter(|digest| !index.keeps_content(digest));
        let lines: Vec<IndexLine> = unnamed.filter_map(describe).collect();
        self.index_files.append(&lines).map_err(self.with_path())
    }

    fn lock(&self) -> Result<File, Error> {
        let path = self.folder.join("lock");
        let file = match private_files::open_append(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                private_files::create_append(&path).or_else(|_| private_files::open_append(&path))
            }
            opened => opened,
        };
        let file = file.map_err(Error::with_path(&path))?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIMEOUT => {
                    return Err(Error::Busy(LOCK_TIMEOUT.as_secs()));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_INTERVAL),
                Err(TryLockError::Error(error)) => return Err(Error::with_path(&path)(error)),
            }
        }
    }

    /// Adds a content and its line, then drops the versions above the limits.
    pub(super) fn append(
        &self,
        writer: &mut Writer<'_>,
        line: IndexLine,
        content: Option<PreparedContent>,
    ) -> Result<(), Error> {
        let result = (|| {
            if let Some(content) = content {
                self.contents.add(content).map_err(self.with_path())?;
            }
            self.pass(Step::ContentAdded)?;
            self.index_files.append(std::slice::from_ref(&line)).map_err(self.with_path())
        })();
        if let Err(error) = result {
            // If the line is on disk nevertheless, the content is needed.
            let is_read = self.read_new_lines(writer).is_ok();
            let unused = line.content.filter(|content| is_read && !writer.index.keeps_content(&content.sha256));
            unused.iter().for_each(|content| self.contents.remove(&content.sha256));
            return Err(error);
        }
        self.read_new_lines(writer)?;
        self.pass(Step::LinesAppended)?;
        self.drop_excess(writer, &line.id)
    }

    /// Drops the versions above the limits. If that fails, the next change tries again.
    fn drop_excess(&self, writer: &mut Writer<'_>, changed: &str) -> Result<(), Error> {
        let excess = writer.index.excess_versions(changed, &self.limits);
        if self.drop_versions(writer, &excess).is_err() {
            // Its lines may be on disk nevertheless.
            self.read_new_lines(writer)?;
        }
        Ok(())
    }

    /// Records that versions are no longer kept, then removes the contents that no other version has.
    pub(super) fn drop_versions(&self, writer: &mut Writer<'_>, dropped: &[(String, Version)]) -> Result<(), Error> {
        let line = |(id, version): &(String, Version)| {
            let path = writer.index.file(id)?.path.to_string();
            let (change, origin, time) = (Change::Dropped, Origin::default(), now());
            Some(IndexLine { id: id.clone(), version: version.number, change, path, time, content: None, origin })
        };
        let lines: Vec<IndexLine> = dropped.iter().filter_map(line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.index_files.append(&lines).map_err(self.with_path())?;
        self.read_new_lines(writer)?;
        for content in dropped.iter().filter_map(|(_, version)| version.content.as_ref()) {
            if !writer.index.keeps_content(&content.sha256) {
                self.contents.remove(&content.sha256);
            }
        }
        Ok(())
    }
}
