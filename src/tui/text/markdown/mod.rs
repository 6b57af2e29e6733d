//! Markdown to styled lines.

mod block;
mod bound;
mod lay;
mod read;
mod stable;
mod table;
pub mod unrendered;

pub use stable::{defines, stable_prefix, whole_rows};

use super::Page;
use super::clean::clean;
use crate::chat::link::Target;
use crate::tui::theme::Theme;
use pulldown_cmark::Options;

/// Whether what a link names is there.
pub type Exists<'a> = &'a dyn Fn(&Target) -> bool;
/// What is told of a picture; nothing where there is none.
pub type Picture<'a> = &'a dyn Fn(&Target) -> Option<String>;

/// Lays out a reply, cleaned first. No line is wider than `width`, none is left blank at either end, and one
/// blank line stands between blocks. Raw HTML is shown as text, and nothing is fetched. `exists` says whether what a
/// link names is there, so that it is shown as one; it is asked for each candidate at each layout. `picture` says in words
/// what an image is that can be told of.
pub fn layout(source: &str, width: usize, theme: &Theme, exists: Exists<'_>, picture: Picture<'_>) -> Page {
    let source = clean(source);
    let blocks = read::read(&bound::bound(&source), theme, (exists, picture));
    lay::Laying { theme }.blocks(&blocks, width.max(1))
}

/// What of markdown is understood beyond the common core.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
}

#[cfg(test)]
mod tests;
