//! A session's file: a header, then one line of JSON per entry; append-only.

use super::{Error, Log, Read, half, parts, private, read};
use crate::chat::{Entry, Grown, Printed, SessionId};
use serde::{Deserialize, Serialize, Serializer};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Format version. A reader of a newer file reports it and reads what it knows.
pub const VERSION: u32 = 1;

/// A session's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Format version.
    pub aye: u32,
    /// The session's ID, which is also the file name.
    pub id: SessionId,
    /// Absolute path of the project. If it is not Unicode, an approximation.
    #[serde(serialize_with = "lossy")]
    pub folder: PathBuf,
    /// Creation time in RFC 3339 format.
    pub time: String,
    /// Model at the start.
    #[serde(default)]
    pub model: String,
    /// Profile at the start; empty if the address was given for one run only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// True for a dry run. Never changes.
    #[serde(default)]
    pub dry_run: bool,
    /// The session that this one was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SessionId>,
}

impl Header {
    /// Creates the header of a new session.
    pub fn new(id: SessionId, folder: &Path, model: &str, dry_run: bool) -> Self {
        let time = now();
        let (folder, model, profile) = (folder.to_owned(), model.to_owned(), String::new());
        Self { aye: VERSION, id, folder, time, model, profile, dry_run, from: None }
    }

    /// Returns whether the session belongs to this folder. Compares the displayable names.
    pub fn is_of(&self, project: &Path) -> bool {
        self.folder.to_string_lossy() == project.to_string_lossy()
    }
}

/// Returns the current time in the header's format.
pub(super) fn now() -> String {
    jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string()
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Creates an ID. IDs sort by creation time.
pub fn new_id() -> SessionId {
    SessionId(ulid::Ulid::new().to_string())
}

/// Returns the path of a session's file.
pub fn path(sessions: &Path, id: &SessionId) -> PathBuf {
    sessions.join(format!("{}.jsonl", id.0))
}

/// A session's file, open for appending. While it exists no other process can open the session.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: Option<File>,
    /// Bytes not yet written: whole lines, except that the first may be the rest of a partly written one.
    owed: Vec<u8>,
    /// Number of entries among those, wholly or in part.
    unsaved: usize,
    /// Number of the next entry.
    seq: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    at: u64,
    entry: &'a Entry,
}

impl Lines {
    /// Starts a session. The file is created with the first entry, so an empty session leaves none.
    pub fn new(sessions: &Path, header: &Header) -> Self {
        let mut owed = serde_json::to_vec(header).expect("a header is text and numbers");
        owed.push(b'\n');
        Self { path: path(sessions, &header.id), file: None, owed, unsaved: 0, seq: 1 }
    }

    /// Opens an existing session and reads it. The file is not changed; later entries are appended, after the restored
    /// incomplete replies.
    pub fn open(sessions: &Path, id: &SessionId) -> Result<(Self, Read), Error> {
        let path = path(sessions, id);
        let mut file = take(&path, id)?;
        let read = read::from(&mut file).map_err(Error::at(&path))?;
        let mut owed = Vec::new();
        if !ends_a_line(&mut file).map_err(Error::at(&path))? {
            owed.push(b'\n');
        }
        let mut seq = read.last_seq.saturating_add(1);
        for entry in &read.entries[read.entries.len() - read.halves..] {
            write_line(&mut owed, seq, entry).map_err(Error::at(&path))?;
            seq = seq.saturating_add(1);
        }
        Ok((Self { path, file: Some(file), owed, unsaved: read.halves, seq }, read))
    }

    /// Returns the path of the file, which may not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether entries are unwritten after an error.
    pub fn owes(&self) -> bool {
        self.owed.len() > 1 && self.seq > 1
    }

    /// Appends a line that is not an entry.
    fn keep(&mut self, line: half::Line<'_>) -> io::Result<()> {
        parts::push_line(&mut self.owed, line.seq, line.at, &serde_json::to_string(&line)?)?;
        self.seq = self.seq.saturating_add(1);
        self.settle()
    }

