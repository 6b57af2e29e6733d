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
    /// A block that contains others.
    Container(Container, Vec<Block>),
    /// A table: rows of cells, each with its text. The first row is the heading.
    Table {
        alignments: Vec<Alignment>,
        rows: Vec<Vec<Vec<Piece>>>,
    },
    Rule,
}

/// Kind of a block that contains others.
#[derive(Debug, Clone)]
pub(super) enum Container {
    /// The reply itself, around all other containers.
    Root,
    Quote,
    /// A footnote, with its name.
    Note(String),
    /// A list, with the number of its first item if it is ordered. It contains only items.
    List(Option<u64>),
    /// An item of a list. For a task: whether it is done.
    Item(Option<bool>),
}
