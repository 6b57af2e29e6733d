//! Lays out Markdown as styled lines.

mod block;
mod block_layout;
mod block_parser;
mod heading_style;
mod markup;
mod nesting_limit;
mod picture_lookup;
mod stable_prefix;
mod table;
pub mod unrendered_text;

pub use markup::{harden_breaks, has_markup};
pub use picture_lookup::{FindPicture, NoPictures};
pub use stable_prefix::{complete_rows_length, defines_reference, stable_prefix};
pub use table::lay_out_cells;

use super::Page;
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::tui::theme::Theme;
use pulldown_cmark::Options;
use std::sync::Arc;

/// Maximum number of images of a text that are drawn.
const MAX_DRAWN_IMAGES: usize = 20;

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
    let images = drawn_images(images);
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

/// Returns the images of a text that are drawn: the first ones, each file once. A short text could fill the screen with rows of
/// pictures otherwise.
fn drawn_images(images: Vec<Arc<LinkTarget>>) -> Vec<Arc<LinkTarget>> {
    let mut drawn: Vec<Arc<LinkTarget>> = Vec::new();
    for image in images {
        if drawn.len() == MAX_DRAWN_IMAGES {
            break;
        }
        if !drawn.iter().any(|known| known.is_same_file(&image)) {
            drawn.push(image);
        }
    }
    drawn
}

#[cfg(test)]
mod tests;
