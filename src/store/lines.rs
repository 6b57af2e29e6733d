//! One session, one file: a header, then one line of JSON for each entry, only ever added to.

use super::{Error, Log, Read, half, parts, private, read};
use crate::chat::{Entry, Grown, Printed, SessionId};
use serde::{Deserialize, Serialize, Serializer};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The version of the file's form. A reader of a newer file says so and reads what it knows.
pub const VERSION: u32 = 1;

/// A session's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the file's form.
    pub aye: u32,
    /// The session's name, which is the file's as well.
    pub id: SessionId,
    /// The project; absolute. Where its name is not Unicode, the nearest that is.
    #[serde(serialize_with = "lossy")]
    pub folder: PathBuf,
    /// When the session was made, as RFC 3339.
    pub time: String,
    /// The model it began with.
    #[serde(default)]
    pub model: String,
    /// The profile of the settings that it began with; empty where an address was given for one run alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// Whether nothing real is touched. It never changes.
    #[serde(default)]
    pub dry_run: bool,
    /// The session that this one began as a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SessionId>,
}

impl Header {
    /// The header of a session that begins now.
    pub fn new(id: SessionId, folder: &Path, model: &str, dry_run: bool) -> Self {
        let time = now();
        let (folder, model, profile) = (folder.to_owned(), model.to_owned(), String::new());
        Self { aye: VERSION, id, folder, time, model, profile, dry_run, from: None }
    }

    /// Whether the session works in this folder, as far as the folder's name can be written.
    pub fn is_of(&self, project: &Path) -> bool {
        self.folder.to_string_lossy() == project.to_string_lossy()
    }
}

/// Now, as a header tells it.
pub(super) fn now() -> String {
    jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string()
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// A name for a new session. Names sort by the time they were made.
pub fn new_id() -> SessionId {
    SessionId(ulid::Ulid::new().to_string())
}

/// The file of a session in the folder of sessions.
pub fn path(sessions: &Path, id: &SessionId) -> PathBuf {
    sessions.join(format!("{}.jsonl", id.0))
}

/// A session's file, open for adding. While it lives no other process can open the session.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: Option<File>,
    /// Bytes not yet in the file: whole lines, but for the rest of one of which the beginning is there.
    owed: Vec<u8>,
    /// How many entries are among those, wholly or in part.
    unsaved: usize,
    /// The next entry's number.
    seq: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    at: u64,
    entry: &'a Entry,
}

impl Lines {
    /// A session that begins. Its file is made with its first entry: a session in which nothing was said leaves none.
    pub fn new(sessions: &Path, header: &Header) -> Self {
        let mut owed = serde_json::to_vec(header).expect("a header is text and numbers");
        owed.push(b'\n');
        Self { path: path(sessions, &header.id), file: None, owed, unsaved: 0, seq: 1 }
    }

    /// A session that goes on, and what was in it. Nothing in the file changes; entries that follow are added behind, and
    /// before them what was made of a reply that came to no end.
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

    /// The file, whether or not it exists yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether entries wait to be written because writing failed.
    pub fn owes(&self) -> bool {
        self.owed.len() > 1 && self.seq > 1
    }

    /// Adds a line that is no entry.
    fn keep(&mut self, line: half::Line<'_>) -> io::Result<()> {
        parts::push_line(&mut self.owed, line.seq, line.at, &serde_json::to_string(&line)?)?;
        self.seq = self.seq.saturating_add(1);
        self.settle()
    }

    fn settle(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && is_deleted(file)
        {
            // Another program deleted it while it is in use: what it held can still be read, and is written again.
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

    /// Owes a new file what the old one held, before all else: a disk that is full takes it later.
    fn goes_on_in(&mut self, anew: File, mut held: Vec<u8>) {
        held.append(&mut self.owed);
        (self.file, self.owed) = (Some(anew), held);
    }
}

/// Makes a session's file, for this process alone, and its folder if that is missing.
fn make(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::folder(folder)?;
    }
    alone(path, private::open_append(path, true)?)
}

/// The file that was just made at a path, for this process alone. Where it cannot be had alone it is not left behind: the
/// next try would find it there.
fn alone(path: &Path, file: File) -> io::Result<File> {
    lock(&file).inspect_err(|_| drop(std::fs::remove_file(path)))?;
    Ok(file)
}

/// Opens a session's file for this process alone.
///
/// # Errors
/// [`Error::Busy`] where another process has it open, and [`Error::Missing`] where it is not there, or was removed by
/// the process that was waited for.
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
        // A part of a session is worth less than a name that is free for the next try.
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
            // The last try; every one before has told the person.
            let _ = self.settle();
        }
    }
}

/// Adds an entry's line to what is owed, in parts if it is long; on error nothing is added.
fn write_line(owed: &mut Vec<u8>, seq: u64, entry: &Entry) -> io::Result<()> {
    let at = now_ms();
    let json = serde_json::to_string(&Line { seq, at, entry })?;
    parts::push_line(owed, seq, at, &json)
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(0))
}

/// Writes what is owed: in one piece as a rule. What the system did not take is still owed afterwards, to the byte,
/// so that a line of which half was written is completed by the next try.
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

/// Whether a file has no name any more.
pub(super) fn is_deleted(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// Between two tries for a lock, and how many there are. A process that is being started shares every open file until
/// it becomes its program: a session that was closed a moment ago may seem open for so long.
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
        // Some network file systems know no locks; there a session is not worth less than no session.
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
