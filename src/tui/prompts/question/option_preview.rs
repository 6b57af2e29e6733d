//! The preview of an option, next to the option picker or below it.

use super::question_layout::split_rows;
use crate::chat::Question;
use crate::text::clean::clean_text;
use crate::text::link::Existence;
use crate::text::reveal;
use crate::tui::text::markdown;
use crate::tui::text::wrap::{Piece, Shape, wrap_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Minimum inner width in cells for a preview next to the picker. In a narrower prompt it is below the picker.
pub(super) const SIDE_PREVIEW_WIDTH: usize = 68;
/// Heading of a preview below the picker.
pub(super) const PREVIEW_HEADING: &str = "preview";
/// Minimum rows of a preview.
pub(super) const MIN_PREVIEW_ROWS: usize = 3;
/// Maximum rows the prompt asks for to show a preview; longer previews scroll.
pub(super) const MAX_PREVIEW_ROWS: usize = 14;

/// Returns the width of the picker in cells: all `cells` of the prompt, or less than half if a preview is next to it.
pub(super) fn picker_width(question: &Question, cells: usize) -> usize {
    let has_side_preview =
        cells >= SIDE_PREVIEW_WIDTH && question.options.iter().any(|choice| !choice.preview.is_empty());
    if has_side_preview { (cells * 9 / 20).clamp(30, 52) } else { cells }
}

/// Returns the rows of the longest preview, at least [`MIN_PREVIEW_ROWS`] and at most [`MAX_PREVIEW_ROWS`]; 0 if no
/// option has one. Lays out no more than these rows need, because it runs for each frame.
pub(super) fn count_preview_rows(question: &Question, cells: usize, theme: &Theme) -> usize {
    let is_side_by_side = cells >= SIDE_PREVIEW_WIDTH;
    // The divider and one blank on either side take 3 cells.
    let side_cells = cells.saturating_sub(picker_width(question, cells) + 3);
    let preview_cells = if is_side_by_side { side_cells } else { cells }.max(1);
    let with_preview = question.options.iter().filter(|choice| !choice.preview.is_empty());
    let mut rows = 0;
    for choice in with_preview {
        let start = cut_preview(&choice.preview, preview_cells);
        rows = lay_out_text(start, preview_cells, theme).len().clamp(rows.max(MIN_PREVIEW_ROWS), MAX_PREVIEW_ROWS);
        if rows == MAX_PREVIEW_ROWS {
            break;
        }
    }
    rows
}

/// Returns the start of a preview that fills the maximum of rows: twice as many lines and characters, because some of
/// Markdown take no row of their own.
fn cut_preview(text: &str, cells: usize) -> &str {
    let max_chars = 2 * MAX_PREVIEW_ROWS * (cells + 1);
    let end_of_chars = text.char_indices().nth(max_chars).map_or(text.len(), |(byte, _)| byte);
    let end_of_lines = text.match_indices('\n').nth(2 * MAX_PREVIEW_ROWS).map_or(text.len(), |(byte, _)| byte);
    &text[..end_of_chars.min(end_of_lines)]
}

/// Lays out the preview of a row, or a note that it has none.
pub(super) fn lay_out_preview(question: &Question, row: usize, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    match question.options.get(row).filter(|choice| !choice.preview.is_empty()) {
        None => vec![Line::styled("no preview", theme.dim)],
        Some(choice) => lay_out_text(&choice.preview, cells, theme),
    }
}

/// Lays out the text of a preview: Markdown with its line breaks, anything else verbatim.
fn lay_out_text(text: &str, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    let text = reveal::mark_invisible(text);
    if markdown::has_markup(&text) {
        let text = markdown::harden_breaks(&text);
        // Nothing in a preview becomes a link or gets a caption.
        return markdown::lay_out_markdown(&text, cells, theme, &|_| Existence::Unknown, &markdown::NoPictures).lines;
    }
    let text = clean_text(&text);
    // Blanks at the end of a line would need rows of their own.
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    let shape = Shape { verbatim: true, keeps_words: true, ..Shape::with_width(cells) };
    wrap_pieces(&[Piece::new(lines.join("\n"), theme.text)], &shape).lines
}

/// Splits an area into the picker and the preview below it, and draws the heading between them.
pub(super) fn split_preview(
    area: Rect,
    picker_rows: usize,
    heading: &str,
    buffer: &mut Buffer,
    theme: &Theme,
) -> (Rect, Rect) {
    let [list, below] = split_rows(area, picker_rows);
    let [heading_row, preview] = split_rows(below, 1);
    draw_preview_heading(heading, heading_row, buffer, theme);
    (list, preview)
}

/// Draws the heading of a preview.
pub(super) fn draw_preview_heading(heading: &str, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let text = format!("── {heading} {}", "─".repeat(usize::from(area.width)));
    let cells = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, text, cells, theme.border_dim);
    buffer.set_stringn(area.x + 3, area.y, heading, cells.saturating_sub(3), theme.dim);
}

/// Draws the line between the picker and a preview next to it.
pub(super) fn draw_divider(area: Rect, buffer: &mut Buffer, theme: &Theme) {
    for row in area.rows() {
        buffer.set_stringn(row.x, row.y, "│", 1, theme.border_dim);
    }
}
