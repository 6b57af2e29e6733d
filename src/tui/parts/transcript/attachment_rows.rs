//! Rows below a user message: what is attached to it, and what is not.

use super::layout_context::LayoutContext;
use crate::chat::attachments::list_attachments;
use crate::tui::text::Page;

/// Lays out a row for each attachment of a message.
pub fn lay_out_attachments(context: &LayoutContext<'_>, message: &str) -> Page {
    let mut page = Page::default();
    for attachment in list_attachments(message) {
        let (state, style) = match attachment.bytes {
            Some(_) => ("attached", context.theme.dim),
            None => ("not attached", context.theme.warning),
        };
        let text = format!("{state} {} · {}", attachment.source, attachment.describe());
        page.append_page(context.lay_out_plain(&text, style, "▌ "));
    }
    page
}
