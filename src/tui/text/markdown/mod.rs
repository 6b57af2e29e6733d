//! Lays out Markdown as styled lines.

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

/// Returns whether a link target exists.
pub type Exists<'a> = &'a dyn Fn(&Target) -> bool;
/// Describes a picture; `None` if there is none.
pub type Picture<'a> = &'a dyn Fn(&Target) -> Option<String>;

/// Lays out a reply, which is cleaned first. No line is wider than `width`; blocks are separated by one blank line, and
/// there is none at either end. Raw HTML is shown as text, and nothing is fetched. `exists` is called for each possible
/// link at each layout: only existing targets become links. `picture` describes images that can be described.
pub fn layout(source: &str, width: usize, theme: &Theme, exists: Exists<'_>, picture: Picture<'_>) -> Page {
    let source = clean(source);
    let blocks = read::read(&bound::bound(&source), theme, (exists, picture));
    lay::Laying { theme }.blocks(&blocks, width.max(1))
}

/// Returns the enabled Markdown extensions.
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
