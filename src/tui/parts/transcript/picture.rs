//! Captions of pictures: size and the key that opens them.

use super::Ground;
use super::cache::Outsides;
use super::live::bytes;
use crate::chat::link::{self, Target};
use crate::chat::picture::{self, Size};
use crate::tui::keys::{Action, Scope};
use crate::tui::text::wrap::{Shape, wrap};
use crate::tui::text::{Page, Piece};
use std::sync::Arc;

/// Returns the caption of a picture: `1280 × 720 · 84.0 kB · ctrl-o open or copy`. Returns `None` if the target is not a
/// picture or not known yet.
pub fn words(ground: &Ground<'_>, outside: &Outsides, target: &Target) -> Option<String> {
    let Size { pixels: (columns, rows), bytes: count } = outside.picture(target)?;
    let key = ground.keys.hint(Scope::Anywhere, Action::OpenLink);
    let key = if key.is_empty() { String::new() } else { format!(" · {key} open or copy") };
    Some(format!("{columns} × {rows} · {}{key}", bytes(usize::try_from(count).unwrap_or(usize::MAX))))
}

/// Lays out a line for each picture named in a user message.
pub fn attached(ground: &Ground<'_>, outside: &Outsides, text: &str) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    for name in picture::named(text) {
        let Some(target) = link::parse(name) else { continue };
        let Some(words) = words(ground, outside, &target) else { continue };
        let name = crate::tui::text::clean::one_line(name).into_owned();
        let name = Piece { text: name, style: theme.link, link: Some(Arc::new(target)) };
        let indent = vec![Piece::new("  ", theme.dim)];
        let shape = Shape { width: ground.width, first: indent.clone(), rest: indent, verbatim: false };
        page.append(wrap(&[name, Piece::new(format!(" · {words}"), theme.dim)], &shape));
    }
    page
}
