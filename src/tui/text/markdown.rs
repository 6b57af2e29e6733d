//! Lays out Markdown as styled lines.

mod block;
mod block_layout;
mod block_parser;
mod heading_style;
mod markup;
mod nesting_limit;
mod stable_prefix;
mod table;
pub mod unrendered_text;

pub use markup::{harden_breaks, has_markup};
pub use stable_prefix::{complete_rows_length, defines_reference, stable_prefix};
pub use table::lay_out_cells;

use super::{Page, PictureKey};
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::tui::theme::Theme;
use pulldown_cmark::Options;
use std::sync::Arc;

/// Looks up the pictures that links name.
pub trait FindPicture {
    /// Returns the caption of a picture; `None` if there is no such picture.
    fn caption(&self, target: &LinkTarget) -> Option<String>;
    /// Returns a picture that is drawn in at most this many columns; `None` if it is not drawn.
    fn find_drawn(&self, target: &LinkTarget, width: usize) -> Option<Arc<PictureKey>>;
}

/// Finds no picture.
pub struct NoPictures;

impl FindPicture for NoPictures {
    fn caption(&self, _: &LinkTarget) -> Option<String> {
        None
    }

    fn find_drawn(&self, _: &LinkTarget, _: usize) -> Option<Arc<PictureKey>> {
        None
    }
}

/// The lookups of link targets that a layout needs.
type Lookups<'a> = (CheckTarget<'a>, &'a dyn FindPicture);

/// Lays out a reply, which is cleaned first. No line is wider than `width`; blocks are separated by one blank line, and
/// there is none at either end. Raw HTML is shown as text, and nothing is fetched. `check` is called for each possible
/// link at each layout: only existing targets become links, and missing ones are struck through. A caption from `pictures` is added
/// after an image, and the picture is drawn below its paragraph.
pub fn lay_out_markdown(
    source: &str,
    width: usize,
    theme: &Theme,
    check: CheckTarget<'_>,
    pictures: &dyn FindPicture,
) -> Page {
    let source = clean_text(source);
    let (blocks, images) = block_parser::parse_blocks(&nesting_limit::bound_nesting(&source), theme, (check, pictures));
    let is_loose = true;
    block_layout::BlockLayout { theme, images: &images, pictures }.lay_out_blocks(&blocks, is_loose, width.max(1))
}

/// Returns the enabled Markdown extensions.
fn parser_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
}

#[cfg(test)]
mod tests;
