//! Finds out whether a change destroys content that git has not stored.

use super::groups::read_indexes;
use super::patch::object_id::Algorithm;
use super::rehearsal::{Change, FileNode, Rehearsal};
use super::{Reader, git_index};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Object ids of the files in git's index, live and in a rehearsal. The index is read when it is first needed.
pub struct StoredContent<'a> {
    rehearsal: &'a Rehearsal,
    /// Ids in hexadecimal digits by absolute path.
    stored: OnceCell<HashMap<PathBuf, Vec<String>>>,
}

impl<'a> StoredContent<'a> {
    pub fn new(rehearsal: &'a Rehearsal) -> Self {
        Self { rehearsal, stored: OnceCell::new() }
    }

    /// Returns whether a change destroys content of the user: git has not stored the content before the change, and the
    /// file is deleted, replaced by what git has stored, or loses more than half of its bytes.
    pub fn loses_content(&self, change: &Change) -> bool {
        let Some(before) = content_of(&change.before) else { return change.before != FileNode::Nothing };
        let stored = self.stored.get_or_init(|| self.read_stored());
        let path = self.rehearsal.root().join(&change.path);
        let ids = stored.get(&path).map(Vec::as_slice).unwrap_or_default();
        let is_stored = |content: &[u8]| {
            let is_same = |id: &String| {
                let algorithm =
                    if id.len() == Algorithm::Sha1.null_id().len() { Algorithm::Sha1 } else { Algorithm::Sha256 };
                algorithm.hash_blob(content, content.len() as u64).is_ok_and(|hash| hash == *id)
            };
            ids.iter().any(is_same)
        };
        if before.is_empty() || is_stored(before) {
            return false;
        }
        content_of(&change.after).is_none_or(|after| after.len() * 2 < before.len() || is_stored(after))
    }

    fn read_stored(&self) -> HashMap<PathBuf, Vec<String>> {
        let mut stored: HashMap<PathBuf, Vec<String>> = HashMap::new();
        let Some(top) = self.rehearsal.repository_root() else { return stored };
        let indexes = read_indexes(self.rehearsal, &top);
        let entries = indexes.iter().filter_map(|bytes| git_index::parse_index(bytes)).flatten();
        for entry in entries {
            stored.entry(top.join(&entry.path)).or_default().push(entry.object_id());
        }
        stored
    }
}

/// Returns the bytes that git stores for a file or link; `None` for anything else, and for what was not read.
fn content_of(node: &FileNode) -> Option<&[u8]> {
    match node {
        FileNode::File { bytes, .. } => Some(bytes),
        FileNode::Link(target) => Some(target.as_os_str().as_bytes()),
        FileNode::Nothing | FileNode::Folder { .. } | FileNode::Other(_) => None,
    }
}
