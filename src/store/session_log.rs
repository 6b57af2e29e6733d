//! A session's file: a header, then one line of JSON per entry; append-only.

use super::incomplete_replies::Piece;
use super::line_parts::{Line, push_line};
use super::session_header::session_path;
use super::{Error, Header, Log, StoredSession, private_files, session_reader};
use crate::chat::{Entry, PartialOutput, PartialReply, SessionId};
use serde::Serialize;
use std::borrow::Cow;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A session's file, open for appending. While it exists no other process can open the session.
#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    file: Option<File>,
    /// Bytes not written yet: whole lines, except that the first may be the rest of a partly written line.
    queued: Vec<u8>,
    /// Number of entries in `queued`, complete or in part.
    unsaved: usize,
    /// Sequence number of the next entry.
    seq: u64,
}

impl SessionLog {
    /// Starts a session. The file is created with the first entry, so an empty session leaves none.
    pub fn new(sessions: &Path, header: &Header) -> Self {
        let mut queued = serde_json::to_vec(header).expect("a header is text and numbers");
        queued.push(b'\n');
        Self { path: session_path(sessions, &header.id), file: None, queued, unsaved: 0, seq: 1 }
    }

    /// Opens an existing session and reads it. The file is not changed. Incomplete replies that were restored from
    /// pieces are queued: the next write appends them as entries.
    pub fn open(sessions: &Path, id: &SessionId) -> Result<(Self, StoredSession), Error> {
        let path = session_path(sessions, id);
        let mut file = open_locked(&path, id)?;
        let session = session_reader::read_from(&mut file).map_err(Error::with_path(&path))?;
        let mut queued = Vec::new();
        if !ends_a_line(&mut file).map_err(Error::with_path(&path))? {
            queued.push(b'\n');
        }
        let mut seq = session.last_seq.saturating_add(1);
        for entry in &session.entries[session.entries.len() - session.incomplete_count..] {
            push_line(&mut queued, &Line::now(seq, entry)).map_err(Error::with_path(&path))?;
            seq = seq.saturating_add(1);
        }
        Ok((Self { path, file: Some(file), queued, unsaved: session.incomplete_count, seq }, session))
    }

    /// Returns the path of the file, which may not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether entries or pieces are queued: because a write failed, or because entries were restored when the
    /// session was opened.
    pub fn has_unwritten(&self) -> bool {
        // Neither the line feed that `open` queues after an incomplete line nor the header of an empty session counts.
        self.queued.len() > 1 && self.seq > 1
    }

    /// Queues an entry, or a piece of a reply or of an output.
    fn queue_line(&mut self, entry: impl Serialize) -> io::Result<()> {
        push_line(&mut self.queued, &Line::now(self.seq, entry))?;
        self.seq = self.seq.saturating_add(1);
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && is_deleted(file)
        {
            // Another program deleted the file while it was open. Its content is still readable, and is written again.
            let mut content = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut content)?;
            self.queue_for_new_file(create_locked(&self.path)?, content);
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(create_locked(&self.path)?),
        };
        write_queued(file, &mut self.queued)?;
        self.unsaved = 0;
        Ok(())
    }

    /// Queues the old file's content for a new file, before everything else. If the disk is full it is written later.
    fn queue_for_new_file(&mut self, new_file: File, mut content: Vec<u8>) {
        content.append(&mut self.queued);
        (self.file, self.queued) = (Some(new_file), content);
    }
}

/// Creates a locked session file, and its folder if missing.
fn create_locked(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private_files::create_folder(folder)?;
    }
    lock_new(path, private_files::create_append(path)?)
}

/// Locks a file that was just created. If that fails, removes it, so that the next attempt can create it.
fn lock_new(path: &Path, file: File) -> io::Result<File> {
    lock_with_retries(&file).inspect_err(|_| drop(std::fs::remove_file(path)))?;
    Ok(file)
}

/// Opens and locks a session's file.
///
/// # Errors
/// [`Error::Busy`] if another process has it open, [`Error::Missing`] if it does not exist or was removed meanwhile.
pub(super) fn open_locked(path: &Path, id: &SessionId) -> Result<File, Error> {
    let file = private_files::open_append(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(id.0.clone()),
        _ => Error::with_path(path)(source),
    })?;
    lock_with_retries(&file).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => Error::Busy(id.clone()),
        _ => Error::with_path(path)(source),
    })?;
    if is_deleted(&file) { Err(Error::Missing(id.0.clone())) } else { Ok(file) }
}

impl Log for SessionLog {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.queue_line(entry)?;
        self.unsaved += 1;
        self.write_out()
    }

    fn save(&mut self) -> io::Result<()> {
        let is_gone = self.file.as_ref().is_some_and(is_deleted);
        if self.has_unwritten() || is_gone { self.write_out() } else { Ok(()) }
    }

    fn save_to(&mut self, file: &Path) -> io::Result<()> {
        let mut content = Vec::new();
        if let Some(current) = &mut self.file {
            current.seek(SeekFrom::Start(0))?;
            current.read_to_end(&mut content)?;
        }
        content.extend_from_slice(&self.queued);
        let mut copy = private_files::create_append(file)?;
        let result = copy.write_all(&content).and_then(|()| copy.sync_all());
        // An incomplete file is removed, so that the name is free for the next attempt.
        result.inspect_err(|_| drop(std::fs::remove_file(file)))
    }

    fn unsaved_count(&self) -> usize {
        self.unsaved
    }

    fn append_reply_piece(&mut self, piece: &PartialReply) -> io::Result<()> {
        self.queue_line(Piece::Reply(Cow::Borrowed(piece)))?;
        self.write_out()
    }

    fn append_output_piece(&mut self, piece: &PartialOutput) -> io::Result<()> {
        self.queue_line(Piece::Output(Cow::Borrowed(piece)))?;
        self.write_out()
    }
}

impl Drop for SessionLog {
    fn drop(&mut self) {
        if self.has_unwritten() {
            // Last attempt; earlier failures were reported to the user.
            let _ = self.write_out();
        }
    }
}

/// Writes the queued bytes, usually in one call. Unwritten bytes stay queued, so that the next attempt completes a
/// partly written line.
fn write_queued(file: &mut impl Write, queue: &mut Vec<u8>) -> io::Result<()> {
    while !queue.is_empty() {
        match file.write(queue) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => drop(queue.drain(..written)),
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

/// Locks a file. The error is `WouldBlock` if another process still has it locked after the last attempt.
pub(super) fn lock_with_retries(file: &File) -> io::Result<()> {
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