    fn settle(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && is_deleted(file)
        {
            // Another program deleted the file while it was open. Its content is still readable, and is written again.
            let mut held = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut held)?;
            self.goes_on_in(make(&self.path)?, held);
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(make(&self.path)?),
        };
        pay(file, &mut self.owed)?;
        self.unsaved = 0;
        Ok(())
    }

    /// Queues the old file's content for a new file, before everything else. If the disk is full it is written later.
    fn goes_on_in(&mut self, anew: File, mut held: Vec<u8>) {
        held.append(&mut self.owed);
        (self.file, self.owed) = (Some(anew), held);
    }
}

/// Creates a locked session file, and its folder if missing.
fn make(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::folder(folder)?;
    }
    alone(path, private::open_append(path, true)?)
}

/// Locks a file that was just created. If that fails, removes it, so that the next attempt can create it.
fn alone(path: &Path, file: File) -> io::Result<File> {
    lock(&file).inspect_err(|_| drop(std::fs::remove_file(path)))?;
    Ok(file)
}

/// Opens and locks a session's file.
///
/// # Errors
/// [`Error::Busy`] if another process has it open, [`Error::Missing`] if it does not exist or was removed meanwhile.
pub(super) fn take(path: &Path, id: &SessionId) -> Result<File, Error> {
    let file = private::open_append(path, false).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(id.0.clone()),
        _ => Error::at(path)(source),
    })?;
    lock(&file).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => Error::Busy(id.clone()),
        _ => Error::at(path)(source),
    })?;
    if is_deleted(&file) { Err(Error::Missing(id.0.clone())) } else { Ok(file) }
}

impl Log for Lines {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        write_line(&mut self.owed, self.seq, entry)?;
        self.seq = self.seq.saturating_add(1);
        self.unsaved += 1;
        self.settle()
    }

    fn save(&mut self) -> io::Result<()> {
        let is_gone = self.file.as_ref().is_some_and(is_deleted);
        if self.owes() || is_gone { self.settle() } else { Ok(()) }
    }

    fn save_to(&mut self, file: &Path) -> io::Result<()> {
        let mut all = Vec::new();
        if let Some(own) = &mut self.file {
            own.seek(SeekFrom::Start(0))?;
            own.read_to_end(&mut all)?;
        }
        all.extend_from_slice(&self.owed);
        let mut other = private::open_append(file, true)?;
        let written = other.write_all(&all).and_then(|()| other.sync_all());
        // An incomplete file is removed, so that the name is free for the next attempt.
        written.inspect_err(|_| drop(std::fs::remove_file(file)))
    }

    fn unsaved(&self) -> usize {
        self.unsaved
    }

    fn grew(&mut self, grown: &Grown) -> io::Result<()> {
        self.keep(half::Line::grown(self.seq, now_ms(), grown))
    }

    fn printed(&mut self, printed: &Printed) -> io::Result<()> {
        self.keep(half::Line::printed(self.seq, now_ms(), printed))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if self.owes() {
            // Last attempt; earlier failures were reported to the user.
            let _ = self.settle();
        }
    }
}

/// Queues an entry's line, in parts if it is long. On error nothing is queued.
fn write_line(owed: &mut Vec<u8>, seq: u64, entry: &Entry) -> io::Result<()> {
    let at = now_ms();
    let json = serde_json::to_string(&Line { seq, at, entry })?;
    parts::push_line(owed, seq, at, &json)
}

/// Returns the milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(0))
}

/// Writes the queued bytes, usually in one call. Unwritten bytes stay queued, so that the next attempt completes a
/// partly written line.
fn pay(file: &mut impl Write, owed: &mut Vec<u8>) -> io::Result<()> {
    while !owed.is_empty() {
        match file.write(owed) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => drop(owed.drain(..written)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns whether a file was deleted.
pub(super) fn is_deleted(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// Interval and number of attempts to lock a file. A process that is being started shares all open files until it
/// executes its program, so a session that was just closed may seem open.
const LOCK_PAUSE: Duration = Duration::from_millis(10);
const LOCK_TRIES: u32 = 25;

pub(super) fn lock(file: &File) -> io::Result<()> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Ok(()) | Err(TryLockError::Error(_)) => break,
        }
    }
    file.try_lock()
        .map_err(|error| match error {
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            TryLockError::Error(error) => error,
        })
        // Some network file systems have no locks; there a session is used without one.
        .or_else(|error| if error.kind() == io::ErrorKind::Unsupported { Ok(()) } else { Err(error) })
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests;
