//! Copies a session, to continue the copy while the original stays unchanged.
//!
//! The original is only read, so it may be open in another process. The copy's file is created last and atomically:
//! after any crash there is a complete copy or none.

use super::draft::Drafts;
use super::session_reader::{MAX_LINE_BYTES, split_header};
use super::{
    DeleteFolder, Error, Header, Places, new_id, overlay_copy, private_files, session_header, session_reader,
    workspace_copy,
};
use crate::chat::{ForkMode, SessionId};
use serde_json::{Map, Value};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// A new copy. Dropping it before [`Fork::keep`] removes the copy.
#[derive(Debug)]
pub struct Fork {
    /// The copy.
    pub id: SessionId,
    /// The session it was copied from.
    pub from: SessionId,
    /// True if the original's header could be read. If not, the copy is a dry run to be safe, unless a live copy was
    /// requested.
    pub has_header: bool,
    /// True if a dry run became live, or the other way round.
    pub has_changed_mode: bool,
    places: Places,
    delete_folder: DeleteFolder,
    is_kept: bool,
}

impl Fork {
    /// Keeps the copy.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // Leftovers are harmless: without its file there is no session.
        let _ = fs::remove_file(self.places.session(&self.id));
        let _ = Drafts::new(&self.places).remove(&self.id);
        let _ = (self.delete_folder)(&self.places.rehearsal(&self.id));
        let _ = (self.delete_folder)(&self.places.workspace(&self.id));
    }
}

/// Copies a session with its unsent draft, its workspace and its overlay. A live copy (`mode`) has no overlay, and no file
/// of the workspace that a rehearsed call wrote. Lines are copied as they are, also damaged ones and an incomplete last
/// one. `folder` is the working folder of the copy if the original has no readable header. `delete_folder` deletes the
/// overlay and the workspace of a copy that is not kept.
///
/// # Errors
/// [`Error::Missing`] if there is no such session, [`Error::Io`] if it cannot be read, [`Error::Copy`] if the copy
/// cannot be written.
pub fn fork_session(
    places: &Places,
    from: &SessionId,
    folder: &Path,
    copied: CopiedPart,
    delete_folder: DeleteFolder,
) -> Result<Fork, Error> {
    let path = places.session(from);
    let to_read_error = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(from.0.clone()),
        _ => Error::with_path(&path)(source),
    };
    let file = private_files::open_read(&path).map_err(to_read_error)?;
    // Entries that another process adds from here on are not copied.
    let length = file.metadata().map_err(to_read_error)?.len();
    let CopiedPart { mode, before_entry } = copied;
    let bytes = match before_entry {
        None => length,
        Some(index) => find_entry_start(&path, index).map_err(to_read_error)?,
    };
    let mut original = BufReader::new(file.take(bytes));
    let line = first_line(&mut original).map_err(to_read_error)?;

    let id = new_id();
    let (header, after_header) = split_header(&line);
    let original_header = header.and_then(|header| serde_json::from_slice::<Header>(header).ok());
    let was_dry_run = original_header.is_none_or(|header| header.dry_run);
    let dry_run = match mode {
        ForkMode::Unchanged => was_dry_run,
        ForkMode::Live => false,
        ForkMode::DryRun => true,
    };
    let header = header.and_then(|header| copied_header(header, &id, from, dry_run));
    let copy = Fork {
        id: id.clone(),
        from: from.clone(),
        has_header: header.is_some(),
        has_changed_mode: dry_run != was_dry_run,
        places: places.clone(),
        delete_folder,
        is_kept: false,
    };
    let mut beginning = header.unwrap_or_else(|| default_header(&id, from, folder, dry_run));
    beginning.push(b'\n');
    // In a damaged file the first line may also contain entries.
    if !after_header.trim_ascii().is_empty() {
        beginning.extend_from_slice(after_header);
    }

    let to_copy_error = |path: &Path| {
        let (from, path) = (from.clone(), path.to_owned());
        move |source| Error::Copy { from, path, source }
    };
    let (original_overlay, copied_overlay) = (places.rehearsal(from), places.rehearsal(&id));
    if mode != ForkMode::Live {
        overlay_copy::copy_overlays(&original_overlay, &copied_overlay)
            .map_err(|(path, source)| to_copy_error(&path)(source))?;
    }
    workspace_copy::copy_workspace(&places.workspace(from), &places.workspace(&id), mode != ForkMode::Live)
        .map_err(|(path, source)| to_copy_error(&path)(source))?;
    Drafts::new(places).copy(from, &id).map_err(|error| match error {
        Error::Io { path, source } => to_copy_error(&path)(source),
        error => error,
    })?;
    let path = places.session(&id);
    private_files::create_file(&path, |file| {
        file.write_all(&beginning)?;
        io::copy(&mut original, file).map(drop)
    })
    .map_err(to_copy_error(&path))?;
    Ok(copy)
}

/// Part of a session that is copied.
#[derive(Debug, Clone, Copy)]
pub struct CopiedPart {
    pub mode: ForkMode,
    /// Index of the first entry that is not copied; `None` to copy all.
    pub before_entry: Option<usize>,
}

impl From<ForkMode> for CopiedPart {
    fn from(mode: ForkMode) -> Self {
        Self { mode, before_entry: None }
    }
}

/// Returns the position in the file at which the line of an entry begins.
fn find_entry_start(path: &Path, entry: usize) -> io::Result<u64> {
    let stored = session_reader::read_from(&mut private_files::open_read(path)?)?;
    // An entry without a line of its own is at the end.
    let line = stored.lines.get(entry).copied().unwrap_or(usize::MAX);
    let mut file = BufReader::new(private_files::open_read(path)?);
    let mut position = 0;
    for _ in 1..line {
        match file.skip_until(b'\n')? {
            0 => break,
            length => position += length as u64,
        }
    }
    Ok(position)
}

/// Returns the first line that is not too long, with its line feed.
fn first_line(original: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        original.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        if (line.len() as u64) < MAX_LINE_BYTES || line.last() == Some(&b'\n') {
            return Ok(line);
        }
        original.skip_until(b'\n')?;
    }
}

/// Returns the header for the copy, including unknown fields of a newer version. `None` if it is damaged.
fn copied_header(header: &[u8], id: &SessionId, from: &SessionId, dry_run: bool) -> Option<Vec<u8>> {
    serde_json::from_slice::<Header>(header).ok()?;
    let mut header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    for (name, value) in [("id", id.0.clone()), ("time", session_header::current_time()), ("from", from.0.clone())] {
        header.insert(name.to_owned(), Value::String(value));
    }
    header.insert("dry_run".to_owned(), Value::Bool(dry_run));
    serde_json::to_vec(&header).ok()
}

/// Returns a header for a copy whose original has none.
fn default_header(id: &SessionId, from: &SessionId, folder: &Path, dry_run: bool) -> Vec<u8> {
    let header = Header { from: Some(from.clone()), ..Header::new(id.clone(), folder, "", dry_run) };
    serde_json::to_vec(&header).expect("a header is text and numbers")
}

#[cfg(test)]
mod tests;
