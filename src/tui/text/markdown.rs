//! Lays out Markdown as styled lines.

mod block;
mod block_layout;
mod block_parser;
mod markup;
mod nesting_limit;
mod stable_prefix;
mod table;
pub mod unrendered_text;

pub use markup::{harden_breaks, has_markup};
pub use stable_prefix::{complete_rows_length, defines_reference, stable_prefix};
pub use table::lay_out_cells;

use super::Page;
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, LinkTarget};
use crate::tui::theme::Theme;
use pulldown_cmark::Options;

/// Returns the caption of the picture that a link names; `None` if there is no such picture.
pub type Picture<'a> = &'a dyn Fn(&LinkTarget) -> Option<String>;
/// The lookups of link targets that a layout needs.
type Lookups<'a> = (CheckTarget<'a>, Picture<'a>);

/// Lays out a reply, which is cleaned first. No line is wider than `width`; blocks are separated by one blank line, and
/// there is none at either end. Raw HTML is shown as text, and nothing is fetched. `check` is called for each possible
/// link at each layout: only existing targets become links, and missing ones are struck through. `picture` returns the caption added after an image.
pub fn lay_out_markdown(
    source: &str,
    width: usize,
    theme: &Theme,
    check: CheckTarget<'_>,
    picture: Picture<'_>,
) -> Page {
    let source = clean_text(source);
    let blocks = block_parser::parse_blocks(&nesting_limit::bound_nesting(&source), theme, (check, picture));
    let is_loose = true;
    block_layout::BlockLayout { theme }.lay_out_blocks(&blocks, is_loose, width.max(1))
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
