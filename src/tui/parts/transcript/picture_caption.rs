//! Captions of pictures: size and the key that opens them.

use super::layout_context::LayoutContext;
use crate::chat::image::{self, ImageSize};
use crate::chat::session::{CallState, LoggedPlan};
use crate::chat::{Access, CallResult, Outcome};
use crate::text::byte_size::format_bytes;
use crate::text::link::{self, LinkTarget};
use crate::text::workspace_address::SCHEME;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::call_action::result_of;
use crate::tui::text::markdown::FindPicture;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, blank_rows};
use std::sync::Arc;

/// Returns the caption of a picture of this size: `1280 × 720 · 84.0 kB · ctrl-o open or copy`.
pub fn caption(context: &LayoutContext<'_>, size: ImageSize) -> String {
    let ImageSize { pixels: (width, height), bytes } = size;
    let key = context.keys.first_chord(Scope::Anywhere, Action::OpenLink);
    let key = if key.is_empty() { String::new() } else { format!(" · {key} open or copy") };
    format!("{width} × {height} · {}{key}", format_bytes(bytes))
}

/// Lays out a line for each picture named in a user message whose size is known, with the size at which the model gets it if
/// that is another one.
pub fn lay_out_captions(
    context: &LayoutContext<'_>,
    text: &str,
    picture_size: impl Fn(&LinkTarget) -> Option<ImageSize>,
) -> Page {
    let mut page = Page::default();
    for name in image::find_images(text) {
        let Some(target) = link::parse_link(name) else { continue };
        let Some(size) = picture_size(&target) else { continue };
        let mut caption = caption(context, size);
        if let Some((width, height)) = size.scaled_for_model().filter(|_| context.accepts_images) {
            caption = format!("sent as {width} × {height} · {caption}");
        }
        page.append_page(lay_out_line(context, name, target, &caption, "  "));
    }
    page
}

/// Lays out a line for the picture that a call of the browser has saved, if its size is known.
pub fn lay_out_saved_picture(context: &LayoutContext<'_>, call: &CallState, outcome: &Outcome) -> Page {
    let saved = call.plan.as_ref().filter(|_| result_of(&call.call.name) == CallResult::Picture);
    let (Some(LoggedPlan { access, .. }), Outcome::Done(text)) = (saved, outcome) else { return Page::default() };
    let (path, target) = match access {
        // Sessions of earlier versions, whose pictures are files of the project.
        Access::Write(path) => {
            let path = path.to_string_lossy().into_owned();
            (path.clone(), LinkTarget::File { path, line: None, end: None, column: None })
        }
        Access::Workspace(access) => {
            let address = text.split_whitespace().find(|word| word.starts_with(SCHEME));
            let Some(address) = address else { return Page::default() };
            (access.path.clone(), LinkTarget::Workspace(address.to_owned()))
        }
        _ => return Page::default(),
    };
    match context.lookups.picture_size(&target) {
        Some(size) => lay_out_line(context, &path, target, &caption(context, size), "    "),
        None => Page::default(),
    }
}

/// Lays out the name of a picture as a link, with its caption, and the picture below it if it is drawn.
fn lay_out_line(context: &LayoutContext<'_>, name: &str, target: LinkTarget, caption: &str, indent: &str) -> Page {
    let theme = context.theme;
    let name = crate::text::clean::clean_line(name).into_owned();
    let target = Arc::new(target);
    let name = Piece { text: name, style: theme.link, link: Some(target.clone()) };
    let shape = Shape::with_prefix(context.width, Piece::new(indent, theme.dim));
    let mut page = wrap_pieces(&[name, Piece::new(format!(" · {caption}"), theme.dim)], &shape);
    let columns = context.width.saturating_sub(indent.len());
    if let Some(key) = context.find_drawn(&target, columns) {
        page.append_page(blank_rows(&key).indent_lines(indent.len()));
    }
    page
}
