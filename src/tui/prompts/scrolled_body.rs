//! The body of a prompt that is read to its end: its visible lines, and the number of lines below them.

use super::prompt::DrawnPrompt;
use crate::text::width;
use crate::tui::parts::frame::is_readable;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws a body of `line_count` lines into the `inner` part of the prompt's `area`, each with
/// `draw_line(index, row, buffer)`. The line with index `scroll` is the first visible one; a larger `scroll` than possible
/// shows the end. If lines remain below, the last row shows their number instead of a line. Returns the visible part.
pub fn draw_scrolled_body(
    (line_count, scroll): (usize, usize),
    area: Rect,
    inner: Rect,
    buffer: &mut Buffer,
    theme: &Theme,
    draw_line: impl Fn(usize, Rect, &mut Buffer),
) -> DrawnPrompt {
    let rows = usize::from(inner.height);
    let scroll = scroll.min(line_count.saturating_sub(rows));
    let hidden_lines = line_count.saturating_sub(scroll + rows);
    let shown_rows = if hidden_lines > 0 && rows > 1 { rows - 1 } else { rows };
    for (row, index) in inner.rows().zip(scroll..line_count).take(shown_rows) {
        draw_line(index, row, buffer);
    }
    if shown_rows < rows {
        let note = format!("{} more lines", hidden_lines + 1);
        let columns = usize::from(inner.width);
        buffer.set_stringn(inner.x, inner.bottom() - 1, width::fit_start(&note, columns), columns, theme.warning);
    }
    DrawnPrompt {
        scroll,
        visible_rows: rows,
        is_readable: is_readable(inner, area, buffer),
        is_at_end: hidden_lines == 0,
        ..DrawnPrompt::default()
    }
}
