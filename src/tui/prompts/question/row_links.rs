//! Links in the rows of options and in their previews, found in the lines as they are drawn.

use crate::text::link::{CheckTarget, LinkTarget};
use crate::text::width::text_width;
use crate::tui::text::PlacedLink;
use crate::tui::text::pieces::split_revealed_links;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Draws the links in visible lines, from index `first` on, that were drawn in this area, and returns them. A web address at the
/// end of a line is left out: it may go on in the next line.
pub(super) fn draw_row_links(
    lines: &[Line<'_>],
    first: usize,
    area: Rect,
    buffer: &mut Buffer,
    theme: &Theme,
    check: CheckTarget<'_>,
) -> Vec<PlacedLink> {
    let mut links = Vec::new();
    for (line, row) in lines.iter().skip(first).zip(area.rows()) {
        let text = line.to_string();
        let pieces = split_revealed_links(text.trim_end(), Style::new(), theme.link, check);
        let (mut x, count) = (row.x, pieces.len());
        for (index, piece) in pieces.into_iter().enumerate() {
            let width = u16::try_from(text_width(&piece.text)).unwrap_or(u16::MAX).min(row.right() - x);
            let area = Rect { x, width, ..row };
            x += width;
            let is_cut = |target: &LinkTarget| matches!(target, LinkTarget::Web(_)) && index + 1 == count;
            if let Some(target) = piece.link.filter(|target| !is_cut(target) && width > 0) {
                // Not its colour, which may not be readable on the background of the focused row.
                buffer.set_style(area, Style::new().add_modifier(piece.style.add_modifier));
                links.push(PlacedLink { area, target, picture: None });
            }
        }
    }
    links
}
