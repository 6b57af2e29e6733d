//! Rows below a user message: what is attached to it, and what is not.

use super::layout_context::LayoutContext;
use crate::chat::attachments::{AttachmentSummary, list_attachments};
use crate::text::byte_size::format_bytes;
use crate::tui::text::Page;

/// Lays out a row for each attachment of a message.
pub fn lay_out_attachments(context: &LayoutContext<'_>, message: &str) -> Page {
    let mut page = Page::default();
    for AttachmentSummary { source, facts, bytes, .. } in list_attachments(message) {
        let (state, size) = match bytes {
            Some(bytes) => ("attached", Some(format_bytes(bytes as u64))),
            None => ("not attached", None),
        };
        let facts = Some(facts.to_owned()).filter(|facts| !facts.is_empty());
        let parts: Vec<String> = [Some(format!("{state} {source}")), facts, size].into_iter().flatten().collect();
        page.append_page(context.lay_out_note(&parts.join(" · "), "▌ "));
    }
    page
}
