//! Operations that apply one change of a dry run, identified by hashes of its state before and after.

use super::rehearsal::{Change, FileNode, Rehearsal};
use crate::chat::batch::Operation;
use crate::chat::{Access, Digest};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the operation for one change, with a hash of its state before and after.
pub fn describe_operation(change: &Change) -> Operation {
    let node = |node: &FileNode| match node {
        FileNode::Nothing => "nothing".to_owned(),
        FileNode::File { bytes, mode } => format!("file {mode:o} {}", Digest::of_bytes(bytes)),
        FileNode::Folder { mode } => format!("folder {mode:o}"),
        FileNode::Link(to) => format!("link {}", Digest::of_bytes(to.as_os_str().as_bytes())),
        FileNode::Other(words) => format!("other {}", Digest::of_bytes(words.as_bytes())),
    };
    let path = Digest::of_bytes(change.path.as_os_str().as_bytes());
    let text = format!("{path} {} {}", node(&change.before), node(&change.after));
    Operation { path: change.path.clone(), sha256: Digest::of_bytes(text.as_bytes()) }
}

/// Returns the hash of several operations.
pub fn digest_operations(operations: &[Operation]) -> Digest {
    let all: Vec<&str> = operations.iter().map(|operation| operation.sha256.as_str()).collect();
    Digest::of_bytes(all.join("\n").as_bytes())
}

/// Returns the access that the policy checks for a path, and the reason if it cannot be applied.
pub(super) fn determine_access(rehearsal: &Rehearsal, path: &Path) -> (Access, Option<String>) {
    match rehearsal.locate_live(path) {
        Ok(at) if at.is_inside && !at.is_sensitive => (Access::Write(at.display_path), None),
        Ok(at) => (Access::WriteOutside(at.display_path), None),
        Err(error) => (Access::WriteOutside(path.to_owned()), Some(error.to_string())),
    }
}
