//! Parsed blocks of a reply, independent of the width.

use crate::tui::text::Piece;
use pulldown_cmark::Alignment;

/// One block of a reply.
#[derive(Debug, Clone)]
pub(super) enum Block {
    Text(Vec<Piece>),
    /// Code, with the info string of its fence.
    Code {
        language: String,
        code: String,
    },
    Quote(Vec<Block>),
    /// A footnote, with its name.
    Note(String, Vec<Block>),
    List {
        /// Number of the first item of an ordered list.
        start: Option<u64>,
        items: Vec<Item>,
    },
    /// A table; the first row is the heading.
    Table {
        alignments: Vec<Alignment>,
        rows: Vec<Vec<Vec<Piece>>>,
    },
    Rule,
}

/// One item of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// For a task: whether it is done.
    pub(super) task: Option<bool>,
    pub(super) blocks: Vec<Block>,
}

/// An open container.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) blocks: Vec<Block>,
}

#[derive(Default)]
pub(super) enum Kind {
    /// The reply itself, around all other containers.
    #[default]
    Root,
    Quote,
    Note(String),
    /// Number of the first item of an ordered list, and the items closed so far.
    List(Option<u64>, Vec<Item>),
    /// For a task: whether it is done.
    Item(Option<bool>),
}
