//! Operations that apply one change of a dry run, identified by hashes of its state before and after.

use super::rehearsal::{Change, FileNode, Rehearsal};
use crate::chat::batch::Operation;
use crate::chat::{Access, Digest};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the operation for one change, with a hash of its state before and after.
pub fn describe_operation(change: &Change) -> Operation {
    let describe_node = |node: &FileNode| match node {
        FileNode::Nothing => "nothing".to_owned(),
        FileNode::File { bytes, mode } => format!("file {mode:o} {}", Digest::of_bytes(bytes)),
        FileNode::Folder { mode } => format!("folder {mode:o}"),
        FileNode::Link(target) => format!("link {}", Digest::of_bytes(target.as_os_str().as_bytes())),
        FileNode::Other(kind) => format!("other {}", Digest::of_bytes(kind.as_bytes())),
    };
    let path = Digest::of_bytes(change.path.as_os_str().as_bytes());
    let text = format!("{path} {} {}", describe_node(&change.before), describe_node(&change.after));
    Operation { path: change.path.clone(), sha256: Digest::of_bytes(text.as_bytes()) }
}

/// Returns the hash of several operations.
pub fn digest_operations(operations: &[Operation]) -> Digest {
    let hashes: Vec<&str> = operations.iter().map(|operation| operation.sha256.as_str()).collect();
    Digest::of_bytes(hashes.join("\n").as_bytes())
}

/// Returns the access that the policy checks for a change of a path, and the reason if the change cannot be applied.
/// Sensitive paths count as outside the project.
pub(super) fn determine_access(rehearsal: &Rehearsal, path: &Path) -> (Access, Option<String>) {
    match rehearsal.locate_live(path) {
        Ok(location) if location.is_inside && !location.is_sensitive => (Access::Write(location.display_path), None),
        Ok(location) => (Access::WriteOutside(location.display_path), None),
        Err(error) => (Access::WriteOutside(path.to_owned()), Some(error.to_string())),
    }
}
