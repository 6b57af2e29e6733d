//! Output shown in place, below the row of its call.

use super::layout_context::LayoutContext;
use crate::tui::text::output::StyledOutput;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, pieces};

/// Maximum lines of output shown in place; the pager shows all.
const MAX_OUTPUT_LINES: usize = 200;

/// Lays out the first lines of an output.
pub fn lay_out_output(context: &LayoutContext<'_>, mut styled_output: StyledOutput) -> Page {
    let total = styled_output.text.lines().count();
    if let Some((end, _)) = styled_output.text.match_indices('\n').nth(MAX_OUTPUT_LINES - 1) {
        styled_output.truncate_at(end);
    }
    let check = |target: &_| context.lookups.check_target(target);
    let (text, style_ends) = (&styled_output.text, &styled_output.style_ends);
    let mut page = wrap_verbatim(context, &pieces::styled_pieces(text, style_ends, context.theme.link, &check));
    if total > MAX_OUTPUT_LINES {
        let note = format!("{} more lines", total - MAX_OUTPUT_LINES);
        page.append_page(context.lay_out_note(&note, "    "));
    }
    page
}

/// Wraps text as it is, without joining its lines. Words are broken only in lines with columns, which stay below each
/// other that way, and if they are wider than a line.
pub fn wrap_verbatim(context: &LayoutContext<'_>, pieces: &[Piece]) -> Page {
    if pieces.is_empty() {
        return Page::default();
    }
    let shape = Shape::with_prefix(context.width, Piece::new("    ", context.theme.dim));
    wrap_pieces(pieces, &Shape { verbatim: true, keeps_words: true, ..shape })
}
