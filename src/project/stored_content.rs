//! Finds out whether a change destroys content that git has not stored.

use super::git_index::IndexEntry;
use super::git_objects::GitObjects;
use super::groups::read_indexes;
use super::patch::object_id::Algorithm;
use super::rehearsal::{Change, FileNode, Rehearsal};
use super::{Reader, git_index};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Object ids of the files in git's index, live and in a rehearsal. The index is read when it is first needed.
pub struct StoredContent<'a> {
    rehearsal: &'a Rehearsal,
    /// Entries by path relative to the work tree.
    stored: OnceCell<HashMap<PathBuf, Vec<IndexEntry>>>,
    work_tree: Option<PathBuf>,
    /// Objects of the live repository.
    objects: GitObjects,
}

impl<'a> StoredContent<'a> {
    pub fn new(rehearsal: &'a Rehearsal) -> Self {
        let work_tree = rehearsal.repository_root();
        let objects = work_tree.as_deref().map(GitObjects::open).unwrap_or_default();
        Self { rehearsal, stored: OnceCell::new(), work_tree, objects }
    }

    /// Returns whether a change destroys content of the user: git has not stored the content before the change, and the
    /// file is deleted, replaced by what git has stored, or loses more than half of its bytes or of its words.
    pub fn loses_content(&self, change: &Change) -> bool {
        let Some(before) = content_of(&change.before) else { return change.before != FileNode::Nothing };
        let ids = self.stored_ids(&change.path);
        let is_staged = |content: &[u8], id: &String| {
            let algorithm =
                if id.len() == Algorithm::Sha1.null_id().len() { Algorithm::Sha1 } else { Algorithm::Sha256 };
            algorithm.hash_blob(content, content.len() as u64).is_ok_and(|hash| hash == *id)
        };
        // An index can name an object that does not exist.
        let is_stored = |id: &String| is_staged(before, id) && self.objects.contains_blob(id, before);
        if before.is_empty() || ids.iter().any(is_stored) {
            return false;
        }
        content_of(&change.after)
            .is_none_or(|after| loses_most(before, after) || ids.iter().any(|id| is_staged(after, id)))
    }

    /// Returns the object ids of a path of the project in hexadecimal digits.
    fn stored_ids(&self, path: &Path) -> Vec<String> {
        let Some(top) = &self.work_tree else { return Vec::new() };
        let path = self.rehearsal.root().join(path);
        let entries = path.strip_prefix(top).ok().and_then(|path| {
            let stored = self.stored.get_or_init(|| self.read_stored(top));
            stored.get(path)
        });
        entries.into_iter().flatten().map(IndexEntry::object_id).collect()
    }

    fn read_stored(&self, top: &Path) -> HashMap<PathBuf, Vec<IndexEntry>> {
        let mut stored: HashMap<PathBuf, Vec<IndexEntry>> = HashMap::new();
        let indexes = read_indexes(self.rehearsal, top);
        for entry in indexes.iter().filter_map(|bytes| git_index::parse_index(bytes)).flatten() {
            stored.entry(entry.path.clone()).or_default().push(entry);
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

/// Returns whether more than half of a content is gone: of its bytes, or of its words in any order, so that moved and
/// newly indented lines are still there.
fn loses_most(before: &[u8], after: &[u8]) -> bool {
    let words_of = |content| <[u8]>::split(content, |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    let mut remaining: HashMap<&[u8], usize> = HashMap::new();
    for word in words_of(after) {
        *remaining.entry(word).or_default() += 1;
    }
    let (mut total, mut left) = (0, 0);
    for word in words_of(before) {
        total += word.len();
        if let Some(count) = remaining.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            left += word.len();
        }
    }
    after.len() * 2 < before.len() || left * 2 < total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_lost_if_most_of_its_words_are_gone() {
        let before = "fn main() {\n    run(1, \"two\");\n}\n";
        for (after, expected) in [
            ("fn main() {\n  run(1, 'two')\n}\n", false),
            ("use x;\nfn main() {\n\t\trun(2, \"two\");\n}\n", false),
            ("", true),
            ("fn main() {", true),
            ("gn nbjo() {\n    svo(1, \"uxp\");\n}\n", true),
            ("x x x x x x x x x x x x x x x x x x x x", true),
        ] {
            assert_eq!(loses_most(before.as_bytes(), after.as_bytes()), expected, "{after}");
        }
        assert!(!loses_most(b"\n\n", b"\n"));
        assert!(loses_most(&[0xff; 9], &[0xfe; 9]));
    }
}
