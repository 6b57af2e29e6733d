//! The preview of an option, next to the option picker or below it.

use super::question_layout::split_rows;
use crate::chat::Question;
use crate::text::reveal;
use crate::tui::text::markdown;
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

/// Estimates the rows of the longest preview; 0 if no option has one. Counts characters instead of laying out the text,
/// because it runs for each frame.
pub(super) fn estimate_preview_rows(question: &Question, cells: usize) -> usize {
    let is_side_by_side = cells >= SIDE_PREVIEW_WIDTH;
    // The divider and one blank on either side take 3 cells.
    let side_cells = cells.saturating_sub(picker_width(question, cells) + 3);
    let preview_cells = if is_side_by_side { side_cells } else { cells }.max(1);
    let estimate_rows = |text: &str| {
        let lines = text.lines().take(MAX_PREVIEW_ROWS);
        let line_rows = lines.map(|line| 1 + line.chars().take(2_000).count() / preview_cells);
        line_rows.sum::<usize>().clamp(MIN_PREVIEW_ROWS, MAX_PREVIEW_ROWS)
    };
    let with_preview = question.options.iter().filter(|choice| !choice.preview.is_empty());
    with_preview.map(|choice| estimate_rows(&choice.preview)).max().unwrap_or(0)
}

/// Lays out the preview of an option.
pub(super) fn lay_out_preview(question: &Question, row: usize, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    match question.options.get(row) {
        None => Vec::new(),
        Some(choice) => {
            let text = reveal::mark_invisible(&choice.preview);
            // Nothing in a preview becomes a link or gets a caption.
            markdown::lay_out_markdown(&text, cells, theme, &|_| false, &|_| None).lines
        }
    }
}

/// Splits an area into the picker and the preview below it, and draws the heading between them. Returns no preview area if
/// both do not fit.
pub(super) fn split_preview(
    area: Rect,
    picker_rows: usize,
    buffer: &mut Buffer,
    theme: &Theme,
) -> (Rect, Option<Rect>) {
    let height = usize::from(area.height);
    if height < 4 {
        return (split_rows(area, picker_rows)[0], None);
    }
    // The picker leaves half of the rows to the preview and its heading.
    let [list, below] = split_rows(area, picker_rows.min(height - height / 2));
    let [heading_row, preview] = split_rows(below, 1);
    draw_preview_heading(PREVIEW_HEADING, heading_row, buffer, theme);
    (list, Some(preview))
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
