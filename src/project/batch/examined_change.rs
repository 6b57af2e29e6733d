//! A change of a batch, with only the part of its content that detecting moves needs.

use crate::chat::batch::{Item, Operation};
use crate::chat::{ChangeKind, Digest};

/// An examined change, without its content.
pub(super) struct ExaminedChange {
    pub(super) operation: Operation,
    pub(super) item: Item,
    pub(super) before: NodeSummary,
    pub(super) after: NodeSummary,
}

/// Content of a node, reduced to what detecting moves needs.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum NodeSummary {
    Nothing,
    /// Hash of the content; `None` for an empty file, because all empty files are equal.
    File(Option<Digest>),
    Folder,
    Other,
}

impl ExaminedChange {
    pub(super) fn is_deleted_file(&self) -> bool {
        self.item.kind == ChangeKind::Deleted && matches!(self.before, NodeSummary::File(_))
    }
}
