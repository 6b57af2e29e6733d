//! Converts text to styled lines. Pure: the caller passes closures for external facts, such as whether a
//! file exists.
//!
//! All text from outside this program passes `clean_text` (prose, output, names) or `reveal_text` (text to approve)
//! before it becomes a [`Page`]; the layout functions of this folder do that themselves.

pub mod bidi;
pub mod code;
pub mod diff;
pub mod markdown;
pub mod numbered_lines;
pub mod output;
mod page;
mod picture_rows;
pub mod pieces;
pub mod wrap;

pub use page::{Link, Page, PlacedLink, pad_line, place_links, prefix_line};
pub use picture_rows::{PictureKey, PictureRow, blank_rows};
pub use pieces::{revealed_line_pieces, revealed_pieces};
pub use wrap::Piece;
