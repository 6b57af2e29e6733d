//! Markdown to styled lines.

mod block;
mod bound;
mod lay;
mod read;
mod stable;
mod table;

pub use stable::stable_prefix;

use super::Page;
use super::clean::clean;
use super::code::{Found, Job};
use crate::chat::link::Target;
use crate::tui::theme::Theme;
use pulldown_cmark::Options;

/// What the layout asks the outside.
pub struct Outside<'a> {
    /// The colours of some code, such as [`Highlights::colours`](super::code::Highlights::colours);
    /// [`Found::plain`] where there never are any.
    pub colours: &'a mut dyn FnMut(&Job) -> Found,
    /// Whether what a link names is there, so that it is shown as a link. Asked for each candidate at each layout.
    pub exists: &'a dyn Fn(&Target) -> bool,
}

/// Lays out a reply, cleaned first. No line is wider than `width`, none is left blank at either end, and one
/// blank line stands between blocks. Raw HTML is shown as text, and nothing is fetched.
pub fn layout(source: &str, width: usize, theme: &Theme, outside: &mut Outside<'_>) -> Page {
    let source = clean(source);
    let blocks = read::read(&bound::bound(&source), theme, outside.exists);
    lay::Laying { theme, outside }.blocks(&blocks, width.max(1))
}

/// What of markdown is understood beyond the common core.
fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

#[cfg(test)]
mod tests;
