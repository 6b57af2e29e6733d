//! What the project held at each path when the layer first changed it, kept beside the layer: what tells a conflict.

use super::change::{Node, node};
use super::{Rehearsal, layer};
use crate::chat::Digest;
use crate::project::Reader;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// The file's name, beside `upper`.
const FILE: &str = "origins";

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The bytes of the path: it may be no Unicode.
    path: Vec<u8>,
    held: Option<Digest>,
}

impl Rehearsal {
    /// What the project held at this path when the layer first changed it: the hash of a file's bytes, or of where a link
    /// leads. `None` where there was nothing, or a folder, or the layer has not changed it. Of a file of more than 10 MB
    /// it is the hash of its size and time, as [`fingerprint`] has it.
    pub fn origin(&self, path: &Path) -> Option<Digest> {
        let mut known = self.known();
        known.get_or_insert_with(|| read(&self.layer)).get(path).cloned().flatten()
    }

    /// What was read or noted so far; forgotten where the layer was thrown away since.
    fn known(&self) -> MutexGuard<'_, Option<HashMap<PathBuf, Option<Digest>>>> {
        let mut known = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        known.take_if(|_| !self.layer.join(FILE).exists());
        known
    }

    /// Notes what the project holds at every path that the layer changed and that was not noted yet. To be called
    /// whenever something else than this program may have written in the layer.
    pub fn note_origins(&self) -> io::Result<()> {
        let touched = self.touched();
        self.note(touched.iter().map(PathBuf::as_path))
    }

    /// Notes what the project holds at these paths, where it was not noted yet.
    pub(super) fn note<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> io::Result<()> {
        let mut known = self.known();
        let known = known.get_or_insert_with(|| read(&self.layer));
        let mut lines = Vec::new();
        let mut fresh = Vec::new();
        for path in paths.filter(|path| !known.contains_key(*path)) {
            let held = fingerprint(&self.root().join(path));
            let line = Line { path: path.as_os_str().as_bytes().to_vec(), held: held.clone() };
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
            fresh.push((path.to_owned(), held));
        }
        if fresh.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.layer)?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.layer.join(FILE))?;
        file.write_all(&lines)?;
        known.extend(fresh);
        Ok(())
    }
}

/// What is compared of a path of the disk to tell whether it is what it was: the same that [`Rehearsal::origin`] kept.
pub fn fingerprint(path: &Path) -> Option<Digest> {
    match node(path) {
        Node::Nothing | Node::Folder { .. } => None,
        Node::File { bytes, .. } => Some(Digest::of(&bytes)),
        Node::Link(to) => Some(Digest::of(to.as_os_str().as_bytes())),
        Node::Other(words) => {
            let meta = path.symlink_metadata().ok()?;
            Some(Digest::of(format!("{words} {} {}", meta.mtime(), meta.mtime_nsec()).as_bytes()))
        }
    }
}

/// Reads the file; a line that was cut short is left out.
fn read(folder: &Path) -> HashMap<PathBuf, Option<Digest>> {
    let bytes = fs::read(folder.join(FILE)).unwrap_or_default();
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    let mut known = HashMap::new();
    for line in lines {
        known.entry(PathBuf::from(std::ffi::OsString::from_vec(line.path))).or_insert(line.held);
    }
    known
}

/// Whether the layer of a session holds anything at all.
pub fn is_blank(upper: &Path) -> bool {
    layer::names(upper).is_empty()
}
